package tensor

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/internal/elementwise"
	"pgregory.net/rapid"
)

// opCase is one way to use operations: the table that tests walk over layouts,
// dtypes and gradients.
type opCase struct {
	name   string
	ops    []*op
	shapes [][]int // of the inputs
	run    func(in []*Tensor) *Tensor

	low, high float64 // of the inputs' elements; 0, 0 means -2 to 2
	floats    bool    // defined for floating point only
	bools     bool    // defined for bools, too
	second    bool    // has a second derivative worth checking
}

var vec, mat, cube = []int{6}, []int{4, 6}, []int{2, 3, 4}

// caseOf is the case of a row of the table of elementwise operations. What operates on bits alone is given masks.
func caseOf(row *elementwise.Op) opCase {
	c := opCase{name: row.Name, ops: []*op{recordOf(row.Name)}, shapes: [][]int{cube, {3, 1}}[:len(row.Operands())], run: elementwise.Func[*Tensor](row),
		low: row.Low, high: row.High, floats: row.Floats, bools: row.Bools || row.Bits, second: row.Twice || row.Bits}
	if row.Alike {
		c.shapes[1] = cube
	}
	if run := c.run; row.Bits {
		c.run = func(in []*Tensor) *Tensor {
			masks := slices.Clone(in)
			for i, x := range in {
				masks[i] = x.Ne(0)
			}
			return run(masks)
		}
	}
	return c
}

// recordOf returns the record of a name.
func recordOf(name string) *op {
	for _, o := range ops {
		if o.name == name {
			return o
		}
	}
	panic("there is no record " + name + ", which package elementwise has a row for")
}

// sixOn is 0 to 5 beside x.
func sixOn(x *Tensor) *Tensor { return With(x.Device()).Arange(0, 6, 1) }

// ids are positions along axes of size 4 and 6, as int64.
func ids(values ...any) *Tensor { return Of(values...) }

