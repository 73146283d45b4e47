// Command explore is what readers play with on the pages of the lessons: small programs, each about one idea, that
// answer at once and need no compiler. They are built for WebAssembly, and compute with the library itself.
//
// An explorer keeps what the reader has set and draws itself as HTML. The page replaces what has changed since the
// last drawing, so that a control keeps its focus. These attributes tell it what to send:
//
//	<input name="x">, <select name="x">  what is typed or chosen
//	<button data-set="x" data-value="y">  y, when it is pressed
//	data-over="x" data-value="y"          y, when the mouse comes over it
//	data-arrows="4"                       a group of buttons in rows of 4: arrow keys go from one to the next
//	data-drag="x" data-value="3"          what has a data-at inside can be dragged: 3 and how far, as a number
//
// Run natively, the command prints how all explorers look at first, as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/wording"
)

// An explorer is one of the programs.
type explorer interface {
	// set gives a control a value. What makes no sense is shown to the reader, and never a panic.
	set(control, value string)
	// draw writes the HTML.
	draw(*page)
}

// explorers are all there are, by the name that a lesson uses.
var explorers = map[string]struct {
	title string
	start func() explorer
}{
	"formats":  {phrase("Flip the bits of a number"), func() explorer { return newFormats() }},
	"strides":  {phrase("Walk through memory"), func() explorer { return newStrides() }},
	"einsum":   {phrase("Take an einsum apart"), func() explorer { return newEinsum() }},
	"bpe":      {phrase("Learn merges one by one"), func() explorer { return newBPE() }},
	"roofline": {phrase("Move a matmul under the roof"), func() explorer { return newRoofline() }},
	"napkin":   {phrase("A napkin that calculates"), func() explorer { return newNapkin() }},
	"bowl":     {phrase("Roll down a valley"), func() explorer { return newBowl() }},
	"tape":     {phrase("Go along the tape, and back"), func() explorer { return newTape() }},
	"decode":   {phrase("Serve many conversations"), func() explorer { return newDecode() }},
}

// drawn is an explorer as HTML.
func drawn(e explorer) string {
	var p page
	e.draw(&p)
	return p.String()
}

// A first is how an explorer looks before anything has been set.
type first struct {
	Title string `json:"title"`
	HTML  string `json:"html"`
}

func printFirst(w io.Writer) error {
	all := map[string]first{}
	for name, x := range explorers {
		all[name] = first{x.title, drawn(x.start())}
	}
	return json.NewEncoder(w).Encode(all)
}

// A page is HTML that is being written.
type page struct{ strings.Builder }

// raw is HTML among the arguments of [page.add].
type raw string

// add writes HTML by a format. Strings among the arguments are text; what is HTML already is a raw.
func (p *page) add(format string, args ...any) {
	if translations != nil {
		format = wording.Replace(format, func(text string) string { return say(text) })
	}
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = html.EscapeString(a)
		case raw:
			args[i] = string(a)
		}
	}
	fmt.Fprintf(p, format, args...)
}

// translations are what texts are in the reader's language, by their English; nil is English.
var translations map[string]string

// say returns a text in the reader's language, with values in it as fmt has them. What stands in the formats of
// [page.add] is said by itself.
func say(english string, values ...any) string {
	if text := translations[english]; text != "" {
		english = text
	}
	if len(values) == 0 {
		return english
	}
	return fmt.Sprintf(english, values...)
}

// phrase marks a text that is said later.
func phrase(english string) string { return english }

// field is a box to type in, with its name before it. The size is in characters.
func (p *page) field(label, name, value string, size int, wrong bool) {
	invalid := raw("")
	if wrong {
		invalid = ` aria-invalid="true"`
	}
	p.add(`<label><span>%s</span><input name="%s" value="%s" size="%d" autocomplete="off" autocapitalize="off" spellcheck="false"%s></label>`, say(label), name, value, size, invalid)
}

// slider is a number between two others. What it stands for is what readers see and hear.
func (p *page) slider(label, name string, least, most, value int, stands string) {
	p.add(`<label class="x-slider"><span>%s</span><input type="range" name="%s" min="%d" max="%d" value="%d" aria-valuetext="%s"><output>%s</output></label>`, say(label), name, least, most, value, stands, stands)
}

// choice is one of several, by number.
func (p *page) choice(label, name string, options []string, chosen int) {
	p.add(`<label><span>%s</span><select name="%s">`, say(label), name)
	for i, o := range options {
		selected := raw("")
		if i == chosen {
			selected = " selected"
		}
		p.add(`<option value="%d"%s>%s</option>`, i, selected, say(o))
	}
	p.add(`</select></label>`)
}

// button is one that sends a value.
func (p *page) button(text, control, value string) {
	p.add(`<button type="button" class="tool" data-set="%s" data-value="%s">%s</button>`, control, value, say(text))
}

// says is what is read out after each change, and stands there for everybody.
func (p *page) says(format string, args ...any) {
	p.add(`<p class="x-says" role="status">`+format+`</p>`, args...)
}

// refused shows a message of the library.
func (p *page) refused(message string) {
	p.add(`<div class="error" role="status"><p class="label">Error</p><pre>%s</pre></div>`, say(message))
}

// chosen reads the number of a choice.
func chosen(value string, options int) (int, bool) {
	i, err := strconv.Atoi(value)
	return i, err == nil && i >= 0 && i < options
}

// num writes a number as Go's %v does, without the plus of an exponent.
func num(x float64) string { return strings.Replace(strconv.FormatFloat(x, 'g', -1, 64), "e+", "e", 1) }
