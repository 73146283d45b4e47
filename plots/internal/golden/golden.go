// Package golden makes sure that figures still show what they showed when somebody
// last looked at them: tests compare their structure, not their pixels.
package golden

import (
	"cmp"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/linediff"
)

var (
	update  = flag.Bool("update", false, "write the structure of the figures as they are now to testdata")
	gallery = flag.String("gallery", "", "write a page with all figures to this `folder`, to be looked at in light and dark")
)

// A Figure shows itself in a page and has a text for readers who can't see it.
type Figure interface {
	SVG() string
	HTML() string
	Narrow() string
	String() string
}

// MaxBytes is how large the file of a figure may be.
const MaxBytes = 60_000

// phoneRoom is how wide a figure may be in a page that is 390 pixels wide, as phones are.
const phoneRoom = 343

// fits fails if a figure would be scaled down on a phone, or has text that is too small as it is.
func fits(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("for a phone: %v", err)
			return
		}
		e, ok := token.(xml.StartElement)
		for i := 0; ok && i < len(e.Attr); i++ {
			v, _ := strconv.ParseFloat(e.Attr[i].Value, 64)
			if e.Name.Local == "svg" && e.Attr[i].Name.Local == "width" && v > phoneRoom {
				t.Errorf("on a phone it is %g wide, which leaves room for %d", v, phoneRoom)
			}
			if e.Attr[i].Name.Local == "font-size" && v < 11 {
				t.Errorf("text of %g pixels, want 11 or more", v)
			}
		}
	}
}

// Check compares the structure of each figure with testdata/<name>.golden. It also
// fails if a figure is not well-formed XML, has no title, changes when it is drawn
// again, is too large, or doesn't fit a phone.
func Check(t *testing.T, figures map[string]func() Figure) {
	t.Helper()
	var page strings.Builder
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		draw := figures[name]
		t.Run(name, func(t *testing.T) {
			f := draw()
			svg := f.SVG()
			fmt.Fprintf(&page, "<h2>%s (%d bytes)</h2><figure>%s%s<figcaption>%s</figcaption></figure>\n", name, len(svg), f.HTML(), f.Narrow(), html.EscapeString(f.String()))
			if again := draw().SVG(); again != svg {
				t.Error("drawn again it is another file")
			}
			if narrow := f.Narrow(); narrow != "" && draw().Narrow() != narrow {
				t.Error("drawn again for a phone it is another file")
			} else {
				fits(t, cmp.Or(narrow, f.HTML()))
			}
			if len(svg) > MaxBytes {
				t.Errorf("%d bytes, want at most %d", len(svg), MaxBytes)
			}
			got, err := Outline(svg)
			if err != nil {
				t.Fatalf("%v\n%s", err, svg)
			}
			if !strings.HasPrefix(got, "title: "+f.String()+"\n") {
				t.Errorf("the title of the SVG is not its text %q", f)
			}
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.MkdirAll("testdata", 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run the test with -update and look at the figure", err)
			}
			if got != string(want) {
				t.Errorf("the figure has changed: look at it (-gallery folder), then run the test with -update\n%s", linediff.Of(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
			}
		})
	}
	if *gallery != "" {
		if err := writeGallery(*gallery, page.String()); err != nil {
			t.Fatal(err)
		}
	}
}

// Outline returns what a figure consists of: its title, its size, how many
// elements there are of each kind and color, and its texts in order.
func Outline(svg string) (string, error) {
	d := xml.NewDecoder(strings.NewReader(svg))
	counts := map[string]int{}
	var texts []string
	title, size := "", ""
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", fmt.Errorf("not well-formed: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			open = append(open, name)
			kind := name
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "fill", "stroke", "class":
					if name != "g" && name != "svg" {
						kind += " " + a.Name.Local + "=" + a.Value
					}
				case "width", "height":
					if name == "svg" {
						size += " " + a.Value
					}
				}
			}
			if name != "title" && name != "svg" {
				counts[kind]++
			}
			if name == "text" {
				texts = append(texts, "")
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 0 {
				continue
			}
			switch open[len(open)-1] {
			case "title":
				title += string(token)
			case "text", "tspan":
				texts[len(texts)-1] += string(token)
			}
		}
	}
	if title == "" {
		return "", errors.New("the figure has no title")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\nsize:%s\n", title, size)
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%d %s\n", counts[kind], kind)
	}
	for _, text := range texts {
		fmt.Fprintf(&b, "text: %s\n", text)
	}
	return b.String(), nil
}

func writeGallery(folder, body string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, colours := range map[string]string{"light": "#fdfdfb;color:#1e2429", "dark": "#15191c;color:#dde2e5"} {
		page := "<!DOCTYPE html><meta charset=utf-8><title>figures</title><body style=\"margin:1.5rem;max-width:46rem;font:16px system-ui,sans-serif;background:" + colours + "\">\n" + body
		if err := os.WriteFile(filepath.Join(folder, name+".html"), []byte(page), 0o666); err != nil {
			return err
		}
	}
	return nil
}
