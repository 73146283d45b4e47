//go:build linux && cgo

package gpu_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/internal/fakecuda"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// These tests use a device as programs do: models, optimizers, data, checkpoints.
// Each runs on the fake driver, and on a real device if there is one.

func onDevices(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	t.Run("fake", func(t *testing.T) {
		if gpu.Available() {
			t.Skip("a real device is in use")
		}
		fakecuda.Use(t)
		gpu.Forget()
		t.Cleanup(gpu.Forget)
		f(t, find(t))
	})
	t.Run("real", func(t *testing.T) {
		if err := gpu.Why(); err != nil {
			t.Skip(err)
		}
		f(t, find(t))
	})
}

func find(t *testing.T) tensor.Device {
	d, err := tensor.FindDevice("cuda")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func close(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}

// network is a model with everything in it that lessons train.
type network struct {
	Embed *nn.Embedding
	Norm  *nn.LayerNorm
	Drop  *nn.Dropout
	MLP   *nn.MLP
	Out   *nn.Linear
}

func newNetwork(g *tensor.Generator) *network {
	return &network{nn.NewEmbedding(7, 6, g), nn.NewLayerNorm(6), nn.NewDropout(0.2, g),
		nn.NewMLP([]int{6, 8, 5}, nn.GELU{}, g), nn.NewLinear(5, 7, nn.WithBias, g)}
}

func (n *network) Forward(ids *tensor.Tensor) *tensor.Tensor {
	return n.Out.Forward(n.MLP.Forward(n.Drop.Forward(n.Norm.Forward(n.Embed.Forward(ids)))))
}

// TestRealGPUTraining and the same on the fake driver: every optimizer goes the
// way it goes on the processor.
func TestRealGPUTraining(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		for name, make := range map[string]func(p []tensor.NamedTensor) *optim.Optimizer{
			"sgd": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewSGD(p, 0.1) },
			"momentum": func(p []tensor.NamedTensor) *optim.Optimizer {
				return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Nesterov(), optim.WeightDecay(0.01))
			},
			"adagrad": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdaGrad(p, 0.1) },
			"lecture": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewLectureAdaGrad(p, 0.1) },
			"rmsprop": func(p []tensor.NamedTensor) *optim.Optimizer {
				return optim.NewRMSProp(p, 0.01, optim.Momentum(0.5), optim.Centered())
			},
			"adam":  func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdam(p, 0.01, optim.AMSGrad()) },
			"adamw": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdamW(p, 0.01) },
		} {
			run := func(d tensor.Device) (losses []float64, model *network) {
				g := tensor.NewGenerator(3)
				model = nn.To(newNetwork(g), d)
				o := make(nn.Trainable(model))
				ids := tensor.With(tensor.NewGenerator(4)).Randint(0, 7, 4, 5)
				for range 4 {
					o.ZeroGrad(true)
					logits := model.Forward(ids.To(d))
					loss := nn.CrossEntropy(logits.View(-1, 7), ids.Reshape(-1).To(d), nn.LabelSmoothing(0.1))
					loss.Backward()
					optim.ClipGradNorm(nn.Trainable(model), 1)
					o.Step()
					losses = append(losses, loss.Item())
				}
				return losses, model
			}
			here, mine := run(tensor.CPU)
			there, its := run(d)
			for i := range here {
				if !close(there[i], here[i], 1e-4) {
					t.Errorf("%s: losses %v there, %v here", name, there, here)
					break
				}
			}
			for i, p := range nn.StateDict(its) {
				if p.Tensor.Device() != d || !tensor.AllClose(p.Tensor, nn.StateDict(mine)[i].Tensor, 1e-2, 1e-3) {
					t.Errorf("%s: %s is\n%v there,\n%v here", name, p.Name, p.Tensor, nn.StateDict(mine)[i].Tensor)
				}
			}
		}
	})
}

// TestRealGPUResume: a run on a device goes on bit for bit from its checkpoint,
// which the processor can read as well.
func TestRealGPUResume(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		store := checkpoint.Store{Dir: t.TempDir()}
		type run struct {
			model *network
			o     *optim.Optimizer
		}
		start := func(d tensor.Device) run {
			model := nn.To(newNetwork(tensor.NewGenerator(5)), d)
			nn.Eval(model) // dropout has a generator of its own
			return run{model, optim.NewAdamW(nn.Trainable(model), 0.01)}
		}
		ids := tensor.With(tensor.NewGenerator(6)).Randint(0, 7, 3, 4)
		steps := func(r run, n int) {
			for range n {
				r.o.ZeroGrad(true)
				nn.CrossEntropy(r.model.Forward(ids.To(d)).View(-1, 7), ids.Reshape(-1).To(d)).Backward()
				r.o.Step()
			}
		}
		parts := func(r run) checkpoint.Parts {
			return checkpoint.Parts{"model": nn.Part(r.model), "optimizer": r.o}
		}
		first := start(d)
		steps(first, 3)
		if _, err := store.Save(3, parts(first)); err != nil {
			t.Fatal(err)
		}
		steps(first, 3)
		second := start(d)
		if _, err := store.Resume(parts(second)); err != nil {
			t.Fatal(err)
		}
		if m := second.o.State(second.model.Out.Weight, "exp_avg"); m.Device() != d {
			t.Errorf("the optimizer's state is on %s", m.Device())
		}
		steps(second, 3)
		for i, p := range nn.StateDict(first.model) {
			if !tensor.Equal(p.Tensor, nn.StateDict(second.model)[i].Tensor) {
				t.Errorf("%s differs", p.Name)
			}
		}
		third := start(tensor.CPU)
		if _, err := store.Resume(parts(third)); err != nil {
			t.Fatal(err)
		}
		if !third.model.Out.Weight.Device().IsCPU() {
			t.Error("the checkpoint of a device moved a model")
		}
	})
}

