//go:build linux && cgo

package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// The operations of package tensor on the fake driver beside the processor: what
// only copies, compares or counts must give the same bits, functions may differ
// in the last places.

// agreements are the tests that run on the fake driver and, where there is one,
// on a real device.
var agreements = []struct {
	name string
	test func(t *testing.T, dev tensor.Device)
}{
	{"map", mapAgrees}, {"convert", convertAgrees}, {"codes", codesAgree}, {"copy", copyAgrees}, {"zip", zipAgrees}, {"in place", inPlaceAgrees}, {"choose", chooseAgrees},
	{"reduce", reduceAgrees}, {"rows", rowsAgree}, {"sort", sortAgrees}, {"gather", gatherAgrees}, {"random", randomAgrees}, {"update", updateAgrees}, {"updates", updatesAgree}, {"plain matmul", plainMatmulAgrees}, {"cross entropy", crossEntropyAgrees},
	{"activations", activationsAgree}, {"packed", packedAgrees}, {"packed runs", packedRunsAgree}, {"scatter", scatterAgrees}, {"added in order", addedInOrderAgrees}, {"norms", normsAgree}, {"softmax", softmaxAgrees},
}

func TestOperationsAgree(t *testing.T) {
	fakeCard(t)
	for _, a := range agreements {
		t.Run(a.name, func(t *testing.T) { a.test(t, GetDevice(0)) })
	}
}

func TestRealGPUOperationsAgree(t *testing.T) {
	realCard(t)
	for _, a := range agreements {
		t.Run(a.name, func(t *testing.T) { a.test(t, GetDevice(0)) })
	}
}

// hard are values at which conversions and functions have something to decide.
var hard = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -7.25, 100, -100, 1e-3, 0x1p-24, 0x1p-25, 3e-8, 1e-40, -1e-45, 65504, 65519, 65520, -65536, 448, 464, 465, 57344, 61440,
	61441, 127, 128, 255, 256, -129, 32768, 1e9, 2147483648, -2147483649, 1e15, 3e18, math.Inf(1), math.Inf(-1), math.NaN(), 0x1.fffffep127, 88, -88, 104, -104, 9.5, -9.5, 20, -20}

// numbers returns n numbers in a dtype: hard ones, if asked for, then normal ones.
func numbers(dtype tensor.Dtype, n int, withHard bool, seed uint64) *tensor.Tensor {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make([]float64, n)
	for i := range all {
		all[i] = random.NormFloat64() * 3
		if withHard && i < len(hard) {
			all[i] = hard[i]
		}
		if !dtype.IsFloat() {
			all[i] = math.Trunc(all[i] * 10)
			if all[i] != all[i] || math.Abs(all[i]) > 1e15 {
				all[i] = 17
			}
			if dtype == tensor.Uint8 {
				all[i] = math.Abs(all[i])
			}
		}
	}
	return tensor.With(tensor.Float64).Of(all).To(dtype)
}

// ulps is how far two numbers are apart in last places of a dtype: those of the
// number that is wanted, or of scale if that is larger.
func ulps(got, want, scale float64, d tensor.Dtype) float64 {
	if got == want || got != got && want != want {
		return 0
	}
	info := tensor.Finfo(d)
	size := math.Abs(want)
	if math.IsInf(want, 0) || math.IsInf(got, 0) || got != got || want != want {
		// One rounding may lie beyond the largest number and the other not.
		if math.Abs(got) >= info.Max && size >= info.Max && got*want > 0 {
			return 1
		}
		return math.Inf(1)
	}
	_, exponent := math.Frexp(max(size, scale))
	unit := math.Max(math.Ldexp(info.Eps, exponent-1), info.SmallestSubnormal)
	return math.Abs(got-want) / unit
}

// same checks that two tensors hold the same, to so many last places. With 0 the
// bits must be equal, but for those of NaN and the sign of 0.
func same(t *testing.T, name string, got, want *tensor.Tensor, allowed float64) {
	t.Helper()
	near(t, name, got, want, allowed, 0)
}

// near is same for results of a scale: what is small among them was made of what
// is not.
func near(t *testing.T, name string, got, want *tensor.Tensor, allowed, scale float64) {
	t.Helper()
	if got.Dtype() != want.Dtype() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s: got %s %v, want %s %v", name, got.Dtype(), got.Shape(), want.Dtype(), want.Shape())
		return
	}
	got = got.To(tensor.CPU)
	if !want.Dtype().IsFloat() {
		if g, w := got.Ints(), want.Ints(); !slices.Equal(g, w) {
			for i := range g {
				if g[i] != w[i] {
					t.Errorf("%s: element %d of %v is %d, want %d", name, i, want.Shape(), g[i], w[i])
					return
				}
			}
		}
		return
	}
	g, w := got.Floats(), want.Floats()
	worst, at := 0.0, -1
	for i := range g {
		if u := ulps(g[i], w[i], scale, want.Dtype()); u > worst {
			worst, at = u, i
		}
		if allowed == 0 && g[i] == 0 && w[i] == 0 && math.Signbit(g[i]) != math.Signbit(w[i]) {
			worst, at = 1, i
		}
	}
	if worst > allowed {
		t.Errorf("%s: element %d of %v is %g, want %g: %.3g last places, %g allowed", name, at, want.Shape(), g[at], w[at], worst, allowed)
	}
}

var floats = []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2}

