package loops

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// A place is a number of a row, as a key with the same order, and its position.
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

// Key32, Key64 and KeyInt are integers with the order of v: NaN last, and zeros of both signs equal.
func Key32(v float32) uint64 {
	const infinity = 0x7f800000
	b := int32(math.Float32bits(v + 0)) // which makes -0 0
	isNaN := uint32(infinity-b&math.MaxInt32) >> 31
	return uint64(uint32(b) ^ (uint32(b>>31) | 1<<31) | -isNaN)
}

// Key64 is Key32 for float64.
func Key64(v float64) uint64 {
	const infinity = 0x7ff << 52
	b := int64(math.Float64bits(v + 0))
	isNaN := uint64(infinity-b&math.MaxInt64) >> 63
	return uint64(b) ^ (uint64(b>>63) | 1<<63) | -isNaN
}

// KeyInt is Key32 for int64.
func KeyInt(v int64) uint64 { return uint64(v) ^ 1<<63 }

// KeyInt32 is KeyInt for numbers of at most 32 bits.
func KeyInt32(v int64) uint64 { return uint64(uint32(v) ^ 1<<31) }

// ArgsortRows sorts by keys of the given number of bytes.
func ArgsortRows[T numbers.Number](out, x Array, axis, first int, descending bool, key func(T) uint64, bytes int) {
	if x.Len() == 0 || out.Len() == 0 {
		return
	}
	n := 1
	if x.Dim() > 0 {
		n = x.Layout.Shape[axis]
	}
	out, x = out.lastAxis(axis), x.lastAxis(axis)
	if bytes == 4 && n < 1<<placeBits {
		argsortWords(out, x, n, first, descending, key)
		return
	}
	ParallelRows(x.Len()/n, ParallelFrom/8/n, func(start, end int) {
		r, w := NewReader[T](x), NewWriter[int64](out)
		defer r.Done()
		defer w.Done()
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
	})
}

// A word is a key of 32 bits above the place that it comes from. All words of a row differ. Read as float64 they are
// positive, finite and ordered as their bits are, so that vector instructions can compare them.
const (
	placeBits = 29
	wordMark  = 1 << 61
	lastWord  = 1<<62 - 1 // after all others
)

func wordOf(key uint64, at int) uint64 { return key<<placeBits | wordMark | uint64(at) }

func placeOf(word uint64) int64 { return int64(word & (1<<placeBits - 1)) }

// argsortWords is ArgsortRows for keys of 32 bits.
func argsortWords[T numbers.Number](out, x Array, n, first int, descending bool, key func(T) uint64) {
	flip := uint64(0)
	if descending {
		flip = math.MaxUint32
	}
	few := first <= n/8 && n > 256
	ParallelRows(x.Len()/n, ParallelFrom/8/n, func(start, end int) {
		r, w := NewReader[T](x), NewWriter[int64](out)
		defer r.Done()
		defer w.Done()
		row, at := make([]T, n), make([]int64, first)
		var words, spare []uint64
		if few {
			words = make([]uint64, first)
		} else {
			padded := (n + cpu.SortedRun - 1) / cpu.SortedRun * cpu.SortedRun
			words, spare = make([]uint64, padded), make([]uint64, padded)
		}
		for i := start; i < end; i++ {
			r.Copy(row, i*n)
			sorted := words
			if few {
				fewWords(words, row, descending, key)
			} else {
				wordsOf(words, row, flip)
				fillWith(words[n:], lastWord)
				sorted = SortWords(words, spare, first)
			}
			for j, word := range sorted[:first] {
				at[j] = placeOf(word)
			}
			w.row(at, i)
		}
	})
}

// wordsOf writes the words of a row of float32, or of integers of at most 32 bits, whose keys are flipped by flip.
func wordsOf[T numbers.Number](words []uint64, row []T, flip uint64) {
	words = words[:len(row)]
	switch row := any(row).(type) { // without a call for each
	case []float32:
		for i, v := range row {
			words[i] = wordOf(Key32(v)^flip, i)
		}
	case []int64:
		for i, v := range row {
			words[i] = wordOf(KeyInt32(v)^flip, i)
		}
	}
}

// MostRanked is the length of a row from which RankRows can't tell places apart.
const MostRanked = 1 << placeBits

