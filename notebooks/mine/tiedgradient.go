// Exercise 25.6, by Lectern. (3e1d2ac51e43)

package mine

// TiedGradient is the function tiedGradient of exercise 25.6.
func TiedGradient(
	vocabulary int, ids []int, gx, h, glogits [][]float64,
) [][]float64 {
	g := make([][]float64, vocabulary)
	for v := range g {
		g[v] = make([]float64, len(h[0]))
		for t := range h {
			for i, x := range h[t] {
				g[v][i] += glogits[t][v] * x // the output layer
			}
		}
	}
	for t, id := range ids {
		for i, x := range gx[t] {
			g[id][i] += x // the embedding
		}
	}
	return g
}
