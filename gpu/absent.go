//go:build !(linux && cgo)

package gpu

import (
	"runtime"
	"time"

	"github.com/lectern-go/lectern/internal/device"
)

func init() {
	device.Register("cuda", func(int) (device.Backend, error) { return nil, Why() })
}

// Why returns an error that says in one sentence why there is no CUDA device.
func Why() error {
	if runtime.GOOS != "linux" {
		return &noDevice{"CUDA is only used on Linux, and this is " + runtime.GOOS}
	}
	return &noDevice{"this program was built without cgo (CGO_ENABLED=0, or no C compiler was found)"}
}

// DeviceCount returns 0.
func DeviceCount() int { return 0 }

// Libraries says why it looked for none.
func Libraries() string { return Why().Error() }

// Properties returns the error of Why.
func Properties(index int) (DeviceProperties, error) { return DeviceProperties{}, Why() }

// Synchronize returns the error of Why.
func Synchronize(index int) error { return Why() }

// MemoryAllocated returns 0.
func MemoryAllocated(index int) int { return 0 }

// MaxMemoryAllocated returns 0.
func MaxMemoryAllocated(index int) int { return 0 }

// ResetMaxMemoryAllocated does nothing.
func ResetMaxMemoryAllocated(index int) {}

// MemoryReserved returns 0.
func MemoryReserved(index int) int { return 0 }

// MemoryInfo returns the error of Why.
func MemoryInfo(index int) (free, total int, err error) { return 0, 0, Why() }

// EmptyCache returns the error of Why.
func EmptyCache(index int) error { return Why() }

// Event is a mark in the work of a device; there is none here.
type Event struct{}

// NewEvent returns the error of Why.
func NewEvent(index int) (*Event, error) { return nil, Why() }

// Record returns the error of Why.
func (e *Event) Record() error { return Why() }

// Wait returns the error of Why.
func (e *Event) Wait() error { return Why() }

// Done returns the error of Why.
func (e *Event) Done() (bool, error) { return false, Why() }

// Since returns the error of Why.
func (e *Event) Since(earlier *Event) (time.Duration, error) { return 0, Why() }
