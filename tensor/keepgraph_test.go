package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
	"github.com/lectern-go/lectern/tensor"
)

// sameBits fails unless two tensors are the same, bit for bit.
func sameBits(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	if got == nil || want == nil {
		if got != want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
		return
	}
	a, b := got.Floats(), want.Floats()
	same := got.Dtype() == want.Dtype() && slices.Equal(got.Shape(), want.Shape())
	for i := 0; same && i < len(a); i++ {
		same = math.Float64bits(a[i]) == math.Float64bits(b[i])
	}
	if !same {
		t.Errorf("%s is\n%v, want\n%v", what, got, want)
	}
}

// Cube is x³ as a value, so that a later cell can ask it for its derivative.
type Cube struct{ Times float64 }

func (c *Cube) Function() tensor.Function {
	return tensor.Function{Name: "cube",
		Forward: func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
			square := in[0].Mul(in[0])
			return square.Mul(in[0]).Mul(c.Times), []*tensor.Tensor{square}
		},
		Gradient: func(saved []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{g.Mul(saved[0]).Mul(3 * c.Times)}
		}}
}

// Block is a module with a weight and dropout.
type Block struct{ W *tensor.Tensor }

func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := x.Matmul(b.W).Tanh()
	return h.Mul(tensor.Bernoulli(0.5, h.Shape()...)).Mul(tensor.Once(func() float64 { return 2 }))
}

// step is a computation whose graph is to live on.
type step struct {
	name  string
	in    func() []*tensor.Tensor
	run   func(in []*tensor.Tensor) *tensor.Tensor
	twice bool // it has a second derivative
}

// steps are the table of operations, and what the table does not reach.
func steps() (all []step) {
	seeded := func(shapes ...[]int) func() []*tensor.Tensor {
		return func() (in []*tensor.Tensor) {
			tensor.Seed(5)
			for i, shape := range shapes {
				in = append(in, tensor.With(tensor.NewGenerator(uint64(i)), tensor.Float64).Randn(shape...))
			}
			return in
		}
	}
	for _, c := range tensor.OpTable() {
		if c.Name() != "custom" { // see below
			all = append(all, step{c.Name(), func() []*tensor.Tensor { return c.Inputs(tensor.Float32, 5) }, c.Run, c.Twice()})
		}
	}
	return append(all,
		step{"custom", seeded([]int{3}), func(in []*tensor.Tensor) *tensor.Tensor { return tensor.Apply(&Cube{2}, in[0]) }, false},
		step{"recompute", seeded([]int{4, 3}, []int{3, 3}), func(in []*tensor.Tensor) *tensor.Tensor {
			b := &Block{in[1]}
			return tensor.RecomputeModule(b, tensor.RecomputeModule(b, in[0]))
		}, false},
		step{"recompute in half precision", seeded([]int{4, 3}, []int{3, 3}), func(in []*tensor.Tensor) (y *tensor.Tensor) {
			tensor.Autocast(tensor.BFloat16, func() {
				y = tensor.RecomputeModule(&Block{in[1].To(tensor.Float32).Detach().RequireGrad()}, in[0].To(tensor.Float32))
			})
			return y
		}, false},
		step{"in place", seeded([]int{4, 3}, []int{3}), func(in []*tensor.Tensor) *tensor.Tensor {
			y := in[0].Square()
			row := y.Select(0, 1)
			y.AddInPlace(1)
			row.MulInPlace(in[1])
			return y.Mul(row.Expand(4, 3)).Slice(1, 0, 3, 2)
		}, true},
		step{"autocast", seeded([]int{4, 3}, []int{3, 5}), func(in []*tensor.Tensor) (y *tensor.Tensor) {
			tensor.Autocast(tensor.BFloat16, func() {
				y = in[0].To(tensor.Float32).Matmul(in[1].To(tensor.Float32)).GELU().Softmax(-1)
			})
			return y
		}, true},
		step{"relu twice", seeded([]int{4, 3}), func(in []*tensor.Tensor) *tensor.Tensor { return in[0].ReLU().Mul(in[0]) }, true},
		step{"views of views", seeded([]int{4, 6}), func(in []*tensor.Tensor) *tensor.Tensor {
			return in[0].T().Unfold(0, 3, 2).Permute(2, -2, 0).Unsqueeze(1).Squeeze().Narrow(1, 1, 2).Flatten(0, 1).Select(1, -1)
		}, true},
	)
}

