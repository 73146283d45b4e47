package einops_test

import (
	"fmt"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
)

// The traditional way: which axes are -2 and -1?
func Example_motivation() {
	x := tensor.Ones(2, 2, 3) // batch, sequence, hidden
	y := tensor.Ones(2, 2, 3) // batch, sequence, hidden
	z := x.Matmul(y.Transpose(-2, -1))
	fmt.Println(z.Shape(), z.At(0, 0, 0))

	named := einops.Einsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", x, y)
	fmt.Println(named.Shape(), named.At(0, 0, 0))
	// Output:
	// [2 2 2] 3
	// [2 2 2] 3
}

// Multi-head projection, end to end: take the heads apart, transform the
// hidden axis of each, put them together again.
func Example_heads() {
	x := tensor.Ones(2, 3, 8) // batch seq total_hidden
	w := tensor.Ones(4, 4)    // hidden1 hidden2

	x = einops.Rearrange(x, "... (heads hidden1) -> ... heads hidden1", einops.Axis("heads", 2))
	fmt.Println(x.Shape())
	x = einops.Einsum("... hidden1, hidden1 hidden2 -> ... hidden2", x, w)
	fmt.Println(x.Shape())
	x = einops.Rearrange(x, "... heads hidden2 -> ... (heads hidden2)")
	fmt.Println(x.Shape(), x.At(0, 0, 0))
	// Output:
	// [2 3 2 4]
	// [2 3 2 4]
	// [2 3 8] 4
}

func ExampleRearrange() {
	x := tensor.Arange(12).Reshape(2, 6)
	y := einops.Rearrange(x, "seq (heads hidden) -> heads seq hidden", einops.Axis("heads", 2))
	fmt.Println(y.Shape())
	fmt.Println(y.Ints())
	fmt.Println("a view:", tensor.SameStorage(x, y))
	// Output:
	// [2 2 3]
	// [0 1 2 6 7 8 3 4 5 9 10 11]
	// a view: true
}

// Tensors of a list are stacked on a new first axis.
func ExampleRearrange_list() {
	images := []*tensor.Tensor{tensor.Zeros(4, 6, 3), tensor.Zeros(4, 6, 3)}
	fmt.Println(einops.Rearrange(images, "b h w c -> h (b w) c").Shape())
	// Output: [4 12 3]
}

// A size that einops works out can be had.
func ExampleInfer() {
	x := tensor.Zeros(2, 3, 8)
	var hidden int
	einops.Rearrange(x, "... (heads hidden) -> ... heads hidden", einops.Axis("heads", 2), einops.Infer("hidden", &hidden))
	fmt.Println(hidden)
	// Output: 4
}

func ExampleReduce() {
	x := tensor.Arange(1, 13).To(tensor.Float32).Reshape(2, 2, 3) // batch seq hidden
	fmt.Println("sum ", einops.Reduce(x, "... hidden -> ...", einops.Sum).Floats())
	fmt.Println("mean", einops.Reduce(x, "... hidden -> ...", einops.Mean).Floats())
	fmt.Println("max ", einops.Reduce(x, "... hidden -> ...", einops.Max).Floats())
	fmt.Println("min ", einops.Reduce(x, "... hidden -> ...", einops.Min).Floats())
	fmt.Println("prod", einops.Reduce(x, "... hidden -> ...", einops.Prod).Floats())
	// Output:
	// sum  [6 15 24 33]
	// mean [2 5 8 11]
	// max  [3 6 9 12]
	// min  [1 4 7 10]
	// prod [6 120 504 1320]
}

// Max pooling: axes that are only numbers are reduced too.
func ExampleReduce_pooling() {
	image := tensor.Arange(16).Reshape(4, 4)
	fmt.Println(einops.Reduce(image, "(h 2) (w 2) -> h w", einops.Max).Ints())
	// Output: [5 7 13 15]
}

// Any function that removes the axes it is given is a reduction.
func ExampleReduction() {
	norm := func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Mul(x).Sum(axes...).Sqrt() }
	x := tensor.Of([]float64{3, 4}, []float64{6, 8})
	fmt.Println(einops.Reduce(x, "row col -> row", norm).Floats())
	// Output: [5 10]
}

