package accounting_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/tensor"
)

// cruncher is one step of the lecture's memory example with plain tensors: two
// layers of width 4 and a final one, mean squared error, AdaGrad.
func cruncher() (report accounting.MemoryReport, predicted accounting.TrainingMemory) {
	const D, L, B = 4, 2, 2
	x := tensor.Full(0.5, B, D).SetRole(tensor.Input)
	y := tensor.Of(4., 5).SetRole(tensor.Input)
	l := accounting.Track(x, y)
	defer l.Stop()
	parameters := []*tensor.Tensor{
		tensor.Full(0.1, D, D).RequireGrad(), tensor.Full(0.2, D, D).RequireGrad(), tensor.Full(0.3, D, 1).RequireGrad(),
	}
	var state []*tensor.Tensor
	for _, p := range parameters {
		state = append(state, tensor.Zeros(p.Shape()...).SetRole(tensor.OptimizerState))
	}
	h := x
	for _, w := range parameters {
		h = h.Matmul(w)
	}
	h.Squeeze(-1).Sub(y).Pow(2).Mean().Backward()
	tensor.NoGrad(func() {
		for i, p := range parameters {
			state[i].AddInPlace(p.Grad().Pow(2))
			p.SubInPlace(p.Grad().Mul(0.01).Div(state[i].Add(1e-5).Sqrt()))
		}
	})
	report = l.Report()
	runtime.KeepAlive(parameters)
	runtime.KeepAlive(state)
	runtime.KeepAlive([]*tensor.Tensor{x, y})
	return report, accounting.TrainingMemory{Width: D, Layers: L, Batch: B, StatePerParameter: 1}
}

// The lecture's 496 bytes, and what the graph really holds: 8 bytes more, which
// the loss saves to know the slope of its square.
func ExampleMemoryReport_Compare() {
	report, predicted := cruncher()
	fmt.Print(predicted)
	fmt.Print(report.Compare(predicted))
	// Output:
	// parameters      4·4·2 + 4 = 36
	// activations     2·4·2 = 16
	// gradients       36
	// optimizer state 1·36 = 36
	// total           4 · (36 + 16 + 36 + 36) = 496 bytes
	// FLOPs per step  6·2·36 = 432
	// bytes            formula  measured  difference
	// parameters           144       144           0
	// gradients            144       144           0
	// optimizer state      144       144           0
	// activations           64        72           8
	// total                496       504           8
	// the graph saved
	//   32 bytes [2 4] for matmul (its left operand)
	//   32 bytes [2 4] for matmul (its left operand)
	//   8 bytes [2] for pow (its left operand)
	// the formula counts the result of each hidden layer only
}

func TestMemoryIsReleasedByBackward(t *testing.T) {
	report, _ := cruncher()
	if report.Current[accounting.Activations] != 0 {
		t.Errorf("%d bytes of activations are left after Backward", report.Current[accounting.Activations])
	}
	if got, want := report.Current[accounting.Data], 4*(8+2); got != want {
		t.Errorf("data: %d bytes, want %d", got, want)
	}
}

func TestPeakIsNotMadeOfGarbage(t *testing.T) {
	report := accounting.Memory(func() {
		for range 100 {
			tensor.Zeros(1000).Add(1)
		}
	})
	if got := report.Peak.Total(); got < 8000 || got > 3*8000 {
		t.Errorf("100 tensors of 4000 bytes, two alive at a time: peak %d bytes", got)
	}
	if got := report.Current.Total(); got != 0 {
		t.Errorf("%d bytes are left", got)
	}
}

func TestLongChainHoldsItsActivations(t *testing.T) {
	const B, D, L = 16, 32, 8
	w := tensor.Full(1./D, D, D).RequireGrad()
	x := tensor.Ones(B, D).SetRole(tensor.Input)
	report := accounting.Memory(func() {
		h := x
		for range L {
			h = h.Matmul(w)
		}
		h.Sum().Backward()
	}, w, x)
	// The input of each layer is saved; that of the first is data.
	if got, want := report.Highest[accounting.Activations], 4*B*D*(L-1); got != want {
		t.Errorf("activations %d bytes, want %d\n%s", got, want, report)
	}
	if got := report.Highest[accounting.Parameters]; got != 4*D*D {
		t.Errorf("parameters %d bytes, want %d", got, 4*D*D)
	}
	if text := report.String(); !strings.Contains(text, "activations when highest") {
		t.Errorf("report without its activations:\n%s", text)
	}
}

func TestGradientsStayGradientsWhenAddedUp(t *testing.T) {
	w := tensor.Ones(10).RequireGrad()
	report := accounting.Memory(func() {
		for range 3 {
			w.Mul(w).Sum().Backward()
		}
	}, w)
	if got := report.Current[accounting.Gradients]; got != 40 {
		t.Errorf("gradients %d bytes, want 40\n%s", got, report)
	}
	runtime.KeepAlive(w)
}

func TestTensorsFromBeforeAreData(t *testing.T) {
	x, w := tensor.Ones(4, 3), tensor.Ones(3, 2).RequireGrad()
	report := accounting.Memory(func() { x.Matmul(w).Sum().Backward() }) // x is saved for the gradient of w
	if got := report.Highest; got[accounting.Data] != 48 || got[accounting.Activations] != 0 {
		t.Errorf("%v, want 48 bytes of data and no activations", got)
	}
	runtime.KeepAlive(x)
}
