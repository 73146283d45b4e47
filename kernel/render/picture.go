package render

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// pictureLimit is the most bytes that a picture beside a notebook may have. Pages carry their pictures inside, and a
// page of that size is too large already.
const pictureLimit = 10 << 20

// rasters are the bitmap pictures that pages may hold: browsers draw them and do nothing else with them.
var rasters = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// image returns a picture that Markdown names as a data URL: one that is written out there, an attachment of the cell
// or a file beside the notebook. It is empty if the page can't have it; the reason is recorded.
func (p *page) image(dest string) string {
	if scheme, _, ok := strings.Cut(dest, ":"); ok && strings.ToLower(strings.TrimSpace(scheme)) == "data" {
		return p.dataImage(dest)
	}
	if name, ok := strings.CutPrefix(dest, "attachment:"); ok {
		return p.attachment(name)
	}
	if external(dest) {
		p.warn(0, "%q is on another host, from which pages load nothing; it was left out", shorten(dest))
		return ""
	}
	if p.site.options.Untrusted {
		p.warn(0, "the file %q was left out: a stranger's notebook could name any picture of yours beside it", shorten(dest))
		return ""
	}
	data, err := p.pictureFile(dest)
	if err != nil {
		p.problem(0, "the image %q cannot be used: %v", shorten(dest), err)
		return ""
	}
	return p.picture(data, dest)
}

// pictureFile reads a file beside the notebook. A link may lead to another file in that folder or below it, but not
// out of it: whoever writes a notebook must not choose which files of the reader's machine are published.
func (p *page) pictureFile(dest string) ([]byte, error) {
	name := filepath.FromSlash(dest)
	if !filepath.IsLocal(name) {
		return nil, errors.New("it is not below the notebook's folder")
	}
	root, err := os.OpenRoot(filepath.Dir(p.file))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	regular := func(i os.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case !i.Mode().IsRegular():
			return errors.New("it is not a file")
		case i.Size() > pictureLimit:
			return fmt.Errorf("it has %s, more than %s", humanize.Bytes(int(i.Size())), humanize.Bytes(pictureLimit))
		}
		return nil
	}
	if err := regular(root.Stat(name)); err != nil { // before it is opened: opening a named pipe would wait for its writer
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := regular(f.Stat()); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, pictureLimit+1))
	if err == nil && len(b) > pictureLimit {
		err = errors.New("it grows while it is read")
	}
	return b, err
}

// attachment returns a picture attached to the cell.
func (p *page) attachment(name string) string {
	bundle, _ := p.cell.Attachments[name].(map[string]any)
	if svg, ok := bundle["image/svg+xml"].(string); ok {
		// Attachments are in base64, whatever they are; some programs write this one as it is.
		if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(svg), "")); err == nil {
			svg = string(b)
		}
		return p.svgPicture(svg, name)
	}
	for _, mime := range rasters {
		if data, ok := bundle[mime].(string); ok {
			return "data:" + mime + ";base64," + strings.Join(strings.Fields(data), "")
		}
	}
	p.problem(0, "the attachment %q is not in the cell", name)
	return ""
}

// dataImage returns a picture that is written out in the address itself.
func (p *page) dataImage(dest string) string {
	if embeddedRaster(dest) {
		return dest
	}
	kind, data, ok := strings.Cut(dest, ",")
	mime, encoding, _ := strings.Cut(strings.ToLower(kind[strings.IndexByte(kind, ':')+1:]), ";")
	if !ok || strings.TrimSpace(mime) != "image/svg+xml" {
		p.problem(0, "the image %q isn't one that a page can show: %s", shorten(dest), pictureKinds)
		return ""
	}
	svg, err := url.PathUnescape(data)
	if err == nil && strings.HasSuffix(encoding, "base64") {
		var b []byte
		b, err = base64.StdEncoding.DecodeString(svg)
		svg = string(b)
	}
	if err != nil {
		p.problem(0, "the image %q cannot be used: %v", shorten(dest), err)
		return ""
	}
	return p.svgPicture(svg, shorten(dest))
}

const pictureKinds = "they are PNG, JPEG, GIF, WebP or SVG"

// embeddedRaster reports whether a URL is a bitmap picture, written out.
func embeddedRaster(u string) bool {
	for _, mime := range rasters {
		if len(u) > len("data:")+len(mime) && strings.EqualFold(u[:len("data:")+len(mime)], "data:"+mime) && strings.IndexByte(";,", u[len("data:")+len(mime)]) >= 0 {
			return true
		}
	}
	return false
}

// picture returns the content of a file as a data URL, if it is a picture.
func (p *page) picture(data []byte, name string) string {
	if kind := raster(data); kind != "" {
		return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
	}
	if strings.EqualFold(filepath.Ext(name), ".svg") {
		return p.svgPicture(string(data), name)
	}
	p.problem(0, "%q is not an image that a page can show: %s", shorten(name), pictureKinds)
	return ""
}

// raster tells the kind of a bitmap picture by its first bytes; "" if it is none. net/http knows that, too, but would
// have to be compiled before the first page is there.
func raster(data []byte) string {
	begins := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png"
	case begins("\xff\xd8\xff"):
		return "image/jpeg"
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif"
	case begins("RIFF") && len(data) >= 14 && string(data[8:14]) == "WEBPVP":
		return "image/webp"
	}
	return ""
}

// svgPicture returns an SVG as a data URL: parsed, and stripped of what a picture has no use for.
func (p *page) svgPicture(svg, name string) string {
	clean, cut, err := cleanSVG(svg)
	if err != nil {
		p.problem(0, "the SVG %q cannot be used: %v", shorten(name), err)
		return ""
	}
	if len(cut) > 0 {
		p.warn(0, "the SVG %q lost %s: a picture runs nothing, loads nothing and leads nowhere", shorten(name), strings.Join(cut, ", "))
	}
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(clean))
}
