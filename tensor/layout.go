package tensor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Layout says where the elements of a tensor lie in its storage: element
// (i, j, ...) is at offset + i·strides[0] + j·strides[1] + ...
//
// A Layout is a value; its methods return new ones and never touch elements.
// They return an error where the layout asked for does not exist.
type Layout struct {
	shape   []int
	strides []int // in elements; never negative
	offset  int   // in elements
}

// ContiguousLayout returns the row-major layout of a shape: the last axis has
// stride 1, every other the product of the sizes after it.
func ContiguousLayout(shape ...int) Layout {
	l := Layout{shape: shape, strides: make([]int, len(shape))}
	rowMajor(l.shape, l.strides)
	return l
}

func rowMajor(shape, strides []int) {
	stride := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= max(shape[i], 1)
	}
}

// Rank returns the number of axes.
func (l Layout) Rank() int { return len(l.shape) }

// Len returns the number of elements.
func (l Layout) Len() int { return product(l.shape) }

// countable returns the product of sizes, none of which is negative, and whether an
// int holds it.
func countable(sizes []int) (n int, ok bool) {
	if slices.Contains(sizes, 0) {
		return 0, true
	}
	n = 1
	for _, size := range sizes {
		high, low := bits.Mul64(uint64(n), uint64(size))
		if high != 0 || low > math.MaxInt>>4 { // so that the bytes can be counted, too
			return 0, false
		}
		n = int(low)
	}
	return n, true
}

// counted returns l, or an error if its elements can't be counted.
func (l Layout) counted() (Layout, error) {
	if _, ok := countable(l.shape); !ok {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("shape %v has more elements than can be counted", l.shape), Hint: "check the sizes"}
	}
	return l, nil
}

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

// IsContiguous reports whether the elements lie in row-major order without
// gaps. Strides of axes of size 1 don't matter.
func (l Layout) IsContiguous() bool {
	stride := 1
	for i := len(l.shape) - 1; i >= 0; i-- {
		switch {
		case l.shape[i] == 0:
			return true
		case l.shape[i] == 1:
			continue
		case l.strides[i] != stride:
			return l.Len() == 0
		}
		stride *= l.shape[i]
	}
	return true
}

// mayOverlap reports whether two positions may be the same storage element,
// so that writing through this layout has no clear meaning. It sorts the axes
// by stride and asks that each step over all smaller ones (PyTorch's rule: it
// can call an odd layout overlapping that is not).
func (l Layout) mayOverlap() bool {
	if l.Len() <= 1 {
		return false
	}
	axes := make([]int, 0, 8)
	for i, size := range l.shape {
		if size > 1 {
			axes = append(axes, i)
		}
	}
	slices.SortFunc(axes, func(a, b int) int { return l.strides[a] - l.strides[b] })
	reach := 0
	for _, a := range axes {
		if l.strides[a] <= reach {
			return true
		}
		reach += (l.shape[a] - 1) * l.strides[a]
	}
	return false
}

// memoryOrder returns the axes from that with the largest stride to that with the
// smallest, as PyTorch orders them: axes that repeat elements stay where they are.
func (l Layout) memoryOrder() []int {
	order := make([]int, len(l.shape))
	for i := range order {
		order[i] = i
	}
	// before reports whether axis a lies outside axis b in memory; it is undecided
	// where one repeats elements.
	before := func(a, b int) (yes, decided bool) {
		switch sa, sb := l.strides[a], l.strides[b]; {
		case sa == 0 || sb == 0:
			return false, false
		case sa != sb:
			return sa > sb, true
		}
		return l.shape[a] > l.shape[b], l.shape[a] > l.shape[b]
	}
	// Insert axes from the last to the first, which moves back past those that lie outside it.
	for next := len(order) - 2; next >= 0; next-- {
		at := next
		for i := next + 1; i < len(order); i++ {
			outside, decided := before(order[i], order[at])
			if decided && !outside {
				break
			}
			if outside {
				order[i], order[at] = order[at], order[i]
				at = i
			}
		}
	}
	return order
}

