package cpu

import "unsafe"

func detect() []Level { return []Level{Generic, NEON} } // every arm64 has it

var tiles32 = [...]tile{
	Generic: {2, 4, 4, tileGo[float32]},
	NEON:    {8, 8, 8, tileNEON[float32]},
}

var tiles64 = [...]tile{
	Generic: {2, 4, 4, tileGo[float64]},
	NEON:    {8, 4, 4, tileNEON[float64]},
}

func tileNEON[T float32 | float64](x *tileArgs, rows int) {
	if unsafe.Sizeof(T(0)) == 8 {
		inWhole[T](x, rows, 4, tileF64NEON)
	} else {
		inWhole[T](x, rows, 8, tileF32NEON)
	}
}