func mapAgrees(t *testing.T, dev tensor.Device) {
	for _, row := range []struct {
		name    string
		allowed float64 // last places of float32 and float64; small floats get one
		f       func(x *tensor.Tensor) *tensor.Tensor
	}{
		{"neg", 0, (*tensor.Tensor).Neg},
		{"abs", 0, (*tensor.Tensor).Abs},
		{"sign", 0, (*tensor.Tensor).Sign},
		{"square", 0, (*tensor.Tensor).Square},
		{"reciprocal", 0, (*tensor.Tensor).Reciprocal},
		{"sqrt", 0, (*tensor.Tensor).Sqrt},
		{"log", 4, (*tensor.Tensor).Log},
		{"exp", 4, (*tensor.Tensor).Exp},
		{"expm1", 4, (*tensor.Tensor).Expm1},
		{"log1p", 4, (*tensor.Tensor).Log1p},
		{"log2", 16, (*tensor.Tensor).Log2},
		{"rsqrt", 4, (*tensor.Tensor).Rsqrt},
		{"sin", 4, (*tensor.Tensor).Sin},
		{"cos", 4, (*tensor.Tensor).Cos},
		{"tan", 4, (*tensor.Tensor).Tan},
		{"asin", 4, (*tensor.Tensor).Asin},
		{"acos", 4, (*tensor.Tensor).Acos},
		{"atan", 4, (*tensor.Tensor).Atan},
		{"sinh", 4, (*tensor.Tensor).Sinh},
		{"cosh", 4, (*tensor.Tensor).Cosh},
		{"asinh", 4, (*tensor.Tensor).Asinh},
		{"acosh", 4, (*tensor.Tensor).Acosh},
		{"atanh", 4, (*tensor.Tensor).Atanh},
		{"erf", 4, (*tensor.Tensor).Erf},
		{"tanh", 6, (*tensor.Tensor).Tanh},
		{"sigmoid", 8, (*tensor.Tensor).Sigmoid},
		{"relu", 0, (*tensor.Tensor).ReLU},
		{"silu", 8, (*tensor.Tensor).SiLU},
		{"softplus", 4, (*tensor.Tensor).Softplus},
		{"gelu", 16, (*tensor.Tensor).GELU},
		{"gelu tanh", 100, (*tensor.Tensor).GELUTanh},
		{"floor", 0, (*tensor.Tensor).Floor},
		{"ceil", 0, (*tensor.Tensor).Ceil},
		{"round", 0, (*tensor.Tensor).Round},
		{"trunc", 0, (*tensor.Tensor).Trunc},
		{"isnan", 0, (*tensor.Tensor).IsNaN},
		{"isinf", 0, (*tensor.Tensor).IsInf},
		{"isfinite", 0, (*tensor.Tensor).IsFinite},
		{"logical not", 0, (*tensor.Tensor).LogicalNot},
		{"clamp", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.Clamp(-1.5, 2) }},
		{"clamp below", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.Clamp(3, math.Inf(1)) }},
		{"saturate", 0, func(x *tensor.Tensor) *tensor.Tensor { return x.ToSaturating(tensor.Float8E4M3) }},
	} {
		for _, dtype := range floats {
			x := numbers(dtype, 301, true, 1)
			allowed := row.allowed
			if allowed > 0 && dtype != tensor.Float32 && dtype != tensor.Float64 {
				allowed = 1
			}
			for layout, view := range map[string]func(*tensor.Tensor) *tensor.Tensor{
				"contiguous": func(x *tensor.Tensor) *tensor.Tensor { return x },
				"strided":    func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 1, 300).View(3, 4, 25).Permute(1, 2, 0) },
				"broadcast":  func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, 7).View(7, 1).Expand(7, 5) },
			} {
				same(t, fmt.Sprint(row.name, " of ", layout, " ", dtype), row.f(view(x.To(dev))), row.f(view(x)), allowed)
			}
		}
	}
	for _, dtype := range []tensor.Dtype{tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8} {
		x := numbers(dtype, 123, true, 2)
		for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
			"neg": (*tensor.Tensor).Neg, "abs": (*tensor.Tensor).Abs, "sign": (*tensor.Tensor).Sign, "square": (*tensor.Tensor).Square, "relu": (*tensor.Tensor).ReLU,
			"floor": (*tensor.Tensor).Floor, "isnan": (*tensor.Tensor).IsNaN, "isinf": (*tensor.Tensor).IsInf, "isfinite": (*tensor.Tensor).IsFinite, "not": (*tensor.Tensor).Not,
			"logical not": (*tensor.Tensor).LogicalNot, "clamp": func(x *tensor.Tensor) *tensor.Tensor { return x.Clamp(-20, 5) },
		} {
			same(t, name+" of "+dtype.String(), f(x.To(dev)), f(x), 0)
		}
		same(t, "sqrt of "+dtype.String(), x.To(dev).Sqrt(), x.Sqrt(), 0)
	}
	mask := tensor.Of(0, 1, 1, 0, 1).To(tensor.Bool)
	same(t, "not of bool", mask.To(dev).Not(), mask.Not(), 0)
}

