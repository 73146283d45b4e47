// Exercise 04.4, by Lectern. (45fd5a49f3d4)

package mine

import "math"

// PaysOff is your function paysOff.
func PaysOff(bytes, link, cpu, gpu float64) int {
	return int(math.Ceil(bytes / link / (cpu - gpu)))
}
