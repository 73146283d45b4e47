package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// Net has what keeps more than its weights in the middle of a step.
type Net struct {
	Table  *nn.Embedding
	First  nn.Module
	Drop   *nn.Dropout
	Deep   *nn.DeepNetwork // recomputed
	Eight  *nn.FP8Linear
	Block  *nn.FP8Linear // recomputed
	Norm   *nn.LayerNorm
	Logits *nn.Linear
}

func newNet() *Net {
	g := tensor.NewGenerator(3)
	n := &Net{nn.NewEmbedding(10, 8, g), nn.NewMLP([]int{8, 8, 8}, nn.GELU{}, g), nn.NewDropout(0.25, g.Stream("dropout")), nn.NewDeepNetwork(8, 4, g),
		nn.NewFP8Linear(8, 8, nn.WithBias, g), nn.NewFP8Linear(8, 8, nn.NoBias, g), nn.NewLayerNorm(8), nn.NewLinear(8, 10, nn.WithBias, g)}
	n.Deep.Segment = 2
	return n
}

// again makes the function that is recomputed as the kernel writes function literals.
//
//go:noinline
func again(c *struct{ n **Net }) func(*tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor { return (*c.n).Drop.Forward((*c.n).Block.Forward(x)) }
}

// The three cells of a step.
func (n *Net) forward() *tensor.Tensor {
	x := n.Table.Forward(tensor.Of([]int{1, 2, 3}, []int{4, 5, 1}))
	x = n.Deep.Forward(n.Drop.Forward(n.First.Forward(x)))
	return nn.Recompute(again(&struct{ n **Net }{&n}), n.Eight.Forward(x))
}

func (n *Net) loss(h *tensor.Tensor) *tensor.Tensor {
	return nn.CrossEntropy(n.Logits.Forward(n.Norm.Forward(h)).Flatten(0, 1), tensor.Of(2, 3, 4, 5, 1, 9))
}

func step(loss *tensor.Tensor, o *optim.Optimizer) {
	o.ZeroGrad(true)
	loss.Backward()
	o.Step()
}

// TestModulesInTheMiddleOfAStep computes two steps whose parts are cells, and the same
// in one process.
func TestModulesInTheMiddleOfAStep(t *testing.T) {
	var (
		net     *Net
		o       *optim.Optimizer
		h, loss *tensor.Tensor
	)
	known := func() {
		persist.Lit("again", again)
		persist.Reg[*nn.MLP]()
		persist.Reg[nn.GELU]()
		persist.Reg[*nn.FP8Linear]()
		persist.Reg[nn.Blocks]()
		persist.Reg[nn.Func]()
	}
	forward := func(t *testing.T) {
		known()
		defer celltest.Begin("net", &net, "o", &o, "h", &h, "loss", &loss)()
		h = net.forward()
	}
	compute := func(t *testing.T) {
		known()
		defer celltest.Begin("net", &net, "o", &o, "h", &h, "loss", &loss)()
		loss = net.loss(h)
	}
	backward := func(t *testing.T) {
		known()
		defer celltest.Begin("net", &net, "o", &o, "h", &h, "loss", &loss)()
		step(loss, o)
	}
	notes := celltest.Run(t, func(t *testing.T) {
		known()
		defer celltest.Begin()()
		net = newNet()
		o = optim.NewAdamW(nn.Trainable(net), 0.01)
		persist.Def("net", &net, "o", &o, "h", &h, "loss", &loss)
	}, forward, compute, backward, forward, compute, backward, func(t *testing.T) {
		known()
		defer celltest.Begin("net", &net, "o", &o, "h", &h, "loss", &loss)()
		one := newNet()
		o := optim.NewAdamW(nn.Trainable(one), 0.01)
		var want *tensor.Tensor
		for range 2 {
			want = one.loss(one.forward())
			step(want, o)
		}
		if loss.Item() != want.Item() || math.IsNaN(want.Item()) {
			t.Errorf("the loss is %v, in one process %v", loss.Item(), want.Item())
		}
		a, b := nn.StateDict(net), nn.StateDict(one)
		for i := range a {
			if a[i].Name != b[i].Name || !slices.Equal(a[i].Tensor.Floats(), b[i].Tensor.Floats()) {
				t.Errorf("%s is\n%v, in one process\n%v", a[i].Name, a[i].Tensor, b[i].Tensor)
			}
		}
		for i, p := range nn.Trainable(net) {
			if g, want := p.Tensor.Grad(), nn.Trainable(one)[i].Tensor.Grad(); g == nil || !slices.Equal(g.Floats(), want.Floats()) {
				t.Errorf("the gradient of %s is\n%v, in one process\n%v", p.Name, g, want)
			}
		}
	})
	if text := strings.Join(notes, ""); text != "" {
		t.Error(fmt.Sprint("notes: ", text))
	}
}
