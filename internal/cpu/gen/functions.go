package main

import "math"

// exp computes eˣ as 2ⁿ·eʳ with |r| ≤ ln 2/2. eʳ is 1 + r + r²·q(r); q is the polynomial of degree 4 with the least
// relative error of eʳ, 3.1e-9.
func exp(l *lanes, x ref) ref {
	if l.wide { // one instruction multiplies by 2ⁿ
		x = l.max(l.constant(-120), l.min(l.constant(89), x)) // NaN stays
		e, n := expTable(l, x)
		return l.timesPowerOf2(e, n)
	}
	a, b := expOf(l, x)
	return l.mul(a, b)
}

// expOf computes e to the power of x as a product of two factors: a is a normal number, b a power of
// 2, so that only their product can overflow, or lose digits as a subnormal number. Below -120, both
// are those of -120, and the product is 0.
func expOf(l *lanes, x ref) (a, b ref) {
	x = l.min(l.constant(89), x) // NaN stays
	x = l.max(l.constant(-120), x)
	n := l.round(l.mul(x, l.constant(math.Log2E)))
	r := l.fma(n, l.constant(-ln2High), x)
	r = l.fma(n, l.constant(-(math.Ln2 - ln2High)), r)
	e := l.add(l.fma(l.mul(r, r), l.polynomial(r, expTail...), r), l.constant(1))
	whole := l.toInt(n)
	half := l.halveInt(whole)
	one := l.bits(uint64(math.Float32bits(1)))
	a = l.mul(e, l.addInt(l.shiftLeft(half, 23), one))
	b = l.addInt(l.shiftLeft(l.subInt(whole, half), 23), one)
	return a, b
}

// expTail are the coefficients of (eʳ - 1 - r)/r².
var expTail = []float64{0.49999993412420657, 0.16666520107135396, 0.04166839422720385, 0.008368780474685804, 0.0013814466275000783}

// expTable computes eʳ⁺ⁱ and n, for AVX-512: x = n·ln 2 + r with n in sixteenths, and i the fraction of n, whose
// power of 2 is looked up. The polynomial only has to cover |r| ≤ ln 2/32; its error is 1.6e-9. The instruction
// that multiplies by 2ⁿ rounds n down.
func expTable(l *lanes, x ref) (e, n ref) {
	bits, n := rounded(l, x, l.constant(math.Log2E), sixteenths)
	high := float64(float32(math.Ln2))
	r := l.fma(n, l.constant(-high), x)
	r = l.fma(n, l.constant(high-math.Ln2), r)
	return powerOf2(l, bits, r, 1), n
}

// rounded returns the product of x and y, rounded to multiples of shift's last place, and a number whose last bits are
// the product's and shift's.
func rounded(l *lanes, x, y ref, shift float64) (bits, n ref) {
	bits = l.fma(x, y, l.constant(shift))
	return bits, l.sub(bits, l.constant(shift))
}

// The last place of wholes is 1, and that of sixteenths is a sixteenth.
const wholes, sixteenths = 3 << 22, 3 << 18

// reducedSquare rounds -f·u² to n·ln 2, and returns bits and n as rounded does. What is left is -f·r. No
// rounding error is large enough to show in the exponential of a large square. |n| is below 256, and f a power
// of 2.
func reducedSquare(l *lanes, u ref, f, shift float64) (bits, n, r ref) {
	bits, n = rounded(l, u, l.mul(u, l.constant(-f*math.Log2E)), shift)
	const high = 2839. / 4096 // ln 2 in 12 bits, so that its product with n is exact
	r = l.fma(u, u, l.mul(n, l.constant(high/f)))
	return bits, n, l.fma(n, l.constant((math.Ln2-high)/f), r)
}

// expOfSquare computes e to the power of -f·u², times 2⁶⁴, so that it is a normal number.
func expOfSquare(l *lanes, u ref, f float64) ref {
	bits, _, r := reducedSquare(l, u, f, wholes+127+64)
	c := []float64{1, -f}
	for i, x := range expTail {
		c = append(c, x*math.Pow(-f, float64(i+2)))
	}
	return l.mul(l.polynomial(r, c...), l.shiftLeft(bits, 23))
}

// expOfSquareTable computes eʳ⁺ⁱ and n as expTable does, for -f·u².
func expOfSquareTable(l *lanes, u ref, f float64) (e, n ref) {
	bits, n, r := reducedSquare(l, u, f, sixteenths)
	return powerOf2(l, bits, r, -f), n
}

