package tensor

import (
	"runtime"
	"testing"
)

// Add, Sub, Mul and Div in place write straight into their receiver where they may, and
// must give what the operation gives, whatever the right operand shares with it.
func TestInPlaceGivesWhatTheOperationGives(t *testing.T) {
	operations := []struct {
		name    string
		inPlace func(t *Tensor, x any) *Tensor
		plain   func(t *Tensor, x any) *Tensor
	}{
		{"add", (*Tensor).AddInPlace, (*Tensor).Add}, {"sub", (*Tensor).SubInPlace, (*Tensor).Sub},
		{"mul", (*Tensor).MulInPlace, (*Tensor).Mul}, {"div", (*Tensor).DivInPlace, (*Tensor).Div},
	}
	rights := map[string]func(t *Tensor) any{
		"number":         func(*Tensor) any { return 3 },
		"other":          func(t *Tensor) any { return Arange(float64(t.Len())).Add(1).View(t.Shape()...) },
		"other dtype":    func(t *Tensor) any { return With(Int32).Full(2, t.Shape()...) },
		"row":            func(t *Tensor) any { return Arange(float64(t.Size(1))).Add(1) },
		"itself":         func(t *Tensor) any { return t },
		"transposed":     func(t *Tensor) any { return t.T() },
		"its first row":  func(t *Tensor) any { return t.Select(0, 0) },
		"rows backwards": func(t *Tensor) any { return t.Flip(0) },
	}
	for _, o := range operations {
		for name, right := range rights {
			for _, n := range []int{3, 70, 300} {
				for _, d := range []Dtype{Float32, Float64, BFloat16} {
					for _, strided := range []bool{false, true} {
						x := With(NewGenerator(1)).Rand(n, n).Add(0.5).To(d)
						if strided {
							x = x.T()
						}
						want := o.plain(x, right(x)).To(d)
						if o.inPlace(x, right(x)); !Equal(x, want) {
							t.Errorf("%s of %s, %v [%d %d], transposed %v: differs", o.name, name, d, n, n, strided)
						}
					}
				}
			}
		}
	}
}

func TestInPlaceNeedsNoMemory(t *testing.T) {
	x, y := Ones(1000, 100), Ones(1000, 100)
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			f()
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 100
	}
	for name, f := range map[string]func(){"tensor": func() { x.AddInPlace(y) }, "number": func() { x.MulInPlace(1) }} {
		if bytes := allocated(f); bytes > 10_000 {
			t.Errorf("%s: %d bytes for each call, the tensor has %d", name, bytes, x.Bytes())
		}
	}
}
