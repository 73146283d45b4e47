// Package pictures has notebooks show values of type image.Image as pictures. The kernel imports it into programs that
// import image: it contains what writes PNG files, which other cells need not link.
package pictures

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"

	"github.com/lectern-go/lectern/internal/inspect"
)

func init() {
	inspect.RegisterView(func(v any) (any, bool) {
		m, ok := v.(image.Image)
		if !ok || m.Bounds().Empty() {
			return nil, false
		}
		return picture{m}, true
	})
}

// maxPixels is how large a picture is drawn: an output is part of the notebook's file.
const maxPixels = 16 << 20

type picture struct{ image.Image }

func (p picture) String() string {
	return fmt.Sprintf("%T, %d × %d pixels", p.Image, p.Bounds().Dx(), p.Bounds().Dy())
}

// MIMEBundle is the picture as a PNG file, or its text if it is too large or can't be encoded. A small picture is meant
// to show its pixels: as HTML it is four times as large.
func (p picture) MIMEBundle() []string {
	size := p.Bounds().Size()
	var b bytes.Buffer
	if size.X > maxPixels/size.Y || png.Encode(&b, p.Image) != nil {
		return []string{"text/plain", p.String() + ", too large to be shown"}
	}
	pairs := []string{"image/png", b.String()}
	if size.X < 64 && size.Y < 64 {
		pairs = append(pairs, "text/html", fmt.Sprintf(`<img src="data:image/png;base64,%s" alt="%s" width="%d" height="%d" style="image-rendering:pixelated">`,
			base64.StdEncoding.EncodeToString(b.Bytes()), p.String(), 4*size.X, 4*size.Y))
	}
	return append(pairs, "text/plain", p.String())
}
