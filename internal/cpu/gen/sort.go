package main

import (
	"encoding/binary"
	"fmt"
)

// Words of 8 bytes are sorted in vectors. Read as float64, positive finite numbers have the order of their bits, so
// one instruction compares four of them. None of the comparisons is a branch.

// searchWords writes the kernel that searches for four words at a time: each step of a search waits for the previous
// one, but not for those of other searches.
func searchWords(a *asm) {
	a.function("searchWords", "writes how many of n > 0 sorted words are less than each of keys, 4·groups > 0 of them.",
		arg{"out", "*int64"}, arg{"sorted", "*uint64"}, arg{"n", "int"}, arg{"keys", "*uint64"}, arg{"groups", "int"})
	const first, keys, way, left, half, next = "DI", "SI", "DX", "R8", "CX", "R15"
	from, key := []string{"R9", "R10", "R11", "R12"}, []string{"R13", "R14", "AX", "BX"}
	a.op("MOVQ", "out+0(FP)", way)
	a.op("MOVQ", "sorted+8(FP)", first)
	a.op("MOVQ", "keys+24(FP)", keys)
	a.op("SUBQ", keys, way) // from keys to out
	a.label("group", true)
	a.op("MOVQ", "n+16(FP)", left)
	for i := range from {
		a.op("MOVQ", mem(8*i, keys), key[i])
		a.op("MOVQ", first, from[i])
	}
	a.label("step", false)
	a.op("LEAQ", mem(1, left), half)
	a.op("SHRQ", 1, half)
	for i := range from {
		a.op("LEAQ", mem(0, from[i], half, 8), next)
		a.op("CMPQ", mem(-8, next), key[i])
		a.op("CMOVQCS", next, from[i])
	}
	a.op("SUBQ", half, left)
	a.op("JNZ", "step")
	for i := range from {
		a.op("SUBQ", first, from[i])
		a.op("SHRQ", 3, from[i])
		a.op("MOVQ", from[i], mem(8*i, keys, way, 1))
	}
	a.op("ADDQ", 8*len(from), keys)
	a.op("DECQ", "groups+32(FP)")
	a.op("JNZ", "group")
	a.op("RET")
}

// whereSet writes the kernel that finds the bools that are true, eight at a time: their bits are the number of a row
// in a table of positions.
func whereSet(a *asm) {
	var table []uint32
	for bits := range 256 {
		var places [8]byte
		n := 0
		for i := range byte(8) {
			if bits>>i&1 != 0 {
				places[n] = i
				n++
			}
		}
		table = append(table, binary.LittleEndian.Uint32(places[:]), binary.LittleEndian.Uint32(places[4:]))
	}
	a.data("·places", table...)
	a.data("·eights", 8, 0)
	a.function("whereSet", "writes the numbers of the bools in x that are true, counted from first, and returns where it stopped in x and in dst: after 8·n > 0 bools, or where dst has no room for eight more.",
		arg{"dst", "*int64"}, arg{"room", "int"}, arg{"x", "*uint8"}, arg{"n", "int"}, arg{"first", "int"}, arg{"stopped", "*[2]int"})
	a.op("MOVQ", "dst+0(FP)", "DI")
	a.op("MOVQ", "room+8(FP)", "R9")
	a.op("MOVQ", "x+16(FP)", "SI")
	a.op("MOVQ", "n+24(FP)", "CX")
	a.op("LEAQ", mem(-64, "DI", "R9", 8), "R9") // the last place where eight numbers can be written
	a.op("LEAQ", "·places<>(SB)", "R8")
	a.op("MOVQ", "$0x0101010101010101", "R10")
	a.op("MOVQ", "$0x0102040810204080", "R11")
	a.op("VPBROADCASTQ", "first+32(FP)", "Y0")
	a.op("VPBROADCASTQ", "·eights<>(SB)", "Y1")
	a.label("loop", true)
	a.op("CMPQ", "DI", "R9")
	a.op("JHI", "done")
	a.op("MOVQ", mem(0, "SI"), "AX")
	a.op("ANDQ", "R10", "AX")
	a.op("IMULQ", "R11", "AX") // bit i of the last byte is bool i
	a.op("SHRQ", 56, "AX")
	a.op("VPMOVZXBQ", mem(0, "R8", "AX", 8), "Y2")
	a.op("VPMOVZXBQ", mem(4, "R8", "AX", 8), "Y3")
	a.op("VPADDQ", "Y0", "Y2", "Y2")
	a.op("VPADDQ", "Y0", "Y3", "Y3")
	a.op("VMOVDQU", "Y2", mem(0, "DI"))
	a.op("VMOVDQU", "Y3", mem(32, "DI"))
	a.op("POPCNTQ", "AX", "AX")
	a.op("LEAQ", mem(0, "DI", "AX", 8), "DI")
	a.op("VPADDQ", "Y1", "Y0", "Y0")
	a.op("ADDQ", 8, "SI")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")
	a.label("done", false)
	a.op("MOVQ", "stopped+40(FP)", "BX")
	a.op("SUBQ", "x+16(FP)", "SI")
	a.op("SUBQ", "dst+0(FP)", "DI")
	a.op("SHRQ", 3, "DI")
	a.op("MOVQ", "SI", mem(0, "BX"))
	a.op("MOVQ", "DI", mem(8, "BX"))
	a.op("VZEROUPPER")
	a.op("RET")
}