// Kept is one step as it is kept.
type Kept struct {
	In    []*tensor.Tensor
	Loss  *tensor.Tensor // of the result
	Twice *tensor.Tensor // a function of the first derivatives
}

func (s step) forward() (k Kept, ok bool) {
	k.In = s.in()
	for _, x := range k.In {
		x.RequireGrad()
	}
	out := s.run(k.In)
	if !out.RequiresGrad() {
		return k, false
	}
	weights := tensor.With(out.Dtype(), tensor.NewGenerator(6)).Uniform(0.5, 1.5, out.Shape()...)
	k.Loss = out.Mul(weights).Sum()
	return k, true
}

// first calls Backward; where the step has a second derivative it leaves the gradients
// that Backward computed in Twice.
func (s step) first(k *Kept) {
	if !s.twice {
		k.Loss.Backward()
		return
	}
	k.Loss.Backward(tensor.CreateGraph())
	var terms []*tensor.Tensor
	for _, x := range k.In {
		if g := x.Grad(); g != nil {
			x.ZeroGrad()
			terms = append(terms, g.Mul(g).Mul(x).To(tensor.Float64).Sum())
		}
	}
	k.Twice = tensor.Stack(0, terms...).Sum()
}

// TestEveryGraphLivesOn computes in one process, goes backward in the next and
// backward through that in a third, with each operation.
func TestEveryGraphLivesOn(t *testing.T) {
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		graphs := map[string]*Kept{}
		for _, s := range steps() {
			if k, ok := s.forward(); ok {
				graphs[s.name] = &k
			}
		}
		persist.Def("graphs", &graphs)
	}, func(t *testing.T) {
		var graphs map[string]*Kept
		persist.Reg[*Cube]()
		persist.Reg[*Block]()
		defer celltest.Begin("graphs", &graphs)()
		noteOps(t, graphs, func(k *Kept) *tensor.Tensor { return k.Loss })
		for _, s := range steps() {
			k := graphs[s.name]
			if k == nil {
				continue
			}
			fresh, _ := s.forward()
			if got, want := tensor.GraphOf(k.Loss).String(), tensor.GraphOf(fresh.Loss).String(); got != want {
				t.Errorf("%s: the graph is\n%s, want\n%s", s.name, got, want)
			}
			s.first(&fresh)
			s.first(k)
			sameBits(t, s.name, k.Loss.Detach(), fresh.Loss.Detach())
			for i, x := range k.In {
				sameBits(t, fmt.Sprintf("%s: the gradient of input %d", s.name, i), x.Grad(), fresh.In[i].Grad())
			}
		}
	}, func(t *testing.T) {
		var graphs map[string]*Kept
		persist.Reg[*Cube]()
		persist.Reg[*Block]()
		defer celltest.Begin("graphs", &graphs)()
		noteOps(t, graphs, func(k *Kept) *tensor.Tensor { return k.Twice })
		for _, s := range steps() {
			k := graphs[s.name]
			if k == nil || k.Twice == nil || !k.Twice.RequiresGrad() {
				continue
			}
			fresh, _ := s.forward()
			s.first(&fresh)
			fresh.Twice.Backward()
			k.Twice.Backward()
			for i, x := range k.In {
				sameBits(t, fmt.Sprintf("%s: the second derivative of input %d", s.name, i), x.Grad(), fresh.In[i].Grad())
			}
		}
		// Every operation was in a graph that a cell got from another one.
		crossed := celltest.Told(t)
		for _, name := range tensor.OpsWithGradients() {
			if !slices.Contains(crossed, name) {
				t.Errorf("no graph with %q has crossed cells: has it a row in opTable?", name)
			}
		}
	})
}

// noteOps notes the operations of restored graphs.
func noteOps(t *testing.T, graphs map[string]*Kept, root func(*Kept) *tensor.Tensor) {
	if len(graphs) == 0 {
		t.Fatal("no graphs")
	}
	for _, k := range graphs {
		if r := root(k); r != nil && r.RequiresGrad() {
			for _, n := range tensor.GraphOf(r).Nodes {
				celltest.Tell(t, n.Op)
			}
		}
	}
}

// losses is a training step in the middle: two losses over one trunk.
func losses() (w, x, mean, worst *tensor.Tensor) {
	w = tensor.With(tensor.NewGenerator(1)).Randn(8, 8).RequireGrad()
	x = tensor.With(tensor.NewGenerator(2)).Randn(4, 8)
	h := x.Matmul(w).Tanh()
	return w, x, h.Square().Mean(), h.Max().Mul(3)
}

