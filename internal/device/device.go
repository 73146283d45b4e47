// Package device says what a device other than the processor must be able to do for tensors to live on it.
//
// Package tensor keeps shapes, strides, dtypes and gradients, and asks a [Backend] for memory and for loops over
// elements; package gpu is one. A backend is found by name, like image formats: it calls [Register] when its package
// is initialized, so programs that don't import it pay nothing.
package device

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Type is the type of an element. The numbers are those of tensor.Dtype.
type Type uint8

// The element types, which are described at tensor.Dtype.
const (
	Float32 Type = iota
	Float64
	Float16
	BFloat16
	Float8E4M3
	Float8E5M2
	Int64
	Int32
	Int16
	Int8
	Uint8
	Bool
)

// Memory is a block on a device. It is freed by Free, or by the collector once it is unreachable.
type Memory interface {
	// Size returns how many bytes the block has.
	Size() int
	// Free frees the block at once. It must not be used any more; freeing twice does nothing.
	Free()
}

// View is a tensor as a device sees it. Element (i, j, ...) is at Offset + i·Strides[0] + j·Strides[1] + ..., in
// elements. Strides may be 0 or negative.
type View struct {
	Memory         Memory // nil: the same number is at all positions; Value has its bits as they would be in memory
	Value          uint64
	Type           Type
	Shape, Strides []int
	Offset         int
}

// Len returns the number of elements.
func (v View) Len() int {
	n := 1
	for _, size := range v.Shape {
		n *= size
	}
	return n
}

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (v View) IsContiguous() bool {
	if v.Memory == nil {
		return false
	}
	stride := 1
	for i := len(v.Shape) - 1; i >= 0; i-- {
		if v.Shape[i] != 1 && v.Strides[i] != stride {
			return v.Len() == 0
		}
		stride *= v.Shape[i]
	}
	return true
}

// Backend runs operations on one device. All methods may be called from any goroutine; work is done in the order of
// the calls, possibly after they have returned. A failure that shows only later is returned by a later call, which
// says so. Operands lie on the device, or are numbers; shapes and dtypes have been checked, and no result overlaps
// an operand unless it is the same view.
//
// compute is the type that elements are converted to before, and from after, an operation: Float32, Float64 or Int64.
// Operations have the names of package tensor. A backend refuses an operation that it does not have with an error for
// which errors.Is(err, ErrUnsupported).
type Backend interface {
	// Name returns the name as users write it, such as "cuda:0".
	Name() string
	// Model returns the name of the product, such as "NVIDIA H200", by which its data sheet can be found.
	Model() string
	// TF32 reports whether products of float32 round their operands to the 19 bits of TF32, which users can allow.
	TF32() bool

	// Allocate returns a block, of zeros if zero is set. An error for which errors.Is(err, ErrOutOfMemory) says how
	// much was requested, how much is free, and how much there is.
	Allocate(bytes int, zero bool) (Memory, error)
	// Upload copies src into a block, from offset on. src may be changed once it returns.
	Upload(dst Memory, offset int, src []byte) error
	// Prefetch allocates a block and copies src, which must be pinned, into it while earlier work goes on; later
	// work waits for the copy. src must not be changed until wait returns.
	Prefetch(src []byte) (block Memory, wait func() error, err error)
	// Download copies len(dst) bytes of a block, from offset on, once all earlier work is done.
	Download(dst []byte, src Memory, offset int) error
	// Pin returns host memory that the device reads and writes directly, and a function that gives it back.
	Pin(bytes int) (memory []byte, free func(), err error)
	// Synchronize waits for all work and returns what went wrong with it.
	Synchronize() error
	// Allocated returns how many bytes are in blocks that have not been given back.
	Allocated() int

	// Map computes one element of out from the element of x at the same position. "copy" converts.
	Map(op string, compute Type, out, x View, params ...float64) error
	// Zip computes one element of out from those of x and y at the same position. out may be x, y or both.
	Zip(op string, compute Type, out, x, y View, params ...float64) error
	// Choose takes the element of x where condition is not 0, and that of y elsewhere.
	Choose(compute Type, out, condition, x, y View) error
	// Reduce computes each element of out, which is contiguous, from count elements of x, which follow each other in
	// row-major order. The order of additions depends only on the sizes.
	Reduce(op string, compute Type, out, x View, count int, params ...float64) error
	// Rows computes each row, along the last axis, of out from the same row of x.
	Rows(op string, compute Type, out, x View, params ...float64) error
	// Matmul computes the products of the matrices in the last two axes; all axes before are batches, equal in all.
	// Small floats are added up in float32 and rounded once.
	Matmul(out, a, b View) error
	// Gather takes, for each position of out, the element of x at the same position, except along one axis, where
	// index, of Int64, gives the position. Positions have been checked.
	Gather(out, x View, axis int, index View) error
	// Scatter adds runs of elements: out[at[i]·run + j] += x[i·run + j]. Runs that go to the same place are added
	// in the order of i. Both views are contiguous and of type compute.
	Scatter(out, x View, at []int64, run int) error
	// Random writes one number for each element in row-major order, made from a word of Philox 4×32-10 under key,
	// beginning with block number first of a stream. Kinds and params are those of package tensor.
	Random(kind string, out View, key [2]uint32, stream, first uint64, params ...float64) error
	// UpdateMany runs one step of an optimizer, one of [Updates], for several parameters, over the elements of
	// contiguous tensors of one type, Float32 or Float64: the parameter, its gradient, and its state. Every operation
	// rounds, as in package optim on the processor.
	UpdateMany(algorithm string, parameters [][]View, numbers *Numbers) error
}

// Fuser is a [Backend] that computes, as a whole, operations that package tensor otherwise computes in steps that
// every device has.
type Fuser interface {
	Backend
	// Fused computes all elements of out from in. The name is that of an operation of package tensor, whose record says
	// which tensors and numbers these are. If there is no kernel for these types, shapes and strides, Fused does
	// nothing and returns an error for which errors.Is(err, ErrUnsupported). Results are the same in every run.
	Fused(op string, out, in []View, numbers ...float64) error
}

// ErrUnsupported is the error for an operation that a device does not have.
var ErrUnsupported = errors.New("not available on this device")

// ErrOutOfMemory is the error of Allocate when a device is full.
var ErrOutOfMemory = errors.New("out of device memory")

var registry struct {
	sync.Mutex
	open map[string]func(index int) (Backend, error)
}

// Register registers the devices of a kind, such as "cuda". open returns the device with an index, the same each
// time, or an error that says in one sentence why there is none.
func Register(kind string, open func(index int) (Backend, error)) {
	registry.Lock()
	defer registry.Unlock()
	if registry.open == nil {
		registry.open = map[string]func(int) (Backend, error){}
	}
	registry.open[kind] = open
}

// Find returns the device of a kind with an index.
func Find(kind string, index int) (Backend, error) {
	registry.Lock()
	open, found := registry.open[kind]
	kinds := make([]string, 0, len(registry.open))
	for k := range registry.open {
		kinds = append(kinds, k)
	}
	registry.Unlock()
	if !found {
		sort.Strings(kinds)
		known := "cpu is the only device"
		if len(kinds) > 0 {
			known = "there are cpu, " + strings.Join(kinds, ", ")
		}
		return nil, fmt.Errorf("no device of kind %q is known to this program: %s (for cuda, import package gpu)", kind, known)
	}
	return open(index)
}
