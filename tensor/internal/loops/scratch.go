package loops

import (
	"sync"
	"unsafe"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Memory for intermediate values of loops is reused: computing a small tensor takes less time than the collector
// would spend on it. It can't be on the stack of a loop that calls others through a variable.

// pools holds reusable things, for each type that is computed in.
type pools struct{ f32, f64, i64 sync.Pool }

func poolOf[T numbers.Number](p *pools) *sync.Pool {
	switch any(T(0)).(type) {
	case float32:
		return &p.f32
	case float64:
		return &p.f64
	}
	return &p.i64
}

// borrow returns what a pool has for T, as it was given back, or something new.
func borrow[T numbers.Number, Item any](p *pools) *Item {
	if item, ok := poolOf[T](p).Get().(*Item); ok {
		return item
	}
	return new(Item)
}

func giveBack[T numbers.Number, Item any](p *pools, item *Item) { poolOf[T](p).Put(item) }

// stretches are the pieces for a loop that must keep one or two intermediate results.
type stretches[T numbers.Number] [2][256]T

// A run is as many elements as a loop asks for.
type run[T numbers.Number] struct{ slice []T }

// of returns n elements, whatever they hold.
func (r *run[T]) of(n int) []T {
	r.slice = atLeast(r.slice, n)
	return r.slice[:n:n]
}

var rooms, runs, readers, writers pools

// buffers is the memory of a reader or writer.
type buffers[T numbers.Number] struct {
	block *[BlockLen]T
	raw   []uint64
	panel panel // of rows across memory
}

// memory returns room for a block.
func (b *buffers[T]) memory() []T {
	if b.block == nil {
		b.block = new([BlockLen]T)
	}
	return b.block[:]
}

// rawFor returns room for elements as they are stored.
func (b *buffers[T]) rawFor(bytes int) unsafe.Pointer {
	b.raw = atLeast(b.raw, (bytes+7)/8)
	return unsafe.Pointer(unsafe.SliceData(b.raw))
}

// atLeast returns a slice of n elements or more: s, unless it is too short.
func atLeast[T any](s []T, n int) []T {
	if len(s) < n {
		return make([]T, n)
	}
	return s
}
