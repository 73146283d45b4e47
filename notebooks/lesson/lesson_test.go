package lesson

import (
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

// printed returns what f prints.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	defer func() { os.Stdout = stdout }()
	f()
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type vector []float64

func (v vector) Floats() []float64 { return v }

type name int

func (name) String() string { return "seven" }

func TestExpect(t *testing.T) {
	tests := []struct {
		name      string
		got, want any
		tolerance []float64
		problem   string // empty if it must pass
	}{
		{"ints of different types", int32(3), 3, nil, ""},
		{"int and float", 40e9, 40_000_000_000, nil, ""},
		{"rounded", 143.9282, 143.93, []float64{1e-4}, ""},
		{"outside the tolerance", 144.2, 143.93, []float64{1e-4}, "got 144.2, want 143.93 within 0.01 %"},
		{"not a number", math.NaN(), math.NaN(), nil, ""},
		{"infinite", math.Inf(1), math.Inf(1), nil, ""},
		{"infinite with a sign", math.Inf(-1), math.Inf(1), nil, "got -Inf, want +Inf"},
		{"tensor", vector{1, 2}, []int{1, 2}, nil, ""},
		{"tensor of another length", vector{1, 2}, []int{1}, nil, "got 2 numbers, want 1"},
		{"nested slices", [][]float64{{1}, {2}}, []int{1, 2}, nil, ""},
		{"a name", name(7), "seven", nil, ""},
		{"text", "cpu", "cpu", nil, ""},
		{"bool", true, false, nil, "got true, want false"},
		{"number for text", 1, "one", nil, "got 1, want one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				r := recover()
				switch err, _ := r.(error); {
				case tt.problem == "" && r != nil:
					t.Errorf("panicked: %v", r)
				case tt.problem != "" && (err == nil || err.Error() != "lesson: it: "+tt.problem):
					t.Errorf("panicked with %v, want %q", r, tt.problem)
				}
			}()
			out := printed(t, func() { Expect("it", tt.got, tt.want, tt.tolerance...) })
			if !strings.HasPrefix(out, "✓ it: ") {
				t.Errorf("printed %q", out)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	var none *vector
	for _, tt := range []struct {
		answer any
		want   string
	}{
		{nil, "replace nil with your answer"},
		{none, "replace nil with your answer"},
		{15, "✓ Exercise 05.1 is right."},
		{11, "11 is not right yet. Where does the view begin?"},
		{"fifteen", `"fifteen" is of type string; give a number.`},
	} {
		if got := printed(t, func() { Check("05.1", tt.answer) }); !strings.Contains(got, tt.want) {
			t.Errorf("answer %v: printed %q, want %q in it", tt.answer, got, tt.want)
		}
	}
}

// An answer of another type than the one wanted gets no hint about its value.
func TestCheckNamesTheType(t *testing.T) {
	for _, tt := range []struct {
		key    string
		answer any
		want   string
	}{
		{"05.3", "false", `Exercise 05.3: "false" is of type string; give a bool, true or false, without quotes.`},
		{"05.3", 0, "0 is of type int; give a bool"},
		{"05.3", true, "true is not right yet."},
		{"05.3", false, "is right"},
		{"05.2", "1, 8", `"1, 8" is of type string; give a slice of numbers or a tensor.`},
		{"05.2", []int{8, 1}, "is not right yet."},
		{"02.2", 32, "32 is of type int; give a name, as text in quotes."},
		{"02.2", "int64", "int64 is not right yet."},
	} {
		if got := printed(t, func() { Check(tt.key, tt.answer) }); !strings.Contains(got, tt.want) {
			t.Errorf("%s, answer %v: printed %q, want %q in it", tt.key, tt.answer, got, tt.want)
		}
	}
}

// A hint must not contain the answer.
func TestHintsGiveNothingAway(t *testing.T) {
	for _, e := range exercises {
		key := e.key
		if e.hint == "" {
			t.Errorf("exercise %s has no hint", key)
		}
		if answer := brief(e.want); len(answer) > 1 && strings.Contains(e.hint, answer) {
			t.Errorf("the hint of exercise %s contains the answer %s", key, answer)
		}
		// A lesson that is run as a whole shows it below the exercise.
		if answer := brief(e.want); len(answer) > 1 && strings.Contains(e.praise, answer) {
			t.Errorf("the praise of exercise %s contains the answer %s", key, answer)
		}
	}
}

func TestMust(t *testing.T) {
	if got := Must(7, nil); got != 7 {
		t.Errorf("got %d, want 7", got)
	}
	OK(nil)
	for name, f := range map[string]func(){
		"Must": func() { Must(os.Open("there is no such file")) },
		"OK":   func() { OK(os.ErrNotExist) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, os.ErrNotExist) {
					t.Errorf("panicked with %v, want the error itself", err)
				}
			}()
			f()
			t.Error("went on")
		})
	}
}

func TestUnknownExercisePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown key was accepted")
		}
	}()
	Check("99.9", 1)
}

// Whatever compares takes no number for an infinity, and no infinity for a number: a share of it is everything.
func TestInfinityIsNoNumber(t *testing.T) {
	inf := math.Inf(1)
	compare := map[string]func(got, want float64) bool{
		"Expect": func(got, want float64) bool { return differs(got, want, []float64{1e-3}) == "" },
		"Guess":  func(got, want float64) bool { return (&question{Share: 1e-3, Distance: 1e-3}).same(got, want) },
		"Grade": func(got, want float64) bool {
			return unequal("", reflect.ValueOf(got), reflect.ValueOf(want), 1e-3) == ""
		},
		"Grade, elements": func(got, want float64) bool {
			return unequal("", reflect.ValueOf([]float64{0, got}), reflect.ValueOf([]float64{0, want}), 0) == ""
		},
	}
	for name, same := range compare {
		for _, tt := range []struct {
			got, want float64
			same      bool
		}{
			{inf, inf, true}, {-inf, -inf, true}, {math.NaN(), math.NaN(), true}, {1, 1.0001, true},
			{0, inf, false}, {1e308, inf, false}, {-1, -inf, false}, {inf, -inf, false}, {inf, 1, false}, {math.NaN(), inf, false}, {inf, math.NaN(), false}, {1, 1.1, false},
		} {
			if name == "Grade, elements" && tt.got == 1 && tt.want == 1.0001 {
				continue // its tolerance is smaller
			}
			if same(tt.got, tt.want) != tt.same {
				t.Errorf("%s takes %g for %g: %t", name, tt.got, tt.want, !tt.same)
			}
		}
	}
}
