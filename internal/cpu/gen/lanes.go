package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// lanes is a program for one vector of numbers, written like a formula; emit turns it into instructions for several
// vectors at a time, for AVX2 or for AVX-512. Each method adds a step and returns its result.
type lanes struct {
	e     element
	steps []step
	words []uint64 // the constants
	wide  bool     // for AVX-512

	tables [][]uint32 // what is looked up
}

// ref is the result of a step, a constant, or a parameter that the caller passes in memory.
type ref struct {
	kind byte // 'v'alue, 'c'onstant, 'p'arameter, 't'able
	n    int
}

type step struct {
	name string // "load", "store", or what emit knows
	args []ref
	imm  int
}

func (l *lanes) do(name string, imm int, args ...ref) ref {
	l.steps = append(l.steps, step{name, args, imm})
	return ref{'v', len(l.steps) - 1}
}

func (l *lanes) load(operand int) ref         { return l.do("load", operand) }
func (l *lanes) store(operand int, v ref)     { l.do("store", operand, v) }
func (l *lanes) reduce(how string, v ref)     { l.do("reduce "+how, 0, v) }
func (l *lanes) add(a, b ref) ref             { return l.do("VADD", 0, a, b) }
func (l *lanes) sub(a, b ref) ref             { return l.do("VSUB", 0, a, b) }
func (l *lanes) mul(a, b ref) ref             { return l.do("VMUL", 0, a, b) }
func (l *lanes) div(a, b ref) ref             { return l.do("VDIV", 0, a, b) }
func (l *lanes) and(a, b ref) ref             { return l.do("VAND", 0, a, b) }
func (l *lanes) or(a, b ref) ref              { return l.do("VOR", 0, a, b) }
func (l *lanes) xor(a, b ref) ref             { return l.do("VXOR", 0, a, b) }
func (l *lanes) sqrt(a ref) ref               { return l.do("VSQRT", 0, a) }
func (l *lanes) fma(a, b, c ref) ref          { return l.do("fma", 0, a, b, c) }  // a·b + c, rounded once
func (l *lanes) fnma(a, b, c ref) ref         { return l.do("fma", 1, a, b, c) }  // c - a·b, rounded once
func (l *lanes) less(a, b ref) ref            { return l.do("compare", 1, a, b) } // a mask
func (l *lanes) isNaN(a ref) ref              { return l.do("compare", 3, a, a) } // a mask
func (l *lanes) unordered(a, b ref) ref       { return l.do("compare", 3, a, b) } // a mask of where one is NaN
func (l *lanes) equal(a, b ref) ref           { return l.do("compare", 0, a, b) } // a mask
func (l *lanes) atMost(a, b ref) ref          { return l.do("compare", 2, a, b) } // a mask
func (l *lanes) differ(a, b ref) ref          { return l.do("compare", 4, a, b) } // a mask, also where one is NaN
func (l *lanes) negative(a ref) ref           { return l.do("negative", 0, a) }   // a mask of the lanes whose first bit is set
func (l *lanes) loadHalf(operand int) ref     { return l.do("load half", operand) }
func (l *lanes) storeHalf(operand int, v ref) { l.do("store half", operand, v) }
func (l *lanes) choose(mask, a, b ref) ref    { return l.do("choose", 0, mask, a, b) }
func (l *lanes) round(a ref) ref              { return l.do("round", 8, a) } // to nearest, ties to even; none of these raises flags
func (l *lanes) floor(a ref) ref              { return l.do("round", 9, a) }
func (l *lanes) ceil(a ref) ref               { return l.do("round", 10, a) }
func (l *lanes) trunc(a ref) ref              { return l.do("round", 11, a) }
func (l *lanes) toFloat(a ref) ref            { return l.do("toFloat", 0, a) }
func (l *lanes) timesPowerOf2(a, n ref) ref   { return l.do("VSCALEF", 0, a, n) } // only AVX-512
func (l *lanes) toInt(a ref) ref              { return l.do("toInt", 0, a) }
func (l *lanes) addInt(a, b ref) ref          { return l.do("VPADD"+l.word(), 0, a, b) }
func (l *lanes) subInt(a, b ref) ref          { return l.do("VPSUB"+l.word(), 0, a, b) }
func (l *lanes) mulInt(a, b ref) ref          { return l.do("VPMULLD", 0, a, b) }
func (l *lanes) mulLow(a, b ref) ref          { return l.do("VPMULUDQ", 0, a, b) }    // of float64: the lower halves, as 64 bits
func (l *lanes) toSingle(a ref) ref           { return l.do("toSingle", 0, a) }       // of float64: float32 in the lower halves, and 0 in the upper ones
func (l *lanes) cutInt(a ref) ref             { return l.do("cutInt", 0, a) }         // the fraction is cut
func (l *lanes) equalInt(a, b ref) ref        { return l.do("compare int", 0, a, b) } // a mask
func (l *lanes) lessInt(a, b ref) ref         { return l.do("compare int", 1, a, b) } // a mask
func (l *lanes) loadInt(operand int) ref      { return l.do("load int", operand) }    // of float64: integers of 1 byte, without a sign, or of 4
func (l *lanes) storeInt(operand int, v ref)  { l.do("store int", operand, v) }       // their low bytes; AVX2 stores bytes up to 127
func (l *lanes) ofInt(operand int) ref        { return l.do("load of int", operand) } // of float64: numbers of whole ones of 4 bytes
func (l *lanes) asInt(operand int, v ref)     { l.do("store as int", operand, v) }    // the fraction is cut
func (l *lanes) shiftLeft(a ref, n int) ref   { return l.do("VPSLL"+l.word(), n, a) }
func (l *lanes) shiftDown(a ref, n int) ref   { return l.do("VPSRL"+l.word(), n, a) }
func (l *lanes) andOr(a, b, c ref) ref        { return l.do("andOr", 0, a, b, c) } // (a & b) | c; AVX-512 alone
func (l *lanes) halveInt(a ref) ref           { return l.do("VPSRAD", 1, a) }
func (l *lanes) shiftSigned(a ref, n int) ref { return l.do("VPSRAD", n, a) }

