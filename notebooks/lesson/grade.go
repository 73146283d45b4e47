package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
)

// GraderVar is the environment variable that names the folder with a teacher's own cases for [Grade].
const GraderVar = "LECTERN_GRADER"

// Todo stands in a function that the student has yet to write:
//
//	func sgd(p, g, lr float64) float64 {
//		panic(lesson.Todo)
//	}
const Todo notWritten = "lesson: this function is not written yet"

type notWritten string

func (n notWritten) Error() string { return string(n) }

// Grade runs the student's function against cases that the cell does not show, and prints the points, and of the first
// case that fails the input, what was wanted and what came. key names the exercise, such as "17.4"; [Hint] helps with
// it.
//
//	lesson.Grade("17.4", sgd)
//
// It survives what a function may do wrong. Another signature than the exercise asks for is named; a panic or a call
// of runtime.Goexit costs the points of its case; a function that does not return within the time limit costs its case
// and those after it. (Such a function goes on in the background until the cell ends, since Go can't stop it.) A
// function that panics with [Todo] is not written yet, and told so. What ends the whole program can't be survived:
// os.Exit, an endless recursion, running out of memory.
//
// If LECTERN_GRADER names a folder with a file such as 17.4.json, the teacher's cases in it are run, too. Of those
// only points are shown, by category:
//
//	{"tolerance": 1e-6, "cases": [
//	  {"category": "negative gradients", "points": 2, "in": [1, -3, 0.1], "want": [1.3]}
//	]}
//
// Grade panics for an unknown key and for a teacher's file that does not fit, with a [*CasesError].
func Grade(key string, f any) {
	t, ok := tasks[key]
	if !ok {
		panic(fmt.Errorf("lesson: there is no exercise %q that Grade knows", key))
	}
	fmt.Println(t.grade(key, f))
}

// Hint prints a hint for an exercise of [Grade]. There are two: the first says where to look, Hint(key, 2) nearly
// gives it away. It panics for an unknown key.
func Hint(key string, step ...int) {
	t, ok := tasks[key]
	if !ok {
		panic(fmt.Errorf("lesson: there is no exercise %q that Grade knows", key))
	}
	n := 1
	if len(step) > 0 {
		n = min(max(step[0], 1), len(t.hints))
	}
	fmt.Printf("Hint %d of %d: %s\n", n, len(t.hints), t.hints[n-1])
	if n < len(t.hints) {
		fmt.Printf("lesson.Hint(%q, %d) says more.\n", key, n+1)
	}
}

// A CasesError reports a teacher's file whose cases can't be run.
type CasesError struct {
	File string
	Err  error
}

func (e *CasesError) Error() string {
	return fmt.Sprintf("lesson: the cases in %s can't be run: %v", e.File, e.Err)
}

func (e *CasesError) Unwrap() error { return e.Err }

// timeLimit is how long all cases of one call of Grade may take. The functions of lessons take microseconds.
var timeLimit = 5 * time.Second

// A task is an exercise whose answer is a function.
type task struct {
	name      string   // of the function
	args      []string // names of its parameters, for messages
	prototype any      // a nil function of the type that is wanted
	cases     []gradedCase
	tolerance float64 // relative; 1e-6 if it is 0
	hints     [2]string
	praise    string // shown with full points: what follows from it
}

// A gradedCase is one call of the student's function. It is one point unless it says otherwise.
type gradedCase struct {
	category string
	points   int
	in, want []any
}

func (c gradedCase) worth() int { return max(c.points, 1) }

// signature writes the function as the student has to declare it.
func (t *task) signature() string {
	typ := reflect.TypeOf(t.prototype)
	var b strings.Builder
	b.WriteString("func " + t.name + "(")
	for i := range typ.NumIn() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(t.args[i])
		if i+1 == typ.NumIn() || typ.In(i+1) != typ.In(i) {
			b.WriteString(" " + typ.In(i).String())
		}
	}
	b.WriteString(")")
	switch typ.NumOut() {
	case 0:
	case 1:
		b.WriteString(" " + typ.Out(0).String())
	default:
		var outs []string
		for i := range typ.NumOut() {
			outs = append(outs, typ.Out(i).String())
		}
		b.WriteString(" (" + strings.Join(outs, ", ") + ")")
	}
	return b.String()
}

