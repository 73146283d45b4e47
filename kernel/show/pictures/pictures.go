// Package pictures has notebooks show values of type image.Image as pictures. The kernel imports it into programs that
// import image: it brings along what writes PNG files, which other cells need not link.
package pictures

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"

	"github.com/lectern-go/lectern/internal/formatters"
)

func init() {
	formatters.Register(func(v any) (any, bool) {
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

// HTML is an element with the picture in it, or its text if it is too large or can't be encoded.
func (p picture) HTML() string {
	size := p.Bounds().Size()
	var b bytes.Buffer
	if size.X > maxPixels/size.Y || png.Encode(&b, p.Image) != nil {
		return "<pre>" + p.String() + ", too large to be shown</pre>"
	}
	smooth := ""
	if size.X < 64 && size.Y < 64 { // a small one is looked at for its pixels
		smooth = fmt.Sprintf(` width="%d" height="%d" style="image-rendering:pixelated"`, 4*size.X, 4*size.Y)
	} else {
		smooth = ` style="max-width:100%"`
	}
	return fmt.Sprintf(`<img src="data:image/png;base64,%s" alt="%s"%s>`, base64.StdEncoding.EncodeToString(b.Bytes()), p.String(), smooth)
}
