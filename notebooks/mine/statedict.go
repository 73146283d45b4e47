// Exercise 14.5, by Lectern. (9a8a491ad588)

package mine

import "fmt"

// StateDict is the function stateDict of exercise 14.5.
func StateDict(dim, layers int) (names []string, shapes [][]int, n int) {
	add := func(layer string, in, out int) {
		names = append(names, layer+".weight", layer+".bias")
		shapes = append(shapes, []int{in, out}, []int{out})
		n += in*out + out
	}
	for i := range layers {
		add(fmt.Sprintf("layers.%d", i), dim, dim)
	}
	add("final", dim, 1)
	return names, shapes, n
}
