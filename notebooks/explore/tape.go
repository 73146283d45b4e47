package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// tape shows how a small expression is computed, an operation at a time, and how Backward goes the same way back.
type tape struct {
	text   string
	values map[string]string // of a, b and c, as typed
	step   int               // operations that have run, forward and then backward
}

func newTape() *tape {
	return &tape{text: "(a*b + c) * a", values: map[string]string{"a": "2", "b": "-3", "c": "10"}}
}

func (x *tape) set(control, value string) {
	switch control {
	case "expression":
		x.text, x.step = value, 0
	case "a", "b", "c":
		x.values[control] = value
	case "step":
		if n, ok := chosen(value, 4*mostOperations); ok {
			x.step = n
		}
	}
}

// mostOperations is how many an expression may have: as many as can be drawn.
const mostOperations = 12

// A record is what the tape keeps of a variable or of an operation.
type record struct {
	what   string // "a", or the operation
	inputs []int  // the records that it takes
	value  float64
	slopes []float64 // of value, for each input
	grad   float64   // as far as Backward has come
	level  int       // 0 for variables, else one more than the highest of its inputs
}

func (r *record) isOperation() bool { return r.slopes != nil }

// operations by name: what they give, and their slopes.
var operations = map[string]func(a, b *tensor.Tensor) *tensor.Tensor{
	"+": func(a, b *tensor.Tensor) *tensor.Tensor { return a.Add(b) }, "-": func(a, b *tensor.Tensor) *tensor.Tensor { return a.Sub(b) },
	"*": func(a, b *tensor.Tensor) *tensor.Tensor { return a.Mul(b) }, "/": func(a, b *tensor.Tensor) *tensor.Tensor { return a.Div(b) },
	"exp": func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Exp() }, "tanh": func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Tanh() },
	"relu": func(a, _ *tensor.Tensor) *tensor.Tensor { return a.ReLU() }, "square": func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Square() },
}

// compute has the library compute an operation, and asks it for the slopes.
func compute(name string, inputs []float64) (value float64, slopes []float64) {
	leaves := []*tensor.Tensor{nil, nil}
	for i, v := range inputs {
		leaves[i] = tensor.Of([]float64{v}).RequireGrad()
	}
	y := operations[name](leaves[0], leaves[1])
	y.Backward()
	for _, l := range leaves[:len(inputs)] {
		slopes = append(slopes, l.Grad().Item())
	}
	return y.Item(), slopes
}

