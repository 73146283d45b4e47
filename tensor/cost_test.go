package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// costCase is a use of one operation and its naive twin, which computes the same
// values scalar by scalar and counts its steps: what the record of the operation
// says it costs must be that.
type costCase struct {
	opCase
	op   *op
	name string // of the operation, as it must be told to listeners

	result    func(Dtype) Dtype // the dtype of the result for that of the inputs
	forward   twin
	gradients []gradientTwin // with respect to each input; nil where there is none

	only   []Dtype // the dtypes to count for, if not float32 and float64
	usual  int     // FLOPs for each element that are a convention; the twin's are not compared
	inside bool    // the operation is told of as the operations in it
	first  int     // the input of the operation that is the first of the case
}

// twin computes the result of an operation.
type twin func(m *meter, in []*array) *array

// gradientTwin computes a gradient from the inputs, the result and the gradient
// with respect to that.
type gradientTwin func(m *meter, in []*array, y, g *array) *array

func sameAsInput(d Dtype) Dtype { return d }
func alwaysBool(Dtype) Dtype    { return Bool }
func alwaysInt64(Dtype) Dtype   { return Int64 }

func floatOf(d Dtype) Dtype {
	if d.IsFloat() {
		return d
	}
	return Float32
}

func sumOf(d Dtype) Dtype {
	if d.IsFloat() {
		return d
	}
	return Int64
}

// scalar1 and scalar2 are elementwise functions.
type (
	scalar1 func(m *meter, v float64) float64
	scalar2 func(m *meter, a, b float64) float64
)

// function is one call of a function of package math.
func function(f func(float64) float64) scalar1 {
	return func(m *meter, v float64) float64 { return m.call(f, v) }
}

func comparison(holds func(a, b float64) bool) scalar2 {
	return func(_ *meter, a, b float64) float64 { return loops.Truth[float64](holds(a, b)) }
}

// gradient of an operation with one input.
func ofOne(f func(m *meter, x, y, g *array) *array) gradientTwin {
	return func(m *meter, in []*array, y, g *array) *array { return f(m, in[0], y, g) }
}

func passOn(_ *meter, in []*array, _, g *array) *array { return g }

// nothingToDo is the gradient of what is constant: zeros, computed by no operation.
func nothingToDo(_ *meter, in []*array, _, g *array) *array {
	return newArray(in[0].shape, in[0].size)
}