// opTable is made when first asked for: records are filled in by init functions.
var opTable = sync.OnceValue(func() []opCase {
	var all []opCase
	for i := range elementwise.Table {
		all = append(all, caseOf(&elementwise.Table[i]))
	}
	add := func(c opCase, name string, o *op, run func(in []*Tensor) *Tensor, shapes ...[]int) {
		c.name, c.run, c.shapes = name, run, shapes
		if o != nil {
			c.ops = []*op{o}
		}
		all = append(all, c)
	}
	any_, float := opCase{bools: true, second: true}, opCase{floats: true, second: true}
	number := opCase{second: true}
	// Functions of one number that are given something besides, or pass it on.
	add(opCase{}, "leaky relu", &opLeakyReLU.op, func(in []*Tensor) *Tensor { return in[0].LeakyReLU(0.1) }, cube)
	add(number, "elu", &opELU.op, func(in []*Tensor) *Tensor { return in[0].ELU(0.7) }, cube)
	add(any_, "nan to num", &opNanToNum.op, func(in []*Tensor) *Tensor { return in[0].NanToNum(1, 2, -3) }, cube)
	add(opCase{}, "clamp", &opClamp.op, func(in []*Tensor) *Tensor { return in[0].Clamp(-1, 1) }, cube)
	add(any_, "clone", &opClone.op, func(in []*Tensor) *Tensor { return in[0].Clone() }, cube)
	add(opCase{bools: true}, "to", &opTo.op, func(in []*Tensor) *Tensor { return in[0].To(Float64) }, cube)
	add(opCase{}, "to saturating", &opToSaturating.op, func(in []*Tensor) *Tensor { return in[0].ToSaturating(Float64) }, cube)
	add(opCase{}, "straight through", &opStraightThrough.op, func(in []*Tensor) *Tensor { return StraightThrough(in[0], in[0].Detach()) }, cube)
	for name, axes := range map[string][]int{"all": nil, "an axis": {1}, "axes, kept": {0, -1, KeepDim}} {
		add(any_, "sum of "+name, &opSum.op, func(in []*Tensor) *Tensor { return in[0].Sum(axes...) }, cube)
		add(float, "mean of "+name, &opMean.op, func(in []*Tensor) *Tensor { return in[0].Mean(axes...) }, cube)
		add(opCase{second: true, low: 0.5, high: 2}, "prod of "+name, &opProd.op, func(in []*Tensor) *Tensor { return in[0].Prod(axes...) }, cube)
		add(opCase{bools: true}, "max of "+name, &opMax.op, func(in []*Tensor) *Tensor { return in[0].Max(axes...) }, cube)
		add(opCase{bools: true}, "min of "+name, &opMin.op, func(in []*Tensor) *Tensor { return in[0].Min(axes...) }, cube)
		add(float, "var of "+name, &opVar.op, func(in []*Tensor) *Tensor { return in[0].Var(axes...) }, cube)
		add(float, "std of "+name, &opStd.op, func(in []*Tensor) *Tensor { return in[0].Std(axes...) }, cube)
		add(float, "biased var of "+name, &opVar.op, func(in []*Tensor) *Tensor { return in[0].Var(append(slices.Clone(axes), Biased)...) }, cube)
		add(float, "norm of "+name, &opNorm.op, func(in []*Tensor) *Tensor { return in[0].Norm(axes...) }, cube)
		add(number, "logsumexp of "+name, &opLogSumExp.op, func(in []*Tensor) *Tensor { return in[0].LogSumExp(axes...) }, cube)
		add(any_, "all of "+name, &opAll.op, func(in []*Tensor) *Tensor { return in[0].All(axes...) }, cube)
		add(any_, "any of "+name, &opAny.op, func(in []*Tensor) *Tensor { return in[0].Any(axes...) }, cube)
	}
	add(any_, "argmax", &opArgmax.op, func(in []*Tensor) *Tensor { return in[0].Argmax(1) }, cube)
	add(any_, "argmin", &opArgmin.op, func(in []*Tensor) *Tensor { return in[0].Argmin() }, cube)
	add(opCase{}, "max at", nil, func(in []*Tensor) *Tensor { v, _ := in[0].MaxAt(1); return v }, cube)
	add(opCase{}, "min at", nil, func(in []*Tensor) *Tensor { v, _ := in[0].MinAt(-1, KeepDim); return v }, cube)
	for axis := range 3 {
		name := fmt.Sprintf(" along %d", axis)
		add(any_, "cumsum"+name, &opCumsum.op, func(in []*Tensor) *Tensor { return in[0].Cumsum(axis) }, cube)
		add(opCase{second: true, low: 0.5, high: 2}, "cumprod"+name, &opCumprod.op, func(in []*Tensor) *Tensor { return in[0].Cumprod(axis) }, cube)
		add(number, "softmax"+name, &opSoftmax.op, func(in []*Tensor) *Tensor { return in[0].Softmax(axis) }, cube)
		add(number, "log softmax"+name, &opLogSoftmax.op, func(in []*Tensor) *Tensor { return in[0].LogSoftmax(axis) }, cube)
		add(any_, "flip"+name, &opFlip.op, func(in []*Tensor) *Tensor { return in[0].Flip(axis) }, cube)
		add(opCase{}, "sort"+name, &opArgsort.op, func(in []*Tensor) *Tensor { s, _ := in[0].Sort(axis, axis == 1); return s }, cube)
		add(opCase{}, "topk"+name, nil, func(in []*Tensor) *Tensor { v, _ := in[0].TopK(axis, 2); return v }, cube)
		add(any_, "cat"+name, &opCat.op, func(in []*Tensor) *Tensor { return Cat(axis, in...) }, cube, cube, cube)
		add(any_, "stack"+name, nil, func(in []*Tensor) *Tensor { return Stack(axis, in...) }, cube, cube)
		add(any_, "select"+name, &opSelect.op, func(in []*Tensor) *Tensor { return in[0].Select(axis, 1) }, cube)
		add(any_, "slice"+name, &opSlice.op, func(in []*Tensor) *Tensor { return in[0].Slice(axis, 0, 3, 2) }, cube)
		add(any_, "unsqueeze"+name, &opUnsqueeze.op, func(in []*Tensor) *Tensor { return in[0].Unsqueeze(axis) }, cube)
	}
	add(float, "layer norm", &opLayerNorm.op, func(in []*Tensor) *Tensor { return in[0].LayerNorm([]int{4}, in[1], in[2], 1e-3) }, cube, []int{4}, []int{4})
	add(float, "layer norm over two axes, without weight", &opLayerNorm.op, func(in []*Tensor) *Tensor { return in[0].LayerNorm([]int{3, 4}, nil, nil, 1e-3) }, cube)
	add(float, "rms norm", &opRMSNorm.op, func(in []*Tensor) *Tensor { return in[0].RMSNorm(in[1], 1e-3) }, cube, []int{4})
	add(float, "rms norm without weight", &opRMSNorm.op, func(in []*Tensor) *Tensor { return in[0].RMSNorm(nil, 1e-3) }, cube)
	add(number, "lerp", &opLerp, func(in []*Tensor) *Tensor { return in[0].Lerp(in[1], in[2]) }, cube, []int{3, 1}, cube)
	add(number, "lerp by a number", &opLerp, func(in []*Tensor) *Tensor { return in[0].Lerp(in[1], 0.25) }, []int{3, 1}, cube)
	add(number, "addcmul", &opAddcmul.op, func(in []*Tensor) *Tensor { return in[0].Addcmul(in[1], in[2], -2) }, cube, []int{3, 1}, cube)
	add(number, "addcmul of half", &opAddcmul.op, func(in []*Tensor) *Tensor { return in[0].Addcmul(in[1], in[2], 0.5) }, mat, mat, mat)
	add(opCase{second: true, low: 1, high: 3}, "addcdiv", &opAddcdiv.op, func(in []*Tensor) *Tensor { return in[0].Addcdiv(in[1], in[2], 1.5) }, cube, []int{3, 1}, cube)
	add(float, "rotate pairs", &opRotatePairs.op, func(in []*Tensor) *Tensor {
		angles := With(Float64, in[0].Device()).Arange(0, 6, 1).View(3, 2)
		return in[0].RotatePairs(angles.Cos(), angles.Sin())
	}, cube)
	seen := Of([]bool{true, false, true, true, false}, []bool{false, true, true, false, true}, []bool{true, true, false, false, true}, []bool{true, true, true, true, true})
	attend := func(s AttentionSettings) func(in []*Tensor) *Tensor {
		return func(in []*Tensor) *Tensor {
			if s.Mask != nil {
				s.Mask = s.Mask.To(in[0].Device())
			}
			return Attention(in[0], in[1], in[2], s)
		}
	}
	add(float, "attention", &opAttention.op, attend(AttentionSettings{}), mat, []int{5, 6}, []int{5, 3})
	add(float, "attention, causal and grouped", &opAttention.op, attend(AttentionSettings{Causal: true}), []int{2, 4, 3, 2}, []int{2, 2, 5, 2}, []int{2, 2, 5, 3})
	add(float, "attention, masked", &opAttention.op, attend(AttentionSettings{Mask: seen, Scale: 0.7}), []int{2, 4, 2}, []int{2, 5, 2}, []int{2, 5, 2})
	add(any_, "tril", &opTril.op, func(in []*Tensor) *Tensor { return in[0].Tril(-1) }, cube)
	add(any_, "triu", &opTriu.op, func(in []*Tensor) *Tensor { return in[0].Triu(1) }, cube)
	add(any_, "transpose", &opTranspose.op, func(in []*Tensor) *Tensor { return in[0].Transpose(0, 2) }, cube)
	add(any_, "permute", &opPermute.op, func(in []*Tensor) *Tensor { return in[0].Permute(2, 0, 1) }, cube)
	add(any_, "reshape", &opView.op, func(in []*Tensor) *Tensor { return in[0].Reshape(4, 6) }, cube)
	add(any_, "expand", &opExpand.op, func(in []*Tensor) *Tensor { return in[0].Expand(2, 3, 4) }, []int{3, 1})
	add(any_, "squeeze", &opSqueeze.op, func(in []*Tensor) *Tensor { return in[0].Squeeze(1) }, []int{3, 1, 2})
	add(any_, "diagonal", &opDiagonal.op, func(in []*Tensor) *Tensor { return in[0].Diagonal(1, 0, 1) }, mat)
	add(any_, "unfold", &opUnfold.op, func(in []*Tensor) *Tensor { return in[0].Unfold(1, 3, 2) }, mat)
	add(any_, "repeat", nil, func(in []*Tensor) *Tensor { return in[0].Repeat(2, 1, 3) }, mat)
	for _, shapes := range [][2][]int{{{6}, {6}}, {{6}, {6, 3}}, {{4, 6}, {6}}, {{4, 6}, {6, 3}}, {{2, 4, 6}, {6, 3}}, {{2, 1, 4, 3}, {5, 3, 2}}, {{6}, {2, 6, 3}}, {{2, 4, 6}, {6}}} {
		add(number, fmt.Sprintf("matmul %v", shapes), &opMatmul, func(in []*Tensor) *Tensor { return in[0].Matmul(in[1]) }, shapes[0], shapes[1])
	}
	for _, shapes := range [][2][]int{{{6}, {3, 6}}, {{4, 6}, {3, 6}}, {{2, 4, 6}, {3, 6}}} {
		add(number, fmt.Sprintf("matmul transposed %v", shapes), &opMatmulT, func(in []*Tensor) *Tensor { return in[0].MatmulT(in[1]) }, shapes[0], shapes[1])
	}
	for _, shapes := range [][2][]int{{{4, 6}, {6, 3}}, {{2, 4, 6}, {6, 3}}, {{2, 4, 6}, {2, 6, 3}}} {
		add(opCase{floats: true}, fmt.Sprintf("matmul as %v", shapes), &opMatmulAs.op, func(in []*Tensor) *Tensor { return in[0].MatmulAs(Float32, in[1]) }, shapes[0], shapes[1])
	}
	add(opCase{floats: true}, "custom", &opCustom.op, func(in []*Tensor) *Tensor {
		return Apply(Function{Name: "product", Forward: func(in []*Tensor) (*Tensor, []*Tensor) {
			return in[0].Mul(in[1]), in
		}, Gradient: func(saved []*Tensor, g *Tensor) []*Tensor {
			return []*Tensor{g.Mul(saved[1]), g.Mul(saved[0])}
		}}, in...)
	}, mat, mat)
	add(any_, "masked fill", &opMaskedFill.op, func(in []*Tensor) *Tensor { return in[0].MaskedFill(sixOn(in[0]).Remainder(2).Eq(0), 1) }, mat)
	add(any_, "where", &opWhere, func(in []*Tensor) *Tensor { return Where(sixOn(in[0]).Gt(2), in[0], in[1]) }, mat, []int{4, 1})
	add(any_, "masked select", nil, func(in []*Tensor) *Tensor { return in[0].MaskedSelect(sixOn(in[0]).Gt(2)) }, mat)
	add(any_, "index select", &opIndexSelect.op, func(in []*Tensor) *Tensor { return in[0].IndexSelect(1, ids(5, 0, 0, 4)) }, mat)
	add(any_, "embedding", nil, func(in []*Tensor) *Tensor { return in[0].Embedding(Of([]int{0, 3}, []int{3, 3})) }, mat)
	add(number, "cross entropy", &opCrossEntropy.op, func(in []*Tensor) *Tensor { return in[0].CrossEntropy(1, Of(0, 5, -100, 3), -100) }, mat)
	add(number, "cross entropy along 1", &opCrossEntropy.op, func(in []*Tensor) *Tensor {
		return in[0].CrossEntropy(1, Of([]int{0, 2, 1, 1}, []int{2, 7, 0, 7}), 7)
	}, cube)
	add(any_, "gather", &opGather.op, func(in []*Tensor) *Tensor { return in[0].Gather(1, Of([]int{0, 5, 5}, []int{1, 1, 3})) }, mat)
	add(any_, "roll", nil, func(in []*Tensor) *Tensor { return in[0].Roll(1, 2) }, mat)
	add(any_, "pad", nil, func(in []*Tensor) *Tensor { return in[0].Pad(1, 2, 1, 1) }, mat)
	add(any_, "movedim", nil, func(in []*Tensor) *Tensor { return in[0].Movedim(0, 2) }, cube)
	add(number, "outer", nil, func(in []*Tensor) *Tensor { return in[0].Outer(in[1]) }, vec, []int{4})
	add(number, "bmm", nil, func(in []*Tensor) *Tensor { return in[0].Bmm(in[1]) }, cube, []int{2, 4, 3})
	pairs := Of([]int{0, 5, 5}, []int{1, 1, 3})
	add(any_, "scatter", &opScatter.op, func(in []*Tensor) *Tensor { return in[0].Scatter(1, pairs, in[1]) }, mat, []int{2, 4})
	add(any_, "scatter add", nil, func(in []*Tensor) *Tensor { return in[0].ScatterAdd(1, pairs, in[1]) }, mat, []int{2, 3})
	for name, rule := range map[string]ScatterRule{"scatter sum": ScatterSum, "scatter product": ScatterProd, "scatter max": ScatterMax, "scatter min": ScatterMin.WithoutSelf()} {
		var o []*op
		if rule != ScatterSum {
			o = append(o, &opScatterFold.op)
		}
		add(any_, name, nil, func(in []*Tensor) *Tensor { return in[0].ScatterReduce(1, pairs, in[1], rule) }, mat, []int{2, 3})
		all[len(all)-1].ops = o
	}
	add(opCase{floats: true}, "scatter mean", nil, func(in []*Tensor) *Tensor { return in[0].ScatterReduce(1, pairs, in[1], ScatterMean) }, mat, []int{2, 3})
	add(any_, "index add", nil, func(in []*Tensor) *Tensor { return in[0].IndexAdd(1, []int{5, 0, 0}, in[1]) }, mat, []int{4, 3})
	add(any_, "index by tensors", nil, func(in []*Tensor) *Tensor { return in[0].Index(ids(1, 0, 1), All, Of([]int{0, 3, 2})) }, cube)
	slices.SortStableFunc(all, func(a, b opCase) int { // ranging over maps must not change the order of random draws
		switch {
		case a.name < b.name:
			return -1
		case a.name > b.name:
			return 1
		}
		return 0
	})
	return all
})

