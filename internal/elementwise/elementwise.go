// Package elementwise is the table of elementwise operations: it says what each of them does, independently of the
// library. A row feeds the tests of package tensor on every layout, dtype and device, the naive versions, the gradients
// at special points, the comparison with PyTorch's answers, and the sweep that times each operation beside PyTorch.
//
// The table knows the library only by names, since tests within package tensor read it, too. Operations with
// other arguments besides tensors, such as bounds, have their rows in those tests.
package elementwise

import (
	"reflect"
	"regexp"

	"github.com/lectern-go/lectern/internal/naive"
)

// Op is one operation on one or two operands.
type Op struct {
	Name   string // of its record
	Method string // of tensor.Tensor
	Torch  string // the PyTorch expression for it, of a and b, or of c where an operand that is timed must be positive
	Timed  string // the dtypes that are timed: f: float32, i: int32, l: int64, b: bool

	Low, High float64 // between which tests draw operands, so as to avoid corners; 0 and 0 mean -2 and 2
	Floats    bool    // it is defined only for floating point
	Bools     bool    // it is defined for bools, too
	Bits      bool    // it is defined only for integers and bools
	Alike     bool    // both operands must have the same shape
	Twice     bool    // it has a second derivative worth checking

	Result Result
	Value  Value
	Usual  int        // FLOPs per element by convention; those of Value are then not compared
	Slopes []Gradient // with respect to each operand; none if there is no gradient

	Smooth  []Point  // where its gradients must match finite differences
	Corners []Corner // where they are stated

	LeftOut []Omission // what PyTorch is not asked
}

// Result is the dtype of the result for that of the operands.
type Result int

const (
	Same  Result = iota // the same
	Float               // float32 for integers
	Bool
)

// Value computes one element from those of the operands.
type Value func(m *naive.Meter, v []float64) float64

// Gradient computes the gradient with respect to an operand from the operands, the result y and the gradient g with
// respect to that. Its caller sums over repeated operands.
type Gradient func(m *naive.Meter, in []*naive.Array, y, g *naive.Array) *naive.Array

// Point is an element of each operand.
type Point []float64

// Corner is a point and the gradient there, with respect to each operand.
type Corner struct {
	At   Point
	Want []float64
}

// Omission is where PyTorch gives a different answer, or refuses. If Gradient is set, it is still asked for the value.
type Omission struct {
	At       func(dtype string, p Point) bool
	Gradient bool
	Why      string
}

// Operands are the names of the operands in the expression for PyTorch, such as "ac", in order.
func (o *Op) Operands() (names string) {
	for _, name := range operand.FindAllString(o.Torch, -1) {
		names += name
	}
	return names
}

var operand = regexp.MustCompile(`\b[abc]\b`)

// Func returns the method of an operation as a function of its operands. T is *tensor.Tensor. It panics if there is no
// such method.
func Func[T any](o *Op) func(in []T) T {
	m, ok := reflect.TypeFor[T]().MethodByName(o.Method)
	if !ok {
		panic("the row " + o.Name + " of package elementwise names the method " + o.Method + ", which does not exist")
	}
	switch f := m.Func.Interface().(type) {
	case func(T) T:
		return func(in []T) T { return f(in[0]) }
	case func(a T, b any) T:
		return func(in []T) T { return f(in[0], in[1]) }
	case func(a, b T) T:
		return func(in []T) T { return f(in[0], in[1]) }
	}
	panic("the method " + o.Method + " of the row " + o.Name + " is a " + m.Type.String())
}

// Find returns the row of a record. It panics if there is none.
func Find(name string) *Op {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	panic("package elementwise has no row " + name)
}
