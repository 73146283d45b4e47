package render

import (
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

func TestFormulasInMarkdown(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"inline", `a $x_1$ b`, `alttext="x_1"`},
		{"not Markdown inside", `$a_1 * b_2 * c_3$`, `alttext="a_1 * b_2 * c_3"`},
		{"prices", `from $5 to $10`, `<p>from $5 to $10</p>`},
		{"escaped", `costs \$5 and \$6`, `<p>costs $5 and $6</p>`},
		{"white space", `a $ b $ c`, `<p>a $ b $ c</p>`},
		{"alone", `100 $`, `<p>100 $</p>`},
		{"code", "`$x$`", `<code>$x$</code>`},
		{"over lines", "a $x +\ny$ b", `alttext="x + y"`},
		{"escaped dollar inside", `$\$5$`, `alttext="\$5"`},
		{"display in text", `so $$x$$ holds`, `<p>so <span class="display"><math display="block"`},
		{"block", "a\n\n$$\nx\n- y\n= z\n$$\n\nb", `<div class="display"><math display="block" alttext="x - y = z">`},
		{"block after text", "a\n$$x$$\nb", `<div class="display">`},
		{"block on one line", "$$x$$", `<div class="display">`},
		{"block in a list", "1. a\n\n   $$\n   x\n   $$\n2. b", `alttext="x"`},
		{"heading", "# About $x^2$", `<h1 id="about-x-2">About <math`},
		{"table", "|a|b|\n|-|-|\n|$x$|y|", `<td><math alttext="x">`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want(t, article(t, md("a", tt.src)), tt.want)
		})
	}
}

func TestFormulaProblemsAreAllReported(t *testing.T) {
	p := failing(t, md("aa", "# T\n\nfine $x$\n"), md("bb", "line one\n\n$$\na\n+ \\foo\n$$\n"), md("cc", "$\\bar$ and $\\frac{a}$"), md("dd", "$$\nx\n"))
	got := p.Error()
	want(t, got, "01-test.ipynb, cell 2 (id bb), line 5: formula: unknown command \\foo", "cell 3 (id cc), line 1: formula: \\bar needs", "\\frac needs", "cell 4 (id dd), line 1: this $$ is never closed", "4 problems, nothing was written")
	if len(p) != 4 {
		t.Errorf("%d problems, want 4", len(p))
	}
}

func TestHeadingsAndLinks(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "01-a.ipynb",
		md("x1", "# First\n\n## Views are `free`\n\n## Views are free\n\n# Again\n\n### Deep [link](https://example.org/x) $x$"),
		md("x2", "[here](#Views-are-free) [there](02-b.ipynb#Some-Part) [cell](#cell-x1) [out](https://example.org) <me@example.org> [gone](03-c.ipynb) [lost](#nowhere) [file](../x.txt) [bad](javascript:alert(1)) <javascript:alert(1)> [data](data:text/html,x)"),
		md("x3", "## Cell x1\n\n## main\n\n<h2>raw</h2>\n\n## 数学 and more\n\n##  \n"))
	b := write(t, dir, "02-b.ipynb", md("y", "# Second\n\n## Some part\n\nText."))
	r, err := Site(Options{Notebooks: []string{a, b}, Out: dir + "/site"})
	if err != nil {
		t.Fatal(err)
	}
	page := readFile(t, r.Pages[0].File)
	want(t, page, `<h1 id="first">`, `<h2 id="views-are-free">`, `<h2 id="views-are-free-1">`, `<h2 id="again">`, `<h3 id="deep-link-x">`,
		`<a href="#views-are-free">here</a>`, `<a href="02-b.html#some-part">there</a>`, `<a href="#cell-x1">cell</a>`, `<a href="https://example.org">out</a>`, `<a href="mailto:me@example.org"`,
		`<h2 id="section-cell-x1">`, `<h2 id="section-main">`, `<h2 id="数学-and-more">`, ` gone `, `<link rel="next" href="02-b.html">`, `<small>Next</small>Second`)
	wantNot(t, page, `href="javascript`, `href="data:text`, `<a href="03-c`, `x.txt"`)
	if n := strings.Count(page, "<h1"); n != 1 {
		t.Errorf("%d first-level headings, want 1", n)
	}
	warnings := ""
	for _, w := range r.Warnings {
		warnings += w.Error() + "\n"
	}
	want(t, warnings, "03-c.ipynb", `"#nowhere" leads to a heading that 01-a.ipynb does not have`, "x.txt", "runs a script")
	want(t, readFile(t, r.Pages[1].File), `<link rel="prev" href="01-a.html">`, `aria-current="page"`)
	want(t, readFile(t, r.Index), `<a href="02-b.html">Second</a>`, `<p>Text.</p>`)
}

