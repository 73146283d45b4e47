// Exercise 26.4, by Lectern. (21d067b275c1)

package mine

// TrainingFLOPs is the function training of exercise 26.4.
func TrainingFLOPs(layers, width, hidden, vocabulary, context int) int {
	weights := layers*(4*width*width+3*width*hidden) + vocabulary*width
	return 3 * (2*weights + 4*layers*context*width)
}
