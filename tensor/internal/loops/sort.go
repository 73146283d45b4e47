package loops

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

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

// Key32, key64 and KeyInt are whole numbers that order as v does: NaN last, zeros of both signs alike.
func Key32(v float32) uint64 {
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

// Key64 is Key32 for float64.
func Key64(v float64) uint64 {
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

// KeyInt is Key32 for int64.
func KeyInt(v int64) uint64 { return uint64(v) ^ 1<<63 }

// ArgsortRows sorts by keys of so many bytes.
func ArgsortRows[T numbers.Number](out, x Array, axis, first int, descending bool, key func(T) uint64, bytes int) {
	if x.Len() == 0 || out.Len() == 0 {
		return
	}
	n := 1
	if x.Dim() > 0 {
		n = x.Layout.Shape[axis]
	}
	out, x = out.lastAxis(axis), x.lastAxis(axis)
	ParallelRows(x.Len()/n, ParallelFrom/8/n, func(start, end int) {
		r, w := NewReader[T](x), NewWriter[int64](out)
		row, at := make([]T, n), make([]int64, first)
		few := first <= n/8
		var places, spare []place
		if few {
			places = make([]place, 0, first)
		} else {
			places, spare = make([]place, n), make([]place, n)
		}
		for i := start; i < end; i++ {
			r.Copy(row, i*n)
			var flip uint64
			if descending {
				flip = math.MaxUint64
			}
			if few {
				for j, p := range fewPlaces(places, row, first, descending, key) {
					at[j] = p.at
				}
				w.row(at, i)
				continue
			}
			for j, v := range row {
				places[j] = place{key(v) ^ flip, int64(j)}
			}
			for j, p := range firstPlaces(places, spare, first, bytes) {
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
	case len(places) < 256:
		slices.SortFunc(places, comparePlaces)
	default:
		places = radixSort(places, spare, bytes)
	}
	return places[:k]
}

// fewPlaces returns the first k places of a row in order, few of many, in the memory of places. They are kept as a heap with the
// last of them on top, which most numbers only have to be compared with.
func fewPlaces[T numbers.Number](places []place, row []T, k int, descending bool, key func(T) uint64) []place {
	if k == 0 {
		return nil
	}
	flip := uint64(0)
	if descending {
		flip = math.MaxUint64
	}
	heap := places[:k]
	down := func(i int) {
		p := heap[i]
		for {
			child := 2*i + 1
			if child >= k {
				break
			}
			if next := child + 1; next < k && before(heap[child], heap[next]) {
				child = next
			}
			if !before(p, heap[child]) {
				break
			}
			heap[i] = heap[child]
			i = child
		}
		heap[i] = p
	}
	for i := range heap {
		heap[i] = place{key(row[i]) ^ flip, int64(i)}
	}
	for i := k/2 - 1; i >= 0; i-- {
		down(i)
	}
	limit := row[heap[0].at]
	for i := k; i < len(row); i++ {
		v := row[i]
		if descending && v <= limit || !descending && v >= limit { // not so where one is NaN: its key tells
			continue
		}
		if p := (place{key(v) ^ flip, int64(i)}); p.key < heap[0].key { // equal ones stand behind
			heap[0] = p
			down(0)
			limit = row[heap[0].at]
		}
	}
	slices.SortFunc(heap, comparePlaces)
	return heap
}

func before(a, b place) bool { return a.key < b.key || a.key == b.key && a.at < b.at }

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

// Search finds where each of values would be put into sorted.
func Search[T int64 | float64](out []int64, sorted, values []T, right bool) {
	for i, v := range values {
		at, _ := slices.BinarySearchFunc(sorted, v, func(e, v T) int {
			c := -compareNaNLast(v, e)
			if c == 0 && right {
				return -1
			}
			return c
		})
		out[i] = int64(at)
	}
}

// compareNaNLast is cmp.Compare with NaN as the largest number.
func compareNaNLast[T int64 | float64](a, b T) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	}
	return cmp.Compare(a, b)
}

// SelectEach is index select of elements that are no larger than a word.
func SelectEach[S uint32 | uint64](to, from []S, outer, size int, at []int64) {
	n := len(at)
	ParallelRows(outer, ParallelFrom/n, func(start, end int) {
		for row := start; row < end; row++ {
			dst, src := to[row*n:][:n], from[row*size:][:size]
			for j, p := range at {
				dst[j] = src[p]
			}
		}
	})
}

// Distinct returns how many different positions there are.
func Distinct(all iter.Seq[int64]) (n int) {
	var seen []bool
	for at := range all {
		if more := int(at) + 1 - len(seen); more > 0 {
			seen = append(seen, make([]bool, more)...)
		}
		if !seen[at] {
			seen[at] = true
			n++
		}
	}
	return n
}

// AddRows adds each selected row of x to where it came from, in order, so that
// the sums don't depend on the number of threads.
func AddRows[T numbers.Number](sum []T, x Array, axis, size int, at []int64) {
	inner := layout.Product(x.Layout.Shape[axis+1:])
	outer := layout.Product(x.Layout.Shape[:axis])
	if IsPlain[T](x) { // threads share columns: each sum has its terms in order
		const width = 1024
		rows, pieces := Stored[T](x), (inner+width-1)/width
		ParallelRows(outer*pieces, ParallelFrom/max(1, len(at)*min(inner, width)), func(start, end int) {
			for piece := start; piece < end; piece++ {
				o, first := piece/pieces, piece%pieces*width
				n := min(width, inner-first)
				for j, p := range at {
					addTo(sum[(o*size+int(p))*inner+first:][:n], rows[(o*len(at)+j)*inner+first:][:n])
				}
			}
		})
		return
	}
	r, row := NewReader[T](x), make([]T, inner)
	for o := range outer {
		for j, p := range at {
			r.Copy(row, (o*len(at)+j)*inner)
			addTo(sum[(o*size+int(p))*inner:][:inner], row)
		}
	}
}

// addTo adds x to dst.
func addTo[T numbers.Number](dst, x []T) {
	switch to := any(dst).(type) {
	case []float32:
		if Vectors32.Add != nil && len(dst) >= 8 {
			Vectors32.Add(to, to, any(x).([]float32))
			return
		}
	case []float64:
		if Vectors64.Add != nil && len(dst) >= 8 {
			Vectors64.Add(to, to, any(x).([]float64))
			return
		}
	}
	for i, v := range x {
		dst[i] += v
	}
}
