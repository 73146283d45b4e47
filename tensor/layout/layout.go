// Package layout is the index arithmetic of tensors: shapes, strides and offsets, and
// what views do to them. It touches no elements, so each rule can be read and tested
// by itself.
package layout

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/lectern-go/lectern/internal/humanize"
)

// Layout says where the elements of a tensor lie in its storage: element
// (i, j, ...) is at Offset + i·Strides[0] + j·Strides[1] + ...
//
// A Layout is a value; its methods return new ones and never touch elements.
// They return an error if the requested layout does not exist.
type Layout struct {
	Shape   []int
	Strides []int // in elements; never negative
	Offset  int   // in elements
}

// The kinds of mistake that an [Error] names.
var (
	ErrShape = errors.New("shapes do not fit")  // sizes or ranks that can't be combined
	ErrIndex = errors.New("index out of range") // a position or axis that does not exist
	ErrView  = errors.New("view not possible")  // strided memory that can't be seen in another shape
	ErrValue = errors.New("value not allowed")  // an argument outside its range
)

// Error says which layout does not exist.
type Error struct {
	Kind   error  // one of the Err… values
	Reason string // the rule that failed, with its axes and sizes
	Hint   string // what to try; may be empty
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return "layout: " + e.Reason
	}
	return "layout: " + e.Reason + "; " + e.Hint
}

// Unwrap returns the kind, for errors.Is.
func (e *Error) Unwrap() error { return e.Kind }

// KeepDim and Biased may be given among the axes of a reduction, but are not axes.
const (
	KeepDim = math.MinInt     // the reduced axes stay, with size 1
	Biased  = math.MinInt + 1 // a variance is divided by the number of elements
)

// Contiguous returns the row-major layout of a shape: the last axis has
// stride 1, every other the product of the sizes after it.
func Contiguous(shape ...int) Layout {
	l := Layout{Shape: shape, Strides: make([]int, len(shape))}
	RowMajor(l.Shape, l.Strides)
	return l
}

// RowMajor fills in the strides of a contiguous layout.
func RowMajor(shape, strides []int) {
	stride := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= max(shape[i], 1)
	}
}

// Rank returns the number of axes.
func (l Layout) Rank() int { return len(l.Shape) }

// Len returns the number of elements.
func (l Layout) Len() int { return Product(l.Shape) }

// countable returns the product of sizes, none of which is negative, and whether it
// fits an int.
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
	if _, ok := countable(l.Shape); !ok {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("shape %v has more elements than can be counted", l.Shape), Hint: "check the sizes"}
	}
	return l, nil
}

// Product returns the product of sizes.
func Product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

// IsContiguous reports whether the elements lie in row-major order without
// gaps. Strides of axes of size 1 don't matter.
func (l Layout) IsContiguous() bool { return IsRowMajor(l.Shape, l.Strides) }

// IsRowMajor is [Layout.IsContiguous] for a layout with this shape and these strides. The fastest calls of an
// operation use it: calling a method of Layout copies the whole layout first.
func IsRowMajor(shape, strides []int) bool {
	stride := 1
	for i := len(shape) - 1; i >= 0; i-- {
		switch {
		case shape[i] == 0:
			return true
		case shape[i] == 1:
			continue
		case strides[i] != stride:
			return Product(shape) == 0
		}
		stride *= shape[i]
	}
	return true
}

// MayOverlap reports whether two positions may be the same storage element, so that
// writing through this layout has no clear meaning. It sorts the axes by stride and
// requires each to step over all smaller ones. (This is PyTorch's rule: it can call an
// unusual layout overlapping that isn't.)
func (l Layout) MayOverlap() bool {
	if l.Len() <= 1 {
		return false
	}
	axes := make([]int, 0, 8)
	for i, size := range l.Shape {
		if size > 1 {
			axes = append(axes, i)
		}
	}
	slices.SortFunc(axes, func(a, b int) int { return l.Strides[a] - l.Strides[b] })
	reach := 0
	for _, a := range axes {
		if l.Strides[a] <= reach {
			return true
		}
		reach += (l.Shape[a] - 1) * l.Strides[a]
	}
	return false
}

