package render

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

func smallPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inFolder renders a cell of a notebook that lies in dir and returns the page, or the problems as text.
func inFolder(t *testing.T, dir, markdown string) (page, problems string) {
	t.Helper()
	r, err := Site(Options{Notebooks: []string{write(t, dir, "01-test.ipynb", md("a", markdown))}, Out: filepath.Join(t.TempDir(), "site")})
	if err != nil {
		return "", err.Error()
	}
	return readFile(t, r.Pages[0].File), ""
}

// Who writes a notebook doesn't choose which files of the machine are published with it.
func TestPicturesStayInTheFolder(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.png")
	picture := smallPNG(t)
	if err := os.WriteFile(secret, picture, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "pictures"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"pictures/ok.png": picture, "text.png": []byte("# a secret"), "page.svg": []byte("<html></html>"), "large.png": append(bytes.Clone(picture), make([]byte, pictureLimit)...)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := map[string]string{
		"![x](../secret.png)":                                "not below the notebook's folder",
		"![x](" + filepath.ToSlash(secret) + ")":             "cannot be used",
		"![x](pictures)":                                     "not a file",
		"![x](text.png)":                                     "PNG, JPEG",
		"![x](page.svg)":                                     "not <svg>",
		"![x](large.png)":                                    "10.0 MiB, more than 10 MiB",
		`<img src="../secret.png" alt="">`:                   "not below the notebook's folder",
		"![x](data:text/html,x)":                             "PNG, JPEG",
		"![x](data:image/svg+xml,<script/>)":                 "not <svg>",
		"![x](DATA:image/svg+xml;base64,PHNjcmlwdC8+)":       "not <svg>",
		`<img src="data:application/octet-stream,x" alt="">`: "PNG, JPEG",
	}
	if runtime.GOOS != "windows" { // where making links needs a right of its own
		for name, to := range map[string]string{"link.png": secret, "up.png": filepath.Join("..", filepath.Base(outside), "secret.png"), "folder": outside, "inside.png": filepath.Join("pictures", "ok.png"), "dangling.png": "nothing"} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		makePipe(t, filepath.Join(dir, "pipe.png"))
		refused["![x](link.png)"] = "escapes"
		refused["![x](up.png)"] = "escapes"
		refused["![x](folder/secret.png)"] = "escapes"
		refused["![x](dangling.png)"] = "no such file"
		refused["![x](pipe.png)"] = "not a file" // and no waiting for its writer
	}
	for markdown, want := range refused {
		page, problems := inFolder(t, dir, markdown)
		if !strings.Contains(problems, want) || strings.Contains(page, base64.StdEncoding.EncodeToString(picture)) {
			t.Errorf("%s: got %.300s, want %q", markdown, problems, want)
		}
	}
	allowed := []string{"![x](pictures/ok.png)"}
	if runtime.GOOS != "windows" {
		allowed = append(allowed, "![x](inside.png)")
	}
	for _, markdown := range allowed {
		page, problems := inFolder(t, dir, markdown)
		if !strings.Contains(page, `<img src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(picture)+`" alt="x">`) {
			t.Errorf("%s: %s", markdown, problems)
		}
	}
}

// An SVG is parsed and keeps what draws, wherever it comes from.
func TestPicturesRunNothing(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><image href="https://example.org/x.png"/><rect width="1"/></svg>`
	const clean = `<svg xmlns="http://www.w3.org/2000/svg"><image></image><rect width="1"></rect></svg>`
	encoded := base64.StdEncoding.EncodeToString([]byte(svg))
	want := `<img src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(clean)) + `" alt="x">`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.svg"), []byte(svg), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"x.svg", "attachment:text.svg", "attachment:base64.svg", "data:image/svg+xml;base64," + encoded, "<data:image/svg+xml;utf8," + strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22", " ", "%20").Replace(svg) + ">"} {
		cell := md("a", "![x]("+source+")")
		cell.Attachments = notebook.Object{"text.svg": map[string]any{"image/svg+xml": svg}, "base64.svg": map[string]any{"image/svg+xml": encoded}}
		r, err := Site(Options{Notebooks: []string{write(t, dir, "01-test.ipynb", cell)}, Out: filepath.Join(t.TempDir(), "site")})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if page := readFile(t, r.Pages[0].File); !strings.Contains(page, want) {
			t.Errorf("%s: not cleaned", source)
		}
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0].Error(), "<script>") {
			t.Errorf("%s: warnings %v, want one that names what was cut", source, r.Warnings)
		}
	}
}
