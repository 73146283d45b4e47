//go:build linux && cgo

package gpu

import (
	"fmt"
	"os"
	"testing"
)

// The source is the key under which compiled kernels are kept, so it must be the
// same in every process.
func TestSourceIsAlwaysTheSame(t *testing.T) {
	for range 20 {
		if makeSource() != kernelSource {
			t.Fatal("two sources of the same kernels differ")
		}
	}
}

// needNVRTC has a real NVRTC compile for a test, which is skipped where there is none.
func needNVRTC(t *testing.T) {
	t.Helper()
	forget()
	t.Cleanup(forget)
	cuda.version = 13000 // whichever compiler is there
	if _, err := cuda.openNVRTC(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// TestKernelsCompile gives the kernels to a real NVRTC, which needs no device: for 9.0, and with LECTERN_LONG=1 for all
// kinds of devices.
func TestKernelsCompile(t *testing.T) {
	needNVRTC(t)
	for _, architecture := range supportedArchitectures() {
		if architecture != 90 && os.Getenv("LECTERN_LONG") == "" {
			continue // the source asks for none of their differences
		}
		t.Run(fmt.Sprint("sm_", architecture), func(t *testing.T) {
			code, err := compile("cuda:0", kernelSource, target{architecture, false})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes of code", len(code))
		})
	}
}
