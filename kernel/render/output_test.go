package render

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// A cell that brings a fold along, for JupyterLab, is folded once.
func TestOwnFold(t *testing.T) {
	got := article(t, md("p", "<details>\n<summary>The same in PyTorch</summary>\n\n```python\nx = None\n```\n\nand more\n\n</details>", "pytorch"))
	if n := strings.Count(got, "<details"); n != 1 || strings.Count(got, "</details>") != 1 || !strings.Contains(got, "x") || !strings.Contains(got, "<p>and more</p>") {
		t.Errorf("%d folds in %s", n, got)
	}
	if got := unfolded("<details>\n<summary>s</summary>\ntext</details>"); got != "\n\ntext" {
		t.Errorf("the text of the fold is %q, want it in the third line", got)
	}
	for _, other := range []string{"text", "<details>\nno summary\n</details>", "<details><summary>s</summary>text</details> and text after it"} {
		if got := unfolded(other); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}

// Printed text keeps its lines, unless one is too long to be read without scrolling.
func TestLongLines(t *testing.T) {
	fits, long := strings.Repeat("é", lineFits), strings.Repeat("word ", lineFits/5+1)
	want(t, article(t, code("c", "f()", &notebook.Output{Type: "stream", Name: "stdout", Text: fits + "\n\x1b[31m" + fits + "\x1b[0m\n"})), "<pre>"+fits)
	want(t, article(t, code("c", "f()", &notebook.Output{Type: "stream", Name: "stdout", Text: "short\n" + long + "\n"})), `<pre class="wrap">short`)
	want(t, article(t, code("c", "f()", display("text/plain", long))), `<pre class="wrap">word`)
}

func TestOutputs(t *testing.T) {
	stdout := &notebook.Output{Type: "stream", Name: "stdout", Text: "a\n\x1b[31mb\x1b[0m\n"}
	stderr := &notebook.Output{Type: "stream", Name: "stderr", Text: "careful"}
	fail := &notebook.Output{Type: "error", EName: "panic", EValue: "boom", Traceback: []string{"\x1b[1mgoroutine 1\x1b[0m", "line <2>"}}
	two := &notebook.Output{Type: "display_data", Data: notebook.Object{"text/plain": "poor", "text/html": "<b>rich</b>"}}
	got := article(t, code("c", "x := 1", stdout, stderr, fail, two, display("text/latex", "$$x$$"), display("text/markdown", "**m**"), display("text/plain", "<v>"),
		&notebook.Output{Type: "display_data", Data: notebook.Object{"application/json": map[string]any{"k": "v"}}}))
	want(t, got, `id="cell-c"`, `<pre>a`, `<span class="af1">b</span>`, `<div class="stream stderr"><p class="label">stderr</p><pre>careful`, `panic: boom`, `<span class="ab">goroutine 1</span>`, `line &lt;2&gt;`,
		`<b>rich</b>`, `<math display="block" alttext="x">`, `<strong>m</strong>`, `<pre>&lt;v&gt;</pre>`, `&#34;k&#34;`)
	wantNot(t, got, "poor")
}

// A figure that is drawn for phones, too, comes in both drawings, of which the style shows one. Their ids differ.
func TestNarrowFigures(t *testing.T) {
	const wide = `<svg width="600" height="9"><title>a plot</title><defs><path id="p" d="M0 0"/></defs><use href="#p"/></svg>`
	both := func(narrow string) *notebook.Output {
		return &notebook.Output{Type: "display_data", Data: notebook.Object{"text/html": wide, narrowType: narrow, "text/plain": "a plot"}}
	}
	got := article(t, code("c", "1", both(strings.Replace(wide, "600", "300", 1))))
	want(t, got, `class="wide"`, `class="narrow"`, `href="#f1-p"`, `href="#f1-n-p"`, `Figure 1</a> a plot`)
	if n := strings.Count(got, "<figure"); n != 1 {
		t.Errorf("%d figures, want 1", n)
	}
	for _, other := range []string{"", "no figure", "<svg>"} {
		got := article(t, code("c", "1", both(other)))
		want(t, got, `href="#f1-p"`)
		wantNot(t, got, "narrow", `class="wide"`)
	}
	_, got, _ = strangers(t, code("c", "1", both(`<svg onload="x()"><title>a plot</title></svg>`)))
	want(t, got, `<img class="wide" src="data:image/svg+xml`, `<img class="narrow" src="data:image/svg+xml`)
	wantNot(t, got, "onload")
}

func TestCellTags(t *testing.T) {
	hide := code("h", "secret()", display("text/plain", "seen"))
	hide.Metadata = tagged([]string{"hide-input", "measured"})
	solved := code("s2", "answer()")
	solved.Metadata = tagged([]string{"solution"})
	got := article(t, md("e", "### Try it", "exercise"), md("s1", "## Hidden heading", "solution"), solved, md("p", "```python\nx = None\n```", "pytorch"), hide, md("z", "after"))
	want(t, got, `<p class="badge">Your turn</p>`, "<details class=\"fold solution\"><summary>Show a solution</summary>", "<details class=\"fold pytorch\"><summary>The same in PyTorch</summary>",
		`<span class="hb">None</span>`, "<summary>Show the code</summary>", "your numbers will differ")
	if n := strings.Count(got, "Show a solution"); n != 1 {
		t.Errorf("two neighboring solutions have %d folds, want 1", n)
	}
	page, _ := lesson(t, md("s1", "## Hidden heading", "solution"), md("v", "## Seen"))
	_, contents, _ := strings.Cut(page, `id="contents"`)
	want(t, contents, "#seen")
	wantNot(t, contents, `href="#hidden-heading"`)
}

func TestBareCellMark(t *testing.T) {
	got := article(t, code("c", "%%\nx := 1\n"))
	want(t, got, `<code data-lang="go">x`)
	wantNot(t, got, "%%")
}

const plot = `<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg width="30pt" height="15" xmlns="http://www.w3.org/2000/svg"><title>A &lt;curve&gt;</title><style>#c{fill:none}</style><clipPath id="c"/><g clip-path="url(#c)"><use xlink:href="#c"/><a href="javascript:x"/></g></svg>`

func TestFigures(t *testing.T) {
	got := article(t, code("one", "f()", display("image/svg+xml", plot), display("image/svg+xml", plot)))
	want(t, got, `<figure id="figure-1">`, `<figure id="figure-2">`, `<a href="#cell-one">Figure 2</a> A &lt;curve&gt;`, `role="group" aria-label="A &lt;curve&gt;"`, `viewBox="0 0 40 15"`,
		`id="f1-c"`, `id="f2-c"`, `url(#f2-c)`, `xlink:href="#f2-c"`, `<style>#f2-c{`, `href="#"`)
	wantNot(t, got, "<?xml", "DOCTYPE", `id="c"`, "javascript")

	png := display("image/png", "iVBORw0K\nGgo=")
	png.Metadata = notebook.Object{"image/png": map[string]any{"alt": "A \"histogram\""}}
	want(t, article(t, code("p", "f()", png)), `<img src="data:image/png;base64,iVBORw0KGgo=" alt="A &#34;histogram&#34;">`)
}

func TestLoneSVGInHTMLIsAFigure(t *testing.T) {
	figure := `<svg viewBox="0 0 2 2" style="max-width:100%" color="currentColor"><title>A strip</title><svg/><svg><path/></svg></svg>`
	want(t, article(t, code("c", "f()", display("text/html", figure+"\n"))), `<figure id="figure-1"><div class="picture"><svg`, `<a href="#cell-c">Figure 1</a> A strip`)
	for _, src := range []string{"<b>a</b>" + figure, figure + figure, figure + "b", "<svg>", "", "text"} {
		if loneSVG(src) {
			t.Errorf("%q was taken for one figure", src)
		}
	}
}

// Text that was made to be slow has to be read in reasonable time all the same: if it isn't, the tests run out of
// theirs. Twice as much takes about twice as long.
func TestSlowText(t *testing.T) { slowText(t, 1) }

func BenchmarkSlowText(b *testing.B) {
	for _, times := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(times), func(b *testing.B) {
			for b.Loop() {
				slowText(b, times)
			}
		})
	}
}

