package elementwise

import (
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/naive"
)

type (
	meter = *naive.Meter
	array = *naive.Array
)

var inf = math.Inf(1)

// Table has one row for each operation.
var Table = []Op{
	// Arithmetic.
	{Name: "add", Method: "Add", Torch: "a + b", Timed: "fil", Bools: true, Twice: true,
		Value: two(meter.Plus), Slopes: pair(pass, pass), Smooth: zeros},
	{Name: "sub", Method: "Sub", Torch: "a - b", Timed: "fil", Twice: true,
		Value: two(meter.Minus), Slopes: pair(pass, func(m meter, _, _, _, g array) array { return m.Neg(g) }), Smooth: zeros},
	{Name: "mul", Method: "Mul", Torch: "a * b", Timed: "fil", Bools: true, Twice: true,
		Value: two(meter.Times), Slopes: pair(
			func(m meter, _, b, _, g array) array { return m.Mul(g, b) },
			func(m meter, a, _, _, g array) array { return m.Mul(g, a) }),
		Smooth: zeros},
	{Name: "div", Method: "Div", Torch: "a / b", Timed: "fi", Low: 0.5, High: 2, Twice: true, Result: Float,
		Value: two(meter.Over), Slopes: pair(
			func(m meter, _, b, _, g array) array { return m.Div(g, b) },
			func(m meter, a, b, _, g array) array { return m.Neg(m.Mul(g, m.Div(m.Div(a, b), b))) }),
		Smooth: []Point{{0, 2}, {0, -1}, {3, 0.1}}, Corners: []Corner{{Point{1, 0}, []float64{inf, -inf}}}},
	{Name: "pow", Method: "Pow", Torch: "c ** b", Timed: "f", Low: 1, High: 3, Twice: true,
		Value: function2(math.Pow), Slopes: pair(powerSlope, func(m meter, a, _, y, g array) array {
			return m.Mul(g, m.Mul(y, m.Call(math.Log, m.Fill(a, m.Where(naive.Equals, a, naive.Num(0)), 1))))
		}),
		Smooth:  []Point{{1, 0}, {2, 0}, {1, 1}, {3, -1}, {0.5, 2}},
		Corners: []Corner{{Point{0, 0}, []float64{0, 0}}, {Point{0, -1}, []float64{-inf, -inf}}, {Point{0, 2}, []float64{0, 0}}, {Point{0, 1}, []float64{1, 0}}},
		LeftOut: []Omission{{At: func(d string, p Point) bool { return isWhole(d) && p[1] < 0 }, Why: "both refuse integers to negative powers"}}},
	{Name: "maximum", Method: "Maximum", Torch: "torch.maximum(a, b)", Timed: "fil", Bools: true,
		Value: two(meter.Larger), Slopes: choice(naive.Greater),
		Smooth: []Point{{0, 1e-3}, {-1, -2}}, Corners: []Corner{{Point{2, 2}, []float64{0.5, 0.5}}}, LeftOut: notANumber},
	{Name: "minimum", Method: "Minimum", Torch: "torch.minimum(a, b)", Timed: "fil", Bools: true,
		Value: two(meter.Smaller), Slopes: choice(naive.Less),
		Smooth: []Point{{0, 1e-3}, {-1, -2}}, Corners: []Corner{{Point{0, 0}, []float64{0.5, 0.5}}}, LeftOut: notANumber},
	{Name: "floor divide", Method: "FloorDiv", Torch: "a // c", Timed: "fil", Low: 1, High: 4, Value: two(floor)},
	{Name: "truncating divide", Method: "TruncDiv", Torch: "torch.div(a, c, rounding_mode='trunc')", Timed: "fi", Low: 1, High: 4, Value: two(trunc),
		LeftOut: []Omission{{At: func(d string, p Point) bool { return isSmall(d) && p[1] == 0.1 }, Why: "PyTorch rounds the quotient to 16 bits before truncating it"}}},
	{Name: "remainder", Method: "Remainder", Torch: "a % c", Timed: "fil", Low: 1, High: 4,
		Value:  function2(func(a, b float64) float64 { return a - b*math.Floor(a/b) }),
		Slopes: modulo(floor), Smooth: []Point{{-2.5, 2}, {2.5, -2}, {0.5, 2}}, LeftOut: tooFarApart},
	{Name: "fmod", Method: "Fmod", Torch: "torch.fmod(a, c)", Timed: "fil", Low: 1, High: 4,
		Value: function2(math.Mod), Slopes: modulo(trunc), Smooth: []Point{{-2.5, 2}, {2.5, -2}, {0.5, 2}}, LeftOut: tooFarApart},
	{Name: "neg", Method: "Neg", Torch: "-a", Timed: "fil", Twice: true,
		Value: one(meter.Negative), Slopes: of(func(m meter, _, _, g array) array { return m.Neg(g) }), Smooth: everywhere},
	{Name: "abs", Method: "Abs", Torch: "a.abs()", Timed: "fil",
		Value: function(math.Abs), Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, m.Call(sign, x)) }),
		Smooth: at(1e-3, -1e-3), Corners: corners(0, at(0))},
	{Name: "sign", Method: "Sign", Torch: "a.sign()", Timed: "fil", Value: function(sign)},
	{Name: "square", Method: "Square", Torch: "a.square()", Timed: "fil", Twice: true,
		Value:  one(func(m meter, v float64) float64 { return m.Times(v, v) }),
		Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, m.Mul(x, naive.Num(2))) }), Smooth: everywhere},
	{Name: "reciprocal", Method: "Reciprocal", Torch: "c.reciprocal()", Timed: "f", Low: 0.5, High: 2, Twice: true, Result: Float,
		Value:  one(func(m meter, v float64) float64 { return m.Over(1, v) }),
		Slopes: of(func(m meter, _, y, g array) array { return m.Neg(m.Mul(g, m.Square(y))) }),
		Smooth: at(1, -1e-1, 1e3), Corners: corners(-inf, at(0))},

	// Comparisons and logic are not counted.
	{Name: "eq", Method: "Eq", Torch: "a == b", Timed: "filb", Bools: true, Result: Bool, Value: compares(naive.Equals)},
	{Name: "ne", Method: "Ne", Torch: "a != b", Timed: "filb", Bools: true, Result: Bool, Value: compares(func(a, b float64) bool { return a != b })},
	{Name: "lt", Method: "Lt", Torch: "a < b", Timed: "fil", Bools: true, Result: Bool, Value: compares(naive.Less)},
	{Name: "le", Method: "Le", Torch: "a <= b", Timed: "fil", Bools: true, Result: Bool, Value: compares(func(a, b float64) bool { return a <= b })},
	{Name: "gt", Method: "Gt", Torch: "a > b", Timed: "fil", Bools: true, Result: Bool, Value: compares(naive.Greater)},
	{Name: "ge", Method: "Ge", Torch: "a >= b", Timed: "fil", Bools: true, Result: Bool, Value: compares(func(a, b float64) bool { return a >= b })},
	{Name: "logical and", Method: "LogicalAnd", Torch: "torch.logical_and(a, b)", Timed: "fb", Bools: true, Result: Bool,
		Value: compares(func(a, b float64) bool { return a != 0 && b != 0 })},
	{Name: "logical or", Method: "LogicalOr", Torch: "torch.logical_or(a, b)", Timed: "fb", Bools: true, Result: Bool,
		Value: compares(func(a, b float64) bool { return a != 0 || b != 0 })},
	{Name: "logical xor", Method: "LogicalXor", Torch: "torch.logical_xor(a, b)", Timed: "fb", Bools: true, Result: Bool,
		Value: compares(func(a, b float64) bool { return (a != 0) != (b != 0) })},
	{Name: "logical not", Method: "LogicalNot", Torch: "torch.logical_not(a)", Timed: "fb", Bools: true, Result: Bool,
		Value: tests(func(v float64) bool { return v == 0 })},
	{Name: "isnan", Method: "IsNaN", Torch: "a.isnan()", Timed: "f", Result: Bool, Value: tests(math.IsNaN)},
	{Name: "isinf", Method: "IsInf", Torch: "a.isinf()", Timed: "f", Result: Bool, Value: tests(func(v float64) bool { return math.IsInf(v, 0) })},
	{Name: "isfinite", Method: "IsFinite", Torch: "a.isfinite()", Timed: "f", Result: Bool,
		Value: tests(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })},
	{Name: "and", Method: "And", Torch: "a & b", Timed: "ilb", Bits: true, Value: bits(func(a, b int64) int64 { return a & b })},
	{Name: "or", Method: "Or", Torch: "a | b", Timed: "ilb", Bits: true, Value: bits(func(a, b int64) int64 { return a | b })},
	{Name: "xor", Method: "Xor", Torch: "a ^ b", Timed: "ilb", Bits: true, Value: bits(func(a, b int64) int64 { return a ^ b })},
	{Name: "not", Method: "Not", Torch: "~a", Timed: "ilb", Bits: true, Value: bits(func(a, _ int64) int64 { return ^a })},

	// Functions.
	{Name: "sqrt", Method: "Sqrt", Torch: "c.sqrt()", Timed: "f", Low: 0.5, High: 2, Twice: true, Result: Float,
		Value: function(math.Sqrt), Slopes: of(func(m meter, _, y, g array) array { return m.Div(g, m.Mul(y, naive.Num(2))) }),
		Smooth: at(1, 1e-2, 1e3), Corners: corners(inf, at(0))},
	{Name: "rsqrt", Method: "Rsqrt", Torch: "c.rsqrt()", Timed: "f", Low: 0.5, High: 2, Twice: true, Result: Float,
		Value:  one(func(m meter, v float64) float64 { return m.Over(1, m.Apply(math.Sqrt, v)) }),
		Slopes: of(func(m meter, _, y, g array) array { return m.Mul(m.Mul(g, m.Mul(m.Mul(y, y), y)), naive.Num(-0.5)) }),
		Smooth: at(1, 1e-1, 1e3), Corners: corners(-inf, at(0))},
	{Name: "exp", Method: "Exp", Torch: "a.exp()", Timed: "f", Bools: true, Twice: true, Result: Float,
		Value: function(math.Exp), Slopes: of(func(m meter, _, y, g array) array { return m.Mul(g, y) }), Smooth: everywhere},
	{Name: "expm1", Method: "Expm1", Torch: "a.expm1()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Expm1), Slopes: of(func(m meter, _, y, g array) array { return m.Mul(g, m.Add(y, naive.Num(1))) }), Smooth: everywhere},
	{Name: "log", Method: "Log", Torch: "c.log()", Timed: "f", Low: 0.5, High: 3, Twice: true, Result: Float,
		Value: function(math.Log), Slopes: of(func(m meter, x, _, g array) array { return m.Div(g, x) }),
		Smooth: at(1, 1e-2, 1+1e-9, 1e3), Corners: corners(inf, at(0))},
	{Name: "log1p", Method: "Log1p", Torch: "c.log1p()", Timed: "f", Low: 0, High: 3, Twice: true, Result: Float,
		Value: function(math.Log1p), Slopes: of(func(m meter, x, _, g array) array { return m.Div(g, m.Add(x, naive.Num(1))) }),
		Smooth: at(0, 1e-9, -1e-9, -0.5, 30), Corners: corners(inf, at(-1))},
	{Name: "log2", Method: "Log2", Torch: "c.log2()", Timed: "f", Low: 0.5, High: 3, Twice: true, Result: Float,
		Value: function(math.Log2), Slopes: of(func(m meter, x, _, g array) array { return m.Div(g, m.Mul(x, naive.Num(math.Ln2))) }),
		Smooth: at(1, 1e-2, 1+1e-9, 1e3), Corners: corners(inf, at(0))},
	{Name: "sin", Method: "Sin", Torch: "a.sin()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Sin), Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, m.Call(math.Cos, x)) }), Smooth: everywhere},
	{Name: "cos", Method: "Cos", Torch: "a.cos()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Cos), Slopes: of(func(m meter, x, _, g array) array { return m.Neg(m.Mul(g, m.Call(math.Sin, x))) }), Smooth: everywhere},
	{Name: "tan", Method: "Tan", Torch: "a.tan()", Timed: "f", Low: -1.4, High: 1.4, Twice: true, Result: Float,
		Value: function(math.Tan), Slopes: of(func(m meter, _, y, g array) array { return m.Mul(g, m.Add(m.Square(y), naive.Num(1))) }), Smooth: at(0, 1e-9, 0.5, -0.5, 1, -1, 3, -3)},
	{Name: "asin", Method: "Asin", Torch: "a.asin()", Timed: "f", Low: -0.9, High: 0.9, Twice: true, Result: Float,
		Value: function(math.Asin), Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, inverseRoot(m, toOne(m, x))) }),
		Smooth: at(0, 1e-9, 0.5, -0.5, 0.99, -0.99), Corners: corners(inf, at(1, -1))},
	{Name: "acos", Method: "Acos", Torch: "a.acos()", Timed: "f", Low: -0.9, High: 0.9, Twice: true, Result: Float,
		Value: function(math.Acos), Slopes: of(func(m meter, x, _, g array) array { return m.Neg(m.Mul(g, inverseRoot(m, toOne(m, x)))) }),
		Smooth: at(0, 1e-9, 0.5, -0.5, 0.99, -0.99), Corners: corners(-inf, at(1, -1))},
	{Name: "atan", Method: "Atan", Torch: "a.atan()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Atan), Slopes: of(func(m meter, x, _, g array) array { return m.Div(g, m.Add(m.Square(x), naive.Num(1))) }),
		Smooth: everywhere},
	{Name: "sinh", Method: "Sinh", Torch: "a.sinh()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Sinh), Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, m.Call(math.Cosh, x)) }), Smooth: everywhere},
	{Name: "cosh", Method: "Cosh", Torch: "a.cosh()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Cosh), Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, m.Call(math.Sinh, x)) }), Smooth: everywhere},
	{Name: "asinh", Method: "Asinh", Torch: "a.asinh()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Asinh), Slopes: of(func(m meter, x, _, g array) array { return m.Mul(g, inverseRoot(m, m.Add(m.Square(x), naive.Num(1)))) }),
		Smooth: everywhere},
	{Name: "acosh", Method: "Acosh", Torch: "c.acosh()", Timed: "f", Low: 1.1, High: 3, Twice: true, Result: Float,
		Value: function(math.Acosh), Slopes: of(func(m meter, x, _, g array) array {
			return m.Mul(g, inverseRoot(m, m.Mul(m.Sub(x, naive.Num(1)), m.Add(x, naive.Num(1)))))
		}),
		Smooth: at(1.01, 2, 37), Corners: corners(inf, at(1)), LeftOut: []Omission{{At: func(_ string, p Point) bool { return p[0] == -1 }, Gradient: true,
			Why: "the function is NaN there, and the sign of an infinite gradient says nothing"}}},
	{Name: "atanh", Method: "Atanh", Torch: "a.atanh()", Timed: "f", Low: -0.9, High: 0.9, Twice: true, Result: Float,
		Value: function(math.Atanh), Slopes: of(func(m meter, x, _, g array) array { return m.Div(g, toOne(m, x)) }),
		Smooth: at(0, 1e-9, 0.5, -0.5, 0.99, -0.99), Corners: corners(inf, at(1, -1))},
	{Name: "atan2", Method: "Atan2", Torch: "torch.atan2(a, b)", Timed: "f", Twice: true, Result: Float,
		Value: function2(math.Atan2), Slopes: pair(
			func(m meter, a, b, _, g array) array { return m.Mul(g, overRadius(m, b, a, b)) },
			func(m meter, a, b, _, g array) array { return m.Neg(m.Mul(g, overRadius(m, a, a, b))) }),
		Smooth: []Point{{0, 2}, {2, 0}, {-1, 3}, {1, -3}, {-1, -1}, {1e2, 1e-3}}, Corners: []Corner{{Point{0, 0}, []float64{0, 0}}},
		LeftOut: []Omission{{At: func(d string, p Point) bool {
			return d == "float32" && (math.Abs(p[0]) == 3e38 || math.Abs(p[1]) == 3e38)
		}, Gradient: true,
			Why: "PyTorch's gradient times 3e38 overflows, and is NaN times 0"}}},
	{Name: "erf", Method: "Erf", Torch: "a.erf()", Timed: "f", Twice: true, Result: Float,
		Value: function(math.Erf), Slopes: of(func(m meter, x, _, g array) array {
			return m.Mul(m.Mul(g, m.Call(math.Exp, m.Neg(m.Square(x)))), naive.Num(2/math.Sqrt(math.Pi)))
		}),
		Smooth: everywhere},
	{Name: "floor", Method: "Floor", Torch: "a.floor()", Timed: "f", Low: 0.1, High: 0.9,
		Value: function(math.Floor), Slopes: constant, Smooth: at(0.25, -0.25), Corners: corners(0, at(1, 0.5))},
	{Name: "ceil", Method: "Ceil", Torch: "a.ceil()", Timed: "f", Low: 0.1, High: 0.9,
		Value: function(math.Ceil), Slopes: constant, Smooth: at(0.25, -0.25), Corners: corners(0, at(1, 0.5))},
	{Name: "round", Method: "Round", Torch: "a.round()", Timed: "f", Low: 0.6, High: 1.4,
		Value: function(math.RoundToEven), Slopes: constant, Smooth: at(0.25, -0.25), Corners: corners(0, at(1, 0.5))},
	{Name: "trunc", Method: "Trunc", Torch: "a.trunc()", Timed: "f", Low: 0.1, High: 0.9,
		Value: function(math.Trunc), Slopes: constant, Smooth: at(0.25, -0.25), Corners: corners(0, at(1, 0.5))},
	{Name: "logaddexp", Method: "Logaddexp", Torch: "torch.logaddexp(a, b)", Timed: "f", Twice: true, Result: Float,
		Value: two(func(m meter, a, b float64) float64 {
			return m.Apply(math.Log, m.Plus(m.Apply(math.Exp, a), m.Apply(math.Exp, b)))
		}),
		Slopes: pair(
			func(m meter, a, b, _, g array) array { return share(m, a, b, g) },
			func(m meter, a, b, _, g array) array { return share(m, b, a, g) }),
		Smooth: append(zeros, Point{3, 3}, Point{-800, 800}, Point{1e-9, 0}),
		Corners: []Corner{{Point{-inf, -inf}, []float64{0, 0}}, {Point{inf, inf}, []float64{0.5, 0.5}},
			{Point{inf, 1}, []float64{1, 0}}, {Point{-inf, 1}, []float64{0, 1}}},
		LeftOut: []Omission{floatsAlone, {At: func(_ string, p Point) bool { return p[0] == p[1] && math.IsInf(p[0], 0) }, Gradient: true,
			Why: "PyTorch's gradient is NaN: see docs/pytorch.md"}}},

	// Activations.
	{Name: "relu", Method: "ReLU", Torch: "a.relu()", Timed: "fi",
		Value: one(func(m meter, v float64) float64 { return m.Larger(v, 0) }), Slopes: of(func(m meter, _, y, g array) array { return m.Keep(g, y) }),
		Smooth: at(1e-3, -1e-3), Corners: corners(0, at(0))},
	{Name: "sigmoid", Method: "Sigmoid", Torch: "a.sigmoid()", Timed: "f", Twice: true, Result: Float,
		Value:  one(meter.Sigmoid),
		Slopes: of(func(m meter, _, y, g array) array { return m.Mul(g, m.Mul(y, m.Add(m.Neg(y), naive.Num(1)))) }), Smooth: everywhere},
	{Name: "tanh", Method: "Tanh", Torch: "a.tanh()", Timed: "f", Twice: true, Result: Float,
		Value:  function(math.Tanh),
		Slopes: of(func(m meter, _, y, g array) array { return m.Mul(g, m.Add(m.Neg(m.Square(y)), naive.Num(1))) }), Smooth: everywhere},
	{Name: "silu", Method: "SiLU", Torch: "F.silu(a)", Timed: "f", Twice: true, Result: Float,
		Value: one(silu), Slopes: of(func(m meter, x, _, g array) array {
			s := m.Each(0, func(v []float64) float64 { return m.Sigmoid(v[0]) }, x)
			return m.Mul(g, m.Mul(s, m.Add(m.Mul(m.Add(m.Neg(s), naive.Num(1)), x), naive.Num(1))))
		}),
		Smooth: everywhere, LeftOut: []Omission{floatsAlone, zeroTimesInfinity}},
	{Name: "swiglu", Method: "SwiGLU", Torch: "F.silu(a) * b", Timed: "f", Floats: true, Alike: true, Twice: true,
		Value: two(func(m meter, a, b float64) float64 { return m.Times(silu(m, a), b) }), Slopes: pair(
			func(m meter, a, b, _, g array) array { return m.SiLUSlope(m.Mul(g, b), a) },
			func(m meter, a, _, _, g array) array {
				return m.Mul(g, m.Each(0, func(v []float64) float64 { return silu(m, v[0]) }, a))
			}),
		Smooth: append(zeros, Point{2, 0.5}, Point{2, 2}, Point{2, -1}, Point{0, 0.5}, Point{0, -1}, Point{1, 0.5}, Point{-2, 2}), LeftOut: []Omission{zeroTimesInfinity,
			{At: func(d string, p Point) bool { return d != "float64" && p[0] <= -30 && math.Abs(p[1]) >= 1e8 }, Why: "PyTorch rounds the left factor to 0 first"}}},
	// ln(1 + e^x) as written: how forward avoids overflow is its own affair.
	{Name: "softplus", Method: "Softplus", Torch: "F.softplus(a)", Timed: "f", Twice: true, Result: Float,
		Value: one(func(m meter, v float64) float64 { return m.Apply(math.Log, m.Plus(1, m.Apply(math.Exp, v))) }),
		Slopes: of(func(m meter, x, _, g array) array {
			return m.Mul(g, m.Each(0, func(v []float64) float64 { return m.Sigmoid(v[0]) }, x))
		}),
		Smooth: everywhere, LeftOut: []Omission{floatsAlone}},
	// 20 is what the lecture, and most texts on rooflines, count for GELU: its inner function is not one FLOP but a
	// polynomial with a dozen.
	{Name: "gelu", Method: "GELU", Torch: "F.gelu(a)", Timed: "f", Twice: true, Result: Float, Usual: 20,
		Value: one(func(_ meter, v float64) float64 { return v / 2 * math.Erfc(-v/math.Sqrt2) }),
		Slopes: of(func(m meter, x, _, g array) array {
			below := m.Mul(m.Add(m.Call(math.Erf, m.Div(x, naive.Num(math.Sqrt2))), naive.Num(1)), naive.Num(0.5))
			density := m.Mul(m.Call(math.Exp, m.Mul(m.Square(x), naive.Num(-0.5))), naive.Num(1/math.Sqrt(2*math.Pi)))
			return m.Mul(g, m.Add(below, m.Mul(x, density)))
		}),
		Smooth: everywhere, LeftOut: []Omission{floatsAlone, zeroTimesInfinity,
			{At: func(_ string, p Point) bool { return p[0] == -30 || p[0] == 3e38 }, Why: "PyTorch's 1 + erf(x/√2) is 0 there, or its product overflows"}}},
	{Name: "gelu tanh", Method: "GELUTanh", Torch: "F.gelu(a, approximate='tanh')", Timed: "f", Twice: true, Result: Float, Usual: 20,
		Value: one(func(_ meter, v float64) float64 { return v / 2 * (1 + math.Tanh(slope*(v+cubic*v*v*v))) }),
		Slopes: of(func(m meter, x, _, g array) array {
			xx := m.Square(x)
			tanh := m.Call(math.Tanh, m.Mul(m.Mul(x, m.Add(m.Mul(xx, naive.Num(cubic)), naive.Num(1))), naive.Num(slope)))
			inner := m.Mul(m.Add(m.Mul(xx, naive.Num(3*cubic)), naive.Num(1)), naive.Num(slope))
			first := m.Mul(m.Add(tanh, naive.Num(1)), naive.Num(0.5))
			second := m.Mul(m.Mul(m.Mul(x, naive.Num(0.5)), m.Add(m.Neg(m.Square(tanh)), naive.Num(1))), inner)
			return m.Mul(g, m.Add(first, second))
		}),
		Smooth: everywhere, LeftOut: []Omission{floatsAlone, zeroTimesInfinity}},
}

// The constants of GELU's approximation.
const slope, cubic = 0.7978845608028654, 0.044715

// Points that serve many rows.
var (
	everywhere = at(0, math.Copysign(0, -1), 1e-9, -1e-9, 0.5, -0.5, 1, -1, 3, -3, 19.5, -19.5, 21, -21, 37, -37)
	zeros      = []Point{{0, 0}, {0, 2}, {2, 0}, {-1, 3}, {1e2, 1e-3}}
)

// at are points of operations on one operand.
func at(points ...float64) (all []Point) {
	for _, p := range points {
		all = append(all, Point{p})
	}
	return all
}

// corners are points at which an operation on one operand has one gradient.
func corners(want float64, at []Point) (all []Corner) {
	for _, p := range at {
		all = append(all, Corner{p, []float64{want}})
	}
	return all
}

// What PyTorch is not asked.
var (
	floatsAlone = Omission{At: func(d string, _ Point) bool { return isWhole(d) }, Why: "PyTorch has it only for floats; here integers give float32"}
	notANumber  = []Omission{{At: func(_ string, p Point) bool { return math.IsNaN(p[0]) || math.IsNaN(p[1]) }, Gradient: true,
		Why: "beside NaN PyTorch gives the gradient to both operands"}}
	tooFarApart = []Omission{{At: func(d string, p Point) bool {
		q := math.Abs(p[0] / p[1])
		return !math.IsInf(p[0], 0) && p[1] != 0 && (d == "float64" && math.IsInf(q, 0) || d != "float64" && q > math.MaxFloat32)
	}, Why: "PyTorch's quotient overflows, and the rest is NaN"}}
	zeroTimesInfinity = Omission{At: func(d string, p Point) bool { return d != "float64" && math.IsInf(p[0], 0) },
		Why: "PyTorch multiplies infinity by 0, and returns NaN instead of the limit"}
)

func isWhole(dtype string) bool {
	return slices.Contains([]string{"int64", "int32", "uint8", "bool"}, dtype)
}
func isSmall(dtype string) bool { return dtype == "float16" || dtype == "bfloat16" }

// Values of one number and of two; function is one call to a function of package math.

func one(f func(m meter, v float64) float64) Value {
	return func(m meter, v []float64) float64 { return f(m, v[0]) }
}

func two(f func(m meter, a, b float64) float64) Value {
	return func(m meter, v []float64) float64 { return f(m, v[0], v[1]) }
}

func function(f func(float64) float64) Value {
	return one(func(m meter, v float64) float64 { return m.Apply(f, v) })
}

func function2(f func(a, b float64) float64) Value {
	return two(func(m meter, a, b float64) float64 { return m.Apply2(f, a, b) })
}

func compares(holds func(a, b float64) bool) Value {
	return two(func(_ meter, a, b float64) float64 { return naive.Truth(holds(a, b)) })
}

func tests(holds func(v float64) bool) Value {
	return one(func(_ meter, v float64) float64 { return naive.Truth(holds(v)) })
}

func bits(f func(a, b int64) int64) Value {
	return func(_ meter, v []float64) float64 { return float64(f(int64(v[0]), int64(v[len(v)-1]))) }
}

func floor(m meter, a, b float64) float64 { return m.Apply(math.Floor, m.Over(a, b)) }
func trunc(m meter, a, b float64) float64 { return m.Apply(math.Trunc, m.Over(a, b)) }
func silu(m meter, v float64) float64     { return m.Times(v, m.Sigmoid(v)) }
func sign(v float64) float64              { return naive.Truth(v > 0) - naive.Truth(v < 0) }

// Gradients of one operand and of two.

func of(f func(m meter, x, y, g array) array) []Gradient {
	return []Gradient{func(m meter, in []array, y, g array) array { return f(m, in[0], y, g) }}
}

func pair(left, right func(m meter, a, b, y, g array) array) []Gradient {
	return []Gradient{
		func(m meter, in []array, y, g array) array { return left(m, in[0], in[1], y, g) },
		func(m meter, in []array, y, g array) array { return right(m, in[0], in[1], y, g) },
	}
}

func pass(_ meter, _, _, _, g array) array { return g }

// constant is the gradient of a constant: zeros, computed by no operation.
var constant = of(func(_ meter, x, _, _ array) array { return naive.New(x.Shape, x.Size) })

// choice gives the gradient to the operand that wins, and half of it to each if none does.
func choice(wins func(a, b float64) bool) []Gradient {
	share := func(m meter, mine, other, g array) array {
		half := m.Mul(m.Fill(g, m.Where(func(a, b float64) bool { return a != b }, mine, other), 0), naive.Num(0.5))
		return m.Choose(m.Where(wins, mine, other), g, half)
	}
	return pair(
		func(m meter, a, b, _, g array) array { return share(m, a, b, g) },
		func(m meter, a, b, _, g array) array { return share(m, b, a, g) })
}

// inverseRoot is 1/√x, and toOne is 1-x² as (1-x)(1+x).
func inverseRoot(m meter, x array) array {
	return m.Each(0, func(v []float64) float64 { return m.Over(1, m.Apply(math.Sqrt, v[0])) }, x)
}

func toOne(m meter, x array) array {
	return m.Mul(m.Add(m.Neg(x), naive.Num(1)), m.Add(x, naive.Num(1)))
}

// overRadius is x/(a²+b²), and 0 where both are 0.
func overRadius(m meter, x, a, b array) array {
	r := m.Add(m.Square(a), m.Square(b))
	return m.Div(x, m.Fill(r, m.Where(naive.Equals, r, naive.Num(0)), inf))
}

// modulo is the gradient of a - b·quotient.
func modulo(quotient func(m meter, a, b float64) float64) []Gradient {
	return pair(pass, func(m meter, a, b, _, g array) array {
		q := m.Each(0, func(v []float64) float64 { return quotient(m, v[0], v[1]) }, a, b)
		return m.Neg(m.Mul(g, q))
	})
}

// powerSlope is the gradient of aᵇ with respect to a. Where a power is 0, the base is checked first, so that 0 is not
// raised to -1.
func powerSlope(m meter, a, b, _, g array) array {
	base := a
	if slices.Contains(b.Values, 0) {
		below, above := m.Where(naive.Less, a, naive.Num(0)), m.Where(naive.Greater, a, naive.Num(0))
		either := m.Where(func(p, q float64) bool { return p != 0 || q != 0 }, below, above)
		corner := m.And(m.Where(naive.Equals, b, naive.Num(0)), m.Not(either))
		base = m.Fill(a, corner, 1)
	}
	raised := m.Each(0, func(v []float64) float64 { return m.Apply2(math.Pow, v[0], v[1]) }, base, m.Sub(b, naive.Num(1)))
	return m.Mul(g, m.Mul(b, raised))
}

// share is the fraction of the sum eᵃ+eᵇ that comes from a, times g.
func share(m meter, a, b, g array) array {
	return m.Mul(g, m.Each(0, func(v []float64) float64 { return m.Sigmoid(v[0]) }, m.Sub(a, b)))
}