func TestTwoLossesOverOneTrunk(t *testing.T) {
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		w, _, mean, worst := losses()
		persist.Def("w", &w, "mean", &mean, "worst", &worst)
	}, func(t *testing.T) {
		var w, mean, worst *tensor.Tensor
		defer celltest.Begin("w", &w, "mean", &mean, "worst", &worst)()
		mean.Backward(tensor.Retain())
	}, func(t *testing.T) {
		var w, mean, worst *tensor.Tensor
		defer celltest.Begin("w", &w, "mean", &mean, "worst", &worst)()
		worst.Backward()
		w2, _, mean2, worst2 := losses()
		mean2.Backward(tensor.Retain())
		worst2.Backward()
		sameBits(t, "the gradient", w.Grad(), w2.Grad())
	}, func(t *testing.T) {
		var w, mean, worst *tensor.Tensor
		defer celltest.Begin("w", &w, "mean", &mean, "worst", &worst)()
		_, _, mean2, worst2 := losses()
		worst2.Backward()
		sameError(t, "the trunk was released", func() { mean.Backward() }, func() { mean2.Backward() })
		sameError(t, "Backward once more", func() { worst.Backward() }, func() { worst2.Backward() })
	})
}

// sameError fails unless two functions panic with the same error.
func sameError(t *testing.T, what string, got, want func()) {
	t.Helper()
	a, b := tensor.Try(got), tensor.Try(want)
	if a == nil || b == nil || a.Error() != b.Error() || errors.Unwrap(a) != errors.Unwrap(b) {
		t.Errorf("%s: %v, in one process %v", what, a, b)
	}
}

// TestWhatWasSavedIsChangedInALaterCell: Backward refuses, as in one process.
func TestWhatWasSavedIsChangedInALaterCell(t *testing.T) {
	change := func(x, w *tensor.Tensor) {
		x.AddInPlace(1)
		tensor.NoGrad(func() { w.MulInPlace(2) })
	}
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		w, x, mean, worst := losses()
		other := w.Square().Sum()
		persist.Def("w", &w, "x", &x, "mean", &mean, "worst", &worst, "other", &other)
	}, func(t *testing.T) {
		var w, x, mean, other *tensor.Tensor
		defer celltest.Begin("w", &w, "x", &x, "mean", &mean, "other", &other)()
		change(x, w)
	}, func(t *testing.T) {
		var w, x, mean, other *tensor.Tensor
		defer celltest.Begin("w", &w, "x", &x, "mean", &mean, "other", &other)()
		w2, x2, mean2, _ := losses()
		other2 := w2.Square().Sum()
		change(x2, w2)
		sameError(t, "an input was changed", func() { mean.Backward() }, func() { mean2.Backward() })
		sameError(t, "a leaf was changed", func() { other.Backward() }, func() { other2.Backward() })
	})
}

// TestWhatWasSavedIsFreed: Backward refuses in a later cell, as in one process, and the
// rest of the graph is not kept.
func TestWhatWasSavedIsFreed(t *testing.T) {
	begin := func() (w, loss *tensor.Tensor) {
		w = tensor.With(tensor.NewGenerator(1)).Randn(100, 100).RequireGrad()
		h := w.Tanh().Exp()
		loss = h.Tanh().Sum()
		h.Free()
		return w, loss
	}
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		w, loss := begin()
		persist.Def("w", &w, "loss", &loss)
	}, func(t *testing.T) {
		var w, loss *tensor.Tensor
		defer celltest.Begin("w", &w, "loss", &loss)()
		_, loss2 := begin()
		sameError(t, "a saved value was freed", func() { loss.Backward() }, func() { loss2.Backward() })
		if arrays, _ := filepath.Glob(filepath.Join(celltest.Folder(), "a*")); len(arrays) != 1 { // that of w
			t.Errorf("the files are %v", arrays)
		}
	})
}

