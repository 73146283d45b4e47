package numbers

import (
	"math"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// TestFloat8Storers compares the loops that store with one number after another: around each upper half of a float32,
// where all codes, numbers between two of them and numbers that are too large are.
func TestFloat8Storers(t *testing.T) {
	for d, code := range map[device.Type]func(x float32, saturate bool) uint8{device.Float8E4M3: E4M3Code, device.Float8E5M2: E5M2Code} {
		store := Storer[float32](d)
		for _, lower := range []uint32{0, 1, 0x7fff, 0x8000, 0xffff} {
			x, got := make([]float32, 1<<16), make([]uint8, 1<<16)
			for i := range x {
				x[i] = math.Float32frombits(uint32(i)<<16 | lower)
			}
			store(unsafe.Pointer(&got[0]), x)
			for i, v := range x {
				if want := code(v, false); got[i] != want {
					t.Fatalf("type %d: %v (%#08x) has the code %#02x, want %#02x", d, v, math.Float32bits(v), got[i], want)
				}
			}
			for n := range 40 { // whatever the length
				short := make([]uint8, n+1)
				store(unsafe.Pointer(&short[0]), x[0x3f00:][:n])
				for i, v := range x[0x3f00:][:n] {
					if want := code(v, false); short[i] != want || short[n] != 0 {
						t.Fatalf("type %d: number %d of %d, %v, has the code %#02x, want %#02x; behind them %#02x", d, i, n, v, short[i], want, short[n])
					}
				}
			}
		}
	}
}
