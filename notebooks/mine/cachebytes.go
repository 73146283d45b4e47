// Exercise 26.3, by Lectern. (2364c54562e7)

package mine

// CacheBytes is your function cacheBytes.
func CacheBytes(batch, tokens, layers, kvHeads, headSize, element int) int {
	return 2 * batch * tokens * layers * kvHeads * headSize * element
}