// MemoryOrder returns the axes from the one with the largest stride to the one with
// the smallest, as PyTorch orders them: axes that repeat elements stay where they are.
func (l Layout) MemoryOrder() []int {
	order := make([]int, len(l.Shape))
	for i := range order {
		order[i] = i
	}
	// before reports whether axis a lies outside axis b in memory; it is undecided
	// where one repeats elements.
	before := func(a, b int) (yes, decided bool) {
		switch sa, sb := l.Strides[a], l.Strides[b]; {
		case sa == 0 || sb == 0:
			return false, false
		case sa != sb:
			return sa > sb, true
		}
		return l.Shape[a] > l.Shape[b], l.Shape[a] > l.Shape[b]
	}
	// Insert axes from the last to the first; each moves back past those that lie outside it.
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

// Position returns the storage index of an element. Each index must be in the range of
// its axis; negative ones count from the end.
func (l Layout) Position(index []int) (int, error) {
	if len(index) != len(l.Shape) {
		return 0, &Error{Kind: ErrIndex, Reason: fmt.Sprintf("%s for %s", humanize.Count(len(index), "index"), humanize.Count(len(l.Shape), "axis")),
			Hint: "give one index for each axis"}
	}
	at := l.Offset
	for axis, i := range index {
		i, err := l.index(axis, i)
		if err != nil {
			return 0, err
		}
		at += i * l.Strides[axis]
	}
	return at, nil
}

// index checks an index into an axis and makes a negative one positive.
func (l Layout) index(axis, i int) (int, error) {
	size := l.Shape[axis]
	if i < -size || i >= size {
		return 0, &Error{Kind: ErrIndex, Reason: fmt.Sprintf("index %d is out of range for axis %d of size %d", i, axis, size)}
	}
	if i < 0 {
		i += size
	}
	return i, nil
}

// Axis checks an axis number and makes a negative one positive.
func (l Layout) Axis(a int) (int, error) { return normalAxis(a, len(l.Shape)) }

func normalAxis(a, rank int) (int, error) {
	switch a {
	case KeepDim:
		return 0, &Error{Kind: ErrIndex, Reason: "tensor.KeepDim is not an axis: it is given to reductions, after their axes"}
	case Biased:
		return 0, &Error{Kind: ErrIndex, Reason: "tensor.Biased is not an axis: it is given to Var and Std, after their axes"}
	}
	if a < -rank || a >= rank {
		reason := fmt.Sprintf("there is no axis %d in a tensor of %s", a, humanize.Count(rank, "axis"))
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

// Copied returns a layout with its own slices and room for extra axes.
func (l Layout) Copied(extra int) Layout {
	n := len(l.Shape)
	both := make([]int, 2*(n+extra))
	shape, strides := both[:n:n+extra], both[n+extra:2*n+extra]
	copy(shape, l.Shape)
	copy(strides, l.Strides)
	return Layout{shape, strides, l.Offset}
}

// NamesNumber reports whether the axes are ones that a single number accepts as if it
// were a row of one, as reductions do: 0 and -1.
func (l Layout) NamesNumber(axes ...int) bool {
	for _, a := range axes {
		if a != 0 && a != -1 {
			return false
		}
	}
	return len(l.Shape) == 0
}

// Transpose returns the layout with two axes exchanged. A single number, which has no
// axes, accepts axis 0.
func (l Layout) Transpose(a, b int) (Layout, error) {
	if l.NamesNumber(a, b) {
		return l, nil
	}
	a, err := l.Axis(a)
	if err != nil {
		return l, err
	}
	if b, err = l.Axis(b); err != nil {
		return l, err
	}
	l = l.Copied(0)
	l.Shape[a], l.Shape[b] = l.Shape[b], l.Shape[a]
	l.Strides[a], l.Strides[b] = l.Strides[b], l.Strides[a]
	return l, nil
}

// Permute returns the layout whose axis i is axis axes[i] of l.
func (l Layout) Permute(axes ...int) (Layout, error) {
	if len(axes) != len(l.Shape) {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("%s given, the tensor has %d", humanize.Count(len(axes), "axis"), len(l.Shape))}
	}
	out := l.Copied(0)
	seen := make([]bool, len(axes))
	for i, a := range axes {
		a, err := l.Axis(a)
		if err != nil {
			return l, err
		}
		if seen[a] {
			return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("axis %d is named twice", a)}
		}
		seen[a] = true
		out.Shape[i], out.Strides[i] = l.Shape[a], l.Strides[a]
	}
	return out, nil
}

// Narrow returns the layout of length elements of an axis, from start on.
func (l Layout) Narrow(axis, start, length int) (Layout, error) {
	axis, err := l.Axis(axis)
	if err != nil {
		return l, err
	}
	size := l.Shape[axis]
	if start < 0 {
		start += size
	}
	if start < 0 || start > size || length < 0 || length > size-start {
		return l, &Error{Kind: ErrIndex,
			Reason: fmt.Sprintf("%s from %d on do not lie within axis %d of size %d", humanize.Count(length, "element"), start, axis, size)}
	}
	l = l.Copied(0)
	l.Shape[axis] = length
	l.Offset += start * l.Strides[axis]
	return l, nil
}

// Select returns the layout of one position of an axis, which disappears.
func (l Layout) Select(axis, i int) (Layout, error) {
	axis, err := l.Axis(axis)
	if err != nil {
		return l, err
	}
	if i, err = l.index(axis, i); err != nil {
		return l, err
	}
	l = l.Copied(0)
	l.Offset += i * l.Strides[axis]
	l.Shape = slices.Delete(l.Shape, axis, axis+1)
	l.Strides = slices.Delete(l.Strides, axis, axis+1)
	return l, nil
}

// Slice returns the layout of every step-th position of an axis in
// [start, stop). As in Python, bounds outside the axis are clipped to it and negative
// ones count from the end; step is at least 1.
func (l Layout) Slice(axis, start, stop, step int) (Layout, error) {
	axis, err := l.Axis(axis)
	if err != nil {
		return l, err
	}
	if step < 1 {
		return l, &Error{Kind: ErrValue, Reason: fmt.Sprintf("step %d: a step is at least 1", step), Hint: "Flip reverses an axis, by copying"}
	}
	size := l.Shape[axis]
	cut := func(i int) int {
		if i < 0 {
			i += size
		}
		return min(max(i, 0), size)
	}
	start, stop = cut(start), cut(stop)
	l = l.Copied(0)
	l.Offset += start * l.Strides[axis]
	l.Shape[axis] = 0
	if stop > start {
		l.Shape[axis] = (stop-start-1)/step + 1
	}
	l.Strides[axis] *= step
	return l, nil
}

// Unsqueeze returns the layout with a new axis of size 1 before axis; axis may
// be the rank, which appends it.
func (l Layout) Unsqueeze(axis int) (Layout, error) {
	axis, err := normalAxis(axis, len(l.Shape)+1)
	if err != nil {
		return l, err
	}
	stride := 1
	if axis < len(l.Shape) {
		stride = l.Shape[axis] * l.Strides[axis]
	}
	l = l.Copied(1)
	l.Shape = slices.Insert(l.Shape, axis, 1)
	l.Strides = slices.Insert(l.Strides, axis, stride)
	return l, nil
}

// Squeeze returns the layout without those of the given axes that have size 1; no axes
// means all. A single number, which has no axes, accepts axis 0.
func (l Layout) Squeeze(axes ...int) (Layout, error) {
	if l.NamesNumber(axes...) {
		return l, nil
	}
	drop := make([]bool, len(l.Shape))
	for _, a := range axes {
		a, err := l.Axis(a)
		if err != nil {
			return l, err
		}
		drop[a] = true
	}
	out := Layout{Offset: l.Offset}
	for i, size := range l.Shape {
		if size == 1 && (drop[i] || len(axes) == 0) {
			continue
		}
		out.Shape = append(out.Shape, size)
		out.Strides = append(out.Strides, l.Strides[i])
	}
	return out, nil
}

// Expand returns the layout in which axes of size 1 are repeated to the given sizes,
// by a stride of 0; new axes come first. A size of -1 keeps an axis.
func (l Layout) Expand(shape ...int) (Layout, error) {
	extra := len(shape) - len(l.Shape)
	if extra < 0 {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("%s given for %s", humanize.Count(len(shape), "size"), humanize.Count(len(l.Shape), "axis"))}
	}
	out := Layout{slices.Clone(shape), make([]int, len(shape)), l.Offset}
	for i := range shape {
		if i < extra {
			if shape[i] < 0 {
				return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("size %d is not allowed for the new axis %d", shape[i], i)}
			}
			continue
		}
		have, stride := l.Shape[i-extra], l.Strides[i-extra]
		switch {
		case shape[i] == -1 || shape[i] == have:
			out.Shape[i], out.Strides[i] = have, stride
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
	a, err := l.Axis(a)
	if err != nil {
		return l, err
	}
	if b, err = l.Axis(b); err != nil {
		return l, err
	}
	if a == b {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("a diagonal needs two different axes, axis %d was named twice", a)}
	}
	out := Layout{Offset: l.Offset}
	length := 0
	if offset >= 0 {
		length = max(0, min(l.Shape[a], l.Shape[b]-offset))
	} else {
		length = max(0, min(l.Shape[a]+offset, l.Shape[b]))
	}
	if length > 0 {
		out.Offset += max(offset, 0)*l.Strides[b] + max(-offset, 0)*l.Strides[a]
	}
	for i := range l.Shape {
		if i != a && i != b {
			out.Shape = append(out.Shape, l.Shape[i])
			out.Strides = append(out.Strides, l.Strides[i])
		}
	}
	out.Shape = append(out.Shape, length)
	out.Strides = append(out.Strides, l.Strides[a]+l.Strides[b])
	return out, nil
}

