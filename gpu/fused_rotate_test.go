//go:build linux && cgo

package gpu

import (
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/tensor"
)

func TestRotatePairsAgree(t *testing.T) {
	fakeCard(t)
	rotateAgrees(t, GetDevice(0))
}

func TestRealGPURotatePairsAgree(t *testing.T) {
	realCard(t)
	rotateAgrees(t, GetDevice(0))
}

func rotateAgrees(t *testing.T, dev tensor.Device) {
	for _, row := range []struct {
		name  string
		shape []int // x as it lies in memory
		view  func(x *tensor.Tensor) *tensor.Tensor
		table []int
		whole bool // a kernel does it
	}{
		{"heads", []int{2, 5, 3, 16}, nil, []int{5, 1, 8}, true},
		{"heads, transposed", []int{2, 5, 3, 16}, func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(1, 2) }, []int{5, 8}, true},
		{"one row", []int{8}, nil, []int{4}, true},
		{"a table for each", []int{3, 7, 24}, nil, []int{3, 7, 12}, true},
		{"a part of rows", []int{4, 32}, func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 8, 16) }, []int{4, 8}, true},
		{"from where 16 bytes don't begin", []int{4, 32}, func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 2, 16) }, []int{4, 8}, false},
		{"short rows", []int{4, 6}, nil, []int{4, 3}, false},
		{"columns", []int{16, 5}, func(x *tensor.Tensor) *tensor.Tensor { return x.T() }, []int{5, 8}, false},
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float64} {
			length := 1
			for _, n := range row.shape {
				length *= n
			}
			x := numbers(dtype, length, false, 1).View(row.shape...)
			angle := tensor.With(tensor.Float64).Randn(row.table...)
			cos, sin := angle.Cos().To(tensor.Float32), angle.Sin().To(tensor.Float32)
			turn := func(x, cos, sin *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
				x = x.RequireGrad()
				y := x
				if row.view != nil {
					y = row.view(x)
				}
				y = y.RotatePairs(cos, sin)
				y.Mul(y).Sum().Backward()
				return y.Detach(), x.Grad()
			}
			want, wantGrad := turn(x, cos, sin)
			moved := x.Detach().To(dev)
			got, gotGrad := turn(moved, cos.To(dev), sin.To(dev))
			same(t, row.name, got, want, 1)
			same(t, row.name+", gradient", gotGrad, wantGrad, 4)
			tensor.NoGrad(func() {
				view := moved.Detach()
				if row.view != nil {
					view = row.view(view)
				}
				view.RotatePairs(cos.To(dev), sin.To(dev))
			})
			if kernel := lastKernelOf(dev); (kernel == "rotate_"+suffixes[dtype]) != (row.whole && dtype != tensor.Float64) {
				t.Errorf("%s of %s went by %s", row.name, dtype, kernel)
			}
		}
	}
}

var suffixes = map[tensor.Dtype]string{tensor.Float32: "f32", tensor.BFloat16: "bf16", tensor.Float16: "f16"}

// The table of rotary positions goes to a device once, whatever FreeAfter gives back.
func TestRotaryTableGoesToTheDeviceOnce(t *testing.T) {
	fakeCard(t)
	dev := GetDevice(0)
	a := nn.To(transformer.NewAttention(16, 2, 1, transformer.NewRoPE(8, 12, 1e4)), dev)
	x := tensor.Randn(1, 5, 16)
	want := a.Forward(x.To(dev)).To(tensor.CPU)
	for range 3 {
		tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
			same(t, "attention", a.Forward(x.To(dev)), want, 0)
		})
	}
	t.Setenv("FAKECUDA_FAULT", "cuMemcpyHtoDAsync_v2:1:1") // what would be uploaded fails
	y := tensor.With(dev).Ones(1, 5, 16)
	before := MemoryAllocated(0)
	tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { a.Forward(y) })
	if after := MemoryAllocated(0); after != before {
		t.Errorf("%d bytes before and %d after", before, after)
	}
}
