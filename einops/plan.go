package einops

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// The operations that a plan can be for, by their names in errors.
const (
	rearranging = "rearrange"
	reducing    = "reduce"
	repeating   = "repeat"
	parsing     = "parse shape"
)

// plan is a pattern worked out for tensors of one rank: which elementary axes there
// are and what becomes of each. Sizes are given when it is run.
//
//	b (h d) -> b h d        axes b h d;  input b, (h d);  output b, h, d
type plan struct {
	parser
	rank     int
	axes     []axis   // elementary axes: those of the input in its order, then new ones
	old      int      // how many of them the input has
	input    []bundle // the elementary axes that each axis of the input is composed of
	output   []bundle // and each axis of the result
	reduced  []int    // elementary axes that are reduced
	order    []int    // for Permute: where the remaining axes come from
	ordered  bool     // order changes nothing
	splits   bool     // some axis of the input is not one elementary axis
	merges   bool     // some axis of the result is not one elementary axis
	ellipsis int      // how many elementary axes stand for the ellipsis
}

// axis is one elementary axis.
type axis struct {
	name       string // "" for a number; "..." for an axis of an ellipsis
	length     int    // of a number, else unknown
	start, end int    // where the pattern has it
}

// bundle holds the elementary axes that make up one axis of a tensor.
type bundle struct {
	axes       []int
	start, end int
}

const unknown = -1

// newPlan works out a pattern for tensors of a given rank.
func newPlan(op, pattern string, rank int) (*plan, *Error) {
	p := &plan{parser: parser{op, pattern}, rank: rank}
	if op == parsing {
		left, err := p.side(0, len(pattern), rules{underscore: true})
		if err != nil {
			return nil, err
		}
		return p, p.addInput(left)
	}
	arrow, err := p.arrow()
	if err != nil {
		return nil, err
	}
	left, err := p.side(0, arrow, rules{})
	if err != nil {
		return nil, err
	}
	right, err := p.side(arrow+2, len(pattern), rules{})
	if err != nil {
		return nil, err
	}
	if err := p.matchSides(left, right); err != nil {
		return nil, err
	}
	if err := p.addInput(left); err != nil {
		return nil, err
	}
	p.addOutput(right)
	return p, nil
}

// matchSides checks that every axis is on the sides where the operation
// allows it.
func (p *plan) matchSides(left, right *side) *Error {
	if right.ellipsis != nil && left.ellipsis == nil {
		g := right.ellipsis
		return p.fail(g.start, g.end, "there is an ellipsis on the right but none on the left", "write ... on both sides")
	}
	if g := left.ellipsis; g != nil && g.paren {
		return p.fail(g.start, g.end, "an ellipsis in parentheses can't be on the left: its sizes can't be worked out", "write ... outside the parentheses")
	}
	has := func(s *side, it item) bool {
		return slices.ContainsFunc(s.groups, func(g group) bool {
			return slices.ContainsFunc(g.items, func(o item) bool {
				return it.ellipsis == o.ellipsis && it.name == o.name && it.length == o.length && it.length == 0
			})
		})
	}
	check := func(from, in *side, where, other, hint string) *Error {
		for _, g := range from.groups {
			for _, it := range g.items {
				if has(in, it) {
					continue
				}
				what := fmt.Sprintf("axis %q is", it.name)
				switch {
				case it.ellipsis:
					what = "the ellipsis is"
				case it.length > 0:
					what = fmt.Sprintf("the axis of length %d is", it.length)
				}
				h := hint
				if near := nearest(it.name, in.names()); near != "" && it.name != "" {
					h = near
				}
				return p.fail(it.start, it.end, fmt.Sprintf("%s on the %s but not on the %s", what, where, other), h)
			}
		}
		return nil
	}
	numbers := func(s *side) *Error {
		for _, g := range s.groups {
			for _, it := range g.items {
				if it.length > 0 {
					return p.fail(it.start, it.end, fmt.Sprintf("rearrange can't use an axis of length %d without a name", it.length),
						"name the axis and give its length; Repeat adds axes, Reduce removes them")
				}
			}
		}
		return nil
	}
	switch p.op {
	case rearranging:
		if err := cmpOr(numbers(left), numbers(right)); err != nil {
			return err
		}
		return cmpOr(check(left, right, "left", "right", "use Reduce to remove an axis"), check(right, left, "right", "left", "use Repeat to add an axis"))
	case reducing:
		return check(right, left, "right", "left", "use Repeat to add an axis")
	default: // new axes of repeat need a length, which is checked when they are given
		return check(left, right, "left", "right", "Repeat keeps all axes; use Reduce to remove one")
	}
}

