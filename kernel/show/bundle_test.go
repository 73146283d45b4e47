package show

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	_ "gonum.org/v1/plot/vg/vgsvg"
)

type row struct {
	Name  string
	Count int
	Took  time.Duration
	inner []int
}

type quiet struct{ a int }

func (quiet) String() string { return "its own" }

// file encodes a picture.
func file(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 30, 20))
	m.Set(1, 1, color.White)
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a cell shows when it ends with a value whose type does not say how it looks.
func TestLooks(t *testing.T) {
	p := plot.New()
	p.Title.Text = "Losses"
	deep := map[string]any{}
	for i := range 12 {
		deep[fmt.Sprint("key", i)] = []row{{"a <b>", i, time.Second, []int{1, 2}}, {"another name, to make it long enough for several lines", i, time.Second, nil}}
	}
	rows := make([]row, 1200)
	for i := range rows {
		rows[i] = row{fmt.Sprint("n", i), i, time.Duration(i) * time.Millisecond, nil}
	}
	waiting := make(chan int, 3)
	waiting <- 1
	for name, c := range map[string]struct {
		v                any
		mime, html, text string // parts of them; no mime means text alone
	}{
		"PNG":              {file(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }), "text/html", "data:image/png;base64,iVBOR", "PNG image, 30 × 20 pixels"},
		"JPEG":             {file(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }), "text/html", "image/jpeg", "JPEG image, 30 × 20 pixels"},
		"SVG":              {[]byte("<svg xmlns='http://www.w3.org/2000/svg'><title>A line</title></svg>"), "image/svg+xml", "<svg", "figure: A line"},
		"other bytes":      {[]byte{1, 2, 3}, "", "", "[]byte{1, 2, 3}"},
		"cut PNG":          {[]byte("\x89PNG\r\n\x1a\n"), "", "", "[]byte{"},
		"cut JPEG":         {[]byte("\xff\xd8\xff\xc0\x00"), "text/html", "image/jpeg", "JPEG image"},
		"template":         {template.HTML("<b>bold</b> text"), "text/html", "<b>bold</b>", "bold text"},
		"plot":             {p, "image/svg+xml", "<svg", "figure: Losses"},
		"matrix":           {mat.NewDense(2, 2, []float64{1, 2.5, -3, 1e9}), "text/html", "<table", "2 × 2   0      1"},
		"large matrix":     {mat.NewDense(100, 50, nil), "text/html", "…", "100 × 50"},
		"slice of structs": {rows[:2], "text/html", `<th scope="col" tabindex="0" aria-sort="none" style="cursor:pointer">Took</th>`, "[]show.row{"},
		"many structs":     {rows, "text/html", "the first 1000 of 1200 rows", "// 1200 elements"},
		"pointers to them": {[]*row{&rows[0], nil}, "text/html", ">nil</td>", "[]*show.row{"},
		"their own look":   {[]quiet{{1}, {2}}, "", "", "[]show.quiet{its own, its own}"},
		"deep map":         {deep, "text/html", "<details", "map[string]any{"},
		"small struct":     {rows[1], "", "", `row{Name: "n1"`},
		"chain":            {fmt.Errorf("outer: %w", &fs.PathError{Op: "open", Path: "a<b", Err: syscall.ENOENT}), "text/html", "3 errors, one inside another", "outer: open a<b: no such file or directory"},
		"joined":           {errors.Join(errors.New("one"), errors.New("two")), "text/html", "</code> two</li>", "one\ntwo"},
		"plain error":      {errors.New("one"), "", "", "one"},
		"duration":         {1500 * time.Millisecond, "", "", "1.5s"},
		"channel":          {waiting, "", "", "chan int // holds 1 of 3"},
		"function":         {strings.ToUpper, "", "", "func(string) string"},
	} {
		t.Run(name, func(t *testing.T) {
			f := formats(c.v)
			if text := f[len(f)-1]; f[len(f)-2] != "text/plain" || !strings.Contains(text, c.text) {
				t.Errorf("the text is %q, want %q in it", text, c.text)
			}
			switch {
			case c.mime == "" && len(f) > 2:
				t.Errorf("it is shown as %s %s", f[0], f[1])
			case c.mime != "" && (f[0] != c.mime || !strings.Contains(f[1], c.html)):
				t.Errorf("it is shown as %s %.300s, want %s with %q in it", f[0], f[1], c.mime, c.html)
			}
			if strings.Contains(f[1], "a <b>") || c.mime == "text/html" && strings.Contains(f[1], "a<b") {
				t.Errorf("text is not escaped: %.300s", f[1])
			}
			if open, closed := strings.Count(f[1], "<details"), strings.Count(f[1], "</details>"); c.mime == "text/html" && open != closed {
				t.Errorf("%d folds are opened, %d closed", open, closed)
			}
		})
	}
}
