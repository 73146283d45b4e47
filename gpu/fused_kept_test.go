//go:build linux && cgo

package gpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor"
)

// keptLengths are rows of one pack, of what a warp and each size of a block just hold and one pack more, and of no
// whole packs, which go in steps.
var keptLengths = map[tensor.Dtype][]int{
	tensor.Float32:  {4, 5, 132, 1024, 1028, 2052},
	tensor.BFloat16: {8, 12, 264, 1032},
	tensor.Float16:  {8},
}

// normsAgree compares norms and all their gradients with the processor.
func normsAgree(t *testing.T, dev tensor.Device) {
	t.Run("whole", func(t *testing.T) {
		normsOfRowsAgree(t, dev, keptLengths)
		x, w := numbers(tensor.BFloat16, 6*768, false, 1).View(6, 768).To(dev).RequireGrad(), tensor.With(tensor.BFloat16, dev).Ones(768).RequireGrad()
		y := x.RMSNorm(w, 1e-5)
		ran(t, "rms_norm:ROW_TYPE=bfloat16,ROW_THREADS=32,ROW_PACKS=3")
		y.Backward(tensor.WithGrad(tensor.OnesLike(y)))
		ran(t, "sum_of_blocks") // and dL/dw came with it
	})
	t.Run("in steps", func(t *testing.T) {
		inSteps(t, "layer norm", "layer norm gradient", "rms norm", "rms norm gradient")
		normsOfRowsAgree(t, dev, map[tensor.Dtype][]int{tensor.Float32: {4, 768}, tensor.BFloat16: {8, 768}})
	})
}

func normsOfRowsAgree(t *testing.T, dev tensor.Device, lengths map[tensor.Dtype][]int) {
	for dtype, list := range lengths {
		for i, n := range list {
			rows := 9
			if i == 2 && dtype == tensor.Float32 { // more than there are warps at a time on the largest cards
				rows = 4*4*132 + 6
			}
			x := numbers(dtype, rows*n, false, uint64(n)).View(3, rows/3, n).Mul(0.5).Add(2)
			w, b := numbers(dtype, n, false, 7), numbers(dtype, n, false, 8)
			g := numbers(dtype, rows*n, false, 9).View(3, rows/3, n)
			for name, f := range map[string]func(x, w, b *tensor.Tensor) *tensor.Tensor{
				"layer norm": func(x, w, b *tensor.Tensor) *tensor.Tensor { return x.LayerNorm([]int{n}, w, b, 1e-5) },
				"rms norm":   func(x, w, b *tensor.Tensor) *tensor.Tensor { return x.RMSNorm(w, 1e-5) },
			} {
				name = fmt.Sprint(name, " of ", dtype, " ", n)
				var y [3]*tensor.Tensor
				var grads [3][]*tensor.Tensor
				for i, on := range []tensor.Device{tensor.CPU, dev, dev} { // the device twice
					in := []*tensor.Tensor{x.Clone().To(on).RequireGrad(), w.Clone().To(on).RequireGrad(), b.Clone().To(on).RequireGrad()}
					y[i] = f(in[0], in[1], in[2])
					y[i].Backward(tensor.WithGrad(g.To(on)))
					for _, x := range in {
						if grad := x.Grad(); grad != nil {
							grads[i] = append(grads[i], grad)
						}
					}
					y[i] = y[i].Detach()
				}
				allowed := 16.0
				if dtype != tensor.Float32 {
					allowed = 2
				}
				near(t, name, y[1], y[0], allowed, 8)
				same(t, name+", again", y[2], y[1].To(tensor.CPU), 0)
				for k, what := range []string{"dx", "dw", "db"}[:len(grads[0])] {
					scale := 8.0
					if k > 0 { // sums of as many numbers
						scale *= math.Sqrt(float64(rows))
					}
					near(t, what+" of "+name, grads[1][k], grads[0][k], 2*allowed, scale)
					same(t, what+" of "+name+", again", grads[2][k], grads[1][k].To(tensor.CPU), 0)
				}
			}
		}
	}
	// Some of the gradients alone, and one through a view whose rows have gaps.
	x, w, g := numbers(tensor.Float32, 40, false, 1).View(5, 8), numbers(tensor.Float32, 8, false, 2), numbers(tensor.Float32, 40, false, 3).View(5, 8)
	for name, f := range map[string]func(x, w, g *tensor.Tensor) *tensor.Tensor{
		"dw alone": func(x, w, g *tensor.Tensor) *tensor.Tensor {
			w = w.Clone().RequireGrad()
			x.LayerNorm([]int{8}, w, nil, 1e-5).Backward(tensor.WithGrad(g))
			return w.Grad()
		},
		"dx alone": func(x, w, g *tensor.Tensor) *tensor.Tensor {
			x = x.Clone().RequireGrad()
			x.RMSNorm(w, 1e-5).Backward(tensor.WithGrad(g))
			return x.Grad()
		},
		"dx of a part": func(x, w, g *tensor.Tensor) *tensor.Tensor {
			x = x.Clone().RequireGrad()
			x.Narrow(1, 2, 4).RMSNorm(w.Narrow(0, 4, 4), 1e-5).Backward(tensor.WithGrad(g.Narrow(1, 1, 4)))
			return x.Grad()
		},
		"dx of dx": func(x, w, g *tensor.Tensor) *tensor.Tensor {
			x = x.Clone().RequireGrad()
			x.LayerNorm([]int{8}, w, nil, 1e-5).Mul(g).Sum().Backward(tensor.CreateGraph())
			first := x.Grad()
			x.ZeroGrad()
			first.Square().Sum().Backward()
			return x.Grad()
		},
	} {
		near(t, name, f(x.To(dev), w.To(dev), g.To(dev)), f(x, w, g), 32, 8)
	}
}

