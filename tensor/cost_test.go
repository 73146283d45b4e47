package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/internal/elementwise"
	"github.com/lectern-go/lectern/internal/naive"
)

type (
	meter = naive.Meter
	array = naive.Array

	// naiveGradient computes a gradient from the inputs, the result and the gradient with respect to that.
	naiveGradient = elementwise.Gradient
)

// costCase is a use of one operation and its naive version, which computes the same
// values scalar by scalar and counts its steps: what the record of the operation
// says it costs must be that.
type costCase struct {
	opCase
	op   *op
	name string // of the operation, as it must be told to listeners

	result    func(Dtype) Dtype // the dtype of the result for that of the inputs
	forward   naiveForward
	gradients []naiveGradient // with respect to each input; nil where there is none

	only   []Dtype // the dtypes to count for, if not float32 and float64
	usual  int     // FLOPs for each element that are a convention; the naive version's are not compared
	inside bool    // the operation is told of as the operations in it
	first  int     // the input of the operation that is the first of the case

	products func(in []*array) int // the FLOPs of matrix products; nil: all of a matmul's, else none
}

// productsOf returns how many FLOPs matrix products take of all.
func (c *costCase) productsOf(in []*array, flops int) int {
	switch {
	case c.products != nil:
		return c.products(in)
	case strings.HasPrefix(c.name, "matmul"):
		return flops
	}
	return 0
}

// seenTimes adds up n for each query of q and key of k that may see each other.
func seenTimes(q, k *array, causal bool, n int) (sum int) {
	t, s := q.Shape[len(q.Shape)-2], k.Shape[len(k.Shape)-2]
	for row := range len(q.Values) / q.Shape[len(q.Shape)-1] {
		for key := range s {
			if !causal || key <= row%t+s-t {
				sum += n
			}
		}
	}
	return sum
}

// naiveForward computes the result of an operation.
type naiveForward func(m *meter, in []*array) *array

// costOf is the cost case of a row of the table of elementwise operations. Those on bits are counted in integers
// and masks.
func costOf(row *elementwise.Op, c opCase) costCase {
	result := []func(Dtype) Dtype{elementwise.Same: sameAsInput, elementwise.Float: floatOf, elementwise.Bool: alwaysBool}[row.Result]
	cost := costCase{opCase: c, op: c.ops[0], name: row.Name, result: result, usual: row.Usual}
	cost.forward = func(m *meter, in []*array) *array {
		return m.Each(sizeOf(result, in[0]), func(v []float64) float64 {
			y := row.Value(m, v)
			if row.Bits && in[0].Size == 1 { // the lowest bit is all that a bool has
				y = float64(int64(y) & 1)
			}
			return y
		}, in...)
	}
	for i, gradient := range row.Slopes { // each is summed to the shape of its input
		cost.gradients = append(cost.gradients, func(m *meter, in []*array, y, g *array) *array {
			return m.SumTo(gradient(m, in, y, g), in[i].Shape)
		})
	}
	if row.Bits {
		cost.run, cost.only = elementwise.Func[*Tensor](row), []Dtype{Int64, Bool}
	}
	return cost
}

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

// gradient of an operation with one input.
func ofOne(f func(m *meter, x, y, g *array) *array) naiveGradient {
	return func(m *meter, in []*array, y, g *array) *array { return f(m, in[0], y, g) }
}

