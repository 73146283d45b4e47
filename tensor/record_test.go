package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Besides values and costs, a record says which dtype a result has, what a
// derivative reads, what autocast does to operands, and whether the in-place form
// needs memory. Each is checked here for every case of costTable.

// dtypeError compares the dtypes of results, and values, for all that a case is
// defined for.
func (c *costCase) dtypeError() error {
	for _, d := range c.dtypes() {
		if c.only != nil && !slices.Contains(c.only, d) {
			continue
		}
		in := c.inputs(d, 7)
		out := c.run(in)
		if want := c.result(d); out.dtype != want {
			return fmt.Errorf("of %s: the result is %s, want %s", d, out.dtype, want)
		}
		if d == Bool || d == Uint8 { // in which the naive versions don't compute
			continue
		}
		want := c.forward(&meter{}, arraysOf(in))
		want.Size = out.dtype.Size()
		tolerance := 0.
		if out.dtype.IsFloat() {
			tolerance = 1e-5 + Finfo(out.dtype).Eps
		}
		if err := closeTo(want, out, tolerance); err != nil {
			return fmt.Errorf("of %s: %w", d, err)
		}
	}
	for _, d := range append(wholeDtypes, Bool, Float16, BFloat16) { // what a row leaves out, an operation may take
		out, err := c.attempt(d)
		if want := c.result(d); err == nil && out.dtype != want {
			return fmt.Errorf("of %s: the result is %s, want %s", d, out.dtype, want)
		}
	}
	return c.edgeError()
}

var wholeDtypes = []Dtype{Int64, Int32, Int16, Int8, Uint8}

// attempt runs the case with inputs of any dtype.
func (c *costCase) attempt(d Dtype) (out *Tensor, err error) {
	err = caught(func() error { out = c.run(c.inputs(d, 7)); return nil })
	return out, err
}

// edgeError compares results that depend on the last bit, or on the range, of
// what they are computed in.
func (c *costCase) edgeError() error {
	const little = 1. / (1 << 20)
	lists := [][]float64{
		{1 - little, 1 + little, 1},
		{1, 1 + little, math.MaxFloat32, 0, math.SmallestNonzeroFloat32},
		slices.Concat([]float64{math.SmallestNonzeroFloat32}, make([]float64, 50)),
	}
	switch r := c.result(Float32); {
	case c.op == &opFloor || c.op == &opCeil || c.op == &opTrunc || c.op == &opRound:
		lists = [][]float64{{1 - little, 1 + little, 0.5 + little, 2 - little}}
	case r != Bool && r != Int64 && c.op != &opSign || c.only != nil:
		return nil
	}
	for _, list := range lists {
		in := c.inputs(Float32, 7)
		for k, x := range in {
			for i := range Data[float32](x) {
				Data[float32](x)[i] = float32(list[(i+2*k)%len(list)])
			}
		}
		want := c.forward(&meter{}, arraysOf(in))
		if err := closeTo(want, c.run(in), 0); err != nil {
			return fmt.Errorf("of numbers that differ by little: %w", err)
		}
	}
	return nil
}

// watch runs f and returns the first call of an operation.
func watch(o *op, f func()) *call {
	var first *call
	forward := o.forward
	o.forward = func(c *call) *Tensor {
		if first == nil {
			seen := *c
			seen.in = slices.Clone(c.in)
			first = &seen
		}
		return forward(c)
	}
	defer func() { o.forward = forward }()
	f()
	return first
}

// operand returns the first operand that is no mask, if there is one.
func (c *call) operand() *Tensor {
	for _, x := range c.in {
		if x.dtype != Bool && x.Len() > 0 { // Recompute's first is empty
			return x
		}
	}
	return c.in[len(c.in)-1]
}

// autocastSmall and autocastWide are the operations that PyTorch's autocast knows,
// as far as they are here, with those that are theirs under another name.
var (
	autocastSmall = []string{"matmul", "matmul transposed", "attention"}
	autocastWide  = []string{"exp", "expm1", "log", "log1p", "log2", "pow", "reciprocal", "rsqrt", "tan", "asin", "acos", "sinh", "cosh", "erf", "softmax", "log softmax",
		"logsumexp", "sum", "mean", "prod", "cumsum", "cumprod", "norm", "var", "std"}
)

// castError compares what autocast makes of float32 and of bfloat16 operands.
func (c *costCase) castError() error {
	for _, d := range []Dtype{Float32, BFloat16} {
		if _, err := c.attempt(d); err != nil {
			continue // it takes no floats
		}
		want := d
		switch {
		case slices.Contains(autocastSmall, c.name):
			want = BFloat16
		case slices.Contains(autocastWide, c.name) && !c.inside:
			want = Float32
		}
		in := c.inputs(d, 7)
		used := watch(c.op, func() { Autocast(BFloat16, func() { c.run(in) }) })
		if used == nil {
			return fmt.Errorf("the row does not run %q", c.name)
		}
		if got := used.operand().dtype; got != want {
			return fmt.Errorf("autocast to bfloat16 gives %s operands as %s, want %s", d, got, want)
		}
	}
	return nil
}

// straightOver are the operations whose in-place forms write over their receiver;
// all others need memory for a result that is then copied.
var straightOver = []string{"add", "sub", "mul", "div", "lerp", "addcmul", "addcdiv"}

// inPlaceError compares the operation in place with itself, in values, cost and
// memory.
func (c *costCase) inPlaceError() error {
	for _, d := range c.inPlaceDtypes() {
		if err := c.inPlaceErrorOf(d); err != nil {
			return fmt.Errorf("of %s: %w", d, err)
		}
	}
	return nil
}