func convertAgrees(t *testing.T, dev tensor.Device) {
	for _, from := range tensor.Dtypes() {
		x := numbers(from, 1003, true, 3)
		if from == tensor.Float32 { // around every float32 with few bits, where small floats round
			var more []float64
			for upper := range 1 << 16 {
				if upper>>7&0xff == 0xff {
					continue
				}
				for _, lower := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
					more = append(more, float64(math.Float32frombits(uint32(upper)<<16|lower)))
				}
			}
			x = tensor.With(tensor.Float64).Of(more).To(tensor.Float32)
		}
		there := x.To(dev)
		for _, to := range tensor.Dtypes() {
			same(t, fmt.Sprint(from, " to ", to), there.To(to), x.To(to), 0)
			part := there.Narrow(0, 1, 1000).View(40, 25).Transpose(0, 1)
			same(t, fmt.Sprint(from, " to ", to, ", strided"), part.To(to), x.Narrow(0, 1, 1000).View(40, 25).Transpose(0, 1).To(to), 0)
		}
	}
}

// codesAgree reads every code of the small floats, and writes it again.
func codesAgree(t *testing.T, dev tensor.Device) {
	for _, dtype := range []tensor.Dtype{tensor.Float16, tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2} {
		n := 1 << (8 * dtype.Size())
		memory := make([]byte, n*dtype.Size())
		for code := range n {
			memory[code*dtype.Size()] = byte(code)
			if dtype.Size() == 2 {
				memory[2*code+1] = byte(code >> 8)
			}
		}
		x := tensor.Wrap(memory, dtype, n)
		there := x.To(dev)
		wide := there.To(tensor.Float32)
		same(t, dtype.String()+" to float32", wide, x.To(tensor.Float32), 0)
		same(t, dtype.String()+" to float64", there.To(tensor.Float64), x.To(tensor.Float64), 0)
		same(t, dtype.String()+" and back", wide.To(dtype), x, 0)
	}
}

// copyAgrees moves elements of all sizes between all kinds of layouts.
func copyAgrees(t *testing.T, dev tensor.Device) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32, tensor.BFloat16, tensor.Int16, tensor.Uint8} {
		x := numbers(dtype, 3*40*35, false, 4).View(3, 40, 35)
		there := x.To(dev)
		for name, view := range map[string]func(*tensor.Tensor) *tensor.Tensor{
			"transposed":        func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(1, 2) },
			"outer axis last":   func(x *tensor.Tensor) *tensor.Tensor { return x.Permute(1, 2, 0) },
			"middle axis first": func(x *tensor.Tensor) *tensor.Tensor { return x.Permute(1, 0, 2) },
			"reversed":          func(x *tensor.Tensor) *tensor.Tensor { return x.Flip(1) },
			"part":              func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(2, 3, 20).Narrow(1, 1, 30) },
			"part, transposed":  func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(2, 3, 20).Narrow(1, 1, 30).Transpose(1, 2) },
			"repeated":          func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 5, 1).Expand(3, 40, 35) },
			"repeated, transposed": func(x *tensor.Tensor) *tensor.Tensor {
				return x.View(3, 1, 40, 35).Expand(3, 4, 40, 35).Transpose(2, 3)
			},
			"aligned part": func(x *tensor.Tensor) *tensor.Tensor { return x.View(-1).Narrow(0, 16, 64) },
			"odd part":     func(x *tensor.Tensor) *tensor.Tensor { return x.View(-1).Narrow(0, 7, 333) },
		} {
			same(t, fmt.Sprint(name, " ", dtype), view(there).Contiguous().Clone(), view(x).Contiguous(), 0)
		}
		// The other way: into a part of a tensor, beside which nothing may change.
		for name, view := range map[string]func(*tensor.Tensor) *tensor.Tensor{
			"into a part":      func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(2, 1, 33) },
			"into a transpose": func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(0, 2) },
			"into a column":    func(x *tensor.Tensor) *tensor.Tensor { return x.Select(2, 4) },
		} {
			want, got := x.Clone(), there.Clone()
			for _, to := range []*tensor.Tensor{want, got} {
				v := view(to)
				v.CopyFrom(numbers(dtype, v.Len(), false, 5).View(v.Shape()...).To(to.Device()))
			}
			same(t, fmt.Sprint(name, " ", dtype), got, want, 0)
			for _, to := range []*tensor.Tensor{want, got} {
				view(to).Fill(3)
			}
			same(t, fmt.Sprint("3 ", name, " ", dtype), got, want, 0)
		}
	}
}

