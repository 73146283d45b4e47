package tensor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// Device is where the elements of a tensor lie: in the memory of the processor, [CPU],
// or on a card that package gpu registers. It is an [Option] of With and a [Target] of
// To.
type Device struct{ backend device.Backend }

// CPU is the processor, where tensors are made unless another device is given.
var CPU Device

// FindDevice returns a device by its name: "cpu", "cuda:0", "cuda" for the first GPU.
// Kinds other than cpu must have been registered by importing their package, such as
// gpu. The error says in one sentence why there is no such device.
func FindDevice(name string) (Device, error) {
	kind, number, indexed := strings.Cut(name, ":")
	index := 0
	if indexed {
		var err error
		if index, err = strconv.Atoi(number); err != nil || index < 0 {
			return CPU, fmt.Errorf("tensor: device %q: %q is not the number of a device; write it like \"cuda:0\"", name, number)
		}
	}
	if kind == "cpu" {
		return CPU, nil
	}
	backend, err := device.Find(kind, index)
	if err != nil {
		return CPU, fmt.Errorf("tensor: device %q: %w", name, err)
	}
	return Device{backend}, nil
}

// String returns the name, such as "cpu" or "cuda:0".
func (d Device) String() string {
	if d.backend == nil {
		return "cpu"
	}
	return d.backend.Name()
}

// Model returns the name of the product as data sheets give it, such as "NVIDIA H200";
// empty for the processor.
func (d Device) Model() string {
	if d.backend == nil {
		return ""
	}
	return d.backend.Model()
}

// TF32 reports whether d may round the operands of float32 products to TF32,
// which has 10 bits of mantissa. The processor never does.
func (d Device) TF32() bool { return d.backend != nil && d.backend.TF32() }

// IsCPU reports whether d is the processor.
func (d Device) IsCPU() bool { return d.backend == nil }

// Synchronize waits until all work that d was given is done. On the processor, work is
// done when an operation returns. The error comes from an operation that failed after
// it had returned.
func (d Device) Synchronize() error {
	if d.backend == nil {
		return nil
	}
	return d.backend.Synchronize()
}

// Allocated returns the bytes of all tensors on d, counted in blocks of its allocator;
// 0 for the processor, whose memory is Go's.
func (d Device) Allocated() int {
	if d.backend == nil {
		return 0
	}
	return d.backend.Allocated()
}

func (d Device) set(m *Maker) { m.device = d }
func (d Device) target()      {}
func (d Dtype) target()       {}

// Target is what [Tensor.To] converts or copies a tensor to: a [Dtype] or a [Device].
type Target interface{ target() }

// Device returns where the elements of t lie.
func (t *Tensor) Device() Device {
	t.known("device")
	return Device{t.backend()}
}

// backend returns the device of t, nil for the processor.
func (t *Tensor) backend() device.Backend {
	if t.storage == nil {
		return nil
	}
	return t.storage.Device
}

// beside returns a contiguous tensor on the device of t. Without zero its
// elements are undefined.
func (t *Tensor) beside(dtype Dtype, shape []int, zero bool) *Tensor {
	return newTensorOn(t.backend(), dtype, shape, zero)
}

// result returns the tensor that an operation is to fill.
func (c *call) result(dtype Dtype, shape []int, zero bool) *Tensor {
	return newTensorOn(c.device, dtype, shape, zero)
}

// newTensorOn is newTensor for any device.
func newTensorOn(on device.Backend, dtype Dtype, shape []int, zero bool) *Tensor {
	if on == nil {
		return newTensor(dtype, shape, zero)
	}
	t := without(on, dtype, shape)
	t.allocateOn(zero)
	t.made()
	return t
}

// without returns a contiguous tensor that has no memory yet.
func without(on device.Backend, dtype Dtype, shape []int) *Tensor {
	l := ContiguousLayout(slices.Clone(shape)...)
	return &Tensor{storage: &memory.Storage{Device: on, Size: checkedLen(shape) * dtype.Size()}, layout: l, dtype: dtype}
}