// costTable is made when first asked for, like opTable.
var costTable = sync.OnceValue(func() []costCase {
	var all []costCase
	named := func(name string) opCase {
		for _, c := range opTable() {
			if c.name == name {
				return c
			}
		}
		panic("opTable has no row " + name)
	}
	// row adds a case that is a row of opTable.
	row := func(name, op string, result func(Dtype) Dtype, forward twin, gradients ...gradientTwin) *costCase {
		c := named(name)
		all = append(all, costCase{opCase: c, op: c.ops[0], name: op, result: result, forward: forward, gradients: gradients})
		return &all[len(all)-1]
	}
	// use adds a case of its own, for operations that are reached only through others.
	use := func(o *op, op string, run func(in []*Tensor) *Tensor, shapes [][]int, forward twin, gradients ...gradientTwin) *costCase {
		c := opCase{name: op, ops: []*op_{o}, shapes: shapes, run: run, floats: true}
		all = append(all, costCase{opCase: c, op: o, name: op, result: sameAsInput, forward: forward, gradients: gradients})
		return &all[len(all)-1]
	}
	one := func(name string, result func(Dtype) Dtype, f scalar1, gradients ...gradientTwin) *costCase {
		return row(name, name, result, func(m *meter, in []*array) *array {
			return m.each(sizeOf(result, in[0]), func(v []float64) float64 { return f(m, v[0]) }, in[0])
		}, gradients...)
	}
	two := func(name string, result func(Dtype) Dtype, f scalar2, gradients ...gradientTwin) *costCase {
		return row(name, name, result, func(m *meter, in []*array) *array {
			return m.each(sizeOf(result, in[0]), func(v []float64) float64 { return f(m, v[0], v[1]) }, in...)
		}, gradients...)
	}
	// Each of a pair of gradients is summed to the shape of its input.
	pair := func(left, right func(m *meter, a, b, y, g *array) *array) []gradientTwin {
		return []gradientTwin{
			func(m *meter, in []*array, y, g *array) *array {
				return m.sumTo(left(m, in[0], in[1], y, g), in[0].shape)
			},
			func(m *meter, in []*array, y, g *array) *array {
				return m.sumTo(right(m, in[0], in[1], y, g), in[1].shape)
			},
		}
	}
	pass := func(_ *meter, _, _, _, g *array) *array { return g }

	// Arithmetic.
	two("add", sameAsInput, (*meter).add, pair(pass, pass)...)
	two("sub", sameAsInput, (*meter).sub, pair(pass, func(m *meter, _, _, _, g *array) *array { return m.Neg(g) })...)
	two("mul", sameAsInput, (*meter).mul, pair(
		func(m *meter, _, b, _, g *array) *array { return m.Mul(g, b) },
		func(m *meter, a, _, _, g *array) *array { return m.Mul(g, a) })...)
	two("div", floatOf, (*meter).div, pair(
		func(m *meter, _, b, _, g *array) *array { return m.Div(g, b) },
		func(m *meter, a, b, _, g *array) *array { return m.Neg(m.Mul(g, m.Div(m.Div(a, b), b))) })...)
	power := func(m *meter, a, b *array) *array {
		return m.each(0, func(v []float64) float64 { return m.call2(math.Pow, v[0], v[1]) }, a, b)
	}
	two("pow", sameAsInput, func(m *meter, a, b float64) float64 { return m.call2(math.Pow, a, b) }, pair(
		func(m *meter, a, b, _, g *array) *array { return powerTwin(m, a, b, g) },
		func(m *meter, a, _, y, g *array) *array {
			return m.Mul(g, m.Mul(y, m.Call(math.Log, m.Fill(a, m.Where(equals, a, num(0)), 1))))
		})...)
	// Where a power is 0 the base is first looked at, lest 0 be raised to -1.
	use(&opPow, "pow", func(in []*Tensor) *Tensor {
		return in[0].Pow(in[1].Detach().MaskedFill(Of([]bool{false}, []bool{true}, []bool{false}), 0))
	}, [][]int{cube, {3, 1}},
		func(m *meter, in []*array) *array { return power(m, in[0], middleGone(in[1])) },
		func(m *meter, in []*array, _, g *array) *array { return powerTwin(m, in[0], middleGone(in[1]), g) }, nil)
	last := &all[len(all)-1]
	last.low, last.high = 1, 3
	choice := func(wins func(a, b float64) bool) []gradientTwin {
		share := func(m *meter, mine, other, g *array) *array {
			half := m.Mul(m.Mul(g, m.Where(equals, mine, other)), num(0.5))
			return m.Add(m.Mul(g, m.Where(wins, mine, other)), half)
		}
		return pair(
			func(m *meter, a, b, _, g *array) *array { return share(m, a, b, g) },
			func(m *meter, a, b, _, g *array) *array { return share(m, b, a, g) })
	}
	two("maximum", sameAsInput, (*meter).larger, choice(greater)...)
	two("minimum", sameAsInput, (*meter).smaller, choice(less)...)
	floor := func(m *meter, a, b float64) float64 { return m.call(math.Floor, m.div(a, b)) }
	trunc := func(m *meter, a, b float64) float64 { return m.call(math.Trunc, m.div(a, b)) }
	two("floor divide", sameAsInput, floor)
	two("truncating divide", sameAsInput, trunc)
	modulo := func(quotient scalar2) []gradientTwin {
		return pair(pass, func(m *meter, a, b, _, g *array) *array {
			q := m.each(0, func(v []float64) float64 { return quotient(m, v[0], v[1]) }, a, b)
			return m.Neg(m.Mul(g, q))
		})
	}
	two("remainder", sameAsInput, func(m *meter, a, b float64) float64 {
		return m.call2(func(a, b float64) float64 { return a - b*math.Floor(a/b) }, a, b)
	}, modulo(floor)...)
	two("fmod", sameAsInput, func(m *meter, a, b float64) float64 { return m.call2(math.Mod, a, b) }, modulo(trunc)...)
	one("neg", sameAsInput, (*meter).neg, ofOne(func(m *meter, _, _, g *array) *array { return m.Neg(g) }))
	sign := func(v float64) float64 { return loops.Truth[float64](v > 0) - loops.Truth[float64](v < 0) }
	one("abs", sameAsInput, function(math.Abs), ofOne(func(m *meter, x, _, g *array) *array { return m.Mul(g, m.Call(sign, x)) }))
	one("sign", sameAsInput, function(sign))
	one("square", sameAsInput, func(m *meter, v float64) float64 { return m.mul(v, v) },
		ofOne(func(m *meter, x, _, g *array) *array { return m.Mul(g, m.Mul(x, num(2))) }))
	one("reciprocal", floatOf, func(m *meter, v float64) float64 { return m.div(1, v) },
		ofOne(func(m *meter, _, y, g *array) *array { return m.Neg(m.Mul(g, m.Square(y))) }))

	// Comparisons and logic are not counted.
	two("eq", alwaysBool, comparison(equals))
	two("ne", alwaysBool, comparison(func(a, b float64) bool { return a != b }))
	two("lt", alwaysBool, comparison(less))
	two("le", alwaysBool, comparison(func(a, b float64) bool { return a <= b }))
	two("gt", alwaysBool, comparison(greater))
	two("ge", alwaysBool, comparison(func(a, b float64) bool { return a >= b }))
	both := func(a, b float64) bool { return a != 0 && b != 0 }
	either := func(a, b float64) bool { return a != 0 || b != 0 }
	differ := func(a, b float64) bool { return (a != 0) != (b != 0) }
	two("logical and", alwaysBool, comparison(both))
	two("logical or", alwaysBool, comparison(either))
	two("logical xor", alwaysBool, comparison(differ))
	test := func(holds func(float64) bool) scalar1 {
		return func(_ *meter, v float64) float64 { return loops.Truth[float64](holds(v)) }
	}
	one("logical not", alwaysBool, test(func(v float64) bool { return v == 0 }))
	one("isnan", alwaysBool, test(math.IsNaN))
	one("isinf", alwaysBool, test(func(v float64) bool { return math.IsInf(v, 0) }))
	one("isfinite", alwaysBool, test(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }))
	// Bits are operated on in whole numbers and masks.
	bits := func(o *op, name string, onBits func(a, b int64) int64, run func(in []*Tensor) *Tensor, shapes ...[]int) {
		c := use(o, name, run, shapes, func(m *meter, in []*array) *array {
			return m.each(0, func(v []float64) float64 {
				b := onBits(int64(v[0]), int64(v[len(v)-1]))
				if in[0].size == 1 { // the lowest bit is all that a bool has
					b &= 1
				}
				return float64(b)
			}, in...)
		})
		c.floats, c.bools, c.only = false, true, []Dtype{Int64, Bool}
	}
	bits(&opAnd, "and", func(a, b int64) int64 { return a & b }, func(in []*Tensor) *Tensor { return in[0].And(in[1]) }, cube, []int{3, 1})
	bits(&opOr, "or", func(a, b int64) int64 { return a | b }, func(in []*Tensor) *Tensor { return in[0].Or(in[1]) }, cube, []int{3, 1})
	bits(&opXor, "xor", func(a, b int64) int64 { return a ^ b }, func(in []*Tensor) *Tensor { return in[0].Xor(in[1]) }, cube, []int{3, 1})
	bits(&opNot, "not", func(a, _ int64) int64 { return ^a }, func(in []*Tensor) *Tensor { return in[0].Not() }, cube)

	// Functions.
	one("sqrt", floatOf, function(math.Sqrt), ofOne(func(m *meter, _, y, g *array) *array { return m.Div(g, m.Mul(y, num(2))) }))
	one("rsqrt", floatOf, func(m *meter, v float64) float64 { return m.div(1, m.call(math.Sqrt, v)) },
		ofOne(func(m *meter, _, y, g *array) *array {
			return m.Mul(m.Mul(g, m.Mul(m.Mul(y, y), y)), num(-0.5))
		}))
	one("exp", floatOf, function(math.Exp), ofOne(func(m *meter, _, y, g *array) *array { return m.Mul(g, y) }))
	one("expm1", floatOf, function(math.Expm1), ofOne(func(m *meter, _, y, g *array) *array { return m.Mul(g, m.Add(y, num(1))) }))
	one("log", floatOf, function(math.Log), ofOne(func(m *meter, x, _, g *array) *array { return m.Div(g, x) }))
	one("log1p", floatOf, function(math.Log1p), ofOne(func(m *meter, x, _, g *array) *array { return m.Div(g, m.Add(x, num(1))) }))
	one("log2", floatOf, function(math.Log2), ofOne(func(m *meter, x, _, g *array) *array { return m.Div(g, m.Mul(x, num(math.Ln2))) }))
	one("sin", floatOf, function(math.Sin), ofOne(func(m *meter, x, _, g *array) *array { return m.Mul(g, m.Call(math.Cos, x)) }))
	one("cos", floatOf, function(math.Cos), ofOne(func(m *meter, x, _, g *array) *array { return m.Neg(m.Mul(g, m.Call(math.Sin, x))) }))
	one("erf", floatOf, function(math.Erf), ofOne(func(m *meter, x, _, g *array) *array {
		return m.Mul(m.Mul(g, m.Call(math.Exp, m.Neg(m.Square(x)))), num(2/math.Sqrt(math.Pi)))
	}))
	for name, f := range map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "round": math.RoundToEven, "trunc": math.Trunc} {
		one(name, sameAsInput, function(f), nothingToDo)
	}
	one("clamp", sameAsInput, func(m *meter, v float64) float64 { return m.smaller(m.larger(v, -1), 1) },
		ofOne(func(m *meter, x, _, g *array) *array {
			within := m.And(m.Where(func(a, b float64) bool { return a >= b }, x, num(-1)), m.Where(func(a, b float64) bool { return a <= b }, x, num(1)))
			return m.Fill(g, m.Not(within), 0)
		}))

	// Activations.
	masked := func(m *meter, g, y *array) *array {
		return m.each(0, func(v []float64) float64 {
			if v[1] == 0 {
				return 0
			}
			return v[0]
		}, g, y)
	}
	one("relu", sameAsInput, func(m *meter, v float64) float64 { return m.larger(v, 0) },
		ofOne(func(m *meter, _, y, g *array) *array { return masked(m, g, y) }))
	use(&opReLUGradient, "relu gradient", func(in []*Tensor) *Tensor { return apply(&opReLUGradient, nil, in[0], in[1].ReLU()) }, [][]int{cube, cube},
		func(m *meter, in []*array) *array {
			return masked(m, in[0], (&meter{}).each(0, func(v []float64) float64 { return max(v[0], 0) }, in[1]))
		},
		func(m *meter, in []*array, _, g *array) *array {
			return masked(m, g, (&meter{}).each(0, func(v []float64) float64 { return max(v[0], 0) }, in[1]))
		}, nil)
	chosen := func(m *meter, above, x, y *array) *array {
		return m.each(x.size, func(v []float64) float64 {
			if v[0] != 0 {
				return v[1]
			}
			return v[2]
		}, above, x, y)
	}
	isAbove := func(m *meter, x *array) *array {
		return m.Where(func(a, b float64) bool { return a > b }, x, num(0))
	}
	one("nan to num", sameAsInput, func(_ *meter, v float64) float64 { return v }, ofOne(func(m *meter, x, _, g *array) *array {
		finite := m.Where(func(a, _ float64) bool { return a-a == 0 }, x, emptyOperand)
		return m.Fill(g, m.Not(finite), 0)
	}))
	row("leaky relu", "leaky relu", floatOf, func(m *meter, in []*array) *array {
		return m.each(0, func(v []float64) float64 { // the product is made of every element, and not always taken
			if below := m.mul(v[0], 0.1); v[0] <= 0 {
				return below
			}
			return v[0]
		}, in[0])
	}, ofOne(func(m *meter, x, _, g *array) *array { return chosen(m, isAbove(m, x), g, m.Mul(g, num(0.1))) }))
	row("elu", "elu", floatOf, func(m *meter, in []*array) *array {
		return m.each(0, func(v []float64) float64 {
			if below := m.mul(m.call(math.Expm1, v[0]), 0.7); v[0] <= 0 {
				return below
			}
			return v[0]
		}, in[0])
	}, ofOne(func(m *meter, x, _, g *array) *array {
		above := isAbove(m, x)
		return chosen(m, above, g, m.Mul(g, m.Mul(m.Call(math.Exp, m.Fill(x, above, 0)), num(0.7))))
	}))
	squash := func(m *meter, v float64) float64 { return m.div(1, m.add(1, m.call(math.Exp, m.neg(v)))) }
	one("sigmoid", floatOf, squash, ofOne(func(m *meter, _, y, g *array) *array {
		return m.Mul(g, m.Mul(y, m.Add(m.Neg(y), num(1))))
	}))
	one("tanh", floatOf, function(math.Tanh), ofOne(func(m *meter, _, y, g *array) *array {
		return m.Mul(g, m.Add(m.Neg(m.Square(y)), num(1)))
	}))
	one("silu", floatOf, func(m *meter, v float64) float64 { return m.mul(v, squash(m, v)) },
		ofOne(func(m *meter, x, _, g *array) *array {
			s := m.each(0, func(v []float64) float64 { return squash(m, v[0]) }, x)
			return m.Mul(g, m.Mul(s, m.Add(m.Mul(m.Add(m.Neg(s), num(1)), x), num(1))))
		}))
	// ln(1 + e^x) as it is written: how forward keeps from overflow is its own affair.
	one("softplus", floatOf, func(m *meter, v float64) float64 { return m.call(math.Log, m.add(1, m.call(math.Exp, v))) },
		ofOne(func(m *meter, x, _, g *array) *array {
			return m.Mul(g, m.each(0, func(v []float64) float64 { return squash(m, v[0]) }, x))
		}))
	// 20 is what the lecture, and most of what is written on rooflines, counts for
	// GELU: its inner function is not one FLOP but a polynomial of a dozen.
	one("gelu", floatOf, func(m *meter, v float64) float64 { return v / 2 * math.Erfc(-v/math.Sqrt2) },
		ofOne(func(m *meter, x, _, g *array) *array {
			below := m.Mul(m.Add(m.Call(math.Erf, m.Div(x, num(math.Sqrt2))), num(1)), num(0.5))
			density := m.Mul(m.Call(math.Exp, m.Mul(m.Square(x), num(-0.5))), num(1/math.Sqrt(2*math.Pi)))
			return m.Mul(g, m.Add(below, m.Mul(x, density)))
		})).usual = 20
	const slope, cubic = 0.7978845608028654, 0.044715
	one("gelu tanh", floatOf, func(m *meter, v float64) float64 { return v / 2 * (1 + math.Tanh(slope*(v+cubic*v*v*v))) },
		ofOne(func(m *meter, x, _, g *array) *array {
			xx := m.Square(x)
			tanh := m.Call(math.Tanh, m.Mul(m.Mul(x, m.Add(m.Mul(xx, num(cubic)), num(1))), num(slope)))
			inner := m.Mul(m.Add(m.Mul(xx, num(3*cubic)), num(1)), num(slope))
			first := m.Mul(m.Add(tanh, num(1)), num(0.5))
			second := m.Mul(m.Mul(m.Mul(x, num(0.5)), m.Add(m.Neg(m.Square(tanh)), num(1))), inner)
			return m.Mul(g, m.Add(first, second))
		})).usual = 20

	// Copies and conversions.
	copied := func(m *meter, in []*array) *array {
		return m.each(0, func(v []float64) float64 { return v[0] }, in[0])
	}
	row("clone", "clone", sameAsInput, copied, passOn)
	for _, f := range []func(x *Tensor) *Tensor{(*Tensor).Clone, (*Tensor).Contiguous} { // in the order of x, and in that of rows
		use(&opClone.op, "clone", func(in []*Tensor) *Tensor { return f(in[0].Transpose(0, 2)) }, [][]int{cube},
			func(m *meter, in []*array) *array { return copied(m, []*array{in[0].view([]int{4, 3, 2}, turned)}) },
			func(_ *meter, in []*array, _, g *array) *array { return g.view(cube, turned) })
	}
	row("straight through", "straight through", sameAsInput, copied, passOn)
	use(&opStraightThrough.op, "straight through", func(in []*Tensor) *Tensor { // only the value is read
		return StraightThrough(in[0].Expand(3, 4), in[1].Detach())
	}, [][]int{{1, 4}, {3, 4}}, func(m *meter, in []*array) *array { return copied(m, in[1:]) },
		func(_ *meter, in []*array, _, g *array) *array { return (&meter{}).sumTo(g, in[0].shape) }, nil)
	converted := func(m *meter, in []*array) *array {
		return m.each(8, func(v []float64) float64 { return v[0] }, in[0])
	}
	convertedBack := func(m *meter, in []*array, _, g *array) *array {
		return m.each(in[0].size, func(v []float64) float64 { return v[0] }, g)
	}
	float64Of := func(Dtype) Dtype { return Float64 }
	row("to", "to", float64Of, converted, convertedBack).only = []Dtype{Float32, BFloat16}
	row("to saturating", "to saturating", float64Of, converted, convertedBack).only = []Dtype{Float32, BFloat16}

	// Reductions of a [2 3 4] along axis 1, and over all.
	for name, axes := range map[string][]int{"all": nil, "an axis": {1}} {
		fold := func(start float64, step func(m *meter, acc, v float64) float64, size int) twin {
			return func(m *meter, in []*array) *array {
				bytes := size
				if size == 0 {
					bytes = in[0].size
				}
				return m.fold(in[0], axes, false, bytes, start, func(acc, v float64) float64 { return step(m, acc, v) }, nil)
			}
		}
		row("sum of "+name, "sum", sumOf, fold(0, (*meter).add, 0), ofOne(func(_ *meter, x, _, g *array) *array { return back(g, axes, x.shape) }))
		row("mean of "+name, "mean", sameAsInput, func(m *meter, in []*array) *array { return m.Mean(in[0], axes, false) },
			ofOne(func(m *meter, x, y, g *array) *array {
				return back(m.Div(g, num(float64(len(x.values)/len(y.values)))), axes, x.shape)
			}))
		row("prod of "+name, "prod", sumOf, fold(1, (*meter).mul, 0), ofOne(func(m *meter, x, _, g *array) *array {
			zero := m.Where(equals, x, num(0))
			safe := m.Fill(x, zero, 1)
			others := m.Div(m.fold(safe, axes, true, x.size, 1, m.mul, nil), safe)
			gone := m.Where(greater, m.Sum(zero, axes, true), zero)
			return m.Mul(back(g, axes, x.shape), m.Fill(others, gone, 0))
		}))
		extreme := ofOne(func(m *meter, x, y, g *array) *array {
			hit := m.Where(equals, x, back(y, axes, x.shape))
			ties := m.Sum(hit, axes, true)
			return m.each(x.size, func(v []float64) float64 { return m.div(v[0], v[1]) }, m.Mul(back(g, axes, x.shape), hit), ties)
		})
		row("max of "+name, "max", sameAsInput, fold(math.Inf(-1), (*meter).larger, 0), extreme)
		row("min of "+name, "min", sameAsInput, fold(math.Inf(1), (*meter).smaller, 0), extreme)
		spread := func(biased bool, finish scalar1) twin {
			return func(m *meter, in []*array) *array {
				return m.reduce(in[0], axes, false, in[0].size, func(run []float64) float64 {
					_, sum, _ := m.squares(run)
					v := m.div(sum, divisor(len(run), biased))
					if finish != nil {
						v = finish(m, v)
					}
					return v
				})
			}
		}
		centred := func(m *meter, x *array) *array { return m.Sub(x, m.Mean(x, axes, true)) }
		variance := func(biased bool) gradientTwin {
			return ofOne(func(m *meter, x, y, g *array) *array {
				n := divisor(len(x.values)/len(y.values), biased)
				return m.Mul(back(m.Mul(g, num(2/n)), axes, x.shape), centred(m, x))
			})
		}
		row("var of "+name, "var", sameAsInput, spread(false, nil), variance(false))
		row("biased var of "+name, "var", sameAsInput, spread(true, nil), variance(true))
		row("std of "+name, "std", sameAsInput, spread(false, function(math.Sqrt)), ofOne(func(m *meter, x, y, g *array) *array {
			n := divisor(len(x.values)/len(y.values), false)
			flat := m.Where(equals, y, num(0)) // masked twice, for the sake of the second derivative
			slope := m.Fill(m.Div(g, m.Fill(m.Mul(y, num(n)), flat, 1)), flat, 0)
			return m.Mul(back(slope, axes, x.shape), centred(m, x))
		}))
		row("norm of "+name, "norm", sameAsInput, func(m *meter, in []*array) *array {
			return m.fold(in[0], axes, false, in[0].size, 0, func(acc, v float64) float64 { return m.add(acc, m.mul(v, v)) },
				func(acc float64) float64 { return m.call(math.Sqrt, acc) })
		}, ofOne(func(m *meter, x, y, g *array) *array {
			zero := m.Where(equals, y, num(0))
			slope := m.Fill(m.Div(g, m.Fill(y, zero, 1)), zero, 0)
			return m.Mul(back(slope, axes, x.shape), x)
		}))
		row("logsumexp of "+name, "logsumexp", floatOf, func(m *meter, in []*array) *array {
			return m.reduce(in[0], axes, false, max(in[0].size, 4), func(run []float64) float64 {
				largest := m.largest(run)
				sum := 0.
				for _, v := range run {
					sum = m.add(sum, m.call(math.Exp, m.sub(v, largest)))
				}
				return m.add(largest, m.call(math.Log, sum))
			})
		}, ofOne(func(m *meter, x, y, g *array) *array {
			return m.Mul(back(g, axes, x.shape), m.Call(math.Exp, m.Sub(x, back(y, axes, x.shape))))
		}))
		row("all of "+name, "all", alwaysBool, fold(1, func(_ *meter, acc, v float64) float64 { return loops.Truth[float64](acc != 0 && v != 0) }, 1))
		row("any of "+name, "any", alwaysBool, fold(0, func(_ *meter, acc, v float64) float64 { return loops.Truth[float64](acc != 0 || v != 0) }, 1))
	}
	position := func(axes []int, better func(m *meter, a, b float64) float64, worst float64) twin {
		return func(m *meter, in []*array) *array {
			return m.reduce(in[0], axes, false, 8, func(run []float64) float64 {
				best, at := worst, 0
				for i, v := range run {
					if now := better(m, best, v); now != best {
						best, at = now, i
					}
				}
				return float64(at)
			})
		}
	}
	row("argmax", "argmax", alwaysInt64, position([]int{1}, (*meter).larger, math.Inf(-1)))
	row("argmin", "argmin", alwaysInt64, position(nil, (*meter).smaller, math.Inf(1)))

	// Along an axis, here 1 of a [2 3 4].
	along := func(f func(m *meter, row []float64) []float64) twin {
		return func(m *meter, in []*array) *array {
			return m.rows(1, func(rows [][]float64) []float64 { return f(m, rows[0]) }, in[0])
		}
	}
	fromEnd := func(m *meter, g *array) *array { return m.Flip(m.Cumsum(m.Flip(g, 1), 1), 1) }
	row("cumsum along 1", "cumsum", sumOf, func(m *meter, in []*array) *array { return m.Cumsum(in[0], 1) },
		ofOne(func(m *meter, _, _, g *array) *array { return fromEnd(m, g) }))
	row("cumprod along 1", "cumprod", sumOf, along(func(m *meter, row []float64) []float64 {
		product := 1.
		for i, v := range row {
			product = m.mul(product, v)
			row[i] = product
		}
		return row
	}), ofOne(func(m *meter, x, y, g *array) *array {
		m.fold(m.Where(equals, x, num(0)), nil, false, 1, 0, func(acc, v float64) float64 { return acc + v }, nil)
		return m.Div(fromEnd(m, m.Mul(g, y)), x)
	}))
	exponentials := func(m *meter, row []float64) (differences, exps []float64, sum float64) {
		largest := m.largest(row)
		for _, v := range row {
			d := m.sub(v, largest)
			e := m.call(math.Exp, d)
			differences, exps, sum = append(differences, d), append(exps, e), m.add(sum, e)
		}
		return differences, exps, sum
	}
	row("softmax along 1", "softmax", floatOf, along(func(m *meter, row []float64) []float64 {
		_, exps, sum := exponentials(m, row)
		for i, e := range exps {
			row[i] = m.div(e, sum)
		}
		return row
	}), ofOne(func(m *meter, _, y, g *array) *array {
		return m.Mul(y, m.Sub(g, m.Sum(m.Mul(g, y), []int{1}, true)))
	}))
	row("log softmax along 1", "log softmax", floatOf, along(func(m *meter, row []float64) []float64 {
		largest := max(row[0], slices.Max(row))
		_, _, sum := exponentials(m, row)
		log := m.add(largest, m.call(math.Log, sum))
		for i, v := range row {
			row[i] = m.sub(v, log)
		}
		return row
	}), ofOne(func(m *meter, _, y, g *array) *array {
		return m.Sub(g, m.Mul(m.Call(math.Exp, y), m.Sum(g, []int{1}, true)))
	}))
	// Rows whose target is -1 are not read.
	for name, targets := range map[string]*array{
		"cross entropy":         newArray([]int{4}, positionBytes, 0, 5, -1, 3),
		"cross entropy along 1": newArray([]int{2, 4}, positionBytes, 0, 2, 1, 1, 2, -1, 0, -1),
	} {
		ids := make([]int64, len(targets.values))
		for i, id := range targets.values {
			ids[i] = int64(id)
		}
		gradient := func(m *meter, g, x *array) *array { return crossEntropyGradientTwin(m, g, x, targets) }
		row(name, "cross entropy", floatOf, func(m *meter, in []*array) *array {
			return crossEntropyTwin(m, in[0], targets, sizeOf(floatOf, in[0]))
		}, ofOne(func(m *meter, x, _, g *array) *array { return gradient(m, g, x) }))
		use(&opCrossEntropyGradient.op, "cross entropy gradient", func(in []*Tensor) *Tensor {
			return apply(&opCrossEntropyGradient.op, classes{axis: 1, at: ids}, in...)
		}, [][]int{targets.shape, named(name).shapes[0]}, func(m *meter, in []*array) *array { return gradient(m, in[0], in[1]) })
	}
	row("flip along 1", "flip", sameAsInput, func(m *meter, in []*array) *array { return m.Flip(in[0], 1) },
		ofOne(func(m *meter, _, _, g *array) *array { return m.Flip(g, 1) }))
	use(&opArgsort.op, "argsort", func(in []*Tensor) *Tensor { return in[0].Argsort(1, false) }, [][]int{cube}, func(m *meter, in []*array) *array {
		ranks := m.rows(1, func(rows [][]float64) []float64 {
			at := []float64{0, 1, 2}
			slices.SortStableFunc(at, func(a, b float64) int {
				return int(loops.Truth[float64](rows[0][int(a)] > rows[0][int(b)]) - loops.Truth[float64](rows[0][int(a)] < rows[0][int(b)]))
			})
			return at
		}, in[0])
		m.bytes += (8 - ranks.size) * len(ranks.values)
		ranks.size = 8
		return ranks
	}).result = alwaysInt64
	all[len(all)-1].floats = false
	part := func(keep func(row, column int) bool) func(m *meter, x *array) *array {
		return func(m *meter, x *array) *array {
			return m.pass(x.shape, x.size, func(i int, read readElement) float64 {
				index, v := placeOf(i, x.shape), read(0, i)
				if n := len(index); keep(index[n-2], index[n-1]) {
					return v
				}
				return 0
			}, x)
		}
	}
	lower, upper := part(func(row, column int) bool { return column <= row-1 }), part(func(row, column int) bool { return column >= row+1 })
	row("tril", "tril", sameAsInput, func(m *meter, in []*array) *array { return lower(m, in[0]) }, ofOne(func(m *meter, _, _, g *array) *array { return lower(m, g) }))
	row("triu", "triu", sameAsInput, func(m *meter, in []*array) *array { return upper(m, in[0]) }, ofOne(func(m *meter, _, _, g *array) *array { return upper(m, g) }))

	// Layer norm over rows of 4.
	row("layer norm", "layer norm", sameAsInput, func(m *meter, in []*array) *array { return m.LayerNorm(in[0], in[1], in[2], 4, 1e-3) },
		func(m *meter, in []*array, _, g *array) *array { return layerNormGradientTwin(m, g, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			ones, zeros := newArray([]int{4}, g.size, 1, 1, 1, 1), newArray([]int{4}, g.size)
			return m.sumTo(m.Mul(g, m.LayerNorm(in[0], ones, zeros, 4, 1e-3)), in[1].shape)
		},
		func(m *meter, in []*array, _, g *array) *array { return m.sumTo(g, in[2].shape) })
	use(&opLayerNormGradient.op, "layer norm gradient", func(in []*Tensor) *Tensor {
		return apply(&opLayerNormGradient.op, rowNorm{1, 1e-3}, in...)
	}, [][]int{cube, cube, {4}}, func(m *meter, in []*array) *array { return layerNormGradientTwin(m, in[0], in[1], in[2]) })

	// Root mean squares over rows of 4.
	row("rms norm", "rms norm", sameAsInput, func(m *meter, in []*array) *array { return rmsNormTwin(m, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return rmsNormGradientTwin(m, g, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.sumTo(m.Mul(g, rmsNormTwin(m, in[0], newArray([]int{4}, g.size, 1, 1, 1, 1))), in[1].shape)
		})
	use(&opRMSNormGradient.op, "rms norm gradient", func(in []*Tensor) *Tensor {
		return apply(&opRMSNormGradient.op, rowNorm{1, 1e-3}, in...)
	}, [][]int{cube, cube, {4}}, func(m *meter, in []*array) *array { return rmsNormGradientTwin(m, in[0], in[1], in[2]) })

	// Gates, turns and attention.
	silu := func(m *meter, x *array) *array {
		return m.each(0, func(v []float64) float64 { return m.mul(v[0], squash(m, v[0])) }, x)
	}
	siluSlope := func(m *meter, g, x *array) *array {
		return m.each(0, func(v []float64) float64 {
			s := squash(m, v[1])
			return m.mul(v[0], m.mul(s, m.add(1, m.mul(v[1], m.sub(1, s)))))
		}, g, x)
	}
	row("swiglu", "swiglu", sameAsInput, func(m *meter, in []*array) *array {
		return m.each(0, func(v []float64) float64 { return m.mul(m.mul(v[0], squash(m, v[0])), v[1]) }, in...)
	}, func(m *meter, in []*array, _, g *array) *array { return siluSlope(m, m.Mul(g, in[1]), in[0]) },
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(g, silu(m, in[0])) })
	use(&opSiLUGradient, "silu gradient", func(in []*Tensor) *Tensor { return apply(&opSiLUGradient, nil, in...) }, [][]int{cube, cube},
		func(m *meter, in []*array) *array { return siluSlope(m, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return siluSlope(m, g, in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			s := m.each(0, func(v []float64) float64 { return squash(m, v[0]) }, in[1])
			rest := m.Add(m.Neg(s), num(1))
			return m.Mul(m.Mul(g, in[0]), m.Mul(m.Mul(s, rest), m.Add(m.Mul(in[1], m.Sub(rest, s)), num(2))))
		})
	sumOfExps := func(m *meter, a, b float64) float64 {
		return m.call(math.Log, m.add(m.call(math.Exp, a), m.call(math.Exp, b)))
	}
	apart := func(m *meter, a, b, g *array) *array {
		return m.Mul(g, m.each(0, func(v []float64) float64 { return squash(m, v[0]) }, m.Sub(a, b)))
	}
	two("logaddexp", floatOf, sumOfExps, pair(
		func(m *meter, a, b, _, g *array) *array { return apart(m, a, b, g) },
		func(m *meter, a, b, _, g *array) *array { return apart(m, b, a, g) })...)
	// Operations of three numbers: each gradient is summed to the shape of its input.
	three := func(name, op string, result func(Dtype) Dtype, f func(m *meter, a, b, c float64) float64, slopes ...func(m *meter, in []*array, g *array) *array) *costCase {
		var gradients []gradientTwin
		for i, slope := range slopes {
			gradients = append(gradients, func(m *meter, in []*array, _, g *array) *array { return m.sumTo(slope(m, in, g), in[i].shape) })
		}
		return row(name, op, result, func(m *meter, in []*array) *array {
			return m.each(sizeOf(result, in[0]), func(v []float64) float64 { return f(m, v[0], v[1], v[2]) }, in...)
		}, gradients...)
	}
	straight := func(_ *meter, _ []*array, g *array) *array { return g }
	between := func(m *meter, a, b, w float64) float64 { return m.add(a, m.mul(w, m.sub(b, a))) }
	three("lerp", "lerp", floatOf, between,
		func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Add(m.Neg(in[2]), num(1))) },
		func(m *meter, in []*array, g *array) *array { return m.Mul(g, in[2]) },
		func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Sub(in[1], in[0])) })
	quarter := num(0.25)
	row("lerp by a number", "lerp", floatOf, func(m *meter, in []*array) *array {
		return m.each(sizeOf(floatOf, in[0]), func(v []float64) float64 { return between(m, v[0], v[1], v[2]) }, in[0], in[1], quarter)
	}, func(m *meter, in []*array, _, g *array) *array {
		rest := m.Add(m.Neg(newArray(nil, 8, 0.25)), num(1))
		rest.number = true
		return m.sumTo(m.Mul(g, rest), in[0].shape)
	}, func(m *meter, in []*array, _, g *array) *array { return m.Mul(g, quarter) })
	for name, v := range map[string]float64{"addcmul": -2, "addcmul of half": 0.5} {
		result := sameAsInput
		if v == 0.5 {
			result = floatOf
		}
		three(name, "addcmul", result, func(m *meter, t, a, b float64) float64 { return m.add(t, m.mul(m.mul(v, a), b)) }, straight,
			func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Mul(in[2], num(v))) },
			func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Mul(in[1], num(v))) })
	}
	three("addcdiv", "addcdiv", floatOf, func(m *meter, t, a, b float64) float64 { return m.add(t, m.mul(1.5, m.div(a, b))) }, straight,
		func(m *meter, in []*array, g *array) *array { return m.Div(m.Mul(g, num(1.5)), in[2]) },
		func(m *meter, in []*array, g *array) *array {
			return m.Mul(m.Mul(g, m.Div(m.Div(in[1], in[2]), in[2])), num(-1.5))
		})
	turn := func(way float64) twin {
		return func(m *meter, in []*array) *array {
			return m.pass(cube, in[0].size, func(i int, read readElement) float64 {
				p := placeOf(i, cube)
				angle := p[1]*2 + p[2]/2
				cos, sin := read(1, angle), way*read(2, angle)
				if i%2 == 0 {
					return m.sub(m.mul(read(0, i), cos), m.mul(read(0, i+1), sin))
				}
				return m.add(m.mul(read(0, i-1), sin), m.mul(read(0, i), cos))
			}, in...)
		}
	}
	use(&opRotatePairs.op, "rotate pairs", func(in []*Tensor) *Tensor { return in[0].RotatePairs(in[1], in[2]) }, [][]int{cube, {3, 2}, {3, 2}}, turn(1),
		func(m *meter, in []*array, _, g *array) *array { return turn(-1)(m, []*array{g, in[1], in[2]}) }, nil, nil)
	use(&opAttentionGradient.op, "attention gradient", func(in []*Tensor) *Tensor {
		a := &attention{causal: true, scale: 1 / math.Sqrt(6)}
		checkAttention(in[1], in[2], in[3], AttentionSettings{})
		out, sums := attend(a, in[1:])
		return apply(&opAttentionGradient.op, a, append(slices.Clone(in), out, sums)...)
	}, [][]int{{1, 4, 3}, {1, 4, 6}, {1, 5, 6}, {1, 5, 3}}, func(m *meter, in []*array) *array {
		all := newArray([]int{24 + 30 + 15}, in[1].size)
		at := 0
		for i, g := range attentionTwin(m, in[1:], in[0], attentionSettings{causal: true}) {
			if i > 0 { // the first is the result
				at += copy(all.values[at:], g.values)
			}
		}
		return all
	})
	hidden := newArray([]int{4, 5}, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1)
	for name, a := range map[string]attentionSettings{
		"attention": {}, "attention, causal and grouped": {causal: true}, "attention, masked": {mask: hidden, scale: 0.7},
	} {
		c := row(name, "attention", sameAsInput, func(m *meter, in []*array) *array { return attentionTwin(m, in, nil, a)[0] })
		for i := range 3 {
			c.gradients = append(c.gradients, func(m *meter, in []*array, _, g *array) *array {
				if i > 0 { // all are computed with the first
					m = &meter{}
				}
				return attentionTwin(m, in, g, a)[i+1]
			})
		}
	}

	// Views cost nothing, and no more on the way back if nothing was left out. Where
	// positions coincide, elements are added.
	view := func(name, op string, to []int, from func(index []int) []int, gradient gradientTwin) {
		row(name, op, sameAsInput, func(_ *meter, in []*array) *array { return in[0].view(to, from) }, gradient)
	}
	renamed := func(to []int, from func(index []int) []int) gradientTwin {
		return func(_ *meter, in []*array, _, g *array) *array { return g.view(to, from) }
	}
	spread := func(adds bool, from func(index []int) []int) gradientTwin {
		return func(m *meter, in []*array, _, g *array) *array { return m.Into(g, in[0].shape, adds, from) }
	}
	view("transpose", "transpose", []int{4, 3, 2}, turned, renamed(cube, turned))
	view("permute", "permute", []int{4, 2, 3}, func(p []int) []int { return []int{p[1], p[2], p[0]} },
		renamed(cube, func(p []int) []int { return []int{p[2], p[0], p[1]} }))
	view("reshape", "view", []int{4, 6}, func(p []int) []int { return placeOf(flatOf(p, mat), cube) },
		renamed(cube, func(p []int) []int { return placeOf(flatOf(p, cube), mat) }))
	view("squeeze", "squeeze", []int{3, 2}, func(p []int) []int { return []int{p[0], 0, p[1]} },
		renamed([]int{3, 1, 2}, func(p []int) []int { return []int{p[0], p[2]} }))
	view("unsqueeze along 1", "unsqueeze", []int{2, 1, 3, 4}, func(p []int) []int { return []int{p[0], p[2], p[3]} },
		renamed(cube, func(p []int) []int { return []int{p[0], 0, p[1], p[2]} }))
	view("expand", "expand", cube, func(p []int) []int { return []int{p[1], 0} },
		func(m *meter, in []*array, _, g *array) *array { return m.sumTo(g, in[0].shape) })
	selected := func(p []int) []int { return []int{p[0], 1, p[1]} }
	view("select along 1", "select", []int{2, 4}, selected, spread(false, selected))
	second := func(p []int) []int { return []int{p[0], 2 * p[1], p[2]} }
	view("slice along 1", "slice", []int{2, 2, 4}, second, spread(false, second))
	diagonal := func(p []int) []int { return []int{p[0], p[0] + 1} }
	view("diagonal", "diagonal", []int{4}, diagonal, spread(false, diagonal))
	windows := func(p []int) []int { return []int{p[0], 2*p[1] + p[2]} }
	view("unfold", "unfold", []int{4, 2, 3}, windows, spread(true, windows))
	swapped := &relayout{do: transposed, undo: transposed, n: [4]int{0, 2}}
	use(&opUnview.op, "view backward", func(in []*Tensor) *Tensor { return apply(&opUnview.op, swapped, in[0]) }, [][]int{cube},
		func(_ *meter, in []*array) *array { return in[0].view([]int{4, 3, 2}, turned) }, renamed(cube, turned))
	use(&opUnview.op, "view backward", func(in []*Tensor) *Tensor {
		return apply(&opUnview.op, &relayout{do: viewed, undo: viewed, to: []int{24}, from: []int{4, 3, 2}}, in[0].Transpose(0, 2))
	}, [][]int{cube}, func(m *meter, in []*array) *array {
		return copied(m, []*array{in[0].view([]int{4, 3, 2}, turned)}).reshape(24)
	}, func(_ *meter, in []*array, _, g *array) *array { return g.reshape(4, 3, 2).view(cube, turned) })
	use(&opSpread.op, "spread", func(in []*Tensor) *Tensor {
		return apply(&opSpread.op, spread_{[]int{4, 6}, &relayout{do: unfolded, n: [4]int{1, 3, 2}}}, in[0])
	}, [][]int{{4, 2, 3}}, func(m *meter, in []*array) *array { return m.Into(in[0], mat, true, windows) },
		func(_ *meter, in []*array, _, g *array) *array { return g.view(in[0].shape, windows) })

	// Joining, choosing and picking.
	row("cat along 1", "cat", sameAsInput, func(m *meter, in []*array) *array {
		shape := []int{2, 9, 4}
		return m.pass(shape, in[0].size, func(i int, read readElement) float64 {
			p := placeOf(i, shape)
			return read(p[1]/3, flatOf([]int{p[0], p[1] % 3, p[2]}, cube))
		}, in...)
	}, catPart(0), catPart(3), catPart(6))
	even := newArray(vec, 1, 1, 0, 1, 0, 1, 0)
	row("masked fill", "masked fill", sameAsInput, func(m *meter, in []*array) *array { return m.Fill(in[0], even, 1) },
		ofOne(func(m *meter, _, _, g *array) *array { return m.Fill(g, even, 0) }))
	right := newArray(vec, 1, 0, 0, 0, 1, 1, 1)
	row("where", "where", sameAsInput, func(m *meter, in []*array) *array {
		return m.each(in[0].size, func(v []float64) float64 {
			if v[0] != 0 {
				return v[1]
			}
			return v[2]
		}, right, in[0], in[1])
	}, func(m *meter, in []*array, _, g *array) *array { return m.Fill(g, m.Not(right), 0) },
		func(m *meter, in []*array, _, g *array) *array { return m.sumTo(m.Fill(g, right, 0), in[1].shape) }).first = 1
	// Positions are read, too: 8 bytes for each.
	columns := newArray([]int{4}, 8, 5, 0, 0, 4)
	take := func(m *meter, x *array) *array {
		shape := []int{4, 4}
		return m.pass(shape, x.size, func(i int, read readElement) float64 {
			p := placeOf(i, shape)
			return read(0, flatOf([]int{p[0], int(read(1, p[1]))}, x.shape))
		}, x, columns)
	}
	addInto := func(m *meter, g *array) *array {
		m.bytes += 8 * len(columns.values)
		return m.Into(g, mat, true, func(p []int) []int { return []int{p[0], int(columns.values[p[1]])} })
	}
	row("index select", "index select", sameAsInput, func(m *meter, in []*array) *array { return take(m, in[0]) },
		ofOne(func(m *meter, _, _, g *array) *array { return addInto(m, g) }))
	use(&opIndexAdd.op, "index add", func(in []*Tensor) *Tensor { return apply(&opIndexAdd.op, selection{1, 6, []int64{5, 0, 0, 4}}, in[0]) }, [][]int{{4, 4}},
		func(m *meter, in []*array) *array { return addInto(m, in[0]) }, ofOne(func(m *meter, _, _, g *array) *array { return take(m, g) }))
	at := newArray([]int{2, 3}, 8, 0, 5, 5, 1, 1, 3)
	gather := func(m *meter, x *array) *array {
		return m.pass(at.shape, x.size, func(i int, read readElement) float64 {
			return read(0, flatOf([]int{placeOf(i, at.shape)[0], int(read(1, i))}, x.shape))
		}, x, at)
	}
	scatter := func(m *meter, g *array) *array {
		m.bytes += 8 * len(at.values)
		return m.Into(g, mat, true, func(p []int) []int { return []int{p[0], int(at.values[flatOf(p, at.shape)])} })
	}
	row("gather", "gather", sameAsInput, func(m *meter, in []*array) *array { return gather(m, in[0]) },
		ofOne(func(m *meter, _, _, g *array) *array { return scatter(m, g) }))
	use(&opScatterAdd.op, "scatter add", func(in []*Tensor) *Tensor {
		return apply(&opScatterAdd.op, gathering{1, Of([]int{0, 5, 5}, []int{1, 1, 3}), []int{4, 6}}, in[0])
	}, [][]int{{2, 3}}, func(m *meter, in []*array) *array { return scatter(m, in[0]) }, ofOne(func(m *meter, _, _, g *array) *array { return gather(m, g) }))

	intoSecond := func(m *meter, in []*array, adds bool, place func(p []int) []int) *array {
		sources := map[int][]int{}
		for i := range in[0].values {
			to := flatOf(place(placeOf(i, in[0].shape)), mat)
			sources[to] = append(sources[to], i)
		}
		return m.pass(mat, in[1].size, func(i int, read readElement) float64 {
			v := read(1, i)
			for _, from := range sources[i] {
				if other := read(0, from); adds {
					v = m.add(v, other)
				} else {
					v = other
				}
			}
			return v
		}, in[0], in[1])
	}
	byAt := func(p []int) []int { return []int{p[0], int(at.values[flatOf(p, at.shape)])} }
	pairs := gathering{1, Of([]int{0, 5, 5}, []int{1, 1, 3}), []int{4, 6}}
	use(&opScatterAdd.op, "scatter add", func(in []*Tensor) *Tensor { return opScatterAdd.apply(pairs, in[0], in[1]) }, [][]int{{2, 3}, mat},
		func(m *meter, in []*array) *array {
			m.bytes += 8 * len(at.values)
			return intoSecond(m, in, true, byAt)
		}, func(m *meter, _ []*array, _, g *array) *array { return gather(m, g) }, passOn)
	use(&opIndexAdd.op, "index add", func(in []*Tensor) *Tensor {
		return opIndexAdd.apply(selection{1, 6, []int64{5, 0, 0, 4}}, in[0], in[1])
	}, [][]int{{4, 4}, mat},
		func(m *meter, in []*array) *array {
			m.bytes += 8 * len(columns.values)
			return intoSecond(m, in, true, func(p []int) []int { return []int{p[0], int(columns.values[p[1]])} })
		}, func(m *meter, _ []*array, _, g *array) *array { return take(m, g) }, passOn)
	use(&opScatter.op, "scatter", func(in []*Tensor) *Tensor { return opScatter.apply(pairs, in[0], in[1]) }, [][]int{{2, 3}, mat},
		func(m *meter, in []*array) *array {
			m.bytes += 8 * len(at.values)
			return intoSecond(m, in, false, byAt)
		})

	// Products.
	leading := func(x *array) *array { // all rows of a batch together
		n := x.shape[len(x.shape)-1]
		return x.reshape(len(x.values)/n, n)
	}
	product := func(m *meter, in []*array) *array { return m.Matmul(in[0], in[1]) }
	row("matmul [[4 6] [6 3]]", "matmul", sameAsInput, product,
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(g, in[1].transpose()) },
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(in[0].transpose(), g) })
	row("matmul [[2 4 6] [6 3]]", "matmul", sameAsInput, product,
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(g, in[1].transpose()) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Matmul(leading(in[0]).transpose(), leading(g))
		})
	row("matmul [[2 1 4 3] [5 3 2]]", "matmul", sameAsInput, product,
		func(m *meter, in []*array, _, g *array) *array {
			return m.sumTo(m.Matmul(g, in[1].transpose()), in[0].shape)
		},
		func(m *meter, in []*array, _, g *array) *array {
			return m.sumTo(m.Matmul(in[0].transpose(), g), in[1].shape)
		})
	row("matmul [[6] [6]]", "matmul", sameAsInput, func(m *meter, in []*array) *array {
		return m.Matmul(in[0].reshape(1, 6), in[1].reshape(6, 1)).reshape()
	},
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(g.reshape(1), in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(in[0], g) })
	row("matmul [[2 4 6] [6]]", "matmul", sameAsInput, func(m *meter, in []*array) *array { return m.Matmul(in[0], in[1].reshape(6, 1)).reshape(2, 4) },
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(g.reshape(2, 4, 1), in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Matmul(leading(in[0]).transpose(), g.reshape(8, 1)).reshape(6)
		})
	row("matmul [[6] [6 3]]", "matmul", sameAsInput, func(m *meter, in []*array) *array { return m.Matmul(in[0].reshape(1, 6), in[1]).reshape(3) },
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(in[1], g.reshape(3, 1)).reshape(6) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Mul(in[0].reshape(6, 1), g.reshape(1, 3))
		})
	row("matmul transposed [[2 4 6] [3 6]]", "matmul transposed", sameAsInput, func(m *meter, in []*array) *array { return m.Matmul(in[0], in[1].transpose()) },
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(g, in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Matmul(leading(g).transpose(), leading(in[0]))
		})
	row("matmul as [[2 4 6] [6 3]]", "matmul as", func(Dtype) Dtype { return Float32 }, product).only = []Dtype{Float32}

	// Those that run what they are given.
	row("custom", "mul", sameAsInput, func(m *meter, in []*array) *array { return m.Mul(in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { m.Mul(g, in[0]); return m.Mul(g, in[1]) }, // both at once
		func(_ *meter, in []*array, _, g *array) *array {
			return (&meter{}).Mul(g, in[0])
		}).inside = true
	recomputed := func(m *meter, in []*array) *array { return m.Call(math.Tanh, m.Mul(in[0], in[1])) }
	use(&opRecompute.op, "recompute", func(in []*Tensor) *Tensor {
		return Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(in[1]).Tanh() }, in...)
	}, [][]int{mat, mat}, recomputed,
		func(m *meter, in []*array, _, g *array) *array { // with the first, f is run again; the gradients inside are told of as such
			y, quiet := recomputed(m, in), &meter{}
			return quiet.Mul(quiet.Mul(g, quiet.Add(quiet.Neg(quiet.Square(y)), num(1))), in[1])
		},
		func(m *meter, in []*array, _, g *array) *array {
			y, quiet := recomputed(&meter{}, in), &meter{}
			return quiet.Mul(quiet.Mul(g, quiet.Add(quiet.Neg(quiet.Square(y)), num(1))), in[0])
		}).inside = true
	all[len(all)-1].result = floatOf

	// Writing into a part: columns 0 to 2 of [4 6].
	w := window{ContiguousLayout(4, 6), Layout{Shape: []int{4, 3}, Strides: []int{6, 1}, Offset: 0}}
	leftPart := func(p []int) []int { return p }
	use(&opPut.op, "put", func(in []*Tensor) *Tensor { return apply(&opPut.op, w, in...) }, [][]int{mat, {4, 3}},
		func(m *meter, in []*array) *array { return putTwin(m, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return putTwin(m, g, newArray(nil, g.size, 0)) },
		func(_ *meter, in []*array, _, g *array) *array { return g.view([]int{4, 3}, leftPart) })
	overlapping := window{ContiguousLayout(7), Layout{Shape: []int{3, 3}, Strides: []int{2, 1}, Offset: 0}}
	use(&opUnpick.op, "pick backward", func(in []*Tensor) *Tensor { return apply(&opUnpick.op, overlapping, in[0]) }, [][]int{{3, 3}},
		func(m *meter, in []*array) *array {
			return m.Into(in[0], []int{7}, true, func(p []int) []int { return []int{2*p[0] + p[1]} })
		},
		ofOne(func(_ *meter, _, _, g *array) *array {
			return g.view([]int{3, 3}, func(p []int) []int { return []int{2*p[0] + p[1]} })
		}))
	use(&opPick.op, "pick", func(in []*Tensor) *Tensor { return apply(&opPick.op, w, in[0]) }, [][]int{mat},
		func(_ *meter, in []*array) *array { return in[0].view([]int{4, 3}, leftPart) }, spread(false, leftPart))
	use(&opUnpick.op, "pick backward", func(in []*Tensor) *Tensor { return apply(&opUnpick.op, w, in[0]) }, [][]int{{4, 3}},
		func(m *meter, in []*array) *array { return m.Into(in[0], mat, false, leftPart) },
		ofOne(func(_ *meter, _, _, g *array) *array { return g.view([]int{4, 3}, leftPart) }))
	return all
})