// inPlaceDtypes are those that in-place forms are tried with.
func (c *costCase) inPlaceDtypes() []Dtype {
	switch {
	case c.inside || c.op == &opPut.op: // which is itself what writing in place is told as
		return nil
	case c.bools:
		return []Dtype{c.countedDtypes()[0], Bool}
	}
	return c.countedDtypes()[:1]
}

func (c *costCase) inPlaceErrorOf(d Dtype) error {
	used := watch(c.op, func() { c.run(c.inputs(d, 7)) })
	if used == nil {
		return fmt.Errorf("the row does not run %q", c.name)
	}
	into := used.in[0]
	result := used.op.forward(used)
	if result.storage == into.storage || !sameShape(result, into) || formats[result.dtype].class > formats[into.dtype].class {
		return nil // a view, or nothing that could be held
	}
	var operands []any
	for _, x := range used.in[1:] {
		operands = append(operands, x)
	}
	x := into.Clone()
	version := x.storage.Version.Load()
	memory := 0
	var ran Event
	for _, e := range collect(func() { x.update(c.op, used.attr, operands...) }) {
		switch e.Kind {
		case Allocated:
			memory += e.Size
		case Ran:
			ran = e
		}
	}
	if !AllClose(x.To(Float64), result.To(x.dtype).To(Float64), 0, 0) {
		return fmt.Errorf("in place it gives %v, else %v", x, result)
	}
	if x.storage.Version.Load() == version {
		return fmt.Errorf("in place it leaves the version as it was")
	}
	if direct := slices.Contains(straightOver, c.name); direct != (memory == 0) {
		return fmt.Errorf("in place it takes %d bytes of memory, and straightOver lists it: %v; one of them, or direct in its record, is wrong", memory, direct)
	}
	if result.dtype != into.dtype {
		return nil
	}
	m := &meter{}
	c.forward(m, arraysOf(c.inputs(d, 7)))
	if c.usual > 0 {
		m.FLOPs = c.usual * x.Len()
	}
	if ran.Op != c.name || ran.FLOPs != m.FLOPs || ran.Bytes != m.Bytes {
		return fmt.Errorf("in place it is told of as %q of %d FLOPs and %d bytes, its naive version takes %d and %d", ran.Op, ran.FLOPs, ran.Bytes, m.FLOPs, m.Bytes)
	}
	return nil
}

// gradientOf computes the gradient with respect to one input alone, so that
// nothing is saved for others.
func (c *costCase) gradientOf(i int) (grad *Tensor, want *array) {
	in := c.inputs(Float64, 7)
	if c.only != nil {
		in = c.inputs(c.only[0], 7)
	}
	in[i].RequireGrad()
	out := c.run(in)
	seed := With(out.dtype, NewGenerator(5)).Uniform(0.5, 1.5, out.Shape()...)
	out.Backward(WithGrad(seed))
	arrays := arraysOf(in)
	return in[i].Grad(), c.gradients[i](&meter{}, arrays, c.forward(&meter{}, arrays), arrayOf(seed))
}

func (c *costCase) gradientError(i int) error {
	grad, want := c.gradientOf(i)
	if grad == nil {
		return fmt.Errorf("input %d alone has no gradient", i)
	}
	if err := closeTo(want, grad, 1e-5); err != nil {
		return fmt.Errorf("gradient of input %d alone: %w", i, err)
	}
	return nil
}

// caught returns what f reports, or panics with.
func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// readsError checks that derivatives get by with what they say they read, and
// that nothing of it could be left out: it would be kept from forward to backward
// for nothing.
func readsError(o *op, cases []*costCase) error {
	needed := map[int]reads{}
	for _, c := range cases {
		for i := range c.gradients {
			if c.gradients[i] == nil {
				continue
			}
			if err := c.gradientError(i); err != nil {
				return err
			}
			of := &o.gradients[0]
			if !o.variadic {
				of = &o.gradients[i+c.first]
			}
			said := of.reads
			for bit := readsLeft; bit != 0; bit <<= 1 {
				of.reads = said &^ bit
				if said&bit != 0 && caught(func() error { return c.gradientError(i) }) != nil {
					needed[i] |= bit
				}
			}
			of.reads = said
		}
	}
	for _, c := range cases {
		for i := range c.gradients {
			if c.gradients[i] == nil {
				continue
			}
			of := o.gradients[0]
			if !o.variadic {
				of = o.gradients[i+c.first]
			}
			if o == &opRecompute.op { // which keeps all inputs, whatever its function takes
				needed[i] |= readsOutput - 1
			}
			if extra := of.reads &^ needed[i]; extra != 0 {
				return fmt.Errorf("the derivative with respect to input %d is said to read %#x, which it can do without", i, extra)
			}
		}
	}
	return nil
}

// casesByOp returns the cases of each operation.
func casesByOp() map[*op][]*costCase {
	all := map[*op][]*costCase{}
	cases := costTable()
	for i := range cases {
		all[cases[i].op] = append(all[cases[i].op], &cases[i])
	}
	return all
}

// recordError is all that is checked of a record besides costs.
func recordError(o *op, cases []*costCase) error {
	for _, c := range cases {
		for _, check := range []func() error{c.dtypeError, c.castError, c.inPlaceError} {
			if err := check(); err != nil {
				return fmt.Errorf("%s: %w", c.opCase.name, err)
			}
		}
	}
	return readsError(o, cases)
}

// TestRecords: what records say besides values and costs.
func TestRecords(t *testing.T) {
	for o, cases := range casesByOp() {
		if err := recordError(o, cases); err != nil {
			t.Errorf("%s: %v", o.name, err)
		}
	}
}
