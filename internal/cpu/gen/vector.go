package main

import (
	"fmt"
	"math"
	"strings"
)

// vectorKernels writes the loops over slices.
func vectorKernels(a *asm) {
	// Masks for a partial vector with AVX2: ones, then zeros.
	a.data("·some", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
		0, 0, 0, 0, 0, 0, 0, 0)
	a.data("·minusInfF32", 0xff800000)
	a.data("·minusInfF64", 0, 0xfff00000)
	all := loops()
	for _, p := range all {
		for _, width := range []int{32, 64} {
			p.emit(a, width)
		}
	}
	for _, e := range []element{float32s, float64s} {
		table := fmt.Sprintf("\n// vectors%s are the loops over slices of %s for each level.\nvar vectors%s = [...]Vectors[%s]{\n", e.name, e.goName(), e.name, e.goName())
		for _, level := range []string{"AVX2", "AVX512"} {
			table += "\t" + level + ": {\n"
			for _, p := range all {
				if p.e != e || p.widths != nil {
					continue
				}
				name, text := p.wrapper(level)
				a.decl.WriteString(text)
				table += fmt.Sprintf("\t\t%s: %s,\n", strings.ToUpper(p.name[:1])+p.name[1:], name)
			}
			table += "\t},\n"
		}
		a.decl.WriteString(table + "}\n")
	}
}

func loops() []*loop {
	var all []*loop
	two, three := []string{"dst", "x"}, []string{"dst", "x", "y"}
	for _, e := range []element{float32s, float64s} {
		binary := func(name, doc string, f func(l *lanes, x, y ref) ref) {
			all = append(all, &loop{name: name, doc: doc, e: e, operands: three, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.store(0, f(l, l.load(1), l.load(2))) }})
		}
		unary := func(name, doc string, f func(l *lanes, x ref) ref) {
			all = append(all, &loop{name: name, doc: doc, e: e, operands: two, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.store(0, f(l, l.load(1))) }})
		}
		binary("add", "computes x + y.", (*lanes).add)
		binary("sub", "computes x - y.", (*lanes).sub)
		binary("mul", "computes x·y.", (*lanes).mul)
		binary("div", "computes x/y.", (*lanes).div)
		sign, rest := uint64(1)<<(8*e.size-1), uint64(1)<<(8*e.size-1)-1
		unary("neg", "computes -x.", func(l *lanes, x ref) ref { return l.xor(x, l.bits(sign)) })
		unary("abs", "computes |x|.", func(l *lanes, x ref) ref { return l.and(x, l.bits(rest)) })
		unary("square", "computes x².", func(l *lanes, x ref) ref { return l.mul(x, x) })
		unary("reciprocal", "computes 1/x.", func(l *lanes, x ref) ref { return l.div(l.constant(1), x) })
		unary("sqrt", "computes √x.", (*lanes).sqrt)
		unary("rsqrt", "computes 1/√x.", func(l *lanes, x ref) ref { return l.div(l.constant(1), l.sqrt(x)) })
		unary("relu", "computes max(x, 0); NaN stays.", func(l *lanes, x ref) ref { return l.add(l.max(l.constant(0), x), l.constant(0)) }) // -0 becomes 0
		all = append(all,
			&loop{name: "scale", doc: "computes x·p with the parameter p.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.mul(l.load(1), l.parameter(0))) }},
			&loop{name: "affine", doc: "computes (x - p₀)·p₁ with parameters p.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.mul(l.sub(l.load(1), l.parameter(0)), l.parameter(1))) }},
			&loop{name: "sum", doc: "computes Σ x.", e: e, operands: []string{"x"}, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.reduce("VADD", l.load(0)) }},
			&loop{name: "largest", doc: "computes the largest x, -Inf if there is none; NaN may be passed over.", e: e, operands: []string{"x"}, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.reduce("VMAX", l.load(0)) }},
			&loop{name: "dot", doc: "computes Σ x·y.", e: e, operands: []string{"x", "y"}, unroll: [2]int{2, 4},
				program: func(l *lanes) { l.reduce("VADD", l.mul(l.load(0), l.load(1))) }},
			&loop{name: "squares", doc: "computes Σ (x - p)² with the parameter p.", e: e, operands: []string{"x"}, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					d := l.sub(l.load(0), l.parameter(0))
					l.reduce("VADD", l.mul(d, d))
				}},
			&loop{name: "adam", doc: "does a step of Adam; see Vectors.", e: e, operands: []string{"x", "grad", "m", "v"}, unroll: [2]int{2, 4}, params: true, program: adam},
		)
	}
	function := func(name, doc string, avx2, avx512 int, f func(l *lanes, x ref) ref) {
		all = append(all, &loop{name: name, doc: doc, e: float32s, operands: two, unroll: [2]int{avx2, avx512},
			program: func(l *lanes) { l.store(0, f(l, l.load(1))) }})
	}
	function("exp", "computes eˣ.", 3, 4, exp)
	function("tanh", "computes the hyperbolic tangent.", 2, 4, tanh)
	function("sigmoid", "computes 1/(1+e⁻ˣ).", 2, 4, sigmoid)
	function("silu", "computes x/(1+e⁻ˣ).", 2, 4, silu)
	function("erf", "computes the error function.", 2, 3, erf)
	function("gelu", "computes x·Φ(x).", 2, 3, gelu)
	function("geluTanh", "computes the approximation of x·Φ(x) by a hyperbolic tangent.", 2, 3, geluTanh)
	all = append(all,
		&loop{name: "expSum", doc: "computes eˣ⁻ᵖ with the parameter p, and the sum of that.", e: float32s, operands: two, unroll: [2]int{2, 4}, params: true,
			program: func(l *lanes) {
				y := exp(l, l.sub(l.load(1), l.parameter(0)))
				l.store(0, y)
				l.reduce("VADD", y)
			}},
		&loop{name: "fromBFloat16", doc: "widens bfloat16.", e: float32s, operands: two, widths: []int{4, 2}, unroll: [2]int{4, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.shiftLeft(l.load(1), 16)) }},
		&loop{name: "toBFloat16", doc: "rounds to bfloat16, ties to even.", e: float32s, operands: two, widths: []int{2, 4}, unroll: [2]int{2, 4}, whole: true,
			program: toBFloat16},
		&loop{name: "fromFloat16", doc: "widens float16.", e: float32s, operands: two, widths: []int{4, 2}, unroll: [2]int{4, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.loadHalf(1)) }},
		&loop{name: "toFloat16", doc: "rounds to float16, ties to even; NaN keeps its sign alone.", e: float32s, operands: two, widths: []int{2, 4}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) {
				x := l.load(1)
				quiet := l.or(l.and(x, l.bits(signBit)), l.bits(0x7fc00000))
				l.storeHalf(0, l.choose(l.isNaN(x), quiet, x))
			}},
	)
	return all
}

