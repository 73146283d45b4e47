// Package show displays values in a notebook: formatted text, HTML, figures, tables, progress, in order with the text
// that is printed.
//
// In a notebook run by Lectern's kernel a display is a message inside standard output (see package inband), so a loop
// that prints and shows alternately appears in just that order. Anywhere else, in a test or a program, the same calls
// print plain text. Every display carries a text/plain form besides the rich one, for terminals and for readers of the
// file.
//
// A type decides how it looks by a method: HTML() string, SVG() string or Markdown() string; a figure may also have
// Narrow() string, which draws it for pages as narrow as a phone's. Its text is String() or Error(), else Go syntax.
// The value of a cell's last expression is shown without any call. MIMEBundle() []string decides all of it, in the form
// that [Bundle] takes, the text last; widgets (package widget) have this method.
//
// Some types without such methods are shown in a usual form. Pictures are drawn: image.Image, a *plot.Plot of
// gonum, the bytes of a PNG, JPEG, GIF or SVG file. A template.HTML is HTML. A slice of structs is a table whose
// columns can be sorted, of at most 1,000 rows; so is a matrix of gonum, which shows its corners if it is large.
// Structs and maps that take many lines are trees that open and close. An error that wraps others shows the chain. All
// of these also carry their text, as [Format] writes it, or for a picture what it is.
package show

import (
	"encoding/base64"
	"os"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// Value shows v: as its HTML, SVG or Markdown method says, else as text in the form of [Format].
func Value(v any) { send("display", v) }

// Text shows s as it is, in a fixed-width face.
func Text(s string) { bundle("display", "text/plain", s) }

// HTML shows a piece of HTML. It is not escaped and not checked.
func HTML(s string) { bundle("display", "text/html", s, "text/plain", htmlText(s)) }

// SVG shows an SVG image, given as the text of its <svg> element.
func SVG(s string) { bundle("display", "image/svg+xml", s, "text/plain", svgText(s)) }

// Markdown shows formatted text.
func Markdown(s string) { bundle("display", "text/markdown", s, "text/plain", s) }

// PNG shows an image, given as the bytes of a PNG file; alt says what it shows to those who can't see it. It panics
// without alt.
func PNG(b []byte, alt string) {
	if strings.TrimSpace(alt) == "" {
		panic("show: PNG needs a text that says what the image shows")
	}
	// As HTML, since notebooks have no place for alternative text beside image/png.
	bundle("display", "text/html", `<img src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(b)+`" alt="`+escape(alt)+`">`,
		"text/plain", "image: "+alt)
}

// Table shows rows under a header. Cells are strings or any values; numbers are aligned right.
func Table(header []string, rows [][]any) { send("display", table{header, rows}) }

// Bundle shows one thing in several formats, as pairs of MIME type and data; a notebook picks the richest that it
// knows. Give a text/plain form too. It panics if a MIME type has no data.
func Bundle(mimeAndData ...string) {
	if len(mimeAndData)%2 != 0 {
		panic("show: Bundle needs pairs of a MIME type and its data")
	}
	bundle("display", mimeAndData...)
}

// Fold puts what the cell shows from here on behind a line of text that the reader opens. It does so only in working
// copies of lessons, where students guess before they look; elsewhere Fold does nothing.
func Fold(summary string) {
	if inband.On() {
		inband.Send("fold", summary)
	}
}

// Mine tells the kernel which function belongs in the student's package mine: that of an exercise, as the cell has it
// ("yours") or as the lesson solves it ("ours"). It does something only where a notebook has such a package beside it.
func Mine(whose, exercise string) {
	if inband.On() {
		inband.Send("mine", whose, exercise)
	}
}

// bundle sends one message, or prints its text where messages are not understood.
func bundle(kind string, pairs ...string) {
	if inband.On() {
		inband.Send(kind, pairs...)
		return
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == "text/plain" {
			printText(pairs[i+1])
		}
	}
}

func printText(s string) {
	if s != "" && s[len(s)-1] != '\n' {
		s += "\n"
	}
	os.Stdout.WriteString(s)
}

func send(kind string, v any) { bundle(kind, formats(v)...) }