// Names that closures above use for other things.
type (
	op_     = op
	spread_ = spread
)

// sizeOf is the size of an element of the result.
func sizeOf(result func(Dtype) Dtype, x *array) int {
	if result(Float32) == Bool {
		return 1
	}
	return x.size
}

func divisor(n int, biased bool) float64 {
	if biased {
		return float64(n)
	}
	return float64(n - 1)
}

// catPart is the gradient of what lies from a position of axis 1 on: a view.
func catPart(start int) gradientTwin {
	return func(_ *meter, in []*array, _, g *array) *array {
		return g.view(cube, func(p []int) []int { return []int{p[0], p[1] + start, p[2]} })
	}
}

// turned swaps the first of three axes and the last.
func turned(p []int) []int { return []int{p[2], p[1], p[0]} }

// middleGone is a column of three whose second is 0, in memory of its own.
func middleGone(x *array) *array {
	return newArray(x.shape, x.size, x.values[0], 0, x.values[2])
}

// powerTwin is the gradient of aᵇ with respect to a.
func powerTwin(m *meter, a, b, g *array) *array {
	base := a
	if slices.Contains(b.values, 0) {
		below, above := m.Where(less, a, num(0)), m.Where(greater, a, num(0))
		either := m.Where(func(p, q float64) bool { return p != 0 || q != 0 }, below, above)
		corner := m.And(m.Where(equals, b, num(0)), m.Not(either))
		base = m.Fill(a, corner, 1)
	}
	raised := m.each(0, func(v []float64) float64 { return m.call2(math.Pow, v[0], v[1]) }, base, m.Sub(b, num(1)))
	return m.sumTo(m.Mul(g, m.Mul(b, raised)), a.shape)
}

