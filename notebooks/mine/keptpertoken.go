// Exercise 29.2, by Lectern. (0fa16d551594)

package mine

// KeptPerToken is the function keptPerToken of exercise 29.2.
func KeptPerToken(layers, width, heads, hidden, vocabulary, context int) int {
	block := 8*width + 2*hidden + 2*heads*context
	return layers*block + 2*width + vocabulary
}