func zipAgrees(t *testing.T, dev tensor.Device) {
	type row struct {
		name    string
		allowed float64
		whole   bool // defined for integers
		f       func(x, y *tensor.Tensor) *tensor.Tensor
	}
	method := func(f func(*tensor.Tensor, any) *tensor.Tensor) func(x, y *tensor.Tensor) *tensor.Tensor {
		return func(x, y *tensor.Tensor) *tensor.Tensor { return f(x, y) }
	}
	for _, row := range []row{
		{"add", 0, true, method((*tensor.Tensor).Add)},
		{"sub", 0, true, method((*tensor.Tensor).Sub)},
		{"mul", 0, true, method((*tensor.Tensor).Mul)},
		{"div", 0, true, method((*tensor.Tensor).Div)},
		{"pow", 8, false, method((*tensor.Tensor).Pow)},
		{"whole power", 8, true, func(x, y *tensor.Tensor) *tensor.Tensor { return x.Pow(y.Abs().Clamp(0, 3)) }},
		{"eq", 0, true, method((*tensor.Tensor).Eq)},
		{"ne", 0, true, method((*tensor.Tensor).Ne)},
		{"lt", 0, true, method((*tensor.Tensor).Lt)},
		{"le", 0, true, method((*tensor.Tensor).Le)},
		{"gt", 0, true, method((*tensor.Tensor).Gt)},
		{"ge", 0, true, method((*tensor.Tensor).Ge)},
		{"logical and", 0, true, method((*tensor.Tensor).LogicalAnd)},
		{"logical or", 0, true, method((*tensor.Tensor).LogicalOr)},
		{"logical xor", 0, true, method((*tensor.Tensor).LogicalXor)},
		{"floor divide", 0, true, method((*tensor.Tensor).FloorDiv)},
		{"truncating divide", 0, true, method((*tensor.Tensor).TruncDiv)},
		{"remainder", 0, true, method((*tensor.Tensor).Remainder)},
		{"fmod", 0, true, method((*tensor.Tensor).Fmod)},
		{"maximum", 0, true, method((*tensor.Tensor).Maximum)},
		{"minimum", 0, true, method((*tensor.Tensor).Minimum)},
		{"masked fill", 0, true, func(x, y *tensor.Tensor) *tensor.Tensor { return x.MaskedFill(y.Gt(0), -3) }},
		{"add number", 0, true, func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(3) }},
		{"number less", 0, true, func(x, y *tensor.Tensor) *tensor.Tensor { return tensor.Number(2).To(x.Dtype()).Sub(x) }},
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2, tensor.Int64, tensor.Int32, tensor.Int8, tensor.Uint8} {
			if !dtype.IsFloat() && !row.whole {
				continue
			}
			allowed := row.allowed
			if row.name == "pow" && dtype == tensor.Float64 {
				allowed = 256 // large exponents multiply what package math rounds
			}
			x, y := numbers(dtype, 300, true, 6), numbers(dtype, 300, true, 7).Flip(0)
			if dtype.IsFloat() { // equal ones as well
				y.Narrow(0, 50, 100).CopyFrom(x.Narrow(0, 50, 100))
			} else {
				y = y.MaskedFill(y.Eq(0), 3)
			}
			for name, pair := range map[string]func(x, y *tensor.Tensor) (a, b *tensor.Tensor){
				"":            func(x, y *tensor.Tensor) (a, b *tensor.Tensor) { return x, y },
				", broadcast": func(x, y *tensor.Tensor) (a, b *tensor.Tensor) { return x.View(4, 75), y.Narrow(0, 0, 75) },
				", strided": func(x, y *tensor.Tensor) (a, b *tensor.Tensor) {
					return x.View(4, 75).Transpose(0, 1), y.Narrow(0, 0, 75).View(75, 1)
				},
			} {
				a, b := pair(x, y)
				ta, tb := pair(x.To(dev), y.To(dev))
				same(t, fmt.Sprint(row.name, " of ", dtype, name), row.f(ta, tb), row.f(a, b), allowed)
			}
		}
	}
	for _, dtype := range []tensor.Dtype{tensor.Int64, tensor.Int16, tensor.Bool} {
		x, y := numbers(tensor.Int64, 100, false, 8).To(dtype), numbers(tensor.Int64, 100, false, 9).To(dtype)
		for name, f := range map[string]func(*tensor.Tensor, any) *tensor.Tensor{"and": (*tensor.Tensor).And, "or": (*tensor.Tensor).Or, "xor": (*tensor.Tensor).Xor} {
			same(t, name+" of "+dtype.String(), f(x.To(dev), y.To(dev)), f(x, y), 0)
		}
	}
	smallest := tensor.With(tensor.Int64).Of(math.MinInt64, 7, -7)
	minus := tensor.With(tensor.Int64).Of(-1, -1, 2)
	for name, f := range map[string]func(*tensor.Tensor, any) *tensor.Tensor{"floor divide": (*tensor.Tensor).FloorDiv, "fmod": (*tensor.Tensor).Fmod, "mul": (*tensor.Tensor).Mul, "remainder": (*tensor.Tensor).Remainder} {
		same(t, name+" by -1", f(smallest.To(dev), minus.To(dev)), f(smallest, minus), 0)
	}
	x, y := numbers(tensor.Float32, 6, false, 10), numbers(tensor.BFloat16, 6, false, 11)
	same(t, "float32 and bfloat16", x.To(dev).Add(y.To(dev)), x.Add(y), 0)
}

// inPlaceAgrees changes tensors in terms of themselves.
func inPlaceAgrees(t *testing.T, dev tensor.Device) {
	for name, f := range map[string]func(x *tensor.Tensor){
		"itself":        func(x *tensor.Tensor) { x.MulInPlace(x) },
		"its transpose": func(x *tensor.Tensor) { x.AddInPlace(x.Transpose(0, 1)) },
		"a row of it":   func(x *tensor.Tensor) { x.SubInPlace(x.Select(0, 3)) },
		"shifted":       func(x *tensor.Tensor) { x.Narrow(0, 1, 20).CopyFrom(x.Narrow(0, 0, 20)) },
		"its columns":   func(x *tensor.Tensor) { x.Transpose(0, 1).MulInPlace(2) },
		"a transposed part": func(x *tensor.Tensor) {
			x.Narrow(1, 2, 9).Transpose(0, 1).AddInPlace(x.Narrow(1, 4, 9).Transpose(0, 1))
		},
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16, tensor.Int64} {
			want := numbers(dtype, 21*21, false, 15).View(21, 21)
			got := want.Clone().To(dev)
			f(want)
			f(got)
			same(t, name+", "+dtype.String(), got, want, 0)
		}
	}
}

