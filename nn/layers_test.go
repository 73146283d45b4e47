package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

func ExampleNewDense() {
	// The elements of x·w grow like the square root of the number of inputs,
	const in, out = 16384, 32
	g := tensor.NewGenerator(0)
	x, w := tensor.With(g).Randn(16, in), tensor.With(g).Randn(in, out)
	fmt.Printf("%.0f, expected %.0f\n", x.Matmul(w).Std().Item(), math.Sqrt(in))
	// so weights are divided by it.
	fmt.Printf("%.0f\n", nn.NewDense(in, out, g).Forward(x).Std().Item())
	// Output:
	// 127, expected 128
	// 1
}

func ExampleTruncNormal() {
	const in = 16384
	std := 1 / math.Sqrt(in)
	g := tensor.NewGenerator(0)
	// PyTorch's bounds a=-3, b=3 are 384 standard deviations here and cut nothing.
	w := tensor.With(g).TruncNormal(0, std, -3, 3, in, 32)
	fmt.Println(w.Abs().Max().Item() > 3*std)
	w = nn.TruncNormal(w, std, 3, g)
	fmt.Println(w.Abs().Max().Item() > 3*std)
	// Output:
	// true
	// false
}

func TestMLPKeepsTheSizeOfActivations(t *testing.T) {
	g := tensor.NewGenerator(4)
	m := nn.NewMLP([]int{256, 256, 256, 256, 256}, nil, g)
	x := tensor.With(g).Randn(64, 256)
	if rms := m.Forward(x).Square().Mean().Sqrt().Item(); rms < 1 || rms > 2 {
		t.Errorf("after four layers the size is %v, want about sqrt(2)", rms)
	}
	if got := nn.NumParameters(m); got != 4*(256*256+256) {
		t.Errorf("%d parameters", got)
	}
}