func cmpOr(a, b *Error) *Error {
	if a != nil {
		return a
	}
	return b
}

// names returns the axis names of a side.
func (s *side) names() (list []string) {
	for _, g := range s.groups {
		for _, it := range g.items {
			if it.name != "" && it.name != "_" {
				list = append(list, it.name)
			}
		}
	}
	return list
}

// addInput matches the left side with the axes of the tensor.
func (p *plan) addInput(left *side) *Error {
	n := len(left.groups)
	if left.ellipsis != nil {
		n--
	}
	switch {
	case left.ellipsis != nil && left.ellipsis.paren:
		return p.fail(left.ellipsis.start, left.ellipsis.end, "an ellipsis in parentheses can't be on the left: its sizes can't be worked out", "")
	case left.ellipsis == nil && n != p.rank, n > p.rank:
		err := p.fail(left.start, left.end, fmt.Sprintf("the pattern is for %s, the tensor has %d", atLeast(left.ellipsis != nil, n), p.rank),
			"name every axis once, or let ... stand for those left out")
		err.Kind = tensor.ErrShape
		return err
	}
	for _, g := range left.groups {
		if g.isEllipsis() {
			p.ellipsis = p.rank - n
			for range p.ellipsis {
				p.axes = append(p.axes, axis{"...", unknown, g.start, g.end})
				p.input = append(p.input, bundle{[]int{len(p.axes) - 1}, g.start, g.end})
			}
			continue
		}
		b := bundle{start: g.start, end: g.end}
		for _, it := range g.items {
			b.axes = append(b.axes, p.addAxis(it))
		}
		p.splits = p.splits || len(b.axes) != 1
		p.input = append(p.input, b)
	}
	p.old = len(p.axes)
	return nil
}

func atLeast(yes bool, n int) string {
	return map[bool]string{true: "at least "}[yes] + humanize.Count(n, "axis")
}

func (p *plan) addAxis(it item) int {
	length := it.length
	if it.name != "" {
		length = unknown
	}
	p.axes = append(p.axes, axis{it.name, length, it.start, it.end})
	return len(p.axes) - 1
}

// addOutput finds the axes of the right side among those of the left, and adds
// those that are new.
func (p *plan) addOutput(right *side) {
	firstEllipsis := p.find("...")
	used := make([]bool, p.old)
	var flat []int
	for _, g := range right.groups {
		b := bundle{start: g.start, end: g.end}
		for _, it := range g.items {
			if it.ellipsis {
				for i := range p.ellipsis {
					b.axes = append(b.axes, firstEllipsis+i)
				}
				continue
			}
			at := unknown
			if it.name != "" {
				at = p.find(it.name)
			}
			if at == unknown {
				at = p.addAxis(it)
			}
			b.axes = append(b.axes, at)
		}
		for _, a := range b.axes {
			if a < p.old {
				used[a] = true
				flat = append(flat, a)
			}
		}
		if g.isEllipsis() {
			for _, a := range b.axes {
				p.output = append(p.output, bundle{[]int{a}, g.start, g.end})
			}
			continue
		}
		p.merges = p.merges || len(b.axes) != 1
		p.output = append(p.output, b)
	}
	left := make([]int, p.old) // where each axis is once the reduced ones are gone
	n := 0
	for a := range p.old {
		left[a] = n
		if used[a] {
			n++
		} else {
			p.reduced = append(p.reduced, a)
		}
	}
	p.ordered = slices.IsSorted(flat)
	for _, a := range flat {
		p.order = append(p.order, left[a])
	}
}