func passOn(_ *meter, in []*array, _, g *array) *array { return g }

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
	row := func(name, op string, result func(Dtype) Dtype, forward naiveForward, gradients ...naiveGradient) *costCase {
		c := named(name)
		all = append(all, costCase{opCase: c, op: c.ops[0], name: op, result: result, forward: forward, gradients: gradients})
		return &all[len(all)-1]
	}
	// use adds a case of its own, for operations that are reached only through others.
	use := func(o *op, op string, run func(in []*Tensor) *Tensor, shapes [][]int, forward naiveForward, gradients ...naiveGradient) *costCase {
		c := opCase{name: op, ops: []*op_{o}, shapes: shapes, run: run, floats: true}
		all = append(all, costCase{opCase: c, op: o, name: op, result: sameAsInput, forward: forward, gradients: gradients})
		return &all[len(all)-1]
	}
	for i := range elementwise.Table {
		all = append(all, costOf(&elementwise.Table[i], named(elementwise.Table[i].Name)))
	}
	// Where a power is 0 the base is first looked at, lest 0 be raised to -1.
	power := costOf(elementwise.Find("pow"), named("pow"))
	withZero := func(in []*array) []*array { return []*array{in[0], middleGone(in[1])} }
	use(&opPow, "pow", func(in []*Tensor) *Tensor {
		return in[0].Pow(in[1].Detach().MaskedFill(Of([]bool{false}, []bool{true}, []bool{false}), 0))
	}, [][]int{cube, {3, 1}},
		func(m *meter, in []*array) *array { return power.forward(m, withZero(in)) },
		func(m *meter, in []*array, y, g *array) *array { return power.gradients[0](m, withZero(in), y, g) }, nil)
	last := &all[len(all)-1]
	last.low, last.high = 1, 3

	// Functions of one number that are given something besides.
	one := func(name string, f func(m *meter, v float64) float64, gradient func(m *meter, x, _, g *array) *array) {
		row(name, name, sameAsInput, func(m *meter, in []*array) *array {
			return m.Each(0, func(v []float64) float64 { return f(m, v[0]) }, in[0])
		}, ofOne(gradient))
	}
	one("clamp", func(m *meter, v float64) float64 { return m.Smaller(m.Larger(v, -1), 1) },
		func(m *meter, x, _, g *array) *array {
			within := m.And(m.Where(func(a, b float64) bool { return a >= b }, x, naive.Num(-1)), m.Where(func(a, b float64) bool { return a <= b }, x, naive.Num(1)))
			return m.Fill(g, m.Not(within), 0)
		})
	rectified := func(x *array) *array {
		return (&meter{}).Each(0, func(v []float64) float64 { return max(v[0], 0) }, x)
	}
	use(&opReLUGradient, "relu gradient", func(in []*Tensor) *Tensor { return apply(&opReLUGradient, nil, in[0], in[1].ReLU()) }, [][]int{cube, cube},
		func(m *meter, in []*array) *array { return m.Keep(in[0], rectified(in[1])) },
		func(m *meter, in []*array, _, g *array) *array { return m.Keep(g, rectified(in[1])) }, nil)
	isAbove := func(m *meter, x *array) *array {
		return m.Where(func(a, b float64) bool { return a > b }, x, naive.Num(0))
	}
	one("nan to num", func(_ *meter, v float64) float64 { return v }, func(m *meter, x, _, g *array) *array {
		finite := m.Where(func(a, _ float64) bool { return a-a == 0 }, x, naive.Nothing)
		return m.Fill(g, m.Not(finite), 0)
	})
	row("leaky relu", "leaky relu", floatOf, func(m *meter, in []*array) *array {
		return m.Each(0, func(v []float64) float64 { // the product is made of every element, and not always taken
			if below := m.Times(v[0], 0.1); v[0] <= 0 {
				return below
			}
			return v[0]
		}, in[0])
	}, ofOne(func(m *meter, x, _, g *array) *array { return m.Choose(isAbove(m, x), g, m.Mul(g, naive.Num(0.1))) }))
	row("elu", "elu", floatOf, func(m *meter, in []*array) *array {
		return m.Each(0, func(v []float64) float64 {
			if below := m.Times(m.Apply(math.Expm1, v[0]), 0.7); v[0] <= 0 {
				return below
			}
			return v[0]
		}, in[0])
	}, ofOne(func(m *meter, x, _, g *array) *array {
		above := isAbove(m, x)
		return m.Choose(above, g, m.Mul(g, m.Mul(m.Call(math.Exp, m.Fill(x, above, 0)), naive.Num(0.7))))
	}))

	// Copies and conversions.
	copied := func(m *meter, in []*array) *array {
		return m.Each(0, func(v []float64) float64 { return v[0] }, in[0])
	}
	row("clone", "clone", sameAsInput, copied, passOn)
	for _, f := range []func(x *Tensor) *Tensor{(*Tensor).Clone, (*Tensor).Contiguous} { // in the order of x, and in that of rows
		use(&opClone.op, "clone", func(in []*Tensor) *Tensor { return f(in[0].Transpose(0, 2)) }, [][]int{cube},
			func(m *meter, in []*array) *array { return copied(m, []*array{in[0].View([]int{4, 3, 2}, turned)}) },
			func(_ *meter, in []*array, _, g *array) *array { return g.View(cube, turned) })
	}
	row("straight through", "straight through", sameAsInput, copied, passOn)
	use(&opStraightThrough.op, "straight through", func(in []*Tensor) *Tensor { // only the value is read
		return StraightThrough(in[0].Expand(3, 4), in[1].Detach())
	}, [][]int{{1, 4}, {3, 4}}, func(m *meter, in []*array) *array { return copied(m, in[1:]) },
		func(_ *meter, in []*array, _, g *array) *array { return (&meter{}).SumTo(g, in[0].Shape) }, nil)
	converted := func(m *meter, in []*array) *array {
		return m.Each(8, func(v []float64) float64 { return v[0] }, in[0])
	}
	convertedBack := func(m *meter, in []*array, _, g *array) *array {
		return m.Each(in[0].Size, func(v []float64) float64 { return v[0] }, g)
	}
	float64Of := func(Dtype) Dtype { return Float64 }
	row("to", "to", float64Of, converted, convertedBack).only = []Dtype{Float32, BFloat16}
	row("to saturating", "to saturating", float64Of, converted, convertedBack).only = []Dtype{Float32, BFloat16}

	// Reductions of a [2 3 4] along axis 1, and over all.
	for name, axes := range map[string][]int{"all": nil, "an axis": {1}} {
		fold := func(start float64, step func(m *meter, acc, v float64) float64, size int) naiveForward {
			return func(m *meter, in []*array) *array {
				bytes := size
				if size == 0 {
					bytes = in[0].Size
				}
				return m.Fold(in[0], axes, false, bytes, start, func(acc, v float64) float64 { return step(m, acc, v) }, nil)
			}
		}
		row("sum of "+name, "sum", sumOf, fold(0, (*meter).Plus, 0), ofOne(func(_ *meter, x, _, g *array) *array { return naive.Back(g, axes, x.Shape) }))
		row("mean of "+name, "mean", sameAsInput, func(m *meter, in []*array) *array { return m.Mean(in[0], axes, false) },
			ofOne(func(m *meter, x, y, g *array) *array {
				return naive.Back(m.Div(g, naive.Num(float64(len(x.Values)/len(y.Values)))), axes, x.Shape)
			}))
		row("prod of "+name, "prod", sumOf, fold(1, (*meter).Times, 0), ofOne(func(m *meter, x, _, g *array) *array {
			zero := m.Where(naive.Equals, x, naive.Num(0))
			safe := m.Fill(x, zero, 1)
			others := m.Div(m.Fold(safe, axes, true, x.Size, 1, m.Times, nil), safe)
			gone := m.Where(naive.Greater, m.Sum(zero, axes, true), zero)
			return m.Mul(naive.Back(g, axes, x.Shape), m.Fill(others, gone, 0))
		}))
		extreme := ofOne(func(m *meter, x, y, g *array) *array {
			hit := m.Where(naive.Equals, x, naive.Back(y, axes, x.Shape))
			ties := m.Sum(hit, axes, true)
			return m.Each(x.Size, func(v []float64) float64 { return m.Over(v[0], v[1]) }, m.Fill(naive.Back(g, axes, x.Shape), m.Not(hit), 0), ties)
		})
		row("max of "+name, "max", sameAsInput, fold(math.Inf(-1), (*meter).Larger, 0), extreme)
		row("min of "+name, "min", sameAsInput, fold(math.Inf(1), (*meter).Smaller, 0), extreme)
		spread := func(biased bool, finish func(m *meter, v float64) float64) naiveForward {
			return func(m *meter, in []*array) *array {
				return m.Reduce(in[0], axes, false, in[0].Size, func(run []float64) float64 {
					_, sum, _ := m.Squares(run)
					v := m.Over(sum, divisor(len(run), biased))
					if finish != nil {
						v = finish(m, v)
					}
					return v
				})
			}
		}
		centred := func(m *meter, x *array) *array { return m.Sub(x, m.Mean(x, axes, true)) }
		variance := func(biased bool) naiveGradient {
			return ofOne(func(m *meter, x, y, g *array) *array {
				n := divisor(len(x.Values)/len(y.Values), biased)
				return m.Mul(naive.Back(m.Mul(g, naive.Num(2/n)), axes, x.Shape), centred(m, x))
			})
		}
		row("var of "+name, "var", sameAsInput, spread(false, nil), variance(false))
		row("biased var of "+name, "var", sameAsInput, spread(true, nil), variance(true))
		row("std of "+name, "std", sameAsInput, spread(false, func(m *meter, v float64) float64 { return m.Apply(math.Sqrt, v) }), ofOne(func(m *meter, x, y, g *array) *array {
			n := divisor(len(x.Values)/len(y.Values), false)
			flat := m.Where(naive.Equals, y, naive.Num(0)) // masked twice, for the sake of the second derivative
			slope := m.Fill(m.Div(g, m.Fill(m.Mul(y, naive.Num(n)), flat, 1)), flat, 0)
			return m.Mul(naive.Back(slope, axes, x.Shape), centred(m, x))
		}))
		row("norm of "+name, "norm", sameAsInput, func(m *meter, in []*array) *array {
			return m.Fold(in[0], axes, false, in[0].Size, 0, func(acc, v float64) float64 { return m.Plus(acc, m.Times(v, v)) },
				func(acc float64) float64 { return m.Apply(math.Sqrt, acc) })
		}, ofOne(func(m *meter, x, y, g *array) *array {
			zero := m.Where(naive.Equals, y, naive.Num(0))
			slope := m.Fill(m.Div(g, m.Fill(y, zero, 1)), zero, 0)
			return m.Mul(naive.Back(slope, axes, x.Shape), x)
		}))
		row("logsumexp of "+name, "logsumexp", floatOf, func(m *meter, in []*array) *array {
			return m.Reduce(in[0], axes, false, max(in[0].Size, 4), func(run []float64) float64 {
				largest := m.Largest(run)
				sum := 0.
				for _, v := range run {
					sum = m.Plus(sum, m.Apply(math.Exp, m.Minus(v, largest)))
				}
				return m.Plus(largest, m.Apply(math.Log, sum))
			})
		}, ofOne(func(m *meter, x, y, g *array) *array {
			return m.Mul(naive.Back(g, axes, x.Shape), m.Call(math.Exp, m.Sub(x, naive.Back(y, axes, x.Shape))))
		}))
		row("all of "+name, "all", alwaysBool, fold(1, func(_ *meter, acc, v float64) float64 { return naive.Truth(acc != 0 && v != 0) }, 1))
		row("any of "+name, "any", alwaysBool, fold(0, func(_ *meter, acc, v float64) float64 { return naive.Truth(acc != 0 || v != 0) }, 1))
	}
	position := func(axes []int, better func(m *meter, a, b float64) float64, worst float64) naiveForward {
		return func(m *meter, in []*array) *array {
			return m.Reduce(in[0], axes, false, 8, func(run []float64) float64 {
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
	row("argmax", "argmax", alwaysInt64, position([]int{1}, (*meter).Larger, math.Inf(-1)))
	row("argmin", "argmin", alwaysInt64, position(nil, (*meter).Smaller, math.Inf(1)))

	// Along an axis, here 1 of a [2 3 4].
	along := func(f func(m *meter, row []float64) []float64) naiveForward {
		return func(m *meter, in []*array) *array {
			return m.Rows(1, func(rows [][]float64) []float64 { return f(m, rows[0]) }, in[0])
		}
	}
	fromEnd := func(m *meter, g *array) *array { return m.Flip(m.Cumsum(m.Flip(g, 1), 1), 1) }
	row("cumsum along 1", "cumsum", sumOf, func(m *meter, in []*array) *array { return m.Cumsum(in[0], 1) },
		ofOne(func(m *meter, _, _, g *array) *array { return fromEnd(m, g) }))
	row("cumprod along 1", "cumprod", sumOf, along(func(m *meter, row []float64) []float64 {
		product := 1.
		for i, v := range row {
			product = m.Times(product, v)
			row[i] = product
		}
		return row
	}), ofOne(func(m *meter, x, y, g *array) *array {
		m.Fold(m.Where(naive.Equals, x, naive.Num(0)), nil, false, 1, 0, func(acc, v float64) float64 { return acc + v }, nil)
		return m.Div(fromEnd(m, m.Mul(g, y)), x)
	}))
	exponentials := func(m *meter, row []float64) (differences, exps []float64, sum float64) {
		largest := m.Largest(row)
		for _, v := range row {
			d := m.Minus(v, largest)
			e := m.Apply(math.Exp, d)
			differences, exps, sum = append(differences, d), append(exps, e), m.Plus(sum, e)
		}
		return differences, exps, sum
	}
	row("softmax along 1", "softmax", floatOf, along(func(m *meter, row []float64) []float64 {
		_, exps, sum := exponentials(m, row)
		for i, e := range exps {
			row[i] = m.Over(e, sum)
		}
		return row
	}), ofOne(func(m *meter, _, y, g *array) *array {
		return m.Mul(y, m.Sub(g, m.Sum(m.Mul(g, y), []int{1}, true)))
	}))
	row("log softmax along 1", "log softmax", floatOf, along(func(m *meter, row []float64) []float64 {
		largest := max(row[0], slices.Max(row))
		_, _, sum := exponentials(m, row)
		log := m.Plus(largest, m.Apply(math.Log, sum))
		for i, v := range row {
			row[i] = m.Minus(v, log)
		}
		return row
	}), ofOne(func(m *meter, _, y, g *array) *array {
		return m.Sub(g, m.Mul(m.Call(math.Exp, y), m.Sum(g, []int{1}, true)))
	}))
	// Rows whose target is -1 are not read.
	for name, targets := range map[string]*array{
		"cross entropy":         naive.New([]int{4}, positionBytes, 0, 5, -1, 3),
		"cross entropy along 1": naive.New([]int{2, 4}, positionBytes, 0, 2, 1, 1, 2, -1, 0, -1),
	} {
		ids := make([]int64, len(targets.Values))
		for i, id := range targets.Values {
			ids[i] = int64(id)
		}
		gradient := func(m *meter, g, x *array) *array { return naiveCrossEntropyGradient(m, g, x, targets) }
		row(name, "cross entropy", floatOf, func(m *meter, in []*array) *array {
			return naiveCrossEntropy(m, in[0], targets, sizeOf(floatOf, in[0]))
		}, ofOne(func(m *meter, x, _, g *array) *array { return gradient(m, g, x) }))
		use(&opCrossEntropyGradient.op, "cross entropy gradient", func(in []*Tensor) *Tensor {
			return apply(&opCrossEntropyGradient.op, classes{axis: 1, at: ids}, in...)
		}, [][]int{targets.Shape, named(name).shapes[0]}, func(m *meter, in []*array) *array { return gradient(m, in[0], in[1]) })
	}
	row("flip along 1", "flip", sameAsInput, func(m *meter, in []*array) *array { return m.Flip(in[0], 1) },
		ofOne(func(m *meter, _, _, g *array) *array { return m.Flip(g, 1) }))
	use(&opArgsort.op, "argsort", func(in []*Tensor) *Tensor { return in[0].Argsort(1, false) }, [][]int{cube}, func(m *meter, in []*array) *array {
		ranks := m.Rows(1, func(rows [][]float64) []float64 {
			at := []float64{0, 1, 2}
			slices.SortStableFunc(at, func(a, b float64) int {
				return int(naive.Truth(rows[0][int(a)] > rows[0][int(b)]) - naive.Truth(rows[0][int(a)] < rows[0][int(b)]))
			})
			return at
		}, in[0])
		m.Bytes += (8 - ranks.Size) * len(ranks.Values)
		ranks.Size = 8
		return ranks
	}).result = alwaysInt64
	all[len(all)-1].floats = false
	part := func(keep func(row, column int) bool) func(m *meter, x *array) *array {
		return func(m *meter, x *array) *array {
			return m.Pass(x.Shape, x.Size, func(i int, read naive.Read) float64 {
				index, v := naive.Position(i, x.Shape), read(0, i)
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
		func(m *meter, in []*array, _, g *array) *array { return naiveLayerNormGradient(m, g, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			ones, zeros := naive.New([]int{4}, g.Size, 1, 1, 1, 1), naive.New([]int{4}, g.Size)
			return m.SumTo(m.Mul(g, m.LayerNorm(in[0], ones, zeros, 4, 1e-3)), in[1].Shape)
		},
		func(m *meter, in []*array, _, g *array) *array { return m.SumTo(g, in[2].Shape) })
	use(&opLayerNormGradient.op, "layer norm gradient", func(in []*Tensor) *Tensor {
		return apply(&opLayerNormGradient.op, &normGradient{rowNorm: rowNorm{1, 1e-3}}, in...)
	}, [][]int{cube, cube, {4}}, func(m *meter, in []*array) *array { return naiveLayerNormGradient(m, in[0], in[1], in[2]) })

	// Root mean squares over rows of 4.
	row("rms norm", "rms norm", sameAsInput, func(m *meter, in []*array) *array { return naiveRmsNorm(m, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return naiveRmsNormGradient(m, g, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.SumTo(m.Mul(g, naiveRmsNorm(m, in[0], naive.New([]int{4}, g.Size, 1, 1, 1, 1))), in[1].Shape)
		})
	use(&opRMSNormGradient.op, "rms norm gradient", func(in []*Tensor) *Tensor {
		return apply(&opRMSNormGradient.op, &normGradient{rowNorm: rowNorm{1, 1e-3}}, in...)
	}, [][]int{cube, cube, {4}}, func(m *meter, in []*array) *array { return naiveRmsNormGradient(m, in[0], in[1], in[2]) })

	// Gates, turns and attention.
	use(&opSiLUGradient, "silu gradient", func(in []*Tensor) *Tensor { return apply(&opSiLUGradient, nil, in...) }, [][]int{cube, cube},
		func(m *meter, in []*array) *array { return m.SiLUSlope(in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return m.SiLUSlope(g, in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			s := m.Each(0, func(v []float64) float64 { return m.Sigmoid(v[0]) }, in[1])
			rest := m.Add(m.Neg(s), naive.Num(1))
			return m.Mul(m.Mul(g, in[0]), m.Mul(m.Mul(s, rest), m.Add(m.Mul(in[1], m.Sub(rest, s)), naive.Num(2))))
		})
	// Operations of three numbers: each gradient is summed to the shape of its input.
	three := func(name, op string, result func(Dtype) Dtype, f func(m *meter, a, b, c float64) float64, slopes ...func(m *meter, in []*array, g *array) *array) *costCase {
		var gradients []naiveGradient
		for i, slope := range slopes {
			gradients = append(gradients, func(m *meter, in []*array, _, g *array) *array { return m.SumTo(slope(m, in, g), in[i].Shape) })
		}
		return row(name, op, result, func(m *meter, in []*array) *array {
			return m.Each(sizeOf(result, in[0]), func(v []float64) float64 { return f(m, v[0], v[1], v[2]) }, in...)
		}, gradients...)
	}
	straight := func(_ *meter, _ []*array, g *array) *array { return g }
	between := func(m *meter, a, b, w float64) float64 { return m.Plus(a, m.Times(w, m.Minus(b, a))) }
	three("lerp", "lerp", floatOf, between,
		func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Add(m.Neg(in[2]), naive.Num(1))) },
		func(m *meter, in []*array, g *array) *array { return m.Mul(g, in[2]) },
		func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Sub(in[1], in[0])) })
	quarter := naive.Num(0.25)
	row("lerp by a number", "lerp", floatOf, func(m *meter, in []*array) *array {
		return m.Each(sizeOf(floatOf, in[0]), func(v []float64) float64 { return between(m, v[0], v[1], v[2]) }, in[0], in[1], quarter)
	}, func(m *meter, in []*array, _, g *array) *array {
		rest := m.Add(m.Each(8, func(v []float64) float64 { return m.Negative(v[0]) }, quarter), naive.Num(1))
		rest.Number = true
		return m.SumTo(m.Mul(g, rest), in[0].Shape)
	}, func(m *meter, in []*array, _, g *array) *array { return m.Mul(g, quarter) })
	for name, v := range map[string]float64{"addcmul": -2, "addcmul of half": 0.5} {
		result := sameAsInput
		if v == 0.5 {
			result = floatOf
		}
		three(name, "addcmul", result, func(m *meter, t, a, b float64) float64 { return m.Plus(t, m.Times(m.Times(v, a), b)) }, straight,
			func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Mul(in[2], naive.Num(v))) },
			func(m *meter, in []*array, g *array) *array { return m.Mul(g, m.Mul(in[1], naive.Num(v))) })
	}
	three("addcdiv", "addcdiv", floatOf, func(m *meter, t, a, b float64) float64 { return m.Plus(t, m.Times(1.5, m.Over(a, b))) }, straight,
		func(m *meter, in []*array, g *array) *array { return m.Div(m.Mul(g, naive.Num(1.5)), in[2]) },
		func(m *meter, in []*array, g *array) *array {
			return m.Mul(m.Mul(g, m.Div(m.Div(in[1], in[2]), in[2])), naive.Num(-1.5))
		})
	turn := func(way float64) naiveForward {
		return func(m *meter, in []*array) *array {
			return m.Pass(cube, in[0].Size, func(i int, read naive.Read) float64 {
				p := naive.Position(i, cube)
				angle := p[1]*2 + p[2]/2
				cos, sin := read(1, angle), way*read(2, angle)
				if i%2 == 0 {
					return m.Minus(m.Times(read(0, i), cos), m.Times(read(0, i+1), sin))
				}
				return m.Plus(m.Times(read(0, i-1), sin), m.Times(read(0, i), cos))
			}, in...)
		}
	}
	use(&opRotatePairs.op, "rotate pairs", func(in []*Tensor) *Tensor { return in[0].RotatePairs(in[1], in[2]) }, [][]int{cube, {3, 2}, {3, 2}}, turn(1),
		func(m *meter, in []*array, _, g *array) *array { return turn(-1)(m, []*array{g, in[1], in[2]}) }, nil, nil)
	features := func(a *array) int { return a.Shape[len(a.Shape)-1] }
	gradient := use(&opAttentionGradient.op, "attention gradient", func(in []*Tensor) *Tensor {
		a := &attention{causal: true, scale: 1 / math.Sqrt(6)}
		checkAttention(in[1], in[2], in[3], AttentionSettings{})
		out, sums := attend(a, in[1:])
		return apply(&opAttentionGradient.op, a, append(slices.Clone(in), out, sums)...)
	}, [][]int{{1, 4, 3}, {1, 4, 6}, {1, 5, 6}, {1, 5, 3}}, func(m *meter, in []*array) *array {
		all := naive.New([]int{24 + 30 + 15}, in[1].Size)
		at := 0
		for i, g := range naiveAttention(m, in[1:], in[0], attentionSettings{causal: true}) {
			if i > 0 { // the first is the result
				at += copy(all.Values[at:], g.Values)
			}
		}
		return all
	})
	gradient.products = func(in []*array) int { return seenTimes(in[1], in[2], true, 6*features(in[1])+4*features(in[3])) }
	hidden := naive.New([]int{4, 5}, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1)
	for name, a := range map[string]attentionSettings{
		"attention": {}, "attention, causal and grouped": {causal: true}, "attention, masked": {mask: hidden, scale: 0.7},
	} {
		c := row(name, "attention", sameAsInput, func(m *meter, in []*array) *array { return naiveAttention(m, in, nil, a)[0] })
		c.products = func(in []*array) int { return seenTimes(in[0], in[1], a.causal, 2*features(in[0])+2*features(in[2])) }
		for i := range 3 {
			c.gradients = append(c.gradients, func(m *meter, in []*array, _, g *array) *array {
				if i > 0 { // all are computed with the first
					m = &meter{}
				}
				return naiveAttention(m, in, g, a)[i+1]
			})
		}
	}

	// Views cost nothing, and no more on the way naive.Back if nothing was left out. Where
	// positions coincide, elements are added.
	view := func(name, op string, to []int, from func(index []int) []int, gradient naiveGradient) {
		row(name, op, sameAsInput, func(_ *meter, in []*array) *array { return in[0].View(to, from) }, gradient)
	}
	renamed := func(to []int, from func(index []int) []int) naiveGradient {
		return func(_ *meter, in []*array, _, g *array) *array { return g.View(to, from) }
	}
	spread := func(adds bool, from func(index []int) []int) naiveGradient {
		return func(m *meter, in []*array, _, g *array) *array { return m.Into(g, in[0].Shape, adds, from) }
	}
	view("transpose", "transpose", []int{4, 3, 2}, turned, renamed(cube, turned))
	view("permute", "permute", []int{4, 2, 3}, func(p []int) []int { return []int{p[1], p[2], p[0]} },
		renamed(cube, func(p []int) []int { return []int{p[2], p[0], p[1]} }))
	view("reshape", "view", []int{4, 6}, func(p []int) []int { return naive.Position(naive.Flat(p, mat), cube) },
		renamed(cube, func(p []int) []int { return naive.Position(naive.Flat(p, cube), mat) }))
	view("squeeze", "squeeze", []int{3, 2}, func(p []int) []int { return []int{p[0], 0, p[1]} },
		renamed([]int{3, 1, 2}, func(p []int) []int { return []int{p[0], p[2]} }))
	view("unsqueeze along 1", "unsqueeze", []int{2, 1, 3, 4}, func(p []int) []int { return []int{p[0], p[2], p[3]} },
		renamed(cube, func(p []int) []int { return []int{p[0], 0, p[1], p[2]} }))
	view("expand", "expand", cube, func(p []int) []int { return []int{p[1], 0} },
		func(m *meter, in []*array, _, g *array) *array { return m.SumTo(g, in[0].Shape) })
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
		func(_ *meter, in []*array) *array { return in[0].View([]int{4, 3, 2}, turned) }, renamed(cube, turned))
	use(&opUnview.op, "view backward", func(in []*Tensor) *Tensor {
		return apply(&opUnview.op, &relayout{do: viewed, undo: viewed, to: []int{24}, from: []int{4, 3, 2}}, in[0].Transpose(0, 2))
	}, [][]int{cube}, func(m *meter, in []*array) *array {
		return copied(m, []*array{in[0].View([]int{4, 3, 2}, turned)}).Reshape(24)
	}, func(_ *meter, in []*array, _, g *array) *array { return g.Reshape(4, 3, 2).View(cube, turned) })
	use(&opSpread.op, "spread", func(in []*Tensor) *Tensor {
		return apply(&opSpread.op, spread_{[]int{4, 6}, &relayout{do: unfolded, n: [4]int{1, 3, 2}}}, in[0])
	}, [][]int{{4, 2, 3}}, func(m *meter, in []*array) *array { return m.Into(in[0], mat, true, windows) },
		func(_ *meter, in []*array, _, g *array) *array { return g.View(in[0].Shape, windows) })

	// Joining, choosing and picking.
	row("cat along 1", "cat", sameAsInput, func(m *meter, in []*array) *array {
		shape := []int{2, 9, 4}
		return m.Pass(shape, in[0].Size, func(i int, read naive.Read) float64 {
			p := naive.Position(i, shape)
			return read(p[1]/3, naive.Flat([]int{p[0], p[1] % 3, p[2]}, cube))
		}, in...)
	}, catPart(0), catPart(3), catPart(6))
	even := naive.New(vec, 1, 1, 0, 1, 0, 1, 0)
	row("masked fill", "masked fill", sameAsInput, func(m *meter, in []*array) *array { return m.Fill(in[0], even, 1) },
		ofOne(func(m *meter, _, _, g *array) *array { return m.Fill(g, even, 0) }))
	right := naive.New(vec, 1, 0, 0, 0, 1, 1, 1)
	row("where", "where", sameAsInput, func(m *meter, in []*array) *array {
		return m.Each(in[0].Size, func(v []float64) float64 {
			if v[0] != 0 {
				return v[1]
			}
			return v[2]
		}, right, in[0], in[1])
	}, func(m *meter, in []*array, _, g *array) *array { return m.Fill(g, m.Not(right), 0) },
		func(m *meter, in []*array, _, g *array) *array { return m.SumTo(m.Fill(g, right, 0), in[1].Shape) }).first = 1
	// Positions are read, too: 8 bytes for each.
	columns := naive.New([]int{4}, 8, 5, 0, 0, 4)
	take := func(m *meter, x *array) *array {
		shape := []int{4, 4}
		return m.Pass(shape, x.Size, func(i int, read naive.Read) float64 {
			p := naive.Position(i, shape)
			return read(0, naive.Flat([]int{p[0], int(read(1, p[1]))}, x.Shape))
		}, x, columns)
	}
	addInto := func(m *meter, g *array) *array {
		m.Bytes += 8 * len(columns.Values)
		return m.Into(g, mat, true, func(p []int) []int { return []int{p[0], int(columns.Values[p[1]])} })
	}
	row("index select", "index select", sameAsInput, func(m *meter, in []*array) *array { return take(m, in[0]) },
		ofOne(func(m *meter, _, _, g *array) *array { return addInto(m, g) }))
	use(&opIndexAdd.op, "index add", func(in []*Tensor) *Tensor { return apply(&opIndexAdd.op, selection{1, 6, []int64{5, 0, 0, 4}}, in[0]) }, [][]int{{4, 4}},
		func(m *meter, in []*array) *array { return addInto(m, in[0]) }, ofOne(func(m *meter, _, _, g *array) *array { return take(m, g) }))
	at := naive.New([]int{2, 3}, 8, 0, 5, 5, 1, 1, 3)
	gather := func(m *meter, x *array) *array {
		return m.Pass(at.Shape, x.Size, func(i int, read naive.Read) float64 {
			return read(0, naive.Flat([]int{naive.Position(i, at.Shape)[0], int(read(1, i))}, x.Shape))
		}, x, at)
	}
	scatter := func(m *meter, g *array) *array {
		m.Bytes += 8 * len(at.Values)
		return m.Into(g, mat, true, func(p []int) []int { return []int{p[0], int(at.Values[naive.Flat(p, at.Shape)])} })
	}
	row("gather", "gather", sameAsInput, func(m *meter, in []*array) *array { return gather(m, in[0]) },
		ofOne(func(m *meter, _, _, g *array) *array { return scatter(m, g) }))
	use(&opScatterAdd.op, "scatter add", func(in []*Tensor) *Tensor {
		return apply(&opScatterAdd.op, gathering{1, Of([]int{0, 5, 5}, []int{1, 1, 3}), []int{4, 6}}, in[0])
	}, [][]int{{2, 3}}, func(m *meter, in []*array) *array { return scatter(m, in[0]) }, ofOne(func(m *meter, _, _, g *array) *array { return gather(m, g) }))

	lastOne := func(_ *meter, _, other float64) float64 { return other }
	intoSecond := func(m *meter, in []*array, step func(m *meter, v, other float64) float64, place func(p []int) []int) *array {
		sources := map[int][]int{}
		for i := range in[0].Values {
			to := naive.Flat(place(naive.Position(i, in[0].Shape)), mat)
			sources[to] = append(sources[to], i)
		}
		return m.Pass(mat, in[1].Size, func(i int, read naive.Read) float64 {
			v := read(1, i)
			for _, from := range sources[i] {
				v = step(m, v, read(0, from))
			}
			return v
		}, in[0], in[1])
	}
	byAt := func(p []int) []int { return []int{p[0], int(at.Values[naive.Flat(p, at.Shape)])} }
	pairs := gathering{1, Of([]int{0, 5, 5}, []int{1, 1, 3}), []int{4, 6}}
	use(&opScatterAdd.op, "scatter add", func(in []*Tensor) *Tensor { return opScatterAdd.apply(pairs, in[0], in[1]) }, [][]int{{2, 3}, mat},
		func(m *meter, in []*array) *array {
			m.Bytes += 8 * len(at.Values)
			return intoSecond(m, in, (*meter).Plus, byAt)
		}, func(m *meter, _ []*array, _, g *array) *array { return gather(m, g) }, passOn)
	use(&opIndexAdd.op, "index add", func(in []*Tensor) *Tensor {
		return opIndexAdd.apply(selection{1, 6, []int64{5, 0, 0, 4}}, in[0], in[1])
	}, [][]int{{4, 4}, mat},
		func(m *meter, in []*array) *array {
			m.Bytes += 8 * len(columns.Values)
			return intoSecond(m, in, (*meter).Plus, func(p []int) []int { return []int{p[0], int(columns.Values[p[1]])} })
		}, func(m *meter, _ []*array, _, g *array) *array { return take(m, g) }, passOn)
	use(&opScatter.op, "scatter", func(in []*Tensor) *Tensor { return opScatter.apply(pairs, in[0], in[1]) }, [][]int{{2, 3}, mat},
		func(m *meter, in []*array) *array {
			m.Bytes += 8 * len(at.Values)
			return intoSecond(m, in, lastOne, byAt)
		})

	asFloat := func(m *meter, mask *array, size int) *array {
		return m.Each(size, func(v []float64) float64 { return v[0] }, mask)
	}
	fold := func(m *meter, in []*array, step func(m *meter, a, b float64) float64) *array {
		m.Bytes += 8 * len(at.Values)
		return intoSecond(m, in, step, byAt)
	}
	// Both gradients find out where the results come from.
	folded := func(rule ScatterRule, step func(m *meter, a, b float64) float64, gradient func(m *meter, values, base, y, g *array, ofValues bool) *array) {
		use(&opScatterFold.op, "scatter fold", func(in []*Tensor) *Tensor { return opScatterFold.apply(folding{pairs, rule}, in[0], in[1]) }, [][]int{{2, 3}, mat},
			func(m *meter, in []*array) *array { return fold(m, in, step) },
			func(m *meter, in []*array, y, g *array) *array { return gradient(m, in[0], in[1], y, g, true) },
			func(m *meter, in []*array, y, g *array) *array { return gradient(m, in[0], in[1], y, g, false) })
	}
	shared := func(m *meter, values, base, y, g *array, ofValues bool) *array {
		won, stood := m.Where(naive.Equals, values, gather(m, y)), m.Where(naive.Equals, base, y)
		share := m.Div(g, fold(m, []*array{asFloat(m, won, g.Size), asFloat(m, stood, g.Size)}, (*meter).Plus))
		if ofValues {
			return m.Fill(gather(m, share), m.Not(won), 0)
		}
		return m.Fill(share, m.Not(stood), 0)
	}
	folded(ScatterMax, (*meter).Larger, shared)
	folded(ScatterMin, (*meter).Smaller, shared)
	folded(ScatterProd, (*meter).Times, func(m *meter, values, base, y, g *array, ofValues bool) *array {
		zero, gone := m.Where(naive.Equals, values, naive.Num(0)), m.Where(naive.Equals, base, naive.Num(0))
		several := m.Where(naive.Greater, fold(m, []*array{asFloat(m, zero, g.Size), asFloat(m, gone, g.Size)}, (*meter).Plus), naive.Num(1))
		rest := m.Fill(fold(m, []*array{m.Fill(values, zero, 1), m.Fill(base, gone, 1)}, (*meter).Times), several, 0)
		choose := func(mask, x, y *array) *array {
			return m.Each(x.Size, func(v []float64) float64 {
				if v[0] != 0 {
					return v[1]
				}
				return v[2]
			}, mask, x, y)
		}
		if ofValues {
			upstream, rest := gather(m, g), gather(m, rest)
			return m.Mul(upstream, choose(zero, rest, m.Div(gather(m, y), m.Fill(values, zero, 1))))
		}
		return m.Mul(g, choose(gone, rest, m.Div(y, m.Fill(base, gone, 1))))
	})

	// Products.
	leading := func(x *array) *array { // all rows of a batch together
		n := x.Shape[len(x.Shape)-1]
		return x.Reshape(len(x.Values)/n, n)
	}
	product := func(m *meter, in []*array) *array { return m.Matmul(in[0], in[1]) }
	row("matmul [[4 6] [6 3]]", "matmul", sameAsInput, product,
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(g, in[1].Transpose()) },
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(in[0].Transpose(), g) })
	row("matmul [[2 4 6] [6 3]]", "matmul", sameAsInput, product,
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(g, in[1].Transpose()) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Matmul(leading(in[0]).Transpose(), leading(g))
		})
	row("matmul [[2 1 4 3] [5 3 2]]", "matmul", sameAsInput, product,
		func(m *meter, in []*array, _, g *array) *array {
			return m.SumTo(m.Matmul(g, in[1].Transpose()), in[0].Shape)
		},
		func(m *meter, in []*array, _, g *array) *array {
			return m.SumTo(m.Matmul(in[0].Transpose(), g), in[1].Shape)
		})
	row("matmul [[6] [6]]", "matmul", sameAsInput, func(m *meter, in []*array) *array {
		return m.Matmul(in[0].Reshape(1, 6), in[1].Reshape(6, 1)).Reshape()
	},
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(g.Reshape(1), in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(in[0], g) })
	row("matmul [[2 4 6] [6]]", "matmul", sameAsInput, func(m *meter, in []*array) *array { return m.Matmul(in[0], in[1].Reshape(6, 1)).Reshape(2, 4) },
		func(m *meter, in []*array, _, g *array) *array { return m.Mul(g.Reshape(2, 4, 1), in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Matmul(leading(in[0]).Transpose(), g.Reshape(8, 1)).Reshape(6)
		})
	row("matmul [[6] [6 3]]", "matmul", sameAsInput, func(m *meter, in []*array) *array { return m.Matmul(in[0].Reshape(1, 6), in[1]).Reshape(3) },
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(in[1], g.Reshape(3, 1)).Reshape(6) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Mul(in[0].Reshape(6, 1), g.Reshape(1, 3))
		})
	row("matmul transposed [[2 4 6] [3 6]]", "matmul transposed", sameAsInput, func(m *meter, in []*array) *array { return m.Matmul(in[0], in[1].Transpose()) },
		func(m *meter, in []*array, _, g *array) *array { return m.Matmul(g, in[1]) },
		func(m *meter, in []*array, _, g *array) *array {
			return m.Matmul(leading(g).Transpose(), leading(in[0]))
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
			return quiet.Mul(quiet.Mul(g, quiet.Add(quiet.Neg(quiet.Square(y)), naive.Num(1))), in[1])
		},
		func(m *meter, in []*array, _, g *array) *array {
			y, quiet := recomputed(&meter{}, in), &meter{}
			return quiet.Mul(quiet.Mul(g, quiet.Add(quiet.Neg(quiet.Square(y)), naive.Num(1))), in[0])
		}).inside = true
	all[len(all)-1].result = floatOf

	// Writing into a part: columns 0 to 2 of [4 6].
	w := window{ContiguousLayout(4, 6), Layout{Shape: []int{4, 3}, Strides: []int{6, 1}, Offset: 0}}
	leftPart := func(p []int) []int { return p }
	use(&opPut.op, "put", func(in []*Tensor) *Tensor { return apply(&opPut.op, w, in...) }, [][]int{mat, {4, 3}},
		func(m *meter, in []*array) *array { return naivePut(m, in[0], in[1]) },
		func(m *meter, in []*array, _, g *array) *array { return naivePut(m, g, naive.New(nil, g.Size, 0)) },
		func(_ *meter, in []*array, _, g *array) *array { return g.View([]int{4, 3}, leftPart) })
	overlapping := window{ContiguousLayout(7), Layout{Shape: []int{3, 3}, Strides: []int{2, 1}, Offset: 0}}
	use(&opUnpick.op, "pick backward", func(in []*Tensor) *Tensor { return apply(&opUnpick.op, overlapping, in[0]) }, [][]int{{3, 3}},
		func(m *meter, in []*array) *array {
			return m.Into(in[0], []int{7}, true, func(p []int) []int { return []int{2*p[0] + p[1]} })
		},
		ofOne(func(_ *meter, _, _, g *array) *array {
			return g.View([]int{3, 3}, func(p []int) []int { return []int{2*p[0] + p[1]} })
		}))
	use(&opPick.op, "pick", func(in []*Tensor) *Tensor { return apply(&opPick.op, w, in[0]) }, [][]int{mat},
		func(_ *meter, in []*array) *array { return in[0].View([]int{4, 3}, leftPart) }, spread(false, leftPart))
	use(&opUnpick.op, "pick backward", func(in []*Tensor) *Tensor { return apply(&opUnpick.op, w, in[0]) }, [][]int{{4, 3}},
		func(m *meter, in []*array) *array { return m.Into(in[0], mat, false, leftPart) },
		ofOne(func(_ *meter, _, _, g *array) *array { return g.View([]int{4, 3}, leftPart) }))
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
	return x.Size
}

func divisor(n int, biased bool) float64 {
	if biased {
		return float64(n)
	}
	return float64(n - 1)
}

// catPart is the gradient of what lies from a position of axis 1 on: a view.
func catPart(start int) naiveGradient {
	return func(_ *meter, in []*array, _, g *array) *array {
		return g.View(cube, func(p []int) []int { return []int{p[0], p[1] + start, p[2]} })
	}
}

// turned swaps the first of three axes and the last.
func turned(p []int) []int { return []int{p[2], p[1], p[0]} }

// middleGone is a column of three whose second is 0, in memory of its own.
func middleGone(x *array) *array {
	return naive.New(x.Shape, x.Size, x.Values[0], 0, x.Values[2])
}

// naivePut copies all of x and then writes v over its first three columns.
func naivePut(m *meter, x, v *array) *array {
	part := v.Expand([]int{4, 3})
	return m.Pass(x.Shape, x.Size, func(i int, read naive.Read) float64 {
		p, value := naive.Position(i, x.Shape), read(0, i)
		if p[1] < 3 {
			value = read(1, naive.Flat(p, part.Shape))
		}
		return value
	}, x, part)
}

// naiveCrossEntropy is that along axis 1 for each target but -1.
func naiveCrossEntropy(m *meter, x, targets *array, size int) *array {
	return m.Pass(targets.Shape, size, func(i int, read naive.Read) float64 {
		target := int(read(1, i))
		if target < 0 {
			return 0
		}
		row := make([]float64, x.Shape[1])
		for j := range row {
			row[j] = read(0, naive.Flat(slices.Insert(naive.Position(i, targets.Shape), 1, j), x.Shape))
		}
		largest, sum := m.Largest(row), 0.
		for _, v := range row {
			sum = m.Plus(sum, m.Apply(math.Exp, m.Minus(v, largest)))
		}
		return m.Minus(m.Plus(largest, m.Apply(math.Log, sum)), row[target])
	}, x, targets)
}

// naiveCrossEntropyGradient is dL/dx of that.
func naiveCrossEntropyGradient(m *meter, g, x, targets *array) *array {
	rows := map[int][]float64{} // that are known, by their number
	return m.Pass(x.Shape, x.Size, func(i int, read naive.Read) float64 {
		index := naive.Position(i, x.Shape)
		class := index[1]
		number := naive.Flat(slices.Delete(slices.Clone(index), 1, 2), targets.Shape)
		target := int(read(2, number))
		if target < 0 {
			return 0
		}
		if rows[number] == nil {
			row := make([]float64, x.Shape[1])
			for j := range row {
				index[1] = j
				row[j] = read(1, naive.Flat(index, x.Shape))
			}
			largest, sum := m.Largest(row), 0.
			for j, v := range row {
				row[j] = m.Apply(math.Exp, m.Minus(v, largest))
				sum = m.Plus(sum, row[j])
			}
			factor := m.Over(read(0, number), sum)
			for j := range row {
				row[j] = m.Times(row[j], factor)
			}
			row[target] = m.Minus(row[target], read(0, number))
			rows[number] = row
		}
		return rows[number][class]
	}, g, x, targets)
}

// naiveRmsNorm normalizes rows of 4.
func naiveRmsNorm(m *meter, x, w *array) *array {
	return m.Rows(len(x.Shape)-1, func(rows [][]float64) []float64 {
		sum := 0.
		for _, v := range rows[0] {
			sum = m.Plus(sum, m.Times(v, v))
		}
		scale := m.Over(1, m.Apply(math.Sqrt, m.Plus(m.Over(sum, 4), 1e-3)))
		for i, v := range rows[0] {
			rows[0][i] = m.Times(m.Times(v, scale), rows[1][i])
		}
		return rows[0]
	}, x, w)
}

// naiveRmsNormGradient is dL/dx for rows of 4.
func naiveRmsNormGradient(m *meter, g, x, w *array) *array {
	return m.Rows(len(x.Shape)-1, func(rows [][]float64) []float64 {
		sum, dot := 0., 0.
		for _, v := range rows[1] {
			sum = m.Plus(sum, m.Times(v, v))
		}
		scale := m.Over(1, m.Apply(math.Sqrt, m.Plus(m.Over(sum, 4), 1e-3)))
		h, normal := make([]float64, 4), make([]float64, 4)
		for i, v := range rows[1] {
			normal[i], h[i] = m.Times(v, scale), m.Times(rows[0][i], rows[2][i])
			dot = m.Plus(dot, m.Times(h[i], normal[i]))
		}
		share := m.Over(dot, 4)
		for i := range h {
			h[i] = m.Times(m.Minus(h[i], m.Times(normal[i], share)), scale)
		}
		return h
	}, g, x, w)
}

// attentionSettings are the arguments of the naive version besides arrays.
type attentionSettings struct {
	causal bool
	mask   *array  // [T S]; elements that are 0 are hidden: their score is computed, and then passed over
	scale  float64 // 0: 1/√d
}

// naiveAttention computes attention query by query and key by key, and with g its
// gradients: the result, and those of q, k and v. It counts one or the other.
func naiveAttention(m *meter, in []*array, g *array, a attentionSettings) [4]*array {
	as4 := func(a *array) *array { return a.Reshape(append([]int{1, 1, 1, 1}[len(a.Shape):], a.Shape...)...) }
	q, k, v := as4(in[0]), as4(in[1]), as4(in[2])
	heads, t, d, s, e := q.Shape[1], q.Shape[2], q.Shape[3], k.Shape[2], v.Shape[3]
	group, scale := heads/k.Shape[1], a.scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(d))
	}
	forward, backward := m, &meter{}
	if g != nil {
		forward, backward, g = &meter{}, m, as4(g)
	}
	out := naive.New([]int{q.Shape[0], heads, t, e}, q.Size)
	var grads [3]*array
	for i, x := range []*array{q, k, v} {
		grads[i] = naive.New(x.Shape, x.Size)
	}
	for head := range q.Shape[0] * heads {
		keys := head/heads*k.Shape[1] + head%heads/group
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
					sum = m.Plus(sum, m.Times(q.Values[row*d+f], k.Values[(keys*s+j)*d+f]))
				}
				sum = m.Times(sum, scale)
				if a.mask != nil && a.mask.Values[i*s+j] == 0 {
					return math.Inf(-1)
				}
				return sum
			}
			for j := range scores {
				scores[j] = score(forward, j)
			}
			top, sum := forward.Largest(scores), 0.
			for j := range scores {
				scores[j] = forward.Apply(math.Exp, forward.Minus(scores[j], top))
				sum = forward.Plus(sum, scores[j])
			}
			for j := range scores {
				scores[j] = forward.Over(scores[j], sum)
				for f := range e {
					out.Values[row*e+f] = forward.Plus(out.Values[row*e+f], forward.Times(scores[j], v.Values[(keys*s+j)*e+f]))
				}
			}
			if g == nil {
				continue
			}
			dots := 0.
			for f := range e {
				dots = backward.Plus(dots, backward.Times(g.Values[row*e+f], out.Values[row*e+f]))
			}
			for j := range scores {
				p := backward.Apply(math.Exp, backward.Minus(score(backward, j), top+math.Log(sum)))
				at, slope := (keys*s + j), 0.
				for f := range e {
					slope = backward.Plus(slope, backward.Times(g.Values[row*e+f], v.Values[at*e+f]))
					grads[2].Values[at*e+f] = backward.Plus(grads[2].Values[at*e+f], backward.Times(p, g.Values[row*e+f]))
				}
				slope = backward.Times(backward.Times(backward.Minus(slope, dots), scale), p)
				for f := range d {
					grads[0].Values[row*d+f] = backward.Plus(grads[0].Values[row*d+f], backward.Times(slope, k.Values[at*d+f]))
					grads[1].Values[at*d+f] = backward.Plus(grads[1].Values[at*d+f], backward.Times(slope, q.Values[row*d+f]))
				}
			}
		}
	}
	size := func(all ...*array) (bytes int) {
		for _, a := range all {
			places := map[int]bool{} // a row that is repeated is read once
			for _, at := range a.Place {
				places[at] = true
			}
			bytes += len(places) * a.Size
		}
		return bytes
	}
	forward.Bytes += size(q, k, v, out)
	if a.mask != nil {
		m.Bytes += size(a.mask)
	}
	if g != nil { // also the logarithms of the sums
		backward.Bytes += size(g, q, k, v, out) + size(grads[:]...) + q.Shape[0]*heads*t*max(q.Size, 4)
	}
	result := [4]*array{out.Reshape(append(slices.Clone(in[0].Shape[:len(in[0].Shape)-1]), e)...)}
	for i := range grads {
		result[i+1] = grads[i].Reshape(in[i].Shape...)
	}
	return result
}

