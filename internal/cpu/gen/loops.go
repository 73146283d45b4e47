package main

import (
	"fmt"
	"slices"
	"strings"
)

// loop is a function over slices: a program of lanes run over all elements.
type loop struct {
	name     string
	doc      string
	e        element
	operands []string // names, in the order of load and store
	widths   []int    // bytes of their elements; nil: those of e
	params   bool     // has parameters, which are numbers in memory
	unroll   [2]int   // vectors at a time with AVX2 and AVX-512
	whole    bool     // AVX2 does whole vectors only: the caller keeps n a multiple of 8
	rows     int      // how many operands are rows of matrices, whose next rows are prefetched
	program  func(l *lanes)
}

// fresh reports whether the first operand is written without being read.
func (p *loop) fresh(l *lanes) bool {
	written := false
	for _, s := range l.steps {
		if s.imm == 0 && strings.HasPrefix(s.name, "load") {
			return false
		}
		written = written || s.imm == 0 && strings.HasPrefix(s.name, "store")
	}
	return written
}

// nextRows are registers for the next rows of operands; without such operands, the first of them is for what will
// be written next.
var nextRows = []string{"R12", "R15"}

func (p *loop) emit(a *asm, width int) {
	l := &lanes{e: p.e, wide: width == 64}
	p.program(l)
	m := &emitter{a: a, l: l, width: width, last: make([]int, len(l.steps)), widths: p.widths}
	if m.widths == nil {
		m.widths = make([]int, len(p.operands))
		for i := range m.widths {
			m.widths[i] = p.e.size
		}
	}
	reduction := ""
	for i, s := range l.steps {
		for _, r := range s.args {
			if r.kind == 'v' {
				m.last[r.n] = i
			}
		}
		if len(s.name) > 7 && s.name[:7] == "reduce " {
			reduction = s.name[7:]
		}
	}
	level, unroll := "AVX2", p.unroll[0]
	if width == 64 {
		level, unroll = "AVX512", p.unroll[1]
	}
	name := p.name + p.e.name + level
	m.table = "·" + name + "Constants"
	p.constants(m)
	registers := 16
	if width == 64 {
		registers = 32
		m.masks = []string{"K2", "K3", "K4", "K5", "K6", "K7"}
	}
	for r := range registers {
		if width == 64 || r < 15 {
			m.regs = append(m.regs, vector(width, r))
		}
	}

	var args []arg
	kind := map[int]string{4: "*float32", 8: "*float64", 2: "*uint16", 1: "*uint8"}
	for i, o := range p.operands {
		args = append(args, arg{o, kind[m.widths[i]]})
	}
	args = append(args, arg{"n", "int"})
	if reduction != "" {
		args = append(args, arg{"result", kind[p.e.size]})
	}
	if p.params {
		args = append(args, arg{"params", kind[p.e.size]})
	}
	doc := p.doc
	if p.whole && width == 32 {
		doc += " n is a multiple of 8."
	}
	a.function(name, doc, args...)
	for i, o := range p.operands {
		a.op("MOVQ", fmt.Sprintf("%s+%d(FP)", o, 8*i), pointers[i])
	}
	a.op("MOVQ", fmt.Sprintf("n+%d(FP)", 8*len(p.operands)), "CX")
	if p.params {
		a.op("MOVQ", fmt.Sprintf("params+%d(FP)", 8*(len(args)-1)), "R13")
	}
	a.op("XORQ", "BX", "BX")
	if reduction != "" {
		p.reduction(m, reduction)
		a.op("MOVQ", fmt.Sprintf("result+%d(FP)", 8*(len(p.operands)+1)), "AX")
		a.op("VMOV"+p.e.scalar, "X0", mem(0, "AX"))
	} else {
		p.elementwise(m, unroll)
	}
	a.op("VZEROUPPER")
	a.op("RET")
}

