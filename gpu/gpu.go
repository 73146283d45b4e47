package gpu

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// DeviceProperties is what the driver says about a device.
type DeviceProperties struct {
	Name                     string // such as "NVIDIA H100 80GB HBM3"
	TotalMemory              int    // bytes
	Multiprocessors          int
	ThreadsPerMultiprocessor int
	Major, Minor             int // compute capability
	ClockHz, MemoryClockHz   int // the highest; some newer drivers say 0
	MemoryBusBits            int
	L2Cache                  int // bytes
	DriverMajor, DriverMinor int // the CUDA version of the driver
}

// String writes the properties on one line.
func (p DeviceProperties) String() string {
	return fmt.Sprintf("%s: compute capability %d.%d, %d multiprocessors, %s of memory, driver for CUDA %d.%d",
		p.Name, p.Major, p.Minor, p.Multiprocessors, humanize.Bytes(p.TotalMemory), p.DriverMajor, p.DriverMinor)
}

// Available reports whether there is a CUDA device. [Why] says why not.
func Available() bool { return Why() == nil }

// GetDevice returns a CUDA device, if there is one with this number, otherwise the
// processor, so that the same program runs with and without a GPU:
//
//	x := tensor.With(gpu.GetDevice(0)).Randn(4, 8)
//
// [Why] says why it is the processor.
func GetDevice(index int) tensor.Device {
	if index < 0 || index >= DeviceCount() {
		return tensor.CPU
	}
	d, err := tensor.FindDevice(fmt.Sprintf("cuda:%d", index))
	if err != nil {
		return tensor.CPU
	}
	return d
}

// Time returns how long the device works on the operations of f, by the device's own
// clock and without the time before the first of them begins.
func Time(index int, f func() error) (time.Duration, error) {
	start, err := NewEvent(index)
	if err != nil {
		return 0, err
	}
	end, err := NewEvent(index)
	if err != nil {
		return 0, err
	}
	if err := start.Record(); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := end.Record(); err != nil {
		return 0, err
	}
	return end.Since(start)
}

var tf32, fastFloat8 atomic.Bool

// AllowTF32 lets products of float32 round their operands to TF32, which has 10
// bits of mantissa instead of 23, on devices that are faster for it (compute
// capability 8.0 and later). It is off at first, as in PyTorch.
func AllowTF32(allowed bool) { tf32.Store(allowed) }

// TF32Allowed reports what AllowTF32 was last called with.
func TF32Allowed() bool { return tf32.Load() }

// AllowFastFloat8 lets products of float8 add up with fewer bits than float32 has,
// which is faster on some devices. It is off at first.
func AllowFastFloat8(allowed bool) { fastFloat8.Store(allowed) }

// FastFloat8Allowed reports what AllowFastFloat8 was last called with.
func FastFloat8Allowed() bool { return fastFloat8.Load() }