func ExampleRepeat() {
	x := tensor.Of(1, 2)
	fmt.Println(einops.Repeat(x, "w -> (w n)", einops.Axis("n", 2)).Ints())
	fmt.Println(einops.Repeat(x, "w -> (2 w)").Ints())
	// Output:
	// [1 1 2 2]
	// [1 2 1 2]
}

// ... stands for any number of axes.
func ExampleEinsum() {
	x, y := tensor.Ones(5, 2, 3, 4), tensor.Ones(5, 2, 7, 4)
	fmt.Println(einops.Einsum("... seq1 hidden, ... seq2 hidden -> ... seq1 seq2", x, y).Shape())
	fmt.Println(einops.Einsum("... seq1 hidden, ... seq2 hidden -> ...", x, y).Shape()) // what the output does not name is summed over
	// Output:
	// [5 2 3 7]
	// [5 2]
}

// A misspelt name makes an axis of its own, which is summed over. The strict
// form refuses it.
func ExampleEinsumStrict() {
	x, y := tensor.Ones(2, 3, 4), tensor.Ones(2, 5, 4)
	fmt.Println(einops.Einsum("batch seq1 hidden, batch seq2 hiden -> batch seq1 seq2", x, y).At(0, 0, 0))
	fmt.Println(tensor.Try(func() {
		einops.EinsumStrict("batch seq1 hidden, batch seq2 hiden -> batch seq1 seq2", x, y)
	}))
	// Output:
	// 16
	// einops: strict einsum: axis "hidden" appears only once
	//     batch seq1 hidden, batch seq2 hiden -> batch seq1 seq2
	//                ^^^^^^
	//     shape [2 3 4] x [2 5 4]
	//     did you mean "hiden"?
}

func ExamplePack() {
	token, patches := tensor.Zeros(4), tensor.Ones(2, 3, 4) // c, h w c
	packed, shapes := einops.Pack("* c", token, patches)
	fmt.Println(packed.Shape(), shapes)
	for _, x := range einops.Unpack(packed, shapes, "* c") {
		fmt.Println(x.Shape())
	}
	// Output:
	// [7 4] [[] [2 3]]
	// [4]
	// [2 3 4]
}

func ExampleParseShape() {
	x := tensor.Zeros(2, 3, 8)
	sizes := einops.ParseShape(x, "batch _ hidden")
	fmt.Println(sizes, "-", sizes.Of("hidden"))
	// Output: batch=2, hidden=8 - 8
}

// An annotation that is checked.
func ExampleCheck() {
	x := tensor.Ones(2, 2, 1, 3)
	x = einops.Check(x, "batch seq heads hidden")
	fmt.Println(tensor.Try(func() {
		einops.Check(x, "x: float32 [batch heads heads hidden]")
	}))
	// Output:
	// einops: check: axis 2 of "x" has size 1, but "heads" is 2 by axis 1 of the same tensor
	//     x: float32 [batch heads heads hidden]
	//                             ^^^^^
	//     shape [2 2 1 3] with batch=2, heads=2
}

func ExampleExplain() {
	fmt.Println(einops.Explain("b s (h d) -> b h s d", []int{2, 3, 8}, einops.Axis("h", 2)))
	// Output:
	// rearrange b s (h d) -> b h s d   with b=2, s=3, h=2, d=4
	//   x                       [2 3 8]    b s (h d)
	//      View(2, 3, 2, 4)     [2 3 2 4]  b s h d    view
	//      Permute(0, 2, 1, 3)  [2 2 3 4]  b h s d    view
	// result [2 2 3 4], a view
}

// The order of products decides how much work there is.
func ExampleExplainEinsum() {
	fmt.Println(einops.ExplainEinsum("i j, j k, k l -> i l", []int{1000, 10}, []int{10, 1000}, []int{1000, 5}))
	// Output:
	// einsum i j, j k, k l -> i l   with i=1000, j=10, k=1000, l=5
	//   x0                    [1000 10]  i j
	//   x1                    [10 1000]  j k
	//   x2                    [1000 5]   k l
	//   x3  Matmul of x1, x2  [10 5]     j l  new, without k, 100000 FLOPs
	//   x4  Matmul of x0, x3  [1000 5]   i l  new, without j, 100000 FLOPs
	// result [1000 5], new memory; 200000 FLOPs, 1.5e+08 in one loop over all axes
}
