package render

import (
	"bytes"
	"image"
	"image/png"
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

	o.URL = "" // the site map goes when the address is not known
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Out, "sitemap.xml")); left != nil {
		t.Errorf("%s is still there", left)
	}

	o.Picture, o.PictureAlt = []byte("GIF89a"), "A graph & a tensor"
	if _, err := Site(o); err == nil || !strings.Contains(err.Error(), "isn't a PNG") {
		t.Errorf("a picture that is no PNG: error %v", err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 12, 6))); err != nil {
		t.Fatal(err)
	}
	o.Picture = picture.Bytes()
	preview := filepath.Join(o.Out, "preview.png")
	for _, u := range []string{"", "https://example.org/course/", "https://example.org/course/", ""} {
		o.URL = u
		if _, err := Site(o); err != nil {
			t.Fatal(err)
		}
		page := readFile(t, filepath.Join(o.Out, "01-a b.html"))
		if u == "" { // previews can't ask for a picture whose address is not known
			wantNot(t, page, "og:image", "twitter:")
			if left, _ := filepath.Glob(preview); left != nil {
				t.Errorf("%s is there without an address", preview)
			}
			continue
		}
		want(t, page, `<meta property="og:image" content="https://example.org/course/preview.png">`, `<meta property="og:image:width" content="12">`,
			`<meta property="og:image:height" content="6">`, `<meta property="og:image:alt" content="A graph &amp; a tensor">`)
		if readFile(t, preview) != picture.String() {
			t.Errorf("%s is another picture", preview)
		}
	}

	for _, bad := range []string{"example.org", "ftp://example.org/", "https:///x", "https://example.org/?a=b", "https://example.org/#x", "://"} {
		o.URL = bad
		if _, err := Site(o); err == nil || !strings.Contains(err.Error(), "is not the address of a site") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}
