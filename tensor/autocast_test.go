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
				{"whole numbers", Of(1, 2).Sum(), Int64},
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
