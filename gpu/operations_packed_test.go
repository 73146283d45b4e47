//go:build linux && cgo

package gpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor"
)

// packedAgrees computes with kernels for one operation and its types, at lengths around those of packs and blocks, and
// beside the general kernel.
func packedAgrees(t *testing.T, dev tensor.Device) {
	defer func(from int64) { packedFrom = from }(packedFrom)
	add := func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) }
	float, bf16, f16, f64, i64, u8 := tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float64, tensor.Int64, tensor.Uint8
	type row struct {
		name string
		x, y tensor.Dtype
		f    func(x, y *tensor.Tensor) *tensor.Tensor
	}
	rows := []row{
		{"sum", float, float, add}, {"sum", bf16, bf16, add}, {"sum", f16, f16, add}, {"sum", f64, f64, add}, {"sum", i64, i64, add}, {"sum", u8, u8, add},
		{"sum", float, bf16, add}, {"sum", bf16, float, add}, {"sum", tensor.Int16, i64, add}, {"sum", tensor.Float8E4M3, tensor.Float8E4M3, add},
		{"less", float, float, func(x, y *tensor.Tensor) *tensor.Tensor { return x.Lt(y) }},
		{"masked fill", bf16, float, func(x, y *tensor.Tensor) *tensor.Tensor { return x.MaskedFill(y.Gt(0), 3) }},
		{"number behind", bf16, bf16, func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Mul(0.3) }},
		{"number in front", float, float, func(x, _ *tensor.Tensor) *tensor.Tensor { return tensor.Number(2).To(float).Sub(x) }},
		{"clamp", float, float, func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Clamp(-1, 2) }},
		{"clamp", i64, i64, func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Clamp(-20, 5) }},
		{"not", tensor.Bool, u8, func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Not() }},
		{"transposed", float, bf16, func(x, y *tensor.Tensor) *tensor.Tensor {
			return x.Unsqueeze(0).Expand(1, x.Len()).T().Mul(y.Unsqueeze(1)).Squeeze(1)
		}},
	}
	for _, from := range tensor.Dtypes() {
		for _, to := range []tensor.Dtype{float, bf16, u8, f64} {
			if from == to || from != float && to == f64 {
				continue
			}
			rows = append(rows, row{"to " + to.String(), from, from, func(x, _ *tensor.Tensor) *tensor.Tensor { return x.To(to) }})
		}
	}
	for _, row := range rows {
		for _, n := range []int{1, 3, 4, 5, 7, 8, 9, 1023, 1025, 2047, 2049} {
			x, y := numbers(row.x, n, n > 60, 1), numbers(row.y, n, false, 2)
			want := row.f(x, y)
			packedFrom = 1
			got := row.f(x.To(dev), y.To(dev))
			packedFrom = math.MaxInt64
			name := fmt.Sprint(row.name, " of ", n, " ", row.x, " and ", row.y)
			same(t, name, got, want, 0)
			same(t, name+" by the general kernel", row.f(x.To(dev), y.To(dev)), want, 0)
		}
	}
	packedFrom = 1
	x := numbers(float, 40, false, 1).To(dev)
	x.Add(x)
	ran(t, "packed_elements:PACKED_OP=zip_add,")
	x.View(5, 8).Transpose(0, 1).Neg() // in the order of memory
	ran(t, "packed_elements:PACKED_OP=map_neg,")
	for name, view := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"not aligned":  func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 1, 36) },
		"with gaps":    func(x *tensor.Tensor) *tensor.Tensor { return x.View(5, 8).Narrow(1, 0, 4) },
		"in two ways":  func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, 36).View(6, 6).T() },
		"again, again": func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, 4).Unsqueeze(0).Expand(3, 4) },
	} {
		y := view(x)
		same(t, name, y.Add(y.Contiguous()), view(x.To(tensor.CPU)).Mul(2), 0)
		ran(t, "zip_f32")
	}
	in := numbers(bf16, 1000, false, 3)
	there := in.To(dev)
	there.MulInPlace(there)
	same(t, "in place", there, in.Mul(in), 0)
	ran(t, "packed_elements:PACKED_OP=zip_mul,")
}