// sortedRun is how many words sortRuns puts in order at a time.
const sortedRun = 32

func sortKernels(a *asm) {
	sortRuns(a)
	mergeRuns(a)
	searchWords(a)
	whereSet(a)
}

// network keeps track of registers while a sorting network is written: those of its words, in order, and those that
// are free.
type network struct {
	a    *asm
	data []string
	free []string
}

func newNetwork(a *asm, words int) *network {
	n := &network{a: a}
	for i := range 16 {
		if r := vector(32, i); i < words {
			n.data = append(n.data, r)
		} else {
			n.free = append(n.free, r)
		}
	}
	return n
}

// op puts the result of an instruction in a free register.
func (n *network) op(mnemonic string, operands ...any) string {
	r := n.free[0]
	n.free = n.free[1:]
	n.a.op(mnemonic, append(operands, r)...)
	return r
}

// put replaces the register of words i.
func (n *network) put(i int, r string) {
	n.free = append(n.free, n.data[i])
	n.data[i] = r
}

// exchange puts the smaller ones of words i and j at i and the others at j.
func (n *network) exchange(i, j int) {
	low := n.op("VMINPD", n.data[j], n.data[i])
	n.a.op("VMAXPD", n.data[j], n.data[i], n.data[j])
	n.put(i, low)
}

// pair replaces words i and j by the results of two instructions on both.
func (n *network) pair(i, j int, f func(x, y string) (first, second string)) {
	first, second := f(n.data[i], n.data[j])
	n.put(i, first)
	n.put(j, second)
}

// halves brings together the lower halves of two registers, and the upper ones.
func (n *network) halves(i, j int) {
	n.pair(i, j, func(x, y string) (first, second string) {
		return n.op("VPERM2F128", 0x20, y, x), n.op("VPERM2F128", 0x31, y, x)
	})
}

// evens interleaves the even-numbered words of two registers, and the odd-numbered ones.
func (n *network) evens(i, j int) {
	n.pair(i, j, func(x, y string) (first, second string) {
		return n.op("VUNPCKLPD", y, x), n.op("VUNPCKHPD", y, x)
	})
}

// bitonic sorts the words of count registers from first on, which ascend and then descend, or the other way round. Each
// step halves the distance between compared words.
func (n *network) bitonic(first, count int) {
	for distance := count / 2; distance > 0; distance /= 2 {
		for i := range count {
			if i&distance == 0 {
				n.exchange(first+i, first+i+distance)
			}
		}
	}
	for i := first; i < first+count; i += 2 {
		n.halves(i, i+1)
		n.exchange(i, i+1)
		n.evens(i, i+1)
		n.exchange(i, i+1)
		n.evens(i, i+1) // back in their order
		n.halves(i, i+1)
	}
}

// merge sorts the words of count registers from first on, each half of which is in order.
func (n *network) merge(first, count int) {
	last := first + count - 1
	for i := range count / 2 {
		n.reverse(last - i)
	}
	for i, j := first+count/2, last; i < j; i, j = i+1, j-1 {
		n.data[i], n.data[j] = n.data[j], n.data[i]
	}
	n.bitonic(first, count)
}

// reverse reverses the words of a register.
func (n *network) reverse(i int) { n.put(i, n.op("VPERMPD", 0x1b, n.data[i])) }