// find returns the elementary axis of a name, or unknown.
func (p *plan) find(name string) int {
	for i := range p.axes {
		if p.axes[i].name == name {
			return i
		}
	}
	return unknown
}

// stage is one step of running a plan, in this order. Each is skipped where it would
// change nothing.
type stage int

const (
	splitAxes  stage = iota // view: one axis for each elementary axis
	reduceAxes              // with the caller's function
	orderAxes               // permute
	roomForNew              // view: axes of size 1 where new ones come
	expandNew               // expand those
	mergeAxes               // reshape: compose the axes of the result
	numStages
)

// step returns the argument of a stage: the new shape, the axes to reduce, or their
// order. It is appended to room.
func (p *plan) step(s stage, sizes, room []int) (arg []int, needed bool) {
	switch s {
	case splitAxes:
		return append(room, sizes[:p.old]...), p.splits
	case reduceAxes:
		return p.reduced, len(p.reduced) > 0
	case orderAxes:
		return p.order, !p.ordered
	case roomForNew, expandNew:
		if len(p.axes) == p.old {
			return nil, false
		}
		for i := range p.output {
			for _, a := range p.output[i].axes {
				if a >= p.old && s == roomForNew {
					room = append(room, 1)
				} else {
					room = append(room, sizes[a])
				}
			}
		}
		return room, true
	default:
		for i := range p.output {
			n := 1
			for _, a := range p.output[i].axes {
				n = capped(n, sizes[a])
			}
			room = append(room, n)
		}
		return room, p.merges
	}
}

// stackAxes is the number of elementary axes up to which a call needs no
// memory for its sizes.
const stackAxes = 16

// run applies a plan to a tensor.
func (p *plan) run(x *tensor.Tensor, reduce Reduction, given []Size) *tensor.Tensor {
	var room [3 * stackAxes]int
	sizes, shape, arg := room[:stackAxes], room[stackAxes:2*stackAxes], room[2*stackAxes:2*stackAxes]
	if len(p.axes) > stackAxes || p.rank > stackAxes {
		sizes, shape = make([]int, len(p.axes)), make([]int, p.rank)
	}
	shape = shape[:p.rank]
	for i := range shape {
		shape[i] = x.Size(i)
	}
	must(p.solve(shape, given, sizes))
	for s := range numStages {
		arg, needed := p.step(s, sizes, arg)
		if !needed {
			continue
		}
		switch s {
		case splitAxes, roomForNew:
			x = x.View(arg...)
		case reduceAxes:
			x = p.reduce(x, reduce, p.reduced) // not arg: what a function may keep would cost memory in all calls
		case orderAxes:
			x = x.Permute(arg...)
		case expandNew:
			x = x.Expand(arg...)
		case mergeAxes:
			x = x.Reshape(arg...)
		}
	}
	return x
}

// planFor returns the plan of a pattern for tensors of the shape's rank, from the
// cache if it is there.
func planFor(op, pattern string, x *tensor.Tensor) *plan {
	if x == nil {
		must(&Error{Kind: ErrOperand, Op: op, Pattern: pattern, End: len(pattern), Reason: "the tensor is nil"})
	}
	key := planKey{op, pattern, x.Dim()}
	if p, ok := plans.get(key); ok {
		return p
	}
	p, err := newPlan(op, pattern, x.Dim())
	if err != nil {
		err.Shapes = [][]int{x.Shape()}
	}
	must(err)
	plans.put(key, p)
	return p
}

type planKey struct {
	op, pattern string
	rank        int
}

var plans = cache[planKey, *plan]{limit: 512}