// powerOf2 computes e to the power of f·r, times the power of 2 whose exponent is the fraction
// in the last bits of bits.
func powerOf2(l *lanes, bits, r ref, f float64) ref {
	p := l.fma(r, l.constant(0.16667039*f*f*f), l.constant(0.50001619*f*f))
	if f == 1 {
		p = l.fma(p, l.mul(r, r), r)
	} else {
		p = l.mul(l.fma(p, r, l.constant(f)), r)
	}
	var powers [16]float64
	for i := range powers {
		powers[i] = math.Exp2(float64(i) / 16)
	}
	power := l.lookup(bits, powers[:])
	return l.fma(power, p, power)
}

// expm1 computes eˣ-1 as 2·(2ⁿ⁻¹·p + (2ⁿ⁻¹-½)) with p = eʳ-1, see expOf: if n is 0, that is p, and nowhere is more
// lost than a rounding or two. Halves keep 2ⁿ from overflowing too early. For tiny numbers it is x itself.
func expm1(l *lanes, x ref) ref {
	y := l.max(l.constant(-30), l.min(l.constant(89), x)) // NaN stays
	n := l.round(l.mul(y, l.constant(math.Log2E)))
	r := l.fma(n, l.constant(-ln2High), y)
	r = l.fma(n, l.constant(-(math.Ln2 - ln2High)), r)
	p := l.fma(l.mul(r, r), l.polynomial(r, expTail...), r)
	half := l.addInt(l.shiftLeft(l.toInt(n), 23), l.bits(uint64(math.Float32bits(0.5))))
	z := l.fma(half, p, l.sub(half, l.constant(0.5)))
	z = l.add(z, z)
	return l.choose(l.less(l.and(x, l.bits(absolute)), l.constant(0x1p-30)), x, z)
}

// ln2High is ln 2 in 15 bits, so that its product with an integer below 2⁹ is exact.
const ln2High = 0.693145751953125

const absolute, signBit = 0x7fffffff, 0x80000000

// sigmoid computes σ(x) = 1/(1+e⁻ˣ).
func sigmoid(l *lanes, x ref) ref { return sigmoidTimes(l, x, l.constant(1)) }

// sigmoidTimes computes f·σ(x) as f/(1+z) or f·z/(1+z) with z = e^-|x|, which does not overflow and keeps its digits
// near 0: the power of 2 in z is multiplied last.
func sigmoidTimes(l *lanes, x, f ref) ref {
	one := l.constant(1)
	if l.wide {
		e, n := expTable(l, l.max(l.constant(-120), l.or(x, l.bits(signBit))))
		z := l.timesPowerOf2(e, n)
		positive := l.less(l.constant(0), x)
		top := l.mul(l.choose(positive, one, e), f)
		return l.timesPowerOf2(l.div(top, l.add(z, one)), l.choose(positive, l.constant(0), n))
	}
	a, b := expOf(l, l.or(x, l.bits(signBit)))
	z := l.mul(a, b)
	positive := l.less(l.constant(0), x)
	top := l.mul(l.choose(positive, one, a), f)
	return l.mul(l.div(top, l.add(z, one)), l.choose(positive, one, b))
}

// silu computes x·σ(x). Below -120 that is 0, even for -Inf.
func silu(l *lanes, x ref) ref { return sigmoidTimes(l, x, l.max(l.constant(-120), x)) }

// tanh computes x + x³·p(x²) where |x| < 0.625, and else 1 - 2/(e^2|x| + 1) with the sign of x. The polynomial is the
// one of the Cephes library. AVX-512 has other polynomials, whose relative error is below 5.4e-9.
func tanh(l *lanes, x ref) ref {
	if l.wide {
		return oddPiecewise(l, x, 9.02, tanhTables)
	}
	size := l.and(x, l.bits(absolute))
	z := l.mul(x, x)
	p := l.polynomial(z, -3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)
	near := l.fma(l.mul(p, z), x, x)
	e := exp(l, l.add(size, size))
	far := l.sub(l.constant(1), l.div(l.constant(2), l.add(e, l.constant(1))))
	return l.or(l.choose(l.less(size, l.constant(0.625)), near, far), l.and(x, l.bits(signBit))) // also that of 0
}

