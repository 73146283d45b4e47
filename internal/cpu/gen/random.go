package main

import "math"

// What random numbers are made of, in float64 and in 64-bit integers in their places.

// randomLoops are the loops of package random.
func randomLoops() []*loop {
	return []*loop{
		{name: "philox", doc: "computes a block of Philox 4x32-10 for each x, an integer that is added to the first block p₄: the first 64 bits to a and the rest to b. The key is p₀, p₁ and the stream p₂, p₃.", e: float64s,
			operands: []string{"a", "b", "x"}, unroll: [2]int{1, 2}, params: true, program: philox},
		{name: "normals", doc: "computes two normal numbers, to x and y, from 64 random bits in a and 64 in b.", e: float64s,
			operands: []string{"x", "y", "a", "b"}, unroll: [2]int{1, 2}, params: true, program: normals},
		{name: "normalPairs", doc: "makes two normal numbers from each block of Philox, as float32, side by side in the place of a float64. Parameters are those of philox, a mean p₅ and a standard deviation p₆.", e: float64s,
			operands: []string{"pairs", "x"}, unroll: [2]int{1, 2}, params: true, program: normalPairs},
		{name: "uniforms", doc: "computes p₀ + u·p₁ with the first 53 bits of x as a number u from 0 to 1.", e: float64s,
			operands: []string{"dst", "x"}, unroll: [2]int{2, 4}, params: true, program: func(l *lanes) { uniforms(l, 53) }},
		{name: "uniforms24", doc: "computes p₀ + u·p₁ with the first 24 bits of x as a number u from 0 to 1.", e: float64s,
			operands: []string{"dst", "x"}, unroll: [2]int{2, 4}, params: true, program: func(l *lanes) { uniforms(l, 24) }},
		{name: "powers", doc: "computes x to the power of y in float64, and rounds once: NaN unless x is positive and finite and |y| at most 2²⁰.", e: float64s,
			operands: []string{"dst", "x", "y"}, widths: []int{4, 4, 4}, unroll: [2]int{1, 2}, whole: true, program: powers},
	}
}

// philox keeps 32 bits in each lane of 64. The contents of the upper halves do no harm: a
// product uses the lower ones.
func philox(l *lanes) {
	a, b := philoxBlock(l, l.load(2))
	l.store(0, a)
	l.store(1, b)
}

func philoxBlock(l *lanes, x ref) (a, b ref) {
	block := l.addInt(x, l.parameter(4))
	c0, c1 := block, l.shiftDown(block, 32)
	c2, c3 := l.parameter(2), l.parameter(3)
	k0, k1 := l.parameter(0), l.parameter(1)
	for round := range 10 {
		if round > 0 {
			k0, k1 = l.addInt(k0, l.bits(0x9e3779b9)), l.addInt(k1, l.bits(0xbb67ae85))
		}
		low, high := l.mulLow(c0, l.bits(0xd2511f53)), l.mulLow(c2, l.bits(0xcd9e8d57))
		c0, c1, c2, c3 = l.xor(l.xor(l.shiftDown(high, 32), c1), k0), high, l.xor(l.xor(l.shiftDown(low, 32), c3), k1), low
	}
	last := l.bits(1<<32 - 1)
	return l.or(l.shiftLeft(c0, 32), l.and(c1, last)), l.or(l.shiftLeft(c2, 32), l.and(c3, last))
}

// toDouble converts the first bits of unsigned integers, up to 53.
func toDouble(l *lanes, x ref, bits int) ref {
	x = l.shiftDown(x, 64-bits)
	low := l.or(l.and(x, l.bits(1<<32-1)), l.constant(0x1p52))
	if bits <= 32 {
		return l.sub(low, l.constant(0x1p52))
	}
	high := l.or(l.shiftDown(x, 32), l.constant(0x1p84))
	return l.add(l.sub(high, l.constant(0x1p84+0x1p52)), low)
}

func uniforms(l *lanes, bits int) {
	u := l.mul(toDouble(l, l.load(1), bits), l.constant(math.Ldexp(1, -bits)))
	l.store(0, l.add(l.parameter(0), l.mul(u, l.parameter(1))))
}

func normals(l *lanes) {
	x, y := boxMuller(l, l.load(2), l.load(3), l.parameter(0), l.parameter(1))
	l.store(0, x)
	l.store(1, y)
}

// normalPairs leaves the random bits in registers, and stores each number once.
func normalPairs(l *lanes) {
	a, b := philoxBlock(l, l.load(1))
	x, y := boxMuller(l, a, b, l.parameter(5), l.parameter(6))
	l.store(0, l.or(l.toSingle(x), l.shiftLeft(l.toSingle(y), 32)))
}

