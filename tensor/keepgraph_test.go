package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/keep"
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
	runCells(t, nil, func(t *testing.T) {
		defer restore()()
		graphs := map[string]*Kept{}
		for _, s := range steps() {
			if k, ok := s.forward(); ok {
				graphs[s.name] = &k
			}
		}
		keep.Def("graphs", &graphs)
	}, func(t *testing.T) {
		var graphs map[string]*Kept
		keep.Reg[*Cube]()
		keep.Reg[*Block]()
		defer restore("graphs", &graphs)()
		noteOps(t, graphs, func(k *Kept) *tensor.Tensor { return k.Loss })
		for _, s := range steps() {
			k := graphs[s.name]
			if k == nil {
				continue
			}
			fresh, _ := s.forward()
			s.first(&fresh)
			s.first(k)
			sameBits(t, s.name, k.Loss.Detach(), fresh.Loss.Detach())
			for i, x := range k.In {
				sameBits(t, fmt.Sprintf("%s: the gradient of input %d", s.name, i), x.Grad(), fresh.In[i].Grad())
			}
		}
	}, func(t *testing.T) {
		var graphs map[string]*Kept
		keep.Reg[*Cube]()
		keep.Reg[*Block]()
		defer restore("graphs", &graphs)()
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
		b, _ := os.ReadFile(opsFile())
		for _, name := range tensor.OpsWithGradients() {
			if !slices.Contains(strings.Split(string(b), "\n"), name) {
				t.Errorf("no graph with %q has crossed cells", name)
			}
		}
	})
}

// opsFile lists the operations whose graphs cells of this test have got.
func opsFile() string { return os.Getenv(scratchVar) }

// noteOps adds the operations of restored graphs to the list.
func noteOps(t *testing.T, graphs map[string]*Kept, root func(*Kept) *tensor.Tensor) {
	f, err := os.OpenFile(opsFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(graphs) == 0 {
		t.Fatal("no graphs")
	}
	for _, k := range graphs {
		if r := root(k); r != nil && r.RequiresGrad() {
			for _, n := range tensor.GraphOf(r).Nodes {
				fmt.Fprintln(f, n.Op)
			}
		}
	}
}

var _ = errors.Is
