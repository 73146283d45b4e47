package pictures

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/formatters"
)

func TestPictures(t *testing.T) {
	m := image.NewRGBA(image.Rect(10, 10, 13, 12))
	m.Set(11, 11, color.RGBA{R: 200, A: 255})
	look, ok := formatters.For(m).(interface {
		HTML() string
		String() string
	})
	if !ok || look.String() != "*image.RGBA, 3 × 2 pixels" {
		t.Fatalf("it is shown as %v", look)
	}
	_, rest, _ := strings.Cut(look.HTML(), "base64,")
	data, _, _ := strings.Cut(rest, `"`)
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	back, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, _, _ := back.At(1, 1).RGBA(); r>>8 != 200 || back.Bounds().Size() != m.Bounds().Size() {
		t.Errorf("the picture is %v with %d at its pixel", back.Bounds(), r>>8)
	}
	for _, v := range []any{image.NewGray(image.Rectangle{}), 3, "text"} {
		if _, ok := formatters.For(v).(picture); ok {
			t.Errorf("%v is a picture", v)
		}
	}
	if s := (picture{image.NewUniform(color.White)}).HTML(); !strings.Contains(s, "too large") {
		t.Errorf("a picture without end: %.100s", s)
	}
}