func chooseAgrees(t *testing.T, dev tensor.Device) {
	for _, dtype := range tensor.Dtypes() {
		x, y := numbers(dtype, 120, true, 12).View(3, 40), numbers(dtype, 120, false, 13).View(3, 40)
		mask := numbers(tensor.Float32, 40, false, 14).Gt(0)
		same(t, "where of "+dtype.String(), tensor.Where(mask.To(dev), x.To(dev), y.To(dev)), tensor.Where(mask, x, y), 0)
		same(t, "where of strided "+dtype.String(), tensor.Where(mask.To(dev).View(40, 1), x.To(dev).Transpose(0, 1), 2), tensor.Where(mask.View(40, 1), x.Transpose(0, 1), 2), 0)
	}
}

func reduceAgrees(t *testing.T, dev tensor.Device) {
	shapes := [][]int{{1}, {5, 33}, {0, 3}, {3, 1024}, {3, 70, 18}, {7}, {2, 3000}, {1100, 20}, {3, 0}, {40, 50}}
	type reduction struct {
		name    string
		allowed float64 // last places of the result, or of scale if that is larger
		scale   float64
		empty   bool // defined for nothing
		whole   bool
		f       func(x *tensor.Tensor, axes ...int) *tensor.Tensor
	}
	for _, row := range []reduction{
		{"sum", 0, 0, true, true, (*tensor.Tensor).Sum},
		{"mean", 0, 0, true, false, (*tensor.Tensor).Mean},
		{"prod", 3000, 0, true, false, func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Mul(0.01).Add(1).Prod(axes...) }},
		{"whole prod", 0, 0, true, true, func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Sign().Prod(axes...) }},
		{"max", 0, 0, false, true, (*tensor.Tensor).Max},
		{"min", 0, 0, false, true, (*tensor.Tensor).Min},
		{"norm", 1, 0, true, false, (*tensor.Tensor).Norm},
		{"logsumexp", 4, 10, true, false, (*tensor.Tensor).LogSumExp},
		{"var", 32, 10, true, false, (*tensor.Tensor).Var},
		{"std", 32, 3, true, false, (*tensor.Tensor).Std},
		{"any", 0, 0, true, true, func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Gt(5).Any(axes...) }},
		{"all", 0, 0, true, true, func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Gt(-5).All(axes...) }},
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Int8} {
			if !dtype.IsFloat() && !row.whole {
				continue
			}
			for i, shape := range shapes {
				if dtype != tensor.Float32 && i%3 != 1 {
					continue // the kernels differ in how they read alone
				}
				n := 1
				for _, size := range shape {
					n *= size
				}
				x := numbers(dtype, n, false, uint64(20+i)).View(shape...)
				there := x.To(dev)
				var ways [][]int
				if n > 0 || row.empty {
					ways = append(ways, nil)
				}
				for axis, size := range shape {
					if (n > 0 || row.empty) && n <= 1000*size { // else the fake driver takes long, and nothing is new
						ways = append(ways, []int{axis})
					}
				}
				if len(shape) == 3 {
					ways = append(ways, []int{0, 2}, []int{1, 2}, []int{0, 1})
				}
				for _, axes := range ways {
					name := fmt.Sprint(row.name, " of ", dtype, " ", shape, " over ", axes)
					near(t, name, row.f(there, axes...), row.f(x, axes...), row.allowed, row.scale)
				}
				if len(shape) == 2 && n > 0 && shape[1] < 2000 {
					near(t, fmt.Sprint(row.name, " of transposed ", dtype, " ", shape), row.f(there.Transpose(0, 1), 0), row.f(x.Transpose(0, 1), 0), row.allowed, row.scale)
					near(t, fmt.Sprint(row.name, " of repeated ", dtype, " ", shape), row.f(there.Narrow(0, 0, 1).Expand(3, shape[1]), 0), row.f(x.Narrow(0, 0, 1).Expand(3, shape[1]), 0), row.allowed, row.scale)
				}
			}
		}
	}
	for name, f := range map[string]func(x *tensor.Tensor, axis ...int) *tensor.Tensor{"argmax": (*tensor.Tensor).Argmax, "argmin": (*tensor.Tensor).Argmin, "max": (*tensor.Tensor).Max} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Int64, tensor.BFloat16} {
			x := numbers(dtype, 3*1300, false, 40).View(3, 1300)
			x.Narrow(1, 700, 5).Fill(90)
			x.Narrow(1, 800, 5).Fill(-90)
			same(t, fmt.Sprint(name, " of ", dtype), f(x.To(dev), 1), f(x, 1), 0)
			same(t, fmt.Sprint(name, " of columns of ", dtype), f(x.To(dev), 0), f(x, 0), 0)
			same(t, fmt.Sprint(name, " of all of ", dtype), f(x.To(dev)), f(x), 0)
			if dtype.IsFloat() {
				x.Narrow(1, 900, 2).Fill(math.NaN())
				same(t, fmt.Sprint(name, " of NaN and ", dtype), f(x.To(dev), 1), f(x, 1), 0)
			}
		}
	}
	infinite := tensor.Of(math.Inf(-1), math.Inf(-1))
	same(t, "logsumexp of -Inf", infinite.To(dev).LogSumExp(), infinite.LogSumExp(), 0)
	// More pieces than one block joins: a sum of more than a million elements.
	large := tensor.Arange(0, 1_300_000, 1).To(tensor.Float32).Mul(0.001)
	same(t, "a long sum", large.To(dev).Sum(), large.Sum(), 0)
}

