// Exercise 03.4, by Lectern. (6049b8a3aa90)

package mine

import "math"

// DecodeFloat is the function decode of exercise 03.4.
func DecodeFloat(code uint32, exponentBits, mantissaBits int) float64 {
	mantissa := code & (1<<mantissaBits - 1)
	exponent := int(code >> mantissaBits & (1<<exponentBits - 1))
	sign := code >> (mantissaBits + exponentBits)
	bias := 1<<(exponentBits-1) - 1

	value := float64(mantissa) / float64(uint64(1)<<mantissaBits)
	if exponent == 0 {
		exponent = 1 // subnormal
	} else {
		value++
	}
	value = math.Ldexp(value, exponent-bias) // value · 2^(exponent−bias)
	if sign == 1 {
		value = -value
	}
	return value
}
