package oracle

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestLoad reads every family that is here.
func TestLoad(t *testing.T) {
	for _, family := range []string{"autograd", "dtypes", "einops", "elementwise", "files", "nn", "operations", "optim", "primitives", "tokenizers", "views"} {
		cases, err := Load(family)
		if err != nil {
			t.Error(err)
		}
		seen := map[string]bool{}
		for _, c := range cases {
			if seen[c.ID] {
				t.Errorf("%s: two cases have id %s", family, c.ID)
			}
			seen[c.ID] = true
			for i, in := range c.Inputs {
				n := 1
				for _, size := range in.Shape {
					n *= size
				}
				if len(in.Data) != n {
					t.Errorf("%s: input %d has shape %v and %d items", c.ID, i, in.Shape, len(in.Data))
				}
			}
			if c.Requires != "" {
				if _, err := Asset(c.Requires); err != nil {
					t.Errorf("%s: %v", c.ID, err)
				}
			}
		}
	}
	if _, err := Load("nothing"); err == nil {
		t.Error("a family that is not there loads without an error")
	}
}

func TestDiff(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	object := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	list := func(v ...any) []any { return v }
	close1 := Tolerance{Atol: 0.1}
	for _, c := range []struct {
		name      string
		got, want any
		tol       Tolerance
		differs   string // part of the message; empty when they agree
	}{
		{"int and number", 3, 3.0, Tolerance{}, ""},
		{"other number", 3, 4.0, Tolerance{}, "got 3, want 4"},
		{"within atol", 3.05, 3.0, close1, ""},
		{"outside atol", 3.2, 3.0, close1, "got 3.2"},
		{"within rtol", 101.0, 100.0, Tolerance{Rtol: 0.011}, ""},
		{"nan", nan, "nan", Tolerance{}, ""},
		{"nan for a number", nan, 1.0, close1, "want 1"},
		{"number for nan", 1.0, "nan", close1, "want \"nan\""},
		{"inf", inf, "inf", Tolerance{}, ""},
		{"inf of the other sign", -inf, "inf", close1, "want \"inf\""},
		{"big number for inf", math.MaxFloat64, "inf", close1, "want"},
		{"zero of the other sign", math.Copysign(0, -1), 0.0, Tolerance{}, ""},
		{"string", "a", "a", Tolerance{}, ""},
		{"other string", "a", "b", Tolerance{}, `got "a", want "b"`},
		{"string for number", "1", 1.0, Tolerance{}, `got "1", want 1`},
		{"number for string", 1, "1", Tolerance{}, `got 1, want "1"`},
		{"bool", true, true, Tolerance{}, ""},
		{"other bool", false, true, Tolerance{}, "want true"},
		{"nil", nil, nil, Tolerance{}, ""},
		{"nil tensor", (*Tensor)(nil), nil, Tolerance{}, ""},
		{"nil for a value", nil, list(), Tolerance{}, "got null"},
		{"value for null", 1, nil, Tolerance{}, "want null"},
		{"slice", []int32{1, 2}, list(1.0, 2.0), Tolerance{}, ""},
		{"slice item", []int32{1, 3}, list(1.0, 2.0), Tolerance{}, "[1]: got 3, want 2"},
		{"slice length", []int32{1}, list(1.0, 2.0), Tolerance{}, "got 1 items, want 2"},
		{"empty slice", []int32{}, list(), Tolerance{}, ""},
		{"nested", [][]int{{1}, {2}}, list(list(1.0), list(5.0)), Tolerance{}, "[1][0]: got 2, want 5"},
		{"map", map[string]any{"a": 1, "b": 2}, object("a", 1.0), Tolerance{}, ""},
		{"map lacks key", map[string]any{"b": 2}, object("a", 1.0), Tolerance{}, `no "a"`},
		{"path", map[string]any{"a": map[string]int{"b": 2}}, object("a", object("b", 1.0)), Tolerance{}, "a.b: got 2"},
		{"float32 data", map[string]any{"dtype": "float32", "data": []float32{0.1}}, object("dtype", "float32", "data", list(0.1)), Tolerance{}, ""},
		{"float64 data", map[string]any{"dtype": "float64", "data": []float32{0.1}}, object("dtype", "float64", "data", list(0.1)), Tolerance{}, "data[0]"},
		{"tensor", Tensor{"float64", []int{1, 2}, []float64{1, 2}}, object("dtype", "float64", "shape", list(1.0, 2.0), "data", list(1.0, 2.0), "more", 1.0), Tolerance{}, ""},
		{"tensor dtype", Tensor{"float32", []int{1}, []float64{1}}, object("dtype", "float64", "shape", list(1.0), "data", list(1.0)), Tolerance{}, "dtype"},
		{"tensor of bool", &Tensor{"bool", []int{2}, []float64{1, 0}}, object("dtype", "bool", "shape", list(2.0), "data", list(true, false)), Tolerance{}, ""},
		{"list of tensors", []Tensor{{"int64", []int{}, []float64{7}}}, list(object("dtype", "int64", "shape", list(), "data", list(7.0))), Tolerance{}, ""},
		{"tensor without data", Tensor{}, object("dtype", "", "shape", list()), Tolerance{}, `without "data"`},
	} {
		d := Diff(c.got, c.want, c.tol)
		if (d == "") != (c.differs == "") || !strings.Contains(d, c.differs) {
			t.Errorf("%s: Diff(%v, %v) = %q, want it to contain %q", c.name, c.got, c.want, d, c.differs)
		}
	}
}

