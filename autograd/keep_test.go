package autograd_test

import (
	"testing"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
)

// Product is a·b.
type Product struct {
	A, B  float64
	Freed bool
}

func (p *Product) Name() string { return "product" }
func (p *Product) Ready() error {
	if p.Freed {
		return &autograd.FreedError{Op: p.Name()}
	}
	return nil
}
func (p *Product) Gradient(i int, g float64) float64 { return g * [2]float64{p.B, p.A}[i] }
func (p *Product) Release()                          { p.Freed = true }

func tenfold(g float64) float64 { return 10 * g }

// TestGraphsOfNumbersLiveOn: a graph whose functions are values of a cell's types is
// kept from cell to cell like any other value.
func TestGraphsOfNumbersLiveOn(t *testing.T) {
	rules := autograd.Rules[float64]{Add: func(a, b float64) float64 { return a + b }}
	var x, y *autograd.Node[float64]
	known := func() {
		persist.Reg[*Product]()
		persist.Fn("autograd_test.tenfold", tenfold)
	}
	celltest.Run(t, func(t *testing.T) {
		known()
		defer celltest.Begin()()
		x = autograd.Leaf[float64]()
		y = autograd.Record(&Product{A: 3, B: 3}, x, x)
		y.OnGrad(tenfold)
		persist.Def("x", &x, "y", &y)
	}, func(t *testing.T) {
		known()
		defer celltest.Begin("x", &x, "y", &y)()
		if err := autograd.Backward(y, 1, rules); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T) {
		known()
		defer celltest.Begin("x", &x, "y", &y)()
		if g, ok := x.Grad(); !ok || g != 60 {
			t.Errorf("gradient %v, %v, want 60", g, ok)
		}
		if len(y.Hooks()) != 1 {
			t.Errorf("%d hooks", len(y.Hooks()))
		}
		if err := autograd.Backward(y, 1, rules); err == nil {
			t.Error("a second Backward is possible")
		}
	})
}