// grade is what Grade prints.
func (t *task) grade(key string, f any) string {
	v := reflect.ValueOf(f)
	want := reflect.TypeOf(t.prototype)
	switch {
	case !v.IsValid():
		return fmt.Sprintf("Exercise %s: write %s, and give it to Grade without calling it.", key, t.signature())
	case v.Kind() != reflect.Func:
		return fmt.Sprintf("Exercise %s: %s is of type %s; give the function itself, %s, without calling it.", key, brief(f), v.Type(), t.signature())
	case v.IsNil():
		return fmt.Sprintf("Exercise %s: the function is nil; write %s.", key, t.signature())
	case !v.Type().ConvertibleTo(want):
		return fmt.Sprintf("Exercise %s: your function is a %s; declare it as %s.", key, strings.ReplaceAll(v.Type().String(), "main.", ""), t.signature())
	}
	v = v.Convert(want)
	theirs, file, err := teachersCases(key, want)
	if err != nil {
		panic(&CasesError{File: file, Err: err})
	}
	deadline := time.Now().Add(timeLimit)
	var first *failedCase
	got, of := 0, 0
	for i := range t.cases {
		c := &t.cases[i]
		of += c.worth()
		bad := c.run(v, t.tolerance, deadline)
		if bad == nil {
			got += c.worth()
			continue
		}
		if errors.Is(bad.err, Todo) {
			return fmt.Sprintf("Exercise %s: write %s, then run the cell again.\nlesson.Hint(%q) helps.", key, t.name, key)
		}
		if first == nil {
			first = bad
		}
	}
	var b strings.Builder
	if first == nil {
		fmt.Fprintf(&b, "✓ Exercise %s: %s of %d. %s", key, count(got, "point"), of, t.praise)
	} else {
		fmt.Fprintf(&b, "Exercise %s: %s of %d. The first case that fails (%s):\n%slesson.Hint(%q) helps.", key, count(got, "point"), of,
			first.c.category, first.describe(t), key)
	}
	if len(theirs.Cases) > 0 {
		b.WriteString("\n" + theirs.grade(v, t.tolerance))
	}
	return strings.TrimSpace(b.String())
}

// failedCase is a case with what came of it.
type failedCase struct {
	c    *gradedCase
	got  []reflect.Value // nil if the function did not return
	diff string          // where a result differs, if that is not plain to see
	err  error           // why it did not return
}

var errTime = errors.New("it did not return in time: does a loop never end?")

// run calls the function with copies of a case's inputs; nil means that the case is solved.
func (c *gradedCase) run(f reflect.Value, tolerance float64, deadline time.Time) *failedCase {
	left := time.Until(deadline)
	if left <= 0 {
		return &failedCase{c: c, err: errors.New("not run: an earlier case took all the time")}
	}
	in := make([]reflect.Value, len(c.in))
	for i, x := range c.in {
		in[i] = reflect.ValueOf(cloned(x))
	}
	type result struct {
		out []reflect.Value
		err error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errors.New("it called runtime.Goexit, which ends the goroutine")}
		defer func() {
			if p := recover(); p != nil {
				r = result{err: panicError(p)}
			}
			done <- r
		}()
		r = result{out: f.Call(in)}
	}()
	timer := time.NewTimer(left)
	defer timer.Stop()
	var r result
	select {
	case r = <-done:
	case <-timer.C:
		return &failedCase{c: c, err: errTime}
	}
	if r.err != nil {
		return &failedCase{c: c, err: r.err}
	}
	for i, w := range c.want {
		if diff := unequal("", r.out[i], reflect.ValueOf(w), tolerance); diff != "" {
			return &failedCase{c: c, got: r.out, diff: diff}
		}
	}
	return nil
}

// panicError says what a panic of the student's function was about, and where in their code.
func panicError(p any) error {
	if err, ok := p.(error); ok && errors.Is(err, Todo) {
		return Todo
	}
	where := ""
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "main.") {
			where = fmt.Sprintf(" (in %s, line %d)", strings.TrimPrefix(frame.Function, "main."), frame.Line)
			break
		}
		if !more {
			break
		}
	}
	return fmt.Errorf("it panicked: %v%s", p, where)
}

// describe writes a failed case for the student, a line each for input, wanted and got.
func (bad *failedCase) describe(t *task) string {
	var in []string
	for i, x := range bad.c.in {
		in = append(in, t.args[i]+" = "+value(reflect.ValueOf(x)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  input   %s\n", strings.Join(in, ", "))
	var want, got []string
	for _, x := range bad.c.want {
		want = append(want, value(reflect.ValueOf(x)))
	}
	for _, x := range bad.got {
		got = append(got, value(x))
	}
	fmt.Fprintf(&b, "  wanted  %s\n", strings.Join(want, ", "))
	switch {
	case bad.err != nil:
		fmt.Fprintf(&b, "  got     nothing: %v\n", bad.err)
	default:
		fmt.Fprintf(&b, "  got     %s\n", strings.Join(got, ", "))
		if strings.HasPrefix(bad.diff, "element") || strings.Contains(bad.diff, "length") { // the others are plain to see
			fmt.Fprintf(&b, "          %s\n", bad.diff)
		}
	}
	return b.String()
}

// value writes what goes into a function or comes out, short enough for a line or two.
func value(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	var text string
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		text = fmt.Sprintf("%.6g", v.Float())
	case reflect.String:
		text = fmt.Sprintf("%q", v.String())
	case reflect.Func:
		text = "a function"
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return "nil"
		}
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = value(v.Index(i))
		}
		text = "[" + strings.Join(parts, " ") + "]"
	default:
		text = fmt.Sprintf("%+v", v.Interface())
	}
	return humanize.Shorten(text, 200)
}