// putTwin copies all of x and then writes v over its first three columns.
func putTwin(m *meter, x, v *array) *array {
	part := v.expand([]int{4, 3})
	return m.pass(x.shape, x.size, func(i int, read readElement) float64 {
		p, value := placeOf(i, x.shape), read(0, i)
		if p[1] < 3 {
			value = read(1, flatOf(p, part.shape))
		}
		return value
	}, x, part)
}

// crossEntropyTwin is that along axis 1 for each target but -1.
func crossEntropyTwin(m *meter, x, targets *array, size int) *array {
	return m.pass(targets.shape, size, func(i int, read readElement) float64 {
		target := int(read(1, i))
		if target < 0 {
			return 0
		}
		row := make([]float64, x.shape[1])
		for j := range row {
			row[j] = read(0, flatOf(slices.Insert(placeOf(i, targets.shape), 1, j), x.shape))
		}
		largest, sum := m.largest(row), 0.
		for _, v := range row {
			sum = m.add(sum, m.call(math.Exp, m.sub(v, largest)))
		}
		return m.sub(m.add(largest, m.call(math.Log, sum)), row[target])
	}, x, targets)
}

// crossEntropyGradientTwin is dL/dx of that.
func crossEntropyGradientTwin(m *meter, g, x, targets *array) *array {
	rows := map[int][]float64{} // that are known, by their number
	return m.pass(x.shape, x.size, func(i int, read readElement) float64 {
		index := placeOf(i, x.shape)
		class := index[1]
		number := flatOf(slices.Delete(slices.Clone(index), 1, 2), targets.shape)
		target := int(read(2, number))
		if target < 0 {
			return 0
		}
		if rows[number] == nil {
			row := make([]float64, x.shape[1])
			for j := range row {
				index[1] = j
				row[j] = read(1, flatOf(index, x.shape))
			}
			largest, sum := m.largest(row), 0.
			for j, v := range row {
				row[j] = m.call(math.Exp, m.sub(v, largest))
				sum = m.add(sum, row[j])
			}
			factor := m.div(read(0, number), sum)
			for j := range row {
				row[j] = m.mul(row[j], factor)
			}
			row[target] = m.sub(row[target], read(0, number))
			rows[number] = row
		}
		return rows[number][class]
	}, g, x, targets)
}