// packedRunsAgree reduces runs of lengths around those of packs, of what a thread reads at once and of pieces, with
// the kernel for one operation and type, and beside it with the general one: to the last bit as on the processor.
func packedRunsAgree(t *testing.T, dev tensor.Device) {
	defer func(from int64) { packedFrom = from }(packedFrom)
	reductions := map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"sum":  func(x *tensor.Tensor) *tensor.Tensor { return x.Sum(-1) },
		"prod": func(x *tensor.Tensor) *tensor.Tensor { return x.Sign().Prod(-1) },
		"max":  func(x *tensor.Tensor) *tensor.Tensor { return x.Max(-1) },
		"min":  func(x *tensor.Tensor) *tensor.Tensor { return x.Min(-1) },
		"sum of squares": func(x *tensor.Tensor) *tensor.Tensor {
			n := x.Norm(-1)
			return n.Mul(n) // the root is rounded alike
		},
	}
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16, tensor.Float16} {
		for _, n := range []int{4, 7, 8, 24, 28, 32, 36, 40, 120, 128, 136, 1016, 1020, 1024, 1028, 1032, 2040, 2048, 2056, 3072, 4096, 4104, 5120, 8192, 8200} {
			for name, f := range reductions {
				if dtype == tensor.Float16 && name != "sum" {
					continue // it differs in how elements are read alone
				}
				for _, rows := range []int{1, 3} {
					x := numbers(dtype, rows*n, false, uint64(n)).View(rows, n)
					want := f(x)
					packedFrom = 1
					got := f(x.To(dev))
					packedFrom = math.MaxInt64
					name := fmt.Sprint(name, " of ", dtype, " ", rows, "×", n)
					same(t, name, got, want, 0)
					same(t, name+" by the general kernel", f(x.To(dev)), want, 0)
				}
			}
		}
	}
	packedFrom = 1
	x := numbers(tensor.Float32, 3*40, false, 5).View(3, 40)
	x.Select(0, 1).Narrow(0, 7, 1).Fill(math.NaN())
	x.Select(0, 2).Narrow(0, 8, 2).Fill(math.Inf(1))
	there := x.To(dev)
	for name, f := range reductions {
		same(t, name+" of NaN and infinity", f(there), f(x), 0)
	}
	for _, row := range []struct {
		name, kernel string
		view         func(x *tensor.Tensor) *tensor.Tensor
	}{
		{"all", "reduce_packs:REDUCE_TYPE=float,REDUCE_OP=reduce_sum", func(x *tensor.Tensor) *tensor.Tensor { return x.View(120) }},
		{"rows with gaps", "reduce_packs", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 4, 32) }},
		{"a row again and again", "reduce_packs", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, 1).Expand(3, 40) }},
		{"rows of no whole packs", "reduce_rows", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 0, 38) }},
		{"rows that begin between packs", "reduce_rows", func(x *tensor.Tensor) *tensor.Tensor {
			return x.View(120).Narrow(0, 0, 114).View(3, 38).Narrow(1, 0, 36)
		}},
		{"not aligned", "reduce_rows", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(1, 1, 36) }},
		{"in two ways", "reduce_rows", func(x *tensor.Tensor) *tensor.Tensor { return x.View(3, 10, 4).Transpose(0, 1) }},
		{"columns", "reduce_columns", func(x *tensor.Tensor) *tensor.Tensor {
			return x.T().Contiguous().T().Narrow(0, 0, 1).Expand(16, 40).T().Contiguous().T()
		}},
		{"float64", "reduce_rows_f64", func(x *tensor.Tensor) *tensor.Tensor { return x.To(tensor.Float64) }},
	} {
		got, want := row.view(there).Sum(-1), row.view(x).Sum(-1)
		ran(t, row.kernel)
		same(t, "sums of "+row.name, got, want, 0)
	}
}

// scatterAgrees adds runs of whole packs, and of none, to places that some share, in their order.
func scatterAgrees(t *testing.T, dev tensor.Device) {
	for _, n := range []int{1, 3, 4, 5, 8, 12, 768} {
		for _, places := range []int{2, 40, 100_000 / n} {
			ids := make([]int64, 65)
			for i := range ids {
				ids[i] = int64(i * i * 7919 % places)
			}
			at := tensor.Of(ids)
			for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16} {
				g := numbers(dtype, len(ids)*n, false, uint64(n)).View(len(ids), n)
				var grads [2]*tensor.Tensor
				for i, on := range []tensor.Device{tensor.CPU, dev} {
					x := tensor.With(dtype).Zeros(places, n).To(on).RequireGrad()
					x.IndexSelect(0, at).Backward(tensor.WithGrad(g.To(on)))
					grads[i] = x.Grad()
				}
				same(t, fmt.Sprint("sums of runs of ", n, " ", dtype, " at ", places, " places"), grads[1], grads[0], 0)
			}
		}
	}
}

// addedInOrderAgrees adds to what is there in the processor's order: large numbers that cancel tell orders apart.
func addedInOrderAgrees(t *testing.T, dev tensor.Device) {
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16, tensor.Float64, tensor.Int64} {
		for _, n := range []int{1, 8} {
			x, base := numbers(dtype, 64*n, false, 1).View(64, n), numbers(dtype, 3*n, false, 2).View(3, n).Mul(4096).To(dtype)
			rows := make([]int, 64)
			for i := range rows {
				rows[i] = i * i % 3
			}
			at := tensor.Of(rows).Unsqueeze(1).Expand(64, n).Contiguous()
			same(t, fmt.Sprint("index add of ", dtype, " ", n), base.To(dev).IndexAdd(0, rows, x.To(dev)), base.IndexAdd(0, rows, x), 0)
			same(t, fmt.Sprint("scatter add of ", dtype, " ", n), base.To(dev).ScatterAdd(0, at, x.To(dev)), base.ScatterAdd(0, at, x), 0)
		}
	}
}

// The kernel with packs is for runs of these, and the other one adds the same where one of them is not aligned.
func TestScatterKernels(t *testing.T) {
	c := fakeCard(t)
	at := []int64{2, 0, 2, 1}
	var sums [2][]float64
	for i, offset := range []int{0, 1} {
		memory := allocated(t, c, 4*100)
		v := device.View{Memory: memory, Type: device.Float32, Shape: []int{100}, Strides: []int{1}}
		mustNot(t, c.Map("copy", device.Float32, v, device.View{Value: bitsOf(device.Float32, 0), Type: device.Float32, Shape: v.Shape, Strides: []int{0}}))
		x := lying(t, c, device.Float32, []int{4, 8}, []int{0, 1}, 0, 0).View
		out := device.View{Memory: memory, Type: device.Float32, Shape: []int{3, 8}, Strides: []int{8, 1}, Offset: offset}
		mustNot(t, c.Scatter(out, x, at, 8))
		ran(t, []string{"scatter_packs", "scatter_f32"}[i])
		sums[i] = values(t, c, out)
	}
	if !slices.Equal(sums[0], sums[1]) {
		t.Errorf("%v and %v", sums[0], sums[1])
	}
}
