package tensor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
	"github.com/lectern-go/lectern/tensor"
)

// BenchmarkKeptGraph keeps a graph of 200 operations that saved 100 MB, in cells that
// are processes: one makes it, one has it and leaves it as it is, one calls Backward,
// and one has the rest. Beside it 100 MB of values without a graph.
func BenchmarkKeptGraph(b *testing.B) {
	const side = 512 // 1 MB for each saved value
	sums := map[string]float64{}
	for b.Loop() {
		notes := celltest.Run(b, func(*testing.B) {
			end := celltest.Begin()
			w := tensor.With(tensor.NewGenerator(1)).Randn(side, side).RequireGrad()
			y := w
			for range 100 {
				y = y.Mul(0.5).Tanh()
			}
			loss := y.Sum()
			persist.Def("w", &w, "loss", &loss)
			timed("save-new-ms", end)
		}, func(*testing.B) {
			var w, loss *tensor.Tensor
			var end func()
			timed("restore-ms", func() { end = celltest.Begin("w", &w, "loss", &loss) })
			timed("save-same-ms", end)
		}, func(*testing.B) {
			var w, loss *tensor.Tensor
			end := celltest.Begin("w", &w, "loss", &loss)
			loss.Backward()
			timed("save-released-ms", end)
		}, func(*testing.B) {
			var w, loss *tensor.Tensor
			var end func()
			timed("restore-released-ms", func() { end = celltest.Begin("w", &w, "loss", &loss) })
			end()
		}, func(*testing.B) {
			end := celltest.Begin()
			values := make([]*tensor.Tensor, 100)
			for i := range values {
				values[i] = tensor.With(tensor.NewGenerator(1)).Randn(side, side)
			}
			persist.Def("values", &values)
			timed("save-values-ms", end)
		})
		for _, line := range strings.Split(strings.Join(notes, ""), "\n") {
			var what string
			var ms float64
			if n, _ := fmt.Sscanf(line, "took %s %g", &what, &ms); n == 2 {
				sums[what] += ms
			}
		}
	}
	for what, ms := range sums {
		b.ReportMetric(ms/float64(b.N), what)
	}
}

func timed(what string, f func()) {
	start := time.Now()
	f()
	fmt.Fprintf(os.Stderr, "took %s %g\n", what, float64(time.Since(start).Microseconds())/1e3)
}
