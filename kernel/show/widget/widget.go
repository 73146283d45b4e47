// Package widget shows controls in a notebook: sliders, lists to choose from, checkboxes, text fields and buttons.
// Moving one calls a Go function.
//
//	widget.Interact(func(frequency float64, n int) {
//		show.Value(wave(frequency, n))
//	}, widget.FloatSlider("frequency", 0, 10, 2), widget.IntSlider("points", 10, 500, 100))
//
// They are named after Python's ipywidgets and speak its protocol, so they look and behave as those do wherever it is
// understood: in JupyterLab with jupyterlab_widgets, in Jupyter Notebook and VS Code.
//
// Each cell of a notebook is a program of its own, and when a reader moves a slider that program has long ended. So the
// kernel runs another one, which has the cells' variables with the values that they have by then, calls the function
// and keeps what it has changed. It waits until the cells that were asked for have run. If a slider moves faster than
// the function runs, values in between are skipped; the last one never is, and every click on a button counts.
//
// What the function prints and shows appears below the widget, in place of what the previous call has shown.
//
// Where widgets are not supported, as on a page, on a terminal or in a test, a widget is a line of text with its
// value, and Interact calls its function once.
//
// This is a separate package, and not part of show, because few cells need it and every cell links show.
package widget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// A Scalar is what a widget can hold.
type Scalar interface{ int | float64 | string | bool }

// A Value is a widget that holds a value: a slider, a list, a checkbox or a text field. A variable that holds one lives
// on from cell to cell, and all cells see the value that the reader has chosen.
type Value[T Scalar] struct {
	control
	value    T
	min, max T        // of a slider
	options  []string // of a list
	changed  []func(T)
}

// control is what all widgets have.
type control struct {
	id, label, kind string
	out             string   // the output below it
	box             string   // both together, once it has been shown
	groups          []*group // that have it among their arguments
}

// A group is a function with the widgets that hold its arguments.
type group struct {
	f    any
	args []arg
	out  string
}

// arg is one of these widgets: whichever is not nil. An interface would do, if it didn't cost so much to keep.
type arg struct {
	i *Value[int]
	f *Value[float64]
	s *Value[string]
	b *Value[bool]
}

// Kept is what the kernel keeps of the widgets that a cell has made. It is for the kernel only.
type Kept struct {
	ints    []*Value[int]
	floats  []*Value[float64]
	texts   []*Value[string]
	bools   []*Value[bool]
	buttons []*Action
}

// made are the widgets of the cell that runs.
var made *Kept

// keep adds a widget to those of the cell.
func keep(w any) {
	if made == nil {
		made = &Kept{}
		cellstate.Keep(fmt.Sprint(cellstate.WidgetsName, cellstate.Cell()), made)
	}
	switch w := w.(type) {
	case *Value[int]:
		made.ints = append(made.ints, w)
	case *Value[float64]:
		made.floats = append(made.floats, w)
	case *Value[string]:
		made.texts = append(made.texts, w)
	case *Value[bool]:
		made.bools = append(made.bools, w)
	case *Action:
		made.buttons = append(made.buttons, w)
	}
}

// IntSlider returns a slider for integers from min to max, both included. A value outside is moved to the nearer
// end. It panics if max is less than min.
func IntSlider(label string, min, max, value int) *Value[int] {
	if max < min {
		panic(fmt.Sprintf("widget: IntSlider from %d to %d", min, max))
	}
	w := &Value[int]{control: newControl(label, "IntSlider"), value: value, min: min, max: max}
	w.open("min:n", text(min), "max:n", text(max))
	return w
}

// FloatSlider returns a slider for numbers from min to max in steps of about a hundredth of the range. A value outside
// is moved to the nearer end. It panics if max is less than min, or either of them is not finite.
func FloatSlider(label string, min, max, value float64) *Value[float64] {
	if !(min <= max) || math.IsInf(min, 0) || math.IsInf(max, 0) {
		panic(fmt.Sprintf("widget: FloatSlider from %v to %v", min, max))
	}
	w := &Value[float64]{control: newControl(label, "FloatSlider"), value: value, min: min, max: max}
	w.open("min:n", text(min), "max:n", text(max), "step:n", text(step(max-min)), "readout_format:s", ".4~g")
	return w
}

// step is a hundredth of a distance, rounded down to 1, 2 or 5 times a power of ten.
func step(distance float64) float64 {
	if distance <= 0 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(distance/100)))
	for _, k := range []float64{5, 2} {
		if k*p <= distance/100*(1+1e-9) {
			return k * p
		}
	}
	return p
}