// adam rounds each product and each sum, as the loop in Go does that it stands for.
func adam(l *lanes) {
	b1, r1, b2, r2, floor, times, keep, sign, decay := l.parameter(0), l.parameter(1), l.parameter(2), l.parameter(3), l.parameter(4),
		l.parameter(5), l.parameter(6), l.parameter(7), l.parameter(8)
	x := l.load(0)
	d := l.add(l.mul(l.load(1), sign), l.mul(x, decay))
	m := l.add(l.mul(l.load(2), b1), l.mul(d, r1))
	l.store(2, m)
	v := l.add(l.mul(l.load(3), b2), l.mul(l.mul(d, d), r2))
	l.store(3, v)
	l.store(0, l.sub(l.mul(x, keep), l.div(m, l.mul(l.add(l.sqrt(v), floor), times))))
}

// exp computes eˣ as 2ⁿ·eʳ with |r| ≤ ln 2/2. eʳ is 1 + r + r²·q(r); q is the polynomial of degree 4 with the least
// relative error of eʳ, 3.1e-9.
func exp(l *lanes, x ref) ref {
	if l.wide { // one instruction puts 2ⁿ to it
		e, n := expParts(l, x, ref{})
		return l.timesPowerOf2(e, n)
	}
	a, b := expOf(l, x, ref{})
	return l.mul(a, b)
}

// expOf computes e to the power of x + low, where low is tiny and may be absent, as a product of two factors: a is a
// normal number, b a power of 2, so that only their product can overflow, or lose digits as a subnormal number. Both are
// those of -120 below it, where the product is 0.
func expOf(l *lanes, x, low ref) (a, b ref) {
	e, n := expParts(l, x, low)
	whole := l.toInt(n)
	half := l.halveInt(whole)
	one := l.bits(uint64(math.Float32bits(1)))
	a = l.mul(e, l.addInt(l.shiftLeft(half, 23), one))
	b = l.addInt(l.shiftLeft(l.subInt(whole, half), 23), one)
	return a, b
}

// expParts computes eʳ and n.
func expParts(l *lanes, x, low ref) (e, n ref) {
	x = l.min(l.constant(89), x) // NaN stays
	x = l.max(l.constant(-120), x)
	n = l.round(l.mul(x, l.constant(math.Log2E)))
	const high = 0.693145751953125 // ln 2 in 15 bits, so that n·high is exact
	r := l.fma(n, l.constant(-high), x)
	r = l.fma(n, l.constant(-(math.Ln2 - high)), r)
	if low.kind != 0 {
		r = l.add(r, low)
	}
	q := l.polynomial(r, 0.49999993412420657, 0.16666520107135396, 0.04166839422720385, 0.008368780474685804, 0.0013814466275000783)
	e = l.fma(l.mul(r, r), q, r)
	return l.add(e, l.constant(1)), n
}

const absolute, signBit = 0x7fffffff, 0x80000000

// sigmoid computes σ(x) = 1/(1+e⁻ˣ).
func sigmoid(l *lanes, x ref) ref { return sigmoidTimes(l, x, l.constant(1)) }