func TestMarkdownElements(t *testing.T) {
	got := article(t, md("a", "| l | r |\n|:-|-:|\n| 1 | 2 |\n\n- [x] done\n\n~~gone~~ https://example.org\n\nnote[^1]\n\n[^1]: the note\n\n```go\nfunc f() int { return 1 } // c\n```\n\n```nolang\n<b>\n```\n\n<details><summary>More</summary>\n\nInside **bold**.\n\n</details>\n\n</div></article>\n\n<script>alert(1)</script>"))
	want(t, got, `<div class="scroll">`, `<th style="text-align:right">`, `type="checkbox" aria-label="done"`, `<del>gone</del>`, `class="url"`, `id="cell-a-fn:1"`, `<span class="hk">func</span>`, `<span class="hc">// c</span>`,
		"&lt;b&gt;", "<details><summary>More</summary>", "<strong>bold</strong>", "&lt;script&gt;")
	wantNot(t, got, "<script>", "</article>")
}

func TestImagesInMarkdown(t *testing.T) {
	cell := md("a", "![a cat](attachment:cat.png) ![far](https://example.org/cat.png) <img src=\"https://example.org/b.png\" alt=\"\">")
	cell.Attachments = notebook.Object{"cat.png": map[string]any{"image/png": "iVBORw0KGgo=\n"}}
	page, warnings := lesson(t, cell)
	want(t, page, `<img src="data:image/png;base64,iVBORw0KGgo=" alt="a cat">`, `<a href="https://example.org/cat.png">far</a>`)
	wantNot(t, page, `src="https`)
	if len(warnings) != 2 {
		t.Errorf("warnings %v, want two", warnings)
	}
	p := failing(t, md("a", "![](attachment:no.png)"), md("b", "![x](../../etc/passwd)"), md("c", "![x](missing.png)"), md("d", `<img src="data:image/png;base64,AA">`), md("e", `<svg viewBox="0 0 1 1"></svg>`))
	want(t, p.Error(), "no alternative text", "not in the cell", "not below the notebook's folder", "no such file", "an <img> has no alt", "an <svg> in HTML has neither")
}

// Whatever stands in a cell, the page around it stays whole and nothing in it runs.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a $x$\n\n<details>\n\n- $$\n  y\n  $$\n", "[a](javascript:b) <b onclick=x>", "|a|\n|-|\n|$|$|", "![x](data:image/png;base64,AA)", "a[^1]\n\n[^1]: b", "$$\n", "> $$x\n> y$$ z", "\t$$\n\t$$", "<svg><a xlink:href='javascript:x'>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		st := &site{options: Options{AllowMissingAlt: true}, byNotebook: map[string]*page{}}
		nb := &notebook.Notebook{Cells: []*notebook.Cell{md("a", s)}}
		p := newPage(st, "fuzz.ipynb", nb)
		p.cell = nb.Cells[0]
		got := p.markdown(s)
		safe(t, s, got)
		if b := balance(got); b != got {
			t.Fatalf("%q: not balanced:\n%s", s, got)
		}
	})
}