func TestMLPHasItsActivationBetweenLayers(t *testing.T) {
	m := nn.NewMLP([]int{1, 1, 1}, nil)
	tensor.NoGrad(func() {
		m.Layers[0].Weight.Fill(-2)
		m.Layers[1].Weight.Fill(-3)
		m.Layers[1].Bias.Fill(1)
	})
	for x, want := range map[float64]float64{-5: -3*10 + 1, 5: 1} { // the input may be negative, and so may the output
		if got := m.Forward(tensor.Of([]float64{x})).Item(); got != want {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
}

func TestInitialBiasesOfLinear(t *testing.T) {
	b := nn.NewLinear(25, 10_000, nn.WithBias, tensor.NewGenerator(1)).Bias.Detach()
	if low, high, mean := b.Min().Item(), b.Max().Item(), b.Mean().Item(); low > -0.199 || low < -0.2 || high < 0.199 || high > 0.2 || math.Abs(mean) > 0.01 {
		t.Errorf("from %v to %v with mean %v, want ±1/sqrt(25) and 0", low, high, mean)
	}
}

func TestGains(t *testing.T) {
	for name, want := range map[string]float64{"linear": 1, "sigmoid": 1, "tanh": 1.6666666666666667, "relu": 1.4142135623730951, "leaky_relu": 1.4141428569978354, "selu": 0.75} { // as torch.nn.init.calculate_gain says
		if got := nn.Gain(name); math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if err := tensor.Try(func() { nn.Gain("swish") }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("an activation without a known gain: %v", err)
	}
}

func TestDropoutLeavesOutItsShare(t *testing.T) {
	y := nn.NewDropout(0.2, tensor.NewGenerator(1)).Forward(tensor.Ones(100_000))
	if share := y.Eq(0).Sum().Item() / 1e5; math.Abs(share-0.2) > 0.01 || math.Abs(y.Mean().Item()-1) > 0.01 || y.Max().Item() != 1.25 {
		t.Errorf("%v are left out, the mean is %v and the largest %v, want 0.2, 1 and 1.25", share, y.Mean().Item(), y.Max().Item())
	}
}

// TestBiasOfAnotherDtype is added as Add does it: the result has the wider dtype.
func TestBiasOfAnotherDtype(t *testing.T) {
	x, w := tensor.Ones(1, 2).To(tensor.BFloat16), tensor.Ones(1, 2).To(tensor.BFloat16)
	if y := nn.Affine(x, w, tensor.Of(1./1024)); y.Dtype() != tensor.Float32 || y.Item() != 2+1./1024 {
		t.Errorf("got %v, want 2 + 1/1024 in float32", y)
	}
	if y := nn.Affine(x, w, tensor.Of(1./1024).To(tensor.BFloat16)); y.Dtype() != tensor.BFloat16 || y.Item() != 2 {
		t.Errorf("got %v, want 2 in bfloat16", y)
	}
}

func TestDropoutOfAllAndNothing(t *testing.T) {
	x := tensor.Ones(10)
	if y := nn.NewDropout(1, nil).Forward(x); !tensor.Equal(y, x.Mul(0)) {
		t.Errorf("all: %v", y)
	}
	if y := nn.NewDropout(0, nil).Forward(x); y != x {
		t.Errorf("nothing: %v", y)
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if err := tensor.Try(func() { nn.NewDropout(p, nil) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%g: got %v, want ErrValue", p, err)
		}
	}
}

func TestOrthogonal(t *testing.T) {
	if err := tensor.Try(func() { nn.Orthogonal(tensor.Zeros(3), 1, nil) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a vector: got %v, want ErrShape", err)
	}
	for _, shape := range [][]int{{5, 5}, {3, 7}, {7, 3}, {4, 2, 3}} {
		w := nn.Orthogonal(tensor.Zeros(shape...), 2, tensor.NewGenerator(1)).View(shape[0], -1)
		if w.Size(0) > w.Size(1) {
			w = w.T()
		}
		want := tensor.Eye(w.Size(0)).Mul(4)
		if got := w.Matmul(w.T()); !tensor.AllClose(got, want, 0, 1e-5) {
			t.Errorf("%v: w·wᵀ = %v", shape, got)
		}
	}
}

func TestLossesRefuseShapesThatWouldBroadcast(t *testing.T) {
	x, y := tensor.Ones(4, 1), tensor.Ones(4)
	for name, f := range map[string]func(){
		"mse":           func() { nn.MSE(x, y) },
		"l1":            func() { nn.L1(x, y) },
		"huber":         func() { nn.Huber(x, y, 1) },
		"kl div":        func() { nn.KLDiv(x, y) },
		"bce":           func() { nn.BCEWithLogits(x, y) },
		"a number":      func() { nn.CrossEntropy(tensor.Scalar(1), tensor.Scalar(1)) },
		"cross entropy": func() { nn.CrossEntropy(tensor.Ones(2, 3, 5), tensor.Of([]int{1, 1, 1}, []int{0, 0, 0})) },
		"layer norm":    func() { nn.NewLayerNorm(3).Forward(x) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: got %v, want ErrShape", name, err)
		}
	}
	if err := tensor.Try(func() { nn.Huber(x, x, 0) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a straight line from 0 on: got %v", err)
	}
	if err := tensor.Try(func() { nn.CrossEntropy(tensor.Ones(1, 3), tensor.Of(1.)) }); !errors.Is(err, tensor.ErrDtype) {
		t.Errorf("targets that are fractions: got %v", err)
	}
	if err := tensor.Try(func() { nn.CrossEntropy(tensor.Ones(2, 3), tensor.Of(0, 3)) }); !errors.Is(err, tensor.ErrIndex) {
		t.Errorf("target 3 of 3 classes: got %v", err)
	}
}

// TestNormsRefuseIntegers, whose results would be cut to integers.
func TestNormsRefuseIntegers(t *testing.T) {
	x := tensor.Arange(12).View(3, 4)
	for name, m := range map[string]nn.Module{"layer norm": nn.NewLayerNorm(4), "rms norm": nn.NewRMSNorm(4), "group norm": nn.NewGroupNorm(2, 4), "batch norm": nn.NewBatchNorm(4)} {
		for _, set := range []func(any){nn.Train, nn.Eval} {
			set(m)
			if err := tensor.Try(func() { m.Forward(x) }); !errors.Is(err, tensor.ErrDtype) {
				t.Errorf("%s: got %v, want ErrDtype", name, err)
			}
		}
	}
}

func TestCrossEntropyIgnores(t *testing.T) {
	logits := tensor.With(tensor.NewGenerator(2)).Randn(4, 3).RequireGrad()
	loss := nn.CrossEntropy(logits, tensor.Of(0, -100, 2, -100))
	want := nn.CrossEntropy(logits.Detach().IndexSelect(0, tensor.Of(0, 2)), tensor.Of(0, 2))
	if math.Abs(loss.Item()-want.Item()) > 1e-6 {
		t.Errorf("got %v, want the mean of the others, %v", loss.Item(), want.Item())
	}
	loss.Backward()
	if g := logits.Grad().IndexSelect(0, tensor.Of(1, 3)); g.Abs().Sum().Item() != 0 {
		t.Errorf("ignored rows have gradients: %v", g)
	}
	if all := nn.CrossEntropy(logits, tensor.Full(-100, 4).To(tensor.Int64)); !math.IsNaN(all.Item()) {
		t.Errorf("nothing left: got %v, want NaN", all.Item())
	}
	grid := nn.CrossEntropy(tensor.Zeros(2, 5, 3), tensor.With(tensor.Int64).Zeros(2, 3), nn.EachLoss)
	if fmt.Sprint(grid.Shape()) != "[2 3]" || math.Abs(grid.At(0, 0)-math.Log(5)) > 1e-6 {
		t.Errorf("classes on axis 1: %v", grid)
	}
}

func TestNormsOfSmallFloatsAreRoundedOnce(t *testing.T) {
	x := tensor.With(tensor.NewGenerator(3)).Randn(4, 64).To(tensor.BFloat16)
	layer, rms := nn.NewLayerNorm(64), nn.NewRMSNorm(64)
	for _, f := range []func(*tensor.Tensor) *tensor.Tensor{layer.Forward, rms.Forward} {
		want := f(x.To(tensor.Float32)).To(tensor.BFloat16)
		if got := f(x); !tensor.Equal(got, want) {
			t.Errorf("bfloat16 differs from float32 rounded once")
		}
	}
}

func TestRecomputeReplaysDropout(t *testing.T) {
	grad := func(recompute bool) (*tensor.Tensor, *tensor.Tensor) {
		g := tensor.NewGenerator(8)
		drop := nn.NewDropout(0.5, g)
		w := nn.Parameter(tensor.With(tensor.NewGenerator(9)).Randn(8, 8))
		f := func(x *tensor.Tensor) *tensor.Tensor { return drop.Forward(x.Matmul(w)).ReLU() }
		x := tensor.With(tensor.NewGenerator(10)).Randn(4, 8)
		if recompute {
			x = nn.Recompute(f, x)
		} else {
			x = f(x)
		}
		x.Sum().Backward()
		return w.Grad(), tensor.With(g).Rand(3)
	}
	plain, next := grad(false)
	again, nextAgain := grad(true)
	if !tensor.Equal(plain, again) || !tensor.Equal(next, nextAgain) {
		t.Errorf("gradient %v and %v; the generator goes on with %v and %v", plain, again, next, nextAgain)
	}
}

func TestDeepNetworkIsTheSameForEverySegment(t *testing.T) {
	var want *tensor.Tensor
	for segment := range 6 {
		model := nn.NewDeepNetwork(8, 5, tensor.NewGenerator(1))
		model.Segment = segment
		model.Forward(tensor.With(tensor.NewGenerator(2)).Randn(4, 8)).Sum().Backward()
		got := model.Layers[0].Weight.Grad()
		if want == nil {
			want = got
		}
		if !tensor.Equal(got, want) {
			t.Errorf("segment %d: gradient differs", segment)
		}
	}
	if n := nn.NumParameters(nn.NewDeepNetwork(8, 3)); n != 192 {
		t.Errorf("%d parameters, want 192", n)
	}
}

// Micro-batches add up to the gradient of the whole batch.
func TestGradientAccumulation(t *testing.T) {
	grad := func(parts int) *tensor.Tensor {
		model := nn.NewDeepNetwork(16, 3, tensor.NewGenerator(1))
		x := tensor.With(tensor.NewGenerator(2)).Randn(64, 16)
		for _, micro := range x.Chunk(0, parts) {
			model.Forward(micro).Square().Mean().Div(float64(parts)).Backward()
		}
		return model.Layers[1].Weight.Grad()
	}
	if whole, parts := grad(1), grad(4); !tensor.AllClose(whole, parts, 1e-4, 1e-7) {
		t.Errorf("the gradients differ by up to %v", whole.Sub(parts).Abs().Max().Item())
	}
}

func TestAutocastKeepsActivationsSmall(t *testing.T) {
	m := nn.NewMLP([]int{8, 8, 8}, nil)
	tensor.Autocast(tensor.BFloat16, func() {
		if y := m.Forward(tensor.Ones(2, 8)); y.Dtype() != tensor.BFloat16 {
			t.Errorf("output %v", y.Dtype())
		}
	})
	if y := m.Forward(tensor.Ones(2, 8)); y.Dtype() != tensor.Float32 {
		t.Errorf("outside: %v", y.Dtype())
	}
}

// TestLayersWithoutFeatures: a layer with no input features gives its bias, and has
// gradients, if empty ones.
func TestLayersWithoutFeatures(t *testing.T) {
	for name, layer := range map[string]nn.Module{
		"linear": nn.NewLinear(0, 3, nn.WithBias), "without bias": nn.NewLinear(0, 3, nn.NoBias), "dense": nn.NewDense(0, 3), "8-bit": nn.NewFP8Linear(0, 3, nn.WithBias),
		"no outputs": nn.NewLinear(2, 0, nn.WithBias),
	} {
		for _, lead := range [][]int{{}, {2}, {2, 5}} {
			in := 0
			if name == "no outputs" {
				in = 2
			}
			x := tensor.Ones(append(lead, in)...).RequireGrad()
			y := layer.Forward(x)
			if y.IsFinite().All().Item() != 1 {
				t.Errorf("%s of %v gives %v", name, x.Shape(), y)
			}
			y.Sum().Backward()
			for _, p := range append(nn.Parameters(layer), tensor.Named("x", x)) {
				if g := p.Tensor.Grad(); g == nil || !slices.Equal(g.Shape(), p.Tensor.Shape()) {
					t.Errorf("%s of %v: %s of shape %v has gradient %v", name, x.Shape(), p.Name, p.Tensor.Shape(), g)
				}
			}
		}
	}
}

func TestClassWeightMistakes(t *testing.T) {
	logits, target := tensor.Zeros(2, 3), tensor.Of([]int{0, 2})
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { nn.CrossEntropy(logits, target, nn.ClassWeights(tensor.Ones(2))) }, "nn: cross entropy: weights of shape [2] for 3 classes"},
		{func() { nn.CrossEntropy(logits, tensor.Zeros(2, 3), nn.ClassWeights(tensor.Ones(3, 1))) }, "nn: cross entropy: weights of shape [3 1] for 3 classes"},
		{func() { nn.NLL(logits, tensor.Of([]int{0, 3})) }, "nn: nll: target 3, number 1, is not one of the 3 classes"},
		{func() { nn.CrossEntropy(logits, tensor.Zeros(2)) }, "nn: cross entropy: the target is float32"},
	} {
		if err := tensor.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
