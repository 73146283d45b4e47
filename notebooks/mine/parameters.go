// Exercise 25.3, by Lectern. (7be64da4b264)

package mine

// Parameters is your function parameters.
func Parameters(layers, width, hidden, vocabulary int) int {
	block := 4*width*width + 3*width*hidden + 2*width
	return layers*block + width + 2*vocabulary*width
}
