// Exercise 11.5, by Lectern. (8046b07013f1)

package mine

import (
	"math"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

// forward computes all values: the inputs, then the tape's results.
func forward(inputs []float64, tape []lesson.Op) []float64 {
	values := append([]float64{}, inputs...)
	for _, op := range tape {
		a, b := values[op.A], values[op.B]
		switch op.Name {
		case "add":
			a += b
		case "mul":
			a *= b
		case "pow":
			a = math.Pow(a, b)
		case "exp":
			a = math.Exp(a)
		case "relu":
			a = max(a, 0)
		}
		values = append(values, a)
	}
	return values
}

// Backward is the function backward of exercise 11.5.
func Backward(inputs []float64, tape []lesson.Op) []float64 {
	values := forward(inputs, tape)
	grads := make([]float64, len(values))
	grads[len(grads)-1] = 1
	for i := len(tape) - 1; i >= 0; i-- {
		op := tape[i]
		g := grads[len(inputs)+i]
		da, db := Derivative(op.Name, values[op.A], values[op.B], g)
		grads[op.A] += da
		grads[op.B] += db
	}
	return grads[:len(inputs)]
}