// rmsNormTwin normalizes rows of 4.
func rmsNormTwin(m *meter, x, w *array) *array {
	return m.rows(len(x.shape)-1, func(rows [][]float64) []float64 {
		sum := 0.
		for _, v := range rows[0] {
			sum = m.add(sum, m.mul(v, v))
		}
		scale := m.div(1, m.call(math.Sqrt, m.add(m.div(sum, 4), 1e-3)))
		for i, v := range rows[0] {
			rows[0][i] = m.mul(m.mul(v, scale), rows[1][i])
		}
		return rows[0]
	}, x, w)
}

// rmsNormGradientTwin is dL/dx for rows of 4.
func rmsNormGradientTwin(m *meter, g, x, w *array) *array {
	return m.rows(len(x.shape)-1, func(rows [][]float64) []float64 {
		sum, dot := 0., 0.
		for _, v := range rows[1] {
			sum = m.add(sum, m.mul(v, v))
		}
		scale := m.div(1, m.call(math.Sqrt, m.add(m.div(sum, 4), 1e-3)))
		h, normal := make([]float64, 4), make([]float64, 4)
		for i, v := range rows[1] {
			normal[i], h[i] = m.mul(v, scale), m.mul(rows[0][i], rows[2][i])
			dot = m.add(dot, m.mul(h[i], normal[i]))
		}
		share := m.div(dot, 4)
		for i := range h {
			h[i] = m.mul(m.sub(h[i], m.mul(normal[i], share)), scale)
		}
		return h
	}, g, x, w)
}