// maxInt returns the larger of two integers. AVX2 has no instruction for 64-bit integers.
func (l *lanes) maxInt(a, b ref) ref {
	if l.e.size == 8 && !l.wide {
		return l.choose(l.lessInt(a, b), b, a)
	}
	return l.do("VPMAXS"+l.word(), 0, a, b)
}

// minInt returns the smaller of two integers.
func (l *lanes) minInt(a, b ref) ref {
	if l.e.size == 8 && !l.wide {
		return l.choose(l.lessInt(a, b), a, b)
	}
	return l.do("VPMINS"+l.word(), 0, a, b)
}

// word ends the names of instructions for integers as wide as an element.
func (l *lanes) word() string { return map[int]string{4: "D", 8: "Q"}[l.e.size] }

// min returns a if it is less than b, else b: b where either is NaN.
func (l *lanes) min(a, b ref) ref { return l.do("VMIN", 0, a, b) }

// max returns a if it is greater than b, else b: b where either is NaN.
func (l *lanes) max(a, b ref) ref { return l.do("VMAX", 0, a, b) }

// leastSize returns the smaller one of |a| and |b|: |b| where a is NaN. It is for AVX-512.
func (l *lanes) leastSize(a, b ref) ref { return l.do("least size", 0, a, b) }

func (l *lanes) parameter(n int) ref { return ref{'p', n} }

func (l *lanes) constant(x float64) ref {
	if l.e.size == 4 {
		return l.bits(uint64(math.Float32bits(float32(x))))
	}
	return l.bits(math.Float64bits(x))
}

func (l *lanes) bits(w uint64) ref {
	i := slices.Index(l.words, w)
	if i < 0 {
		i = len(l.words)
		l.words = append(l.words, w)
	}
	return ref{'c', i}
}

// lookup returns, for each lane, one of up to 16 values, chosen by the last 4 bits of index. It is for AVX-512.
func (l *lanes) lookup(index ref, values []float64) ref {
	table := make([]uint32, 16)
	for i, v := range values {
		table[i] = math.Float32bits(float32(v))
	}
	n := slices.IndexFunc(l.tables, func(t []uint32) bool { return slices.Equal(t, table) })
	if n < 0 {
		n = len(l.tables)
		l.tables = append(l.tables, table)
	}
	return l.do("lookup", n, index)
}

// polynomial evaluates Σ c[i]·x^i by Horner's rule.
func (l *lanes) polynomial(x ref, c ...float64) ref {
	p := l.fma(x, l.constant(c[len(c)-1]), l.constant(c[len(c)-2]))
	for i := len(c) - 3; i >= 0; i-- {
		p = l.fma(p, x, l.constant(c[i]))
	}
	return p
}