// tanhTables are the coefficients of tanh, see piecewise.
var tanhTables = [][]float64{
	{0.84828364, 0.941375538, 0.978026115, 0.991859725, 0.998177898, 0.999753211, 0.999966597, 0.999995479, 0.999999775, 0.999999995, 0, 0, 0, 0.358357398, 0.554599722, 0.703905604},
	{0.280414747, 0.113812043, 0.0434649161, 0.0162142896, 0.00364095588, 0.000493528207, 6.68060563e-05, 9.04147809e-06, 4.50835123e-07, 4.37549809e-09, 0, 0, 1.00000001, 0.87157998, 0.69241916, 0.504516905},
	{-0.237871335, -0.107139824, -0.0425098101, -0.0160822984, -0.00363430605, -0.000493405077, -6.68036592e-05, -9.04141507e-06, -4.50760084e-07, -1.95176219e-08, 0, 0, -1.55670405e-06, -0.312337131, -0.384015514, -0.355132297},
	{0.108326116, 0.062928232, 0.0270877747, 0.0105462614, 0.0024117266, 0.000328423026, 4.4484531e-05, 6.02101017e-06, 2.94597075e-07, -1.24809197e-08, 0, 0, -0.333259566, -0.178601035, -0.0178378165, 0.0818049356},
	{-0.0125859705, -0.0235256842, -0.0123232914, -0.00509998281, -0.00119726779, -0.000164064467, -2.22410845e-05, -3.01068837e-06, -1.47498439e-07, -1.95103763e-08, 0, 0, -0.00128267755, 0.168110974, 0.137903124, 0.0607982685},
	{-0.0196906817, 0.0034822936, 0.00397685833, 0.00191481484, 0.000490372856, 6.83040542e-05, 9.27976426e-06, 1.25653625e-06, 7.07632441e-08, -7.80268876e-09, 0, 0, 0.14348478, 0.0190035885, -0.0543360038, -0.0585476586},
	{0.0151048397, 0.00210891011, -0.000715153607, -0.000545568197, -0.000157805878, -2.26332137e-05, -3.08673765e-06, -4.18178669e-07, -2.34541044e-08, -2.65397881e-09, 0, 0, -0.0375644362, -0.0691004563, -0.0243660486, 0.012852679},
}

// gelu computes x·Φ(x) from Q(t) = 1 - Φ(t) = e^(-t²/2)·R(t), t = |x|: that is x - x·Q where x > 0 and x·Q elsewhere,
// so that the digits of small results are right, too. From t = 14.6 on, e^(-t²/2) vanishes. AVX-512 has t·R from
// tables, with a relative error below 8.4e-8.
func gelu(l *lanes, x ref) ref {
	positive := l.max(l.bits(signBit), x) // or -0, or NaN
	if l.wide {
		t := l.leastSize(x, l.constant(14.6))
		e, n := expOfSquareTable(l, t, 0.5)
		return l.fnma(e, l.timesPowerOf2(piecewise(l, t, tailTables), n), positive)
	}
	t := l.min(l.constant(14.6), l.and(x, l.bits(absolute)))
	return l.fnma(l.mul(l.mul(tail(l, t), t), expOfSquare(l, t, 0.5)), l.constant(0x1p-64), positive)
}

// tail computes R(t), see gelu: a polynomial in s = k/(t+k) times s, with a relative error below 2.7e-8.
func tail(l *lanes, t ref) ref {
	const k = 2.875
	s := l.div(l.constant(k), l.add(t, l.constant(k)))
	return l.mul(s, l.polynomial(s, 0.138751228, 0.139056475, 0.118738899, 0.108152641, -0.0292556146, 0.171344919, -0.262624614, 0.144678593, -0.0288425399))
}

// erf computes x·p(x²) where x² < 0.75, with a relative error of p below 1.8e-10, and else 1 - 2·Q(√2·|x|) with the
// sign of x, see gelu. AVX-512 has other polynomials, whose relative error is below 8.4e-9.
func erf(l *lanes, x ref) ref {
	if l.wide {
		return oddPiecewise(l, x, 3.99, erfTables)
	}
	size := l.and(x, l.bits(absolute))
	t := l.min(l.constant(10), size)
	q := l.mul(tail(l, l.mul(t, l.constant(math.Sqrt2))), expOfSquare(l, t, 1))
	far := l.or(l.fnma(q, l.constant(0x1p-63), l.constant(1)), l.and(x, l.bits(signBit)))
	near := l.mul(x, l.polynomial(l.mul(x, x), 1.1283791668988772, -0.37612636383557435, 0.112837384788711, -0.026861926070414703,
		0.005207700595525137, -0.0008223277191884569, 8.733314395119485e-05))
	return l.choose(l.less(size, l.constant(0.8660254)), near, far)
}

