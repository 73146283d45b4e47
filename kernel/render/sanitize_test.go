package render

import (
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

func TestMarkdownFilter(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"details", `<details open><summary>a</summary>`, `<details open><summary>a</summary>`},
		{"script", `<script>alert(1)</script>`, `&lt;script&gt;alert(1)&lt;/script&gt;`},
		{"handler", `<b onclick="x()" title='a "b"'>`, `<b title="a &#34;b&#34;">`},
		{"handler in capitals", `<img src="data:image/png;base64,AA" oNeRRor=x>`, `<img src="data:image/png;base64,AA">`},
		{"handler after a slash", `<b/onclick=x()>`, `<b>`},
		{"script link", `<a href="javascript:alert(1)">`, `<a href="#">`},
		{"hidden script link", "<a href='  jAva&#115;cript&colon;x'>", `<a href="#">`},
		{"line break in the scheme", "<a href='java\nscript:x'>", `<a href="#">`},
		{"page as data", `<a href="data:text/html,<script>x</script>">`, `<a href="#">`},
		{"animated link", `<svg><set attributename="href" to="javascript:x"></svg>`, `<svg>&lt;set attributename=&#34;href&#34; to=&#34;javascript:x&#34;&gt;</svg>`},
		{"frame", `<iframe src="x">`, `&lt;iframe src=&#34;x&#34;&gt;`},
		{"style with a URL", `<p style="background:url(http://x)">`, `<p>`},
		{"style", `<p style="color:red">`, `<p style="color:red">`},
		{"unfinished tag", `a <b onclick="`, `a &lt;b onclick="`},
		{"comment", `a<!-- b -->c`, `ac`},
		{"less-than", `1 < 2`, `1 &lt; 2`},
		{"section of text", `a<![CDATA[><img src=x onerror=alert(1)>]]>b`, `a<img src="x">]]>b`},
		{"section of text in a drawing", `<svg><text><![CDATA[<b>&amp;]]></text></svg>`, `<svg><text>&lt;b&gt;&amp;amp;</text></svg>`},
		{"second attribute of a name", `<a href="#x" href="javascript:y">`, `<a href="#x">`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := filter{markdown: true}
			if got := f.run(tt.src); got != tt.want {
				t.Errorf("%q\n got %s\nwant %s", tt.src, got, tt.want)
			}
		})
	}
}

func TestOutputFilter(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"kept as it is", `<div CLASS=x onclick="go()"><b>a</B></div>`, `<div CLASS=x onclick="go()"><b>a</B></div>`},
		{"script", `<script>if (a</b/.x && "</div>") {}</script>`, `<script>if (a</b/.x && "</div>") {}</script>`},
		{"script link", `<a class="k" href="javascript:x">y</a>`, `<a class="k" href="#">y</a>`},
		{"stray end tags", `a</div></main></body></html>b`, `ab`},
		{"open tags", `<div><b>a`, `<div><b>a</b></div>`},
		{"crossed tags", `<b><i>a</b>c</i>`, `<b><i>a</i></b>c`},
		{"list items need no end", `<ul><li>a<li>b</ul>`, `<ul><li>a<li>b</ul>`},
		{"page elements", `<html><head><base href="http://x"></head><body onload=x>a</body>`, `a`},
		{"open script", `a<script>b`, `a<script>b</script>`},
		{"open comment", `a<!-- b`, `a&lt;!-- b`},
		{"SVG", `<svg viewBox="0 0 1 1"><path d="M0,0"/><use href="#a"/></svg>`, `<svg viewBox="0 0 1 1"><path d="M0,0"/><use href="#a"/></svg>`},
		{"animated link", `<svg><a><set attributeName="href" to="javascript:x"/></a></svg>`, `<svg><a><set attributeName="href" to="#"/></a></svg>`},
		{"list of values", `<animate values="#a; javascript:x"/>`, `<animate values="#"/>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := filter{}
			got := balance(f.run(tt.src))
			if tt.name == "list of values" {
				got = strings.TrimSuffix(got, "</animate>")
			}
			if got != tt.want {
				t.Errorf("%q\n got %s\nwant %s", tt.src, got, tt.want)
			}
		})
	}
}

// safe fails if HTML from Markdown could run a script or load something.
func safe(t *testing.T, src, out string) {
	t.Helper()
	for _, e := range elements(t, out) {
		if e.Data == "script" || e.Data == "iframe" || e.Data == "style" || e.Data == "base" || e.Data == "object" {
			t.Fatalf("%q: <%s> passed: %s", src, e.Data, out)
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Key, "on") || dangerous(a.Val) && (urlAttributes[a.Key] || a.Namespace == "xlink") {
				t.Fatalf("%q: attribute %s=%q passed: %s", src, a.Key, a.Val, out)
			}
			if (a.Key == "src" || a.Key == "srcset") && external(a.Val) {
				t.Fatalf("%q: it loads %q: %s", src, a.Val, out)
			}
		}
	}
}

// A stranger's output keeps what Markdown may hold. What runs, loads, or would lie over the page is gone, with what is
// in it.
func TestStrictFilter(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"table", `<table border="1" class="dataframe"><tr><th scope="row">a</th><td style="text-align: right">1</td></tr></table>`,
			`<table border="1"><tr><th scope="row">a</th><td style="text-align:right">1</td></tr></table>`},
		{"script", `a<script>alert(1)</script>b`, `ab`},
		{"script in capitals", `a<SCRIPT src=//x>alert(1)</Script >b`, `ab`},
		{"open script", `a<script>alert(1)`, `a`},
		{"style", `a<style>*{display:none}</style>b`, `ab`},
		{"frame", `<iframe src="https://x">a</iframe>b`, `b`},
		{"object", `<object data="x.svg">a</object><embed src="x">`, `a`},
		{"form", `<form action="https://x"><input name="password"><button formaction="https://x">go</button></form>`, `go`},
		{"handler", `<b onclick="go()" onpointerrawupdate=x>a</b>`, `<b>a</b>`},
		{"script link", `<a href="javascript:x" ping="https://x" target="_top">a</a>`, `<a href="#">a</a>`},
		{"whole page", `<html><head><base href="https://x"><meta http-equiv="refresh" content="0;url=https://x"><link rel=stylesheet href=https://x></head><body background=https://x>a</body>`, `a`},
		{"over the page", `<div style="position:fixed;top:0;left:0;width:100%;color:red">a</div>`, `<div style="width:100%;color:red">a</div>`},
		{"pulled over the page", `<p style="margin-top:-3000px;margin-left: calc(0px - 9px)">a</p>`, `<p>a</p>`},
		{"style that loads", `<p style="background:url(https://x);color:red;background:\75rl(https://x)">a</p>`, `<p style="color:red">a</p>`},
		{"style that loads by another name", `<p style="background:image-set('https://x' 1x)">a</p>`, `<p>a</p>`},
		{"paint from elsewhere", `<svg><rect fill="url(https://x#a)" stroke="url(#b)" width="1"/></svg>`, `<svg><rect stroke="url(#o-b)" width="1"/></svg>`},
		{"its own ids", `<b id="search">a</b><svg aria-labelledby="t u"><lineargradient id="g" href="#h"/></svg>`, `<b id="o-search">a</b><svg aria-labelledby="o-t o-u"><lineargradient id="o-g" href="#o-h"/></svg>`},
		{"in SVG", `<svg><script>alert(1)</script><foreignObject><iframe src=x></iframe></foreignObject><path d="M0,0" onbegin="x"/><set attributeName="href" to="javascript:x"/></svg>`, `<svg><path d="M0,0"/></svg>`},
		{"image in SVG", `<svg><image href="https://x"/><use href="https://x#a"/><feImage href="https://x"/></svg>`, `<svg></svg>`},
		{"hidden in a title", `<svg><title><img src=x onerror=alert(1)></title></svg>`, `<svg><title><img src="x"></title></svg>`},
		{"section of text", `a<![CDATA[><img src=x onerror=alert(1)>]]>b`, `a<img src="x">]]>b`},
		{"title out of its drawing", `<svg><p><title><b title="</title><img src=x onerror=alert(1)>">`, `<svg><p><title><b title="&lt;/title&gt;&lt;img src=x onerror=alert(1)&gt;"></b></title></svg>`},
		{"unfinished tag", `a<img src=x onerror="alert(1)`, `a&lt;img src=x onerror="alert(1)`},
		{"MathML", `<math><mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></mtext></math>`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := filter{strict: true, ids: "o-"}
			got := balance(f.run(tt.src))
			if got != tt.want {
				t.Errorf("%q\n got %s\nwant %s", tt.src, got, tt.want)
			}
			safe(t, tt.src, got)
		})
	}
}

