package assignment

import (
	"reflect"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

func TestCheckpointing(t *testing.T) {
	g := tensor.NewGenerator(42)
	network := func() (*nn.MLP, *optim.Optimizer) {
		model := nn.NewMLP([]int{100, 200, 100, 10}, nn.ReLU{}, g)
		return model, optim.NewAdamW(nn.Parameters(model), 1e-3, optim.WeightDecay(0.01), optim.Betas(0.9, 0.999), optim.Eps(1e-8))
	}
	model, opt := network()
	const steps = 10
	for range steps {
		opt.ZeroGrad(true)
		x, y := tensor.With(g).Rand(100), tensor.With(g).Rand(10)
		y.Sub(model.Forward(x)).Square().Sum().Backward()
		opt.Step()
	}
	store := checkpoint.Store{Dir: t.TempDir()}
	if _, err := store.Save(steps, checkpoint.Parts{"model": nn.Part(model), "optimizer": opt}); err != nil {
		t.Fatal(err)
	}
	other, otherOpt := network()
	resumed, err := store.Resume(checkpoint.Parts{"model": nn.Part(other), "optimizer": otherOpt})
	if err != nil {
		t.Fatal(err)
	}
	if resumed.Step != steps {
		t.Errorf("the checkpoint is of step %d, want %d", resumed.Step, steps)
	}
	same := func(a, b map[string]*tensor.Tensor) {
		t.Helper()
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%d tensors, and %d", len(a), len(b))
		}
		for name, x := range a {
			if b[name] == nil || !tensor.Equal(x, b[name]) {
				t.Errorf("%s differs", name)
			}
		}
	}
	same(nn.StateDict(model).Map(), nn.StateDict(other).Map())
	tensorsBefore, valuesBefore := opt.SaveState()
	tensorsAfter, valuesAfter := otherOpt.SaveState()
	same(tensorsBefore, tensorsAfter)
	if !reflect.DeepEqual(valuesBefore, valuesAfter) {
		t.Errorf("the optimizer's settings are %v, want %v", valuesAfter, valuesBefore)
	}
}
