package tensor

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/sysmem"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/memory"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// A Tensor is an n-dimensional array of numbers of one type: a storage, which other
// tensors may share, and a layout, which says where in it the elements lie. Methods
// return new tensors or views and say which; those that change their receiver have
// InPlace in their name, or a name that says what they write: Fill, Zero, CopyFrom,
// SetAt, SetIndex, SetData.
type Tensor struct {
	storage *memory.Storage
	layout  Layout
	dtype   Dtype
	number  bool                    // a plain Go number in an expression: it adapts to the other operand
	node    *autograd.Node[*Tensor] // see graph in inplace.go: a view's node may be out of date

	// base is the tensor that a view was taken from, nil if t is not a view. rebased
	// counts how often in-place operations gave a base another history; a view remembers
	// which of these its node belongs to.
	base    *Tensor
	rebased int
	picked  unsafe.Pointer // *pickedNode of a view whose node is out of date; see graph
}

// Layout says where the elements of a tensor lie in its storage: shape, strides and
// offset. Package layout has its arithmetic.
type Layout = layout.Layout

// ContiguousLayout returns the row-major layout of a shape: the last axis has
// stride 1, every other the product of the sizes after it.
func ContiguousLayout(shape ...int) Layout { return layout.Contiguous(shape...) }

// fresh is a tensor made together with its storage and room for four axes, so that a
// small result costs two allocations: this and its elements. Code that keeps the shape
// keeps all of it, which is why a large tensor has its shape elsewhere: a graph needs
// the shapes of many results without their elements.
type fresh struct {
	Tensor
	own  memory.Storage
	dims [8]int
}

// newTensor returns a contiguous tensor. Without zero its elements are
// undefined. The shape is copied.
func newTensor(dtype Dtype, shape []int, zero bool) *Tensor {
	size := checkedLen(shape) * dtype.Size()
	f := new(fresh)
	n := len(shape)
	dims := f.dims[:]
	if 2*n > len(dims) || size >= memory.Large {
		dims = make([]int, 2*n)
	}
	f.layout.Shape, f.layout.Strides = dims[:n:n], dims[n:2*n:2*n]
	copy(f.layout.Shape, shape)
	layout.RowMajor(shape, f.layout.Strides)
	f.dtype = dtype
	f.storage = &f.own
	if size >= loops.LargeCopy {
		needRoom("new", shape, size)
	}
	allocate(f.storage, size, zero)
	return &f.Tensor
}

// allocate gives s size bytes. Without zero their content is undefined and, where the block is large, its memory
// has not been touched.
func allocate(s *memory.Storage, size int, zero bool) {
	if size == 0 {
		return
	}
	s.Allocate(size, zero)
	if observed() {
		announceAllocated(s)
	}
}

// bytesOf returns the whole memory.
func bytesOf(s *memory.Storage) []byte {
	needHost(s)
	return unsafe.Slice((*byte)(s.Data), s.Size)
}

// elements returns the whole memory as a slice of T.
func elements[T any](s *memory.Storage) []T {
	needHost(s)
	var t T
	return unsafe.Slice((*T)(s.Data), s.Size/int(unsafe.Sizeof(t)))
}

// maxElements keeps the byte size of any dtype within an int.
const maxElements = 1 << 46

// checkedLen returns the number of elements of a shape. It panics if a size is
// negative or the product is absurd.
func checkedLen(shape []int) int { // errors print a clone: otherwise every shape would have to be allocated
	n, empty := 1, false
	for axis, size := range shape {
		if size < 0 {
			fail(ErrShape, "new", fmt.Sprint(slices.Clone(shape)), fmt.Sprintf("size %d of axis %d is negative", size, axis), "")
		}
		empty = empty || size == 0
		if size > 0 && n > maxElements/size && !empty {
			fail(ErrShape, "new", fmt.Sprint(slices.Clone(shape)), "there is no memory for so many elements", "check the sizes")
		}
		n *= size
	}
	return n
}

