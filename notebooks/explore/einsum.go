package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
)

// examples are patterns to begin with.
var examples = []struct{ name, pattern, shapes string }{
	{phrase("scores of attention"), "batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", "2 3 4, 2 3 4"},
	{phrase("matrix product"), "i j, j k -> i k", "3 4, 4 5"},
	{phrase("linear layer"), "... in, out in -> ... out", "2 3 8, 4 8"},
	{phrase("transpose"), "i j -> j i", "3 4"},
	{phrase("outer product"), "i, j -> i j", "3, 4"},
	{phrase("sum of a diagonal"), "i i ->", "4 4"},
	{phrase("three matrices"), "a b, b c, c d -> a d", "100 2, 2 100, 100 3"},
}

// einsum takes a pattern apart into the loops that it stands for.
type einsum struct {
	example         int
	pattern, shapes string
}

func newEinsum() *einsum {
	x := &einsum{}
	x.set("example", "0")
	return x
}

func (x *einsum) set(control, value string) {
	switch control {
	case "example":
		if i, ok := chosen(value, len(examples)); ok {
			x.example, x.pattern, x.shapes = i, examples[i].pattern, examples[i].shapes
		}
	case "pattern":
		x.pattern = value
	case "shapes":
		x.shapes = value
	}
}

// explain asks the library.
func (x *einsum) explain() (e *einops.Explanation, err error) {
	var shapes [][]int
	for part := range strings.SplitSeq(x.shapes, ",") {
		shape, ok := numbers(part)
		if !ok || slices.ContainsFunc(shape, func(n int) bool { return n < 0 || n > 1_000_000 }) || len(shape) > 8 || len(shapes) == 8 {
			return nil, errors.New(phrase("a shape is at most 8 integers from 0 to 1000000, and commas separate at most 8 shapes: 2 3 4, 2 3 4"))
		}
		shapes = append(shapes, shape)
	}
	err = tensor.Try(func() { e = einops.ExplainEinsum(x.pattern, shapes...) })
	if err == nil && turns(e) > mostTurns {
		err = errors.New(say("the innermost loop would run more than %g times; make some sizes smaller", mostTurns))
	}
	return e, err
}

// mostTurns is far more than anybody waits for, and few enough to be counted.
const mostTurns = 1e15

// turns is how often the innermost loop runs.
func turns(e *einops.Explanation) float64 {
	kept, summed := loops(e)
	n := 1.
	for _, a := range slices.Concat(kept, summed) {
		n *= float64(sizeOf(e, a))
	}
	return n
}

// sizeOf is the size of an axis.
func sizeOf(e *einops.Explanation, axis string) (n int) {
	for i, axes := range e.InputAxes {
		for j, a := range axes {
			if a == axis {
				n = max(n, e.Inputs[i][j])
			}
		}
	}
	return n
}

// loops are the axes over which the einsum loops: those of the output, and those that are summed over.
func loops(e *einops.Explanation) (kept, summed []string) {
	for _, axes := range e.InputAxes {
		for _, a := range axes {
			if !slices.Contains(e.Axes, a) && !slices.Contains(summed, a) {
				summed = append(summed, a)
			}
		}
	}
	return e.Axes, summed
}

func (x *einsum) draw(p *page) {
	var names []string
	for _, e := range examples {
		names = append(names, e.name)
	}
	e, err := x.explain()
	p.add(`<div class="x-row">`)
	p.choice("Begin with", "example", names, x.example)
	p.add(`</div><div class="x-row x-grow">`)
	p.field("Pattern", "pattern", x.pattern, 30, err != nil)
	p.add(`</div><div class="x-row x-grow">`)
	p.field("Shapes", "shapes", x.shapes, 20, err != nil)
	p.add(`</div>`)
	if err != nil {
		p.refused(err.Error())
		return
	}
	kept, summed := loops(e)
	p.says(`The result has shape <b>%s</b>. %s`, fmt.Sprint(e.Shape), x.cost(e))
	p.add(`<div class="x-axes">`)
	for _, a := range slices.Concat(kept, summed) {
		class, what := "x-kept", say("in the result")
		if slices.Contains(summed, a) {
			class, what = "x-summed", say("summed over")
		}
		p.add(`<span class="%s"><b>%s</b> %d <small>%s</small></span>`, class, a, sizeOf(e, a), what)
	}
	p.add(`</div>`)
	drawLoops(p, e, kept, summed)
	p.add(`<details><summary>How the library computes it</summary><div class="scroll">%s</div></details>`, raw(e.HTML()))
}

// cost says what the loops take, and the library, which may find a cheaper way.
func (x *einsum) cost(e *einops.Explanation) string {
	turns := turns(e)
	switch {
	case e.FLOPs == 0:
		return say("It takes no FLOPs: nothing is multiplied or added.")
	case len(e.Inputs) > 2:
		return say("In one loop over all axes, as below, it takes %.6g FLOPs. The library multiplies two at a time, and needs %.6g.", e.NaiveFLOPs, e.FLOPs)
	case e.FLOPs == 2*turns:
		return say("It takes %.6g FLOPs: a product and a sum in each of the %.6g iterations of the innermost loop.", e.FLOPs, turns)
	}
	return say("It takes %.6g FLOPs in %.6g iterations of the innermost loop.", e.FLOPs, turns)
}

// variable is an axis as a variable of Go.
func variable(axis string) string {
	if n, ok := strings.CutPrefix(axis, "..."); ok {
		return "rest" + n
	}
	return axis
}

// drawLoops writes the einsum as loops in Go.
func drawLoops(p *page, e *einops.Explanation, kept, summed []string) {
	p.add(`<div class="code x-loops"><pre role="region" aria-label="The loops of the einsum" tabindex="0"><code>`)
	depth := 0
	for _, a := range slices.Concat(kept, summed) {
		class, note := "x-kept", ""
		if slices.Contains(summed, a) {
			class, note = "x-summed", " // "+say("summed over")
		}
		p.add("%s<span class=\"hk\">for</span> <span class=\"%s\">%s</span> := <span class=\"hk\">range</span> %d {<span class=\"hc\">%s</span>\n", strings.Repeat("  ", depth), class, variable(a), sizeOf(e, a), note)
		depth++
	}
	element := func(name string, axes []string, shape []int) {
		p.add(`%s[`, name)
		for i, a := range axes {
			class := "x-kept"
			if slices.Contains(summed, a) {
				class = "x-summed"
			}
			if i > 0 {
				p.add(`, `)
			}
			if shape[i] == 1 && sizeOf(e, a) > 1 {
				p.add(`0`)
				continue
			}
			p.add(`<span class="%s">%s</span>`, class, variable(a))
		}
		p.add(`]`)
	}
	p.add(`%s`, strings.Repeat("  ", depth))
	element("out", e.Axes, e.Shape)
	if len(summed) > 0 {
		p.add(` += `)
	} else {
		p.add(` = `)
	}
	for i, axes := range e.InputAxes {
		if i > 0 {
			p.add(` * `)
		}
		element(operandName(i, len(e.InputAxes)), axes, e.Inputs[i])
	}
	p.add("\n")
	for depth > 0 {
		depth--
		p.add("%s}\n", strings.Repeat("  ", depth))
	}
	p.add(`</code></pre></div>`)
}

func operandName(i, operands int) string {
	if operands <= 3 {
		return "xyz"[i : i+1]
	}
	return fmt.Sprintf("x%d", i)
}
