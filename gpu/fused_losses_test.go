//go:build linux && cgo

package gpu

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// inSteps runs a test without the kernels for operations as a whole, which then go in steps.
func inSteps(t *testing.T, ops ...string) {
	t.Helper()
	for _, op := range ops {
		whole, known := fusions[op]
		if !known {
			t.Fatalf("%q is no operation that has kernels as a whole", op)
		}
		delete(fusions, op)
		t.Cleanup(func() { fusions[op] = whole })
	}
}

// ran checks that the kernel that was launched last is one of a name.
func ran(t *testing.T, name string) {
	t.Helper()
	c, err := open(0)
	mustNot(t, err)
	if last := c.lastKernel.Load(); last == nil || !strings.HasPrefix(last.name, name) {
		t.Errorf("%+v was launched last, want %s", last, name)
	}
}

// crossEntropyAgrees compares rows of lengths around those of packs, of what a thread reads at once and of parts, with
// the processor: where each row is aligned, and where hardly any is.
func crossEntropyAgrees(t *testing.T, dev tensor.Device) {
	t.Run("whole", func(t *testing.T) {
		crossEntropiesAgree(t, dev)
		x := numbers(tensor.BFloat16, 2*9, false, 1).View(2, 9).To(dev).RequireGrad()
		y := x.CrossEntropy(1, tensor.Of([]int64{1, 8}), -1)
		ran(t, "cross_entropy_bf16")
		y.Backward(tensor.WithGrad(tensor.OnesLike(y)))
		ran(t, "cross_entropy_gradient_bf16")
	})
	t.Run("in steps", func(t *testing.T) {
		inSteps(t, "cross entropy", "cross entropy gradient")
		crossEntropiesAgree(t, dev)
	})
}

func crossEntropiesAgree(t *testing.T, dev tensor.Device) {
	for _, row := range []struct {
		dtype   tensor.Dtype
		allowed float64 // last places of a row's largest element, and of gradients up to 1
	}{{tensor.Float32, 8}, {tensor.BFloat16, 1}, {tensor.Float16, 1}, {tensor.Float64, 4}} {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 65, 127, 128, 129, 500, 513, 1025, 4095, 4097, 8200} {
			if n > 600 && row.dtype == tensor.Float64 {
				continue
			}
			for _, autocast := range []bool{false, true} {
				if autocast && n > 20 {
					continue
				}
				rows := 5
				x := numbers(row.dtype, rows*n, false, uint64(n)).View(rows, n)
				at := make([]int64, rows)
				for i := range at {
					at[i] = int64(i * 7 % n)
				}
				at[1] = -100
				if n > 1 {
					at[0], at[2] = 0, int64(n-1)
				}
				var losses, grads [3]*tensor.Tensor
				for i, on := range []tensor.Device{tensor.CPU, dev, dev} { // the device twice
					run := func() {
						x := x.Clone().To(on).RequireGrad()
						losses[i] = x.CrossEntropy(1, tensor.Of(at), -100)
						if i == 2 {
							losses[i].Mean().Mul(3).Backward()
						} else {
							losses[i].Sum().Mul(3.0 / float64(rows)).Backward()
						}
						grads[i] = x.Grad()
					}
					if autocast {
						tensor.Autocast(tensor.BFloat16, run)
					} else {
						run()
					}
				}
				name := fmt.Sprint("cross entropy of ", row.dtype, " ", n, ", autocast ", autocast)
				near(t, name, losses[1], losses[0].Detach(), row.allowed, 8)
				near(t, "gradient of "+name, grads[1], grads[0], row.allowed, 1)
				same(t, name+", again", losses[2], losses[1].Detach().To(tensor.CPU), 0)
				near(t, "gradient of "+name+", again", grads[2], grads[1].To(tensor.CPU), 1, 1)
			}
		}
	}
	// Hidden classes, rows of nothing else, and numbers whose differences are too large for an exponential.
	none := math.Inf(-1)
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16} {
		x := tensor.With(tensor.Float64).Of([]float64{none, 1, none, 2, 0}, []float64{none, none, none, none, none}, []float64{1, math.NaN(), 2, 3, 4}, []float64{1e30, -1e30, 3e30, 1e4, 0}).To(dtype)
		target := tensor.Of([]int64{1, 0, 0, 2})
		same(t, "cross entropy of what is not finite", x.To(dev).CrossEntropy(1, target, -1), x.CrossEntropy(1, target, -1), 4)
	}
	// Other axes, and rows that are parts of longer ones, go in steps.
	x := numbers(tensor.Float32, 6*40, false, 5).View(6, 40)
	same(t, "cross entropy along columns", x.To(dev).CrossEntropy(0, tensor.Arange(0, 40, 1).Remainder(6).To(tensor.Int64), -1), x.CrossEntropy(0, tensor.Arange(0, 40, 1).Remainder(6).To(tensor.Int64), -1), 8)
	part := func(x *tensor.Tensor) *tensor.Tensor {
		return x.Narrow(1, 3, 20).CrossEntropy(1, tensor.Arange(0, 6, 1).To(tensor.Int64), -1)
	}
	same(t, "cross entropy of parts", part(x.To(dev)), part(x), 8)
}