// emitter turns steps into instructions for one level.
type emitter struct {
	a      *asm
	l      *lanes
	width  int
	table  string            // symbol of the constants
	widths []int             // bytes of an element of each operand in memory
	last   []int             // the last step that reads a value
	regs   []string          // free vector registers
	masks  []string          // free mask registers
	where  map[[2]int]string // of value and copy
	sums   []string          // accumulators, by copy
	start  int               // the copy that lies where BX points
	pinned map[ref]string    // constants, parameters and tables that stay in registers
	least  int               // the fewest free vector registers there were
}

// pointers are the registers that hold the operands; BX counts elements done. K1 or Y15 holds the lanes of a partial
// vector, R13 the parameters.
var pointers = []string{"DI", "SI", "R8", "R9", "R10", "R11"}

func (m *emitter) take(free *[]string) string {
	if len(*free) == 0 {
		panic("no register left: compute fewer vectors at a time")
	}
	r := (*free)[0]
	*free = (*free)[1:]
	m.least = min(m.least, len(m.regs))
	return r
}

// pin loads what the steps read besides their operands into the registers that the bodies leave free. A processor loads
// one or two vectors per cycle, no more than it multiplies. Each body is given by the number of its first copy and the
// number of copies.
func (m *emitter) pin(bodies [][2]int) {
	text, regs, masks := m.a.text, slices.Clone(m.regs), slices.Clone(m.masks)
	m.a.text, m.least = strings.Builder{}, len(m.regs)
	for _, b := range bodies {
		m.body(b[0], b[1], false)
		m.regs, m.masks = slices.Clone(regs), slices.Clone(masks)
	}
	m.body(bodies[0][0], 1, true)
	m.a.text, m.regs, m.masks = text, regs, masks
	uses := map[ref]int{}
	var order []ref
	for _, s := range m.l.steps {
		args := s.args
		if s.name == "lookup" {
			args = append(slices.Clone(args), ref{'t', s.imm})
		}
		for _, r := range args {
			if r.kind == 'v' {
				continue
			}
			if uses[r]++; uses[r] == 1 {
				order = append(order, r)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b ref) int { return uses[b] - uses[a] })
	m.pinned = map[ref]string{}
	for _, r := range order[:min(len(order), m.least)] {
		reg := m.take(&m.regs)
		m.pinned[r] = reg
		m.fetch(r, reg)
	}
}

// fetch emits the load of a constant, a parameter or a table.
func (m *emitter) fetch(r ref, reg string) {
	switch {
	case r.kind == 't':
		m.a.op("VMOVUPS", m.tableAt(r.n), reg)
	case r.kind == 'p':
		m.a.op("VBROADCAST"+m.l.e.scalar, mem(r.n*m.l.e.size, "R13"), reg)
	case m.width == 64:
		m.a.op("VBROADCAST"+m.l.e.scalar, m.constant(r.n), reg)
	default:
		m.a.op("VMOVUPS", m.constant(r.n), reg)
	}
}

// body emits the steps for copies of the vector, next to each other in memory; masked is for a partial one.
func (m *emitter) body(first, copies int, masked bool) {
	m.where = map[[2]int]string{}
	for i := range m.l.steps {
		for c := range copies {
			m.step(i, first+c, masked)
		}
	}
}

func (m *emitter) step(i, c int, masked bool) {
	s, a, e := m.l.steps[i], m.a, m.l.e
	// Operands that are read for the last time leave their registers to the result.
	var temporary []string
	release := func() {
		for n, r := range s.args {
			if r.kind == 'v' && m.last[r.n] == i && !slices.Contains(s.args[:n], r) {
				reg := m.where[[2]int{r.n, c}]
				if reg[0] == 'K' {
					m.masks = append([]string{reg}, m.masks...)
				} else {
					m.regs = append([]string{reg}, m.regs...)
				}
			}
		}
		m.regs = append(temporary, m.regs...)
	}
	register := func(r ref) string {
		if r.kind == 'v' {
			return m.where[[2]int{r.n, c}]
		}
		if reg, ok := m.pinned[r]; ok {
			return reg
		}
		t := m.take(&m.regs)
		temporary = append(temporary, t)
		m.fetch(r, t)
		return t
	}
	// any is an operand that may be in memory; the suffix is for the mnemonic.
	any := func(r ref) (suffix, operand string) {
		_, pinned := m.pinned[r]
		switch {
		case pinned || r.kind == 'v' || r.kind == 'p' && m.width == 32:
			return "", register(r)
		case r.kind == 'p':
			return ".BCST", mem(r.n*e.size, "R13")
		case m.width == 64:
			return ".BCST", m.constant(r.n)
		}
		return "", m.constant(r.n)
	}
	result := func() string {
		release()
		reg := m.take(&m.regs)
		m.where[[2]int{i, c}] = reg
		return reg
	}
	at := func(operand int) string {
		return mem((c-m.start)*m.width*m.widths[operand]/e.size, pointers[operand], "BX", m.widths[operand])
	}
	switch s.name {
	case "load":
		to := result()
		switch {
		case m.widths[s.imm] < e.size && e.size == 8 && masked && m.width == 64:
			a.op("VCVTPS2PD.Z", at(s.imm), "K1", to)
		case m.widths[s.imm] < e.size && e.size == 8:
			a.op("VCVTPS2PD", at(s.imm), to)
		case m.widths[s.imm] == 1 && masked && m.width == 64:
			a.op("VPMOVZXBD.Z", at(s.imm), "K1", to)
		case m.widths[s.imm] == 1:
			a.op("VPMOVZXBD", at(s.imm), to)
		case m.widths[s.imm] == 2 && masked && m.width == 64:
			a.op("VPMOVZXWD.Z", at(s.imm), "K1", to)
		case m.widths[s.imm] == 2:
			a.op("VPMOVZXWD", at(s.imm), to)
		case masked && m.width == 64:
			a.op("VMOVU"+e.suffix+".Z", at(s.imm), "K1", to)
		case masked:
			a.op("VMASKMOV"+e.suffix, at(s.imm), "Y15", to)
		default:
			a.op("VMOVU"+e.suffix, at(s.imm), to)
		}
	case "load half":
		to := result()
		if masked && m.width == 64 {
			a.op("VCVTPH2PS.Z", at(s.imm), "K1", to)
		} else {
			a.op("VCVTPH2PS", at(s.imm), to)
		}
	case "store half":
		from := register(s.args[0])
		if masked && m.width == 64 {
			a.op("VCVTPS2PH", 0, from, "K1", at(s.imm))
		} else {
			a.op("VCVTPS2PH", 0, from, at(s.imm))
		}
		release()
	case "store":
		from := register(s.args[0])
		switch {
		case m.widths[s.imm] < e.size && e.size == 8 && m.width == 64:
			half := "Y" + from[1:]
			a.op("VCVTPD2PS", from, half)
			if masked {
				a.op("VMOVUPS", half, "K1", at(s.imm))
			} else {
				a.op("VMOVUPS", half, at(s.imm))
			}
		case m.widths[s.imm] < e.size && e.size == 8:
			half := "X" + from[1:]
			a.op("VCVTPD2PSY", from, half)
			a.op("VMOVUPS", half, at(s.imm))
		case m.widths[s.imm] == 1 && m.width == 64: // the low quarters of 32 bits
			if masked {
				a.op("VPMOVDB", from, "K1", at(s.imm))
			} else {
				a.op("VPMOVDB", from, at(s.imm))
			}
		case m.widths[s.imm] == 1:
			a.op("VPACKUSDW", from, from, from)
			a.op("VPERMQ", 8, from, from)
			a.op("VPACKUSWB", from, from, from)
			a.op("VMOVQ", "X"+from[1:], at(s.imm))
		case m.widths[s.imm] == 2 && m.width == 64: // the low halves of 32 bits
			if masked {
				a.op("VPMOVDW", from, "K1", at(s.imm))
			} else {
				a.op("VPMOVDW", from, at(s.imm))
			}
		case m.widths[s.imm] == 2:
			a.op("VPACKUSDW", from, from, from)
			a.op("VPERMQ", 8, from, from)
			a.op("VMOVDQU", "X"+from[1:], at(s.imm))
		case masked && m.width == 64:
			a.op("VMOVU"+e.suffix, from, "K1", at(s.imm))
		case masked:
			a.op("VMASKMOV"+e.suffix, from, "Y15", at(s.imm))
		default:
			a.op("VMOVU"+e.suffix, from, at(s.imm))
		}
		release()
	case "load int":
		to, name := result(), map[int]string{1: "VPMOVZXBQ", 4: "VPMOVSXDQ"}[m.widths[s.imm]]
		if masked && m.width == 64 {
			a.op(name+".Z", at(s.imm), "K1", to)
		} else {
			a.op(name, at(s.imm), to)
		}
	case "load of int":
		to := result()
		if masked && m.width == 64 {
			a.op("VCVTDQ2PD.Z", at(s.imm), "K1", to)
		} else {
			a.op("VCVTDQ2PD", at(s.imm), to)
		}
	case "store as int":
		from := register(s.args[0])
		switch half := "Y" + from[1:]; {
		case m.width == 64 && masked:
			a.op("VCVTTPD2DQ", from, half)
			a.op("VMOVDQU32", half, "K1", at(s.imm))
		case m.width == 64:
			a.op("VCVTTPD2DQ", from, half)
			a.op("VMOVDQU", half, at(s.imm))
		default:
			a.op("VCVTTPD2DQY", from, "X"+from[1:])
			a.op("VMOVDQU", "X"+from[1:], at(s.imm))
		}
		release()
	case "store int":
		from, narrow := register(s.args[0]), map[int]string{1: "VPMOVQB", 4: "VPMOVQD"}[m.widths[s.imm]]
		switch {
		case m.width == 64 && masked:
			a.op(narrow, from, "K1", at(s.imm))
		case m.width == 64:
			a.op(narrow, from, at(s.imm))
		default: // the lower half of each, and then a quarter of that
			half := "X" + m.take(&m.regs)[1:]
			temporary = append(temporary, "Y"+half[1:])
			a.op("VEXTRACTF128", 1, from, half)
			a.op("VSHUFPS", 0x88, half, "X"+from[1:], half)
			if m.widths[s.imm] == 4 {
				a.op("VMOVUPS", half, at(s.imm))
				break
			}
			a.op("VPACKSSDW", half, half, half)
			a.op("VPACKUSWB", half, half, half)
			a.op("VMOVD", half, at(s.imm))
		}
		release()
	case "reduce VADD", "reduce VMAX", "reduce VMUL", "reduce VOR", "reduce VPADDD", "reduce VPADDQ", "reduce VPMAXSD", "reduce VPMAXUB", "reduce VPMAXUW":
		from, sum := register(s.args[0]), m.sums[c]
		name := joining(s.name[len("reduce "):], e)
		switch {
		case masked && m.width == 64:
			a.op(name, from, sum, "K1", sum)
		case masked:
			t := m.take(&m.regs)
			a.op(name, from, sum, t)
			a.op("VBLENDV"+e.suffix, "Y15", t, sum, sum)
			m.regs = append([]string{t}, m.regs...)
		default:
			a.op(name, from, sum, sum)
		}
		release()
	case "fma":
		m.fma(i, c, []string{"VFMADD", "VFNMADD"}[s.imm], s.args, register, any, release)
	case "compare":
		x := register(s.args[0])
		suffix, y := any(s.args[1])
		if m.width == 64 {
			release()
			k := m.take(&m.masks)
			m.where[[2]int{i, c}] = k
			a.op("VCMP"+e.suffix+suffix, s.imm, y, x, k)
		} else {
			a.op("VCMP"+e.suffix, s.imm, y, x, result())
		}
	case "choose":
		mask, x, y := register(s.args[0]), register(s.args[1]), register(s.args[2])
		if m.width == 64 {
			a.op("VBLENDM"+e.suffix, x, y, mask, result())
		} else {
			a.op("VBLENDV"+e.suffix, mask, x, y, result())
		}
	case "round":
		x := register(s.args[0])
		if m.width == 64 {
			a.op("VRNDSCALE"+e.suffix, s.imm, x, result())
		} else {
			a.op("VROUND"+e.suffix, s.imm, x, result())
		}
	case "negative": // AVX2 chooses by the first bit of a lane
		x := register(s.args[0])
		if m.width == 64 {
			release()
			k := m.take(&m.masks)
			m.where[[2]int{i, c}] = k
			a.op("VPMOV"+m.l.word()+"2M", x, k)
		} else {
			a.op("VMOVAPS", x, result())
		}
	case "toFloat":
		x := register(s.args[0])
		a.op("VCVTDQ2PS", x, result())
	case "toSingle":
		x, to := register(s.args[0]), result()
		convert, half := "VCVTPD2PSY", "X"+to[1:]
		if m.width == 64 {
			convert, half = "VCVTPD2PS", "Y"+to[1:]
		}
		a.op(convert, x, half)
		a.op("VPMOVZXDQ", half, to)
	case "toInt":
		x := register(s.args[0])
		a.op("VCVTPS2DQ", x, result())
	case "cutInt":
		x := register(s.args[0])
		a.op("VCVTTPS2DQ", x, result())
	case "compare int":
		x, y := register(s.args[0]), register(s.args[1])
		switch {
		case m.width == 64:
			release()
			k := m.take(&m.masks)
			m.where[[2]int{i, c}] = k
			a.op("VPCMP"+m.l.word(), s.imm, y, x, k)
		case s.imm == 0:
			a.op("VPCMPEQ"+m.l.word(), y, x, result())
		default: // there is only an instruction for greater
			a.op("VPCMPGT"+m.l.word(), x, y, result())
		}
	case "VSQRT":
		suffix, x := any(s.args[0])
		a.op("VSQRT"+e.suffix+suffix, x, result())
	case "least size":
		x := register(s.args[0])
		suffix, y := any(s.args[1])
		a.op("VRANGE"+e.suffix+suffix, 0b1010, y, x, result()) // the one of least size, without its sign
	case "lookup":
		index, table := register(s.args[0]), m.tableAt(s.imm)
		if reg, ok := m.pinned[ref{'t', s.imm}]; ok {
			table = reg
		}
		a.op("VPERMPS", table, index, result())
	case "andOr":
		x := register(s.args[0])
		mask := register(s.args[1])
		suffix, y := any(s.args[2])
		to := m.take(&m.regs)
		a.op("VMOVAPS", x, to)
		a.op("VPTERNLOGD"+suffix, 0xea, y, mask, to)
		release()
		m.where[[2]int{i, c}] = to
	case "VPSLLD", "VPSRAD", "VPSRLD", "VPSLLQ", "VPSRLQ":
		x := register(s.args[0])
		a.op(s.name, s.imm, x, result())
	case "VPMAXUB", "VPMAXUW", "VPSADBW", "VPMADDWD": // of parts of lanes, which no constant is spread over
		x, y := register(s.args[0]), register(s.args[1])
		a.op(s.name, y, x, result())
	case "VPADDD", "VPSUBD", "VPMULLD", "VPMAXSD", "VPMINSD", "VPMAXSQ", "VPMINSQ", "VPADDQ", "VPSUBQ", "VPMULUDQ":
		x := register(s.args[0])
		suffix, y := any(s.args[1])
		a.op(s.name+suffix, y, x, result())
	default: // a op b
		x := register(s.args[0])
		suffix, y := any(s.args[1])
		a.op(s.name+e.suffix+suffix, y, x, result())
	}
}

// fma picks the form that overwrites an operand that is no longer needed.
func (m *emitter) fma(i, c int, name string, args []ref, register func(ref) string, any func(ref) (string, string), release func()) {
	e := m.l.e
	dies := func(r ref) bool {
		uses := 0
		for _, x := range args {
			if x == r {
				uses++
			}
		}
		return r.kind == 'v' && m.last[r.n] == i && uses == 1
	}
	x, y, z := args[0], args[1], args[2]
	if !dies(x) && dies(y) || x.kind != 'v' {
		x, y = y, x
	}
	set := func(reg string) { // the result takes over the register of an operand
		release()
		m.regs = slices.DeleteFunc(m.regs, func(r string) bool { return r == reg })
		m.where[[2]int{i, c}] = reg
	}
	switch {
	case dies(x):
		to := register(x)
		other := register(y)
		suffix, third := any(z)
		m.a.op(name+"213"+e.suffix+suffix, third, other, to)
		set(to)
	case dies(z):
		to := register(z)
		first := register(x)
		suffix, third := any(y)
		m.a.op(name+"231"+e.suffix+suffix, third, first, to)
		set(to)
	default:
		from := register(x)
		to := m.take(&m.regs)
		m.a.op("VMOVAPS", from, to)
		other := register(y)
		suffix, third := any(z)
		m.a.op(name+"213"+e.suffix+suffix, third, other, to)
		release()
		m.where[[2]int{i, c}] = to
	}
}

// tableAt is where a table is: tables come before the constants.
func (m *emitter) tableAt(n int) string { return fmt.Sprintf("%s<>+%d(SB)", m.table, 64*n) }

func (m *emitter) constant(n int) string {
	copies := 1 // AVX2 needs whole vectors
	if m.width == 32 {
		copies = 32 / m.l.e.size
	}
	return fmt.Sprintf("%s<>+%d(SB)", m.table, 64*len(m.l.tables)+n*copies*m.l.e.size)
}
