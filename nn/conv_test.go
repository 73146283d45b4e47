package nn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

func ExampleNewConv2d() {
	c := nn.NewConv2d(3, 16, 5, nn.Windows{Stride: 2, Padding: 2}, nn.WithBias)
	fmt.Println(c.Forward(tensor.Ones(8, 3, 32, 32)).Shape())
	// Output: [8 16 16 16]
}

// TestConvolutionCosts: a convolution is a product of matrices, and what is counted is what its comment says.
func TestConvolutionCosts(t *testing.T) {
	for _, w := range []nn.Windows{{}, {Stride: 2, Padding: 1}, {Groups: 2}, {Padding: 2, Dilation: 2, Groups: 4}} {
		c := nn.NewConv2d(4, 8, 3, w, nn.NoBias)
		x := tensor.Ones(5, 4, 9, 7).RequireGrad()
		var y *tensor.Tensor
		costs := accounting.Count(func() { y = c.Forward(x); y.Sum().Backward() })
		windows := y.Size(2) * y.Size(3)
		want := 2 * 5 * 8 * windows * 4 / max(w.Groups, 1) * 9
		if forward, backward := costs.Forward.Matmul, costs.Backward.Matmul; forward != want || backward != 2*want {
			t.Errorf("%+v: %d and %d FLOPs, want 2·5·8·%d·4/%d·9 = %d, and twice that", w, forward, backward, windows, max(w.Groups, 1), want)
		}
		if sums := costs.Forward.FLOPs - want; sums != y.Len() { // those of y.Sum()
			t.Errorf("%+v: %d FLOPs beside the product", w, sums-y.Len())
		}
	}
}

func TestInitialValuesOfConvolutions(t *testing.T) {
	c := nn.NewConv1d(40, 500, 10, nn.Windows{Groups: 4}, nn.WithBias, tensor.NewGenerator(1))
	for name, p := range map[string]*tensor.Tensor{"weight": c.Weight, "bias": c.Bias} { // uniform in ±1/sqrt(10·10)
		low, high := p.Detach().Min().Item(), p.Detach().Max().Item()
		if low < -0.1 || low > -0.099 || high > 0.1 || high < 0.099 || !p.RequiresGrad() {
			t.Errorf("%s: from %v to %v, want ±0.1", name, low, high)
		}
	}
	if got := fmt.Sprint(nn.StateDict(c)); got != "weight [500 10 10] float32\nbias   [500] float32" {
		t.Errorf("the state is %s", got)
	}
}

