package tensor_test

import (
	"fmt"

	"github.com/lectern-go/lectern/tensor"
)

// Ways to make a tensor.
func Example_creation() {
	fmt.Println(tensor.Of([]float64{1, 2, 3}, []float64{4, 5, 6}))
	fmt.Println(tensor.Zeros(4, 8).Shape(), tensor.Ones(4, 8).Sum().Item())
	fmt.Println(tensor.Arange(2, 14, 3), tensor.Linspace(0, 1, 5))
	fmt.Println(tensor.Full(7, 2), tensor.Eye(2))
	fmt.Println(tensor.With(tensor.BFloat16).Zeros(4, 8).Bytes(), "bytes")
	x := tensor.Empty(4, 8).TruncNormalInPlace(0, 1, -2, 2, nil)
	fmt.Println(x.Min().Item() >= -2, x.Max().Item() <= 2)
	// Output:
	// tensor([[1., 2., 3.],
	//         [4., 5., 6.]])
	// [4 8] 32
	// tensor([ 2,  5,  8, 11]) tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
	// tensor([7., 7.]) tensor([[1., 0.],
	//         [0., 1.]])
	// 64 bytes
	// true true
}

// Elements times bytes per element. Memory that is not written is not taken.
func Example_memory() {
	x := tensor.Zeros(4, 8)
	fmt.Println(x.Dtype(), x.Len(), x.ElementSize(), x.Bytes())
	gpt3 := tensor.Empty(12288*4, 12288) // one matrix of GPT-3's feed-forward layer
	fmt.Println(gpt3.Bytes()>>20, "MiB")
	// Output:
	// float32 32 4 128
	// 2304 MiB
}

// A small number in the formats of section 3: float16 loses it, bfloat16 keeps
// its size but few of its digits.
func ExampleDtype_Bits() {
	for _, d := range []tensor.Dtype{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		b := d.Bits(1e-8)
		fmt.Printf("%-8s %s = %.5g\n", d, b, b.Value)
	}
	fmt.Println(tensor.Float16.Round(70000), tensor.BFloat16.Round(70000))
	fmt.Println(tensor.BFloat16.Bits(3).Formula())
	// Output:
	// float32  0 01100100 01010111100110001110111 = 1e-08
	// float16  0 00000 0000000000 = 0
	// bfloat16 0 01100100 0101100 = 1.0012e-08
	// +Inf 70144
	// (-1)^0 · 1.5 · 2^1
}

func ExampleFormats() {
	fmt.Print(tensor.Formats(tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2))
	// Output:
	// format         bits  exponent  mantissa          eps  resolution  smallest subnormal         tiny           min          max
	// float32          32         8        23  1.19209e-07       1e-06          1.4013e-45  1.17549e-38  -3.40282e+38  3.40282e+38
	// float16          16         5        10  9.76562e-04       1e-03         5.96046e-08  6.10352e-05        -65504        65504
	// bfloat16         16         8         7   7.8125e-03        0.01         9.18355e-41  1.17549e-38  -3.38953e+38  3.38953e+38
	// float8_e4m3fn     8         4         3        0.125           1         1.95312e-03     0.015625          -448          448
	// float8_e5m2       8         5         2         0.25           1         1.52588e-05  6.10352e-05        -57344        57344
}

// What a conversion does to numbers outside the range.
func ExampleTensor_ToSaturating() {
	x := tensor.Of(1., 450, 1000, -1e9)
	fmt.Println(x.To(tensor.Float8E4M3))
	fmt.Println(x.ToSaturating(tensor.Float8E4M3))
	fmt.Println(x.To(tensor.Float8E5M2))
	// Output:
	// tensor([  1., 448.,  nan,  nan], dtype=float8_e4m3fn)
	// tensor([   1.,  448.,  448., -448.], dtype=float8_e4m3fn)
	// tensor([1.0000e+00, 4.4800e+02, 1.0240e+03,       -inf], dtype=float8_e5m2)
}