// needRoom panics if the processor has no memory for a number of bytes. The
// runtime would end the process.
func needRoom(op string, shape []int, bytes int) {
	if why := sysmem.Refusal(bytes); why != "" {
		fail(ErrShape, op, fmt.Sprint(slices.Clone(shape)), "there is no memory for so many elements: "+why, "check the sizes")
	}
}

// exist returns t, which must be a valid tensor: methods that look at it before an
// operation does begin with this.
func (t *Tensor) exist(op string) *Tensor {
	if t == nil || t.storage == nil {
		failMissing(op, t)
	}
	return t
}

// known is exist for questions about a tensor's shape and kind, which a value kept for
// a derivative can answer without its memory.
func (t *Tensor) known(op string) *Tensor {
	if t == nil {
		failMissing(op, t)
	}
	return t
}

// existBeside is exist for two operands.
func (t *Tensor) existBeside(op string, other *Tensor) {
	if t == nil || t.storage == nil || other == nil || other.storage == nil {
		failMissing(op, t, other)
	}
}

// failMissing panics because one of the operands is nil, or a Tensor that no function
// of this package made.
//
//go:noinline
func failMissing(op string, operands ...*Tensor) {
	for i, x := range operands {
		which := "the operand"
		switch {
		case len(operands) == 2:
			which = [...]string{"the left operand", "the right operand"}[i]
		case len(operands) > 2:
			which = fmt.Sprintf("operand %d", i)
		}
		if x == nil {
			fail(ErrValue, op, describe(operands...), which+" is a nil tensor", "look where it should have been set")
		}
		if x.storage == nil {
			fail(ErrValue, op, describe(operands...), which+" is the zero Tensor, which has no memory", "make one with a function such as tensor.Zeros or tensor.Of")
		}
	}
}

// alias returns a tensor with another layout over the storage of t, outside
// any graph.
func (t *Tensor) alias(l Layout) *Tensor {
	return &Tensor{storage: t.storage, layout: l, dtype: t.dtype}
}

// Shape returns the size of each axis, as a copy.
func (t *Tensor) Shape() []int {
	t.known("shape")
	return slices.Clone(t.layout.Shape)
}

// Size returns the size of an axis; -1 is the last one. It panics if there is
// no such axis.
func (t *Tensor) Size(axis int) int {
	t.known("size")
	return t.layout.Shape[t.axis("size", axis)]
}

// Dim returns the number of axes.
func (t *Tensor) Dim() int {
	t.known("dim")
	return len(t.layout.Shape)
}

// Len returns the number of elements, the product of the shape.
func (t *Tensor) Len() int {
	t.known("len")
	return layout.Product(t.layout.Shape)
}

// Dtype returns the type of the elements.
func (t *Tensor) Dtype() Dtype {
	t.known("dtype")
	return t.dtype
}

// ElementSize returns how many bytes one element takes.
func (t *Tensor) ElementSize() int {
	t.known("element size")
	return t.dtype.Size()
}

// Bytes returns the memory of the elements: Len times ElementSize. A view counts its
// own elements, not the whole storage.
func (t *Tensor) Bytes() int {
	t.known("bytes")
	return t.Len() * t.dtype.Size()
}

// Layout returns shape, strides and offset as one value.
func (t *Tensor) Layout() Layout {
	t.known("layout")
	return t.layout.Copied(0)
}

// Stride returns how many elements of storage lie between neighbors along an
// axis. It panics if there is no such axis.
func (t *Tensor) Stride(axis int) int {
	t.known("stride")
	return t.layout.Strides[t.axis("stride", axis)]
}

// Strides returns the stride of each axis, in elements, as a copy.
func (t *Tensor) Strides() []int {
	t.known("strides")
	return slices.Clone(t.layout.Strides)
}

// StorageOffset returns the storage index of the first element.
func (t *Tensor) StorageOffset() int {
	t.known("storage offset")
	return t.layout.Offset
}

