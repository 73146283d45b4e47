package lesson

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// half is an exercise: halve the numbers of a list, and say how many there are.
var half = &task{
	name: "half", args: []string{"list", "unit"},
	prototype: (func(list []float64, unit string) ([]float64, int))(nil),
	cases: []gradedCase{
		{category: "an empty list", in: []any{[]float64{}, "m"}, want: []any{[]float64{}, 0}},
		{category: "two numbers", points: 2, in: []any{[]float64{2, 5}, "m"}, want: []any{[]float64{1, 2.5}, 2}},
		{category: "another unit", in: []any{[]float64{8}, "s"}, want: []any{[]float64{4}, 1}},
	},
	hints:  [2]string{"Divide.", "By two."},
	praise: "Well done.",
}

func halved(list []float64, unit string) ([]float64, int) {
	for i := range list { // in place: the case must not suffer
		list[i] /= 2
	}
	return list, len(list)
}

func TestGrade(t *testing.T) {
	defer func(d time.Duration) { timeLimit = d }(timeLimit)
	timeLimit = time.Second
	stop := make(chan bool)
	defer close(stop)
	type numbers []float64
	for _, tt := range []struct {
		name string
		f    any
		want []string
	}{
		{"right", halved, []string{"✓ Exercise 99.1: 4 points of 4. Well done."}},
		{"nothing", nil, []string{"Exercise 99.1: write func half(list []float64, unit string) ([]float64, int), and give it to Grade"}},
		{"a call", 3, []string{"3 is of type int; give the function itself, func half("}},
		{"a nil function", (func([]float64, string) ([]float64, int))(nil), []string{"the function is nil"}},
		{"another signature", func([]float64) []float64 { return nil }, []string{"your function is a func([]float64) []float64; declare it as func half("}},
		{"a named result", func(l []float64, u string) (numbers, int) { return nil, 0 }, []string{"declare it as"}},
		{"to do", func([]float64, string) ([]float64, int) { panic(Todo) }, []string{"write half, then run the cell again.\nlesson.Hint(\"99.1\") helps."}},
		{"wrong", func(l []float64, _ string) ([]float64, int) { return l, len(l) }, []string{
			"Exercise 99.1: 1 point of 4. The first case that fails (two numbers):\n  input   list = [2 5], unit = \"m\"\n  wanted  [1 2.5], 2\n  got     [2 5], 2\n          element [0] is 2; it should be 1\n",
		}},
		{"a nil slice for an empty one", func(l []float64, _ string) ([]float64, int) {
			if len(l) == 0 {
				return nil, 0
			}
			return halved(l, "")
		}, []string{"✓"}},
		{"too short", func(l []float64, _ string) ([]float64, int) { return l[:0], len(l) }, []string{"the result has length 0; it should be 2"}},
		{"the other result", func(l []float64, u string) ([]float64, int) { h, _ := halved(l, u); return h, 0 }, []string{"wanted  [1 2.5], 2\n  got     [1 2.5], 0\n"}},
		{"a panic", func(l []float64, u string) ([]float64, int) { _ = l[1]; return halved(l, u) }, []string{
			"2 points of 4", "(an empty list)", "got     nothing: it panicked: runtime error: index out of range [1] with length 0",
		}},
		{"a nil panic", func(l []float64, u string) ([]float64, int) { panic(nil) }, []string{"0 points of 4", "it panicked"}},
		{"an end", func(l []float64, u string) ([]float64, int) { runtime.Goexit(); return nil, 0 }, []string{"0 points of 4", "it called runtime.Goexit"}},
		{"an endless loop", func(l []float64, u string) ([]float64, int) {
			for len(l) == 2 {
				select {
				case <-stop: // the test is over
					return nil, 0
				default:
				}
			}
			return halved(l, u)
		}, []string{"1 point of 4", "(two numbers)", "got     nothing: it did not return in time"}},
		{"a wait without end", func(l []float64, u string) ([]float64, int) { <-stop; return nil, 0 }, []string{"0 points of 4", "it did not return in time"}},
		{"not a number", func(l []float64, u string) ([]float64, int) {
			h, n := halved(l, u)
			for i := range h {
				h[i] = math.NaN()
			}
			return h, n
		}, []string{"1 point of 4", "element [0] is NaN; it should be 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := half.grade("99.1", tt.f)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got\n%s\nwant in it\n%s", got, want)
				}
			}
		})
	}
	if want := []float64{2, 5}; !reflect.DeepEqual(half.cases[1].in[0], want) {
		t.Errorf("a function that writes into its input has changed the case: %v", half.cases[1].in[0])
	}
}