func rowsAgree(t *testing.T, dev tensor.Device) {
	for _, row := range []struct {
		name    string
		allowed float64 // of eps times the largest element
		whole   bool
		f       func(x *tensor.Tensor, axis int) *tensor.Tensor
	}{
		{"softmax", 4, false, (*tensor.Tensor).Softmax},
		{"log softmax", 4, false, (*tensor.Tensor).LogSoftmax},
		{"cumsum", 100, true, (*tensor.Tensor).Cumsum},
		{"cumprod", 1000, false, func(x *tensor.Tensor, axis int) *tensor.Tensor { return x.Mul(0.01).Add(1).Cumprod(axis) }},
		{"whole cumprod", 0, true, func(x *tensor.Tensor, axis int) *tensor.Tensor { return x.Sign().Cumprod(axis) }},
		{"tril", 0, true, func(x *tensor.Tensor, axis int) *tensor.Tensor { return x.View(1, x.Size(0), x.Size(1)).Tril(axis - 1) }},
		{"triu", 0, true, func(x *tensor.Tensor, axis int) *tensor.Tensor { return x.Transpose(0, 1).Triu(axis) }},
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Uint8} {
			if !dtype.IsFloat() && !row.whole {
				continue
			}
			for i, shape := range [][]int{{5, 33}, {1, 1}, {3, 1100}, {40, 7}, {2, 4500}} {
				if dtype != tensor.Float32 && i > 0 {
					continue // the kernels differ in how they read alone
				}
				x := numbers(dtype, shape[0]*shape[1], false, 50).View(shape...)
				for axis := range 2 {
					if axis == 0 && shape[1] > 2000 {
						continue // a block for each of thousands of columns
					}
					want := row.f(x, axis)
					allowed := row.allowed
					if strings.HasPrefix(row.name, "cum") && dtype != tensor.Float64 {
						allowed = min(allowed, 1) // rounded once, from doubles
					}
					if allowed > 0 { // a running sum passes near 0, where its own last places say little
						got := row.f(x.To(dev), axis).To(tensor.CPU).To(tensor.Float64)
						worst := got.Sub(want.To(tensor.Float64)).Abs().Max().Item()
						if limit := allowed * tensor.Finfo(floatOr32(want.Dtype())).Eps * want.To(tensor.Float64).Abs().Max().Item(); worst > limit || worst != worst {
							t.Errorf("%s of %s %v along %d: wrong by %g, %g allowed", row.name, dtype, shape, axis, worst, limit)
						}
						continue
					}
					same(t, fmt.Sprint(row.name, " of ", dtype, " ", shape, " along ", axis), row.f(x.To(dev), axis), want, 0)
				}
			}
		}
	}
	near(t, "0.1 again and again", tensor.With(dev).Full(0.1, 100_000).Cumsum(0), tensor.Full(0.1, 100_000).Cumsum(0), 1, 0)
	extremes := tensor.Of(math.Inf(-1), 1.0, math.Inf(-1), 1000.0, math.Inf(-1), math.Inf(-1)).View(2, 3)
	same(t, "softmax with -Inf", extremes.To(dev).Softmax(1), extremes.Softmax(1), 1)
	masked := tensor.Of(math.Inf(-1), math.Inf(-1), 1.0, math.NaN()).View(2, 2)
	same(t, "softmax of nothing but -Inf, and of NaN", masked.To(dev).Softmax(1), masked.Softmax(1), 0)
}

// floatOr32 is the dtype whose last places count for sums of a dtype.
func floatOr32(d tensor.Dtype) tensor.Dtype {
	if d.IsFloat() {
		return d
	}
	return tensor.Float32
}

func sortAgrees(t *testing.T, dev tensor.Device) {
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Float16, tensor.Int64, tensor.Int8, tensor.Bool} {
		for _, shape := range [][]int{{1, 1}, {1, 2}, {3, 5}, {2, 100}, {1, 1024}, {2, 1500}, {1, 5000}, {70, 3}} {
			n := shape[0] * shape[1]
			x := numbers(dtype, n, n > 60, 60).Flip(0).View(shape...)
			if dtype == tensor.Float32 {
				x = x.Round() // many equal ones
			}
			for _, descending := range []bool{false, true} {
				for axis := range 2 {
					same(t, fmt.Sprint("argsort of ", dtype, " ", shape, " along ", axis, " ", descending), x.To(dev).Argsort(axis, descending), x.Argsort(axis, descending), 0)
				}
			}
		}
	}
	x := numbers(tensor.Float32, 400, false, 61).View(4, 100)
	values, at := x.TopK(1, 7)
	gotValues, gotAt := x.To(dev).TopK(1, 7)
	same(t, "values of the top 7", gotValues, values, 0)
	same(t, "positions of the top 7", gotAt, at, 0)
}