// boxMuller is the transform of Box and Muller: √(-2 ln u) is the radius of a point in the plane, and 2π times another
// u its angle. x and y are mean + std times its coordinates.
func boxMuller(l *lanes, a, b, mean, std ref) (x, y ref) {
	u := l.mul(l.add(toDouble(l, a, 53), l.constant(0.5)), l.constant(0x1p-53))
	radius := l.sqrt(l.mul(logarithm(l, u), l.constant(-2)))
	angle := l.mul(l.mul(toDouble(l, b, 53), l.constant(2*math.Pi)), l.constant(0x1p-53))
	sin, cos := sinCos(l, angle)
	return l.add(mean, l.mul(std, l.mul(radius, cos))), l.add(mean, l.mul(std, l.mul(radius, sin)))
}

// logarithm computes ln x of normal numbers below 2¹⁰²³. x is 2^k·(1+f) with 1+f between √½ and √2; with s = f/(2+f)
// the logarithm of 1+f is 2s + s·R(s²). The polynomial is that of FreeBSD's library.
func logarithm(l *lanes, x ref) ref {
	bias := l.bits(1024 << 52)
	e := l.shiftDown(l.addInt(l.subInt(x, l.constant(math.Sqrt2/2)), bias), 52)
	f := l.sub(l.addInt(l.subInt(x, l.shiftLeft(e, 52)), bias), l.constant(1))
	k := l.sub(l.or(e, l.constant(0x1p52)), l.constant(0x1p52+1024))
	s := l.div(f, l.add(f, l.constant(2)))
	z := l.mul(s, s)
	r := l.mul(z, l.polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
		2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01))
	half := l.mul(l.mul(f, f), l.constant(0.5))
	y := l.fma(k, l.constant(1.90821492927058770002e-10), l.mul(s, l.add(half, r)))
	y = l.sub(l.sub(half, y), f)
	return l.sub(l.mul(k, l.constant(6.93147180369123816490e-01)), y)
}

// sinCos computes both for angles from 0 to 2π. n is the nearest integer to x·2/π and r = x - n·π/2, with π/2
// in two parts; the last two bits of n say whether the sine or the cosine of r is wanted, and its sign. The
// polynomials are those of FreeBSD's library.
func sinCos(l *lanes, x ref) (sin, cos ref) {
	quarter := l.fma(x, l.constant(2/math.Pi), l.constant(0x3p51))
	n := l.sub(quarter, l.constant(0x3p51))
	r := l.fma(n, l.constant(-math.Pi/2), x)
	r = l.fma(n, l.constant(-6.123233995736766e-17), r)
	z := l.mul(r, r)
	s := l.fma(l.mul(r, z), l.polynomial(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
		2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10), r)
	half := l.mul(z, l.constant(0.5))
	w := l.sub(l.constant(1), half)
	c := l.polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
		-2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)
	c = l.add(w, l.fma(l.mul(z, z), c, l.sub(l.sub(l.constant(1), w), half)))
	odd := l.shiftLeft(quarter, 63)
	sin, cos = l.choose(l.negative(odd), c, s), l.choose(l.negative(odd), s, c)
	sign := l.bits(1 << 63)
	sin = l.xor(sin, l.and(l.shiftLeft(quarter, 62), sign))
	return sin, l.xor(cos, l.and(l.shiftLeft(l.addInt(quarter, l.bits(1)), 62), sign))
}

// powers computes e^(y·ln x). In float64 that has more than enough digits for a float32.
func powers(l *lanes) {
	x, y := l.load(1), l.load(2)
	v := l.mul(y, logarithm(l, x))
	v = l.max(l.constant(-120), l.min(l.constant(120), v)) // beyond, the result is 0 or infinity
	shifted := l.fma(v, l.constant(math.Log2E), l.constant(0x3p51))
	n := l.sub(shifted, l.constant(0x3p51))
	r := l.fma(n, l.constant(-6.93147180369123816490e-01), v)
	r = l.fma(n, l.constant(-1.90821492927058770002e-10), r)
	p := l.polynomial(r, 1, 1, 1./2, 1./6, 1./24, 1./120, 1./720, 1./5040, 1./40320, 1./362880)
	power := l.shiftLeft(l.addInt(shifted, l.bits(1023)), 52)
	z := l.mul(p, power)
	nan := l.bits(0x7ff8 << 48)
	z = l.choose(l.less(l.constant(0), x), z, nan)
	z = l.choose(l.atMost(x, l.constant(math.MaxFloat32)), z, nan)
	l.store(0, l.choose(l.atMost(l.and(y, l.bits(1<<63-1)), l.constant(1<<20)), z, nan))
}
