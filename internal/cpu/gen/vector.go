package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// vectorKernels writes the loops over slices.
func vectorKernels(a *asm) {
	vectorConstants(a)
	reverseWords(a)
	loopsOf(a, float32s)
}

// vector64Kernels are those for elements of 8 bytes.
func vector64Kernels(a *asm) {
	vectorConstants(a)
	loopsOf(a, float64s)
}

func vectorConstants(a *asm) {
	// Masks for a partial vector with AVX2: ones, then zeros.
	a.data("·some", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
		0, 0, 0, 0, 0, 0, 0, 0)
	a.data("·minusInfF32", 0xff800000)
	a.data("·minusInfF64", 0, 0xfff00000)
	a.data("·oneF32", 0x3f800000)
	a.data("·leastInt", 0x80000000)
	a.data("·oneF64", 0, 0x3ff00000)
}

// loopsOf writes the loops over elements of one size, and the table of them.
func loopsOf(a *asm, e element) {
	all := loops()
	for _, p := range all {
		if p.e.size != e.size {
			continue
		}
		for _, width := range []int{32, 64} {
			p.emit(a, width)
		}
	}
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

// reverseWords writes the loop that reverses words: a vector at a time, from the end.
func reverseWords(a *asm) {
	a.data("·fromEnd", 7, 6, 5, 4, 3, 2, 1, 0)
	a.function("reverseWords", "writes n words of 4 bytes in reverse order. n is a multiple of 8, and not 0.", arg{"dst", "*uint32"}, arg{"x", "*uint32"}, arg{"n", "int"})
	a.op("MOVQ", "dst+0(FP)", "DI")
	a.op("MOVQ", "x+8(FP)", "SI")
	a.op("MOVQ", "n+16(FP)", "CX")
	a.op("LEAQ", mem(-32, "SI", "CX", 4), "SI")
	a.op("VMOVDQU", "·fromEnd<>(SB)", "Y1")
	a.label("loop", true)
	a.op("VPERMD", mem(0, "SI"), "Y1", "Y0")
	a.op("VMOVDQU", "Y0", mem(0, "DI"))
	a.op("SUBQ", 32, "SI")
	a.op("ADDQ", 32, "DI")
	a.op("SUBQ", 8, "CX")
	a.op("JNZ", "loop")
	a.op("VZEROUPPER")
	a.op("RET")
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
		compare := func(name, doc string, f func(l *lanes, x, y ref) ref) {
			binary(name, "computes 1 where "+doc+" and 0 elsewhere.", func(l *lanes, x, y ref) ref { return l.choose(f(l, x, y), l.constant(1), l.constant(0)) })
		}
		compare("equal", "x = y", (*lanes).equal)
		compare("differ", "x ≠ y or one is NaN", (*lanes).differ)
		compare("less", "x < y", (*lanes).less)
		compare("atMost", "x ≤ y", (*lanes).atMost)
		binary("pass", "computes x where y is not 0, and 0 elsewhere.", func(l *lanes, x, y ref) ref { return l.choose(l.differ(y, l.constant(0)), x, l.constant(0)) })
		plusInf := uint64(math.Float64bits(math.Inf(1)))
		if e == float32s {
			plusInf = 0x7f800000
		}
		unary("infinite", "computes 1 where x is infinite and 0 elsewhere.", func(l *lanes, x ref) ref {
			return l.choose(l.equal(l.and(x, l.bits(1<<(8*e.size-1)-1)), l.bits(plusInf)), l.constant(1), l.constant(0))
		})
		unary("finite", "computes 1 where x is neither infinite nor NaN and 0 elsewhere.", func(l *lanes, x ref) ref {
			return l.choose(l.less(l.and(x, l.bits(1<<(8*e.size-1)-1)), l.bits(plusInf)), l.constant(1), l.constant(0))
		})
		unary("floor", "rounds down.", (*lanes).floor)
		unary("ceil", "rounds up.", (*lanes).ceil)
		unary("trunc", "drops the fraction.", (*lanes).trunc)
		unary("round", "rounds to the nearest integer, ties to even.", (*lanes).round)
		choice := func(name, doc string, f func(l *lanes, x, y ref) ref) {
			binary(name, doc, f)
			all[len(all)-1].unroll = [2]int{2, 4}
		}
		// +0 counts as larger than -0. NaN wins over everything.
		choice("maximum", "computes the larger of x and y; NaN if one is.", maximum)
		choice("minimum", "computes the smaller of x and y; NaN if one is.", minimum)
		unary("sign", "computes -1, 0 or 1; 0 for NaN.", func(l *lanes, x ref) ref {
			zero := l.constant(0)
			below := l.choose(l.less(x, zero), l.constant(-1), zero)
			return l.choose(l.less(zero, x), l.constant(1), below)
		})
		sign, rest := uint64(1)<<(8*e.size-1), uint64(1)<<(8*e.size-1)-1
		unary("neg", "computes -x.", func(l *lanes, x ref) ref { return l.xor(x, l.bits(sign)) })
		unary("abs", "computes |x|.", func(l *lanes, x ref) ref { return l.and(x, l.bits(rest)) })
		unary("square", "computes x².", func(l *lanes, x ref) ref { return l.mul(x, x) })
		unary("cube", "computes x²·x.", func(l *lanes, x ref) ref { return l.mul(l.mul(x, x), x) })
		unary("reciprocal", "computes 1/x.", func(l *lanes, x ref) ref { return l.div(l.constant(1), x) })
		unary("sqrt", "computes √x.", (*lanes).sqrt)
		unary("rsqrt", "computes 1/√x.", func(l *lanes, x ref) ref { return l.div(l.constant(1), l.sqrt(x)) })
		unary("relu", "computes max(x, 0); NaN stays.", func(l *lanes, x ref) ref { return l.add(l.max(l.constant(0), x), l.constant(0)) }) // -0 becomes 0
		all = append(all,
			&loop{name: "scale", doc: "computes x·p with the parameter p.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.mul(l.load(1), l.parameter(0))) }},
			&loop{name: "clamp", doc: "computes x, but p₀ where it is below that, and p₁ where it is above that; NaN stays.", e: e, operands: two, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					atLeast := func(x, low ref) ref { return l.choose(l.equal(x, low), l.and(x, low), l.max(low, x)) }
					atMost := func(x, high ref) ref { return l.choose(l.equal(x, high), l.or(x, high), l.min(high, x)) }
					l.store(0, atMost(atLeast(l.load(1), l.parameter(0)), l.parameter(1)))
				}},
			&loop{name: "affine", doc: "computes (x - p₀)·p₁ with parameters p.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.mul(l.sub(l.load(1), l.parameter(0)), l.parameter(1))) }},
			&loop{name: "normalize", doc: "computes (x - p₀)·p₁·y + z with parameters p.", e: e, operands: []string{"dst", "x", "y", "z"}, unroll: [2]int{3, 4}, params: true, rows: 2,
				program: func(l *lanes) {
					x := l.mul(l.sub(l.load(1), l.parameter(0)), l.parameter(1))
					l.store(0, l.add(l.mul(x, l.load(2)), l.load(3)))
				}},
			&loop{name: "lessTimes", doc: "computes (x - p₀ - y·p₁)·p₂ with parameters p.", e: e, operands: three, unroll: [2]int{3, 4}, params: true,
				program: func(l *lanes) {
					x := l.sub(l.load(1), l.parameter(0))
					l.store(0, l.mul(l.sub(x, l.mul(l.load(2), l.parameter(1))), l.parameter(2)))
				}},
			&loop{name: "addScaled", doc: "adds x·p to dst with the parameter p, by a fused multiply-add.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.fma(l.load(1), l.parameter(0), l.load(0))) }},
			&loop{name: "addFour", doc: "adds w·p₀ + x·p₁ + y·p₂ + z·p₃ to dst with parameters p, in this order by fused multiply-adds.", e: e, operands: []string{"dst", "w", "x", "y", "z"}, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					sum := l.load(0)
					for i := range 4 {
						sum = l.fma(l.load(i+1), l.parameter(i), sum)
					}
					l.store(0, sum)
				}},
			&loop{name: "mulFour", doc: "multiplies dst by w, x, y and z, in this order.", e: e, operands: []string{"dst", "w", "x", "y", "z"}, unroll: [2]int{2, 4},
				program: func(l *lanes) {
					product := l.load(0)
					for i := range 4 {
						product = l.mul(product, l.load(i+1))
					}
					l.store(0, product)
				}},
			&loop{name: "addSquares", doc: "adds (w - p)², (x - p)², (y - p)² and (z - p)² to dst with the parameter p, rounded at each step.", e: e, operands: []string{"dst", "w", "x", "y", "z"}, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					sum := l.load(0)
					for i := range 4 {
						d := l.sub(l.load(i+1), l.parameter(0))
						sum = l.add(sum, l.mul(d, d))
					}
					l.store(0, sum)
				}},
			&loop{name: "minFour", doc: "puts the smallest of w, x, y, z and dst into dst; NaN if one is.", e: e, operands: []string{"dst", "w", "x", "y", "z"}, unroll: [2]int{2, 4},
				program: func(l *lanes) {
					best := l.load(0)
					for i := range 4 {
						best = minimum(l, best, l.load(i+1))
					}
					l.store(0, best)
				}},
			&loop{name: "maxFour", doc: "puts the largest of w, x, y, z and dst into dst; NaN if one is.", e: e, operands: []string{"dst", "w", "x", "y", "z"}, unroll: [2]int{2, 4},
				program: func(l *lanes) { // the smallest of -x, which takes fewer instructions
					minus := l.bits(1 << (8*e.size - 1))
					best := l.xor(l.load(0), minus)
					for i := range 4 {
						best = minimum(l, best, l.xor(l.load(i+1), minus))
					}
					l.store(0, l.xor(best, minus))
				}},
			&loop{name: "plus", doc: "computes x + p with the parameter p.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.add(l.load(1), l.parameter(0))) }},
			&loop{name: "fill", doc: "writes the parameter p everywhere.", e: e, operands: []string{"dst"}, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.store(0, l.or(l.parameter(0), l.parameter(0))) }},
			&loop{name: "leaky", doc: "computes x where it is above 0, and x·p elsewhere with the parameter p.", e: e, operands: two, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) {
					x := l.load(1)
					l.store(0, l.choose(l.less(l.constant(0), x), x, l.mul(x, l.parameter(0))))
				}},
			&loop{name: "forth", doc: "computes x + (y - x)·p with the parameter p.", e: e, operands: three, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) {
					x := l.load(1)
					l.store(0, l.add(x, l.mul(l.sub(l.load(2), x), l.parameter(0))))
				}},
			&loop{name: "back", doc: "computes y - (y - x)·p with the parameter p.", e: e, operands: three, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) {
					y := l.load(2)
					l.store(0, l.sub(y, l.mul(l.sub(y, l.load(1)), l.parameter(0))))
				}},
			&loop{name: "lerp", doc: "computes x + (y - x)·z where |z| is less than a half, and y - (y - x)·(1 - z) elsewhere.", e: e, operands: []string{"dst", "x", "y", "z"}, unroll: [2]int{1, 4},
				program: func(l *lanes) {
					x, y, z := l.load(1), l.load(2), l.load(3)
					way := l.sub(y, x)
					back := l.sub(y, l.mul(way, l.sub(l.constant(1), z)))
					l.store(0, l.choose(l.less(l.and(z, l.bits(rest)), l.constant(0.5)), l.add(x, l.mul(z, way)), back))
				}},
			&loop{name: "replace", doc: "computes x, but p₀ where it is NaN, p₁ where it is +Inf and p₂ where it is -Inf.", e: e, operands: two, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					x := l.load(1)
					y := l.choose(l.equal(x, l.bits(plusInf)), l.parameter(1), x)
					y = l.choose(l.equal(x, l.bits(plusInf|sign)), l.parameter(2), y)
					l.store(0, l.choose(l.isNaN(x), l.parameter(0), y))
				}},
			&loop{name: "addProduct", doc: "computes x + y·p·z with the parameter p, rounded at each step.", e: e, operands: []string{"dst", "x", "y", "z"}, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) {
					l.store(0, l.add(l.load(1), l.mul(l.mul(l.load(2), l.parameter(0)), l.load(3))))
				}},
			&loop{name: "addQuotient", doc: "computes x + y/z·p with the parameter p, rounded at each step.", e: e, operands: []string{"dst", "x", "y", "z"}, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) {
					l.store(0, l.add(l.load(1), l.mul(l.div(l.load(2), l.load(3)), l.parameter(0))))
				}},
			&loop{name: "product", doc: "computes Π x.", e: e, operands: []string{"x"}, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.reduce("VMUL", l.load(0)) }},
			&loop{name: "widest", doc: "computes the largest |x|, in which NaN counts as +Inf; -Inf if there is none.", e: e, operands: []string{"x"}, unroll: [2]int{1, 4},
				program: func(l *lanes) {
					x := l.load(0)
					l.reduce("VMAX", l.choose(l.isNaN(x), l.bits(plusInf), l.and(x, l.bits(1<<(8*e.size-1)-1))))
				}},
			&loop{name: "highest", doc: "computes the largest x, in which NaN counts as +Inf; -Inf if there is none.", e: e, operands: []string{"x"}, unroll: [2]int{1, 4},
				program: func(l *lanes) {
					x := l.load(0)
					l.reduce("VMAX", l.choose(l.isNaN(x), l.bits(plusInf), x))
				}},
			&loop{name: "lowest", doc: "computes the largest -x, in which NaN counts as +Inf; -Inf if there is none.", e: e, operands: []string{"x"}, unroll: [2]int{1, 4},
				program: func(l *lanes) {
					x := l.load(0)
					l.reduce("VMAX", l.choose(l.isNaN(x), l.bits(plusInf), l.xor(x, l.bits(1<<(8*e.size-1)))))
				}},
			&loop{name: "sum", doc: "computes Σ x.", e: e, operands: []string{"x"}, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.reduce("VADD", l.load(0)) }},
			&loop{name: "largest", doc: "computes the largest x, -Inf if there is none; NaN may be skipped.", e: e, operands: []string{"x"}, unroll: [2]int{4, 4},
				program: func(l *lanes) { l.reduce("VMAX", l.load(0)) }},
			&loop{name: "dot", doc: "computes Σ x·y.", e: e, operands: []string{"x", "y"}, unroll: [2]int{2, 4},
				program: func(l *lanes) { l.reduce("VADD", l.mul(l.load(0), l.load(1))) }},
			&loop{name: "squares", doc: "computes Σ (x - p)² with the parameter p.", e: e, operands: []string{"x"}, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					d := l.sub(l.load(0), l.parameter(0))
					l.reduce("VADD", l.mul(d, d))
				}},
		)
		all = append(all, updates(e)...)
	}
	function := func(name, doc string, avx2, avx512 int, f func(l *lanes, x ref) ref) {
		all = append(all, &loop{name: name, doc: doc, e: float32s, operands: two, unroll: [2]int{avx2, avx512},
			program: func(l *lanes) { l.store(0, f(l, l.load(1))) }})
	}
	ofInts := func(name, doc string, params bool, f func(l *lanes, x ref) ref) {
		all = append(all, &loop{name: name, doc: "computes " + doc + " for int32 in the places of float32.", e: float32s, operands: two, unroll: [2]int{4, 4}, params: params,
			program: func(l *lanes) { l.store(0, f(l, l.load(1))) }})
	}
	const minusOne = 1<<32 - 1
	ofInts("negInts", "-x", false, func(l *lanes, x ref) ref { return l.subInt(l.bits(0), x) })
	ofInts("absInts", "|x|", false, func(l *lanes, x ref) ref { return l.maxInt(l.subInt(l.bits(0), x), x) })
	ofInts("signInts", "-1, 0 or 1", false, func(l *lanes, x ref) ref { return l.minInt(l.maxInt(x, l.bits(minusOne)), l.bits(1)) })
	ofInts("notInts", "every bit inverted", false, func(l *lanes, x ref) ref { return l.xor(x, l.bits(minusOne)) })
	ofInts("clampInts", "x clamped to the range of the parameters", true, func(l *lanes, x ref) ref { return l.minInt(l.maxInt(x, l.parameter(0)), l.parameter(1)) })
	all = append(all,
		&loop{name: "highestInts", doc: "computes the largest of int32 in the places of float32.", e: float32s, operands: []string{"x"}, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.reduce("VPMAXSD", l.load(0)) }},
		&loop{name: "lowestInts", doc: "computes the largest of int32 in the places of float32, each with its bits inverted.", e: float32s, operands: []string{"x"}, unroll: [2]int{2, 4},
			program: func(l *lanes) { l.reduce("VPMAXSD", l.xor(l.load(0), l.bits(minusOne))) }},
	)
	for _, bits := range []struct {
		name string
		f    func(l *lanes, a, b ref) ref
	}{{"andInts", (*lanes).and}, {"orInts", (*lanes).or}, {"xorInts", (*lanes).xor}, {"maxInts", (*lanes).maxInt}, {"minInts", (*lanes).minInt}} {
		all = append(all, &loop{name: bits.name, doc: "is " + bits.name[:len(bits.name)-4] + " for int32 in the places of float32.", e: float32s, operands: three, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.store(0, bits.f(l, l.load(1), l.load(2))) }})
	}
	for name, f := range map[string]func(l *lanes, a, b ref) ref{"addInts": (*lanes).addInt, "subInts": (*lanes).subInt, "mulInts": (*lanes).mulInt} {
		all = append(all, &loop{name: name, doc: "is " + name[:3] + " for int32 in the places of float32.", e: float32s, operands: three, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.store(0, f(l, l.load(1), l.load(2))) }})
	}
	for name, f := range map[string]func(l *lanes, x, y, rest ref) ref{
		"fmodNear": func(l *lanes, x, y, rest ref) ref { return rest },
		"remainderNear": func(l *lanes, x, y, rest ref) ref {
			other := l.choose(l.negative(l.xor(x, y)), l.add(rest, y), rest)
			return l.choose(l.equal(rest, l.constant(0)), rest, other)
		},
	} {
		all = append(all, &loop{name: name, doc: "computes x mod y with the sign of x, or of y for a remainder, and NaN where |x/y| ≥ 2²³.", e: float32s, operands: three, unroll: [2]int{1, 3},
			program: func(l *lanes) {
				x, y := l.load(1), l.load(2)
				// A quotient that was rounded up to an integer leaves a remainder below 0. Both remainders are exact.
				width, size := l.and(y, l.bits(1<<31-1)), l.and(x, l.bits(1<<31-1))
				quotient := l.trunc(l.div(size, width))
				rest := l.fnma(quotient, width, size)
				rest = l.choose(l.less(rest, l.constant(0)), l.add(rest, width), rest)
				rest = l.or(rest, l.and(x, l.bits(1<<31)))
				l.store(0, l.choose(l.less(quotient, l.constant(1<<23)), f(l, x, y, rest), l.bits(0x7fc00000)))
			}})
	}
	for name, f := range map[string]func(l *lanes, a, b ref) ref{"equalInts": (*lanes).equalInt, "lessInts": (*lanes).lessInt} {
		all = append(all, &loop{name: name, doc: "is " + name[:len(name)-4] + " for int32 in the places of float32, with 1 and 0 in float32.", e: float32s, operands: three, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.store(0, l.choose(f(l, l.load(1), l.load(2)), l.constant(1), l.constant(0))) }})
	}
	slices.SortStableFunc(all[len(all)-7:], func(a, b *loop) int { return strings.Compare(a.name, b.name) })
	all = append(all,
		&loop{name: "sumLow", doc: "computes the sum of the lower 16 bits of int32 in the places of float32.", e: float32s, operands: []string{"x"}, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.reduce("VPADDD", l.and(l.load(0), l.bits(0xffff))) }},
		&loop{name: "sumHigh", doc: "computes the sum of the upper 16 bits, with their sign, of int32 in the places of float32.", e: float32s, operands: []string{"x"}, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.reduce("VPADDD", l.shiftSigned(l.load(0), 16)) }},
		&loop{name: "cut", doc: "computes int32 in the places of float32 by dropping fractions.", e: float32s, operands: two, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.store(0, l.cutInt(l.load(1))) }},
		&loop{name: "fromInts", doc: "converts int32 in the places of float32.", e: float32s, operands: two, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.store(0, l.toFloat(l.load(1))) }},
		&loop{name: "elu", doc: "computes x where it is above 0, and (eˣ-1)·p elsewhere with the parameter p.", e: float32s, operands: two, unroll: [2]int{2, 3}, params: true,
			program: func(l *lanes) {
				x := l.load(1)
				l.store(0, l.choose(l.less(l.constant(0), x), x, l.mul(expm1(l, x), l.parameter(0))))
			}},
	)
	all = append(all, randomLoops()...)
	all = append(all, wordLoops()...)
	function("exp", "computes eˣ.", 3, 3, exp)
	function("expm1", "computes eˣ-1.", 2, 3, expm1)
	function("log", "computes ln x.", 2, 3, func(l *lanes, x ref) ref { return logOf(l, x, ref{}, 1) })
	function("log2", "computes the logarithm to base 2.", 2, 3, func(l *lanes, x ref) ref { return logOf(l, x, ref{}, math.Log2E) })
	function("log1p", "computes ln(1+x).", 1, 3, log1p)
	function("sinNear", "computes the sine where |x| < 2¹⁷, and NaN elsewhere.", 2, 3, func(l *lanes, x ref) ref { return sine(l, x, 0) })
	function("cosNear", "computes the cosine where |x| < 2¹⁷, and NaN elsewhere.", 2, 3, func(l *lanes, x ref) ref { return sine(l, x, 1) })
	function("tanh", "computes the hyperbolic tangent.", 2, 4, tanh)
	function("sigmoid", "computes 1/(1+e⁻ˣ).", 2, 4, sigmoid)
	function("silu", "computes x/(1+e⁻ˣ).", 2, 4, silu)
	function("erf", "computes the error function.", 2, 4, erf)
	function("gelu", "computes x·Φ(x).", 2, 2, gelu)
	function("geluTanh", "computes the approximation of x·Φ(x) by a hyperbolic tangent.", 2, 4, geluTanh)
	all = append(all,
		&loop{name: "expSum", doc: "computes eˣ⁻ᵖ with the parameter p, and its sum.", e: float32s, operands: two, unroll: [2]int{2, 4}, params: true,
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
		&loop{name: "fromUint8", doc: "converts integers.", e: float32s, operands: two, widths: []int{4, 1}, unroll: [2]int{4, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.toFloat(l.load(1))) }},
		&loop{name: "toBool", doc: "stores 1 where a number is not 0, and 0 elsewhere.", e: float32s, operands: two, widths: []int{1, 4}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) {
				l.store(0, l.choose(l.differ(l.load(1), l.constant(0)), l.bits(1), l.bits(0)))
			}},
		&loop{name: "fromE4M3", doc: "widens E4M3.", e: float32s, operands: two, widths: []int{4, 1}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { // the product with a power of 2 sets the exponent, also that of subnormal numbers
				code := l.load(1)
				size := l.shiftLeft(l.and(code, l.bits(0x7f)), 20)
				value := l.choose(l.equal(size, l.bits(0x7f<<20)), l.bits(0x7fc00000), l.mul(size, l.constant(0x1p120)))
				l.store(0, l.or(value, l.shiftLeft(l.and(code, l.bits(0x80)), 24)))
			}},
		&loop{name: "fromE5M2", doc: "widens E5M2.", e: float32s, operands: two, widths: []int{4, 1}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) {
				code := l.load(1)
				size := l.shiftLeft(l.and(code, l.bits(0x7f)), 21)
				value := l.choose(l.less(size, l.bits(0x7c<<21)), l.mul(size, l.constant(0x1p112)), l.or(size, l.bits(0x7f800000)))
				l.store(0, l.or(value, l.shiftLeft(l.and(code, l.bits(0x80)), 24)))
			}},
		&loop{name: "toE4M3", doc: "rounds to E4M3, ties to even; numbers that are too large become NaN.", e: float32s, operands: two, widths: []int{1, 4}, unroll: [2]int{1, 4}, whole: true,
			program: func(l *lanes) { toFloat8(l, 3, 7, 0x7e, 0x7f, 0x7f) }},
		&loop{name: "toE5M2", doc: "rounds to E5M2, ties to even; numbers that are too large become infinite.", e: float32s, operands: two, widths: []int{1, 4}, unroll: [2]int{1, 4}, whole: true,
			program: func(l *lanes) { toFloat8(l, 2, 15, 0x7b, 0x7c, 0x7e) }},
		&loop{name: "toFloat16", doc: "rounds to float16, ties to even; NaN keeps only its sign.", e: float32s, operands: two, widths: []int{2, 4}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) {
				x := l.load(1)
				quiet := l.or(l.and(x, l.bits(signBit)), l.bits(0x7fc00000))
				l.storeHalf(0, l.choose(l.isNaN(x), quiet, x))
			}},
	)
	return all
}

