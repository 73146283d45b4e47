package lesson

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/cases"
)

// half is an exercise: halve the numbers of a list, and say how many there are.
var half = &task{
	key:  "99.1",
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

// addHalf has the lesson know that exercise.
func addHalf(t *testing.T) {
	before := tasks
	tasks = append(slices.Clone(tasks), half)
	t.Cleanup(func() { tasks = before })
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
		{"nothing", nil, []string{"Exercise 99.1: write func half(list []float64, unit string) ([]float64, int), and pass it to Grade"}},
		{"a call", 3, []string{"3 is of type int; pass the function itself, func half("}},
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
			got, points, of := half.grade("99.1", tt.f)
			if of != 4 || (points == of) != strings.HasPrefix(got, "✓") {
				t.Errorf("%d points of %d for\n%s", points, of, got)
			}
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

// Cases of a teacher's own come on top of an exercise's, or make an exercise of their own.
func TestOwnCases(t *testing.T) {
	addHalf(t)
	more := `
		{"category": "large", "points": 3, "in": [[4000, 77123], "m"], "want": [[2000, 38561.5], 2]}
		{"category": "rounded", "tolerance": 0.1, "in": [[10], "m"], "want": [[5.1], 1]}`
	if got := printed(t, func() { Grade("99.1", halved, more) }); got != "✓ Exercise 99.1: 8 points of 8. Well done.\n" {
		t.Errorf("got %s", got)
	}
	if len(half.cases) != 3 {
		t.Errorf("the exercise has %d cases now", len(half.cases))
	}
	clamp := func(x, lo, hi float64) float64 { return min(x, hi) }
	own := `{"category": "too large", "in": [7.5, 0, 1], "want": [1]} {"category": "too small", "points": 2, "in": [-7.5, 0, 1], "want": [0]}`
	want := "Exercise clamp: 1 point of 3. The first case that fails (too small):\n  input   -7.5, 0, 1\n  wanted  0\n  got     -7.5\n"
	if got := printed(t, func() { Grade("clamp", clamp, own) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := printed(t, func() { Grade("clamp", nil, own) }); got != "Exercise clamp: write a function, and pass it to Grade without calling it.\n" {
		t.Errorf("without a function: %s", got)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"no JSON":        {`{`, "ends too early"},
		"too few inputs": {`{"category": "x", "in": [[1]], "want": [[1], 1]}`, "case 1, in: 1 value for a function with 2"},
		"another type":   {`{"category": "x", "in": [[1], "m"], "want": ["?", 1]}`, "case 1, want: value 1: \"?\" is not a []float64"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				var bad *CasesError
				if err, _ := recover().(error); !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) || bad.Exercise != "99.1" {
					t.Errorf("panicked with %v, want a CasesError with %q", err, tt.want)
				}
			}()
			Grade("99.1", halved, tt.text)
		})
	}
}

// Where nbgrader runs a notebook, a function that is not right is an error.
func TestGradeFailsUnderNbgrader(t *testing.T) {
	addHalf(t)
	failed := func(f any) (problem any) {
		defer func() { problem = recover() }()
		printed(t, func() { Grade("99.1", f) })
		return nil
	}
	same := func(l []float64, _ string) ([]float64, int) { return l, len(l) }
	if p := failed(same); p != nil {
		t.Errorf("a student who tries is stopped: %v", p)
	}
	t.Setenv(nbgraderVar, "validate")
	if p := failed(same); p == nil || p.(error).Error() != "lesson: exercise 99.1: 1 point of 4" {
		t.Errorf("a wrong function: %v", p)
	}
	if p := failed(nil); p == nil {
		t.Error("no function is right")
	}
	if p := failed(halved); p != nil {
		t.Errorf("the right function: %v", p)
	}
}

// What Answers publishes and what Cases returns for graders fit: the grader sees the same right and wrong as Grade.
func TestAnswersFitCases(t *testing.T) {
	addHalf(t)
	list, parameters, ok := Cases("99.1")
	if !ok || len(list) != 3 || parameters[0] != "list" || list[1].Worth() != 2 {
		t.Fatalf("%v, %v, %v", list, parameters, ok)
	}
	for i, c := range list {
		out, err := half.cases[i].call(reflect.ValueOf(halved), time.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		got, err := cases.Encode(out...)
		if err != nil || cases.Differs(got, c.Want, c.Tolerance) != "" {
			t.Errorf("case %d: %s, %v", i, got, err)
		}
	}
	if _, _, ok := Cases("99.9"); ok {
		t.Error("an unknown exercise has cases")
	}
}

// Graders can read what every exercise of the lessons wants.
func TestTasksAsJSON(t *testing.T) {
	for _, task := range tasks {
		key := task.key
		list, _, _ := Cases(key)
		for i, c := range list {
			g, err := typedCase(c, reflect.TypeOf(task.prototype))
			if err != nil {
				t.Errorf("%s, case %d: %v", key, i, err)
				continue
			}
			for k, w := range g.want {
				if diff := unequal("", reflect.ValueOf(w), reflect.ValueOf(task.cases[i].want[k]), 1e-15); diff != "" {
					t.Errorf("%s, case %d: %s", key, i, diff)
				}
			}
		}
	}
}

// A task can be run at all: its cases fit its prototype, and each has a category; hints are two, and differ. It has a
// number of its own.
func TestTasksFit(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range exercises {
		if seen[e.key] {
			t.Errorf("there are two exercises %s", e.key)
		}
		seen[e.key] = true
	}
	for _, task := range tasks {
		key := task.key
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
		if seen[key] {
			t.Errorf("there are two exercises %s, of Grade or of Check", key)
		}
		seen[key] = true
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
	known, ok := taskOf("17.4")
	if !ok {
		t.Fatal("exercise 17.4 is not known")
	}
	if !strings.HasPrefix(first, "Hint 1 of 2: ") || !strings.HasSuffix(first, "lesson.Hint(\"17.4\", 2) says more.\n") || strings.Contains(first, known.hints[1]) {
		t.Errorf("the first hint is %q", first)
	}
	if !strings.HasPrefix(second, "Hint 2 of 2: "+known.hints[1]) || strings.Contains(second, "says more") {
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
	for _, task := range tasks {
		key := task.key
		if !strings.Contains(all, `lesson.Grade(\"`+key+`\"`) {
			t.Errorf("no lesson asks exercise %s", key)
		}
	}
	seen := map[string]bool{}
	for _, r := range remarks {
		question := r.question
		if seen[question] {
			t.Errorf("there are two remarks on %q", question)
		}
		seen[question] = true
		if !strings.Contains(all, `lesson.Guess(\"`+question+`\"`) {
			t.Errorf("no lesson asks %q", question)
		}
	}
}