// naiveLayerNormGradient is dL/dx for rows of 4.
func naiveLayerNormGradient(m *meter, g, x, w *array) *array {
	const n, eps = 4, 1e-3
	return m.Rows(len(x.Shape)-1, func(rows [][]float64) []float64 {
		_, sum, normal := m.Squares(rows[1])
		scale := m.Over(1, m.Apply(math.Sqrt, m.Plus(m.Over(sum, n), eps)))
		h := make([]float64, n)
		total, dot := 0., 0.
		for i, d := range normal {
			normal[i] = m.Times(d, scale)
			h[i] = m.Times(rows[0][i], rows[2][i])
			total = m.Plus(total, h[i])
			dot = m.Plus(dot, m.Times(h[i], normal[i]))
		}
		less, times := m.Over(total, n), m.Over(dot, n)
		for i := range h {
			h[i] = m.Times(m.Minus(m.Minus(h[i], less), m.Times(normal[i], times)), scale)
		}
		return h
	}, g, x, w)
}

// arrayOf returns the array of a tensor with its layout.
func arrayOf(t *Tensor) *array {
	a := &array{Shape: t.Shape(), Values: t.Floats(), Size: t.dtype.Size()}
	for i := range a.Values {
		at := t.layout.Offset
		for axis, p := range naive.Position(i, a.Shape) {
			at += p * t.layout.Strides[axis]
		}
		a.Place = append(a.Place, at)
	}
	return a
}