// attentionSettings is what the twin is given besides arrays.
type attentionSettings struct {
	causal bool
	mask   *array  // [T S]; what is 0 is hidden: its score is computed, and then passed over
	scale  float64 // 0: 1/√d
}

// attentionTwin computes attention query by query and key by key, and with g its
// gradients: the result, and those of q, k and v. It counts one or the other.
func attentionTwin(m *meter, in []*array, g *array, a attentionSettings) [4]*array {
	as4 := func(a *array) *array { return a.reshape(append([]int{1, 1, 1, 1}[len(a.shape):], a.shape...)...) }
	q, k, v := as4(in[0]), as4(in[1]), as4(in[2])
	heads, t, d, s, e := q.shape[1], q.shape[2], q.shape[3], k.shape[2], v.shape[3]
	group, scale := heads/k.shape[1], a.scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(d))
	}
	forward, backward := m, &meter{}
	if g != nil {
		forward, backward, g = &meter{}, m, as4(g)
	}
	out := newArray([]int{q.shape[0], heads, t, e}, q.size)
	var grads [3]*array
	for i, x := range []*array{q, k, v} {
		grads[i] = newArray(x.shape, x.size)
	}
	for head := range q.shape[0] * heads {
		keys := head/heads*k.shape[1] + head%heads/group
		for i := range t {
			row := (head*t + i)
			see := s
			if a.causal {
				see = i + 1 + s - t
			}
			scores := make([]float64, see)
			score := func(m *meter, j int) float64 {
				sum := 0.
				for f := range d {
					sum = m.add(sum, m.mul(q.values[row*d+f], k.values[(keys*s+j)*d+f]))
				}
				sum = m.mul(sum, scale)
				if a.mask != nil && a.mask.values[i*s+j] == 0 {
					return math.Inf(-1)
				}
				return sum
			}
			for j := range scores {
				scores[j] = score(forward, j)
			}
			top, sum := forward.largest(scores), 0.
			for j := range scores {
				scores[j] = forward.call(math.Exp, forward.sub(scores[j], top))
				sum = forward.add(sum, scores[j])
			}
			for j := range scores {
				scores[j] = forward.div(scores[j], sum)
				for f := range e {
					out.values[row*e+f] = forward.add(out.values[row*e+f], forward.mul(scores[j], v.values[(keys*s+j)*e+f]))
				}
			}
			if g == nil {
				continue
			}
			dots := 0.
			for f := range e {
				dots = backward.add(dots, backward.mul(g.values[row*e+f], out.values[row*e+f]))
			}
			for j := range scores {
				p := backward.call(math.Exp, backward.sub(score(backward, j), top+math.Log(sum)))
				at, slope := (keys*s + j), 0.
				for f := range e {
					slope = backward.add(slope, backward.mul(g.values[row*e+f], v.values[at*e+f]))
					grads[2].values[at*e+f] = backward.add(grads[2].values[at*e+f], backward.mul(p, g.values[row*e+f]))
				}
				slope = backward.mul(backward.mul(backward.sub(slope, dots), scale), p)
				for f := range d {
					grads[0].values[row*d+f] = backward.add(grads[0].values[row*d+f], backward.mul(slope, k.values[at*d+f]))
					grads[1].values[at*d+f] = backward.add(grads[1].values[at*d+f], backward.mul(slope, q.values[row*d+f]))
				}
			}
		}
	}
	size := func(all ...*array) (bytes int) {
		for _, a := range all {
			places := map[int]bool{} // a row that is repeated is read once
			for _, at := range a.place {
				places[at] = true
			}
			bytes += len(places) * a.size
		}
		return bytes
	}
	forward.bytes += size(q, k, v, out)
	if a.mask != nil {
		m.bytes += size(a.mask)
	}
	if g != nil { // also the logarithms of the sums
		backward.bytes += size(g, q, k, v, out) + size(grads[:]...) + q.shape[0]*heads*t*max(q.size, 4)
	}
	result := [4]*array{out.reshape(append(slices.Clone(in[0].shape[:len(in[0].shape)-1]), e)...)}
	for i := range grads {
		result[i+1] = grads[i].reshape(in[i].shape...)
	}
	return result
}