// allocateOn gives the storage of t, which has none, its memory.
func (t *Tensor) allocateOn(zero bool) {
	if t.storage.Size > 0 {
		memory, err := t.storage.Device.Allocate(t.storage.Size, zero)
		t.orFail("new", err)
		t.storage.Memory = memory
	}
}

// made tells observers that there is a new storage.
func (t *Tensor) made() {
	if t.storage.Size > 0 {
		t.storage.NoteMade()
	}
	if observed() {
		announceAllocated(t.storage)
	}
}

// orFail panics if a device could not do what it was asked to.
func (t *Tensor) orFail(op string, err error) {
	if err != nil {
		failOnDevice(op, describe(t)+" "+t.dtype.String(), t.Device().String(), err)
	}
}

// failOnDevice panics with an error in which errors.Is finds both ErrDevice and the
// device's error.
func failOnDevice(op, operands, name string, err error) {
	fail(fmt.Errorf("%w: %w", ErrDevice, err), op, operands, name+": "+err.Error(), "")
}

// place finds the device that an operation runs on: that of its operands. Single
// numbers on the processor go with any device.
func (c *call) place() {
	if c.op.composite {
		return
	}
	for _, x := range c.in {
		needMemory(x.storage, c.op.name, c.in...)
		if c.device == nil {
			c.device = x.storage.Device
		}
	}
	if c.device == nil {
		return
	}
	for _, x := range c.in {
		if x.storage.Device == c.device || x.storage.Device == nil && x.isNumber() && !x.RequiresGrad() {
			continue
		}
		places := make([]string, len(c.in))
		for i, x := range c.in {
			places[i] = describe(x) + " on " + x.Device().String()
		}
		fail(ErrDevice, c.op.name, strings.Join(places, " x "), "the operands lie on different devices", "copy them to the same device with To")
	}
}

// isNumber reports whether t is a single element, perhaps repeated.
func (t *Tensor) isNumber() bool { return t.Dim() == 0 || t.layout.RepeatsOne() }

// view returns t as its device sees it; a number on the processor as its bits.
func (t *Tensor) view() device.View {
	needMemory(t.storage, "use", t)
	v := device.View{Memory: t.storage.Memory, Type: device.Type(t.dtype), Shape: t.layout.Shape, Strides: t.layout.Strides, Offset: t.layout.Offset}
	if t.storage.Device == nil {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&v.Value)), 8), bytesOf(t.storage)[t.layout.Offset*t.dtype.Size():][:t.dtype.Size()])
		v.Offset = 0
	}
	return v
}

// computeType is the type that a device converts elements to for computing.
func computeType(d Dtype) device.Type { return loops.ComputedIn(device.Type(d)) }

// fillOn calls f with the device of t, which it fills, unless there is nothing to
// do.
func (t *Tensor) fillOn(op string, f func(on device.Backend) error) {
	if t.layout.Len() > 0 {
		t.orFail(op, f(t.storage.Device))
	}
}

func mapOn(op string, compute Dtype, out, x *Tensor, params ...float64) {
	out.fillOn(op, func(on device.Backend) error {
		return on.Map(op, computeType(compute), out.view(), x.view(), params...)
	})
}

func zipOn(op string, compute Dtype, out, x, y *Tensor, params ...float64) {
	out.fillOn(op, func(on device.Backend) error {
		return on.Zip(op, computeType(compute), out.view(), x.view(), y.view(), params...)
	})
}

func reduceOn(op string, compute Dtype, out, x *Tensor, count int, params ...float64) {
	out.fillOn(op, func(on device.Backend) error {
		return on.Reduce(op, computeType(compute), out.view(), x.view(), count, params...)
	})
}

// rowsOn runs an operation along one axis.
func rowsOn(op string, compute Dtype, out, x *Tensor, axis int, params ...float64) {
	out, x = rowsLast(out, x, axis)
	out.fillOn(op, func(on device.Backend) error {
		return on.Rows(op, computeType(compute), out.view(), x.view(), params...)
	})
}

// scatterOn adds runs of x's elements, in row-major order, to sum at the places in at.
func scatterOn(op string, sum, x *Tensor, at []int64, run int) {
	x = x.Detach().To(sum.dtype).Contiguous()
	if x.Len() == 0 {
		return
	}
	sum.fillOn(op, func(on device.Backend) error { return on.Scatter(sum.view(), x.view(), at, run) })
}

