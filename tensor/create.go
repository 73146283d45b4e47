package tensor

import (
	"fmt"
	"math"
	"reflect"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// A Maker creates tensors with the options given to [With]. Functions of this package
// such as [Zeros] use one without options.
type Maker struct {
	dtype  Dtype
	given  bool       // a dtype was given
	random *Generator // nil for the default one
	device Device
}

// An Option of With: a [Dtype], a [Device], or a [*Generator] for random numbers.
type Option interface{ set(*Maker) }

func (d Dtype) set(m *Maker) { m.dtype, m.given = d, true }

// With returns a Maker with options:
//
//	tensor.With(tensor.Float64).Zeros(4, 8)
//	tensor.With(tensor.BFloat16, tensor.NewGenerator(42)).Randn(4, 8)
func With(options ...Option) Maker {
	var m Maker
	for _, o := range options {
		o.set(&m)
	}
	return m
}

// Empty returns a tensor whose elements are whatever its memory holds. Large
// ones cost no memory until they are written.
func (m Maker) Empty(shape ...int) *Tensor {
	return newTensorOn(m.device.backend, m.dtype, shape, false)
}

// Zeros returns a tensor of zeros.
func (m Maker) Zeros(shape ...int) *Tensor {
	return newTensorOn(m.device.backend, m.dtype, shape, true)
}

// Ones returns a tensor of ones.
func (m Maker) Ones(shape ...int) *Tensor { return m.Full(1, shape...) }

// Full returns a tensor of one value.
func (m Maker) Full(value float64, shape ...int) *Tensor {
	t := m.Empty(shape...)
	t.fill(value)
	return t
}

// Arange returns the numbers start, start+step, ... below stop (above it, if
// step is negative): ceil((stop-start)/step) of them. Without a dtype it is int64 if
// all three are integers, else float32. For int64 all three lose their fraction first,
// as in PyTorch: Arange(2.7) gives 0 and 1. It panics if step is 0 or leads away from
// stop.
func (m Maker) Arange(start, stop, step float64) *Tensor {
	if m.given && m.dtype == Int64 {
		start, stop, step = math.Trunc(start), math.Trunc(stop), math.Trunc(step)
	}
	if step == 0 || (stop-start)/step < 0 || math.IsNaN((stop-start)/step) || math.IsInf((stop-start)/step, 0) {
		fail(ErrValue, "arange", fmt.Sprintf("(%g, %g, %g)", start, stop, step), "no number of steps leads from start to stop", "")
	}
	whole := start == math.Trunc(start) && stop == math.Trunc(stop) && step == math.Trunc(step)
	dtype := m.dtype
	if !m.given && whole {
		dtype = Int64
	}
	count := math.Ceil((stop - start) / step)
	if count > maxElements {
		fail(ErrShape, "arange", fmt.Sprintf("(%g, %g, %g)", start, stop, step), fmt.Sprintf("there is no memory for %g elements", count), "check the bounds")
	}
	n := int(count)
	if dtype == Int64 && math.Abs(start) < 1<<63 && math.Abs(step) < 1<<63 {
		values := newTensor(Int64, []int{n}, false)
		v := plain[int64](values)
		first, by := int64(start), int64(step)
		loops.Parallel(n, loops.ParallelFrom, func(start, end int) {
			for i := start; i < end; i++ {
				v[i] = first + int64(i)*by
			}
		})
		return values.To(m.device)
	}
	if dtype == Float32 {
		values := newTensor(Float32, []int{n}, false)
		loops.Ramp(plain[float32](values), start, step)
		return values.To(m.device)
	}
	values := newTensor(Float64, []int{n}, false)
	v := plain[float64](values)
	for i := range v {
		v[i] = start + float64(i)*step
	}
	return values.To(dtype, m.device)
}

// Linspace returns n numbers from first to last, both included, evenly spaced.
// It panics if n is negative.
func (m Maker) Linspace(first, last float64, n int) *Tensor {
	if n < 0 {
		fail(ErrValue, "linspace", "", fmt.Sprintf("%s asked for", humanize.Count(n, "number")), "")
	}
	values := newTensor(Float64, []int{n}, false)
	v := elements[float64](values.storage)[:n]
	step := (last - first) / float64(max(n-1, 1))
	for i := range v { // from both ends, so that last is exact
		if i < n/2 || n == 1 {
			v[i] = first + float64(i)*step
		} else {
			v[i] = last - float64(n-1-i)*step
		}
	}
	return values.To(m.dtype, m.device)
}

// Eye returns the identity matrix of n rows.
func (m Maker) Eye(n int) *Tensor {
	t := m.Zeros(n, n)
	t.Diagonal(0, 0, 1).fill(1)
	return t
}

// Of returns a tensor of the values given: numbers, which make a vector, or
// slices, nested to any depth, which make its rows. Go's int and float64 become
// int64 and float32, as literals do in PyTorch; slices of other element types
// keep theirs. One float among integers makes the whole tensor floating point. It
// panics if rows differ in length, naming the row, or if a value has another type.
func (m Maker) Of(values ...any) *Tensor {
	var b builder
	if len(values) == 1 && reflect.ValueOf(values[0]).Kind() == reflect.Slice {
		b.add(reflect.ValueOf(values[0]), nil)
	} else {
		b.add(reflect.ValueOf(values), nil)
	}
	dtype := b.dtype()
	if m.given {
		dtype = m.dtype
	}
	return b.tensor(dtype).To(m.device)
}

// Scalar returns a tensor without axes: a single number.
func (m Maker) Scalar(value float64) *Tensor { return scalar(value, m.dtype).To(m.device) }

// EmptyLike returns a tensor of the shape, dtype and device of t whose elements are
// whatever its memory holds. Like the functions below, it returns a contiguous tensor
// that takes no part in gradients.
func EmptyLike(t *Tensor) *Tensor { return With(t.dtype, t.Device()).Empty(t.layout.Shape...) }

// ZerosLike returns zeros in the shape and dtype of t, on its device.
func ZerosLike(t *Tensor) *Tensor { return With(t.dtype, t.Device()).Zeros(t.layout.Shape...) }

// OnesLike returns ones in the shape and dtype of t, on its device.
func OnesLike(t *Tensor) *Tensor { return With(t.dtype, t.Device()).Ones(t.layout.Shape...) }

// FullLike returns one value in the shape and dtype of t.
func FullLike(t *Tensor, value float64) *Tensor {
	return With(t.dtype, t.Device()).Full(value, t.layout.Shape...)
}

// RandLike returns uniform random numbers in [0, 1) in the shape and dtype of t.
func RandLike(t *Tensor) *Tensor { return With(t.dtype, t.Device()).Rand(t.layout.Shape...) }

// RandnLike returns normal random numbers in the shape and dtype of t.
func RandnLike(t *Tensor) *Tensor { return With(t.dtype, t.Device()).Randn(t.layout.Shape...) }

// Empty is [Maker.Empty] for float32.
func Empty(shape ...int) *Tensor { return Maker{}.Empty(shape...) }

// Zeros is [Maker.Zeros] for float32.
func Zeros(shape ...int) *Tensor { return Maker{}.Zeros(shape...) }

// Ones is [Maker.Ones] for float32.
func Ones(shape ...int) *Tensor { return Maker{}.Ones(shape...) }

// Full is [Maker.Full] for float32.
func Full(value float64, shape ...int) *Tensor { return Maker{}.Full(value, shape...) }

// Arange is [Maker.Arange] from 0, or between two bounds, or with a step:
// Arange(stop), Arange(start, stop) or Arange(start, stop, step). It panics for
// any other number of arguments.
func Arange(bounds ...float64) *Tensor {
	switch len(bounds) {
	case 1:
		return Maker{}.Arange(0, bounds[0], 1)
	case 2:
		return Maker{}.Arange(bounds[0], bounds[1], 1)
	case 3:
		return Maker{}.Arange(bounds[0], bounds[1], bounds[2])
	}
	fail(ErrValue, "arange", "", fmt.Sprintf("%s given", humanize.Count(len(bounds), "argument")), "write Arange(stop), Arange(start, stop) or Arange(start, stop, step)")
	return nil
}

// Linspace is [Maker.Linspace] for float32.
func Linspace(first, last float64, n int) *Tensor { return Maker{}.Linspace(first, last, n) }

// Eye is [Maker.Eye] for float32.
func Eye(n int) *Tensor { return Maker{}.Eye(n) }

// Of is [Maker.Of] without options:
//
//	tensor.Of(1., 2, 3)                              // float32 [3]
//	tensor.Of([]float64{1, 2, 3}, []float64{4, 5, 6}) // float32 [2 3]
//	tensor.Of(1, 2, 3)                               // int64 [3]
func Of(values ...any) *Tensor { return Maker{}.Of(values...) }

// Scalar is [Maker.Scalar] for float32.
func Scalar(value float64) *Tensor { return Maker{}.Scalar(value) }

// Number returns a Go number or bool as a tensor that adapts to the dtype of the
// other operand, as plain numbers do. It is for the left side of an operation:
//
//	tensor.Number(1).Div(x) // 1/x
//
// It panics for any other type.
func Number(x any) *Tensor {
	if _, ok := x.(*Tensor); ok {
		fail(ErrValue, "number", "", "the value is a tensor already", "")
	}
	return operand("number", x)
}

// scalar returns a single number.
func scalar(value float64, dtype Dtype) *Tensor {
	t := single(Float64, value)
	if dtype == Float64 {
		return t
	}
	return t.converted(dtype)
}

// fromNumber returns a Go number or bool as a single number: float64, int64 or
// bool.
func fromNumber(x any) (*Tensor, bool) {
	switch x := x.(type) { // the usual types, without reflection
	case int:
		return single(Int64, int64(x)), true
	case float64:
		return single(Float64, x), true
	}
	var b builder
	v := reflect.ValueOf(x)
	if !v.IsValid() || !b.number(v) {
		return nil, false
	}
	dtype := b.dtype()
	if dtype == Float32 {
		dtype = Float64 // keep every digit until the other operand is known
	}
	return b.tensor(dtype), true
}

// single returns a single number as the Go type in which dtype is stored.
func single[T Element](dtype Dtype, value T) *Tensor {
	t := newTensor(dtype, nil, false)
	elements[T](t.storage)[0] = value
	return t
}

// builder collects the numbers of nested slices.
type builder struct {
	floats  []float64
	ints    []int64 // exact, which floats can't be
	shape   []int
	element Dtype
	typed   bool // element comes from a slice's element type
	class   class
}

// add takes a slice; path is its position in the whole.
func (b *builder) add(v reflect.Value, path []int) {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	depth := len(path)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		if !v.IsValid() || !b.number(v) {
			fail(ErrValue, "of", "", fmt.Sprintf("the value at %v is %s, not a number", path, kindName(v)), "give numbers, or slices of them")
		}
		if depth != len(b.shape) {
			fail(ErrShape, "of", "", fmt.Sprintf("the value at %v is a number where its neighbors are slices", path), "make all rows equally deep")
		}
		return
	}
	switch {
	case depth < len(b.shape) && b.shape[depth] != v.Len():
		fail(ErrShape, "of", "", fmt.Sprintf("row %v has %s, the rows before it have %d", path, humanize.Count(v.Len(), "value"), b.shape[depth]), "make all rows equally long")
	case depth == len(b.shape) && len(b.floats) > 0:
		fail(ErrShape, "of", "", fmt.Sprintf("the value at %v is a slice where its neighbors are numbers", path), "make all rows equally deep")
	case depth == len(b.shape):
		b.shape = append(b.shape, v.Len())
	}
	if d, ok := exactDtype(v.Type().Elem()); ok {
		if b.typed && b.element != d {
			fail(ErrDtype, "of", "", fmt.Sprintf("row %v is %s, the rows before it %s", path, d, b.element), "give all rows one type")
		}
		b.element, b.typed = d, true
	}
	for i := range v.Len() {
		b.add(v.Index(i), append(path[:depth:depth], i))
	}
}

