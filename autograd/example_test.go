package autograd_test

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/autograd"
)

// Value is a number that remembers how it was computed: a micrograd.
type Value struct {
	data float64
	node *autograd.Node[float64]
}

// local is one operation: its name and its derivative with respect to each
// input, which for scalars are plain numbers known at forward time.
type local struct {
	name        string
	derivatives []float64
}

func (l *local) Name() string                         { return l.name }
func (l *local) Ready() error                         { return nil }
func (l *local) Gradient(i int, grad float64) float64 { return grad * l.derivatives[i] }
func (l *local) Release()                             {}
func number(x float64) Value                          { return Value{x, autograd.Leaf[float64]()} }
func result(y float64, l *local, in ...Value) Value {
	return Value{y, autograd.Record(l, nodes(in)...)}
}
func (v Value) Add(w Value) Value { return result(v.data+w.data, &local{"add", []float64{1, 1}}, v, w) }
func (v Value) Mul(w Value) Value {
	return result(v.data*w.data, &local{"mul", []float64{w.data, v.data}}, v, w)
}
func (v Value) Tanh() Value {
	y := math.Tanh(v.data)
	return result(y, &local{"tanh", []float64{1 - y*y}}, v)
}

// Backward computes dv/dx for every x that v was computed from.
func (v Value) Backward() {
	add := func(a, b float64) float64 { return a + b }
	if err := autograd.Backward(v.node, 1, autograd.Rules[float64]{Add: add}); err != nil {
		panic(err)
	}
}

func (v Value) Grad() float64 { g, _ := v.node.Grad(); return g }

func nodes(values []Value) []*autograd.Node[float64] {
	var all []*autograd.Node[float64]
	for _, v := range values {
		all = append(all, v.node)
	}
	return all
}

// A neuron with two inputs, as in Karpathy's micrograd: the engine is the one
// that trains tensors, the values are float64.
func Example_micrograd() {
	x1, x2 := number(2), number(0)
	w1, w2 := number(-3), number(1)
	b := number(6.8813735870195432)
	out := x1.Mul(w1).Add(x2.Mul(w2)).Add(b).Tanh()
	out.Backward()
	fmt.Printf("out %.4f\n", out.data)
	fmt.Printf("x1 %.4f  w1 %.4f\n", x1.Grad(), w1.Grad())
	fmt.Printf("x2 %.4f  w2 %.4f\n", x2.Grad(), w2.Grad())
	// Output:
	// out 0.7071
	// x1 -1.5000  w1 1.0000
	// x2 0.5000  w2 0.0000
}

// A value that is used twice gets the sum of both gradients.
func Example_accumulation() {
	x := number(3)
	y := x.Mul(x).Add(x) // x² + x, derivative 2x + 1
	y.Backward()
	fmt.Println(x.Grad())
	// Output: 7
}
