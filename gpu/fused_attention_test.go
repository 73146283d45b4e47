//go:build linux && cgo

package gpu

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// attentionCase is one attention, and which kernels are to do it.
type attentionCase struct {
	batch, heads, keyHeads, queries, keys, features, values int
	causal, mask                                            bool
	layout                                                  int // of attentionLayouts
	dtype                                                   tensor.Dtype
	forward, backward                                       string // the last kernel, as far as that is said
}

func (a attentionCase) String() string {
	s := fmt.Sprintf("%s %dx%dx%dx%d, %dx%dx%d", a.dtype, a.batch, a.heads, a.queries, a.features, a.keyHeads, a.keys, a.values)
	if a.causal {
		s += ", causal"
	}
	if a.mask {
		s += ", masked"
	}
	return fmt.Sprint(s, ", layout ", a.layout)
}

// attentionLayouts make a matrix [batch heads rows features] of so many numbers.
var attentionLayouts = []func(of func(n int) *tensor.Tensor, b, h, t, d int) *tensor.Tensor{
	func(of func(n int) *tensor.Tensor, b, h, t, d int) *tensor.Tensor { // as a projection leaves it
		return of(b*h*t*d).View(b, t, h, d).Transpose(1, 2)
	},
	func(of func(n int) *tensor.Tensor, b, h, t, d int) *tensor.Tensor { // without gaps
		return of(b*h*t*d).View(b, h, t, d)
	},
	func(of func(n int) *tensor.Tensor, b, h, t, d int) *tensor.Tensor { // a part of a cache
		return of(b*h*(t+3)*d).View(b, h, t+3, d).Narrow(2, 0, t)
	},
	func(of func(n int) *tensor.Tensor, b, h, t, d int) *tensor.Tensor { // columns
		return of(b*h*t*d).View(b, h, d, t).Transpose(2, 3)
	},
}

// run computes attention and its gradients of inputs that are made the same each time.
func (a attentionCase) run(dev tensor.Device, dtype tensor.Dtype) (results []*tensor.Tensor, kernels [2][]string) {
	make := func(h, t, d int, seed uint64) *tensor.Tensor {
		of := func(n int) *tensor.Tensor {
			return numbers(tensor.Float64, n, false, seed).Mul(0.4).To(a.dtype).To(dtype).To(dev)
		}
		return attentionLayouts[a.layout](of, a.batch, h, t, d)
	}
	q, k, v := make(a.heads, a.queries, a.features, 1), make(a.keyHeads, a.keys, a.features, 2), make(a.keyHeads, a.keys, a.values, 3)
	settings := tensor.AttentionSettings{Causal: a.causal}
	if a.mask {
		settings.Mask = numbers(tensor.Float32, a.queries*a.keys, false, 4).View(a.queries, a.keys).Gt(-2).To(dev)
	}
	attentionKernels(dev)
	tensor.NoGrad(func() {
		results = append(results, tensor.Attention(q, k, v, settings))
		kernels[0] = attentionKernels(dev)
	})
	in := []*tensor.Tensor{q.RequireGrad(), k.RequireGrad(), v.RequireGrad()}
	out := tensor.Attention(q, k, v, settings)
	out.Mul(make(a.heads, a.queries, a.values, 5)).Sum().Backward()
	kernels[1] = attentionKernels(dev)
	results = append(results, out.Detach())
	for _, x := range in {
		results = append(results, x.Grad())
	}
	return results, kernels
}

func TestAttentionAgrees(t *testing.T) {
	fakeCard(t)
	bf16, f16, f32 := tensor.BFloat16, tensor.Float16, tensor.Float32
	for _, a := range []attentionCase{
		{1, 2, 2, 70, 70, 16, 16, true, false, 0, bf16, "attend_bf16_64", "attend_keys_bf16_64"},
		{2, 4, 2, 5, 131, 8, 24, true, false, 1, f16, "attend_f16_64", "attend_keys_f16_64"},
		{1, 2, 1, 66, 20, 72, 72, false, false, 2, bf16, "attend_bf16_128", "attend_keys_bf16_128"},
		{1, 1, 1, 9, 16, 16, 16, false, false, 3, bf16, "", ""},
		{1, 2, 1, 20, 20, 20, 12, true, false, 0, bf16, "", ""},
		{2, 2, 1, 5, 66, 16, 16, true, true, 0, bf16, "", ""},
		{1, 2, 1, 66, 67, 20, 20, true, true, 0, f32, "attend_any_64", "attend_any_keys_64"},
		{2, 2, 2, 3, 65, 72, 128, false, false, 3, f32, "attend_any_128", "attend_any_keys_128"},
		{1, 2, 1, 3, 5, 136, 136, false, false, 0, f32, "", ""},
		{2, 4, 2, 1, 300, 64, 64, true, false, 2, bf16, "decode_bf16_64", "attend_keys_bf16_64"},
		{1, 2, 1, 1, 129, 128, 128, true, false, 2, f32, "decode_f32_128", "attend_any_keys_128"},
		{1, 2, 1, 1, 40, 64, 64, true, false, 1, f16, "decode_f16_64", ""},
	} {
		a.agrees(t, GetDevice(0))
	}
}

// Where the kernels don't fit the device, or there are none, it goes in steps.
func TestAttentionInSteps(t *testing.T) {
	for _, setting := range []string{"FAKECUDA_CAPABILITY=75", "FAKECUDA_SHARED=49152"} {
		t.Run(setting, func(t *testing.T) {
			fakeCard(t, setting)
			for _, dtype := range []tensor.Dtype{tensor.BFloat16, tensor.Float32} {
				a := attentionCase{1, 2, 1, 6, 9, 16, 16, true, false, 0, dtype, "", ""}
				a.agrees(t, GetDevice(0))
			}
		})
	}
}