// TestRealGPUMixedPrecision: autocast and loss scaling work on a device.
func TestRealGPUMixedPrecision(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		for _, dtype := range []tensor.Dtype{tensor.BFloat16, tensor.Float16} {
			run := func(d tensor.Device) (losses []float64) {
				model := nn.To(newNetwork(tensor.NewGenerator(8)), d)
				nn.Eval(model)
				o := optim.NewSGD(nn.Trainable(model), 0.1)
				scaler := optim.NewGradScaler(optim.ScalerSettings{})
				ids := tensor.With(tensor.NewGenerator(9)).Randint(0, 7, 3, 4)
				for range 3 {
					o.ZeroGrad(true)
					var loss *tensor.Tensor
					tensor.Autocast(dtype, func() {
						loss = nn.CrossEntropy(model.Forward(ids.To(d)).View(-1, 7), ids.Reshape(-1).To(d))
					})
					scaler.Scale(loss).Backward()
					scaler.Step(o)
					scaler.Update()
					losses = append(losses, loss.Item())
				}
				return losses
			}
			here, there := run(tensor.CPU), run(d)
			for i := range here {
				if !close(there[i], here[i], 0.02) {
					t.Errorf("%s: losses %v there, %v here", dtype, there, here)
				}
			}
		}
		model := nn.To(nn.NewFP8Linear(16, 16, nn.WithBias, tensor.NewGenerator(1)), d)
		mine := nn.NewFP8Linear(16, 16, nn.WithBias, tensor.NewGenerator(1))
		x := tensor.With(tensor.NewGenerator(2)).Randn(16, 16)
		there, here := model.Forward(x.To(d)), mine.Forward(x)
		there.Square().Sum().Backward()
		here.Square().Sum().Backward()
		if !tensor.AllClose(there, here, 1e-4, 1e-4) || !tensor.AllClose(model.Weight.Grad(), mine.Weight.Grad(), 1e-3, 1e-3) {
			t.Errorf("8-bit layers differ:\n%v\n%v", there, here)
		}
	})
}

// TestRealGPUEinops: named dimensions are the same on a device.
func TestRealGPUEinops(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		x, y := tensor.Randn(2, 3, 8), tensor.Randn(2, 5, 8)
		for name, f := range map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
			"einsum": func(x, y *tensor.Tensor) *tensor.Tensor {
				return einops.Einsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", x, y)
			},
			"rearrange": func(x, _ *tensor.Tensor) *tensor.Tensor {
				return einops.Rearrange(x, "... (heads hidden) -> ... heads hidden", einops.Axis("heads", 2))
			},
			"reduce": func(x, _ *tensor.Tensor) *tensor.Tensor {
				return einops.Reduce(x, "batch seq hidden -> batch hidden", einops.Mean)
			},
			"repeat": func(x, _ *tensor.Tensor) *tensor.Tensor {
				return einops.Repeat(x, "b s h -> b (n s) h", einops.Axis("n", 2))
			},
		} {
			here, there := f(x, y), f(x.To(d), y.To(d))
			if there.Device() != d || !tensor.AllClose(there, here, 1e-5, 1e-5) {
				t.Errorf("%s: %v there, %v here", name, there, here)
			}
		}
	})
}

// TestRealGPUPrefetch: batches arrive whole and in order while others are fetched.
func TestRealGPUPrefetch(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		ids := make([]int32, 1000)
		for i := range ids {
			ids[i] = int32(i)
		}
		loader := func() *data.Loader {
			l, err := data.NewLoader(data.TokensOf(ids), 4, 8, 11)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		plain, p := loader(), data.Prefetch(loader(), 3, data.ToDevice(d))
		defer p.Close()
		for range 20 {
			want, err := plain.Next()
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Next()
			if err != nil {
				t.Fatal(err)
			}
			if got.X.Device() != d || !slices.Equal(got.X.Ints(), want.X.Ints()) || !slices.Equal(got.Y.Ints(), want.Y.Ints()) {
				t.Fatal(fmt.Sprint("batch ", want.At, " differs"))
			}
		}
	})
}

// TestRealGPULongRun: thousands of steps need no more memory than a few.
func TestRealGPULongRun(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		steps := 10000
		if t.Name() == "TestRealGPULongRun/fake" {
			steps = 300
		}
		w := tensor.With(d).Normal(0, 0.1, 64, 64).RequireGrad()
		x := tensor.With(d).Randn(32, 64)
		o := optim.NewSGD([]tensor.NamedTensor{{Name: "w", Tensor: w}}, 1e-3)
		early := 0
		for step := range steps {
			tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) {
				o.ZeroGrad(true)
				x.Matmul(w).Square().Mean().Backward()
				o.Step()
			})
			if step == 10 {
				early = d.Allocated()
			}
		}
		if now := d.Allocated(); now > early {
			t.Errorf("%d bytes after %d steps, %d after 10", now, steps, early)
		}
		if v := w.Abs().Max().Item(); math.IsNaN(v) {
			t.Error("the weights are no numbers any more")
		}
	})
}