// updateManyOn runs one step of an optimizer for several parameters; see package rawtensor.
func updateManyOn(algorithm string, parameters [][]*Tensor, numbers *device.Numbers) {
	views := make([][]device.View, len(parameters))
	for i, tensors := range parameters {
		views[i] = viewsOf(tensors)
	}
	first := parameters[0][0]
	first.orFail(algorithm+" step", first.storage.Device.UpdateMany(algorithm, views, numbers))
	for _, tensors := range parameters {
		for i, t := range tensors {
			if i != 1 { // the gradient is only read
				t.storage.Version.Add(1)
			}
		}
	}
}

// flippedOn copies x with the order along an axis reversed.
func flippedOn(x *Tensor, axis int) *Tensor {
	out := x.beside(x.dtype, x.layout.Shape, false)
	out.fillOn("flip", func(on device.Backend) error {
		v := x.view()
		v.Strides = slices.Clone(v.Strides)
		v.Offset += (v.Shape[axis] - 1) * v.Strides[axis]
		v.Strides[axis] = -v.Strides[axis]
		return on.Map("copy", computeType(x.dtype), out.view(), v)
	})
	return out
}

// moved returns a contiguous copy of t on another device, in the same dtype.
func (t *Tensor) moved(to Device) *Tensor {
	out := newTensorOn(to.backend, t.dtype, t.layout.Shape, false)
	out.assign(t)
	return out
}

// onHost returns t where the processor can read it: t itself, or a copy.
func (t *Tensor) onHost() *Tensor {
	return t.on(nil)
}

// on is onHost for any device.
func (t *Tensor) on(d device.Backend) *Tensor {
	if t.backend() == d {
		return t
	}
	return t.Detach().moved(Device{d})
}

// assignAcross is assign where a device takes part.
func (t *Tensor) assignAcross(x *Tensor) {
	from, to := x.storage.Device, t.storage.Device
	switch {
	case t.layout.Len() == 0:
	case from == to || from == nil && x.isNumber():
		mapOn("copy", x.dtype, t, x)
	case from == nil: // converted and put in order here, then copied as it is
		x = x.inOrder(t.dtype)
		if t.IsContiguous() {
			t.orFail("copy", to.Upload(t.view().Memory, t.layout.Offset*t.dtype.Size(), x.memory()))
			return
		}
		mapOn("copy", t.dtype, t, x.moved(Device{to}))
	default:
		x = x.inOrder(x.dtype)
		host := newTensor(x.dtype, x.layout.Shape, false)
		x.orFail("copy", from.Download(host.memory(), x.view().Memory, x.layout.Offset*x.dtype.Size()))
		t.assign(host)
	}
}

// inOrder returns t, or a copy, contiguous and in a dtype.
func (t *Tensor) inOrder(dtype Dtype) *Tensor {
	if t.dtype == dtype && t.IsContiguous() {
		return t
	}
	return t.converted(dtype)
}

// mustBeHere panics if an operation that only the processor has is called for a tensor
// elsewhere.
func (t *Tensor) mustBeHere(op string) {
	if t.backend() != nil {
		fail(ErrDevice, op, describe(t)+" "+t.dtype.String(), "the elements lie on "+t.Device().String()+", and only the processor can do this", "copy the tensor here with To(tensor.CPU)")
	}
}

// needMemory panics if s, the storage of an operand, was freed.
func needMemory(s *memory.Storage, op string, operands ...*Tensor) {
	if s.Freed() {
		fail(ErrFreed, op, describe(operands...), "the memory of an operand was freed by Free or FreeAfter", "pass tensors that must outlive FreeAfter to keep")
	}
}

// needHost panics if the processor is about to read elements that lie elsewhere.
func needHost(s *memory.Storage) {
	needMemory(s, "read")
	if s.Device != nil {
		fail(ErrDevice, "read", "", "the elements lie on "+s.Device.Name()+", and only the processor can do this", "copy the tensor here with To(tensor.CPU)")
	}
}