// position returns the storage index of an element; each index must lie in
// its axis, negative ones count from the end.
func (l Layout) position(index []int) (int, error) {
	if len(index) != len(l.shape) {
		return 0, &Error{Kind: ErrIndex, Reason: fmt.Sprintf("%d indices for %d axes", len(index), len(l.shape)),
			Hint: "give one index for each axis"}
	}
	at := l.offset
	for axis, i := range index {
		i, err := l.index(axis, i)
		if err != nil {
			return 0, err
		}
		at += i * l.strides[axis]
	}
	return at, nil
}

// index checks an index into an axis and makes a negative one positive.
func (l Layout) index(axis, i int) (int, error) {
	size := l.shape[axis]
	if i < -size || i >= size {
		return 0, &Error{Kind: ErrIndex, Reason: fmt.Sprintf("index %d is out of range for axis %d of size %d", i, axis, size)}
	}
	if i < 0 {
		i += size
	}
	return i, nil
}

// axis checks an axis number and makes a negative one positive.
func (l Layout) axis(a int) (int, error) { return normalAxis(a, len(l.shape)) }

func normalAxis(a, rank int) (int, error) {
	switch a {
	case KeepDim:
		return 0, &Error{Kind: ErrIndex, Reason: "tensor.KeepDim is no axis: it is given to reductions, behind their axes"}
	case Biased:
		return 0, &Error{Kind: ErrIndex, Reason: "tensor.Biased is no axis: it is given to Var and Std, behind their axes"}
	}
	if a < -rank || a >= rank {
		reason := fmt.Sprintf("there is no axis %d in a tensor of %d axes", a, rank)
		if rank == 0 {
			reason = fmt.Sprintf("there is no axis %d: the tensor is a single number", a)
		}
		return 0, &Error{Kind: ErrIndex, Reason: reason}
	}
	if a < 0 {
		a += rank
	}
	return a, nil
}

// copied returns a layout with slices of its own and room for extra axes.
func (l Layout) copied(extra int) Layout {
	n := len(l.shape)
	both := make([]int, 2*(n+extra))
	shape, strides := both[:n:n+extra], both[n+extra:2*n+extra]
	copy(shape, l.shape)
	copy(strides, l.strides)
	return Layout{shape, strides, l.offset}
}

// namesNumber reports whether the axes are those by which a single number may be
// taken for a row of one, as the reductions do: 0 and -1.
func (l Layout) namesNumber(axes ...int) bool {
	for _, a := range axes {
		if a != 0 && a != -1 {
			return false
		}
	}
	return len(l.shape) == 0
}

// Transpose returns the layout with two axes exchanged. A single number, which has
// none, may be named by axis 0.
func (l Layout) Transpose(a, b int) (Layout, error) {
	if l.namesNumber(a, b) {
		return l, nil
	}
	a, err := l.axis(a)
	if err != nil {
		return l, err
	}
	if b, err = l.axis(b); err != nil {
		return l, err
	}
	l = l.copied(0)
	l.shape[a], l.shape[b] = l.shape[b], l.shape[a]
	l.strides[a], l.strides[b] = l.strides[b], l.strides[a]
	return l, nil
}

// Permute returns the layout whose axis i is axis axes[i] of l.
func (l Layout) Permute(axes ...int) (Layout, error) {
	if len(axes) != len(l.shape) {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("%d axes given, the tensor has %d", len(axes), len(l.shape))}
	}
	out := l.copied(0)
	seen := make([]bool, len(axes))
	for i, a := range axes {
		a, err := l.axis(a)
		if err != nil {
			return l, err
		}
		if seen[a] {
			return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("axis %d is named twice", a)}
		}
		seen[a] = true
		out.shape[i], out.strides[i] = l.shape[a], l.strides[a]
	}
	return out, nil
}

// Narrow returns the layout of length elements of an axis, from start on.
func (l Layout) Narrow(axis, start, length int) (Layout, error) {
	axis, err := l.axis(axis)
	if err != nil {
		return l, err
	}
	size := l.shape[axis]
	if start < 0 {
		start += size
	}
	if start < 0 || start > size || length < 0 || length > size-start {
		return l, &Error{Kind: ErrIndex,
			Reason: fmt.Sprintf("%d elements from %d on do not lie within axis %d of size %d", length, start, axis, size)}
	}
	l = l.copied(0)
	l.shape[axis] = length
	l.offset += start * l.strides[axis]
	return l, nil
}

