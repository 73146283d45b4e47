// Exercise 17.4, by Lectern. (f55ede1c789e)

package mine

// SGD is the function sgd of exercise 17.4.
func SGD(p float64, gradients []float64, lr, m float64) float64 {
	b := 0.0
	for _, g := range gradients {
		b = m*b + g
		p -= lr * b
	}
	return p
}
