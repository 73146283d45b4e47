package pictures

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/inspect"
)

func TestPictures(t *testing.T) {
	m := image.NewRGBA(image.Rect(10, 10, 13, 12))
	m.Set(11, 11, color.RGBA{R: 200, A: 255})
	look, ok := inspect.ViewOf(m).(picture)
	if !ok || look.String() != "*image.RGBA, 3 × 2 pixels" {
		t.Fatalf("it is shown as %v", look)
	}
	pairs := look.MIMEBundle()
	if len(pairs) != 6 || pairs[0] != "image/png" || !strings.Contains(pairs[3], `width="12" height="8"`) || pairs[5] != look.String() {
		t.Fatalf("it is shown as %q", pairs)
	}
	b := []byte(pairs[1])
	back, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, _, _ := back.At(1, 1).RGBA(); r>>8 != 200 || back.Bounds().Size() != m.Bounds().Size() {
		t.Errorf("the picture is %v with %d at its pixel", back.Bounds(), r>>8)
	}
	for _, v := range []any{image.NewGray(image.Rectangle{}), 3, "text"} {
		if _, ok := inspect.ViewOf(v).(picture); ok {
			t.Errorf("%v is a picture", v)
		}
	}
	if pairs := (picture{image.NewGray(image.Rect(0, 0, 64, 1))}).MIMEBundle(); len(pairs) != 4 || pairs[0] != "image/png" {
		t.Errorf("a larger one: %q", pairs)
	}
	if pairs := (picture{image.NewUniform(color.White)}).MIMEBundle(); len(pairs) != 2 || !strings.Contains(pairs[1], "too large") {
		t.Errorf("a picture without end: %.100q", pairs)
	}
}
