package persist

import (
	"hash/crc32"
	"strings"
)

// The kernel tells its user which cells have used an earlier value of a variable. For that each value has a sum, which
// is the same if the value is: neither the files and groups that it is kept in nor the numbers of cells matter, and
// variables that merely share memory with it don't either.

const (
	sampleAbove = 4 << 20 // an array of more bytes is compared in pages that are spread over it
	samplePages = 1 << 10
	samplePage  = 4 << 10
	encodeAgain = 4 << 20 // a group has one sum for all of its variables if more bytes would have to be written for one each
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // for which processors have an instruction

// print is a sum of what e has written, without the names of variables and files.
func (e *encoder) print() (sum int, literals []string) {
	var w writer
	for _, t := range e.table {
		w.int(t.kind)
		w.int(t.n)
		if t.kind == blockMapped {
			w.int(int(e.sample(t.lo, t.hi)))
		} else {
			w.int(t.offset)
			w.int(t.typ)
		}
	}
	for _, r := range e.roots {
		w.int(r)
	}
	for _, x := range e.names {
		w.string(x[0])
		w.string(x[1])
	}
	for _, x := range e.ids {
		name := x[0]
		if f := functions[name]; f != nil && f.maker != nil {
			id, args, _ := strings.Cut(name, "[")
			literals = append(literals, id)
			name = args
		}
		w.string(name)
		w.string(x[1])
	}
	c := crc32.Checksum(w.b, castagnoli)
	c = crc32.Update(c, castagnoli, e.raw)
	return int(crc32.Update(c, castagnoli, e.body.b)), literals
}

// sample is the sum of an array in the memory [lo, hi), or of pages of it if it is large.
func (e *encoder) sample(lo, hi uintptr) uint32 {
	if c, ok := e.sums[lo]; ok {
		return c
	}
	b := memory(lo, int(hi-lo))
	c := uint32(0)
	if len(b) <= sampleAbove {
		c = crc32.Checksum(b, castagnoli)
	} else {
		for i := range samplePages {
			at := (len(b) - samplePage) / (samplePages - 1) * i
			c = crc32.Update(c, castagnoli, b[at:at+samplePage])
		}
	}
	e.sums[lo] = c
	return c
}
