package einops

import (
	"math"
	"math/bits"
	"slices"
)

// The order of the products decides the work: (a b)(b c)(c d) costs abc + acd
// one way and bcd + abd the other. As in opt_einsum (Smith and Gray, 2018), the cost
// of a product is the product of the sizes of all axes of its two operands. For up to
// exactTerms operands, dynamic programming over subsets finds the cheapest order of
// all; beyond that, products are chosen greedily.
const exactTerms = 9

// order returns the pairs of terms to multiply; results are numbered after the
// operands.
func order(sets []uint64, kept uint64, sizes []int) [][2]int {
	if len(sets) <= exactTerms {
		return cheapest(sets, kept, sizes)
	}
	return greedy(sets, kept, sizes)
}

// volume is the product of the sizes of a set of axes.
func volume(set uint64, sizes []int) float64 {
	v := 1.
	for ; set != 0; set &= set - 1 {
		v *= float64(sizes[bits.TrailingZeros64(set)])
	}
	return v
}

// cheapest finds the best way to multiply every subset of the terms from the
// best ways for its parts.
func cheapest(sets []uint64, kept uint64, sizes []int) [][2]int {
	n := len(sets)
	full := 1<<n - 1
	type best struct {
		cost, largest float64 // operations, and the largest intermediate for ties
		left          int
	}
	table := make([]best, full+1)
	axes := make([]uint64, full+1) // of the product of a subset
	for s := 1; s <= full; s++ {
		inside, outside := uint64(0), kept
		for i, set := range sets {
			if s&(1<<i) != 0 {
				inside |= set
			} else {
				outside |= set
			}
		}
		axes[s] = inside & outside
		if s&(s-1) == 0 {
			axes[s] = inside
		}
	}
	for s := 1; s <= full; s++ {
		if s&(s-1) == 0 {
			continue
		}
		for left := (s - 1) & s; left > s-left; left = (left - 1) & s {
			a, b := table[left], table[s-left]
			cost := a.cost + b.cost + volume(axes[left]|axes[s-left], sizes)
			largest := max(a.largest, b.largest, volume(axes[s], sizes))
			if table[s].left == 0 || cost < table[s].cost || cost == table[s].cost && largest < table[s].largest {
				table[s] = best{cost, largest, left}
			}
		}
	}
	var pairs [][2]int
	var walk func(s int) int
	walk = func(s int) int {
		if s&(s-1) == 0 {
			return bits.TrailingZeros(uint(s))
		}
		left := table[s].left
		// Taking the smaller half first keeps the operands in the given order.
		b := walk(s - left)
		a := walk(left)
		pairs = append(pairs, [2]int{min(a, b), max(a, b)})
		return n + len(pairs) - 1
	}
	walk(full)
	return pairs
}

// greedy keeps multiplying the pair whose result needs the least memory beyond that of
// its operands.
func greedy(sets []uint64, kept uint64, sizes []int) [][2]int {
	all := slices.Clone(sets)
	open := make([]int, len(sets))
	for i := range open {
		open[i] = i
	}
	var pairs [][2]int
	for len(open) > 1 {
		bestCost, bestWork := math.Inf(1), math.Inf(1)
		var at [2]int
		var result uint64
		for i := range open {
			for j := range i {
				outside := kept
				for k := range open {
					if k != i && k != j {
						outside |= all[open[k]]
					}
				}
				a, b := all[open[j]], all[open[i]]
				r := (a | b) & outside
				cost, work := volume(r, sizes)-volume(a, sizes)-volume(b, sizes), volume(a|b, sizes)
				if cost < bestCost || cost == bestCost && work < bestWork {
					bestCost, bestWork, at, result = cost, work, [2]int{j, i}, r
				}
			}
		}
		pairs = append(pairs, [2]int{open[at[0]], open[at[1]]})
		all = append(all, result)
		open = slices.Delete(open, at[1], at[1]+1)
		open[at[0]] = len(all) - 1
	}
	return pairs
}
