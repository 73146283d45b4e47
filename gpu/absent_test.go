//go:build !(linux && cgo)

package gpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

func TestNoCUDAInThisBuild(t *testing.T) {
	if Available() || DeviceCount() != 0 || !GetDevice(0).IsCPU() || MemoryAllocated(0) != 0 || MaxMemoryAllocated(0) != 0 || MemoryReserved(0) != 0 {
		t.Error("there is a device")
	}
	ResetMaxMemoryAllocated(0)
	_, find := tensor.FindDevice("cuda")
	_, properties := Properties(0)
	_, _, memory := MemoryInfo(0)
	_, event := NewEvent(0)
	_, took := Time(0, func() error { return nil })
	for _, err := range []error{Why(), find, properties, memory, event, took, Synchronize(0), EmptyCache(0)} {
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "no CUDA device: ") {
			t.Errorf("%v is no ErrNoDevice", err)
		}
	}
	if !strings.HasPrefix(Libraries(), "no CUDA device: ") {
		t.Error(Libraries())
	}
}