// RankRows finds the positions of the numbers with the given ranks in each row of float32, or that of the last NaN,
// if there is one: those that ArgsortRows would put at these ranks. A row of out holds a position for each rank.
func RankRows(out []int64, x Array, n int, ranks ...int) {
	ParallelRows(len(out)/len(ranks), ParallelFrom/8/n, func(start, end int) {
		r, row := NewReader[float32](x), make([]float32, n)
		defer r.Done()
		padded := (n + cpu.SortedRun - 1) / cpu.SortedRun * cpu.SortedRun
		all, words, spare := make([]uint64, n), make([]uint64, padded), make([]uint64, padded)
		for i := start; i < end; i++ {
			r.Copy(row, i*n)
			wordsOf(all, row, 0)
			places := out[i*len(ranks):][:len(ranks)]
			if last := slices.Max(all); last >= wordOf(math.MaxUint32, 0) { // NaN is larger than all others
				fillWith(places, placeOf(last))
				continue
			}
			var word uint64
			for j, rank := range ranks {
				if j > 0 && rank == ranks[j-1]+1 {
					word = wordAfter(all, word)
				} else {
					copy(words, all)
					word = wordAt(words, spare, n, rank)
				}
				places[j] = placeOf(word)
			}
		}
	})
}

// wordAfter returns the smallest of the words that are larger than one.
func wordAfter(words []uint64, word uint64) uint64 {
	least := uint64(math.MaxUint64)
	for _, w := range words {
		least = min(least, w-word-1) // which wraps to the largest for smaller ones
	}
	return word + least + 1
}

// wordAt returns the word of the given rank among n. It changes both slices, which are padded to whole runs. Words are
// first counted by their first bits, and only those that share the first bits of the result are looked at further.
func wordAt(words, spare []uint64, n, rank int) uint64 {
	const digit = 10
	for shift := placeBits + 32 - digit; n > 512 && shift >= 0; shift -= digit {
		var counts [1 << digit]int32
		for _, word := range words[:n] {
			counts[word>>shift&(1<<digit-1)]++
		}
		bucket := 0
		for ; rank >= int(counts[bucket]); bucket++ {
			rank -= int(counts[bucket])
		}
		kept := 0
		for _, word := range words[:n] {
			spare[kept] = word // which stays if it is in the bucket, and no branch has to be predicted
			_, differs := bits.Sub64(0, word>>shift&(1<<digit-1)^uint64(bucket), 0)
			kept += 1 - int(differs)
		}
		words, spare, n = spare, words, kept
	}
	padded := (n + cpu.SortedRun - 1) / cpu.SortedRun * cpu.SortedRun
	fillWith(words[n:padded], lastWord)
	return SortWords(words[:padded], spare[:padded], padded)[rank]
}

// fewWords is fewPlaces for words, as many as there is room for.
func fewWords[T numbers.Number](heap []uint64, row []T, descending bool, key func(T) uint64) {
	k := len(heap)
	if k == 0 {
		return
	}
	flip := uint64(0)
	if descending {
		flip = math.MaxUint32
	}
	down := func(i int) {
		p := heap[i]
		for {
			child := 2*i + 1
			if child >= k {
				break
			}
			if next := child + 1; next < k && heap[child] < heap[next] {
				child = next
			}
			if p >= heap[child] {
				break
			}
			heap[i] = heap[child]
			i = child
		}
		heap[i] = p
	}
	for i := range heap {
		heap[i] = wordOf(key(row[i])^flip, i)
	}
	for i := k/2 - 1; i >= 0; i-- {
		down(i)
	}
	limit := row[placeOf(heap[0])]
	for i := k; i < len(row); i++ {
		v := row[i]
		if descending && v <= limit || !descending && v >= limit { // unless one is NaN: its key tells
			continue
		}
		if p := wordOf(key(v)^flip, i); p < heap[0] {
			heap[0] = p
			down(0)
			limit = row[placeOf(heap[0])]
		}
	}
	slices.Sort(heap)
}

var sortRuns, mergeRuns = cpu.Sorting()