// layerNormGradientTwin is dL/dx for rows of 4.
func layerNormGradientTwin(m *meter, g, x, w *array) *array {
	const n, eps = 4, 1e-3
	return m.rows(len(x.shape)-1, func(rows [][]float64) []float64 {
		_, sum, normal := m.squares(rows[1])
		scale := m.div(1, m.call(math.Sqrt, m.add(m.div(sum, n), eps)))
		h := make([]float64, n)
		total, dot := 0., 0.
		for i, d := range normal {
			normal[i] = m.mul(d, scale)
			h[i] = m.mul(rows[0][i], rows[2][i])
			total = m.add(total, h[i])
			dot = m.add(dot, m.mul(h[i], normal[i]))
		}
		less, times := m.div(total, n), m.div(dot, n)
		for i := range h {
			h[i] = m.mul(m.sub(m.sub(h[i], less), m.mul(normal[i], times)), scale)
		}
		return h
	}, g, x, w)
}

// cost is FLOPs and bytes.
type cost struct{ flops, bytes int }

func (c *cost) add(e *Event) { c.flops += e.FLOPs; c.bytes += e.Bytes }

// costError compares what one use of the operation gives and is said to cost with
// its naive twin.
func (c *costCase) costError(in []*Tensor, gradients bool) error {
	var out *Tensor
	tracked := make([]*Tensor, len(in))
	for i, x := range in {
		tracked[i] = x.Detach()
		if gradients {
			tracked[i].RequireGrad()
		}
	}
	arrays := arraysOf(in)
	tolerance := 1e-5
	if in[0].dtype == BFloat16 {
		tolerance = 1e-2
	}

	var got cost
	told := false
	for _, e := range events(func() { out = c.run(tracked) }) {
		if e.Op == c.name || c.inside {
			got.add(&e)
			told = true
		}
	}
	if !told {
		return fmt.Errorf("no event tells of %q", c.name)
	}
	m := &meter{}
	y := c.forward(m, arrays)
	if err := y.closeTo(out.Detach(), tolerance); err != nil {
		return err
	}
	want := cost{m.flops, m.bytes}
	if c.usual > 0 {
		want.flops = c.usual * out.Len()
	}
	if got != want {
		return fmt.Errorf("%d FLOPs and %d bytes, the naive twin takes %d and %d", got.flops, got.bytes, want.flops, want.bytes)
	}
	if !gradients || !out.RequiresGrad() {
		if gradients && len(c.gradients) > 0 {
			return errors.New("the result takes no part in a gradient")
		}
		return nil
	}

	inGraph := 0
	for _, n := range GraphOf(out).Nodes {
		if n.Op == c.gradientName() {
			inGraph += n.FLOPs
		}
	}
	if !c.inside && inGraph != want.flops || c.inside && inGraph != 0 {
		return fmt.Errorf("%d FLOPs in the graph, the naive twin takes %d", inGraph, want.flops)
	}

	seed := With(out.dtype, NewGenerator(5)).Uniform(0.5, 1.5, out.Shape()...)
	costs := make([]cost, 3)
	for _, e := range events(func() { out.Backward(WithGrad(seed)) }) {
		if e.Backward && e.Of == c.gradientName() {
			costs[e.Input-c.first].add(&e)
		}
	}
	if len(c.gradients) != len(in) {
		return fmt.Errorf("there are twins for %d gradients, and %d inputs", len(c.gradients), len(in))
	}
	for i, f := range c.gradients {
		if f == nil {
			if tracked[i].Grad() != nil {
				return fmt.Errorf("input %d has a gradient", i)
			}
			continue
		}
		m := &meter{}
		want := f(m, arrays, y, arrayOf(seed))
		switch grad := tracked[i].Grad(); {
		case grad == nil:
			return fmt.Errorf("input %d has no gradient", i)
		case costs[i] != cost{m.flops, m.bytes}:
			return fmt.Errorf("the gradient of input %d takes %d FLOPs and %d bytes, its naive twin %d and %d", i, costs[i].flops, costs[i].bytes, m.flops, m.bytes)
		default:
			if err := want.closeTo(grad, tolerance); err != nil {
				return fmt.Errorf("gradient of input %d: %w", i, err)
			}
		}
	}
	return nil
}