// Unfold returns the layout of all windows of size elements along an axis, step apart:
// the axis then counts the windows, and a new last axis has the elements of one.
// Windows may overlap.
func (l Layout) Unfold(axis, size, step int) (Layout, error) {
	if len(l.Shape) == 0 {
		l = Layout{[]int{1}, []int{1}, l.Offset}
	}
	axis, err := l.Axis(axis)
	if err != nil {
		return l, err
	}
	if size < 0 || size > l.Shape[axis] {
		return l, &Error{Kind: ErrShape, Reason: fmt.Sprintf("a window of %d does not fit into axis %d of size %d", size, axis, l.Shape[axis])}
	}
	if step < 1 {
		return l, &Error{Kind: ErrValue, Reason: fmt.Sprintf("step %d: a step is at least 1", step)}
	}
	l = l.Copied(1)
	l.Shape = append(l.Shape, size)
	l.Strides = append(l.Strides, l.Strides[axis])
	l.Shape[axis] = (l.Shape[axis]-size)/step + 1
	l.Strides[axis] *= step
	return l.counted()
}

// View returns the layout of another shape over the same elements in the same
// order. One size may be -1 and is then worked out. It is an error if no strides can
// do it; then copying is the only way.
func (l Layout) View(shape ...int) (Layout, error) {
	shape, err := l.InferShape(shape)
	if err != nil {
		return l, err
	}
	strides, ok := l.ViewStrides(shape)
	if !ok {
		return l, &Error{Kind: ErrView,
			Reason: fmt.Sprintf("view size is not compatible with input tensor's size and stride: shape %v strides %v cannot become %v without copying "+
				"(at least one axis would span two separate pieces of memory)", l.Shape, l.Strides, shape),
			Hint: fmt.Sprintf("use Contiguous().View(%s) or Reshape(%[1]s)", commas(shape))}
	}
	return Layout{shape, strides, l.Offset}, nil
}