// number takes one Go number; for anything else it returns false.
func (b *builder) number(v reflect.Value) bool {
	var f float64
	var i int64
	c := classInt
	switch {
	case v.CanInt():
		i = v.Int()
		f = float64(i)
	case v.CanUint():
		i = int64(v.Uint())
		f = float64(v.Uint())
	case v.CanFloat():
		f, i, c = v.Float(), int64(v.Float()), classFloat
	case v.Kind() == reflect.Bool:
		c = classBool
		if v.Bool() {
			f, i = 1, 1
		}
	default:
		return false
	}
	b.floats, b.ints = append(b.floats, f), append(b.ints, i)
	b.class = max(b.class, c)
	return true
}

// exactDtype returns the dtype of a Go element type that stands for a dtype of its
// own, not just for "a number".
func exactDtype(t reflect.Type) (Dtype, bool) {
	switch t.Kind() {
	case reflect.Float32:
		return Float32, true
	case reflect.Int32:
		return Int32, true
	case reflect.Int16:
		return Int16, true
	case reflect.Int8:
		return Int8, true
	case reflect.Uint8:
		return Uint8, true
	case reflect.Bool:
		return Bool, true
	case reflect.Int64:
		return Int64, true
	}
	return 0, false
}

func (b *builder) dtype() Dtype {
	switch {
	case b.typed:
		return b.element
	case len(b.floats) == 0 || b.class == classFloat:
		return Float32
	case b.class == classInt:
		return Int64
	}
	return Bool
}

func (b *builder) tensor(dtype Dtype) *Tensor {
	if dtype.IsFloat() || b.class == classFloat {
		t := newTensor(Float64, b.shape, false)
		copy(elements[float64](t.storage), b.floats)
		return t.To(dtype)
	}
	t := newTensor(Int64, b.shape, false)
	copy(elements[int64](t.storage), b.ints)
	return t.To(dtype)
}

func kindName(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	return "a " + v.Type().String()
}
