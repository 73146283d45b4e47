package gpu

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
)

// ErrOutOfMemory matches errors (errors.Is) that say that a device is full, even after
// all unused memory was freed.
var ErrOutOfMemory = device.ErrOutOfMemory

// ErrUnsupported matches errors (errors.Is) that say that an operation does not exist
// on the device.
var ErrUnsupported = device.ErrUnsupported

// ErrNoDevice matches errors (errors.Is) that say why there is no device.
var ErrNoDevice = errors.New("no CUDA device")

// ErrLost matches errors (errors.Is) after a failure from which the driver does not
// recover in the same process, such as a kernel that wrote outside its memory.
var ErrLost = errors.New("the device is lost to this process")

// Error is a failure that the driver or one of its libraries reported.
type Error struct {
	Device  string // such as "cuda:0"
	Op      string // what was being done, such as "copy from the device"
	Library string // "CUDA", "cuBLASLt" or "NVRTC"
	Code    int    // the library's number
	Name    string // the library's name for it
	Text    string // the library's description

	Requested, Free, Total int    // bytes, if memory ran out
	Lost                   bool   // no operation works any more in this process
	Log                    string // the kernel compiler's messages
	hint                   string
}

func (e *Error) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "gpu: %s on %s: ", e.Op, e.Device)
	if e.Requested > 0 {
		fmt.Fprintf(&s, "out of device memory: %s requested, %s free of %s", humanize.Bytes(e.Requested), humanize.Bytes(e.Free), humanize.Bytes(e.Total))
	} else {
		fmt.Fprintf(&s, "%s (%s %d)", e.Name, e.Library, e.Code)
		if e.Text != "" {
			s.WriteString(": " + e.Text)
		}
	}
	if e.hint != "" {
		s.WriteString("; " + e.hint)
	}
	if e.Log != "" {
		s.WriteString("\n" + e.Log)
	}
	return s.String()
}

// Is makes errors.Is find the kinds of errors.
func (e *Error) Is(target error) bool {
	return target == ErrOutOfMemory && e.Requested > 0 || target == ErrLost && e.Lost
}

// lostError is the error of all operations after the device was lost.
type lostError struct {
	device, op string
	first      *Error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("gpu: %s on %s: the device was lost before: %v", e.op, e.device, e.first)
}

// Unwrap returns the failure that lost the device.
func (e *lostError) Unwrap() error { return e.first }

// noDevice says why there is no device, in one sentence.
type noDevice struct{ why string }

func (e *noDevice) Error() string { return "no CUDA device: " + e.why }

// Is makes errors.Is find ErrNoDevice.
func (e *noDevice) Is(target error) bool { return target == ErrNoDevice }