// TestEveryOperationIsInTheTable: those that are only the gradient of another
// are reached through it.
func TestEveryOperationIsInTheTable(t *testing.T) {
	listed := map[*op]bool{&opUnview.op: true, &opSpread.op: true, &opIndexAdd.op: true, &opScatterAdd.op: true, &opPick.op: true, &opUnpick.op: true, &opPut.op: true, &opReLUGradient: true, &opLayerNormGradient.op: true, &opRMSNormGradient.op: true, &opSiLUGradient: true, &opAttentionGradient.op: true, &opCrossEntropyGradient.op: true, &opRecompute.op: true}
	for _, c := range opTable() {
		for _, o := range c.ops {
			listed[o] = true
		}
	}
	for _, o := range ops {
		if !listed[o] {
			t.Errorf("operation %q has no row: in internal/elementwise if it is elementwise, else in opTable", o.name)
		}
	}
}

// inputs returns random inputs of a dtype.
func (c opCase) inputs(dtype Dtype, seed uint64) []*Tensor {
	low, high := c.low, c.high
	if low == high {
		low, high = -2, 2
	}
	in := make([]*Tensor, len(c.shapes))
	g := NewGenerator(seed)
	for i, shape := range c.shapes {
		in[i] = With(Float64, g).Uniform(low, high, shape...)
		if dtype != Float64 {
			if !dtype.IsFloat() {
				in[i] = in[i].Round()
			}
			if dtype == Uint8 {
				in[i] = in[i].Abs()
			}
			in[i] = in[i].To(dtype)
		}
	}
	return in
}

