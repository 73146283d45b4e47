package loops

// spreads computes one variance for each run of count elements, in two passes and in
// float64: first the mean, then the squares of the distances from it.
func spreads[T float32 | float64](out []T, x Array, count, divisor int, finish func(float64) float64) {
	// The squares are those of distances from a number near the mean.
	spread := func(sum float64, squaresFrom func(near T) float64) T {
		mean := sum / float64(count)
		near := T(mean)
		squares := squaresFrom(near) - float64(count)*(float64(near)-mean)*(float64(near)-mean)
		return T(finish(max(squares, 0) / float64(divisor)))
	}
	if wide, ok := any(Sums.F32).(Folding[T]); ok && len(out) == 1 && count > BlockLen && Vectors32.Squares != nil {
		out[0] = spread(total(foldEach(x, wide)), func(near T) float64 {
			return total(foldEach(x, any(squareFolding(float32(near))).(Folding[T])))
		})
		return
	}
	ParallelRows(len(out), ParallelFrom/max(count, 1), func(start, end int) {
		r := NewReader[T](x)
		defer r.Done()
		for i := start; i < end; i++ {
			sumOf := func(fold func(x []T) float64) (sum float64) {
				InBlocks(0, count, func(from, n int) { sum += fold(r.Block(i*count+from, n)) })
				return sum
			}
			out[i] = spread(sumOf(BlockSum[T]), func(near T) float64 {
				return sumOf(func(x []T) float64 { return blockSquares(x, near) })
			})
		}
	})
}

func total[T float32 | float64](x []T) (sum float64) {
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// BlockSum is Σ x for a block of at most BlockLen numbers.
func BlockSum[T float32 | float64](x []T) float64 {
	if x, ok := any(x).([]float32); ok && Vectors32.Sum != nil {
		return float64(Vectors32.Sum(x))
	}
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// blockSquares is Σ (x - less)² for a block of at most BlockLen numbers.
func blockSquares[T float32 | float64](x []T, less T) float64 {
	if x, ok := any(x).([]float32); ok && Vectors32.Squares != nil {
		return float64(Vectors32.Squares(x, float32(less)))
	}
	var sum float64
	for _, v := range x {
		d := float64(v) - float64(less)
		sum += d * d
	}
	return sum
}
