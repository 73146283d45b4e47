// Exercise 26.3, by Lectern. (ba21f4e39d96)

package mine

// Parameters is the function parameters of exercise 26.3.
func Parameters(layers, width, hidden, vocabulary int) int {
	block := 4*width*width + 3*width*hidden + 2*width
	return layers*block + width + 2*vocabulary*width
}