func slowText(t testing.TB, times int) {
	t.Helper()
	article(t,
		md("a", strings.Repeat("$a ", times*30_000)+"\n\n"+strings.Repeat("$$a ", times*30_000)),
		code("b", "f()", display("text/html", strings.Repeat("<a ", times*30_000)+`b=">`), display("text/html", strings.Repeat("<!--", times*30_000)), display("text/html", strings.Repeat("<b>", times*3_000))),
		md("c", strings.Repeat("<details>", times*3_000)))
}

func TestFigureWithoutAlternativeText(t *testing.T) {
	bare := code("c", "f()", display("image/svg+xml", `<svg viewBox="0 0 1 1"></svg>`), display("image/png", "iVBO"), display("text/html", `<img src="data:,"><svg></svg>`))
	p := failing(t, bare)
	want(t, p.Error(), "cell 1 (id c): an SVG figure has no alternative text", "an image/png figure", "an <img> has no alt", "an <svg> in HTML")

	dir := t.TempDir()
	r, err := Site(Options{Notebooks: []string{write(t, dir, "a.ipynb", bare)}, Out: dir + "/site", AllowMissingAlt: true})
	if err != nil || len(r.Warnings) != 4 {
		t.Errorf("with AllowMissingAlt: %v, warnings %v; want 4 warnings", err, r.Warnings)
	}
	named := display("image/svg+xml", `<svg viewBox="0 0 1 1"></svg>`)
	named.Data["text/plain"] = "figure: squares" // as kernel/show says it
	want(t, article(t, code("c", "f()", named)), `aria-label="squares"`)
	article(t, code("c", "f()", display("text/html", `<svg aria-label="x"></svg><svg aria-hidden="true"></svg><svg><title>y</title></svg><img alt="">`)))
}

