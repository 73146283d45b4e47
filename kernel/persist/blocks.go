package persist

import (
	"cmp"
	"reflect"
	"slices"
	"sort"
)

// A block is a piece of memory that references lead to: a variable, what a pointer points to, the elements of a slice.
// References into the middle of a block are an offset from its start, so sharing of any kind survives.
type block struct {
	lo, hi uintptr
	elem   reflect.Type // what the block is made of; nil for bytes
	root   int          // index of the variable that the block is, or -1
	users  []int        // indexes of the variables that lead here
	lib    *libraryVar  // the variable of a library that the block is, or nil
}

func (b *block) size() uintptr { return b.hi - b.lo }

// merge sorts blocks and joins those that overlap, so that each byte lies in one block. clash is called for memory of
// two types that overlap without one containing the other: their sharing can't be kept.
func merge(bs []block, clash func(a, b *block)) []block {
	slices.SortStableFunc(bs, func(a, b block) int {
		switch {
		case a.lo != b.lo:
			return cmp.Compare(a.lo, b.lo)
		case a.hi != b.hi:
			return cmp.Compare(b.hi, a.hi)
		case (a.root >= 0) != (b.root >= 0):
			return cmp.Compare(b.root, a.root) // no variable is -1
		case a.lib != nil && b.lib == nil:
			return -1
		case a.lib == nil && b.lib != nil:
			return 1
		}
		return cmp.Compare(rank(b.elem), rank(a.elem))
	})
	var out []block
	for _, b := range bs {
		if b.size() == 0 {
			continue
		}
		if len(out) == 0 || b.lo >= out[len(out)-1].hi {
			out = append(out, b)
			continue
		}
		top := &out[len(out)-1]
		if b.hi > top.hi {
			switch {
			case top.elem == nil && b.elem == nil:
			case top.elem == b.elem && (b.lo-top.lo)%b.elem.Size() == 0:
			default:
				clash(top, &b)
				out = append(out, b)
				continue
			}
			top.hi = b.hi
		}
		top.users = union(top.users, b.users)
	}
	return out
}

// rank orders types of equal size: the one that contains the other comes first.
func rank(t reflect.Type) int {
	n := 0
	for t != nil {
		n++
		switch {
		case t.Kind() == reflect.Struct && t.NumField() > 0:
			t = t.Field(0).Type
		case t.Kind() == reflect.Array:
			t = t.Elem()
		default:
			return n
		}
	}
	return n
}

func union(a, b []int) []int {
	for _, x := range b {
		found := false
		for _, y := range a {
			found = found || x == y
		}
		if !found {
			a = append(a, x)
		}
	}
	return a
}

// find returns the index of the block that holds an address, or -1.
func find(bs []block, p uintptr) int {
	i := sort.Search(len(bs), func(i int) bool { return bs[i].hi > p })
	if i < len(bs) && bs[i].lo <= p {
		return i
	}
	return -1
}

// sets joins variables into groups.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(i, j int) { s[s.find(i)] = s.find(j) }