// elementwise emits the loop over several vectors at a time, the loop over those that are left, and the code for the
// partial one.
func (p *loop) elementwise(m *emitter, unroll int) {
	a, per := m.a, m.width/p.e.size
	m.pin([][2]int{{0, unroll}})
	for i := range p.rows { // the processor by itself doesn't predict a row on a page that hasn't been read yet
		a.op("LEAQ", mem(0, pointers[i], "CX", p.e.size), nextRows[i])
	}
	asks := p.fresh(m.l) && p.rows == 0
	if asks {
		a.op("MOVQ", "·ahead(SB)", nextRows[0])
		a.op("ADDQ", pointers[0], nextRows[0])
	}
	a.op("SUBQ", unroll*per, "CX")
	a.op("JLT", "single")
	a.label("several", true)
	for i := range p.rows {
		for at := 0; at < unroll*m.width; at += 64 {
			a.op("PREFETCHT0", mem(at, nextRows[i], "BX", p.e.size))
		}
	}
	if asks {
		bytes := unroll * per * m.widths[0]
		for at := 0; at < bytes; at += 64 {
			a.op("PREFETCHT0", mem(at, nextRows[0], "BX", m.widths[0]))
		}
	}
	m.body(0, unroll, false)
	a.op("ADDQ", unroll*per, "BX")
	a.op("SUBQ", unroll*per, "CX")
	a.op("JGE", "several")
	a.label("single", false)
	a.op("ADDQ", unroll*per-per, "CX")
	a.op("JLT", "rest")
	a.label("one", true)
	m.body(0, 1, false)
	a.op("ADDQ", per, "BX")
	a.op("SUBQ", per, "CX")
	a.op("JGE", "one")
	a.label("rest", false)
	if p.whole && m.width == 32 {
		return
	}
	a.op("ADDQ", per, "CX")
	a.op("JEQ", "done")
	m.mask()
	m.body(0, 1, true)
	a.label("done", false)
}

// sumLanes is how many sums a reduction keeps, at every level: element i of a slice is added to sum i mod sumLanes, and
// finally the upper half of the sums is added to the lower half until one is left.
const sumLanes = 32

// reduction emits the loop over sumLanes elements at a time, and then each vector that is left, into the sums that are
// its turn.
func (p *loop) reduction(m *emitter, how string) {
	a, per := m.a, m.width/p.e.size
	all := sumLanes / per
	for range all {
		sum := m.take(&m.regs)
		m.sums = append(m.sums, sum)
		if how == "VMAX" {
			a.op("VBROADCAST"+p.e.scalar, minusInf(p.e), sum)
		} else if how == "VPMAXSD" {
			a.op("VBROADCASTSS", "·leastInt<>(SB)", sum)
		} else if how == "VMUL" {
			a.op("VBROADCAST"+p.e.scalar, "·one"+p.e.name+"<>(SB)", sum)
		} else if m.width == 64 {
			a.op("VPXORD", sum, sum, sum)
		} else {
			a.op("VXORPS", sum, sum, sum)
		}
	}
	group := min(all, p.unroll[m.width/64])
	m.pin([][2]int{{0, group}})
	a.op("SUBQ", sumLanes, "CX")
	a.op("JLT", "single")
	a.label("several", true)
	for first := 0; first < all; first += group {
		m.body(first, group, false)
	}
	a.op("ADDQ", sumLanes, "BX")
	a.op("SUBQ", sumLanes, "CX")
	a.op("JGE", "several")
	a.label("single", false)
	a.op("ADDQ", sumLanes, "CX")
	for i := range all {
		a.op("JEQ", "done")
		a.op("CMPQ", "CX", per)
		a.op("JLT", fmt.Sprintf("part%d", i))
		m.start = i
		m.body(i, 1, false)
		a.op("ADDQ", per, "BX")
		a.op("SUBQ", per, "CX")
	}
	a.op("JMP", "done")
	for i := range all {
		a.label(fmt.Sprintf("part%d", i), false)
		m.mask()
		m.start = i
		m.body(i, 1, true)
		if i < all-1 {
			a.op("JMP", "done")
		}
	}
	m.start = 0
	a.label("done", false)
	op := joining(how, p.e)
	for n := all / 2; n > 0; n /= 2 {
		for i := range n {
			a.op(op, m.sums[i+n], m.sums[i], m.sums[i])
		}
	}
	if m.width == 64 {
		a.op("VEXTRACTF64X4", 1, "Z0", "Y1")
		a.op(op, "Y1", "Y0", "Y0")
	}
	a.op("VEXTRACTF128", 1, "Y0", "X1")
	a.op(op, "X1", "X0", "X0")
	a.op("VPERMILPD", 1, "X0", "X1")
	a.op(op, "X1", "X0", "X0")
	if p.e.size == 4 {
		a.op("VPSRLDQ", 4, "X0", "X1")
		a.op(op, "X1", "X0", "X0")
	}
}

