// Exercise 21.5, by Lectern. (8306a2cf7fe7)

package mine

import "math"

// ToBF16 is the function toBF16 of exercise 21.5.
func ToBF16(x float32) float32 {
	bits := math.Float32bits(x)
	bits += 0x7fff + bits>>16&1 // just under half, or half if odd
	return math.Float32frombits(bits &^ 0xffff)
}
