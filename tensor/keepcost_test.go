package tensor_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/keep"
	"github.com/lectern-go/lectern/tensor"
)

// BenchmarkKeptGraph runs cells that keep a graph of 200 operations with 100 MB of
// saved values: the first makes it, the second uses it without changing it, the third
// calls Backward. It prints what keeping took in each, and in cells of the same
// computation without a graph.
func BenchmarkKeptGraph(b *testing.B) {
	if inCell() {
		return
	}
	b.Skip("see TestKeptGraphCost")
}

// heavy is a graph of n operations, each of which saves a matrix of its own.
func heavy(w *tensor.Tensor, n int) *tensor.Tensor {
	y := w
	for range n / 2 {
		y = y.Mul(0.5).Tanh()
	}
	return y.Sum()
}

func took(what string, f func()) {
	start := time.Now()
	f()
	fmt.Fprintf(os.Stderr, "%s %.1f ms\n", what, float64(time.Since(start).Microseconds())/1e3)
}

func TestKeptGraphCost(t *testing.T) {
	for i, s := range runCells(t, nil, func(t *testing.T) {
		end := restore()
		w := tensor.With(tensor.NewGenerator(1)).Randn(512, 512).RequireGrad()
		loss := heavy(w, 200)
		keep.Def("w", &w, "loss", &loss)
		took("save", end)
	}, func(t *testing.T) {
		var w, loss *tensor.Tensor
		var end func()
		took("restore", func() { end = restore("w", &w, "loss", &loss) })
		took("save unchanged", end)
	}, func(t *testing.T) {
		var w, loss *tensor.Tensor
		var end func()
		took("restore", func() { end = restore("w", &w, "loss", &loss) })
		took("backward", func() { loss.Backward() })
		took("save", end)
	}, func(t *testing.T) {
		var w, loss *tensor.Tensor
		var end func()
		took("restore", func() { end = restore("w", &w, "loss", &loss) })
		took("save", end)
	}, func(t *testing.T) {
		end := restore()
		var n *tensor.Tensor
		tensor.NoGrad(func() {
			n = tensor.Zeros(512, 512*100).Add(1)
		})
		keep.Def("n", &n)
		took("save 100 MB without graph", end)
	}) {
		fmt.Printf("cell %d:\n%s", i, s)
	}
}

// diskUse returns the number of files below a folder, and their bytes.
func diskUse(dir string) (files int, bytes int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if i, err := e.Info(); err == nil {
				files++
				bytes += i.Size()
			}
		}
		return nil
	})
	return files, bytes
}