// Select returns the layout of one position of an axis, which disappears.
func (l Layout) Select(axis, i int) (Layout, error) {
	axis, err := l.axis(axis)
	if err != nil {
		return l, err
	}
	if i, err = l.index(axis, i); err != nil {
		return l, err
	}
	l = l.copied(0)
	l.offset += i * l.strides[axis]
	l.shape = slices.Delete(l.shape, axis, axis+1)
	l.strides = slices.Delete(l.strides, axis, axis+1)
	return l, nil
}

// Slice returns the layout of every step-th position of an axis in
// [start, stop). As in Python, bounds outside the axis are cut to it and
// negative ones count from the end; step is at least 1.
func (l Layout) Slice(axis, start, stop, step int) (Layout, error) {
	axis, err := l.axis(axis)
	if err != nil {
		return l, err
	}
	if step < 1 {
		return l, &Error{Kind: ErrValue, Reason: fmt.Sprintf("step %d: a step is at least 1", step), Hint: "Flip reverses an axis, by copying"}
	}
	size := l.shape[axis]
	cut := func(i int) int {
		if i < 0 {
			i += size
		}
		return min(max(i, 0), size)
	}
	start, stop = cut(start), cut(stop)
	l = l.copied(0)
	l.offset += start * l.strides[axis]
	l.shape[axis] = 0
	if stop > start {
		l.shape[axis] = (stop-start-1)/step + 1
	}
	l.strides[axis] *= step
	return l, nil
}

// Unsqueeze returns the layout with a new axis of size 1 before axis; axis may
// be the rank, which appends it.
func (l Layout) Unsqueeze(axis int) (Layout, error) {
	axis, err := normalAxis(axis, len(l.shape)+1)
	if err != nil {
		return l, err
	}
	stride := 1
	if axis < len(l.shape) {
		stride = l.shape[axis] * l.strides[axis]
	}
	l = l.copied(1)
	l.shape = slices.Insert(l.shape, axis, 1)
	l.strides = slices.Insert(l.strides, axis, stride)
	return l, nil
}

// Squeeze returns the layout without those of the axes that have size 1; no
// axes means all of them. A single number, which has none, may be named by axis 0.
func (l Layout) Squeeze(axes ...int) (Layout, error) {
	if l.namesNumber(axes...) {
		return l, nil
	}
	drop := make([]bool, len(l.shape))
	for _, a := range axes {
		a, err := l.axis(a)
		if err != nil {
			return l, err
		}
		drop[a] = true
	}
	out := Layout{offset: l.offset}
	for i, size := range l.shape {
		if size == 1 && (drop[i] || len(axes) == 0) {
			continue
		}
		out.shape = append(out.shape, size)
		out.strides = append(out.strides, l.strides[i])
	}
	return out, nil
}

// Expand returns the layout in which axes of size 1 are repeated to the sizes
// given, by a stride of 0; new axes come first. A size of -1 keeps an axis.
func (l Layout) Expand(shape ...int) (Layout, error) {
	extra := len(shape) - len(l.shape)
	if extra < 0 {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("%d sizes given for %d axes", len(shape), len(l.shape))}
	}
	out := Layout{slices.Clone(shape), make([]int, len(shape)), l.offset}
	for i := range shape {
		if i < extra {
			if shape[i] < 0 {
				return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("size %d is not allowed for the new axis %d", shape[i], i)}
			}
			continue
		}
		have, stride := l.shape[i-extra], l.strides[i-extra]
		switch {
		case shape[i] == -1 || shape[i] == have:
			out.shape[i], out.strides[i] = have, stride
		case have == 1 && shape[i] >= 0:
		default:
			return l, &Error{Kind: ErrShape,
				Reason: fmt.Sprintf("axis %d has size %d and can't be expanded to %d", i, have, shape[i]), Hint: "only axes of size 1 can be repeated"}
		}
	}
	return out.counted()
}

