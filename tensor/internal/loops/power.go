package loops

import (
	"math"

	"github.com/lectern-go/lectern/internal/cpu"
)

// PowFloat32 raises numbers as math.Pow does, rounded once. Nearly always, all exponents of a block are the same, a
// small integer or a half: then products and a root are enough.
func PowFloat32(dst, x, y []float32) {
	if len(y) == 0 {
		return
	}
	p := y[0]
	for _, other := range y {
		if other != p {
			powEach(dst, x, y)
			return
		}
	}
	if kernel := PowerOf(p); kernel != nil {
		kernel(dst, x)
		return
	}
	powEach(dst, x, y)
}

// PowerOf returns the loop for an exponent for which products and a root are enough, else nil.
func PowerOf(p float32) func(dst, x []float32) {
	switch twice := 2 * p; {
	case p == 1:
		return func(dst, x []float32) { copy(dst, x) }
	case p == 2:
		return Vector1(Vectors32.Square, Square[float32])
	case p == 3:
		return Vector1(Vectors32.Cube, thirdPower)
	case p == -1:
		return Vector1(Vectors32.Reciprocal, Reciprocal[float32])
	case twice == float32(int(twice)) && -16 <= twice && twice <= 16:
		return func(dst, x []float32) { powHalves(dst, x, int(twice)) }
	}
	return nil
}

// thirdPower is rounded twice, so the last bit or two may differ.
func thirdPower(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(v*v) * v
	}
}

// vectorPowers is powEach in vector instructions, nil where there are none; it gives NaN for any special case.
var vectorPowers = cpu.Powers()

// powHalves raises numbers to half of twice, in float64.
func powHalves(dst, x []float32, twice int) {
	if twice%2 != 0 && vectorPowers != nil {
		parts := borrow[float32, stretches[float32]](&rooms)
		defer giveBack[float32](&rooms, parts)
		same, room := parts[0][:], parts[1][:] // dst may be x
		repeat(same[:min(len(x), len(same))], float32(twice)/2)
		for len(x) > 0 {
			n := min(len(x), len(same))
			vectorPowers(room[:n], x[:n], same)
			if s := Vectors32.Sum(room[:n]); s != s {
				halfPowers(room[:n], x[:n], twice)
			}
			copy(dst, room[:n])
			dst, x = dst[n:], x[n:]
		}
		return
	}
	halfPowers(dst, x, twice)
}

func halfPowers(dst, x []float32, twice int) {
	whole, half := twice/2, twice%2 != 0
	negative := twice < 0
	if negative {
		whole = -whole
	}
	for i, v := range x {
		base, power := float64(v), 1.
		for n := whole; n > 0; n >>= 1 {
			if n&1 == 1 {
				power *= base
			}
			base *= base
		}
		if half {
			if v == 0 || v < 0 && v < -math.MaxFloat32 { // whose roots have other signs, or don't exist
				dst[i] = float32(math.Pow(float64(v), float64(twice)/2))
				continue
			}
			power *= math.Sqrt(float64(v))
		}
		if negative {
			power = 1 / power
		}
		dst[i] = float32(power)
	}
}

// powEach computes in float64, where e^(y·ln x) has more than enough digits for a float32.
func powEach(dst, x, y []float32) {
	NearAndFar(vectorPowers, onePower)(dst, x, y)
}

func onePower(a, b float64) float64 {
	if a > 0 && a <= math.MaxFloat32 && math.Abs(b) <= 1<<20 {
		return math.Exp(b * math.Log(a))
	}
	return math.Pow(a, b)
}