// mask makes the mask for the CX lanes that are left.
func (m *emitter) mask() {
	a := m.a
	if m.width == 64 {
		a.op("MOVQ", 1, "AX")
		a.op("SHLQ", "CX", "AX")
		a.op("DECQ", "AX")
		a.op("KMOVW", "AX", "K1")
		return
	}
	a.op("SHLQ", map[int]int{4: 2, 8: 3}[m.l.e.size], "CX")
	a.op("NEGQ", "CX")
	a.op("LEAQ", "·some<>+32(SB)", "AX")
	a.op("VMOVUPS", mem(0, "AX", "CX", 1), "Y15")
}

// wrapper writes the Go function that takes slices; their lengths are those of the first.
func (p *loop) wrapper(level string) (name, text string) {
	base := p.name + p.e.name + level
	name = base + "Slices"
	number := map[int]string{4: "float32", 8: "float64"}[p.e.size]
	parameters := 0
	l := &lanes{e: p.e}
	p.program(l)
	reduction := false
	for _, s := range l.steps {
		reduction = reduction || strings.HasPrefix(s.name, "reduce ")
		for _, r := range s.args {
			if r.kind == 'p' {
				parameters = max(parameters, r.n+1)
			}
		}
	}
	first := p.operands[0]
	signature := strings.Join(p.operands, ", ") + " []" + number
	call := []string{}
	for _, o := range p.operands {
		call = append(call, "&"+o+"[0]")
	}
	call = append(call, "len("+first+")")
	var names []string
	for i := range parameters {
		names = append(names, fmt.Sprintf("p%d", i))
	}
	if parameters > 0 {
		signature += ", " + strings.Join(names, ", ") + " " + number
	}
	var b strings.Builder
	result, back := "", ""
	if reduction {
		result, back = " (result "+number+")", " result"
		call = append(call, "&result")
	}
	if parameters > 0 {
		call = append(call, "&params[0]")
	}
	fmt.Fprintf(&b, "\nfunc %s(%s)%s {\n", name, signature, result)
	fmt.Fprintf(&b, "\tif len(%s) == 0 {\n\t\treturn%s\n\t}\n", first, strings.Replace(back, " result", " "+p.empty(), 1))
	for _, o := range p.operands[1:] {
		fmt.Fprintf(&b, "\t%s = %s[:len(%s)]\n", o, o, first)
	}
	if parameters > 0 {
		fmt.Fprintf(&b, "\tparams := [...]%s{%s}\n", number, strings.Join(names, ", "))
	}
	fmt.Fprintf(&b, "\t%s(%s)\n", base, strings.Join(call, ", "))
	if reduction {
		b.WriteString("\treturn result\n")
	}
	b.WriteString("}\n")
	return name, b.String()
}

// empty is the result of a reduction of nothing.
func (p *loop) empty() string {
	switch p.name {
	case "largest", "highest", "lowest", "widest":
		return p.e.goName() + "(math.Inf(-1))"
	case "product":
		return "1"
	}
	return "0"
}

// joining is the instruction that joins two vectors of sums.
func joining(how string, e element) string {
	if strings.HasPrefix(how, "VP") { // of integers
		return how
	}
	return how + e.suffix
}

func minusInf(e element) string { return "·minusInf" + e.name + "<>(SB)" }

func (p *loop) constants(m *emitter) {
	if len(m.l.words)+len(m.l.tables) == 0 {
		return
	}
	copies := 1
	if m.width == 32 {
		copies = 32 / p.e.size
	}
	words := slices.Concat(m.l.tables...)
	for _, w := range m.l.words {
		for range copies {
			words = append(words, uint32(w))
			if p.e.size == 8 {
				words = append(words, uint32(w>>32))
			}
		}
	}
	m.a.data(m.table, words...)
}
