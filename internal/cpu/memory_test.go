package cpu

import (
	"testing"
	"unsafe"
)

// TestSettleKeepsContent asks for huge pages in the middle of memory that is in use.
func TestSettleKeepsContent(t *testing.T) {
	for _, size := range []int{1, 1 << 20, 5<<20 + 123} {
		memory := make([]byte, size)
		for i := range memory {
			memory[i] = byte(i * 7 >> 3)
		}
		for range 2 {
			AdviseHuge(unsafe.Pointer(&memory[0]), size)
		}
		for i := range memory {
			if memory[i] != byte(i*7>>3) {
				t.Fatalf("byte %d of %d is %d", i, size, memory[i])
			}
		}
	}
}
