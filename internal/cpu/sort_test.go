package cpu

import (
	"slices"
	"testing"
)

// keysFor returns n words that are positive and finite as float64: many equal ones where few is set.
func keysFor(n int, seed uint64, few bool) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		seed = seed*0x5851f42d4c957f2d + 0x14057b7ef767814f
		if words[i] = seed >> 3; few {
			words[i] = 1 + seed>>62
		}
	}
	return words
}

// TestSorting compares runs, and two of them merged, with the library's sort.
func TestSorting(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		runs, merge := Sorting()
		runs(nil)
		for seed := range uint64(40) {
			for _, few := range []bool{false, true} {
				n := int(seed%5+1) * SortedRun
				words := guardedSlice(t, keysFor(n, seed, few), seed%2 == 0)
				want := slices.Clone(words)
				for run := range slices.Chunk(want, SortedRun) {
					slices.Sort(run)
				}
				if runs(words); !slices.Equal(words, want) {
					t.Fatalf("runs of %d words: %x, want %x", n, words, want)
				}
				x := guardedSlice(t, slices.Sorted(slices.Values(keysFor(8*int(seed%7+1), seed+100, few))), seed%2 == 0)
				y := guardedSlice(t, slices.Sorted(slices.Values(keysFor(8*int(seed/7+1), seed+200, few))), seed%2 == 0)
				dst := guardedSlice(t, make([]uint64, len(x)+len(y)), seed%2 == 0)
				if merge(dst, x, y); !slices.Equal(dst, slices.Sorted(slices.Values(slices.Concat(x, y)))) {
					t.Fatalf("%x and %x are merged to %x", x, y, dst)
				}
			}
		}
	})
}

// TestSearch compares with a walk along the words.
func TestSearch(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for n := range 40 {
			sorted := guardedSlice(t, slices.Sorted(slices.Values(keysFor(n, uint64(n), n%3 == 0))), n%2 == 0)
			keys := append(keysFor(n%11, uint64(n)+1, n%3 == 0), sorted...)
			keys = guardedSlice(t, append(keys, 0, 1<<64-1), n%2 == 1)
			out := guardedSlice(t, make([]int64, len(keys)), n%2 == 0)
			Search(out, sorted, keys)
			for i, key := range keys {
				want := int64(0)
				for _, s := range sorted {
					if s < key {
						want++
					}
				}
				if out[i] != want {
					t.Fatalf("%x in %x: %d, want %d", key, sorted, out[i], want)
				}
			}
		}
	})
}

// TestWhereSet compares with a walk, with exactly the room that is needed.
func TestWhereSet(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for n := range 300 {
			x := make([]uint8, n)
			var want []int64
			for i := range x {
				if (i*i+n)%7 < n%9 {
					x[i] = 1
					want = append(want, int64(5+i))
				}
			}
			dst := guardedSlice(t, make([]int64, len(want)), n%2 == 0)
			if got := WhereSet(dst, guardedSlice(t, x, n%2 == 1), 5); got != len(want) || !slices.Equal(dst, want) {
				t.Fatalf("%v: %d numbers, %v, want %v", x, got, dst, want)
			}
		}
	})
}