// Dropdown returns a list of options, of which one is chosen, at first the first. It panics without options.
func Dropdown(label string, options ...string) *Value[string] {
	if len(options) == 0 {
		panic("widget: Dropdown needs options")
	}
	w := &Value[string]{control: newControl(label, "Dropdown"), value: options[0], options: slices.Clone(options)}
	w.open("_options_labels:l", strings.Join(options, "\x00"))
	return w
}

// Checkbox returns a checkbox.
func Checkbox(label string, on bool) *Value[bool] {
	w := &Value[bool]{control: newControl(label, "Checkbox"), value: on}
	w.open("indent:b", "false")
	return w
}

// ToggleButton returns a button that stays pressed until it is pressed again.
func ToggleButton(label string, on bool) *Value[bool] {
	w := &Value[bool]{control: newControl(label, "ToggleButton"), value: on}
	w.open()
	return w
}

// Text returns a field for a line of text. It changes when the reader presses Enter or leaves the field.
func Text(label, value string) *Value[string] {
	w := &Value[string]{control: newControl(label, "Text"), value: value}
	w.open("continuous_update:b", "false")
	return w
}

func newControl(label, kind string) control { return control{id: newID(), label: label, kind: kind} }

// newID names a model. It is random, since a page may hold the models of an earlier kernel.
func newID() string { return fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()) }

// open makes the widget known, with its special properties: pairs of a name with a colon and the letter of a type,
// and a text.
func (w *Value[T]) open(state ...string) {
	w.value = w.within(w.value)
	keep(w)
	w.control.open(append(state, w.state()...)...)
}

func (c *control) open(state ...string) {
	c.out = newID()
	openModel(c.out, "", "Output")
	if style := styles[c.kind]; style != "" && utf8.RuneCountInString(c.label) > shortLabel {
		id := newID()
		openModel(id, "", style, "description_width:s", "initial")
		state = append(state, "style:r", id)
	}
	openModel(c.id, c.out, c.kind, append([]string{"description:s", c.label}, state...)...)
}

// A label beside a widget has a fixed place, so that several line up, and a longer one would be cut.
// It gets what it needs; the models of the styles that say so are different ones. A field's own is
// TextStyle, which ipywidgets 7 has not.
const shortLabel = 10

var styles = map[string]string{"IntSlider": "SliderStyle", "FloatSlider": "SliderStyle", "Dropdown": "DescriptionStyle", "Text": "DescriptionStyle"}

func openModel(id, out, kind string, state ...string) {
	if inband.On() {
		inband.Send("widget", append([]string{"open", id, out, kind}, state...)...)
	}
}

// state is the value as the protocol has it.
func (w *Value[T]) state() []string {
	if w.options != nil {
		return []string{"index:n", strconv.Itoa(slices.Index(w.options, text(w.value)))}
	}
	kind := "n"
	switch any(w.value).(type) {
	case string:
		kind = "s"
	case bool:
		kind = "b"
	}
	return []string{"value:" + kind, text(w.value)}
}

// within moves a value to where the widget can have it: into the range of a slider, or from none of a list's options to
// the one that is chosen.
func (w *Value[T]) within(v T) T {
	switch {
	case w.options != nil && !slices.Contains(w.options, text(v)):
		return w.value
	case strings.HasSuffix(w.kind, "Slider"):
		if v != v { // NaN
			return w.min
		}
		return limit(v, w.min, w.max)
	}
	return v
}

func limit[T Scalar](v, lo, hi T) T {
	switch x := any(v).(type) {
	case int:
		return any(min(max(x, any(lo).(int)), any(hi).(int))).(T)
	case float64:
		return any(min(max(x, any(lo).(float64)), any(hi).(float64))).(T)
	}
	return v
}

// Value returns what the reader has chosen, or what the widget began with.
func (w *Value[T]) Value() T { return w.value }

// Set changes the widget's value, on the page too. A slider goes no further than its ends, and a list keeps its choice
// if v is none of its options. The functions that OnChange and Interact were given are not called.
func (w *Value[T]) Set(v T) {
	w.value = w.within(v)
	if inband.On() {
		inband.Send("widget", append([]string{"set", w.id}, w.state()...)...)
	}
}

// OnChange has f called with the new value whenever the reader changes it, after the functions of earlier calls. It
// returns w, so that it can follow the call that makes a widget.
//
// f lives on as variables do: it may be a function of the cells or a function literal, and use their variables, but it
// can't capture a channel, an open file or the like.
func (w *Value[T]) OnChange(f func(T)) *Value[T] {
	w.changed = append(w.changed, f)
	return w
}

// String is the widget as a line of text.
func (w *Value[T]) String() string {
	s := w.label + ": " + text(w.value)
	switch {
	case w.options != nil:
		s += " (of " + strings.Join(w.options, ", ") + ")"
	case strings.HasSuffix(w.kind, "Slider"):
		s += fmt.Sprintf(" (from %v to %v)", w.min, w.max)
	}
	return strings.TrimPrefix(s, ": ")
}

