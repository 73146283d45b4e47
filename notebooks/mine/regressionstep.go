// Exercise 19.4, by Lectern. (45d7a0819528)

package mine

// RegressionStep is the function step of exercise 19.4.
func RegressionStep(w []float64, x [][]float64, y []float64, lr float64) (
	[]float64, float64) {

	B := float64(len(x))
	loss, grad := 0.0, make([]float64, len(w))
	for i := range x {
		e := -y[i]
		for k := range w {
			e += w[k] * x[i][k]
		}
		loss += e * e / B
		for k := range w {
			grad[k] += 2 / B * e * x[i][k]
		}
	}
	next := make([]float64, len(w))
	for k := range w {
		next[k] = w[k] - lr*grad[k]
	}
	return next, loss
}