// records runs the expression: the variables first, then its operations in order.
func (x *tape) records() ([]*record, error) {
	tree, err := parser.ParseExpr(x.text)
	if err != nil || len(x.text) > 200 {
		return nil, errors.New(say("%q is not an expression of a, b, c, numbers, + - * / and exp, tanh, relu, square", x.text))
	}
	var list []*record
	leaf := map[string]int{}
	variable := func(name, text string) (int, error) {
		if i, ok := leaf[name]; ok {
			return i, nil
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || v != v || v > 1e6 || v < -1e6 {
			return 0, errors.New(say("%s is %q: give a number from -1000000 to 1000000", name, text))
		}
		leaf[name] = len(list)
		list = append(list, &record{what: name, value: v})
		return leaf[name], nil
	}
	ran := 0 // operations
	var run func(e ast.Expr) (int, error)
	apply := func(name string, args ...ast.Expr) (int, error) {
		r := &record{what: name}
		var values []float64
		for _, a := range args {
			i, err := run(a)
			if err != nil {
				return 0, err
			}
			r.inputs, values, r.level = append(r.inputs, i), append(values, list[i].value), max(r.level, list[i].level+1)
		}
		if ran++; ran > mostOperations {
			return 0, errors.New(say("the expression has more than %d operations", mostOperations))
		}
		r.value, r.slopes = compute(name, values)
		list = append(list, r)
		return len(list) - 1, nil
	}
	run = func(e ast.Expr) (int, error) {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return run(e.X)
		case *ast.Ident:
			if text, ok := x.values[e.Name]; ok {
				return variable(e.Name, text)
			}
		case *ast.BasicLit:
			if e.Kind == token.INT || e.Kind == token.FLOAT {
				return variable(e.Value, e.Value)
			}
		case *ast.BinaryExpr:
			if name := e.Op.String(); operations[name] != nil {
				return apply(name, e.X, e.Y)
			}
		case *ast.UnaryExpr:
			if e.Op == token.SUB {
				return apply("*", e.X, &ast.BasicLit{Kind: token.INT, Value: "-1"})
			}
		case *ast.CallExpr:
			if f, ok := e.Fun.(*ast.Ident); ok && len(e.Args) == 1 && len(f.Name) > 1 && operations[f.Name] != nil {
				return apply(f.Name, e.Args[0])
			}
		}
		return 0, errors.New(say("%q: use only a, b, c, numbers, + - * / and exp, tanh, relu, square", x.text))
	}
	if _, err := run(tree); err != nil {
		return nil, err
	}
	// In the order of the tape: the variables, then what was computed.
	order := make([]int, 0, len(list))
	for _, operation := range []bool{false, true} {
		for i, r := range list {
			if r.isOperation() == operation {
				order = append(order, i)
			}
		}
	}
	sorted := make([]*record, len(list))
	for to, from := range order {
		sorted[to] = list[from]
	}
	for _, r := range sorted {
		for k, i := range r.inputs {
			r.inputs[k] = slices.Index(order, i)
		}
	}
	return sorted, nil
}

// played is the tape after the steps so far, with the record that ran last, or -1.
func (x *tape) played() (list []*record, forward, last int, err error) {
	if list, err = x.records(); err != nil {
		return nil, 0, 0, err
	}
	leaves := slices.IndexFunc(list, (*record).isOperation)
	if leaves < 0 {
		leaves = len(list)
	}
	operations := len(list) - leaves
	x.step = min(x.step, 2*operations+1) // one step gives the result its gradient of 1
	forward, last = leaves+min(x.step, operations), -1
	if x.step > 0 && x.step <= operations {
		last = forward - 1
	}
	if x.step > operations {
		end := len(list) - 1
		list[end].grad, last = 1, end
		for k := range x.step - operations - 1 {
			last = end - k
			r := list[last]
			for j, i := range r.inputs {
				list[i].grad += r.grad * r.slopes[j]
			}
		}
	}
	return list, forward, last, nil
}

func (x *tape) draw(p *page) {
	p.add(`<div class="x-row x-grow">`)
	list, forward, last, err := x.played()
	p.field("Loss", "expression", x.text, 24, err != nil)
	p.add(`</div><div class="x-row">`)
	for _, name := range []string{"a", "b", "c"} {
		p.field(name, name, x.values[name], 5, false)
	}
	p.add(`</div>`)
	if err != nil {
		p.refused(err.Error())
		p.says("There is no tape.")
		return
	}
	leaves := slices.IndexFunc(list, (*record).isOperation)
	if leaves < 0 {
		p.says("Nothing is computed: the loss is %s itself.", list[0].what)
		return
	}
	operations := len(list) - leaves
	p.add(`<div class="x-row">`)
	p.slider("Steps taken", "step", 0, 2*operations+1, x.step, say("%d of %d", x.step, 2*operations+1))
	if x.step > 0 {
		p.button("Back", "step", fmt.Sprint(x.step-1))
	}
	if x.step < 2*operations+1 {
		p.button("On", "step", fmt.Sprint(x.step+1))
	}
	p.add(`</div>`)
	name := func(i int) string {
		if list[i].isOperation() {
			return fmt.Sprintf("t%d", i-leaves+1)
		}
		return list[i].what
	}
	switch {
	case x.step == 0:
		p.says("The tape is empty. Each operation will be written down as it runs.")
	case x.step <= operations:
		r := list[last]
		p.says("Forward: <b>%s = %s</b>, which is %.4g. The tape keeps what went in.", name(last), formula(r, name), r.value)
	case x.step == operations+1:
		p.says("Backward begins at the end: the gradient of the loss %s with respect to itself is <b>1</b>.", name(last))
	default:
		r := list[last]
		var parts []string
		for j, i := range r.inputs {
			parts = append(parts, say("%s gets %.4g · %.4g = %.4g", name(i), r.grad, r.slopes[j], r.grad*r.slopes[j]))
		}
		done := ""
		if x.step == 2*operations+1 {
			done = " " + say("Now all gradients have arrived.")
		}
		p.says("Backward through %s = %s: <b>%s</b>, added to what is there.%s", name(last), formula(r, name), strings.Join(parts, ", "), done)
	}
	x.drawGraph(p, list[:forward], leaves, last, name, x.step > operations)
	p.add(`<p class="x-hint">Each box has its value, and below it the gradient that has arrived. A box whose result goes two ways gets the sum of what comes back.</p>`)
}