// bare fails if a stranger's HTML holds an element or attribute that is not allowed.
func bare(t *testing.T, src, out string) {
	t.Helper()
	for _, e := range elements(t, out) {
		if !markdownElements[strings.ToLower(e.Data)] {
			t.Fatalf("%q: <%s> passed: %s", src, e.Data, out)
		}
		for _, a := range e.Attr {
			name := strings.ToLower(a.Key)
			if !htmlAttributes[name] && svgSpelling[name] == "" && !strings.HasPrefix(name, "aria-") && a.Namespace != "xlink" && name != "xlink:href" || name == "class" ||
				name == "id" && a.Val != "" && !strings.HasPrefix(a.Val, "o-") || name == "style" && (strings.Contains(a.Val, "position") || strings.Contains(strings.ToLower(a.Val), "url(h")) {
				t.Fatalf("%q: attribute %s=%q passed: %s", src, a.Key, a.Val, out)
			}
		}
	}
}

func FuzzFilters(f *testing.F) {
	for _, s := range []string{`<a href="javascript:x" onclick=y>z</a>`, `<svg><style>a</style><title>b</title></svg>`, "<b/onx=1 <i>'\"", `<!--><script>-->`, `<![CDATA[x]]>`, `<![CDATA[><b onx=1>]]>`, `<svg><![CDATA[<b>]]>`, `<!--a>`, `<p></p></div>`, `<title>0<stYle `, `<title>a<b>c</title>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		md := filter{markdown: true}
		once := md.run(s)
		safe(t, s, once)
		again := filter{markdown: true}
		safe(t, s, again.run(once))
		strict := filter{strict: true, ids: "o-"}
		strange := balance(strict.run(s))
		safe(t, s, strange)
		bare(t, s, strange)
		raw := filter{}
		b := balance(raw.run(s))
		if twice := balance(b); twice != b {
			t.Fatalf("balance is not stable on %q:\n%q\n%q", s, b, twice)
		}
	})
}

// The author of a notebook can't make rendering it take for ever: each of these took minutes if every tag looked at
// all the others.
func TestFiltersLongInput(t *testing.T) {
	n := testenv.Cases(200_000)
	for _, piece := range []string{"<b>", "<svg>", "<!--", "<b a='", "<![CDATA[", "<svg><![CDATA[", "<script>", "<title>", "<b></i>", "</b>", "a<"} {
		s := strings.Repeat(piece, n)
		f := filter{strict: true, ids: "o-"}
		if got := balance(f.run(s)); balance(got) != got {
			t.Errorf("%d times %s: what comes out is not balanced", n, piece)
		}
	}
}