// InferShape returns a copy of shape with its -1 worked out.
func (l Layout) InferShape(asked []int) ([]int, error) {
	shape := append(make([]int, 0, len(asked)), asked...) // unlike slices.Clone it lets callers keep their list on the stack
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
		return nil, &Error{Kind: ErrShape, Reason: fmt.Sprintf("shape %v has %s, %v %s", l.Shape, humanize.Count(n, "element"), shape, holds(unknown >= 0, known))}
	}
	return shape, nil
}

func holds(unknown bool, known int) string {
	if unknown {
		return fmt.Sprintf("needs a multiple of %d", known)
	}
	return fmt.Sprintf("has %d", known)
}

// ViewStrides finds strides for shape. It walks both shapes from the last axis: axes
// of l that follow each other without a gap form one run, and axes of the new shape
// must fill every run exactly.
func (l Layout) ViewStrides(shape []int) ([]int, bool) {
	strides := make([]int, len(shape))
	if l.Len() == 0 {
		if slices.Equal(shape, l.Shape) {
			copy(strides, l.Strides)
		} else {
			RowMajor(shape, strides)
		}
		return strides, true
	}
	next := len(shape) - 1
	run, runStride := 1, 1 // elements of the run so far, stride of its last axis
	if len(l.Shape) > 0 {
		runStride = l.Strides[len(l.Shape)-1]
	}
	for axis := len(l.Shape) - 1; axis >= 0; axis-- {
		run *= l.Shape[axis]
		runEnds := axis == 0 || l.Shape[axis-1] != 1 && l.Strides[axis-1] != run*runStride
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
			run, runStride = 1, l.Strides[axis-1]
		}
	}
	for ; next >= 0; next-- { // axes of size 1 in front of a single number
		strides[next] = runStride
	}
	return strides, true
}

