package render

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// strangers renders cells as a stranger's notebook and returns the whole page, its article and the warnings.
func strangers(t *testing.T, cells ...*notebook.Cell) (page, article, warnings string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.png"), smallPNG(t), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Site(Options{Notebooks: []string{write(t, dir, "01-test.ipynb", cells...)}, Out: filepath.Join(dir, "site"), Untrusted: true})
	if err != nil {
		t.Fatal(err)
	}
	page = readFile(t, r.Pages[0].File)
	_, article, _ = strings.Cut(page, "<article>")
	article, _, _ = strings.Cut(article, "</article>")
	for _, w := range r.Warnings {
		warnings += w.Error() + "\n"
	}
	return page, article, warnings
}

func TestUntrustedOutputs(t *testing.T) {
	both := func(mime, data, plain string) *notebook.Output {
		return &notebook.Output{Type: "display_data", Data: notebook.Object{mime: data, "text/plain": plain}}
	}
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" aria-label="a plot"><style>*{fill:red}</style><script>alert(1)</script><path d="M0,0"/></svg>`
	_, article, warnings := strangers(t,
		code("a", "1", display("text/html", `<b>kept</b><script>alert(1)</script><style>body{display:none}</style><img src="https://example.org/x.png" onerror="alert(1)" alt="its words"><div class="skip" id="search" style="position:fixed;inset:0">over</div>`)),
		code("b", "1", both("text/html", `<div id="plot"></div><script>draw(plot)</script>`, "plain form")),
		code("c", "1", display("image/svg+xml", drawing)),
		code("d", "1", display("text/html", drawing)),
		code("e", "1", both("image/svg+xml", `<svg><g>`, "instead of a broken figure")),
		code("f", "1", display("text/markdown", "<script>alert(1)</script>\n\n<b id=\"main\" onclick=\"x\">m</b> ![mine](mine.png) ![far](https://example.org/y.png)")),
		code("g", "1", &notebook.Output{Type: "error", EName: "E", EValue: "<script>alert(1)</script>", Traceback: []string{"<img src=x onerror=alert(1)>"}}),
		code("h", "1", display("text/html", `</div></main><form action="https://example.org"><input name="password"></form><meta http-equiv="refresh" content="0;url=https://example.org"><a href="javascript:alert(1)">l</a><a href="https://example.org/z" ping="https://example.org/p">out</a>`)),
	)
	clean, _, err := cleanSVG(drawing)
	if err != nil {
		t.Fatal(err)
	}
	want(t, article, "<b>kept</b><em>its words</em>", ">over</div>", "plain form", "instead of a broken figure", `<b id="cell-f-own-main">m</b>`, `<em>mine</em>`, `<a href="https://example.org/z">out</a>`, `<a href="https://example.org/y.png">far</a>`,
		`<img src="data:image/svg+xml;base64,`+base64.StdEncoding.EncodeToString([]byte(clean))+`" alt="a plot">`)
	if n := strings.Count(article, "data:image/svg+xml;base64,"); n != 2 {
		t.Errorf("%d figures, want 2", n)
	}
	want(t, warnings, "lost <script>, <style>", "lost <form>, <input>, <meta>", "mine.png", "on another host", "not XML")
	wantNot(t, article, "<img>", `src=""`, "<script", "<style", "<svg", "<form", "<input", "<meta", `src="https`, "onerror=\"", "ping=", "javascript:", "position:", "mine.png\"", `id="search"`, `class="skip"`)
	for _, e := range elements(t, article) {
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s> has %s=%q", e.Data, a.Key, a.Val)
			}
		}
	}
}

// Mistakes in a stranger's notebook can't be mended by the one who renders it.
func TestUntrustedProblemsAreWarnings(t *testing.T) {
	_, article, warnings := strangers(t, md("a", "# T\n\n$\\nosuch$ ![](attachment:none.png) <img src=\"data:image/png;base64,AA\">"), code("b", "1", display("image/png", "AA==")))
	want(t, article, `<code>\nosuch</code>`, `src="data:image/png;base64,AA=="`)
	want(t, warnings, "unknown command \\nosuch", "not in the cell", "no alternative text", "no alt")
}

// Whatever got through would not run: the page names its own script by its content, and allows no other.
func TestUntrustedPolicy(t *testing.T) {
	page, _, _ := strangers(t, md("a", "# T"))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(scripts) != 2 {
		t.Fatalf("%d scripts, want the site's own two", len(scripts))
	}
	allowed := "script-src"
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(s[1]))
		allowed += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	if !strings.Contains(policy[1], allowed+";") {
		t.Errorf("policy %s, want %s", policy[1], allowed)
	}
	want(t, policy[1], "default-src 'none'", "form-action 'none'", "base-uri 'none'")
	trusted, _ := lesson(t, md("a", "# T"))
	want(t, trusted, "script-src 'unsafe-inline'")
}
