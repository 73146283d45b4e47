package render

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestCleanSVG(t *testing.T) {
	const ns = ` xmlns="http://www.w3.org/2000/svg"`
	in := func(s string) string { return `<svg` + ns + ` viewBox="0 0 1 1">` + s + `</svg>` }
	tests := []struct {
		name, src, want string
		cut             string
	}{
		{"drawing", in(`<g fill="none" transform="translate(1,2)"><path d="M0,0"/><text x="1">a &lt; b</text></g>`), in(`<g fill="none" transform="translate(1,2)"><path d="M0,0"></path><text x="1">a &lt; b</text></g>`), ""},
		{"prologue", "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><!DOCTYPE svg PUBLIC \"a\" \"b\"><!-- c -->" + in(``), in(``), ""},
		{"no namespace", `<svg viewBox="0 0 1 1"></svg>`, in(``), ""},
		{"prefix", `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:rect width="1"/></s:svg>`, `<svg` + ns + `><rect width="1"></rect></svg>`, ""},
		{"references inside", `<svg` + ns + ` xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="#a" href="#b"/><rect fill="url(#g)" style="mask:url('#m')"/></svg>`,
			`<svg` + ns + `><use href="#a"></use><rect fill="url(#g)" style="mask:url(&#39;#m&#39;)"></rect></svg>`, ""},
		{"style", in(`<style>@media (prefers-color-scheme:dark){g > path{fill:rgb(1,2,3);stroke:url("#a")}}</style>`),
			in(`<style>@media (prefers-color-scheme:dark){g &gt; path{fill:rgb(1,2,3);stroke:url(&#34;#a&#34;)}}</style>`), ""},
		{"drawing programs' notes", `<svg` + ns + ` xmlns:inkscape="http://www.inkscape.org" inkscape:version="1"><metadata><x/></metadata><inkscape:page/><g inkscape:label="a" data-name="b"/></svg>`, `<svg` + ns + `><g></g></svg>`, ""},

		{"script", in(`<script>alert(1)</script><path d="M0,0"/>`), in(`<path d="M0,0"></path>`), "<script>"},
		{"script of another namespace", `<svg` + ns + ` xmlns:h="http://www.w3.org/1999/xhtml"><h:script>alert(1)</h:script><h:iframe src="x"/></svg>`, `<svg` + ns + `></svg>`, ""},
		{"handler", `<svg` + ns + ` onload="alert(1)"><rect OnClick="x" onclick="y"/></svg>`, `<svg` + ns + `><rect></rect></svg>`, `onload="alert(1)"`},
		{"page inside", in(`<foreignObject><div>a</div></foreignObject>`), in(``), "<foreignObject>"},
		{"link", in(`<a href="javascript:x"><rect/></a>`), in(`<g><rect></rect></g>`), ""},
		{"picture from elsewhere", in(`<image href="https://x/y.png" width="1"/><image href="file:///etc/passwd"/><feImage href="https://x"/>`), in(`<image width="1"></image><image></image>`), "<feImage>"},
		{"picture that is an SVG", in(`<image href="data:image/svg+xml,&lt;svg/&gt;"/>`), in(`<image></image>`), "href"},
		{"picture inside", in(`<image href="data:image/png;base64,AA"/>`), in(`<image href="data:image/png;base64,AA"></image>`), ""},
		{"use of elsewhere", in(`<use href="https://x/y.svg#a"/><use href="other.svg#a"/>`), in(`<use></use><use></use>`), "href"},
		{"paint from elsewhere", in(`<rect fill="url(https://x#a)" filter="url( 'https://x' )"/>`), in(`<rect></rect>`), "fill"},
		{"style that loads", in(`<rect style="fill:url(https://x)"/><style>@import "https://x";</style><style>a{b:url(//x)}</style><style>a{b:\75rl(//x)}</style>`), in(`<rect></rect><style></style><style></style><style></style>`), "<style>"},
		{"style with elements", in(`<style>a{}<script>alert(1)</script></style>`), in(`<style>a{}</style>`), "<script>"},
		{"font from elsewhere", in(`<style>@font-face{font-family:a;src:url(https://x)}</style>`), in(`<style></style>`), "<style>"},
		{"animated link", in(`<g><animate attributeName="href" values="javascript:x"/><set attributeName="xlink:href" to="javascript:x"/><set attributeName="onclick" to="x"/></g>`), in(`<g></g>`), "<animate>"},
		{"animation", in(`<animate attributeName="x" from="0" to="1" dur="1s"/>`), in(`<animate attributeName="x" from="0" to="1" dur="1s"></animate>`), ""},
		{"text that looks like an element", in(`<title>&lt;script&gt;</title><desc><![CDATA[<script>]]></desc>`), in(`<title>&lt;script&gt;</title><desc>&lt;script&gt;</desc>`), ""},
		{"end of an attribute", in(`<text font-family="a&quot; onload=&quot;x">b</text>`), in(`<text font-family="a&#34; onload=&#34;x">b</text>`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cut, err := cleanSVG(tt.src)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.src, got, tt.want)
			}
			if (tt.cut == "") != (len(cut) == 0) || !strings.Contains(strings.Join(cut, " "), tt.cut) {
				t.Errorf("said to be cut: %q, want %q", cut, tt.cut)
			}
			again, cut, err := cleanSVG(got)
			if err != nil || again != got || len(cut) > 0 {
				t.Errorf("cleaned twice:\n%s (cut %q, %v)", again, cut, err)
			}
		})
	}
	var items strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&items, `<b%d onx="%d"/>`, i, i)
	}
	many := items.String()
	if got, cut, err := cleanSVG(in(many)); err != nil || got != in(``) || len(cut) != 9 || cut[8] != "and more" {
		t.Errorf("many things to cut: %.200s, %q, %v", got, cut, err)
	}
	for _, bad := range []struct{ name, src, want string }{
		{"nothing", ``, "not XML"},
		{"HTML", `<html><svg/></html>`, "<html>"},
		{"text", `hello`, "text around"},
		{"unfinished", `<svg><g>`, "not XML"},
		{"two", `<svg/><svg/>`, "not <svg>"},
		{"text behind", `<svg/>x`, "text around"},
		{"entities", `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>`, "entity"},
		{"another encoding", `<?xml version="1.0" encoding="utf-7"?><svg/>`, "UTF-8"},
		{"deep", strings.Repeat("<svg>", 300) + strings.Repeat("</svg>", 300), "deep"},
		{"another namespace", `<svg xmlns="http://www.w3.org/1999/xhtml"/>`, "not <svg>"},
	} {
		if got, _, err := cleanSVG(bad.src); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %s, %v; want an error with %q", bad.name, got, err, bad.want)
		}
	}
}

