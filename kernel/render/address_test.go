package render

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAddress asks what pages say about where they stand, if they know, and where they belong to.
func TestAddress(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "01-a b.ipynb", md("x", "# A & B\n\nWhat is *A*?"))
	o := Options{Notebooks: []string{a}, Out: filepath.Join(dir, "site"), Title: "Course", Description: "All about A.", Footer: "By [us](https://example.org/us)."}
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	index := readFile(t, filepath.Join(o.Out, "index.html"))
	want(t, index, `<meta name="description" content="All about A.">`, `<meta property="og:description" content="All about A.">`, `<meta property="og:title" content="Course">`,
		`<footer class="foot">`, `<a href="https://example.org/us">us</a>`)
	wantNot(t, index, "og:url", "canonical")
	page := readFile(t, filepath.Join(o.Out, "01-a b.html"))
	want(t, page, `<meta property="og:title" content="A &amp; B · Course">`, `<footer class="foot">`)

	o.URL = "https://example.org/course"
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	page = readFile(t, filepath.Join(o.Out, "01-a b.html"))
	want(t, page, `<link rel="canonical" href="https://example.org/course/01-a%20b.html">`, `<meta property="og:url" content="https://example.org/course/01-a%20b.html">`)
	missing := readFile(t, filepath.Join(o.Out, "404.html"))
	want(t, missing, `<meta name="robots" content="noindex">`, `href="https://example.org/course/index.html"`, `href="https://example.org/course/01-a%20b.html"`)
	wantNot(t, missing, "canonical")
	sitemap := readFile(t, filepath.Join(o.Out, "sitemap.xml"))
	want(t, sitemap, "<loc>https://example.org/course/</loc>", "<loc>https://example.org/course/01-a%20b.html</loc>")
	wantNot(t, sitemap, "404")

	o.URL = "" // the site map goes when nobody knows the address
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Out, "sitemap.xml")); left != nil {
		t.Errorf("%s is still there", left)
	}

	for _, bad := range []string{"example.org", "ftp://example.org/", "https:///x", "https://example.org/?a=b", "https://example.org/#x", "://"} {
		o.URL = bad
		if _, err := Site(o); err == nil || !strings.Contains(err.Error(), "is no address of a site") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}
