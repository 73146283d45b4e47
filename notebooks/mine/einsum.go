// Exercise 08.6, by Lectern. (dff064ff96be)

package mine

import "strings"

// elements returns how many elements an array with these axes has.
func elements(names string, size map[rune]int) int {
	count := 1
	for _, l := range names {
		count *= size[l]
	}
	return count
}

// at returns the position of the element with these indices.
func at(names string, size, index map[rune]int) int {
	place := 0
	for _, l := range names {
		place = place*size[l] + index[l]
	}
	return place
}

// Einsum is the function einsum of exercise 08.6.
func Einsum(pattern string, sizes []int, x, y []float64) []float64 {
	operands, result, _ := strings.Cut(pattern, "->")
	left, right, _ := strings.Cut(operands, ",")
	size, index, letters := map[rune]int{}, map[rune]int{}, ""
	for _, l := range left + right {
		if !strings.ContainsRune(letters, l) {
			size[l] = sizes[len(letters)]
			letters += string(l)
		}
	}
	out := make([]float64, elements(result, size))
	for n := range elements(letters, size) {
		rest := n
		for _, l := range letters {
			index[l] = rest % size[l]
			rest /= size[l]
		}
		out[at(result, size, index)] +=
			x[at(left, size, index)] * y[at(right, size, index)]
	}
	return out
}
