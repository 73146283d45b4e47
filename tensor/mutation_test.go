package tensor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// A test is worth what it would have found. Here each field of each record is
// changed, one at a time, and the checks that TestCosts and TestRecords run on the
// operation must then fail: a change that they let pass is a survivor.

// mutant is one change of a record.
type mutant struct {
	op     *op
	field  string // of op or gradient
	change string
	apply  func(o *op)
}

func (m *mutant) String() string { return fmt.Sprintf("%s: %s: %s", m.op.name, m.field, m.change) }

// run reports what the checks say while the record is changed.
func (m *mutant) run(cases []*costCase) error {
	whole, gradients := *m.op, slices.Clone(m.op.gradients)
	defer func() {
		*m.op = whole
		copy(m.op.gradients, gradients)
	}()
	m.op.gradients = slices.Clone(gradients)
	m.apply(m.op)
	return caught(func() error {
		for _, c := range cases {
			if err := c.costErrors(); err != nil {
				return err
			}
		}
		return recordError(m.op, cases)
	})
}

// mutantsOf returns every change of a record.
func mutantsOf(o *op, cases []*costCase) []mutant {
	var all []mutant
	add := func(field, change string, apply func(o *op)) {
		all = append(all, mutant{o, field, change, apply})
	}
	add("name", "another", func(o *op) { o.name += "?" })

	// Values, and the rule for dtypes.
	changed := func(change string, f func(in []*Tensor, out *Tensor) *Tensor) {
		forward := o.forward
		add("forward", change, func(o *op) {
			o.forward = func(c *call) *Tensor { return f(c.in, forward(c)) }
		})
	}
	changed("one element is off by 1", func(_ []*Tensor, out *Tensor) *Tensor {
		return altered(out, func(i int, v float64) float64 {
			if i != 0 {
				return v
			}
			return loops.Truth[float64](out.dtype != Bool || v == 0) * (v + 1)
		})
	})
	other := map[Dtype]Dtype{Float64: Float32, Float32: Float64, Float16: Float32, BFloat16: Float32, Int64: Int32, Int32: Int64, Int16: Int64, Int8: Int64, Uint8: Int64, Bool: Uint8}
	of := func(kind func(Dtype) bool) func(in []*Tensor, out *Tensor) *Tensor {
		return func(in []*Tensor, out *Tensor) *Tensor {
			if kind((&call{in: in}).operand().dtype) {
				return out.converted(other[out.dtype])
			}
			return out
		}
	}
	changed("another dtype for floats", of(func(d Dtype) bool { return d == Float32 || d == Float64 }))
	changed("another dtype for bfloat16", of(func(d Dtype) bool { return d == BFloat16 }))
	changed("another dtype for integers", of(func(d Dtype) bool { return formats[d].class == classInt }))
	changed("another dtype for bools", of(func(d Dtype) bool { return d == Bool }))
	forward := o.forward
	add("forward", "computed in bfloat16", func(o *op) {
		o.forward = func(c *call) *Tensor {
			rounded := func(x *Tensor) *Tensor {
				if x.dtype != Float32 {
					return x
				}
				return altered(x, func(_ int, v float64) float64 { return BFloat16.Bits(v).Value })
			}
			coarse := *c
			coarse.in = slices.Clone(c.in)
			for i, x := range c.in {
				coarse.in[i] = rounded(x)
			}
			return rounded(forward(&coarse))
		}
	})

	// Derivatives.
	for i := range o.gradients {
		derivative := o.gradients[i].of
		field := func(name string) string { return fmt.Sprintf("gradients[%d].%s", i, name) }
		result := func(change string, f func(c *call, g *Tensor) *Tensor) {
			add(field("of"), change, func(o *op) {
				o.gradients[i].of = func(c *call, g *Tensor, input int) *Tensor {
					if derivative == nil {
						return g
					}
					return f(c, derivative(c, g, input))
				}
			})
		}
		result("off by 1", func(_ *call, g *Tensor) *Tensor {
			return altered(g, func(_ int, v float64) float64 { return v + 1 })
		})
		if derivative == nil {
			continue
		}
		result("twice as large", func(_ *call, g *Tensor) *Tensor {
			return altered(g, func(_ int, v float64) float64 { return 2 * v })
		})
		result("a copy too many", func(_ *call, g *Tensor) *Tensor { return g.Clone() })
		add(field("of"), "none", func(o *op) { o.gradients[i].of = nil })
		inputs := 3
		if len(o.gradients) == 1 && !o.variadic {
			inputs = 1
		}
		for bit := range inputs {
			add(field("reads"), fmt.Sprintf("input %d or not", bit), func(o *op) { o.gradients[i].reads ^= 1 << bit })
		}
		add(field("reads"), "the result or not", func(o *op) { o.gradients[i].reads ^= readsOutput })
	}
	if len(o.gradients) > 0 {
		add("gradients", "none", func(o *op) { o.gradients = nil })
	}
	add("variadic", "the opposite", func(o *op) { o.variadic = !o.variadic })
	add("broadcasts", "the opposite", func(o *op) { o.broadcasts = !o.broadcasts })
	add("composite", "the opposite", func(o *op) { o.composite = !o.composite })
	add("direct", "the opposite", func(o *op) { o.direct = !o.direct })

	// Costs.
	for name, at := range map[string]func(o *op) *func(c *call, out *Tensor) int{
		"flops":    func(o *op) *func(*call, *Tensor) int { return &o.flops },
		"products": func(o *op) *func(*call, *Tensor) int { return &o.products },
		"bytes":    func(o *op) *func(*call, *Tensor) int { return &o.bytes },
	} {
		count := *at(o)
		if count == nil {
			add(name, "1 for each call", func(o *op) { *at(o) = func(*call, *Tensor) int { return 1 } })
			continue
		}
		add(name, "none", func(o *op) { *at(o) = nil })
		add(name, "10 times as many", func(o *op) { *at(o) = func(c *call, out *Tensor) int { return 10 * count(c, out) } })
		add(name, "1 more for each call", func(o *op) { *at(o) = func(c *call, out *Tensor) int { return count(c, out) + 1 } })
		add(name, "1 more for each element", func(o *op) { *at(o) = func(c *call, out *Tensor) int { return count(c, out) + out.Len() } })
	}

	for rule, name := range [...]string{castNothing: "none", castSmall: "small", castWide: "wide"} {
		if cast(rule) != o.cast && o != &opTo.op { // autocast converts with it: with a rule it would never end
			add("cast", name, func(o *op) { o.cast = cast(rule) })
		}
	}
	return all
}