// Whatever a file holds, it is published as an SVG with only allowed elements and attributes, and cleaning it
// again changes nothing.
func FuzzSVG(f *testing.F) {
	for _, s := range []string{`<svg xmlns="http://www.w3.org/2000/svg"><g fill="url(#a)">a</g></svg>`, `<svg><script>x</script><style>a{b:url(x)}</style></svg>`, `<svg><a href="x"><image href="data:image/png,x"/></a></svg>`,
		`<x:svg xmlns:x="http://www.w3.org/2000/svg" xml:space="preserve"><set attributeName="href"/></x:svg>`, `<!DOCTYPE svg><svg onload="x">&lt;</svg>`, `<svg><style><![CDATA[</style>]]></style></svg>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _, err := cleanSVG(s)
		if err != nil {
			return
		}
		again, cut, err := cleanSVG(got)
		if err != nil || again != got || len(cut) > 0 {
			t.Fatalf("%q\nonce  %q\ntwice %q (cut %q, %v)", s, got, again, cut, err)
		}
		for d := xml.NewDecoder(strings.NewReader(got)); ; {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q gave %q: %v", s, got, err)
			}
			if e, ok := tok.(xml.StartElement); ok {
				if !svgElements[e.Name.Local] || e.Name.Space != svgSpace {
					t.Fatalf("%q: <%s> passed: %q", s, e.Name.Local, got)
				}
				for _, a := range e.Attr {
					name := a.Name.Local
					if !svgAttributes[name] && !strings.HasPrefix(name, "aria-") && name != "xmlns" && !slices.Contains([]string{"space", "lang"}, name) ||
						name == "href" && !strings.HasPrefix(a.Value, "#") && !embeddedRaster(a.Value) {
						t.Fatalf("%q: %s=%q passed: %q", s, name, a.Value, got)
					}
				}
			}
		}
		// As HTML, too, in which some read it.
		for _, e := range elements(t, got) {
			if e.Data == "script" || e.Data == "foreignObject" || e.Data == "iframe" {
				t.Fatalf("%q: <%s> passed: %q", s, e.Data, got)
			}
		}
	})
}