func gatherAgrees(t *testing.T, dev tensor.Device) {
	random := rand.New(rand.NewPCG(1, 2))
	positions := func(n, below int) *tensor.Tensor {
		at := make([]int, n)
		for i := range at {
			at[i] = random.IntN(below)
		}
		return tensor.With(tensor.Int64).Of(at)
	}
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32, tensor.BFloat16, tensor.Float8E4M3, tensor.Int64, tensor.Bool} {
		x := numbers(dtype, 4*50*12, false, 70).View(4, 50, 12)
		there := x.To(dev)
		index := positions(4*9*12, 50).View(4, 9, 12)
		same(t, "gather of "+dtype.String(), there.Gather(1, index), x.Gather(1, index), 0)
		same(t, "gather of strided "+dtype.String(), there.Transpose(0, 2).Gather(1, index.Transpose(0, 2)), x.Transpose(0, 2).Gather(1, index.Transpose(0, 2)), 0)
		ids := positions(33, 50)
		for axis, view := range []func(*tensor.Tensor) *tensor.Tensor{
			func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(0, 1) },
			func(x *tensor.Tensor) *tensor.Tensor { return x },
			func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(1, 2) },
		} {
			same(t, fmt.Sprint("index select of ", dtype, " along ", axis), view(there).IndexSelect(axis, ids), view(x).IndexSelect(axis, ids), 0)
		}
		if !dtype.IsFloat() {
			continue
		}
		// The gradients add into the same positions, many of them more than once.
		for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
			"gather":       func(x *tensor.Tensor) *tensor.Tensor { return x.Gather(1, index) },
			"index select": func(x *tensor.Tensor) *tensor.Tensor { return x.IndexSelect(1, ids) },
			"expand":       func(x *tensor.Tensor) *tensor.Tensor { return x.View(4, 1, 50, 12).Expand(4, 3, 50, 12) },
			"part":         func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 3, 30).Transpose(0, 1) },
		} {
			grads := make([]*tensor.Tensor, 2)
			for i, x := range []*tensor.Tensor{x, there} {
				x = x.Clone().RequireGrad()
				y := f(x)
				y.Mul(numbers(dtype, y.Len(), false, 71).View(y.Shape()...).To(y.Device())).Sum().Backward()
				grads[i] = x.Grad()
			}
			same(t, "gradient of "+name+" of "+dtype.String(), grads[1], grads[0], 0)
		}
	}
}

func randomAgrees(t *testing.T, dev tensor.Device) {
	whole := []tensor.Dtype{tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8}
	for name, c := range map[string]struct {
		f      func(m tensor.Maker, n int) *tensor.Tensor
		dtypes []tensor.Dtype
	}{
		"uniform":      {func(m tensor.Maker, n int) *tensor.Tensor { return m.Uniform(-2, 3, n) }, floats},
		"normal":       {func(m tensor.Maker, n int) *tensor.Tensor { return m.Normal(1, 2, n) }, floats},
		"trunc normal": {func(m tensor.Maker, n int) *tensor.Tensor { return m.TruncNormal(1, 2, -2, 3, n) }, floats},
		"bernoulli":    {func(m tensor.Maker, n int) *tensor.Tensor { return m.Bernoulli(0.3, n) }, slices.Concat(floats, whole, []tensor.Dtype{tensor.Bool})},
		"randint":      {func(m tensor.Maker, n int) *tensor.Tensor { return m.Randint(0, 9, n) }, slices.Concat(floats, whole)},
		"randperm":     {func(m tensor.Maker, n int) *tensor.Tensor { return m.Randperm(n) }, whole[:3]},
	} {
		for _, dtype := range c.dtypes {
			for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000} {
				for seed := range uint64(10) {
					g := func() *tensor.Generator {
						g := tensor.NewGenerator(1<<40 + seed).Stream("test")
						g.Uint64()
						return g
					}
					allowed, scale := 0.0, 0.0
					if name == "normal" { // sines and cosines differ in their last places
						allowed, scale = 4, 1
					}
					near(t, fmt.Sprint(name, " ", dtype, " ", n, " seed ", seed), c.f(tensor.With(dtype, dev, g()), n), c.f(tensor.With(dtype, g()), n), allowed, scale)
					if n == 1000 {
						break
					}
				}
			}
		}
	}
	same(t, "randint int64", tensor.With(dev, tensor.NewGenerator(3)).Randint(-1<<40, 1<<50, 33), tensor.With(tensor.NewGenerator(3)).Randint(-1<<40, 1<<50, 33), 0)
	got, want := tensor.With(dev).Zeros(5, 6), tensor.Zeros(5, 6)
	for _, x := range []*tensor.Tensor{got, want} {
		x.Transpose(0, 1).Narrow(1, 1, 3).UniformInPlace(0, 1, tensor.NewGenerator(5))
	}
	same(t, "uniform into a view", got, want, 0)
}