// altered is a copy with other values, made by no operation.
func altered(t *Tensor, f func(i int, v float64) float64) *Tensor {
	out := newTensor(t.dtype, t.layout.Shape, false)
	wide := newTensor(Float64, t.layout.Shape, false)
	for i, v := range t.Floats() {
		plain[float64](wide)[i] = f(i, v)
	}
	out.assign(wide)
	return out
}

// equivalents are changes that nothing can notice, each with its proof; what says
// whether one is such a change, by trying where the proof rests on what the
// operation does.
var equivalents = []struct {
	proof string
	what  func(m *mutant, cases []*costCase) bool
}{
	{"the operation refuses operands of that kind", func(m *mutant, cases []*costCase) bool {
		kinds := map[string][]Dtype{
			"another dtype for floats": {Float32, Float64}, "another dtype for bfloat16": {BFloat16}, "computed in bfloat16": {Float32},
			"another dtype for integers": wholeDtypes, "another dtype for bools": {Bool}, "small": {Float32, BFloat16}, "wide": {Float32, BFloat16},
		}
		for _, d := range kinds[m.change] {
			for _, c := range cases {
				if _, err := c.attempt(d); err == nil {
					return false
				}
			}
		}
		return kinds[m.change] != nil
	}},
	{"Gradient sums where shapes differ, and this one's gradients have the shape of the input", func(m *mutant, cases []*costCase) bool {
		return m.field == "broadcasts" && !m.op.broadcasts && gradientsFit(m.op, cases)
	}},
	{"with one derivative at most, the number of the input is 0 or not asked for", func(m *mutant, _ []*costCase) bool {
		return m.field == "variadic" && !m.op.variadic && len(m.op.gradients) <= 1
	}},
	{"its derivatives are the same and depend on no number", func(m *mutant, _ []*costCase) bool {
		return m.field == "variadic" && m.op == &opAdd
	}},
	{"the other input is a mask, or outside the graph, and takes no part in gradients", func(m *mutant, _ []*costCase) bool {
		return (m.field == "variadic" || m.field == "gradients[1].of") && m.op == &opMaskedFill.op || m.field == "gradients[0].of" && m.op == &opWhere
	}},
	{"the in-place form gives another shape or class and is refused, or is written by put, or forward pays no heed to where it may write", func(m *mutant, cases []*costCase) bool {
		return m.field == "direct" && !slices.ContainsFunc(cases, (*costCase).heedsInto)
	}},
	{"listeners are told of its parts in its place, so nobody asks for its bytes or products", func(m *mutant, _ []*costCase) bool {
		return (m.field == "bytes" || m.field == "products") && m.op.composite
	}},
	{"the first input is there for its place in the graph and has no elements", func(m *mutant, _ []*costCase) bool {
		return m.op == &opRecompute.op && m.change == "input 0 or not"
	}},
	{"twice 0 is 0", func(m *mutant, _ []*costCase) bool {
		return m.change == "twice as large" && slices.Contains([]*op{&opFloor, &opCeil, &opRound, &opTrunc}, m.op)
	}},
	{"rounding to bfloat16 keeps NaN, and makes none", func(m *mutant, _ []*costCase) bool {
		return m.change == "computed in bfloat16" && m.op == &opIsNaN
	}},
}