// IsContiguous reports whether the elements lie in row-major order without
// gaps.
func (t *Tensor) IsContiguous() bool {
	t.known("is contiguous")
	return layout.IsRowMajor(t.layout.Shape, t.layout.Strides)
}

// SameStorage reports whether two tensors share their memory: whether one is a
// view of the other, or both are views of a third.
func SameStorage(a, b *Tensor) bool { return a.storage == b.storage }

// Version returns how often the storage has been written in place. Views share their
// version.
func (t *Tensor) Version() int {
	t.exist("version")
	return int(t.storage.Version.Load())
}

// Storage returns the elements of the whole storage, in the order in which
// they lie in memory, as a copy. x.Storage()[i] is the element at storage index i; all
// views of a storage return the same elements.
func (t *Tensor) Storage() []float64 {
	t.exist("storage")
	n := t.storage.Size / t.dtype.Size()
	return t.alias(ContiguousLayout(n)).Floats()
}

// Element is the Go type of an element in memory; see [Data].
type Element interface {
	~float32 | ~float64 | ~int64 | ~int32 | ~int16 | ~int8 | ~uint8 | ~uint16 | ~bool
}

// Data returns the elements of a contiguous tensor as a Go slice that shares
// their memory: writing to it changes the tensor and all its views. T must be
// as wide as the dtype: float32, float64, int64, int32, int16, int8, uint8, bool,
// or for the small floats uint16 or uint8, which hold their bits. It panics if T does
// not fit, if the tensor is not contiguous, or if it lies on another device. A
// gradient that saved the elements does not notice writes to them this way.
func Data[T Element](t *Tensor) []T {
	t.storage.Lend()
	return borrow[T](t)
}

// borrow is [Data] for callers that let go of the slice before the tensor is freed by
// [Tensor.Free] or [FreeAfter]: unlike memory seen through Data, this memory may then
// go to another tensor.
func borrow[T Element](t *Tensor) []T {
	var zero T
	t.mustBeHere("data")
	if !fits(zero, t.dtype) {
		fail(ErrDtype, "data", t.dtype.String(), fmt.Sprintf("elements can't be seen as %T", zero), "convert with To first")
	}
	if !t.IsContiguous() {
		fail(ErrView, "data", describe(t), "the elements do not lie in row-major order", "use Contiguous() first")
	}
	return stored[T](t)
}

// fits reports whether v has the Go type in which elements of d are stored.
func fits[T Element](v T, d Dtype) bool {
	if int(unsafe.Sizeof(v)) != d.Size() {
		return false
	}
	switch any(v).(type) {
	case float32:
		return d == Float32
	case float64:
		return d == Float64
	case int64:
		return d == Int64
	case int32:
		return d == Int32
	case int16:
		return d == Int16
	case int8:
		return d == Int8
	case bool:
		return d == Bool
	}
	return true
}

// At returns one element as float64, which holds every number of every dtype except
// integers beyond 2⁵³; see [Tensor.AtInt]. It panics unless there is one index for
// each axis, in its range; negative ones count from the end.
func (t *Tensor) At(index ...int) float64 {
	t.exist("at")
	return elementAt[float64](t, "at", index)
}

// AtInt returns one element as int64: exactly, if t has integers, and without
// its fraction otherwise. It panics as At does.
func (t *Tensor) AtInt(index ...int) int64 {
	t.exist("at int")
	return elementAt[int64](t, "at int", index)
}

func elementAt[T numbers.Number](t *Tensor, op string, index []int) T {
	at, err := t.layout.Position(index)
	t.must(op, err)
	var value [1]T
	newReader[T](t.alias(Layout{Offset: at}).onHost()).Copy(value[:], 0)
	return value[0]
}

