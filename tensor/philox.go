package tensor

import "math/bits"

// Philox 4×32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3" (2011). It is a cipher in which
// the plain text is a counter: block number i of a stream can be computed without
// the blocks before it, so that any number of threads can fill a tensor together
// and the result does not depend on how they share the work.

const (
	philoxMul0, philoxMul1 = 0xd2511f53, 0xcd9e8d57
	philoxKey0, philoxKey1 = 0x9e3779b9, 0xbb67ae85 // golden ratio and √3 - 1
	philoxRounds           = 10
)

// philox returns the block of a counter under a key.
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], counter[3]
	k0, k1 := key[0], key[1]
	for range philoxRounds {
		high0, low0 := bits.Mul32(philoxMul0, c0)
		high1, low1 := bits.Mul32(philoxMul1, c2)
		c0, c1, c2, c3 = high1^c1^k0, low1, high0^c3^k1, low0
		k0 += philoxKey0
		k1 += philoxKey1
	}
	return [4]uint32{c0, c1, c2, c3}
}
