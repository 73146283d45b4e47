//go:build linux && cgo

package gpu

import (
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// activationsAgree compares activations whose gradients are computed as a whole with the processor.
func activationsAgree(t *testing.T, dev tensor.Device) {
	rows := map[string]struct {
		whole, kernel string
		allowed       float64
		f             func(x, y *tensor.Tensor) *tensor.Tensor
	}{
		"swiglu":  {"swiglu gradients", "swiglu_gradients_", 8, (*tensor.Tensor).SwiGLU},
		"gelu":    {"gelu gradient", "zip_", 16, func(x, y *tensor.Tensor) *tensor.Tensor { return x.GELU().Mul(y) }},
		"softmax": {"softmax gradient", "softmax_", 16, func(x, y *tensor.Tensor) *tensor.Tensor { return x.Softmax(-1).Mul(y) }},
	}
	compare := func(t *testing.T, name string, steps bool) {
		row := rows[name]
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float64} {
			for _, n := range []int{1, 3, 4, 7, 8, 9, 255 * 8, 256*8 + 1, 1032} {
				x, y, g := numbers(dtype, n, false, 1).View(1, n), numbers(dtype, n, false, 2).View(1, n), numbers(dtype, n, false, 3).View(1, n)
				var grads [3][2]*tensor.Tensor
				for i, on := range []tensor.Device{tensor.CPU, dev, dev} { // the device twice
					x, y := x.Clone().To(on).RequireGrad(), y.Clone().To(on).RequireGrad()
					row.f(x, y).Backward(tensor.WithGrad(g.To(on)))
					grads[i] = [2]*tensor.Tensor{x.Grad(), y.Grad()}
				}
				allowed := row.allowed
				if dtype != tensor.Float32 && dtype != tensor.Float64 {
					allowed = 4 // steps round each
				}
				for k, what := range []string{"dx", "dy"} {
					name := fmt.Sprint(what, " of ", name, " of ", n, " ", dtype)
					near(t, name, grads[1][k], grads[0][k], allowed, 8)
					same(t, name+", again", grads[2][k], grads[1][k].To(tensor.CPU), 0)
				}
			}
		}
		if !steps {
			x, y := numbers(tensor.BFloat16, 32, false, 1).View(2, 16).To(dev).RequireGrad(), numbers(tensor.BFloat16, 32, false, 2).View(2, 16).To(dev)
			if name == "swiglu" {
				y.RequireGrad()
			}
			out := row.f(x, y)
			out.Backward(tensor.WithGrad(tensor.OnesLike(out)))
			ran(t, row.kernel)
		}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) { compare(t, name, false) })
		t.Run(name+" in steps", func(t *testing.T) {
			inSteps(t, row.whole)
			compare(t, name, true)
		})
	}
	// One of the gradients alone, of a view, and of a gradient.
	x, y := numbers(tensor.Float32, 48, false, 1).View(6, 8), numbers(tensor.Float32, 48, false, 2).View(6, 8)
	for name, f := range map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
		"x alone": func(x, y *tensor.Tensor) *tensor.Tensor {
			x = x.Clone().RequireGrad()
			x.SwiGLU(y).Sum().Backward()
			return x.Grad()
		},
		"gate alone": func(x, y *tensor.Tensor) *tensor.Tensor {
			y = y.Clone().RequireGrad()
			x.SwiGLU(y).Sum().Backward()
			return y.Grad()
		},
		"transposed": func(x, y *tensor.Tensor) *tensor.Tensor {
			x, y = x.Clone().RequireGrad(), y.Clone().RequireGrad()
			x.T().SwiGLU(y.T().Contiguous()).Sum().Backward()
			return x.Grad().Add(y.Grad())
		},
		"softmax along columns": func(x, y *tensor.Tensor) *tensor.Tensor {
			x = x.Clone().RequireGrad()
			x.Softmax(0).Mul(y).Sum().Backward()
			return x.Grad()
		},
		"second": func(x, y *tensor.Tensor) *tensor.Tensor {
			x = x.Clone().RequireGrad()
			x.SwiGLU(y).GELU().Softmax(1).Mul(y).Sum().Backward(tensor.CreateGraph())
			first := x.Grad()
			x.ZeroGrad()
			first.Square().Sum().Backward()
			return x.Grad()
		},
	} {
		near(t, name, f(x.To(dev), y.To(dev)), f(x, y), 64, 8)
	}
}