func arraysOf(in []*Tensor) []*array {
	all := make([]*array, len(in))
	for i, x := range in {
		all[i] = arrayOf(x)
	}
	return all
}

// closeTo says how an array differs from a tensor.
func closeTo(x *array, t *Tensor, tolerance float64) error {
	if !slices.Equal(x.Shape, t.Shape()) {
		return fmt.Errorf("shape %v, the naive version has %v", t.Shape(), x.Shape)
	}
	if x.Size != t.dtype.Size() {
		return fmt.Errorf("%s has %d bytes for each element, the naive version %d", t.dtype, t.dtype.Size(), x.Size)
	}
	for i, got := range t.Floats() {
		if want := x.Values[i]; !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) && got != want && !(got != got && want != want) {
			return fmt.Errorf("element %v is %g, that of the naive version %g", naive.Position(i, x.Shape), got, want)
		}
	}
	return nil
}

// cost is FLOPs and bytes.
type cost struct{ flops, bytes int }

func (c *cost) add(e *Event) { c.flops += e.FLOPs; c.bytes += e.Bytes }

// costError compares what one use of the operation gives and is said to cost with
// its naive version.
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
	told, products := false, 0
	for _, e := range events(func() { out = c.run(tracked) }) {
		if e.Op == c.name || c.inside {
			got.add(&e)
			told, products = true, products+e.Matmul
		}
	}
	if !told {
		return fmt.Errorf("no event tells of %q", c.name)
	}
	m := &meter{}
	y := c.forward(m, arrays)
	if err := closeTo(y, out.Detach(), tolerance); err != nil {
		return err
	}
	want := cost{m.FLOPs, m.Bytes}
	if c.usual > 0 {
		want.flops = c.usual * out.Len()
	}
	if p := c.productsOf(arrays, want.flops); !c.inside && products != p {
		return fmt.Errorf("%d FLOPs of matrix products, the naive version takes %d", products, p)
	}
	if got != want {
		return fmt.Errorf("%d FLOPs and %d bytes, the naive version takes %d and %d", got.flops, got.bytes, want.flops, want.bytes)
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
		return fmt.Errorf("%d FLOPs in the graph, the naive version takes %d", inGraph, want.flops)
	}

	seed := With(out.dtype, NewGenerator(5)).Uniform(0.5, 1.5, out.Shape()...)
	costs := make([]cost, 3)
	for _, e := range events(func() { out.Backward(WithGrad(seed)) }) {
		if e.Backward && e.Of == c.gradientName() {
			costs[e.Input-c.first].add(&e)
		}
	}
	if len(c.gradients) != len(in) {
		return fmt.Errorf("there are naive versions of %d gradients, and %d inputs", len(c.gradients), len(in))
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
		case costs[i] != cost{m.FLOPs, m.Bytes}:
			return fmt.Errorf("the gradient of input %d takes %d FLOPs and %d bytes, its naive version %d and %d", i, costs[i].flops, costs[i].bytes, m.FLOPs, m.Bytes)
		default:
			if err := closeTo(want, grad, tolerance); err != nil {
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

// TestCosts: what an operation is said to cost is what its naive version takes, and
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

// TestEveryOperationHasCostCases: an operation without a naive version can cost
// anything.
func TestEveryOperationHasCostCases(t *testing.T) {
	covered := map[*op]bool{}
	for _, c := range costTable() {
		covered[c.op] = true
	}
	for _, o := range ops {
		if !covered[o] {
			t.Errorf("operation %q has no case: its row in internal/elementwise makes one if it is elementwise, else costTable needs one", o.name)
		}
	}
}

// TestBytesByHand: the touched bytes, in float32.
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
		{"a row is set to a number", func() { table.SetIndex(2, 5) }, "put", 32},
		{"a number beside a tensor", func() { Of(3.).View().Sub(5) }, "sub", 4 + 4},
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
