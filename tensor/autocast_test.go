package tensor

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestAutocastRulesNameOperations(t *testing.T) {
	small, wide := AutocastTable()
	for _, name := range slices.Concat(small, wide) {
		if !slices.Contains(OpNames(), name) {
			t.Errorf("there is a rule for %q, which is no operation", name)
		}
	}
	if !slices.Contains(small, "matmul") || !slices.Contains(wide, "log softmax") {
		t.Errorf("small %v, wide %v", small, wide)
	}
}

func TestAutocastChoosesDtypes(t *testing.T) {
	x, w := Ones(2, 3), Ones(3, 4).RequireGrad()
	for _, dtype := range []Dtype{BFloat16, Float16} {
		Autocast(dtype, func() {
			h := x.Matmul(w)
			for _, test := range []struct {
				name string
				got  *Tensor
				want Dtype
			}{
				{"matmul", h, dtype},
				{"relu keeps", h.ReLU(), dtype},
				{"softmax", h.Softmax(1), Float32},
				{"exp", h.Exp(), Float32},
				{"pow", h.Pow(2), Float32},
				{"mean", h.Mean(), Float32},
				{"variance", h.Var(), Float32},
				{"matmul transposed", x.MatmulT(Ones(5, 3)), dtype},
				{"sum", h.Sum(), Float32},
				{"add to float32", h.Add(Ones(4)), Float32},
				{"float64", Ones(3).To(Float64).Matmul(Ones(3).To(Float64)), Float64},
				{"integers", Of(1, 2).Sum(), Int64},
			} {
				if test.got.Dtype() != test.want {
					t.Errorf("%v: %s: got %v, want %v", dtype, test.name, test.got.Dtype(), test.want)
				}
			}
			Autocast(Float32, func() {
				if y := x.Matmul(w); y.Dtype() != Float32 {
					t.Errorf("switched off: %v", y.Dtype())
				}
			})
			if d, on := AutocastDtype(); d != dtype || !on {
				t.Errorf("after an inner region: %v %v", d, on)
			}
		})
	}
	if _, on := AutocastDtype(); on {
		t.Error("autocast is still on")
	}
	if err := Try(func() { Autocast(Float8E4M3, func() {}) }); !errors.Is(err, ErrDtype) {
		t.Errorf("float8: got %v, want ErrDtype", err)
	}
}

func TestAutocastGradientsAreFloat32AndBackwardIsNotCast(t *testing.T) {
	grad := func(inside bool) *Tensor {
		x, w := Arange(6).View(2, 3).To(Float32), Full(0.1, 3, 4).RequireGrad()
		var loss *Tensor
		Autocast(BFloat16, func() {
			loss = x.Matmul(w).Square().Sum()
			if inside {
				loss.Backward()
			}
		})
		if !inside {
			loss.Backward()
		}
		return w.Grad()
	}
	a, b := grad(true), grad(false)
	if a.Dtype() != Float32 || !Equal(a, b) {
		t.Errorf("gradient %v; with Backward inside %v, outside %v", a.Dtype(), a, b)
	}
}

func TestAutocastSurvivesRecompute(t *testing.T) {
	grad := func(recompute bool) *Tensor {
		x, w := Arange(6).View(2, 3).To(Float32), Full(0.1, 3, 3).RequireGrad()
		f := func(in ...*Tensor) *Tensor { return in[0].Matmul(w).ReLU().Matmul(w) }
		var loss *Tensor
		Autocast(BFloat16, func() {
			if recompute {
				loss = Recompute(f, x).Sum()
			} else {
				loss = f(x).Sum()
			}
		})
		loss.Backward()
		return w.Grad()
	}
	if plain, again := grad(false), grad(true); !Equal(plain, again) {
		t.Errorf("gradients %v without and %v with recomputation", plain, again)
	}
}

func TestAutocastIsOneGoroutines(t *testing.T) {
	var wait sync.WaitGroup
	Autocast(BFloat16, func() {
		wait.Go(func() {
			if y := Ones(2).Matmul(Ones(2)); y.Dtype() != Float32 {
				t.Errorf("another goroutine computes in %v", y.Dtype())
			}
		})
		wait.Wait()
	})
}