// SortWords sorts words whose places ascend, or at least puts the first of them in order. The result is one of the two
// slices, which have the same length.
func SortWords(words, spare []uint64, first int) []uint64 {
	inVectors := sortRuns != nil && len(words)%cpu.SortedRun == 0
	switch {
	case len(words) > 1<<15 || len(words) > 512 && !inVectors: // from here, four passes over bytes are fewer than those of merging
		return radixWords(words, spare)
	case !inVectors:
		return mergeWords(words, spare)
	}
	sortRuns(words)
	first = (first + 7) &^ 7 // mergeRuns takes eight at a time
	for run := cpu.SortedRun; run < len(words); run *= 2 {
		for start := 0; start < len(words); start += 2 * run {
			left := words[start:min(start+run, len(words))]
			right := words[start+len(left) : min(start+2*run, len(words))]
			left, right = left[:min(len(left), first)], right[:min(len(right), first)]
			if len(right) == 0 {
				copy(spare[start:], left)
			} else {
				mergeRuns(spare[start:][:len(left)+len(right)], left, right)
			}
		}
		words, spare = spare, words
	}
	return words
}

// mergeWords sorts by merging.
func mergeWords(words, spare []uint64) []uint64 {
	n := len(words)
	whole := n &^ 3
	for i := 0; i < whole; i += 4 { // a network of comparisons, none of which is a branch
		p := words[i : i+4 : i+4]
		a, b, c, d := min(p[0], p[1]), max(p[0], p[1]), min(p[2], p[3]), max(p[2], p[3])
		a, c, b, d = min(a, c), max(a, c), min(b, d), max(b, d)
		p[0], p[1], p[2], p[3] = a, min(b, c), max(b, c), d
	}
	slices.Sort(words[whole:])
	for run := 4; run < n; run *= 2 {
		for start := 0; start < n; start += 2 * run {
			end := min(start+2*run, n)
			if end-start == 2*run {
				mergeEven(spare[start:end], words[start:end])
			} else {
				mergeOdd(spare[start:end], words[start:min(start+run, end)], words[min(start+run, end):end])
			}
		}
		words, spare = spare, words
	}
	return words
}

// mergeEven merges the two halves of src, both of which are in order, from both ends at once: so neither side can run
// out before the other ends, and no branch has to be predicted.
func mergeEven(dst, src []uint64) {
	half := len(src) / 2
	dst = dst[:len(src)]
	i, j, p, q := 0, half, half-1, len(src)-1
	for k := range half {
		x, y := src[i], src[j]
		dst[k] = min(x, y)
		left := 0
		if x < y {
			left = 1
		}
		i, j = i+left, j+1-left
		u, v := src[p], src[q]
		dst[len(dst)-1-k] = max(u, v)
		left = 0
		if u > v {
			left = 1
		}
		p, q = p-left, q-1+left
	}
}

// mergeOdd merges a and b, of any length.
func mergeOdd(dst, a, b []uint64) {
	for k := range dst {
		if len(b) == 0 || len(a) > 0 && a[0] < b[0] {
			dst[k], a = a[0], a[1:]
		} else {
			dst[k], b = b[0], b[1:]
		}
	}
}

// radixWords is radixSort for words, whose places are in order from the start.
func radixWords(words, spare []uint64) []uint64 {
	var counts [4][256]int
	for _, word := range words {
		counts[0][byte(word>>placeBits)]++
		counts[1][byte(word>>(placeBits+8))]++
		counts[2][byte(word>>(placeBits+16))]++
		counts[3][byte(word>>(placeBits+24))]++
	}
	for i := range counts {
		count, shift := &counts[i], placeBits+8*i
		if count[byte(words[0]>>shift)] == len(words) {
			continue
		}
		at := 0
		for b, n := range count {
			count[b], at = at, at+n
		}
		spare = spare[:len(words)]
		for _, word := range words {
			b := byte(word >> shift)
			spare[count[b]] = word
			count[b]++
		}
		words, spare = spare, words
	}
	return words
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

// fewPlaces returns the first k places of a row in order, few of many, in the memory of places. They are kept as a heap
// with the last of them on top, so that most numbers need only one comparison.
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
			if next := child + 1; next < k && heap[child].before(heap[next]) {
				child = next
			}
			if !p.before(heap[child]) {
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
		if descending && v <= limit || !descending && v >= limit { // unless one is NaN: its key tells
			continue
		}
		if p := (place{key(v) ^ flip, int64(i)}); p.key < heap[0].key { // equal ones come after it
			heap[0] = p
			down(0)
			limit = row[heap[0].at]
		}
	}
	slices.SortFunc(heap, comparePlaces)
	return heap
}