// softmaxAgrees compares rows that registers hold, and some that they don't, with the processor.
func softmaxAgrees(t *testing.T, dev tensor.Device) {
	lengths := map[tensor.Dtype][]int{tensor.Float32: append([]int{16384, 16388}, keptLengths[tensor.Float32]...), tensor.BFloat16: keptLengths[tensor.BFloat16]}
	for dtype, list := range lengths {
		for _, n := range list {
			rows := 5
			x := numbers(dtype, rows*n, false, uint64(n)).View(rows, n).Mul(3)
			x.Select(0, 1).Narrow(0, 0, n/2).Fill(math.Inf(-1))
			x.Select(0, 2).Fill(math.Inf(-1))
			x.Select(0, 3).Narrow(0, n-1, 1).Fill(math.NaN())
			for name, f := range map[string]func(x *tensor.Tensor, axis int) *tensor.Tensor{"softmax": (*tensor.Tensor).Softmax, "log softmax": (*tensor.Tensor).LogSoftmax} {
				name = fmt.Sprint(name, " of ", dtype, " ", n)
				got, want := f(x.To(dev), 1), f(x, 1)
				scale := 1.0
				if name[0] == 'l' {
					scale = 16
				}
				near(t, name, got, want, 4, scale)
				same(t, name+", again", f(x.To(dev), 1), got.To(tensor.CPU), 0)
			}
		}
	}
	large := tensor.Of(1e30, -1e30, 3e30, 0).To(tensor.Float32).View(1, 4)
	same(t, "softmax of large numbers", large.To(dev).Softmax(1), large.Softmax(1), 0)
	numbers(tensor.Float32, 64, false, 1).View(2, 32).To(dev).Softmax(1)
	ran(t, "softmax_kept")
	numbers(tensor.Float32, 62, false, 1).View(2, 31).To(dev).Softmax(1)
	ran(t, "softmax_f32")
}

// Rows are shared by as many threads as hold them, and refused beyond.
func TestKeptRows(t *testing.T) {
	for _, row := range []struct {
		t             device.Type
		count         int
		threads, rows int
		constants     string
	}{
		{device.Float32, 4, 128, 4, "float,ROW_THREADS=32,ROW_PACKS=1"},
		{device.Float32, 1024, 128, 4, "float,ROW_THREADS=32,ROW_PACKS=8"},
		{device.Float32, 1028, 128, 1, "float,ROW_THREADS=128,ROW_PACKS=3"},
		{device.Float32, 2048, 128, 1, "float,ROW_THREADS=128,ROW_PACKS=4"},
		{device.Float32, 2052, 256, 1, "float,ROW_THREADS=256,ROW_PACKS=3"},
		{device.Float32, 8192, 512, 1, "float,ROW_THREADS=512,ROW_PACKS=4"},
		{device.BFloat16, 1024, 128, 4, "bfloat16,ROW_THREADS=32,ROW_PACKS=4"},
		{device.Float16, 1032, 128, 1, "float16,ROW_THREADS=128,ROW_PACKS=2"},
		{device.Float32, 8196, 0, 0, ""},
		{device.Float32, 6, 0, 0, ""},
		{device.BFloat16, 12, 0, 0, ""},
		{device.Float64, 16, 0, 0, ""},
		{device.Float32, 0, 0, 0, ""},
	} {
		k, err := keepRows("norm", row.t, row.count, 512)
		want := keptRows{kernel: "norm:ROW_TYPE=" + row.constants, threads: row.threads, rows: row.rows}
		if row.threads == 0 {
			want = keptRows{}
		}
		if k != want || (err != nil) != (row.threads == 0) {
			t.Errorf("rows of %d %s: %+v, %v; want %+v", row.count, namesOfTypes[row.t], k, err, want)
		}
	}
}