// formula is an operation as it is written.
func formula(r *record, name func(int) string) string {
	if len(r.inputs) == 1 {
		return r.what + "(" + name(r.inputs[0]) + ")"
	}
	return name(r.inputs[0]) + " " + strings.Replace(r.what, "*", "·", 1) + " " + name(r.inputs[1])
}

// drawGraph draws the records in columns, each right of what it takes.
func (x *tape) drawGraph(p *page, list []*record, leaves, last int, name func(int) string, backward bool) {
	const width, height, gapX, gapY = 84., 50., 26., 12.
	rows := map[int]int{}
	type place struct{ x, y float64 }
	at := make([]place, len(list))
	right, bottom := 0., 0.
	for i, r := range list {
		at[i] = place{float64(r.level) * (width + gapX), float64(rows[r.level]) * (height + gapY)}
		rows[r.level]++
		right, bottom = max(right, at[i].x+width), max(bottom, at[i].y+height+gapY)
	}
	p.add(`<div class="scroll"><svg class="x-plot x-tape" viewBox="-2 -2 %.0f %.0f" style="min-width:%.0fpx;max-width:%.0fpx" role="img" aria-label="The tape as a graph">`, right+4, bottom+4, 0.7*right, 1.2*right)
	for i, r := range list {
		for _, k := range r.inputs {
			x0, y0, x1, y1 := at[k].x+width, at[k].y+height/2, at[i].x, at[i].y+height/2
			if below := at[k].y + height + gapY/2; r.level > list[k].level+1 { // past the boxes between them
				p.add(`<path class="drop" d="M%.0f %.0fL%.0f %.0fH%.0fL%.0f %.0f"/>`, x0, y0, x0+gapX/2, below, x1-gapX/2, x1, y1)
				continue
			}
			p.add(`<path class="drop" d="M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f"/>`, x0, y0, x0+gapX/2, y0, x1-gapX/2, y1, x1, y1)
		}
	}
	for i, r := range list {
		class, what := raw("box"), name(i)
		if i == last {
			class = "box now"
		}
		if r.isOperation() {
			what += " = " + formula(r, name)
		}
		p.add(`<rect class="%s" x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="5"/><text x="%.0f" y="%.0f" text-anchor="middle">%s</text><text class="value" x="%.0f" y="%.0f" text-anchor="middle">%.4g</text>`,
			class, at[i].x, at[i].y, width, height, at[i].x+width/2, at[i].y+14, what, at[i].x+width/2, at[i].y+29, r.value)
		if backward {
			p.add(`<text class="grad" x="%.0f" y="%.0f" text-anchor="middle">%.4g</text>`, at[i].x+width/2, at[i].y+44, r.grad)
		}
	}
	p.add(`</svg></div>`)
}