func (a place) before(b place) bool { return a.key < b.key || a.key == b.key && a.at < b.at }

// radixSort sorts by one byte of the keys after another, the lowest first: places with equal bytes keep their order.
// A byte that all keys share costs only one look. The result is one of the two slices.
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
func Search[T int64 | float32 | float64](out []int64, sorted, values []T, right bool) {
	keys := make([]uint64, len(sorted))
	keysOf(keys, sorted)
	Parallel(len(values), ParallelFrom/16, func(start, end int) {
		var room [BlockLen]uint64
		InBlocks(start, end, func(at, n int) {
			some := room[:n]
			keysOf(some, values[at:][:n])
			if right { // after those that are no larger means before those that are one larger
				for i := range some {
					some[i]++
				}
			}
			cpu.Search(out[at:][:n], keys, some)
			for i, key := range some {
				if right && key == 0 { // there was no larger one
					out[at+i] = int64(len(keys))
				}
			}
		})
	})
}

func keysOf[T int64 | float32 | float64](dst []uint64, x []T) {
	dst = dst[:len(x)]
	switch x := any(x).(type) {
	case []float32:
		for i, v := range x {
			dst[i] = Key32(v)
		}
	case []float64:
		for i, v := range x {
			dst[i] = Key64(v)
		}
	case []int64:
		for i, v := range x {
			dst[i] = KeyInt(v)
		}
	}
}

// Extremes returns the smallest and the largest element of x; 0 and -1 if there is none.
func Extremes(x []int64) (low, high int64) {
	if len(x) == 0 {
		return 0, -1
	}
	low, high = x[0], x[0]
	var together sync.Mutex
	Parallel(len(x), ParallelFrom, func(start, end int) {
		least, most := x[start], x[start]
		for _, v := range x[start:end] {
			least, most = min(least, v), max(most, v)
		}
		together.Lock()
		defer together.Unlock()
		low, high = min(low, least), max(high, most)
	})
	return low, high
}

// Count adds to each element of counts how often its position occurs in x.
func Count(counts, x []int64) {
	var together sync.Mutex
	Parallel(len(x), max(ParallelFrom, 8*len(counts)), func(start, end int) { // each thread has its own counts
		own := counts
		if end-start < len(x) {
			own = make([]int64, len(counts))
		}
		for _, v := range x[start:end] {
			own[v]++
		}
		if end-start < len(x) {
			together.Lock()
			defer together.Unlock()
			AddWhole(counts, counts, own)
		}
	})
}

// Counted finds the distinct values among integers that lie close together, by counting: the values in order,
// where each element of x is among them, and how often each occurs. It reports whether they do lie close
// together.
func Counted(x, at []int64) (values, counts []int64, ok bool) {
	if len(x) == 0 {
		return nil, nil, false
	}
	low, high := Extremes(x)
	span := uint64(high) - uint64(low)
	if span > 2*uint64(len(x)) {
		return nil, nil, false
	}
	times := make([]int64, span+1)
	for _, v := range x {
		times[v-low]++
	}
	for i, n := range times {
		times[i] = int64(len(values))
		if n > 0 {
			values, counts = append(values, low+int64(i)), append(counts, n)
		}
	}
	for i, v := range x {
		at[i] = times[v-low]
	}
	return values, counts, true
}

// selectEach selects elements that are no larger than a word.
func selectEach[S uint32 | uint64](to, from []S, outer, size int, at []int64) {
	n := len(at)
	if outer == 1 {
		Parallel(n, ParallelFrom, func(start, end int) { selectRow(to[start:end], from, at[start:end]) })
		return
	}
	ParallelRows(outer, ParallelFrom/n, func(start, end int) {
		for row := start; row < end; row++ {
			selectRow(to[row*n:][:n], from[row*size:][:size], at)
		}
	})
}

func selectRow[S uint32 | uint64](dst, src []S, at []int64) {
	dst = dst[:len(at)]
	for j, p := range at {
		dst[j] = src[p]
	}
}