// gradientName is what events of the gradients are told as.
func (c *costCase) gradientName() string {
	if c.inside {
		return map[*op]string{&opCustom.op: "custom", &opRecompute.op: "recompute"}[c.op]
	}
	return c.name
}

// events returns the operations that f runs.
func events(f func()) (ran []Event) {
	for _, e := range collect(f) {
		if e.Kind == Ran {
			ran = append(ran, e)
		}
	}
	return ran
}

// countedDtypes are those that costs are compared for.
func (c *costCase) countedDtypes() []Dtype {
	if c.only != nil {
		return c.only
	}
	return []Dtype{Float32, Float64}
}

// costErrors walks one case over dtypes and layouts.
func (c *costCase) costErrors() error {
	for _, d := range c.countedDtypes() {
		in := c.inputs(d, 7)
		if err := c.costError(in, d.IsFloat()); err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
		// Repeated elements are read once.
		if rank := in[0].Dim(); rank > 0 && in[0].Size(0) > 1 && c.repeatable() {
			in[0] = in[0].Narrow(0, 0, 1).Expand(in[0].Shape()...)
			if err := c.costError(in, false); err != nil {
				return fmt.Errorf("%s, with one row repeated: %w", d, err)
			}
		}
	}
	return nil
}

// repeatable reports whether the first input is read as it lies: not what a
// function of the user is given, and not what is framed or flattened first.
func (c *costCase) repeatable() bool {
	return !slices.Contains([]*op{&opRecompute.op, &opView.op, &opUnview.op, &opPut.op, &opPick.op, &opReLUGradient}, c.op)
}

// TestCosts: what an operation is said to cost is what its naive twin takes, and
// it gives the same.
func TestCosts(t *testing.T) {
	cases := costTable()
	for i := range cases {
		c := &cases[i]
		if err := c.costErrors(); err != nil {
			t.Errorf("%s: %v", c.opCase.name, err)
		}
	}
}

// TestEveryOperationHasCostCases: an operation without a naive twin can cost
// anything.
func TestEveryOperationHasCostCases(t *testing.T) {
	covered := map[*op]bool{}
	for _, c := range costTable() {
		covered[c.op] = true
	}
	for _, o := range ops {
		if !covered[o] {
			t.Errorf("operation %q has no case in costTable", o.name)
		}
	}
}

// TestBytesByHand: what is touched, in float32.
func TestBytesByHand(t *testing.T) {
	table, x := Ones(1000, 8), Ones(10)
	for _, c := range []struct {
		name string
		run  func()
		op   string
		want int
	}{
		{"two rows of a table", func() { table.Embedding(Of(3, 999, 3)) }, "index select", 2*32 + 3*8 + 3*32},
		{"a row is set", func() { table.SetIndex(Ones(8), 5) }, "put", 32 + 32},
		{"a row is set to a number", func() { table.SetIndex(2, 5) }, "put", 8 + 32},
		{"all is filled", func() { x.Fill(3) }, "put", 8 + 40},
		{"windows share elements", func() { x.Unfold(0, 4, 2).Clone() }, "clone", 40 + 4*4*4},
		{"windows with gaps", func() { x.Unfold(0, 2, 4).Clone() }, "clone", 3*2*4 + 3*2*4},
		{"a row repeated", func() { x.Expand(5, 10).Clone() }, "clone", 40 + 200},
		{"in place", func() { x.MulInPlace(x.Clone()) }, "mul", 3 * 40},
		{"in place, of one input", func() { x.NegInPlace() }, "neg", 2 * 40},
		{"a view", func() { table.T() }, "transpose", 0},
	} {
		got := 0
		for _, e := range events(c.run) {
			if e.Op == c.op {
				got += e.Bytes
			}
		}
		if got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}
