// Exercise 25.4, by Lectern. (d54d2844944a)

package mine

import "math"

// SwiGLU is the function swiglu of exercise 25.4.
func SwiGLU(x []float64, w1, w2, w3 [][]float64) []float64 {
	product := func(w [][]float64, x []float64) []float64 {
		y := make([]float64, len(w))
		for o, row := range w {
			for i, v := range row {
				y[o] += v * x[i]
			}
		}
		return y
	}
	gate, h := product(w1, x), product(w3, x)
	for i, z := range gate {
		h[i] *= z / (1 + math.Exp(-z))
	}
	return product(w2, h)
}
