// Exercise 17.4, by Lectern. (2df28c184233)

package mine

// SGD is your function sgd.
func SGD(p float64, gradients []float64, lr, m float64) float64 {
	b := 0.0
	for _, g := range gradients {
		b = m*b + g
		p -= lr * b
	}
	return p
}