// Diagonal returns the layout of a diagonal of two axes; they disappear and
// the diagonal becomes the last axis. A positive offset is above the main
// diagonal.
func (l Layout) Diagonal(offset, a, b int) (Layout, error) {
	a, err := l.axis(a)
	if err != nil {
		return l, err
	}
	if b, err = l.axis(b); err != nil {
		return l, err
	}
	if a == b {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("a diagonal needs two different axes, axis %d was named twice", a)}
	}
	out := Layout{offset: l.offset}
	length := 0
	if offset >= 0 {
		length = max(0, min(l.shape[a], l.shape[b]-offset))
	} else {
		length = max(0, min(l.shape[a]+offset, l.shape[b]))
	}
	if length > 0 {
		out.offset += max(offset, 0)*l.strides[b] + max(-offset, 0)*l.strides[a]
	}
	for i := range l.shape {
		if i != a && i != b {
			out.shape = append(out.shape, l.shape[i])
			out.strides = append(out.strides, l.strides[i])
		}
	}
	out.shape = append(out.shape, length)
	out.strides = append(out.strides, l.strides[a]+l.strides[b])
	return out, nil
}

// Unfold returns the layout of all windows of size elements, step apart, of an
// axis: the axis becomes the number of windows, and a last axis of size
// elements is added. Windows may overlap.
func (l Layout) Unfold(axis, size, step int) (Layout, error) {
	if len(l.shape) == 0 {
		l = Layout{[]int{1}, []int{1}, l.offset}
	}
	axis, err := l.axis(axis)
	if err != nil {
		return l, err
	}
	if size < 0 || size > l.shape[axis] {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("a window of %d does not fit into axis %d of size %d", size, axis, l.shape[axis])}
	}
	if step < 1 {
		return l, &Error{Kind: ErrValue, Reason: fmt.Sprintf("step %d: a step is at least 1", step)}
	}
	l = l.copied(1)
	l.shape = append(l.shape, size)
	l.strides = append(l.strides, l.strides[axis])
	l.shape[axis] = (l.shape[axis]-size)/step + 1
	l.strides[axis] *= step
	return l.counted()
}

// View returns the layout of another shape over the same elements in the same
// order. One size may be -1, it is then worked out. It is an error if no
// strides exist that would do it; copying is then the only way.
func (l Layout) View(shape ...int) (Layout, error) {
	shape, err := l.inferShape(shape)
	if err != nil {
		return l, err
	}
	strides, ok := l.viewStrides(shape)
	if !ok {
		return l, &Error{Kind: ErrView,
			Reason: fmt.Sprintf("view size is not compatible with input tensor's size and stride: shape %v strides %v cannot become %v without copying "+
				"(at least one axis would span two separate pieces of memory)", l.shape, l.strides, shape),
			Hint: fmt.Sprintf("use Contiguous().View(%s) or Reshape(%[1]s)", commas(shape))}
	}
	return Layout{shape, strides, l.offset}, nil
}

// inferShape returns a copy of shape with its -1 worked out.
func (l Layout) inferShape(asked []int) ([]int, error) {
	shape := copied(asked)
	unknown := -1
	others := make([]int, 0, len(asked))
	for i, size := range shape {
		switch {
		case size == -1 && unknown < 0:
			unknown = i
		case size == -1:
			return nil, &Error{Kind: ErrShape, Reason: fmt.Sprintf("sizes %d and %d are both -1; only one can be worked out", unknown, i)}
		case size < 0:
			return nil, &Error{Kind: ErrShape, Reason: fmt.Sprintf("size %d is negative", size)}
		default:
			others = append(others, size)
		}
	}
	known, ok := countable(others)
	if !ok {
		return nil, &Error{Kind: ErrShape, Reason: fmt.Sprintf("shape %v has more elements than can be counted", shape)}
	}
	n := l.Len()
	switch {
	case unknown >= 0 && known == 0:
		return nil, &Error{Kind: ErrShape, Reason: fmt.Sprintf("the size -1 can't be worked out: the other sizes of %v have no elements", shape)}
	case unknown >= 0 && n%known == 0:
		shape[unknown] = n / known
	case unknown >= 0 || known != n:
		return nil, &Error{Kind: ErrShape, Reason: fmt.Sprintf("shape %v has %d elements, %v %s", l.shape, n, shape, holds(unknown >= 0, known))}
	}
	return shape, nil
}