func ExampleTensor_Quantize() {
	x := tensor.Linspace(-1, 1, 16)
	q := x.Quantize(tensor.NVFP4)
	fmt.Println(q)
	fmt.Println(q.Tensor().Slice(0, 0, 8, 1))
	// Output:
	// NVFP4 [16]: 1 block of 16, 13 bytes
	// tensor([-1.0000, -1.0000, -0.6667, -0.6667, -0.5000, -0.3333, -0.1667, -0.0833])
}

// Section 6: one number in, one number out.
func Example_elementwise() {
	x := tensor.Of(1., 4, 9)
	fmt.Println(x.Pow(2))
	fmt.Println(x.Sqrt())
	fmt.Println(x.Rsqrt())
	fmt.Println(x.Add(x), x.Mul(2), x.Div(0.5))
	fmt.Println(tensor.Of(1, 4, 9).Sqrt().Dtype(), tensor.Of(1, 4, 9).Mul(2).Dtype(), tensor.Of(1, 4, 9).Mul(2.5).Dtype())
	fmt.Println(tensor.Ones(3, 3).Triu(0))
	// Output:
	// tensor([ 1., 16., 81.])
	// tensor([1., 2., 3.])
	// tensor([1.0000, 0.5000, 0.3333])
	// tensor([ 2.,  8., 18.]) tensor([ 2.,  8., 18.]) tensor([ 2.,  8., 18.])
	// float32 int64 float32
	// tensor([[1., 1., 1.],
	//         [0., 1., 1.],
	//         [0., 0., 1.]])
}

// The mask of a causal model: position i must not see what comes after it.
func ExampleTensor_Triu() {
	scores := tensor.Zeros(3, 3)
	later := tensor.Ones(3, 3).Triu(1).To(tensor.Bool)
	fmt.Println(scores.MaskedFill(later, -1e9).Softmax(-1))
	// Output:
	// tensor([[1.0000, 0.0000, 0.0000],
	//         [0.5000, 0.5000, 0.0000],
	//         [0.3333, 0.3333, 0.3333]])
}

// Section 7: one matrix for every token of every sequence.
func ExampleTensor_Matmul() {
	fmt.Println(tensor.Ones(16, 32).Matmul(tensor.Ones(32, 2)).Shape())
	y := tensor.Ones(4, 8, 16, 32).Matmul(tensor.Ones(32, 2))
	fmt.Println(y.Shape(), y.At(0, 0, 0, 0))
	// Output:
	// [16 2]
	// [4 8 16 2] 32
}

// Section 15: one seed, and streams for the places where randomness enters.
func ExampleGenerator_Stream() {
	g := tensor.NewGenerator(42)
	weights := tensor.With(g.Stream("init")).Randn(2)
	g.Stream("dropout").Uint64() // does not disturb the others
	again := tensor.With(tensor.NewGenerator(42).Stream("init")).Randn(2)
	fmt.Println(tensor.Equal(weights, again))
	// Output: true
}

func ExampleSeed() {
	tensor.Seed(1)
	x := tensor.Randn(3)
	tensor.Seed(1)
	fmt.Println(tensor.Equal(x, tensor.Randn(3)), tensor.Equal(x, tensor.Randn(3)))
	tensor.Seed(0)
	// Output: true false
}

func ExampleWhere() {
	x := tensor.Of(-2., -1, 0, 1, 2)
	fmt.Println(tensor.Where(x.Gt(0), x, x.Mul(0.1)))
	// Output: tensor([-0.2000, -0.1000,  0.0000,  1.0000,  2.0000])
}

func ExampleTensor_Max() {
	x := tensor.Of([]float64{1, 5, 2}, []float64{4, 3, 6})
	fmt.Println(x.Max(), x.Max(1), x.Max(0, tensor.KeepDim))
	values, at := x.MaxAt(1)
	fmt.Println(values, at)
	// Output:
	// tensor(6.) tensor([5., 6.]) tensor([[4., 5., 6.]])
	// tensor([5., 6.]) tensor([1, 2])
}
