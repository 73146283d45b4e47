// Exercise 27.3, by Lectern. (9277292e8aa0)

package mine

// CacheBytes is the function cacheBytes of exercise 27.3.
func CacheBytes(batch, tokens, layers, kvHeads, headSize, element int) int {
	return 2 * batch * tokens * layers * kvHeads * headSize * element
}
