package main

import "slices"

// 64-bit integers in the places of float64.

// wordLoops are for integers of 64 bits in the places of float64.
func wordLoops() []*loop {
	binary := func(name, doc string, f func(l *lanes, x, y ref) ref) *loop {
		return &loop{name: name, doc: doc, e: float64s, operands: []string{"dst", "x", "y"}, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.store(0, f(l, l.load(1), l.load(2))) }}
	}
	few := func(unroll int, p *loop) *loop {
		p.unroll = [2]int{unroll, 4}
		return p
	}
	unary := func(name, doc string, params bool, f func(l *lanes, x ref) ref) *loop {
		return &loop{name: name, doc: doc, e: float64s, operands: []string{"dst", "x"}, unroll: [2]int{2, 4}, params: params,
			program: func(l *lanes) { l.store(0, f(l, l.load(1))) }}
	}
	oneWhere := func(l *lanes, mask ref) ref { return l.choose(mask, l.bits(1), l.bits(0)) }
	// divided returns a quotient without its fraction, and the remainder of x, each as a number.
	divided := func(l *lanes, x, y ref) (quotient, rest ref) {
		x, y = nearWhole(l, x), nearWhole(l, y)
		quotient = l.trunc(l.div(x, y))
		return quotient, l.fnma(quotient, y, x)
	}
	// below is a mask that says where the remainder has another sign than y and is not 0.
	below := func(l *lanes, rest, y ref) ref {
		return l.choose(l.equal(rest, l.constant(0)), l.constant(0), l.xor(rest, y))
	}
	// ofInts computes with int32 as numbers. A quotient that is not an integer is at least 1/y away from the
	// nearest integer, and its error is at most 2⁻²² of that.
	ofInts := func(name, doc string, f func(l *lanes, x, y ref) ref) *loop {
		return &loop{name: name, doc: doc, e: float64s, operands: []string{"dst", "x", "y"}, widths: []int{4, 4, 4}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { l.asInt(0, f(l, l.ofInt(1), l.ofInt(2))) }}
	}
	// largest makes loops for unsigned integers of 8 or 16 bits, several in each place. Their bits are flipped by the
	// parameter: with all bits flipped, the largest number stands for the smallest one, and with the first bit
	// flipped, signed numbers are in the right order.
	largest := func(names, numbers, instruction string) []*loop {
		turned := func(l *lanes, x ref) ref { return l.xor(x, l.parameter(0)) }
		return []*loop{
			{name: "max" + names, doc: "computes the largest of " + numbers + " each, whose bits are flipped by the parameter.", e: float64s, operands: []string{"dst", "x", "y"}, unroll: [2]int{2, 4}, params: true,
				program: func(l *lanes) {
					l.store(0, turned(l, l.do(instruction, 0, turned(l, l.load(1)), turned(l, l.load(2)))))
				}},
			{name: "highest" + names, doc: "computes the largest of " + numbers + " each, whose bits are flipped by the parameter and stay flipped. n is a multiple of 8.", e: float64s, operands: []string{"x"}, unroll: [2]int{4, 4}, params: true,
				program: func(l *lanes) { l.reduce(instruction, turned(l, l.load(0))) }},
		}
	}
	return append(slices.Concat(largest("Bytes", "eight bytes", "VPMAXUB"), largest("Shorts", "four numbers of 16 bits", "VPMAXUW")),
		binary("andBits", "computes x & y.", (*lanes).and), binary("orBits", "computes x | y.", (*lanes).or), binary("xorBits", "computes x ^ y.", (*lanes).xor),
		&loop{name: "xorBitsOf", doc: "computes x ^ p with the parameter p.", e: float64s, operands: []string{"dst", "x"}, unroll: [2]int{4, 4}, params: true,
			program: func(l *lanes) { l.store(0, l.xor(l.load(1), l.parameter(0))) }},
		&loop{name: "outside", doc: "sets the first bit if any x, as an integer, is negative or more than p.", e: float64s, operands: []string{"x"}, unroll: [2]int{1, 4}, params: true,
			program: func(l *lanes) {
				x := l.load(0)
				l.reduce("VOR", l.or(x, l.subInt(l.parameter(0), x)))
			}},
		&loop{name: "shifted", doc: "computes the bits that are set in any x + p, as integers.", e: float64s, operands: []string{"x"}, unroll: [2]int{2, 4}, params: true,
			program: func(l *lanes) { l.reduce("VOR", l.addInt(l.load(0), l.parameter(0))) }},
		&loop{name: "sumWhole", doc: "computes Σ x of integers.", e: float64s, operands: []string{"x"}, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.reduce("VPADDQ", l.load(0)) }},
		&loop{name: "sumBytes", doc: "computes Σ x of unsigned bytes, whose bits are flipped by the parameter, as an integer.", e: float64s, operands: []string{"x"}, unroll: [2]int{4, 4}, params: true,
			program: func(l *lanes) { l.reduce("VPADDQ", l.do("VPSADBW", 0, l.xor(l.load(0), l.parameter(0)), l.bits(0))) }},
		&loop{name: "sumShorts", doc: "computes Σ x of 16-bit integers, as a 32-bit integer.", e: float32s, operands: []string{"x"}, unroll: [2]int{4, 4},
			program: func(l *lanes) { l.reduce("VPADDD", l.do("VPMADDWD", 0, l.load(0), l.bits(0x10001))) }},
		binary("addWhole", "computes x + y of integers.", (*lanes).addInt),
		binary("subWhole", "computes x - y of integers.", (*lanes).subInt),
		few(2, binary("maxWhole", "computes the larger of integers.", (*lanes).maxInt)),
		few(2, binary("minWhole", "computes the smaller of integers.", (*lanes).minInt)),
		few(2, binary("equalWhole", "computes 1 where integers are equal, and 0 elsewhere, as integers.", func(l *lanes, x, y ref) ref { return oneWhere(l, l.equalInt(x, y)) })),
		few(2, binary("lessWhole", "computes 1 where x < y, and 0 elsewhere, as integers.", func(l *lanes, x, y ref) ref { return oneWhere(l, l.lessInt(x, y)) })),
		few(1, binary("quotientNear", "computes x/y without its fraction, for integers of less than 51 bits.", func(l *lanes, x, y ref) ref {
			quotient, _ := divided(l, x, y)
			return wholeNear(l, quotient)
		})),
		few(1, binary("floorNear", "computes x/y rounded down, for integers of less than 51 bits.", func(l *lanes, x, y ref) ref {
			quotient, rest := divided(l, x, y)
			return wholeNear(l, l.choose(l.negative(below(l, rest, y)), l.sub(quotient, l.constant(1)), quotient))
		})),
		few(1, binary("restNear", "computes x mod y with the sign of x, for integers of less than 51 bits.", func(l *lanes, x, y ref) ref {
			_, rest := divided(l, x, y)
			return wholeNear(l, rest)
		})),
		few(1, binary("modNear", "computes x mod y with the sign of y, for integers of less than 51 bits.", func(l *lanes, x, y ref) ref {
			_, rest := divided(l, x, y)
			return wholeNear(l, l.choose(l.negative(below(l, rest, y)), l.add(rest, nearWhole(l, y)), rest))
		})),
		ofInts("quotientInts", "computes x/y without its fraction, for int32.", func(l *lanes, x, y ref) ref { return l.div(x, y) }),
		ofInts("floorInts", "computes x/y rounded down, for int32.", func(l *lanes, x, y ref) ref { return l.floor(l.div(x, y)) }),
		ofInts("restInts", "computes x mod y with the sign of x, for int32.", func(l *lanes, x, y ref) ref { return l.fnma(l.trunc(l.div(x, y)), y, x) }),
		ofInts("modInts", "computes x mod y with the sign of y, for int32.", func(l *lanes, x, y ref) ref { return l.fnma(l.floor(l.div(x, y)), y, x) }),
		unary("negWhole", "computes -x of integers.", false, func(l *lanes, x ref) ref { return l.subInt(l.bits(0), x) }),
		unary("absWhole", "computes |x| of integers.", false, func(l *lanes, x ref) ref { return l.maxInt(l.subInt(l.bits(0), x), x) }),
		unary("signWhole", "computes -1, 0 or 1 of integers.", false, func(l *lanes, x ref) ref { return l.minInt(l.maxInt(x, l.bits(1<<64-1)), l.bits(1)) }),
		unary("clampWhole", "clamps integers to the range of the parameters.", true, func(l *lanes, x ref) ref { return l.minInt(l.maxInt(x, l.parameter(0)), l.parameter(1)) }),
		unary("toNear", "converts numbers to integers of less than 51 bits; fractions are dropped.", false, func(l *lanes, x ref) ref { return wholeNear(l, l.trunc(x)) }),
		unary("fromNear", "converts integers of less than 51 bits.", false, nearWhole),
		&loop{name: "wholeToF32", doc: "converts integers of less than 51 bits to float32.", e: float64s, operands: []string{"dst", "x"}, widths: []int{4, 8}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { l.store(0, nearWhole(l, l.load(1))) }},
		&loop{name: "f32ToWhole", doc: "converts float32 to integers of less than 51 bits; fractions are dropped.", e: float64s, operands: []string{"dst", "x"}, widths: []int{8, 4}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { l.store(0, wholeNear(l, l.trunc(l.load(1)))) }},
		&loop{name: "wholeToInts", doc: "truncates integers to 32 bits.", e: float64s, operands: []string{"dst", "x"}, widths: []int{4, 8}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { l.storeInt(0, l.load(1)) }},
		&loop{name: "intsToWhole", doc: "widens 32-bit integers.", e: float64s, operands: []string{"dst", "x"}, widths: []int{8, 4}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.loadInt(1)) }},
		&loop{name: "wholeToBool", doc: "stores 1 where an integer is not 0, and 0 elsewhere.", e: float64s, operands: []string{"dst", "x"}, widths: []int{1, 8}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) {
				l.storeInt(0, l.choose(l.equalInt(l.load(1), l.bits(0)), l.bits(0), l.bits(1)))
			}},
		&loop{name: "f32ToF64", doc: "widens float32.", e: float64s, operands: []string{"dst", "x"}, widths: []int{8, 4}, unroll: [2]int{4, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.load(1)) }},
		&loop{name: "f64ToF32", doc: "rounds to float32.", e: float64s, operands: []string{"dst", "x"}, widths: []int{4, 8}, unroll: [2]int{4, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.load(1)) }},
		&loop{name: "intsToF64", doc: "converts 32-bit integers.", e: float64s, operands: []string{"dst", "x"}, widths: []int{8, 4}, unroll: [2]int{4, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.ofInt(1)) }},
		&loop{name: "ramp", doc: "computes (x + p₂)·p₁ + p₀, rounded at each step.", e: float64s, operands: []string{"dst", "x"}, widths: []int{4, 8}, unroll: [2]int{4, 4}, whole: true, params: true,
			program: func(l *lanes) {
				l.store(0, l.add(l.parameter(0), l.mul(l.add(l.load(1), l.parameter(2)), l.parameter(1))))
			}},
		&loop{name: "bytesToWhole", doc: "widens unsigned 8-bit integers.", e: float64s, operands: []string{"dst", "x"}, widths: []int{8, 1}, unroll: [2]int{2, 4}, whole: true,
			program: func(l *lanes) { l.store(0, l.loadInt(1)) }},
	)
}

// Between 2⁵² and 2⁵³ the last place of a float64 is 1: added to three halves of 2⁵², a number of less than 51 bits, of
// either sign, lies in its last bits as an integer.
const wholesF64 = 0x1.8p52

// nearWhole converts integers of less than 51 bits.
func nearWhole(l *lanes, x ref) ref {
	return l.sub(l.addInt(x, l.constant(wholesF64)), l.constant(wholesF64))
}

// wholeNear converts numbers without a fraction, of less than 51 bits, to integers.
func wholeNear(l *lanes, x ref) ref {
	return l.subInt(l.add(x, l.constant(wholesF64)), l.constant(wholesF64))
}