// PutRows copies rows of the given number of bytes to positions among size in each of outer parts, in order, or the
// only row of from to all of them.
func PutRows(to, from []byte, outer, size, bytes int, at []int64, single bool) {
	const width = 1 << 12
	pieces := (bytes + width - 1) / width
	ParallelRows(outer*pieces, 8*ParallelFrom/max(1, len(at)*min(bytes, width)), func(start, end int) { // threads share columns: the last of several stays
		for piece := start; piece < end; piece++ {
			o, first := piece/pieces, piece%pieces*width
			n := min(width, bytes-first)
			for j, p := range at {
				row := 0
				if !single {
					row = (o*len(at) + j) * bytes
				}
				copy(to[(o*size+int(p))*bytes+first:][:n], from[row+first:][:n])
			}
		}
	})
}

// WhereSet returns the positions of the bools that are true, in memory from room.
func WhereSet(x []uint8, room func(n int) []int64) []int64 {
	return eachSet(len(x), 1, BlockLen, x, room, func(at []int64, start, end int) { cpu.WhereSet(at, x[start:end], start) })
}

// Coordinates returns the positions of the bools that are true in an array of two or more axes, one number for each
// axis, in memory from room.
func Coordinates(x []uint8, shape []int, room func(n int) []int64) []int64 {
	rank := len(shape)
	width := shape[rank-1]
	if len(x) == 0 {
		return nil
	}
	return eachSet(len(x)/width, rank, 1, x, room, func(at []int64, start, end int) {
		columns, lead := make([]int64, width), make([]int64, rank-1)
		for a, rest := rank-2, start; a >= 0; a-- {
			lead[a], rest = int64(rest%shape[a]), rest/shape[a]
		}
		for row := start; row < end; row++ {
			set := columns[:cpu.WhereSet(columns, x[row*width:][:width], 0)]
			if rank == 2 {
				to := at[:2*len(set)]
				for i, column := range set {
					to[2*i], to[2*i+1] = lead[0], column
				}
			} else {
				for i, column := range set {
					to := at[i*rank:][:rank]
					copy(to, lead)
					to[rank-1] = column
				}
			}
			at = at[rank*len(set):]
			for a := rank - 2; a >= 0; a-- {
				if lead[a]++; lead[a] < int64(shape[a]) || a == 0 {
					break
				}
				lead[a] = 0
			}
		}
	})
}

// eachSet calls f for pieces of n rows of bools, with the memory for its results: each words for each bool that is
// true. Pieces start at a multiple of unit.
func eachSet(n, each, unit int, x []uint8, room func(n int) []int64, f func(at []int64, start, end int)) []int64 {
	width := len(x) / max(n, 1)
	pieces := max(1, min(cpu.Threads(), len(x)/ParallelFrom))
	size := ((n+pieces-1)/pieces + unit - 1) / unit * unit
	if size > 0 {
		pieces = (n + size - 1) / size
	}
	ends := make([]int, pieces+1)
	ParallelRows(pieces, 1, func(start, end int) {
		for p := start; p < end; p++ {
			ends[p+1] = int(countTrue(x[p*size*width : min((p+1)*size, n)*width]))
		}
	})
	for p := range pieces {
		ends[p+1] += ends[p]
	}
	at := room(each * ends[pieces])
	ParallelRows(pieces, 1, func(start, end int) {
		for p := start; p < end; p++ {
			f(at[each*ends[p]:each*ends[p+1]], p*size, min((p+1)*size, n))
		}
	})
	return at
}

// Distinct returns how many distinct positions there are.
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

// addRows adds each row of x to the row that it was selected from, in order, so that
// the sums don't depend on the number of threads.
func addRows[T numbers.Number](sum []T, x Array, axis, size int, at []int64) {
	inner := layout.Product(x.Layout.Shape[axis+1:])
	outer := layout.Product(x.Layout.Shape[:axis])
	if IsPlain[T](x) { // threads share columns: each sum has its terms in order
		rows := Stored[T](x)
		byColumns(outer, inner, len(at), func(o, first, n int) {
			for j, p := range at {
				addTo(sum[(o*size+int(p))*inner+first:][:n], rows[(o*len(at)+j)*inner+first:][:n])
			}
		})
		return
	}
	r, row := NewReader[T](x), make([]T, inner)
	defer r.Done()
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