// oddPiecewise computes an odd function that is 1 from last on, with the sign of x.
func oddPiecewise(l *lanes, x ref, last float64, coefficients [][]float64) ref {
	size := l.min(l.constant(last), l.and(x, l.bits(absolute))) // NaN stays
	y := l.min(l.constant(1), piecewise(l, size, coefficients))
	return l.andOr(x, l.bits(signBit), y)
}

// piecewise computes polynomials in the distance of t from the middle of its interval: t+1 is in a quarter of [2, 4),
// [4, 8) or [8, 16), which come first, or in one of [1, 2). In the first of those the polynomial is in t itself,
// without a constant, so that small results keep their digits. The coefficients, which have the smallest possible
// relative error (by Remez's exchange), are looked up. This is for AVX-512.
func piecewise(l *lanes, t ref, coefficients [][]float64) ref {
	var middles []float64
	for _, start := range []float64{2, 4, 8, 1} {
		for i := range 4 {
			middles = append(middles, start+start/4*(float64(i)+0.5)-1)
		}
	}
	middles[12] = 0
	interval := l.shiftDown(l.add(t, l.constant(1)), 21) // the last two bits of the exponent, and two of the fraction
	d := l.sub(t, l.lookup(interval, middles))
	last := len(coefficients) - 1
	p := l.lookup(interval, coefficients[last])
	for i := last - 1; i >= 0; i-- {
		p = l.fma(p, d, l.lookup(interval, coefficients[i]))
	}
	return p
}

// tailTables are the coefficients of t·R(t), see gelu and piecewise.
var tailTables = [][]float64{
	{0.288450392, 0.32415541, 0.345716858, 0.359493018, 0.372208028, 0.381615262, 0.386884816, 0.39010189, 0.392980366, 0.39506694, 0.396227653, 0.396937247, 0, 0.142351659, 0.202097605, 0.244799249},
	{0.0926455063, 0.0543546555, 0.0338947423, 0.0222392655, 0.0127753186, 0.0068318233, 0.00402664676, 0.00255313618, 0.00142726316, 0.000753300638, 0.000443441468, 0.00028219829, 0.499999958, 0.28338296, 0.200328251, 0.14489542},
	{-0.0525857421, -0.0272256093, -0.0150934837, -0.00887012823, -0.00437677155, -0.00195525684, -0.000984140223, -0.000542683468, -0.000252809839, -0.000108826778, -5.39762777e-05, -2.96442516e-05, -0.398934037, -0.20345497, -0.134241375, -0.0907508899},
	{0.0244080726, 0.0112944133, 0.00562675077, 0.00298846349, 0.00128026698, 0.000482711212, 0.00020896401, 0.000100715819, 3.92987804e-05, 1.3853323e-05, 5.80332344e-06, 2.75493539e-06, 0.249736438, 0.116255241, 0.0721956732, 0.0459780388},
	{-0.0100166858, -0.00417397727, -0.0018812288, -0.000908287615, -0.000345927513, -0.000110411018, -4.12060913e-05, -1.73907778e-05, -5.81485681e-06, -1.67011909e-06, -5.8918749e-07, -2.41317333e-07, -0.129984227, -0.0571500265, -0.0335898304, -0.0202601875},
	{0.00368882423, 0.00139472568, 0.000572898825, 0.000253122076, 8.53614594e-05, 2.33376753e-05, 7.5730111e-06, 2.81605282e-06, 7.99453739e-07, 1.89037356e-07, 5.6511732e-08, 2.00494146e-08, 0.0481701878, 0.0250696529, 0.013965139, 0.00800473147},
}

// erfTables are the coefficients of erf, see piecewise.
var erfTables = [][]float64{
	{0.92290013, 0.986671671, 0.998537283, 0.999899378, 0.999999259, 0, 0, 0, 0, 0, 0, 0, 0, 0.404116909, 0.623240882, 0.784075061},
	{0.23652122, 0.052774837, 0.00714230023, 0.00058629424, 5.51121128e-06, 0, 0, 0, 0, 0, 0, 0, 1.12837917, 0.980352807, 0.763499542, 0.524745053},
	{-0.295652001, -0.092356156, -0.0160701229, -0.00161227016, -1.91234562e-05, 0, 0, 0, 0, 0, 0, 0, -8.51820489e-07, -0.367632272, -0.477187218, -0.459151931},
	{0.167523237, 0.0901776678, 0.0217269603, 0.00275820861, 3.87575477e-05, 0, 0, 0, 0, 0, 0, 0, -0.376086389, -0.234875059, -0.0556747946, 0.092919646},
	{-0.00612103679, -0.0481074827, -0.0190897128, -0.00325759354, -6.39985393e-05, 0, 0, 0, 0, 0, 0, 0, -0.000688112059, 0.166576394, 0.176460322, 0.112399564},
	{-0.0467788226, 0.0059695161, 0.0105813782, 0.00282581421, 0.000109725471, 0, 0, 0, 0, 0, 0, 0, 0.118206908, 0.045327727, -0.0270349088, -0.066709085},
	{0.0204800337, 0.00907041706, -0.00276399623, -0.00166909895, -9.80068341e-05, 0, 0, 0, 0, 0, 0, 0, -0.0194439052, -0.0496033934, -0.0412431035, -0.0105292008},
}

