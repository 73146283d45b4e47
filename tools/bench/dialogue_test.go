package bench

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/fakecuda"
	"github.com/lectern-go/lectern/tensor"
)

// The test is its own child, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		Main()
		return
	}
	os.Exit(m.Run())
}

func TestDialogue(t *testing.T) {
	m, err := startOurs(t.Context(), "ours", "cpu", "GOMAXPROCS=1")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for _, c := range []cpuCase{elementwiseCase("add", 1024, 0.001), {What: "xyT", Dtype: "bfloat16", Sizes: []int{8, 8, 8}, Budget: 0.001}} {
		best, _, last, err := alternate(&report{rounds: 2}, on(c, []measurer{m, m}, 0)...)
		if err != nil {
			t.Fatal(err)
		}
		if len(best) != 2 || !(best[0] > 0 && best[0] < 1) || last[1].Seconds < best[1] {
			t.Errorf("%v: %v, at last %v", c, best, last)
		}
	}
	// What the child says when it fails is in the error.
	_, _, _, err = alternate(&report{rounds: 1}, on(elementwiseCase("add", 7, 0), []measurer{m}, 0)...)
	if err == nil || !strings.Contains(err.Error(), "needs a multiple of 1024") || !strings.HasPrefix(err.Error(), "ours: add 7: ") {
		t.Errorf("error %v", err)
	}
}

func TestDialogueIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	m, err := startOurs(ctx, "ours", "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	stop()
	if err := m.ask(elementwiseCase("add", 1024, 3600), new(measured)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was stopped", err)
	}
}

// Our side of the gpu group gives the numbers that the processor gives.
func TestGPUChild(t *testing.T) {
	fakecuda.Use(t)
	m, err := startOurs(t.Context(), "ours", "gpu", "LECTERN_AUTOTUNE=0")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for _, c := range []gpuCase{
		{What: "matmul fp32", Sizes: []int{8, 16, 8}, Calls: 1},
		{What: "step MLP", Sizes: []int{4, 8, 8, 3}, Calls: 1},
		{What: "softmax", Sizes: []int{4, 8}, Calls: 2},
	} {
		var first, again measured
		if err := errors.Join(m.ask(c, &first), m.ask(c, &again)); err != nil {
			t.Fatal(err)
		}
		_, some, _ := c.onGPU(tensor.CPU)
		want := measured{Some: some}
		for _, a := range []measured{first, again} {
			if err := sameNumbers(c, []measurer{{name: "processor"}, m}, []measured{want, a}); err != nil || !(a.Seconds > 0) || len(some) == 0 {
				t.Errorf("%v: %v, %v s", c, err, a.Seconds)
			}
		}
	}
	if err := sameNumbers(gpuCase{}, make([]measurer, 2), []measured{{Some: []float64{1, 2}}, {Some: []float64{1, 2.1}}}); err == nil {
		t.Error("different numbers agree")
	}
}