func TestTeachersCases(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(GraderVar, dir)
	store := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "99.1.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := half.grade("99.1", halved); strings.Contains(got, "teacher") {
		t.Errorf("without a file: %s", got)
	}
	store(`{"tolerance": 0.1, "cases": [
		{"category": "large", "points": 3, "in": [[4000, 77123], "m"], "want": [[2000, 38561.5], 2]},
		{"category": "rounded", "in": [[10], "m"], "want": [[5.1], 1]},
		{"category": "large", "points": 2, "in": [[1], "m"], "want": [[77], 1]}
	]}`)
	got := half.grade("99.1", halved)
	if want := "Your teacher's cases: 4 points of 6 (large 3 of 5, rounded 1 of 1)."; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at its end\n%s", got, want)
	}
	if wrong := half.grade("99.1", func([]float64, string) ([]float64, int) { return nil, 0 }); strings.Contains(wrong, "77") {
		t.Errorf("a value of the teacher's cases is shown:\n%s", wrong)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"no JSON":        {`{`, "unexpected EOF"},
		"unknown field":  {`{"cases": [{"categories": "x"}]}`, "categories"},
		"no category":    {`{"cases": [{"in": [[1], "m"], "want": [[1], 1]}]}`, "case 0 has no category"},
		"too few inputs": {`{"cases": [{"category": "x", "in": [[1]], "want": [[1], 1]}]}`, "case 0, in: 1 value for a function with 2"},
		"another type":   {`{"cases": [{"category": "x", "in": [[1], "m"], "want": ["?", 1]}]}`, "case 0, want: value 0 is not a []float64"},
	} {
		t.Run(name, func(t *testing.T) {
			store(tt.text)
			defer func() {
				var bad *CasesError
				if err, _ := recover().(error); !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) || filepath.Base(bad.File) != "99.1.json" {
					t.Errorf("panicked with %v, want a CasesError with %q", err, tt.want)
				}
			}()
			half.grade("99.1", halved)
		})
	}
}

// A task can be run at all: its cases fit its prototype, and each has a category; hints are two, and differ.
func TestTasksFit(t *testing.T) {
	for key, task := range tasks {
		typ := reflect.TypeOf(task.prototype)
		if len(task.args) != typ.NumIn() || task.name == "" || task.praise == "" {
			t.Errorf("%s: %d names for %d parameters, name %q, praise %q", key, len(task.args), typ.NumIn(), task.name, task.praise)
		}
		if task.hints[0] == "" || task.hints[1] == "" || task.hints[0] == task.hints[1] {
			t.Errorf("%s: two hints are wanted, got %q", key, task.hints)
		}
		if len(task.cases) < 4 {
			t.Errorf("%s: %d cases are too few to tell a wrong function", key, len(task.cases))
		}
		if _, both := exercises[key]; both {
			t.Errorf("%s is an exercise of Check, too", key)
		}
		for i, c := range task.cases {
			if c.category == "" || len(c.in) != typ.NumIn() || len(c.want) != typ.NumOut() {
				t.Errorf("%s, case %d: category %q, %d inputs and %d results for %s", key, i, c.category, len(c.in), len(c.want), typ)
				continue
			}
			for k, x := range c.in {
				if reflect.TypeOf(x) != typ.In(k) {
					t.Errorf("%s, case %d: input %d is a %T, want %s", key, i, k, x, typ.In(k))
				}
			}
			for k, x := range c.want {
				if reflect.TypeOf(x) != typ.Out(k) {
					t.Errorf("%s, case %d: result %d is a %T, want %s", key, i, k, x, typ.Out(k))
				}
			}
		}
	}
}

func TestGradeAndHintPrint(t *testing.T) {
	if got := printed(t, func() { Grade("17.4", nil) }); !strings.HasPrefix(got, "Exercise 17.4: write func sgd(p float64, gradients []float64, lr, m float64) float64,") {
		t.Errorf("Grade printed %q", got)
	}
	first, second := printed(t, func() { Hint("17.4") }), printed(t, func() { Hint("17.4", 2) })
	if !strings.HasPrefix(first, "Hint 1 of 2: ") || !strings.HasSuffix(first, "lesson.Hint(\"17.4\", 2) says more.\n") || strings.Contains(first, tasks["17.4"].hints[1]) {
		t.Errorf("the first hint is %q", first)
	}
	if !strings.HasPrefix(second, "Hint 2 of 2: "+tasks["17.4"].hints[1]) || strings.Contains(second, "says more") {
		t.Errorf("the second hint is %q", second)
	}
	for name, f := range map[string]func(){"Grade": func() { Grade("99.9", nil) }, "Hint": func() { Hint("99.9") }} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("an unknown key was accepted")
				}
			}()
			f()
		})
	}
}

// Every exercise of Grade, and every question that there is a remark on, is asked in a lesson.
func TestTasksAreAsked(t *testing.T) {
	files, err := filepath.Glob("../*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no lessons: %v", err)
	}
	all := ""
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	for key := range tasks {
		if !strings.Contains(all, `lesson.Grade(\"`+key+`\"`) {
			t.Errorf("no lesson asks exercise %s", key)
		}
	}
	for question := range remarks {
		if !strings.Contains(all, `lesson.Guess(\"`+question+`\"`) {
			t.Errorf("no lesson asks %q", question)
		}
	}
}