// TestViewsOfAGraphLiveOn: a later cell writes through a view, and reads another.
func TestViewsOfAGraphLiveOn(t *testing.T) {
	begin := func() (w, y, row, column *tensor.Tensor) {
		w = tensor.With(tensor.NewGenerator(1)).Randn(3, 4).RequireGrad()
		y = w.Mul(2).RetainGrad()
		return w, y, y.Select(0, 1), y.Select(1, 2)
	}
	middle := func(y, row *tensor.Tensor) { row.MulInPlace(y.Detach().Sum().Item()) }
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		w, y, row, column := begin()
		persist.Def("w", &w, "y", &y, "row", &row, "column", &column)
	}, func(t *testing.T) {
		var w, y, row, column *tensor.Tensor
		defer celltest.Begin("w", &w, "y", &y, "row", &row, "column", &column)()
		middle(y, row)
	}, func(t *testing.T) {
		var w, y, row, column *tensor.Tensor
		defer celltest.Begin("w", &w, "y", &y, "row", &row, "column", &column)()
		w2, y2, row2, column2 := begin()
		middle(y2, row2)
		for _, l := range []*tensor.Tensor{y.Square().Sum().Add(column.Sum()), y2.Square().Sum().Add(column2.Sum())} {
			l.Backward()
		}
		sameBits(t, "w.grad", w.Grad(), w2.Grad())
		sameBits(t, "y.grad", y.Grad(), y2.Grad())
	})
}

// TestDeepGraphsLiveOn: nothing walks through a graph by recursion.
func TestDeepGraphsLiveOn(t *testing.T) {
	depth := 2000
	if os.Getenv("LECTERN_LONG") == "1" {
		depth = 10_000
	}
	deep := func() (x, y *tensor.Tensor) {
		x = tensor.Of(1.5).RequireGrad()
		y = x
		for range depth { // each value is used twice
			y = y.Mul(y).Mul(1e-7).Add(y)
		}
		return x, y.Sum()
	}
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		x, y := deep()
		persist.Def("x", &x, "y", &y)
	}, func(t *testing.T) {
		var x, y *tensor.Tensor
		defer celltest.Begin("x", &x, "y", &y)()
		x2, y2 := deep()
		y.Backward()
		y2.Backward()
		sameBits(t, "the gradient", x.Grad(), x2.Grad())
	})
}

// tenfold is a hook with a name.
func tenfold(g *tensor.Tensor) *tensor.Tensor { return g.Mul(10) }

// allFunctions says that package persist can keep every function, as it does in a cell,
// where it knows them.
func allFunctions() {
	persist.Fn("tensor_test.tenfold", tenfold)
	persist.Lit("scaled", scaled)
	persist.Lit("squared", squared)
	persist.Lit("triple", triple)
	persist.Lit("triple backward", tripleBackward)
	persist.Reg[tensor.Function]()
}

// scaled and squared make function literals, in the form in which the kernel writes them.
//
//go:noinline
func scaled(c *struct{ by *float64 }) func(*tensor.Tensor) *tensor.Tensor {
	return func(g *tensor.Tensor) *tensor.Tensor { return g.Mul(*c.by) }
}

//go:noinline
func squared(c *struct{ w **tensor.Tensor }) func(...*tensor.Tensor) *tensor.Tensor {
	return func(in ...*tensor.Tensor) *tensor.Tensor { return in[0].Mul(*c.w).Square() }
}

//go:noinline
func triple() func([]*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
	return func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) { return in[0].Mul(3), nil }
}

//go:noinline
func tripleBackward() func([]*tensor.Tensor, *tensor.Tensor) []*tensor.Tensor {
	return func(_ []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{g.Mul(3)} }
}

func TestFunctionsInGraphsLiveOn(t *testing.T) {
	by := 3.
	begin := func() (w, loss *tensor.Tensor) {
		w = tensor.Of(1., 2).RequireGrad()
		w.OnGrad(tenfold)
		h := w.Mul(w)
		h.OnGrad(scaled(&struct{ by *float64 }{&by}))
		h = tensor.Apply(tensor.Function{Name: "triple", Forward: triple(), Gradient: tripleBackward()}, h)
		return w, tensor.Recompute(squared(&struct{ w **tensor.Tensor }{&w}), h).Sum()
	}
	notes := celltest.Run(t, func(t *testing.T) {
		allFunctions()
		defer celltest.Begin()()
		w, loss := begin()
		persist.Def("w", &w, "loss", &loss, "by", &by)
	}, func(t *testing.T) {
		allFunctions()
		var w, loss *tensor.Tensor
		defer celltest.Begin("w", &w, "loss", &loss, "by", &by)()
		by = 5 // the hook has the variable, not its value
		w2, loss2 := begin()
		loss.Backward()
		loss2.Backward()
		sameBits(t, "the gradient", w.Grad(), w2.Grad())
	})
	if text := strings.Join(notes, ""); strings.Contains(text, "note:") {
		t.Errorf("notes: %s", text)
	}
}

