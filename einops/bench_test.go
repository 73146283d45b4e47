package einops_test

import (
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
)

// BenchmarkRearrange measures what a pattern costs that is known, beside the
// same views by hand.
func BenchmarkRearrange(b *testing.B) {
	x := tensor.Zeros(8, 512, 768)
	b.Run("pattern", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			einops.Rearrange(x, "b s (h d) -> b h s d", einops.Axis("h", 12))
		}
	})
	b.Run("split", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			einops.Rearrange(x, "... (h d) -> ... h d", einops.Axis("h", 12))
		}
	})
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.View(8, 512, 12, 64).Permute(0, 2, 1, 3)
		}
	})
}

// BenchmarkEinsum measures attention scores beside the matrix product that they
// are.
func BenchmarkEinsum(b *testing.B) {
	q, k := tensor.Ones(2, 128, 4, 64), tensor.Ones(2, 128, 4, 64)
	flops := 2. * 2 * 4 * 128 * 128 * 64
	b.Run("pattern", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			einops.Einsum("b q h d, b k h d -> b h q k", q, k)
		}
		b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	})
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			q.Permute(0, 2, 1, 3).Matmul(k.Permute(0, 2, 3, 1))
		}
		b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	})
	x, y := tensor.Ones(2, 3), tensor.Ones(3, 2)
	b.Run("small", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			einops.Einsum("i j, j k -> i k", x, y)
		}
	})
}
