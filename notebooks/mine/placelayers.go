// Exercise 04.5, by Lectern. (ecffe4ebe471)

package mine

// PlaceLayers is the function place of exercise 04.5.
func PlaceLayers(layers []int, memory int) []int {
	gpus := make([]int, len(layers))
	now, free := 0, memory
	for i, bytes := range layers {
		if bytes > free {
			now, free = now+1, memory
		}
		gpus[i] = now
		free -= bytes
	}
	return gpus
}