// dtypes returns those that a case is defined for.
func (c opCase) dtypes() []Dtype {
	all := []Dtype{Float32, Float64, Float16, BFloat16}
	if !c.floats {
		all = append(all, Int64, Int32, Int16, Int8, Uint8)
	}
	if c.bools {
		all = append(all, Bool)
	}
	return all
}

// relaid returns a tensor with the elements of x in another layout, chosen by
// draw from those that programs meet: as it is, transposed, cut out of a larger
// tensor, every other position.
func relaid(x *Tensor, draw func(n int, what string) int) *Tensor {
	x = x.Clone()
	switch rank := x.Dim(); draw(5, "layout") {
	case 1: // another order of axes in memory
		if rank < 2 {
			return x
		}
		a, b := draw(rank, "axis"), draw(rank, "axis")
		return x.Transpose(a, b).Contiguous().Transpose(a, b)
	case 2: // within a larger tensor
		if rank == 0 {
			return x
		}
		a := draw(rank, "axis")
		wide := Cat(a, x, x, x)
		return wide.Narrow(a, x.Size(a), x.Size(a))
	case 3: // every other position
		if rank == 0 {
			return x
		}
		a := draw(rank, "axis")
		pair := Stack(a+1, x.To(x.dtype), x).Flatten(a, a+1)
		return pair.Slice(a, 0, math.MaxInt, 2)
	case 4: // an offset that is no multiple of a vector
		return Cat(0, x.Reshape(-1).Narrow(0, 0, min(1, x.Len())), x.Reshape(-1)).Narrow(0, min(1, x.Len()), x.Len()).View(x.Shape()...)
	}
	return x
}

