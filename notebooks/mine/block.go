// Exercise 25.7, by Lectern. (76422e22c1b5)

package mine

import "slices"

// times multiplies a matrix by a vector.
func times(w [][]float64, x []float64) []float64 {
	y := make([]float64, len(w))
	for o, row := range w {
		for i, v := range row {
			y[o] += v * x[i]
		}
	}
	return y
}

// plus adds two vectors.
func plus(a, b []float64) []float64 {
	sum := slices.Clone(a)
	for i, x := range b {
		sum[i] += x
	}
	return sum
}

// rotated rotates each head's part of a row by the token's position t.
func rotated(row []float64, heads, t int) []float64 {
	var all []float64
	d := len(row) / heads
	for h := range heads {
		part := row[h*d : (h+1)*d]
		all = append(all, Rotate(part, t, 10_000)...)
	}
	return all
}

// Block is the function block of exercise 25.7.
func Block(
	x [][]float64, heads int, gains [][]float64, w [][][]float64,
) [][]float64 {
	var q, k, v, out [][]float64
	for t, row := range x {
		row = RMSNorm(row, gains[0], 1e-5)
		q = append(q, rotated(times(w[0], row), heads, t))
		k = append(k, rotated(times(w[1], row), heads, t))
		v = append(v, times(w[2], row))
	}
	for t, heard := range MultiHead(q, k, v, heads) {
		row := plus(x[t], times(w[3], heard))
		thought := SwiGLU(RMSNorm(row, gains[1], 1e-5), w[4], w[5], w[6])
		out = append(out, plus(row, thought))
	}
	return out
}
