package bench

import (
	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// gpuModels are a language model of the size of GPT-2 small, with sizes D, layers, heads, T, B and the vocabulary,
// and what its step is made of, forward and backward: attention with sizes batch, heads, T and d, and rows and
// columns.
func gpuModels(memory int) []gpuCase {
	if memory < 36<<30 {
		return nil
	}
	return []gpuCase{
		{What: "attention bf16", Sizes: []int{8, 12, 1024, 64}, Calls: 20}, // PyTorch takes cuDNN's, or else its flash
		{What: "attention bf16 flash", Sizes: []int{8, 12, 1024, 64}, Calls: 20, wanted: 1},
		{What: "attention bf16 flash", Sizes: []int{2, 16, 4096, 64}, Calls: 10, wanted: 1},
		{What: "attention bf16 flash", Sizes: []int{4, 16, 1024, 128}, Calls: 20, wanted: 0.85},
		{What: "attention bf16 flash", Sizes: []int{2, 16, 4096, 128}, Calls: 10, wanted: 0.85},
		{What: "attention fp32", Sizes: []int{4, 12, 1024, 64}, Calls: 10},
		{What: "norm bf16", Sizes: []int{8192, 768}, Calls: 20, wanted: 1},
		{What: "norm fp32", Sizes: []int{65536, 4096}, Calls: 5, wanted: 1},
		{What: "swiglu bf16", Sizes: []int{8192, 2048}, Calls: 20, wanted: 1},
		{What: "loss bf16", Sizes: []int{8192, 50304}, Calls: 5, wanted: 1},
		{What: "lm step", Sizes: []int{768, 12, 12, 1024, 8, 50304}, Calls: 5, wanted: 1},
		{What: "lm prefill", Sizes: []int{768, 12, 12, 1024, 8, 50304}, Calls: 5, wanted: 1},
		{What: "lm decode", Sizes: []int{768, 12, 12, 1024, 1, 50304}, Calls: 50, wanted: 1},
	}
}

// operation is forward and backward of one operation.
func (c gpuCase) operation(d tensor.Device, what string, dtype tensor.Dtype) (call func(), some []float64, held []*tensor.Tensor) {
	n := c.Sizes
	make := func(factor int, shape ...int) *tensor.Tensor {
		rows := 1
		for _, size := range shape[:len(shape)-1] {
			rows *= size
		}
		x := gpuNumbers(d, rows, shape[len(shape)-1], factor).To(dtype).View(shape...).RequireGrad()
		held = append(held, x)
		return x
	}
	var f func() *tensor.Tensor
	switch what {
	case "attention": // as projections leave queries, keys and values
		q, k, v := make(10368889, n[0], n[2], n[1], n[3]), make(7368787, n[0], n[2], n[1], n[3]), make(5368709, n[0], n[2], n[1], n[3])
		f = func() *tensor.Tensor {
			return tensor.Attention(q.Transpose(1, 2), k.Transpose(1, 2), v.Transpose(1, 2), tensor.AttentionSettings{Causal: true})
		}
	case "norm":
		x, w := make(10368889, n...), make(7368787, n[1])
		f = func() *tensor.Tensor { return x.RMSNorm(w, 1e-5) }
	case "swiglu":
		x, y := make(10368889, n...), make(7368787, n...)
		f = func() *tensor.Tensor { return x.SwiGLU(y) }
	case "loss":
		x := make(10368889, n...)
		target := tensor.Arange(float64(n[0])).Mul(7919).Remainder(n[1]).To(tensor.Int64).To(d)
		f = func() (loss *tensor.Tensor) {
			tensor.Autocast(dtype, func() { loss = nn.CrossEntropy(x, target) })
			return loss
		}
	}
	some = firstNumbers(f())
	return func() {
		tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) {
			f().Sum().Backward()
			for _, x := range held {
				x.ZeroGrad()
			}
		})
	}, some, held
}

// languageModel trains a step, reads a prompt, or decodes a token behind one.
func (c gpuCase) languageModel(d tensor.Device, what string) (call func(), some []float64, held []*tensor.Tensor) {
	D, layers, heads, T, B, V := c.Sizes[0], c.Sizes[1], c.Sizes[2], c.Sizes[3], c.Sizes[4], c.Sizes[5]
	gpu.AllowTF32(false)
	targets := []tensor.Target{d}
	if what != "step" {
		targets = append(targets, tensor.BFloat16) // before it goes there: the device never has the float32 weights
	}
	m := nn.To(transformer.New(transformer.Config{Vocabulary: V, Context: 2 * T, Layers: layers, Width: D, Heads: heads}), targets...)
	ids := tensor.Arange(float64(B*(T+1))).Mul(7919).Remainder(V).To(tensor.Int64).View(B, T+1)
	free := func(f func()) func() {
		return func() { tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { f() }) }
	}
	if what == "step" {
		x, y := ids.Narrow(1, 0, T).Contiguous().To(d), ids.Narrow(1, 1, T).Contiguous().To(d)
		opt := optim.NewAdamW(nn.Parameters(m), 1e-4, optim.WeightDecay(0.01))
		step := func() *tensor.Tensor {
			var loss *tensor.Tensor
			tensor.Autocast(tensor.BFloat16, func() { loss = m.Loss(x, y) })
			loss.Backward()
			opt.Step()
			opt.ZeroGrad(true)
			return loss
		}
		free(func() { some = firstNumbers(step()) })()
		free(func() { step() })()
		return free(func() { step() }), some, nil
	}
	cache := m.NewCache(B, 2*T)
	prompt, token := ids.Narrow(1, 0, T).Contiguous(), ids.Narrow(1, 0, 1).Contiguous()
	prefill := free(func() {
		cache.Length = 0
		m.Next(prompt, cache)
	})
	prefill()
	if what == "prefill" {
		return prefill, nil, nil
	}
	decode := free(func() {
		cache.Length = T
		m.Next(token, cache)
	})
	decode()
	return decode, nil, nil
}