// geluTanh computes x·σ(2u) with u = √(2/π)·(x + 0.044715·x³), which is x/2·(1 + tanh u).
func geluTanh(l *lanes, x ref) ref {
	const slope = 2 * 0.7978845608028654
	u := l.mul(x, l.fma(l.mul(x, x), l.constant(slope*0.044715), l.constant(slope)))
	return sigmoidTimes(l, u, l.max(l.constant(-20), x)) // σ(-20 and less) vanishes
}

// logOf computes the logarithm of x, plus an optional small correction, times a factor. x is 2^e·(1+f) with 1+f
// between √½ and √2; ln(1+f) = f - f²/2 + f³·p(f) with the polynomial of the Cephes library.
func logOf(l *lanes, x, correction ref, factor float64) ref {
	// Subnormal numbers are made normal.
	small := l.less(x, l.constant(0x1p-126))
	bits := l.choose(small, l.mul(x, l.constant(0x1p23)), x)
	e := l.shiftSigned(l.subInt(bits, l.bits(uint64(math.Float32bits(math.Sqrt2/2)))), 23)
	f := l.sub(l.subInt(bits, l.shiftLeft(e, 23)), l.constant(1))
	n := l.sub(l.toFloat(e), l.choose(small, l.constant(23), l.constant(0)))
	square := l.mul(f, f)
	p := l.polynomial(f, 3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1, -1.2420140846e-1,
		1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2)
	y := l.mul(l.mul(p, f), square)
	if factor == 1 {
		y = l.fma(n, l.constant(math.Ln2-ln2High), y)
	}
	if correction.kind != 0 {
		y = l.add(y, correction)
	}
	y = l.add(f, l.fma(square, l.constant(-0.5), y))
	if factor == 1 {
		y = l.fma(n, l.constant(ln2High), y)
	} else {
		y = l.fma(y, l.constant(factor), n)
	}
	// 0 gives -Inf, +Inf itself, and negative numbers and NaN give NaN.
	y = l.choose(l.less(x, l.bits(0x7f800000)), y, x)
	return l.choose(l.less(l.constant(0), x), y, l.choose(l.equal(x, l.constant(0)), l.bits(0xff800000), l.bits(0x7fc00000)))
}

// log1p corrects ln u for u = 1+x by what rounding u has lost.
func log1p(l *lanes, x ref) ref {
	u := l.add(x, l.constant(1))
	lost := l.sub(x, l.sub(u, l.constant(1)))
	y := logOf(l, u, l.div(lost, u), 1)
	return l.or(y, l.and(x, l.bits(signBit))) // also that of 0
}

// sine computes sin(x + turns·π/2). n is the nearest integer to x·2/π and r = x - n·π/2, with π/2 in three parts, the
// first of which leaves no rounding error. The last two bits of n say whether the sine or the cosine of r is wanted,
// and its sign. The polynomials are those of the Cephes library.
func sine(l *lanes, x ref, turns int) ref {
	quarter, n := rounded(l, x, l.constant(2/math.Pi), wholes)
	r := l.fma(n, l.constant(-1.5707962512969971), x) // all three are negative, which leaves -0 as it is
	r = l.fma(n, l.constant(-7.549789415861596e-08), r)
	r = l.fma(n, l.constant(-5.390302858158119e-15), r)
	if turns > 0 {
		quarter = l.addInt(quarter, l.bits(uint64(turns)))
	}
	z := l.mul(r, r)
	s := l.mul(r, l.fma(z, l.polynomial(z, -1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4), l.constant(1)))
	c := l.polynomial(z, 1, -0.5, 4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)
	y := l.choose(l.negative(l.shiftLeft(quarter, 31)), c, s)
	y = l.xor(y, l.and(l.shiftLeft(quarter, 30), l.bits(signBit)))
	return l.choose(l.less(l.and(x, l.bits(absolute)), l.constant(1<<17)), y, l.bits(0x7fc00000))
}