// gradientsFit reports whether all derivatives have the shapes of their inputs.
func gradientsFit(o *op, cases []*costCase) bool {
	fit := true
	gradients := o.gradients
	defer func() { o.gradients = gradients }()
	o.gradients = slices.Clone(gradients)
	for i := range o.gradients {
		of := gradients[i].of
		if of == nil {
			continue
		}
		o.gradients[i].of = func(c *call, g *Tensor, input int) *Tensor {
			grad := of(c, g, input)
			fit = fit && sameShape(grad, c.in[input])
			return grad
		}
	}
	for _, c := range cases {
		for i, gradient := range c.gradients {
			if gradient != nil {
				c.gradientOf(i)
			}
		}
	}
	return fit
}

// heedsInto reports whether forward writes its result where it is told it may.
func (c *costCase) heedsInto() bool {
	for _, d := range c.inPlaceDtypes() {
		used := watch(c.op, func() { c.run(c.inputs(d, 7)) })
		result := used.op.forward(used)
		used.into = result.Clone()
		if result.dtype == used.in[0].dtype && used.op.forward(used) == used.into {
			return true
		}
	}
	return false
}

// TestMutations changes records: each change must turn one of their checks red. All
// of them take a second or two; under the race detector, which is ten times slower, a
// run takes a sample unless LECTERN_LONG=1 asks for all.
func TestMutations(t *testing.T) {
	cases := casesByOp()
	var all []mutant
	for _, o := range ops {
		if len(cases[o]) > 0 { // else TestEveryOperationHasCostCases fails
			all = append(all, mutantsOf(o, cases[o])...)
		}
	}
	total := len(all)
	if race.Enabled && os.Getenv("LECTERN_LONG") != "1" {
		seed := uint64(time.Now().UnixNano())
		t.Logf("a sample, with seed %d", seed)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:600]
	}
	killed, excused := 0, map[string]int{}
	for i := range all {
		m := &all[i]
		if err := m.run(cases[m.op]); err != nil {
			killed++
			continue
		}
		proof := ""
		for _, e := range equivalents {
			if e.what(m, cases[m.op]) {
				proof = e.proof
			}
		}
		if proof == "" {
			t.Errorf("nothing notices %v", m)
			continue
		}
		excused[proof]++
	}
	equivalent := 0
	for _, e := range equivalents {
		equivalent += excused[e.proof]
		t.Logf("%d equivalent: %s", excused[e.proof], e.proof)
	}
	t.Logf("%d of %d changes were made: %d noticed, %d equivalent, score %.1f %%", len(all), total, killed, equivalent, 100*float64(killed)/float64(len(all)-equivalent))
	for _, o := range ops { // the records are as they were
		for _, c := range cases[o] {
			if err := c.costErrors(); err != nil {
				t.Fatalf("after the changes: %s: %v", o.name, err)
			}
		}
	}
}

// TestEveryFieldIsMutated: a field that is added to the records needs its changes.
func TestEveryFieldIsMutated(t *testing.T) {
	cases := casesByOp()
	fields := map[string]bool{}
	for _, o := range ops {
		for _, m := range mutantsOf(o, cases[o]) {
			name, _, _ := strings.Cut(m.field, "[")
			fields[name] = true
			if _, part, ok := strings.Cut(m.field, "."); ok {
				fields["gradient."+part] = true
			}
		}
	}
	for i, record := range []reflect.Type{reflect.TypeFor[op](), reflect.TypeFor[gradient]()} {
		for f := range record.NumField() {
			if name := []string{"", "gradient."}[i] + record.Field(f).Name; !fields[name] {
				t.Errorf("no test changes the field %q of records", name)
			}
		}
	}
}
