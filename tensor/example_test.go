package tensor_test

import (
	"fmt"

	"github.com/lectern-go/lectern/tensor"
)

func Example() {
	x := tensor.Of(1., 2, 3)
	w := tensor.Of(1., 1, 1).RequireGrad()
	loss := x.Matmul(w).Sub(5).Pow(2).Mul(0.5)
	loss.Backward()
	fmt.Println(loss.Item())
	fmt.Println(w.Grad())
	fmt.Println(x.Grad())
	// Output:
	// 0.5
	// tensor([1., 2., 3.])
	// <nil>
}

func ExampleTensor_Stride() {
	x := tensor.Arange(16).View(4, 4)
	fmt.Println(x.Stride(0), x.Stride(1))
	index := 1*x.Stride(0) + 2*x.Stride(1)
	fmt.Println(index, x.Storage()[index], x.At(1, 2))
	// Output:
	// 4 1
	// 6 6 6
}

// A transposed matrix shows the same memory in another order, so it can't be
// viewed as if it lay in rows.
func ExampleTensor_View() {
	x := tensor.Of([]float64{1, 2, 3}, []float64{4, 5, 6})
	y := x.Transpose(1, 0)
	fmt.Println(y.IsContiguous(), tensor.SameStorage(x, y))
	err := tensor.Try(func() { y.View(2, 3) })
	fmt.Println(err != nil)
	z := y.Contiguous().View(2, 3)
	fmt.Println(z, tensor.SameStorage(x, z))
	// Output:
	// false true
	// true
	// tensor([[1., 4., 2.],
	//         [5., 3., 6.]]) false
}

func ExampleTensor_Index() {
	x := tensor.Of([]float64{1, 2, 3}, []float64{4, 5, 6})
	fmt.Println(x.Index(0))
	fmt.Println(x.Index(tensor.All, 1))
	x.Index(0).SetAt(100, 0) // a view: x sees the write
	fmt.Println(x)
	// Output:
	// tensor([1., 2., 3.])
	// tensor([2., 5.])
	// tensor([[100.,   2.,   3.],
	//         [  4.,   5.,   6.]])
}

func ExampleTry() {
	x := tensor.Zeros(16, 32)
	err := tensor.Try(func() { x.Matmul(tensor.Zeros(31, 2)) })
	fmt.Println(err)
	// Output: tensor: matmul: [16 32] x [31 2]: inner sizes differ, 32 (axis 1 of left) and 31 (axis 0 of right)
}

func ExampleNoGrad() {
	w := tensor.Of(1., 2).RequireGrad()
	tensor.NoGrad(func() {
		w.SubInPlace(0.5) // an optimizer's step
	})
	fmt.Println(w)
	// Output: tensor([0.5000, 1.5000], requires_grad=True)
}
