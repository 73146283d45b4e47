package persist_test

import (
	"slices"
	"testing"

	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
)

// A process may run several cells: what they leave is what processes of their own would leave.
func TestTurns(t *testing.T) {
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		a, n := []int{1, 2, 3}, 1
		b := a[1:]
		persist.Def("a", &a, "b", &b, "n", &n)
	}, func(t *testing.T) {
		var a, b, c []int
		var n, m int
		func() {
			defer celltest.Begin("a", &a, "~b", &b)()
			a[1] = 5
		}()
		persist.Turn()
		func() { // it was not known when this was written that c would share the memory of a
			defer celltest.Begin("b", &b)()
			if b[0] != 5 {
				t.Errorf("the second cell sees %d, want 5", b[0])
			}
			b[1], c = 6, b
			persist.Def("c", &c)
		}()
		persist.Turn()
		func() {
			defer celltest.Begin("c", &c)()
			c[1]++
		}()
		for _, v := range []int{2, 1, 2, 1} { // back to what was in a file that is gone
			persist.Turn()
			func() {
				defer celltest.Begin("n", &n)()
				n = v
			}()
		}
		persist.Turn()
		func() {
			defer celltest.Begin()()
			m = 4
			persist.Def("m", &m)
		}()
	}, func(t *testing.T) {
		var a, b, c []int
		var n, m int
		defer celltest.Begin("a", &a, "b", &b, "c", &c, "n", &n, "m", &m)()
		if !slices.Equal(a, []int{1, 5, 7}) || n != 1 || m != 4 {
			t.Errorf("a is %v, n %d and m %d, want [1 5 7], 1 and 4", a, n, m)
		}
		if a[1] = 8; b[0] != 8 || c[0] != 8 {
			t.Errorf("a, b and c have shared memory, and are now %v, %v and %v", a, b, c)
		}
	})
}

// What a cell could not keep is not kept by the next one of the same process either, and does not disturb it.
func TestTurnWithoutValue(t *testing.T) {
	celltest.Run(t, func(t *testing.T) {
		var ch chan int
		func() {
			defer celltest.Begin()()
			ch = make(chan int)
			persist.Def("ch", &ch)
		}()
		persist.Turn()
		n := 1
		func() {
			defer celltest.Begin()()
			persist.Def("n", &n)
		}()
		m, err := persist.ReadManifest(celltest.Folder())
		_, channel := m.Vars["ch"]
		if _, number := m.Vars["n"]; channel || !number || err != nil {
			t.Errorf("the channel is kept: %v, the number: %v (%v)", channel, number, err)
		}
	})
}