// SetAt writes one element, converted to the dtype. The write shows in every
// tensor that shares the storage. Integers beyond 2⁵³, which a float64 may not
// hold, are written by SetIndex(int64(n), index...). It panics as At does.
func (t *Tensor) SetAt(value float64, index ...int) {
	t.exist("set at")
	at, err := t.layout.Position(index)
	t.must("set at", err)
	t.checkWritable("set at")
	element := t.alias(Layout{Offset: at})
	if t.RequiresGrad() {
		element.viewOf(t)
		element.node = t.graph()
	}
	element.Fill(value)
}

// Item returns the value of a tensor with one element, as float64; see
// [Tensor.ItemInt] for integers beyond 2⁵³. It panics for any other.
func (t *Tensor) Item() float64 {
	t.exist("item")
	t.needOne("item")
	return t.Floats()[0]
}

// ItemInt returns the value of a tensor with one element as int64: exactly, if t
// has integers, and without its fraction otherwise. It panics for any other.
func (t *Tensor) ItemInt() int64 {
	t.exist("item int")
	t.needOne("item int")
	return t.Ints()[0]
}

// needOne panics unless t has one element.
func (t *Tensor) needOne(op string) {
	if t.Len() != 1 {
		fail(ErrShape, op, describe(t), fmt.Sprintf("the tensor has %s, not one", humanize.Count(t.Len(), "element")), "pick one with At, or reduce with Sum or Mean")
	}
}

// needFloats, needInts and needBools panic unless t has such elements; what names its role in the operation.
func (t *Tensor) needFloats(op, reason string) {
	if !t.dtype.IsFloat() {
		fail(ErrDtype, op, t.dtype.String(), reason, "convert with To(tensor.Float32)")
	}
}

func (t *Tensor) needInts(op, what string, operands ...*Tensor) {
	if formats[t.dtype].class != classInt {
		fail(ErrDtype, op, describe(operands...), "the "+what+" are "+t.dtype.String()+", not integers", "convert with To(tensor.Int64)")
	}
}

func (t *Tensor) needBools(op, what string, operands ...*Tensor) {
	if t.dtype != Bool {
		fail(ErrDtype, op, describe(operands...), "the "+what+" is "+t.dtype.String()+", not a bool tensor", "make one with a comparison such as x.Gt(0)")
	}
}

// Floats returns the elements in row-major order, converted to float64, as a
// copy. Integers beyond 2⁵³ may be rounded; see [Tensor.Ints].
func (t *Tensor) Floats() []float64 {
	t.exist("floats")
	needRoom("floats", t.layout.Shape, 8*t.Len())
	values := make([]float64, t.Len())
	newReader[float64](t.onHost()).Copy(values, 0)
	return values
}

// Ints returns the elements in row-major order, as int64, as a copy: integers
// exactly, others without their fraction.
func (t *Tensor) Ints() []int64 {
	t.exist("ints")
	needRoom("ints", t.layout.Shape, 8*t.Len())
	values := make([]int64, t.Len())
	newReader[int64](t.onHost()).Copy(values, 0)
	return values
}

// axis checks an axis number for an operation and makes it positive.
func (t *Tensor) axis(op string, a int) int {
	if t == nil {
		failMissing(op, t)
	}
	a, err := t.layout.Axis(a)
	t.must(op, err)
	return a
}

// must panics with err, completed with the operation and its operand.
func (t *Tensor) must(op string, err error) {
	if err != nil {
		e := err.(*layout.Error)
		fail(e.Kind, op, describe(t), e.Reason, e.Hint)
	}
}

// describe writes operands as errors show them: "[2 3] x [4 2]", with strides
// where they are not the usual ones.
func describe(operands ...*Tensor) string {
	text := ""
	for i, t := range operands {
		switch {
		case i > 0:
			text += " x "
		}
		if t == nil {
			text += "nil"
			continue
		}
		text += fmt.Sprint(t.layout.Shape)
		if !t.IsContiguous() {
			text += fmt.Sprintf(" (strides %v)", t.layout.Strides)
		}
	}
	return text
}