func holds(unknown bool, known int) string {
	if unknown {
		return fmt.Sprintf("needs a multiple of %d", known)
	}
	return fmt.Sprintf("has %d", known)
}

// viewStrides finds strides for shape. It walks both shapes from the last
// axis: axes of l that lie behind each other without a gap form one run, and
// every run must be filled exactly by axes of the new shape.
func (l Layout) viewStrides(shape []int) ([]int, bool) {
	strides := make([]int, len(shape))
	if l.Len() == 0 {
		if slices.Equal(shape, l.shape) {
			copy(strides, l.strides)
		} else {
			rowMajor(shape, strides)
		}
		return strides, true
	}
	next := len(shape) - 1
	run, runStride := 1, 1 // elements of the run so far, stride of its last axis
	if len(l.shape) > 0 {
		runStride = l.strides[len(l.shape)-1]
	}
	for axis := len(l.shape) - 1; axis >= 0; axis-- {
		run *= l.shape[axis]
		runEnds := axis == 0 || l.shape[axis-1] != 1 && l.strides[axis-1] != run*runStride
		if !runEnds {
			continue
		}
		filled := 1
		for next >= 0 && (filled < run || shape[next] == 1) {
			strides[next] = filled * runStride
			filled *= shape[next]
			next--
		}
		if filled != run {
			return nil, false
		}
		if axis > 0 {
			run, runStride = 1, l.strides[axis-1]
		}
	}
	for ; next >= 0; next-- { // axes of size 1 in front of a single number
		strides[next] = runStride
	}
	return strides, true
}

// merged returns the layout with neighbouring axes joined where they form one
// run, and axes of size 1 dropped: the fewest axes with the same elements in
// the same order.
func (l Layout) merged() Layout {
	out := Layout{make([]int, 0, len(l.shape)), make([]int, 0, len(l.shape)), l.offset}
	for i, size := range l.shape {
		if size == 1 {
			continue
		}
		last := len(out.shape) - 1
		if last >= 0 && out.strides[last] == size*l.strides[i] {
			out.shape[last] *= size
			out.strides[last] = l.strides[i]
			continue
		}
		out.shape = append(out.shape, size)
		out.strides = append(out.strides, l.strides[i])
	}
	return out
}

// repeatsOne reports whether all positions are one element of storage.
func (l Layout) repeatsOne() bool {
	for i, stride := range l.strides {
		if stride != 0 && l.shape[i] != 1 {
			return false
		}
	}
	return true
}

// broadcastShape returns the shape that two shapes have in common when axes of
// size 1 (and absent leading axes) are repeated.
func broadcastShape(a, b []int) ([]int, error) {
	if slices.Equal(a, b) {
		return a, nil
	}
	rank := max(len(a), len(b))
	shape := make([]int, rank)
	for i := range shape {
		sa, sb := 1, 1
		if k := i - (rank - len(a)); k >= 0 {
			sa = a[k]
		}
		if k := i - (rank - len(b)); k >= 0 {
			sb = b[k]
		}
		switch {
		case sa == sb || sb == 1:
			shape[i] = sa
		case sa == 1:
			shape[i] = sb
		default:
			return nil, &Error{Kind: ErrShape,
				Reason: fmt.Sprintf("sizes differ, %d (axis %d of left) and %d (axis %d of right)", sa, i-(rank-len(a)), sb, i-(rank-len(b))),
				Hint:   "axes are matched from the last one back; each pair must be equal or contain a 1"}
		}
	}
	return shape, nil
}

// commas writes sizes as they stand in Go source: "2, 3".
func commas(sizes []int) string {
	var text []byte
	for i, size := range sizes {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendInt(text, int64(size), 10)
	}
	return string(text)
}