// TestEveryElementwiseOperationHasItsRow: what gives each element from that of one tensor or two, and is given nothing
// besides them, has a row in package elementwise instead of one here.
func TestEveryElementwiseOperationHasItsRow(t *testing.T) {
	rows := map[string]bool{}
	for i := range elementwise.Table {
		rows[elementwise.Table[i].Name] = true
	}
	for _, c := range opTable() {
		if len(c.ops) == 0 || rows[c.ops[0].name] {
			continue
		}
		used := watch(c.ops[0], func() { c.run(c.inputs(c.dtypes()[0], 1)) })
		if used == nil || used.attr != nil || len(used.in) > 2 {
			continue
		}
		if worksOnElements(used) {
			t.Errorf("%q is an elementwise operation: give it a row in internal/elementwise", c.ops[0].name)
		}
	}
}

// worksOnElements reports whether each element of the result depends on the elements at its place alone, and on nothing
// else: then turning the operands around turns the result around.
func worksOnElements(c *call) bool {
	in := slices.Clone(c.in)
	out := c.op.forward(c)
	for i, x := range in {
		if !sameShape(x, out) {
			y, err := try(func() *Tensor { return x.Expand(out.Shape()...) })
			if err != nil {
				return false
			}
			in[i] = y
		}
	}
	turned := &call{op: c.op}
	for _, x := range in {
		turned.in = append(turned.in, x.Reshape(-1).Flip(0))
	}
	got, err := try(func() *Tensor { return c.op.forward(turned) })
	return err == nil && sameShape(got, turned.in[0]) && AllClose(got, out.Reshape(-1).Flip(0), 1e-6, 1e-6)
}