// sortRuns writes the kernel that sorts short runs: columns of 8 words first, then the columns become rows, which are
// merged.
func sortRuns(a *asm) {
	a.function("sortRuns", fmt.Sprintf("sorts each run of %d words, of which there are runs > 0; as float64 they are positive and finite.", sortedRun),
		arg{"words", "*uint64"}, arg{"runs", "int"})
	a.op("MOVQ", "words+0(FP)", "DI")
	a.op("MOVQ", "runs+8(FP)", "CX")
	a.label("loop", true)
	n := newNetwork(a, 8)
	for i, r := range n.data {
		a.op("VMOVUPD", mem(32*i, "DI"), r)
	}
	for _, c := range [][2]int{ // the network of 19 comparisons by Batcher
		{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}} {
		n.exchange(c[0], c[1])
	}
	for _, i := range []int{0, 4} { // the rows become columns
		n.evens(i, i+1)
		n.evens(i+2, i+3)
		n.halves(i, i+2)
		n.halves(i+1, i+3)
	}
	// The upper half of column 0 is now in register 0 and the lower half in 4, those of column 1 in 1 and 5, and so on.
	d := n.data
	n.data = []string{d[0], d[4], d[1], d[5], d[2], d[6], d[3], d[7]}
	n.merge(0, 4)
	n.merge(4, 4)
	n.merge(0, 8)
	for i, r := range n.data {
		a.op("VMOVUPD", r, mem(32*i, "DI"))
	}
	a.op("ADDQ", 8*sortedRun, "DI")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")
	a.op("VZEROUPPER")
	a.op("RET")
}

// mergeRuns writes the kernel that merges two runs: it holds 8 words, which it merges with the next 8 of the run whose
// next word is smaller; the lower 8 of them are no larger than any still to come.
func mergeRuns(a *asm) {
	a.function("mergeRuns", "merges two runs in order, of n > 0 and m > 0 words, both multiples of 8; as float64 they are positive and finite.",
		arg{"dst", "*uint64"}, arg{"x", "*uint64"}, arg{"n", "int"}, arg{"y", "*uint64"}, arg{"m", "int"})
	a.op("MOVQ", "dst+0(FP)", "DI")
	a.op("MOVQ", "x+8(FP)", "SI")
	a.op("MOVQ", "n+16(FP)", "R8")
	a.op("MOVQ", "y+24(FP)", "DX")
	a.op("MOVQ", "m+32(FP)", "R9")
	a.op("LEAQ", mem(0, "SI", "R8", 8), "R8") // where they end
	a.op("LEAQ", mem(0, "DX", "R9", 8), "R9")
	n := newNetwork(a, 4)
	held := func() {
		for i := range 2 {
			a.op("VMOVUPD", vector(32, i), mem(32*i, "DI"))
		}
		a.op("ADDQ", 64, "DI")
	}
	for i := range 2 {
		a.op("VMOVUPD", mem(32*i, "SI"), vector(32, 2+i))
		a.op("VMOVUPD", mem(32*i, "DX"), vector(32, i))
	}
	a.op("ADDQ", 64, "SI")
	a.op("ADDQ", 64, "DX")
	a.op("JMP", "merge")
	a.label("next", true)
	a.op("CMPQ", "SI", "R8")
	a.op("JEQ", "left")
	a.op("CMPQ", "DX", "R9")
	a.op("JEQ", "right")
	a.op("MOVQ", mem(0, "SI"), "AX")
	a.op("XORQ", "CX", "CX")
	a.op("MOVQ", "SI", "R10")
	a.op("CMPQ", "AX", mem(0, "DX"))
	a.op("SETHI", "CX")
	a.op("CMOVQHI", "DX", "R10")
	a.op("SHLQ", 6, "CX")
	a.op("ADDQ", "CX", "DX")
	a.op("SUBQ", "CX", "SI")
	a.op("ADDQ", 64, "SI")
	a.label("load", false)
	for i := range 2 {
		a.op("VMOVUPD", mem(32*i, "R10"), vector(32, i))
	}
	a.label("merge", false)
	// The held words lie in registers 2 and 3, the others in 0 and 1; the kernel leaves them there again.
	n.merge(0, 4)
	n.settle()
	held()
	a.op("JMP", "next")
	a.label("left", false) // of the second run alone
	a.op("CMPQ", "DX", "R9")
	a.op("JEQ", "end")
	a.op("MOVQ", "DX", "R10")
	a.op("ADDQ", 64, "DX")
	a.op("JMP", "load")
	a.label("right", false)
	a.op("MOVQ", "SI", "R10")
	a.op("ADDQ", 64, "SI")
	a.op("JMP", "load")
	a.label("end", false)
	for i := range 2 {
		a.op("VMOVUPD", vector(32, 2+i), mem(32*i, "DI"))
	}
	a.op("VZEROUPPER")
	a.op("RET")
}

// settle moves words to the registers with their numbers, which must be free or hold other words that move.
func (n *network) settle() {
	for i := range n.data {
		want := vector(32, i)
		if n.data[i] == want {
			continue
		}
		for j := range n.data { // another word is there
			if n.data[j] == want {
				n.put(j, n.op("VMOVAPD", n.data[j]))
			}
		}
		n.a.op("VMOVAPD", n.data[i], want)
		n.data[i] = want
	}
	n.free = nil
	for i := len(n.data); i < 16; i++ {
		n.free = append(n.free, vector(32, i))
	}
}
