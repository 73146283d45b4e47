package loops

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/layout"
)

// TestSortWords compares with the library's sort, at each length at which a run ends early and on both sides of the one
// from which words are dealt out by their bytes.
func TestSortWords(t *testing.T) {
	lengths := []int{511, 512, 513, 1000, 4099}
	for n := range 17 {
		lengths = append(lengths, n*cpu.SortedRun)
	}
	for n := range 140 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, mask := range []uint64{1<<32 - 1, 7, 0xff00, 0} { // with all keys different, and with few
			words, seed := make([]uint64, n), uint64(n)*977+mask
			for i := range words {
				seed = seed*0x5851f42d4c957f2d + 0x14057b7ef767814f
				words[i] = wordOf(seed>>32&mask, i)
			}
			want := slices.Sorted(slices.Values(words))
			if got := SortWords(words, make([]uint64, n), n); !slices.Equal(got, want) {
				t.Fatalf("%d words, keys of %#x: got %x, want %x", n, mask, got, want)
			}
			for _, first := range []int{1, 8, 33, 100} {
				words, first := slices.Clone(want), min(first, n)
				slices.SortFunc(words, func(a, b uint64) int { return cmp.Compare(placeOf(a), placeOf(b)) })
				if got := SortWords(words, make([]uint64, n), first)[:first]; !slices.Equal(got, want[:first]) {
					t.Fatalf("the first %d of %d words, keys of %#x: got %x, want %x", first, n, mask, got, want[:first])
				}
			}
		}
	}
}

// TestSearch compares with a walk along the sorted numbers, NaN among them and among the wanted ones.
func TestSearch(t *testing.T) {
	nan := float32(math.NaN())
	sorted := []float32{-3, -1, -1, 0, 0.5, 2, 2, 2, 7, nan, nan}
	for n := range len(sorted) + 1 {
		for start := range n + 1 {
			some := sorted[start:n]
			values := []float32{-4, -3, -2, -1, 0, 0.25, 0.5, 1, 2, 3, 7, 8, nan, float32(math.Inf(1)), float32(math.Inf(-1))}
			for _, right := range []bool{false, true} {
				got := make([]int64, len(values))
				Search(got, some, values, right)
				for i, v := range values {
					want := int64(0)
					for _, e := range some {
						less := e < v || e == e && v != v
						same := e == v || e != e && v != v
						if less || right && same {
							want++
						}
					}
					if got[i] != want {
						t.Fatalf("%v in %v, right %v: %d, want %d", v, some, right, got[i], want)
					}
				}
			}
		}
	}
}

// TestCounted compares with a map.
func TestCounted(t *testing.T) {
	for _, x := range [][]int64{{5}, {3, 3, 3}, {-2, 4, -2, 0, 1, 4}, {math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64}, {math.MinInt64, math.MaxInt64}, {0, 100}, {}} {
		at := make([]int64, len(x))
		values, counts, ok := Counted(x, at)
		if !ok {
			if len(x) != 0 && uint64(slices.Max(x))-uint64(slices.Min(x)) <= 2*uint64(len(x)) {
				t.Errorf("%v was not counted", x)
			}
			continue
		}
		times := map[int64]int64{}
		for i, v := range x {
			times[v]++
			if values[at[i]] != v {
				t.Errorf("%v: number %d stands at %d of %v", x, i, at[i], values)
			}
		}
		if !slices.IsSorted(values) || len(values) != len(times) {
			t.Errorf("%v has the values %v", x, values)
		}
		for i, v := range values {
			if counts[i] != times[v] {
				t.Errorf("%v: %d occurs %d times, want %d", x, v, counts[i], times[v])
			}
		}
	}
}

// TestRankRows compares with rows that are sorted, at lengths on both sides of the one from which words are counted,
// with equal numbers and with NaN.
func TestRankRows(t *testing.T) {
	for _, n := range []int{1, 2, 3, 31, 64, 511, 512, 513, 1000, 5000} {
		for _, kinds := range []uint64{2, 37, 1 << 20} {
			for _, missing := range []int{0, 1, 3} {
				row, seed := make([]float32, n), uint64(n)*31+kinds
				for i := range row {
					seed = seed*0x5851f42d4c957f2d + 0x14057b7ef767814f
					row[i] = float32(int64(seed>>40%kinds) - int64(kinds/3))
				}
				for i := range min(missing, n-1) {
					row[n*(i+1)/5] = float32(math.NaN())
				}
				l := layout.Layout{Shape: []int{1, n}, Strides: []int{n, 1}}
				x := Array{Data: unsafe.Pointer(&row[0]), Size: 4 * n, Layout: &l, Element: Element{Dtype: device.Float32, Width: 4}}
				sorted := make([]int64, n)
				all := Array{Data: unsafe.Pointer(&sorted[0]), Size: 8 * n, Layout: &l, Element: Element{Dtype: device.Int64, Width: 8}}
				ArgsortRows(all, x, 1, n, false, Key32, 4)
				ranks := []int{0, (n - 1) / 2, n / 2, n - 1}
				want, got := make([]int64, len(ranks)), make([]int64, len(ranks))
				for i, rank := range ranks {
					want[i] = sorted[rank]
					if last := sorted[n-1]; row[last] != row[last] {
						want[i] = last
					}
				}
				if RankRows(got, x, n, ranks...); !slices.Equal(got, want) {
					t.Fatalf("%d numbers of %d kinds, %d NaN: at %d, want %d", n, kinds, missing, got, want)
				}
			}
		}
	}
}
