// Package packed writes plain data, one item after the other, to be read in the same
// order. Its short names would mean something else in package tensor.
package packed

import (
	"encoding/binary"

	"github.com/lectern-go/lectern/tensor/layout"
)

// Data is what has been written and not read yet.
type Data []byte

// PutInt writes a number.
func (p *Data) PutInt(n int) { *p = binary.AppendVarint(*p, int64(n)) }

// Int reads a number.
func (p *Data) Int() int {
	v, n := binary.Varint(*p)
	*p = (*p)[n:]
	return int(v)
}

// PutFlag writes a bool.
func (p *Data) PutFlag(set bool) {
	if set {
		p.PutInt(1)
	} else {
		p.PutInt(0)
	}
}

// Flag reads a bool.
func (p *Data) Flag() bool { return p.Int() == 1 }

// PutText writes a text.
func (p *Data) PutText(s string) {
	p.PutInt(len(s))
	*p = append(*p, s...)
}

// Text reads a text.
func (p *Data) Text() string {
	n := p.Int()
	s := string((*p)[:n])
	*p = (*p)[n:]
	return s
}

// PutLayout writes a layout.
func (p *Data) PutLayout(l layout.Layout) {
	p.PutInt(len(l.Shape))
	for i := range l.Shape {
		p.PutInt(l.Shape[i])
		p.PutInt(l.Strides[i])
	}
	p.PutInt(l.Offset)
}

// Layout reads a layout.
func (p *Data) Layout() layout.Layout {
	rank := p.Int()
	both := make([]int, 2*rank)
	l := layout.Layout{Shape: both[:rank:rank], Strides: both[rank:]}
	for i := range rank {
		l.Shape[i], l.Strides[i] = p.Int(), p.Int()
	}
	l.Offset = p.Int()
	return l
}
