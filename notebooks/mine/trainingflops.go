// Exercise 25.4, by Lectern. (006c2ce1b1f0)

package mine

// TrainingFLOPs is your function training.
func TrainingFLOPs(layers, width, hidden, vocabulary, context int) int {
	weights := layers*(4*width*width+3*width*hidden) + vocabulary*width
	return 3 * (2*weights + 4*layers*context*width)
}