// TestFunctionsThatCanNotBeKept: the cell that made the graph says so once, the values
// are kept, and Backward says it again.
func TestFunctionsThatCanNotBeKept(t *testing.T) {
	define := func() (custom, again, hooked, leaf *tensor.Tensor) {
		w := tensor.Of(1., 2).RequireGrad()
		apply := func() *tensor.Tensor {
			return tensor.Apply(tensor.Function{Name: "twice",
				Forward:  func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) { return in[0].Mul(2), in },
				Gradient: func(_ []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{g.Mul(2)} }}, w)
		}
		custom = apply().Add(apply()).Sum()
		again = tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor { return in[0].Mul(in[0]) }, w).Sum()
		hooked = w.Mul(w)
		hooked.OnGrad(func(g *tensor.Tensor) *tensor.Tensor { return nil })
		hooked = hooked.Sum()
		leaf = tensor.Of(3.).RequireGrad()
		leaf.OnGrad(func(g *tensor.Tensor) *tensor.Tensor { return nil })
		return custom, again, hooked, leaf
	}
	notes := celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		custom, again, hooked, leaf := define()
		persist.Def("custom", &custom, "again", &again, "hooked", &hooked, "leaf", &leaf)
	}, func(t *testing.T) {
		var custom, again, hooked, leaf *tensor.Tensor
		defer celltest.Begin("custom", &custom, "again", &again, "hooked", &hooked, "leaf", &leaf)()
		if got := custom.Item() + again.Item() + hooked.Item(); got != 12+5+5 {
			t.Errorf("the values add up to %v", got)
		}
		for loss, want := range map[*tensor.Tensor]string{
			custom: `the graph behind a result of "sum" ended with cell 1, since the derivative of "twice" is a function that can't be kept`,
			again:  `the function that Recompute would run again can't be kept`,
			hooked: `a hook that OnGrad was given is a function that can't be kept`,
		} {
			if err := tensor.Try(func() { loss.Mul(2).Backward() }); !errors.Is(err, tensor.ErrGrad) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		leaf.Square().Sum().Backward()
		if got := leaf.Grad().Item(); got != 6 {
			t.Errorf("the leaf's gradient is %v", got)
		}
	}, func(t *testing.T) {
		var custom *tensor.Tensor
		defer celltest.Begin("custom", &custom)()
		if err := tensor.Try(func() { custom.Backward() }); err == nil || !strings.Contains(err.Error(), "ended with cell 1") {
			t.Errorf("two cells later: %v", err)
		}
		custom, again, _, _ := define()
		persist.Def("custom", &custom, "again", &again)
	})
	for _, want := range []string{
		`note: the gradient graph ends with this cell, since the derivative of "twice" is a function that can't be kept: call Backward in this cell, or pass tensor.Apply a value of a type with a method Function` + "\n",
		`note: the gradient graph ends with this cell, since the function that Recompute would run again can't be kept: call Backward in this cell, or use tensor.RecomputeModule` + "\n",
		`note: the gradient graph ends with this cell, since a hook that OnGrad was given is a function that can't be kept: call Backward in this cell` + "\n",
		`note: a hook that OnGrad was given is a function that can't be kept: it ends with this cell, and so do graphs through it` + "\n",
	} {
		if strings.Count(notes[0], want) != 1 {
			t.Errorf("not said once: %s; but\n%s", want, notes[0])
		}
	}
	if strings.Count(notes[0], "note:") != 4 || strings.Contains(notes[1]+notes[2], "note:") {
		t.Errorf("notes: %q", notes)
	}
}

// TestGraphsAreLeftOutWhereThereIsNoRoom: what package persist does at its limit.
func TestGraphsAreLeftOutWhereThereIsNoRoom(t *testing.T) {
	notes := celltest.Run(t, func(t *testing.T) {
		end := celltest.Begin()
		w, _, mean, worst := losses()
		persist.Def("w", &w, "mean", &mean, "worst", &worst)
		cellstate.SetOverLimit(true)
		end()
	}, func(t *testing.T) {
		var w, mean, worst *tensor.Tensor
		defer celltest.Begin("w", &w, "mean", &mean, "worst", &worst)()
		_, _, mean2, _ := losses()
		sameBits(t, "the value", mean.Detach(), mean2.Detach())
		if err := tensor.Try(func() { mean.Backward() }); !errors.Is(err, tensor.ErrGrad) || !strings.Contains(err.Error(), "LECTERN_KEEP_LIMIT") {
			t.Errorf("Backward: %v", err)
		}
		if !w.RequiresGrad() || !w.IsLeaf() || mean.IsLeaf() {
			t.Error("leaf or result changed its kind")
		}
	})
	if strings.Count(notes[0], "note:") != 1 || !strings.Contains(notes[0], "note: gradient graphs end with this cell") || strings.Contains(notes[1], "note:") {
		t.Errorf("notes: %q", notes)
	}
}