// An output keeps its script, in a frame, and cannot reach the page around it.
func TestHostileNotebook(t *testing.T) {
	evil := `</div></main></body><script>document.getElementById("w").textContent = "</p>";</script><p id="w"><a href="javascript:alert(1)">x</a><base href="https://evil.example/"><meta http-equiv="refresh" content="0;https://evil.example"><link rel="stylesheet" href="https://evil.example/x.css"><img src="https://evil.example/p.png" alt=""><div><!-- `
	page, warnings := lesson(t,
		md("a", "# T</h1><script>alert(1)</script> <b onmouseover=alert(1)>b</b> <style>body{display:none}</style>\n\n</main><iframe src=https://evil.example></iframe>"),
		md("b", strings.Repeat("> ", 2000)+"deep\n\n"+strings.Repeat("- ", 500)+"list\n\n"+strings.Repeat("[", 3000)+strings.Repeat("*a_", 2000)),
		code("c", "`unclosed raw string \x00 \u2028 </code></pre><script>", display("text/html", evil), display("text/plain", "</pre><script>alert(2)</script>")),
		code("d", strings.Repeat("x", 100_000), &notebook.Output{Type: "stream", Name: "stdout", Text: strings.Repeat("\x1b[3", 50_000) + "</pre>"}))
	want(t, page, `sandbox="allow-scripts" srcdoc="`, html.EscapeString(`document.getElementById("w").textContent = "</p>";</script>`), "&lt;script&gt;alert(1)", "&lt;/pre&gt;&lt;script&gt;alert(2)")
	wantNot(t, page, "<script>alert", "javascript:", `<base href`, `http-equiv="refresh"`, `<link rel="stylesheet"`, "<iframe src", " onmouseover=")
	if n := strings.Count(page, "</main>"); n != 1 {
		t.Errorf("%d ends of <main>, want 1", n)
	}
	found := false
	for _, w := range warnings {
		found = found || strings.Contains(w.Msg, "https://evil.example/p.png")
	}
	if !found {
		t.Errorf("no warning about the picture on another host: %v", warnings)
	}
}

func TestActive(t *testing.T) {
	for src, want := range map[string]bool{
		`<p>text</p>`: false, `<SCRIPT>x()</SCRIPT>`: true, `<p><script src=x></script>`: true, `<b onclick="x()">b</b>`: true, `<img src=x ONERROR=x()>`: true,
		`<svg onload=x()><rect/></svg>`: true, `<svg><script>x()</script></svg>`: true, `<svg><style><script>x()</script></style></svg>`: true,
		`<table><tr><td>on = 1</td></tr></table>`: false, `<p title="onload=x()">`: false, `a < b`: false, `<svg><text>script</text></svg>`: false, `<math><mtext><script>x()</script></mtext></math>`: true,
		`<textarea><b onclick=x()></textarea>`: true, // which is text there: a frame too many does no harm
	} {
		if active(src) != want {
			t.Errorf("%s: %t", src, !want)
		}
	}
}
