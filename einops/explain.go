package einops

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Explanation is what a pattern does to tensors of given shapes, as the tensor
// operations that are run. String shows it as text, HTML as a table.
type Explanation struct {
	Op         string // "rearrange", "reduce", "repeat" or "einsum"
	Pattern    string
	Inputs     [][]int // shapes
	InputAxes  [][]string
	Sizes      Sizes // of all named axes
	Steps      []Step
	Axes       []string // of the result
	Shape      []int
	Copies     bool    // elements move; otherwise the result is a view
	FLOPs      float64 // of all steps
	NaiveFLOPs float64 // einsum: of one loop over all axes at once
}

// Step is one tensor operation of an explanation.
type Step struct {
	Op     string   // the method of Tensor: "View", "Permute", "Matmul", ...; "Reduce" for the caller's reduction
	Inputs []int    // tensors it reads, numbered from 0: first the operands, then the result of each step
	Args   []int    // the axes or sizes given to the method
	Axes   []string // the axes of the result
	Shape  []int    // their sizes
	Summed []string // axes that disappear
	Copies bool     // it makes a new tensor; otherwise its result is a view
	FLOPs  float64
}

// Explain returns what [Rearrange], [Reduce] or [Repeat], whichever the pattern is
// for, does to a contiguous tensor of the given shape. It panics as they do.
//
//	fmt.Println(einops.Explain("b s (h d) -> b h s d", []int{2, 3, 8}, einops.Axis("h", 2)))
func Explain(pattern string, shape []int, axes ...Size) *Explanation {
	op := kindOf(pattern)
	p, err := newPlan(op, pattern, len(shape))
	if err != nil {
		err.Shapes = [][]int{slices.Clone(shape)}
	}
	must(err)
	sizes := make([]int, len(p.axes))
	must(p.solve(shape, axes, sizes))

	e := &Explanation{Op: op, Pattern: pattern, Inputs: [][]int{slices.Clone(shape)}, Shape: slices.Clone(shape)}
	for i, a := range p.axes {
		if a.name != "" && a.name != "..." {
			e.Sizes = append(e.Sizes, Size{Name: a.name, Len: sizes[i]})
		}
	}
	for _, b := range p.input {
		e.Axes = append(e.Axes, p.label(b.axes))
	}
	e.InputAxes = [][]string{slices.Clone(e.Axes)}
	l := tensor.ContiguousLayout(slices.Clone(shape)...)
	for s := range numStages {
		arg, needed := p.step(s, sizes, nil)
		if !needed {
			continue
		}
		before, beforeShape := slices.Clone(e.Axes), e.Shape
		e.Shape = slices.Clone(arg) // of all stages but two
		step := Step{Inputs: []int{len(e.Steps)}, Args: slices.Clone(arg)}
		var problem error
		switch s {
		case splitAxes:
			step.Op = "View"
			l, problem = l.View(arg...)
			e.Axes = nil
			for a := range p.old {
				e.Axes = append(e.Axes, p.label([]int{a}))
			}
		case reduceAxes:
			step.Op, step.Copies = "Reduce", true
			step.FLOPs = float64(l.Len())
			var rest []int
			e.Axes = nil
			for a := range p.old {
				if slices.Contains(arg, a) {
					step.Summed = append(step.Summed, before[a])
				} else {
					rest, e.Axes = append(rest, sizes[a]), append(e.Axes, before[a])
				}
			}
			e.Shape = rest
			l = tensor.ContiguousLayout(rest...)
		case orderAxes:
			step.Op = "Permute"
			l, problem = l.Permute(arg...)
			for i, a := range arg {
				e.Axes[i], e.Shape[i] = before[a], beforeShape[a]
			}
		case roomForNew, expandNew:
			step.Op = "View"
			grow := l.View
			if s == expandNew {
				step.Op, grow = "Expand", l.Expand
			}
			l, problem = grow(arg...)
			e.Axes = nil
			for _, b := range p.output {
				for _, a := range b.axes {
					e.Axes = append(e.Axes, p.label([]int{a}))
				}
			}
		case mergeAxes:
			step.Op = "Reshape"
			if l, problem = l.View(arg...); problem != nil {
				l, problem, step.Copies = tensor.ContiguousLayout(arg...), nil, true
			}
			e.Axes = nil
			for _, b := range p.output {
				e.Axes = append(e.Axes, p.label(b.axes))
			}
		}
		if problem != nil { // the plan is wrong: no layout refuses these
			panic(problem)
		}
		step.Axes, step.Shape = slices.Clone(e.Axes), e.Shape
		e.add(step)
	}
	e.finish()
	return e
}

