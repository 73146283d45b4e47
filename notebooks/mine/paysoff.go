// Exercise 04.4, by Lectern. (58015a6d26cb)

package mine

import "math"

// PaysOff is the function paysOff of exercise 04.4.
func PaysOff(bytes, link, cpu, gpu float64) int {
	return int(math.Ceil(bytes / link / (cpu - gpu)))
}