// MIMEBundle is the widget as package show displays it.
func (w *Value[T]) MIMEBundle() []string { return w.bundle(w.String()) }

// An Action is a button.
type Action struct {
	control
	clicked func()
}

// Button returns a button that calls f when it is clicked. f lives on as [Value.OnChange] says.
func Button(label string, f func()) *Action {
	a := &Action{newControl(label, "Button"), f}
	keep(a)
	a.open()
	return a
}

// String is the button as a line of text.
func (a *Action) String() string { return "[" + a.label + "]" }

// MIMEBundle is the button as package show displays it.
func (a *Action) MIMEBundle() []string { return a.bundle(a.String()) }

// bundle shows the widget with its output below it.
func (c *control) bundle(line string) []string {
	if c.box == "" {
		c.box = newID()
		openModel(c.box, c.out, "VBox", "children:m", c.id+" "+c.out)
	}
	return viewOf(c.box, []string{line})
}

// viewOf shows a model, and for those who can't draw it some lines of text.
func viewOf(id string, lines []string) []string {
	var html strings.Builder
	for _, l := range lines {
		html.WriteString("<div>" + escape.Replace(l) + "</div>")
	}
	return []string{
		"application/vnd.jupyter.widget-view+json", `{"version_major": 2, "version_minor": 1, "model_id": "` + id + `"}`,
		"text/html", html.String() + "<div><small>Run the cell in a notebook, and you can change this.</small></div>",
		"text/plain", strings.Join(lines, "\n"),
	}
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// An Input is a widget that holds a value.
type Input interface {
	String() string
	input() *control
	get() reflect.Value
	arg() arg
}

func (w *Value[T]) input() *control    { return &w.control }
func (w *Value[T]) get() reflect.Value { return reflect.ValueOf(w.value) }

func (w *Value[T]) arg() (a arg) {
	switch w := any(w).(type) {
	case *Value[int]:
		a.i = w
	case *Value[float64]:
		a.f = w
	case *Value[string]:
		a.s = w
	case *Value[bool]:
		a.b = w
	}
	return a
}

func (a arg) get() reflect.Value {
	switch {
	case a.i != nil:
		return a.i.get()
	case a.f != nil:
		return a.f.get()
	case a.s != nil:
		return a.s.get()
	}
	return a.b.get()
}

// Interact shows widgets and, below them, what f prints and shows for their values, and calls f again whenever one of
// them changes. f is a function whose parameters are of the types of the widgets' values, in their order: int for
// IntSlider, float64 for FloatSlider, string for Dropdown and Text, bool for Checkbox and ToggleButton. It lives on as
// [Value.OnChange] says. Interact panics if f does not accept these values.
func Interact(f any, widgets ...Input) {
	t := reflect.TypeOf(f)
	fits := t != nil && t.Kind() == reflect.Func && !t.IsVariadic() && t.NumIn() == len(widgets)
	g := &group{f: f, out: newID()}
	var want, lines, children []string
	for i, w := range widgets {
		fits = fits && t.In(i) == w.get().Type()
		want = append(want, w.get().Type().String())
		lines = append(lines, w.String())
		g.args = append(g.args, w.arg())
		children = append(children, w.input().id)
	}
	if !fits {
		panic(fmt.Sprintf("widget: Interact with these widgets needs a func(%s), not %v", strings.Join(want, ", "), t))
	}
	openModel(g.out, "", "Output")
	for _, w := range widgets {
		c := w.input()
		if c.box == "" && len(c.groups) == 0 { // what OnChange shows appears with the rest
			c.out = g.out
			if inband.On() {
				inband.Send("widget", "below", c.id, c.out)
			}
		}
		c.groups = append(c.groups, g)
	}
	if !inband.On() {
		fmt.Println(strings.Join(lines, "\n"))
		g.call()
		return
	}
	into(g.out)
	g.call()
	into("")
	box := newID()
	openModel(box, g.out, "VBox", "children:m", strings.Join(append(children, g.out), " "))
	inband.Send("display", viewOf(box, lines)...)
}

func (g *group) call() {
	var args []reflect.Value
	for _, a := range g.args {
		args = append(args, a.get())
	}
	reflect.ValueOf(g.f).Call(args)
}

// into redirects prints and displays from here on to an output; "" ends that.
func into(out string) {
	if inband.On() {
		inband.Send("widget", "into", out)
	}
}

// text writes a value as the protocol between cell and kernel has it.
func text[T Scalar](v T) string {
	if f, ok := any(v).(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