// kindOf returns the operation that a pattern is for. It leaves to the plan to refuse
// what can't be read.
func kindOf(pattern string) string {
	p := parser{rearranging, pattern}
	arrow, err := p.arrow()
	if err != nil {
		return rearranging
	}
	if comma := strings.IndexByte(pattern, ','); comma >= 0 {
		must(p.fail(comma, comma+1, "several operands are an einsum", "use ExplainEinsum"))
	}
	left, err := p.side(0, arrow, rules{})
	if err != nil {
		return rearranging
	}
	right, err := p.side(arrow+2, len(pattern), rules{})
	if err != nil {
		return rearranging
	}
	words := func(s *side) (w []string) {
		for _, g := range s.groups {
			for _, it := range g.items {
				w = append(w, pattern[it.start:it.end])
			}
		}
		return w
	}
	l, r := words(left), words(right)
	digit := func(w string) bool { return w[0] >= '0' && w[0] <= '9' }
	for _, w := range r {
		if digit(w) || !slices.Contains(l, w) && w != "..." && w != "…" {
			return repeating
		}
	}
	for _, w := range l {
		if digit(w) || !slices.Contains(r, w) {
			return reducing
		}
	}
	return rearranging
}

// label names an axis of a tensor: "b", "(h d)", "1", "...0".
func (p *plan) label(axes []int) string {
	first := p.find("...")
	words := make([]string, len(axes))
	for i, a := range axes {
		switch name := p.axes[a].name; {
		case name == "":
			words[i] = fmt.Sprint(p.axes[a].length)
		case name == "...":
			words[i] = fmt.Sprintf("...%d", a-first)
		default:
			words[i] = name
		}
	}
	switch len(words) {
	case 0:
		return "1"
	case 1:
		return words[0]
	}
	return "(" + strings.Join(words, " ") + ")"
}

// ExplainEinsum returns the products that [Einsum] computes for contiguous operands of
// the given shapes, in order, with their FLOPs. It panics as Einsum does.
func ExplainEinsum(pattern string, shapes ...[]int) *Explanation {
	ranks := make([]int, len(shapes))
	operands := make([]dims, len(shapes))
	for i, s := range shapes {
		ranks[i] = len(s)
		operands[i] = dims{shape: slices.Clone(s), strides: make([]int, len(s)), dtype: tensor.Float32}
		rowMajor(&term{sizes: s, stride: operands[i].strides})
	}
	e := &Explanation{Op: "einsum", Pattern: pattern}
	for _, o := range operands {
		e.Inputs = append(e.Inputs, o.shape)
	}
	c, err := newContraction("einsum", pattern, ranks)
	if err != nil {
		err.Shapes = e.Inputs
	}
	must(err)
	p, err := c.compile(operands)
	must(err)
	sizes, _ := c.sizes(operands)
	label := func(axes []int) []string {
		words := make([]string, len(axes))
		for i, a := range axes {
			if words[i] = c.names[a]; words[i] == "..." {
				words[i] = fmt.Sprintf("...%d", a)
			}
		}
		return words
	}
	e.NaiveFLOPs = float64(max(len(shapes), 1))
	for i, name := range c.names {
		e.NaiveFLOPs *= float64(sizes[i])
		if name != "..." && name != "_" {
			e.Sizes = append(e.Sizes, Size{Name: name, Len: sizes[i]})
		}
	}
	number := make([]int, p.results) // what the tensors of the program are called here
	for i := range number {
		number[i] = i
	}
	for i := range p.steps {
		s := &p.steps[i]
		step := Step{Inputs: []int{number[s.a]}, Args: slices.Clone(s.args), Axes: label(s.labels), Shape: s.sizes,
			Summed: label(s.sums), FLOPs: s.flops}
		result := s.a
		switch s.code {
		case takeDiagonal:
			step.Op = "Diagonal"
		case dropAxes:
			step.Op = "View"
		case sumAxes:
			step.Op, step.Copies = "Sum", true
		case permute:
			step.Op = "Permute"
		case multiply, matmul:
			step.Op, step.Copies = "Mul", true
			if s.code == matmul {
				step.Op = "Matmul"
			}
			step.Inputs = append(step.Inputs, number[s.b])
			result = s.out
		}
		number[result] = len(shapes) + i
		e.add(step)
	}
	for _, labels := range c.in {
		axes := make([]int, len(labels))
		for i, l := range labels {
			axes[i] = l.axis
		}
		e.InputAxes = append(e.InputAxes, label(axes))
	}
	e.Axes, e.Shape = e.InputAxes[0], slices.Clone(shapes[0])
	e.finish()
	return e
}

