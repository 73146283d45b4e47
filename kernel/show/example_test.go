package show_test

import (
	"fmt"

	"github.com/lectern-go/lectern/kernel/show"
	"github.com/lectern-go/lectern/tensor"
)

// Outside a notebook everything is text.
func ExampleValue() {
	show.Value(tensor.Of(1., 2, 3))
	fmt.Println("printed between two displays")
	show.Value([]string{"a", "b"})
	// Output:
	// tensor([1., 2., 3.])
	// printed between two displays
	// []string{"a", "b"}
}

func ExampleTable() {
	show.Table([]string{"layer", "parameters"}, [][]any{{"hidden", 4096}, {"final", 64}})
	// Output:
	// layer   parameters
	// ------------------
	// hidden        4096
	// final           64
}

func ExampleComparison() {
	const B, D, K = 1024, 256, 64
	x, w := tensor.Ones(B, D), tensor.Ones(D, K)
	counted := 0
	stop := tensor.Trace(func(e tensor.Event) { counted += e.FLOPs })
	x.Matmul(w)
	stop()
	show.Value(show.Comparison{
		{"FLOPs", 2 * B * D * K, float64(counted), "FLOP"},
		{"memory", B*D*4 + D*K*4, float64(x.Bytes() + w.Bytes()), "bytes"},
	})
	// Output:
	//               predicted         measured  ratio
	// -----------------------------------------------
	// FLOPs   33,554,432 FLOP  33,554,432 FLOP      1
	// memory        1,088 KiB        1,088 KiB      1
}

func ExampleHeat() {
	show.Heat(tensor.Of(-1., 0, 2))
	// Output:
	// tensor([-1.,  0.,  2.])
}

func ExampleQuantity() {
	fmt.Println(show.Quantity(426e9, "FLOP/s"), show.Quantity(0.0031, "s"), show.Quantity(2304<<20, "bytes"), show.Quantity(6*70e9*15e12, "FLOP"))
	// Output:
	// 426 GFLOP/s 3.1 ms 2,304 MiB 6.3e24 FLOP
}