// TestGraphsEndAtTheLimit: tensors come first.
func TestGraphsEndAtTheLimit(t *testing.T) {
	t.Setenv(persist.LimitVar, fmt.Sprint(3<<20))
	notes := celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		w := tensor.With(tensor.NewGenerator(1)).Randn(512, 512).RequireGrad()
		y := w
		for range 10 {
			y = y.Tanh()
		}
		loss := y.Sum()
		persist.Def("w", &w, "loss", &loss)
	}, func(t *testing.T) {
		var w, loss *tensor.Tensor
		defer celltest.Begin("w", &w, "loss", &loss)()
		if err := tensor.Try(func() { loss.Backward() }); err == nil || !strings.Contains(err.Error(), "ended with cell 1") || w.Len() != 1<<18 {
			t.Errorf("%v, %d", err, w.Len())
		}
	})
	if strings.Count(notes[0], "note:") != 1 || !strings.Contains(notes[0], "gradient graphs end with this cell") {
		t.Errorf("notes %q", notes)
	}
}

// TestTrainingDoesNotGrow: the graph of a step goes when Backward has gone through
// it, or when the loss gets another value.
func TestTrainingDoesNotGrow(t *testing.T) {
	n := 6
	switch {
	case os.Getenv("LECTERN_LONG") == "1":
		n = 100
	case testing.Short():
		n = 4
	}
	const side = 64 // 16 kB: a file for each value
	forward := func(w *tensor.Tensor) *tensor.Tensor {
		y := w
		for range 5 {
			y = y.Mul(0.5).Tanh()
		}
		return y.Sum()
	}
	cells := []func(*testing.T){func(t *testing.T) {
		defer celltest.Begin()()
		w := tensor.With(tensor.NewGenerator(1)).Randn(side, side).RequireGrad()
		loss := forward(w)
		persist.Def("w", &w, "loss", &loss)
	}}
	for i := range n {
		cells = append(cells, func(t *testing.T) { // without Backward, a graph over a graph that is not needed
			var w, loss *tensor.Tensor
			defer celltest.Begin("w", &w, "loss", &loss)()
			noteDisk(t, "before")
			loss = forward(w)
			persist.Def("loss", &loss)
		}, func(t *testing.T) {
			var w, loss *tensor.Tensor
			defer celltest.Begin("w", &w, "loss", &loss)()
			noteDisk(t, "graph")
			w.ZeroGrad()
			loss.Backward()
			if i%2 == 1 {
				tensor.NoGrad(func() { w.SubInPlace(w.Grad()) })
			}
		}, func(t *testing.T) {
			var w, loss *tensor.Tensor
			defer celltest.Begin("w", &w, "loss", &loss)()
			noteDisk(t, "released")
			loss = forward(w)
		})
	}
	cells = append(cells, func(t *testing.T) {
		lines := celltest.Told(t)
		usual := map[string][]int{}
		for _, line := range lines {
			var what string
			var files, bytes int
			fmt.Sscan(line, &what, &files, &bytes)
			usual[what] = append(usual[what], bytes)
			if what == "released" && bytes > 3*side*side*4 { // w, its gradient, and little else
				t.Errorf("after Backward there are %d bytes in %d files", bytes, files)
			}
		}
		for what, bytes := range usual {
			if len(bytes) != n {
				t.Errorf("%d lines of %q", len(bytes), what)
			}
			for _, b := range bytes[2:] { // the first steps have no gradient yet
				if b > bytes[1]+200 { // numbers of files and cells get longer
					t.Errorf("%s: %d bytes, at first %d", what, b, bytes[1])
				}
			}
		}
		if usual["graph"][0] < 5*side*side*4 {
			t.Errorf("a graph of 5 saved values is %d bytes", usual["graph"][0])
		}
	})
	celltest.Run(t, cells...)
}

// noteDisk notes how much is kept.
func noteDisk(t *testing.T, what string) {
	entries, err := os.ReadDir(celltest.Folder())
	if err != nil {
		t.Fatal(err)
	}
	bytes := int64(0)
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			bytes += i.Size()
		}
	}
	celltest.Tell(t, fmt.Sprint(what, " ", len(entries), " ", bytes))
}
