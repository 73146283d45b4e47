package memory

import (
	"math"
	"testing"
)

func TestBlockClasses(t *testing.T) {
	previous, count := 0, 0
	for size := 1<<RecycleOver + 1; size <= 1<<16; size++ {
		class, capacity, ok := blockClass(size)
		if !ok || capacity < size || capacity > size+size/8 {
			t.Fatalf("%d bytes lie in blocks of %d", size, capacity)
		}
		if again, same, _ := blockClass(capacity); again != class || same != capacity {
			t.Fatalf("blocks of %d bytes are of class %d, one for %d bytes of class %d", capacity, again, size, class)
		}
		if class != previous {
			previous, count = class, count+1
		}
	}
	if want := (16 - RecycleOver) * perDoubling; count != want {
		t.Errorf("%d classes, want %d", count, want)
	}
	if class, _, ok := blockClass(1 << recycleUpTo); !ok || class >= len(recycled) {
		t.Errorf("the largest block is of class %d of %d", class, len(recycled))
	}
	for _, size := range []int{0, 1, 1 << RecycleOver, 1<<recycleUpTo + 1, 1 << 40} {
		if _, capacity, ok := blockClass(size); ok || capacity != size {
			t.Errorf("%d bytes are to be recycled, as %d", size, capacity)
		}
	}
}

// TestWaitingForTheCollector: while it is too early for another run, each result must not ask
// the runtime how much lives.
func TestWaitingForTheCollector(t *testing.T) {
	Handed.Store(1 << 40)
	Resting.Store(math.MaxInt64)
	defer func() {
		Handed.Store(0)
		Resting.Store(0)
	}()
	if n := testing.AllocsPerRun(100, func() { aboutToHand(8) }); n != 0 {
		t.Errorf("%g allocations before each result", n)
	}
}
