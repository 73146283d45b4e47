package persist

import (
	"hash/crc32"
	"reflect"
	"strings"
)

// The kernel tells its user which cells have used an earlier value of a variable. For that each value has a sum, which is the
// same if the value is: neither the files and groups that it is kept in nor the numbers of cells matter, and variables that
// merely share memory with it don't either.

const (
	sampleAbove = 4 << 20 // an array of more bytes is compared in pages that are spread over it
	samplePages = 1 << 10
	samplePage  = 4 << 10
	encodeAgain = 1 << 20 // a group of more bytes has one sum for all of its variables
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // for which processors have an instruction

// print is the sum of a variable in a group of size bytes that e has written, with the ids of the literals that it holds.
func (s *saving) print(e *encoder, names []string, ps []reflect.Value, at, size int) (sum int, literals []string) {
	if len(names) > 1 && size <= encodeAgain {
		alone := s.encoder()
		if _, err := alone.group(names[at:at+1], ps[at:at+1]); err == nil {
			e = alone
		}
	}
	return e.print()
}

// print is a sum of what e has written, without the names of variables and files.
func (e *encoder) print() (sum int, literals []string) {
	var w writer
	for _, t := range e.table {
		w.int(t.kind)
		w.int(t.n)
		if t.kind == blockMapped {
			w.int(int(sample(t.lo, t.hi)))
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

// sample is the sum of the memory [lo, hi), or of pages of it if there is much.
func sample(lo, hi uintptr) uint32 {
	b := memory(lo, int(hi-lo))
	if len(b) <= sampleAbove {
		return crc32.Checksum(b, castagnoli)
	}
	c := uint32(0)
	for i := range samplePages {
		at := (len(b) - samplePage) / (samplePages - 1) * i
		c = crc32.Update(c, castagnoli, b[at:at+samplePage])
	}
	return c
}
