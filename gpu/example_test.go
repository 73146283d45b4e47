package gpu_test

import (
	"fmt"

	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/tensor"
)

// The same program runs with a GPU and without one.
func ExampleGetDevice() {
	d := gpu.GetDevice(0)
	x := tensor.With(d, tensor.BFloat16).Randn(1024, 1024)
	y := x.Matmul(x.T())
	fmt.Println(y.Device(), gpu.MemoryAllocated(0), gpu.Why())
}

// How long a product takes, by the device's own clock.
func ExampleTime() {
	d := gpu.GetDevice(0)
	x := tensor.With(d).Randn(4096, 4096)
	x.Matmul(x).Free() // loads the kernels
	took, err := gpu.Time(0, func() error {
		x.Matmul(x).Free()
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f TFLOP/s\n", 2*4096*4096*4096/took.Seconds()/1e12)
}