// updateAgrees trains a parameter with all optimizers, on both.
func updateAgrees(t *testing.T, dev tensor.Device) {
	for name, create := range map[string]func(p []tensor.NamedTensor) *optim.Optimizer{
		"sgd": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewSGD(p, 0.1, optim.WeightDecay(0.01)) },
		"momentum": func(p []tensor.NamedTensor) *optim.Optimizer {
			return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Dampening(0.1))
		},
		"nesterov": func(p []tensor.NamedTensor) *optim.Optimizer {
			return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Nesterov())
		},
		"adagrad":          func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdaGrad(p, 0.1) },
		"lecture adagrad":  func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewLectureAdaGrad(p, 0.1) },
		"rmsprop":          func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewRMSProp(p, 0.1) },
		"rmsprop momentum": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewRMSProp(p, 0.1, optim.Momentum(0.5)) },
		"rmsprop centered": func(p []tensor.NamedTensor) *optim.Optimizer {
			return optim.NewRMSProp(p, 0.1, optim.Centered(), optim.Momentum(0.5))
		},
		"adam":      func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdam(p, 0.1, optim.WeightDecay(0.1)) },
		"amsgrad":   func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdam(p, 0.1, optim.AMSGrad()) },
		"adamw":     func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdamW(p, 0.1) },
		"adam at 0": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdam(p, 0) },
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			var ends [2]*tensor.Tensor
			for i, on := range []tensor.Device{tensor.CPU, dev} {
				p := numbers(dtype, 700, false, 80).To(on).RequireGrad()
				o := create([]tensor.NamedTensor{{Name: "p", Tensor: p}})
				for step := range 3 {
					g := numbers(dtype, 700, false, uint64(81+step)).To(on)
					p.Mul(g).Sum().Backward()
					o.Step()
					o.ZeroGrad(true)
				}
				ends[i] = p.Detach()
			}
			same(t, name+" of "+dtype.String(), ends[1], ends[0], 0)
		}
	}
}

// updatesAgree trains more parameters than one launch takes, of sizes around what a block has, some of another dtype.
func updatesAgree(t *testing.T, dev tensor.Device) {
	sizes := []int{1, updatedByBlock - 1, updatedByBlock, updatedByBlock + 1, 3 * updatedByBlock, 0}
	var ends [2][]*tensor.Tensor
	for i, on := range []tensor.Device{tensor.CPU, dev} {
		var list []tensor.NamedTensor
		for k := range maxUpdated + 9 {
			n, dtype := k%7+1, tensor.Float32
			if k < len(sizes) {
				n = sizes[k]
			}
			if k == 8 || k == 9 || k == 40 {
				dtype = tensor.Float64
			} else if k%20 == 19 {
				dtype = tensor.BFloat16
			}
			list = append(list, tensor.NamedTensor{Name: fmt.Sprint("p", k), Tensor: numbers(dtype, n, false, uint64(k)).To(on).RequireGrad()})
		}
		o := optim.NewAdamW(list, 0.1)
		for step := range 2 {
			for k, p := range list {
				if k == 30 && step == 0 {
					o.AllowUnused() // it takes its first step with the second of the others
					continue
				}
				p.Tensor.Mul(numbers(p.Tensor.Dtype(), p.Tensor.Len(), false, uint64(100*step+k)).To(on)).Sum().Backward()
			}
			o.Step()
			o.ZeroGrad(true)
		}
		for _, p := range list {
			ends[i] = append(ends[i], p.Tensor.Detach())
		}
	}
	for k := range ends[0] {
		same(t, fmt.Sprint("parameter ", k), ends[1][k], ends[0][k], 0)
	}
}

// plainMatmulAgrees multiplies with our own kernel, whatever cuBLASLt can do.
func plainMatmulAgrees(t *testing.T, dev tensor.Device) {
	c, err := open(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []device.Type{device.Float32, device.Float64, device.BFloat16, device.Float16, device.Float8E4M3, device.Int64, device.Int8} {
		for _, row := range []struct {
			m, k, n int
			left    []int // the order of axes in memory
			right   []int
			shared  []int // batches that the right side shares
		}{
			{1, 1, 1, []int{0, 1, 2}, []int{0, 1, 2}, nil},
			{5, 3, 7, []int{0, 1, 2}, []int{0, 2, 1}, nil},
			{65, 17, 64, []int{0, 2, 1}, []int{0, 1, 2}, []int{0}},
			{3, 50, 130, []int{1, 2, 0}, []int{2, 1, 0}, nil},
		} {
			a := lying(t, c, kind, []int{2, row.m, row.k}, row.left, 1, 3)
			b := lying(t, c, kind, []int{2, row.k, row.n}, row.right, 0, 0, row.shared...)
			wide := device.Float32 // the sums are whole and small enough for it
			if kind == device.Float64 || kind == device.Int64 || kind == device.Int8 {
				wide = computeType(kind)
			}
			out := result(t, c, wide, 2, row.m, row.n)
			mustNot(t, c.plainMatmul(out, a.View, b.View))
			if got, want := values(t, c, out), productOf(a, b); !slices.Equal(got, want) {
				t.Errorf("%s of %dx%dx%d: got %.20v..., want %.20v...", namesOfTypes[kind], row.m, row.k, row.n, got[:1], want[:1])
			}
		}
	}
	mixed := lying(t, c, device.BFloat16, []int{6, 5}, []int{0, 1}, 0, 0)
	number := stored{device.View{Value: bitsOf(device.Float32, 3), Type: device.Float32, Shape: []int{5, 4}, Strides: []int{0, 0}}, []int{3}}
	out := result(t, c, device.Float32, 6, 4)
	mustNot(t, c.plainMatmul(out, mixed.View, number.View))
	if got, want := values(t, c, out), productOf(mixed, number); !slices.Equal(got, want) {
		t.Errorf("bfloat16 times a number: got %v, want %v", got, want)
	}
}