// TestAsk checks what the runner makes of each kind of outcome.
func TestAsk(t *testing.T) {
	one := 1
	answer := &Case{Op: "f", Expect: 1.0}
	fails := &Case{Op: "f", Error: &ExpectedError{Step: &one}}
	lenient := &Case{Op: "f", Expect: 1.0, Lenient: true}
	optional := &Case{Op: "f", Expect: 1.0, Optional: "yes"}
	err := errors.New("no")
	gives := func(v any, err error) func(*Case) (any, error) {
		return func(*Case) (any, error) { return v, err }
	}
	for _, x := range []struct {
		name    string
		c       *Case
		f       func(*Case) (any, error)
		problem string
		left    bool
	}{
		{"right", answer, gives(1, nil), "", false},
		{"wrong", answer, gives(2, nil), "got 2, want 1", false},
		{"error for an answer", answer, gives(nil, err), `got error "no"`, false},
		{"right check", answer, gives(Check(func() error { return nil }), nil), "", false},
		{"wrong check", answer, gives(Check(func() error { return err }), nil), "no", false},
		{"panic", answer, func(*Case) (any, error) { panic("boom") }, "panic: boom", false},
		{"unread args", &Case{Op: "f", Args: []byte(`{"a":1}`)}, func(c *Case) (any, error) { c.DecodeArgs(&struct{}{}); return 1, nil }, "cannot read the case", false},
		{"no such op", &Case{Op: "g"}, gives(1, nil), `no function for op "g"`, false},
		{"error", fails, gives(nil, At(1, err)), "", false},
		{"error without step", fails, gives(nil, err), "", false},
		{"error elsewhere", fails, gives(nil, At(0, err)), "want one at step 1", false},
		{"answer for an error", fails, gives(1, nil), "want an error", false},
		{"huge error", fails, func(*Case) (any, error) { sink = make([]byte, 80<<20); return nil, err }, "allocated", false},
		{"lenient error", lenient, gives(nil, err), "", false},
		{"lenient answer", lenient, gives(1, nil), "", false},
		{"lenient panic", lenient, func(*Case) (any, error) { panic(err) }, "panic", false},
		{"not offered", optional, gives(nil, ErrNotOffered), "", true},
		{"core not offered", answer, gives(nil, ErrNotOffered), "not optional", false},
		{"optional and wrong", optional, gives(2, nil), "got 2", false},
	} {
		problem, left := ask(Ops{"f": x.f}, x.c)
		if left != x.left || (problem == "") != (x.problem == "") || !strings.Contains(problem, x.problem) {
			t.Errorf("%s: ask = %q, %v; want %q, %v", x.name, problem, left, x.problem, x.left)
		}
	}
}

var sink []byte