// cloned copies slices, so that a function that writes into its inputs spoils neither the case nor its description.
func cloned(x any) any {
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Slice || v.IsNil() {
		return x
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		c.Index(i).Set(reflect.ValueOf(cloned(v.Index(i).Interface())))
	}
	return c.Interface()
}

// unequal says where two values differ, or nothing: floating-point numbers by more than a share of the wanted one,
// anything else at all.
func unequal(at string, got, want reflect.Value, tolerance float64) string {
	if tolerance == 0 {
		tolerance = 1e-6
	}
	name := "the result"
	if at != "" {
		name = "element " + at
	}
	switch want.Kind() {
	case reflect.Float32, reflect.Float64:
		g, w := got.Float(), want.Float()
		if g == w || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= tolerance*max(math.Abs(w), 1e-3) {
			return ""
		}
		return fmt.Sprintf("%s is %.6g; it should be %.6g", name, g, w)
	case reflect.Slice, reflect.Array:
		if got.Len() != want.Len() {
			return fmt.Sprintf("%s has length %d; it should be %d", name, got.Len(), want.Len())
		}
		for i := range want.Len() {
			if diff := unequal(fmt.Sprintf("%s[%d]", at, i), got.Index(i), want.Index(i), tolerance); diff != "" {
				return diff
			}
		}
		return ""
	}
	if reflect.DeepEqual(got.Interface(), want.Interface()) {
		return ""
	}
	return fmt.Sprintf("%s is %s; it should be %s", name, value(got), value(want))
}

// teacherCases are the cases of a teacher's file.
type teacherCases struct {
	Tolerance float64
	Cases     []gradedCase
}

// teachersCases reads the teacher's cases for an exercise, if there are any.
func teachersCases(key string, typ reflect.Type) (list teacherCases, file string, err error) {
	folder := os.Getenv(GraderVar)
	if folder == "" {
		return list, "", nil
	}
	file = filepath.Join(folder, key+".json")
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return list, file, nil
	}
	if err != nil {
		return list, file, err
	}
	var stored struct {
		Tolerance float64
		Cases     []struct {
			Category string
			Points   int
			In, Want []json.RawMessage
		}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&stored); err != nil {
		return list, file, err
	}
	list.Tolerance = stored.Tolerance
	for i, s := range stored.Cases {
		c := gradedCase{category: s.Category, points: s.Points}
		if c.category == "" {
			return list, file, fmt.Errorf("case %d has no category", i)
		}
		if c.in, err = decoded(s.In, typ.NumIn(), typ.In); err != nil {
			return list, file, fmt.Errorf("case %d, in: %w", i, err)
		}
		if c.want, err = decoded(s.Want, typ.NumOut(), typ.Out); err != nil {
			return list, file, fmt.Errorf("case %d, want: %w", i, err)
		}
		list.Cases = append(list.Cases, c)
	}
	return list, file, nil
}

// decoded reads values of the types that a function takes or returns.
func decoded(raw []json.RawMessage, n int, typ func(int) reflect.Type) ([]any, error) {
	if len(raw) != n {
		return nil, fmt.Errorf("%s for a function with %d", count(len(raw), "value"), n)
	}
	list := make([]any, n)
	for i, r := range raw {
		p := reflect.New(typ(i))
		if err := json.Unmarshal(r, p.Interface()); err != nil {
			return nil, fmt.Errorf("value %d is not a %s: %w", i, typ(i), err)
		}
		list[i] = p.Elem().Interface()
	}
	return list, nil
}

// grade says how many points of the teacher's cases the function gets, by category, and nothing of the cases
// themselves.
func (list teacherCases) grade(f reflect.Value, tolerance float64) string {
	if list.Tolerance > 0 {
		tolerance = list.Tolerance
	}
	deadline := time.Now().Add(timeLimit)
	type sum struct{ got, of int }
	var names []string
	sums := map[string]sum{}
	var all sum
	for i := range list.Cases {
		c := &list.Cases[i]
		s, seen := sums[c.category]
		if !seen {
			names = append(names, c.category)
		}
		if c.run(f, tolerance, deadline) == nil {
			s.got += c.worth()
			all.got += c.worth()
		}
		s.of += c.worth()
		all.of += c.worth()
		sums[c.category] = s
	}
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("%s %d of %d", n, sums[n].got, sums[n].of)
	}
	return fmt.Sprintf("Your teacher's cases: %s of %d (%s).", count(all.got, "point"), all.of, strings.Join(parts, ", "))
}