func TestRealGPUAttentionAgrees(t *testing.T) {
	realCard(t)
	bf16, f16, f32 := tensor.BFloat16, tensor.Float16, tensor.Float32
	for _, dtype := range []tensor.Dtype{bf16, f16, f32} {
		for _, d := range []int{40, 64, 80, 128} {
			for i, size := range [][2]int{{1, 1}, {1, 65}, {63, 63}, {64, 64}, {65, 65}, {77, 201}, {127, 127}, {128, 129}, {129, 129}, {255, 255}, {257, 300}, {513, 513}} {
				heads := []int{1, 2, 6}[i%3]
				a := attentionCase{2, heads, []int{1, 1, 2}[i%3], size[0], size[1], d, d, i%2 == 0, i%5 == 4, i % 3, dtype, "", ""}
				name := map[tensor.Dtype]string{bf16: "bf16_", f16: "f16_"}[dtype]
				if a.mask {
					name = ""
				}
				if name == "" {
					name = "any_"
				}
				width := "64"
				if d > 64 {
					width = "128"
				}
				a.forward, a.backward = "attend_"+name+width, "attend_keys_"+name+width
				if name == "any_" {
					a.backward = "attend_any_keys_" + width
				}
				if a.queries == 1 && !a.mask && (d == 64 || d == 128) {
					a.forward = "decode_" + suffixes[dtype] + "_" + width
				}
				if a.mask && dtype != f32 {
					a.forward, a.backward = "", "" // rounded in the end
				}
				a.agrees(t, GetDevice(0))
			}
		}
	}
	for _, a := range []attentionCase{
		{1, 32, 8, 1, 8192, 128, 128, true, false, 2, bf16, "decode_bf16_128", ""},
		{8, 12, 12, 1, 1152, 64, 64, true, false, 2, bf16, "decode_bf16_64", ""},
		{3, 4, 2, 300, 300, 64, 32, true, false, 0, bf16, "attend_bf16_64", "attend_keys_bf16_64"},
		{1, 2, 2, 130, 130, 96, 96, false, false, 3, bf16, "", ""},
	} {
		a.agrees(t, GetDevice(0))
	}
}

// agrees compares with the processor in float64, and with the device itself once more: results don't depend on the
// run.
func (a attentionCase) agrees(t *testing.T, dev tensor.Device) {
	t.Helper()
	want, _ := a.run(tensor.CPU, tensor.Float64)
	got, kernels := a.run(dev, a.dtype)
	again, _ := a.run(dev, a.dtype)
	// Of bfloat16 and float16 the factors of products are rounded, too, as PyTorch's are.
	allowed := map[tensor.Dtype]float64{tensor.BFloat16: 6e-3, tensor.Float16: 8e-4, tensor.Float32: 2e-6}[a.dtype]
	for i, what := range []string{"result", "recorded result", "dL/dq", "dL/dk", "dL/dv"} {
		g, w := got[i].To(tensor.CPU).To(tensor.Float64).Floats(), want[i].Floats()
		var wrong, size, largest, most float64
		for j := range w {
			wrong, size = wrong+(g[j]-w[j])*(g[j]-w[j]), size+w[j]*w[j]
			largest, most = max(largest, math.Abs(g[j]-w[j])), max(most, math.Abs(w[j]))
		}
		if err := math.Sqrt(wrong / size); !(err <= allowed) && size > 1e-9 { // of a single key they are 0
			t.Errorf("%s: %s differs by %.2g of its norm, %.2g allowed", a, what, err, allowed)
		}
		if !(largest <= 3*allowed*max(most, 1)) {
			t.Errorf("%s: an element of %s differs by %.2g, the largest is %.2g", a, what, largest, most)
		}
		if !slices.Equal(got[i].To(tensor.CPU).RawBytes(), again[i].To(tensor.CPU).RawBytes()) {
			t.Errorf("%s: %s is another the second time", a, what)
		}
		if i < 2 && slices.Contains(kernels[0], a.forward) && !slices.Equal(got[i].Strides(), want[i].Strides()) {
			t.Errorf("%s: %s has strides %v, want %v", a, what, got[i].Strides(), want[i].Strides())
		}
	}
	for i, want := range []string{a.forward, a.backward} {
		if want != "" && !slices.Contains(kernels[i], want) {
			t.Errorf("%s went by %q, want %s", a, kernels[i], want)
		}
	}
}

// lastKernelOf is the name of the kernel that a device was given last: which way an operation went.
func lastKernelOf(dev tensor.Device) string {
	if dev.IsCPU() {
		return ""
	}
	c, err := open(0)
	if err != nil || c.lastKernel.Load() == nil {
		return ""
	}
	return c.lastKernel.Load().name
}

// attentionKernels returns which of the kernels of attention were launched since it was last called.
func attentionKernels(dev tensor.Device) (names []string) {
	if c, err := open(0); err == nil && !dev.IsCPU() {
		c.kernels.functions.Range(func(name, _ any) bool {
			if s := name.(string); strings.HasPrefix(s, "attend_") || strings.HasPrefix(s, "decode_") {
				names = append(names, s)
				c.kernels.functions.Delete(name)
			}
			return true
		})
	}
	return names
}