// For two zeros, and if one number is NaN, the instruction returns its second operand: called in both orders, it
// returns both. Their combined bits are -0, or NaN.
func minimum(l *lanes, x, y ref) ref { return l.or(l.min(x, y), l.min(y, x)) }

// The bits that they have in common are +0.
func maximum(l *lanes, x, y ref) ref {
	return l.choose(l.unordered(x, y), l.constant(math.NaN()), l.and(l.max(x, y), l.max(y, x)))
}

// toFloat8 adds half of the last place that stays, minus one if that place is even already, and truncates. Subnormal
// numbers are rounded by adding a number with their last place. largest is the code of the largest number, over is the
// code for anything larger.
func toFloat8(l *lanes, mantissa, bias int, largest, over, nan uint64) {
	const float32Mantissa, float32Bias = 23, 127
	x := l.load(1)
	size := l.and(x, l.bits(1<<31-1))
	magic := l.bits(uint64(float32Bias+1-bias+float32Mantissa-mantissa) << float32Mantissa)
	subnormal := l.subInt(l.add(size, magic), magic)
	cut := float32Mantissa - mantissa
	odd := l.and(l.shiftDown(size, cut), l.bits(1))
	half := uint32(1)<<(cut-1) - 1 - uint32(float32Bias-bias)<<float32Mantissa
	code := l.shiftDown(l.addInt(l.addInt(size, l.bits(uint64(half))), odd), cut)
	code = l.choose(l.lessInt(size, l.bits(uint64(float32Bias+1-bias)<<float32Mantissa)), subnormal, code)
	code = l.choose(l.lessInt(l.bits(largest), code), l.bits(over), code)
	code = l.choose(l.isNaN(x), l.bits(nan), code)
	l.store(0, l.or(code, l.and(l.shiftDown(x, 24), l.bits(0x80))))
}

// toBFloat16 adds half of the last place that stays, minus one if that place is even already, and truncates.
func toBFloat16(l *lanes) {
	x := l.load(1)
	cut := l.shiftDown(x, 16)
	rounded := l.shiftDown(l.addInt(l.addInt(x, l.bits(0x7fff)), l.and(cut, l.bits(1))), 16)
	quiet := l.or(cut, l.bits(0x40)) // truncating must not turn NaN into infinity
	l.store(0, l.choose(l.isNaN(x), quiet, rounded))
}