// Merged returns the layout with neighboring axes joined where they form one
// run, and axes of size 1 dropped: the fewest axes with the same elements in
// the same order.
func (l Layout) Merged() Layout {
	out := Layout{make([]int, 0, len(l.Shape)), make([]int, 0, len(l.Shape)), l.Offset}
	for i, size := range l.Shape {
		if size == 1 {
			continue
		}
		last := len(out.Shape) - 1
		if last >= 0 && out.Strides[last] == size*l.Strides[i] {
			out.Shape[last] *= size
			out.Strides[last] = l.Strides[i]
			continue
		}
		out.Shape = append(out.Shape, size)
		out.Strides = append(out.Strides, l.Strides[i])
	}
	return out
}

// RepeatsOne reports whether all positions are one element of storage.
func (l Layout) RepeatsOne() bool {
	for i, stride := range l.Strides {
		if stride != 0 && l.Shape[i] != 1 {
			return false
		}
	}
	return true
}

// Broadcast returns the shape that two shapes have in common when axes of
// size 1 (and absent leading axes) are repeated.
func Broadcast(a, b []int) ([]int, error) {
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

// WithoutRepeats returns the layout with one position on each axis that only
// repeats elements.
func (l Layout) WithoutRepeats() Layout {
	l.Shape = slices.Clone(l.Shape)
	for i, stride := range l.Strides {
		if stride == 0 {
			l.Shape[i] = min(l.Shape[i], 1)
		}
	}
	return l
}

// Place returns where in the storage element i, counted in row-major order, lies.
func (l Layout) Place(i int) int {
	at := l.Offset
	for axis := len(l.Shape) - 1; axis >= 0; axis-- {
		at += i % l.Shape[axis] * l.Strides[axis]
		i /= l.Shape[axis]
	}
	return at
}