func TestWindowsThatDoNotFit(t *testing.T) {
	x := tensor.Ones(2, 4, 5)
	conv := func(w nn.Windows, shape ...int) func() {
		return func() { nn.Convolve(x, tensor.Ones(shape...), nil, w) }
	}
	for says, f := range map[string]func(){
		"nn: new conv: 3 groups don't divide 4 and 6 channels":                                                 func() { nn.NewConv1d(4, 6, 3, nn.Windows{Groups: 3}, nn.NoBias) },
		"nn: convolve: x has shape [2 4 5] and the weight [6 3 3], with 1 groups":                              conv(nn.Windows{}, 6, 3, 3),
		"nn: convolve: x has shape [2 4 5] and the weight [6 2 3 3], with 2 groups":                            conv(nn.Windows{Groups: 2}, 6, 2, 3, 3),
		"nn: convolve: x has shape [2 4 5] and the weight [5 2 3], with 2 groups":                              conv(nn.Windows{Groups: 2}, 5, 2, 3),
		"nn: convolve: a window spans 7 positions and axis 2 of x has 5 with its padding":                      conv(nn.Windows{Dilation: 3}, 6, 4, 3),
		"nn: convolve: windows of [3] with {Stride:-1 Padding:0 Dilation:0 Groups:0}":                          conv(nn.Windows{Stride: -1}, 6, 4, 3),
		"nn: convolve: windows of [0] with":                                                                    conv(nn.Windows{}, 6, 4, 0),
		"nn: convolve: the bias has shape [1] and the weight [6 4 3]":                                          func() { nn.Convolve(x, tensor.Ones(6, 4, 3), tensor.Ones(1), nn.Windows{}) },
		"nn: max pool: x has shape [2 4 5] for windows of [2 2] with":                                          func() { (&nn.MaxPool{Kernel: []int{2, 2}}).Forward(x) },
		"nn: max pool: x has shape [2 4 5] for windows of [2]":                                                 func() { (&nn.MaxPool{Kernel: []int{2}, Windows: nn.Windows{Groups: 2}}).Forward(x) },
		"nn: max pool: x has shape [2 4] for windows of []":                                                    func() { (&nn.MaxPool{}).Forward(tensor.Ones(2, 4)) },
		"nn: max pool: x has shape [2 4 5] for windows of [3] with {Stride:0 Padding:2":                        func() { (&nn.MaxPool{Kernel: []int{3}, Windows: nn.Windows{Padding: 2}}).Forward(x) },
		"nn: new group norm: 3 groups don't divide 4 channels":                                                 func() { nn.NewGroupNorm(3, 4) },
		"nn: group norm: 3 groups don't divide the channels of x, [2 4 5]":                                     func() { (&nn.GroupNorm{Groups: 3}).Forward(x) },
		"nn: group norm: x has shape [2 4 5], with other channels than the layer's [6]":                        func() { nn.NewGroupNorm(3, 6).Forward(x) },
		"nn: batch norm: x has shape [4]; give [B C ...]":                                                      func() { nn.NewBatchNorm(4).Forward(tensor.Ones(4)) },
		"nn: batch norm: x has shape [1 4]: a single value of each channel has no variance; give more samples": func() { nn.NewBatchNorm(4).Forward(tensor.Ones(1, 4)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("got  %v\nwant %s", err, says)
		}
	}
}

// TestPaddingIsNeverTheLargest: not even where numbers have no infinity.
func TestPaddingIsNeverTheLargest(t *testing.T) {
	for _, d := range []tensor.Dtype{tensor.Float64, tensor.Float16, tensor.Float8E4M3, tensor.Float8E5M2, tensor.Int64, tensor.Uint8} {
		x := tensor.Of(0., 2, 3, 1).To(d).Reshape(1, 1, 4)
		got := (&nn.MaxPool{Kernel: []int{2}, Windows: nn.Windows{Padding: 1}}).Forward(x).Floats()
		if fmt.Sprint(got) != "[0 3 1]" {
			t.Errorf("%s: %v, want [0 3 1]", d, got)
		}
	}
	for _, d := range []tensor.Dtype{tensor.Float32, tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8} {
		x := tensor.Of(-5., -7).To(d).Reshape(1, 1, 2)
		got := (&nn.MaxPool{Kernel: []int{2}, Windows: nn.Windows{Stride: 1, Padding: 1}}).Forward(x).Floats()
		if fmt.Sprint(got) != "[-5 -5 -7]" {
			t.Errorf("%s below 0: %v, want [-5 -5 -7]", d, got)
		}
	}
	x := tensor.Of(false, true).Reshape(1, 1, 2)
	got := (&nn.MaxPool{Kernel: []int{2}, Windows: nn.Windows{Stride: 1, Padding: 1}}).Forward(x).Floats()
	if fmt.Sprint(got) != "[0 1 1]" {
		t.Errorf("bools: %v, want [0 1 1]", got)
	}
}

// TestBatchNormRuns: the running means take up a share of each batch in training, no more in use, and once where a
// forward pass is run again; they are saved with the model.
func TestBatchNormRuns(t *testing.T) {
	n := nn.NewBatchNorm(2)
	x := tensor.Of([]float64{1, 10}, []float64{3, 30}, []float64{5, 80})
	n.Forward(x)
	near := func(what string, got *tensor.Tensor, want ...float64) {
		t.Helper()
		if !tensor.AllClose(got.Detach(), tensor.Of(want), 1e-6, 0) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("the mean", n.RunningMean, 0.3, 4)
	near("the variance", n.RunningVar, 0.9+0.1*4, 0.9+0.1*1300)
	if y := nn.NewBatchNorm(2).Forward(x.Narrow(0, 0, 2)).Detach(); !tensor.AllClose(y, tensor.Of([]float64{-1, -1}, []float64{1, 1}), 1e-4, 0) {
		t.Errorf("of two samples: %v", y)
	}
	nn.Eval(n)
	y := n.Forward(x)
	near("in use", y.Select(0, 0), 0.7/math.Sqrt(1.3+1e-5), 6/math.Sqrt(130.9+1e-5))
	near("the mean in use", n.RunningMean, 0.3, 4)

	nn.Train(n)
	leaf := x.Clone().RequireGrad()
	nn.Recompute(n.Forward, leaf).Sum().Backward()
	near("the mean of two batches", n.RunningMean, 0.27+0.3, 3.6+4)
	if n.NumBatchesTracked.AtInt() != 2 {
		t.Errorf("%d batches, want 2", n.NumBatchesTracked.AtInt())
	}
	if got := fmt.Sprint(nn.Parameters(n)); got != "weight [2] float32\nbias   [2] float32" {
		t.Errorf("trained are %s", got)
	}
	other := nn.NewBatchNorm(2)
	if err := nn.LoadStateDict(other, nn.StateDict(n).Map()); err != nil {
		t.Fatal(err)
	}
	near("loaded", other.RunningVar, n.RunningVar.Floats()...)
	small := nn.To(nn.NewBatchNorm(2), tensor.BFloat16)
	if y := small.Forward(x.To(tensor.BFloat16)); y.Dtype() != tensor.BFloat16 || small.RunningMean.Dtype() != tensor.BFloat16 {
		t.Errorf("in bfloat16: %v", y)
	}
}

// TestNormsAreOneAnother: a group for all channels is LayerNorm, and BatchNorm of one sample is a group for each.
func TestNormsAreOneAnother(t *testing.T) {
	x := tensor.With(tensor.Float64, tensor.NewGenerator(1)).Randn(1, 6, 5)
	each := (&nn.GroupNorm{Groups: 6, Eps: 1e-5}).Forward(x)
	if whole := nn.To(nn.NewGroupNorm(1, 6), tensor.Float64).Forward(x); !tensor.AllClose(whole, nn.Standardize(x, []int{6, 5}, nil, nil, 1e-5), 0, 1e-14) {
		t.Errorf("one group: %v", whole)
	}
	if batch := nn.NewBatchNorm(6).Forward(x); !tensor.AllClose(batch, each, 0, 1e-12) {
		t.Errorf("a batch of one: %v, want %v", batch, each)
	}
}