// sigmoidTimes computes f·σ(x) as f/(1+z) or f·z/(1+z) with z = e^-|x|, which does not overflow and keeps its digits near 0:
// the power of 2 in z comes last.
func sigmoidTimes(l *lanes, x, f ref) ref {
	a, b := expOf(l, l.or(x, l.bits(signBit)), ref{})
	one := l.constant(1)
	z := l.mul(a, b)
	positive := l.less(l.constant(0), x)
	top := l.mul(l.choose(positive, one, a), f)
	return l.mul(l.div(top, l.add(z, one)), l.choose(positive, one, b))
}

// silu computes x·σ(x). Below -120 that is 0, also for -Inf.
func silu(l *lanes, x ref) ref { return sigmoidTimes(l, x, l.max(l.constant(-120), x)) }

// tanh computes x + x³·p(x²) where |x| < 0.625, and else 1 - 2/(e^2|x| + 1) with the sign of x. The polynomial is the one
// of the Cephes library.
func tanh(l *lanes, x ref) ref {
	size := l.and(x, l.bits(absolute))
	z := l.mul(x, x)
	p := l.polynomial(z, -3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)
	near := l.fma(l.mul(p, z), x, x)
	e := exp(l, l.add(size, size))
	far := l.sub(l.constant(1), l.div(l.constant(2), l.add(e, l.constant(1))))
	far = l.or(far, l.and(x, l.bits(signBit)))
	return l.choose(l.less(size, l.constant(0.625)), near, far)
}

// gelu computes x·Φ(x) from Q(t) = 1 - Φ(t) = e^(-t²/2)·R(t), t = |x|: that is x - x·Q where x > 0 and x·Q elsewhere, so
// that the digits of small results are right too. R is a polynomial in s = 4/(t+4) times s, with a relative error below
// 8.8e-9 for t ≤ 14.6, where e^(-t²/2) vanishes.
func gelu(l *lanes, x ref) ref {
	t := l.min(l.constant(14.6), l.and(x, l.bits(absolute)))
	s := l.div(l.constant(4), l.add(t, l.constant(4)))
	r := l.mul(l.polynomial(s, geluTail...), s)
	// The square is needed with twice the digits: its error is one of the exponential's argument.
	h := l.mul(t, l.constant(-0.5))
	square := l.mul(t, h)
	low := l.fma(t, h, l.xor(square, l.bits(signBit)))
	a, b := expOf(l, square, low)
	g := l.mul(l.mul(l.mul(a, r), t), b)
	positive := l.less(l.constant(0), x)
	return l.choose(positive, l.sub(x, g), l.xor(g, l.bits(signBit)))
}

// erf computes x·p(x²) where x² < 0.75, with a relative error of p below 1.8e-10, and else 1 - 2·Q(√2·|x|) with the sign
// of x, see gelu.
func erf(l *lanes, x ref) ref {
	size := l.and(x, l.bits(absolute))
	t := l.min(l.constant(10), size)
	s := l.div(l.constant(4), l.fma(t, l.constant(math.Sqrt2), l.constant(4)))
	r := l.mul(l.polynomial(s, geluTail...), s)
	minus := l.xor(t, l.bits(signBit))
	square := l.mul(t, minus)
	low := l.fma(t, minus, l.xor(square, l.bits(signBit)))
	a, b := expOf(l, square, low)
	q := l.mul(l.mul(a, b), r)
	far := l.or(l.sub(l.constant(1), l.add(q, q)), l.and(x, l.bits(signBit)))
	near := l.mul(x, l.polynomial(l.mul(x, x), 1.1283791668988772, -0.37612636383557435, 0.112837384788711, -0.026861926070414703,
		0.005207700595525137, -0.0008223277191884569, 8.733314395119485e-05))
	return l.choose(l.less(size, l.constant(0.8660254)), near, far)
}

// geluTanh computes x·σ(2u) with u = √(2/π)·(x + 0.044715·x³), which is x/2·(1 + tanh u).
func geluTanh(l *lanes, x ref) ref {
	const slope = 2 * 0.7978845608028654
	u := l.mul(x, l.fma(l.mul(x, x), l.constant(slope*0.044715), l.constant(slope)))
	return sigmoidTimes(l, u, l.max(l.constant(-20), x)) // σ(-20 and less) vanishes
}

// geluTail are the coefficients of R(4/s - 4)/s.
var geluTail = []float64{0.09974604432358401, 0.09952673377849394, 0.09524599974044527, 0.07320002318390713, 0.08333030506047892,
	0.018671398165952806, 0.021520444816862938, 0.05667351121795215, -0.06486594524029508, 0.016951489308578514}

// toBFloat16 adds half of the last place that stays, less one where that place is even already, and cuts.
func toBFloat16(l *lanes) {
	x := l.load(1)
	odd := l.and(l.shiftDown(x, 16), l.bits(1))
	rounded := l.shiftDown(l.addInt(l.addInt(x, l.bits(0x7fff)), odd), 16)
	quiet := l.or(l.shiftDown(x, 16), l.bits(0x40)) // cutting must not turn NaN into infinity
	l.store(0, l.choose(l.isNaN(x), quiet, rounded))
}