func (e *Explanation) add(s Step) {
	e.Steps = append(e.Steps, s)
	e.FLOPs += s.FLOPs
	e.Copies = e.Copies || s.Copies
}

func (e *Explanation) finish() {
	if n := len(e.Steps); n > 0 {
		e.Axes, e.Shape = e.Steps[n-1].Axes, e.Steps[n-1].Shape
	}
}

// String returns the explanation as lines of text.
func (e *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Op, e.Pattern)
	if len(e.Sizes) > 0 {
		fmt.Fprintf(&b, "   with %v", e.Sizes)
	}
	rows := e.rows()
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		b.WriteString("\n ")
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf(" %-*s ", width[i], cell)
		}
		b.WriteString(strings.TrimRight(line, " "))
	}
	b.WriteString("\n" + e.summary())
	return b.String()
}

// summary says what everything costs.
func (e *Explanation) summary() string {
	text := fmt.Sprintf("result %v, ", e.Shape)
	switch {
	case len(e.Steps) == 0:
		text += "the tensor itself"
	case !e.Copies:
		text += "a view"
	default:
		text += "new memory"
	}
	if e.Op == "einsum" && e.FLOPs > 0 {
		text += fmt.Sprintf("; %.6g FLOPs", e.FLOPs)
		if len(e.Inputs) > 2 {
			text += fmt.Sprintf(", %.6g in one loop over all axes", e.NaiveFLOPs)
		}
	}
	return text
}

// rows is the table of an explanation: the tensors and the steps.
func (e *Explanation) rows() [][]string {
	var rows [][]string
	for i, shape := range e.Inputs {
		rows = append(rows, []string{fmt.Sprintf("x%d", i), "", fmt.Sprint(shape), strings.Join(e.InputAxes[i], " "), ""})
	}
	if len(e.Inputs) == 1 {
		rows[0][0] = "x"
	}
	for i, s := range e.Steps {
		var from []string
		for _, in := range s.Inputs {
			from = append(from, fmt.Sprintf("x%d", in))
		}
		call := s.Op
		if len(s.Args) > 0 {
			call += "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Args), " ", ", "), "[]") + ")"
		}
		note := "view"
		if s.Copies {
			note = "new"
		}
		if len(s.Summed) > 0 {
			note += ", without " + strings.Join(s.Summed, " ")
		}
		if e.Op == "einsum" && s.FLOPs > 0 {
			note += fmt.Sprintf(", %.6g FLOPs", s.FLOPs)
		}
		name := ""
		if len(e.Inputs) > 1 {
			name, call = fmt.Sprintf("x%d", len(e.Inputs)+i), call+" of "+strings.Join(from, ", ")
		}
		rows = append(rows, []string{name, call, fmt.Sprint(s.Shape), strings.Join(s.Axes, " "), note})
	}
	return rows
}

// HTML returns the explanation as a table, for notebooks.
func (e *Explanation) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<table><caption>%s <code>%s</code></caption>", e.Op, html.EscapeString(e.Pattern))
	b.WriteString("<tr><th></th><th>operation</th><th>shape</th><th>axes</th><th></th></tr>")
	for _, row := range e.rows() {
		b.WriteString("<tr>")
		for _, cell := range row {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		b.WriteString("</tr>")
	}
	fmt.Fprintf(&b, "</table><p>%s</p>", html.EscapeString(e.summary()))
	return b.String()
}
