package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Sorting along an axis. NaN sorts as the largest number.

// order is how rows are sorted, and how many of the first positions are asked for.
type order struct {
	axis       int
	descending bool
	first      int
}

var opArgsort op

func init() {
	define(&opArgsort, op{
		name: "argsort",
		forward: func(c *call) *Tensor {
			x, o := c.input(), c.attr.(order)
			shape := slices.Clone(x.layout.Shape)
			if x.Dim() > 0 {
				shape[o.axis] = o.first
			}
			out := c.result(Int64, shape, false)
			if c.device != nil {
				rowsOn("argsort", x.dtype, out, x, o.axis, float64(truth[int64](o.descending)))
				return out
			}
			switch formats[x.dtype].arithmetic {
			case inFloat32:
				argsortRows(out, x, o, key32, 4)
			case inFloat64:
				argsortRows(out, x, o, key64, 8)
			default:
				argsortRows(out, x, o, keyInt, 8)
			}
			return out
		},
	})
}

// Argsort returns the positions that sort t along an axis, as int64: ascending,
// or descending if asked for. Equal elements keep their order. It panics if
// there is no such axis.
func (t *Tensor) Argsort(axis int, descending bool) *Tensor {
	axis = t.rowAxis("sort", axis)
	n := 1
	if t.Dim() > 0 {
		n = t.layout.Shape[axis]
	}
	return apply(&opArgsort, order{axis, descending, n}, t)
}

// Sort returns a sorted copy along an axis, and the positions that its elements
// came from; see [Tensor.Argsort]. Gradients go back to those positions.
func (t *Tensor) Sort(axis int, descending bool) (sorted, from *Tensor) {
	from = t.Argsort(axis, descending)
	if t.Dim() == 0 {
		return t.Clone(), from
	}
	return t.Gather(axis, from), from
}

// TopK returns the k largest elements along an axis, largest first, and their
// positions. It panics if k is negative or more than there are.
func (t *Tensor) TopK(axis, k int) (values, at *Tensor) { return t.firstOf("topk", axis, k, true) }

// BottomK returns the k smallest elements along an axis, smallest first, and their
// positions: PyTorch's topk with largest=False. It panics as TopK does.
func (t *Tensor) BottomK(axis, k int) (values, at *Tensor) {
	return t.firstOf("bottomk", axis, k, false)
}

func (t *Tensor) firstOf(op string, axis, k int, descending bool) (values, at *Tensor) {
	t.exist(op)
	if t.Dim() == 0 {
		t = t.Unsqueeze(0)
	}
	axis = t.axis(op, axis)
	if size := t.layout.Shape[axis]; k < 0 || k > size {
		fail(ErrValue, op, describe(t), fmt.Sprintf("%d elements of an axis of size %d", k, size), "")
	}
	if t.storage.device != nil { // which sorts whole rows
		at = t.Argsort(axis, descending).Narrow(axis, 0, k).Contiguous()
	} else {
		at = apply(&opArgsort, order{axis, descending, k}, t)
	}
	return t.Gather(axis, at), at
}

// A place is a number of a row as a key that orders as the number does, and where it stands.
type place struct {
	key uint64
	at  int64
}

func comparePlaces(a, b place) int {
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.at, b.at)
}

// key32, key64 and keyInt are whole numbers that order as v does: NaN last, zeros of both signs alike.
func key32(v float32) uint64 {
	const top = 1 << 31
	switch b := math.Float32bits(v); {
	case v != v:
		return math.MaxUint32
	case v == 0:
		return top
	case b&top != 0:
		return uint64(^b)
	default:
		return uint64(b | top)
	}
}

func key64(v float64) uint64 {
	const top = 1 << 63
	switch b := math.Float64bits(v); {
	case v != v:
		return math.MaxUint64
	case v == 0:
		return top
	case b&top != 0:
		return ^b
	default:
		return b | top
	}
}

func keyInt(v int64) uint64 { return uint64(v) ^ 1<<63 }

// argsortRows sorts by keys of so many bytes.
func argsortRows[T numbers.Number](out, x *Tensor, o order, key func(T) uint64, bytes int) {
	if x.Len() == 0 || out.Len() == 0 {
		return
	}
	n := 1
	if x.Dim() > 0 {
		n = x.layout.Shape[o.axis]
	}
	out, x = rowsLast(out, x, o.axis)
	parallelRows(x.Len()/n, parallelFrom/8/n, func(start, end int) {
		r, w := newReader[T](x), newWriter[int64](out)
		row, at := make([]T, n), make([]int64, o.first)
		places, spare := make([]place, n), make([]place, n)
		for i := start; i < end; i++ {
			r.copy(row, i*n)
			var flip uint64
			if o.descending {
				flip = math.MaxUint64
			}
			for j, v := range row {
				places[j] = place{key(v) ^ flip, int64(j)}
			}
			for j, p := range firstPlaces(places, spare, o.first, bytes) {
				at[j] = p.at
			}
			w.row(at, i)
		}
		w.finish()
	})
}

// firstPlaces returns the first k places in order. It changes both slices.
func firstPlaces(places, spare []place, k, bytes int) []place {
	switch {
	case k <= len(places)/8:
		places = smallest(places, k)
		slices.SortFunc(places, comparePlaces)
	case len(places) < 256:
		slices.SortFunc(places, comparePlaces)
	default:
		places = radixSort(places, spare, bytes)
	}
	return places[:k]
}

// smallest brings the k first places to the front, in any order. The front is a heap with the last of them on top, which most numbers of a long row
// only have to be compared with.
func smallest(places []place, k int) []place {
	heap := places[:k]
	if k == 0 {
		return heap
	}
	down := func(i int) {
		for {
			child := 2*i + 1
			if child >= k {
				return
			}
			if child+1 < k && comparePlaces(heap[child], heap[child+1]) < 0 {
				child++
			}
			if comparePlaces(heap[i], heap[child]) >= 0 {
				return
			}
			heap[i], heap[child] = heap[child], heap[i]
			i = child
		}
	}
	for i := k/2 - 1; i >= 0; i-- {
		down(i)
	}
	for _, p := range places[k:] {
		if p.key < heap[0].key { // equal ones stand behind
			heap[0] = p
			down(0)
		}
	}
	return heap
}

// radixSort sorts by one byte of the keys after another, the lowest first: places with equal bytes keep their order. Bytes that all keys share cost
// one look. The result is one of the two slices.
func radixSort(places, spare []place, bytes int) []place {
	for shift := 0; shift < 8*bytes; shift += 8 {
		var count [256]int
		for _, p := range places {
			count[byte(p.key>>shift)]++
		}
		if count[byte(places[0].key>>shift)] == len(places) {
			continue
		}
		at := 0
		for i, n := range count {
			count[i], at = at, at+n
		}
		for _, p := range places {
			b := byte(p.key >> shift)
			spare[count[b]] = p
			count[b]++
		}
		places, spare = spare, places
	}
	return places
}