// TestEveryOperationOnEveryLayout: the result depends on the elements alone.
func TestEveryOperationOnEveryLayout(t *testing.T) {
	for _, c := range opTable() {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := rapid.SampledFrom(c.dtypes()).Draw(t, "dtype")
				plain := c.inputs(d, 1)
				in := make([]*Tensor, len(plain))
				for i, x := range plain {
					in[i] = relaid(x, func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) })
					if !AllClose(in[i], x, 0, 0) {
						t.Fatalf("the layout changed the input: %v, want %v", in[i], x)
					}
				}
				got, want := c.run(in), c.run(plain)
				if got.dtype != want.dtype || !AllClose(got, want, 0, 0) {
					t.Fatalf("%s: inputs %v with strides %v give\n%v, contiguous ones\n%v", d, in[0], in[0].Strides(), got, want)
				}
				own := !slices.ContainsFunc(in, func(x *Tensor) bool { return x.storage == got.storage })
				if own && got.base != nil && want.base == nil {
					t.Fatalf("%s: inputs with strides %v give a view of nothing that anybody has", d, in[0].Strides())
				}
			})
		})
	}
}

func try(f func() *Tensor) (t *Tensor, err error) {
	err = Try(func() { t = f() })
	return t, err
}

// TestEveryOperationOnEveryDtype compares each dtype with float64. The error of
// a small float is that of rounding its result once, and that of a float32
// computation before.
func TestEveryOperationOnEveryDtype(t *testing.T) {
	for _, c := range opTable() {
		for _, d := range c.dtypes() {
			if d == Float64 || d == Bool {
				continue
			}
			in := c.inputs(d, 2)
			got, err := try(func() *Tensor { return c.run(in) })
			if err != nil {
				t.Errorf("%s of %s: %v", c.name, d, err)
				continue
			}
			wide := make([]*Tensor, len(in))
			for i, x := range in {
				wide[i] = x.To(Float64)
			}
			want := c.run(wide)
			switch {
			case got.dtype.IsFloat():
				tolerance := Finfo(got.dtype).Eps/2 + 2e-6
				if !AllClose(got.To(Float64), want, tolerance, tolerance) {
					t.Errorf("%s of %s:\n%v, in float64\n%v", c.name, d, got, want)
				}
			case formats[got.dtype].class == classInt && d == Uint8: // wraps around
			case !AllClose(got.To(Float64), want.To(got.dtype).To(Float64), 0, 0):
				t.Errorf("%s of %s:\n%v, in float64\n%v", c.name, d, got, want)
			}
		}
	}
}