// TestAutocastConvertsOnce: operands that several operations have in common are converted once, until they change.
func TestAutocastConvertsOnce(t *testing.T) {
	g := NewGenerator(5)
	x, w := With(g).Randn(6, 8).RequireGrad().Mul(1), With(g).Randn(8, 8).RequireGrad()
	v := With(g).Randn(8, 8).RequireGrad()
	conversions := func(f func()) (n int) {
		for _, e := range collect(func() { Autocast(BFloat16, f) }) {
			if e.Kind == Ran && e.Op == "to" {
				n++
			}
		}
		return n
	}
	was := w.Sum().Item()
	for _, c := range []struct {
		name string
		want int
		run  func()
	}{
		{"an input of two products", 3, func() { x.Matmul(w); x.Matmul(v) }},
		{"a weight that is used twice", 3, func() { x.Matmul(w); x.Add(1).Matmul(w) }},
		{"in an Autocast inside", 2, func() { x.Matmul(w); Autocast(BFloat16, func() { x.Matmul(w) }) }},
		{"in another dtype", 4, func() { x.Matmul(w); Autocast(Float16, func() { x.Matmul(w) }) }},
		{"another view", 4, func() { x.Matmul(w); x.T().T().Narrow(0, 0, 3).Matmul(w.T()) }},
		{"a weight that was changed", 3, func() {
			x.Matmul(w)
			NoGrad(func() { w.AddInPlace(1) })
			if got := x.Matmul(w); !Equal(got, x.To(BFloat16).Matmul(w.To(BFloat16))) {
				t.Error("the weight is used as it was before it changed")
			}
		}},
		{"after FreeAfter", 4, func() {
			for range 2 {
				FreeAfter(func(func(*Tensor) *Tensor) { x.Matmul(w) })
			}
		}},
	} {
		n := conversions(c.run)
		if c.name == "a weight that was changed" {
			n -= 2 // for the comparison
		}
		if n != c.want {
			t.Errorf("%s: %d conversions, want %d", c.name, n, c.want)
		}
	}
	if w.Sum().Item() == was {
		t.Error("the weight did not change")
	}

	// Code that has the elements may write unnoticed.
	elements := Data[float32](v)
	Autocast(BFloat16, func() {
		before := x.Matmul(v)
		for i := range elements {
			elements[i] = 0
		}
		if after := x.Matmul(v); Equal(before, after) {
			t.Error("elements that were written directly are not seen")
		}
	})
	gone := Ones(8, 8)
	Autocast(BFloat16, func() {
		x.Matmul(gone)
		gone.Free()
		wantPanic(t, ErrFreed, "freed by", func() { x.Matmul(gone) })
	})
}

// TestSharedConversionsChangeNoGradient: conversions share elements, not places in the graph: gradients
// of several uses are added in float32.
func TestSharedConversionsChangeNoGradient(t *testing.T) {
	g := NewGenerator(6)
	x, w := With(g).Randn(16, 32), With(g).Randn(32, 32)
	gradients := func(once func(*Tensor) *Tensor) (gx, gw *Tensor) {
		x, w := x.Clone().RequireGrad(), w.Clone().RequireGrad()
		h := x.Mul(1.1)
		var loss *Tensor
		Autocast(BFloat16, func() {
			loss = once(h).Matmul(once(w)).Add(once(h).Matmul(once(w)).Square()).Add(once(h.Add(1)).Matmul(once(w))).Square().Sum()
		})
		loss.Backward()
		return x.Grad(), w.Grad()
	}
	sharedX, sharedW := gradients(func(x *Tensor) *Tensor { return x })
	aloneX, aloneW := gradients((*Tensor).Clone)
	if !Equal(sharedX, aloneX) || !Equal(sharedW, aloneW) {
		t.Error("gradients differ from those with a copy for each use")
	}
}
