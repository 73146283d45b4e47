package lesson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/internal/cases"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/show"
)

// Todo stands in a function that the student has yet to write:
//
//	func sgd(p, g, lr float64) float64 {
//		panic(lesson.Todo)
//	}
const Todo notWritten = "lesson: this function is not written yet"

type notWritten string

func (n notWritten) Error() string { return string(n) }

// Grade runs the student's function on cases that the cell does not show, and prints the points. For the first case
// that fails, it also prints the input, the wanted result and the function's own. key names the exercise, such as
// "17.4"; [Hint] helps with it.
//
//	lesson.Grade("17.4", sgd)
//
// Grade survives what a function may do wrong. If the signature differs from the one that the exercise asks for, Grade
// names both. A panic or a call to runtime.Goexit costs the points of its case; a function that does not return within
// the time limit loses that case and those after it. (It keeps running in the background until the cell ends, since Go
// can't stop it.) For a function that panics with [Todo], Grade says that it has yet to be written. Nothing survives
// what ends the whole program: os.Exit, endless recursion, running out of memory.
//
// In a working copy of a lesson, a function that gets all its points becomes part of the student's package mine, which
// later lessons import: 17.4 is mine.SGD there. [Use] puts our solution there if you skipped the exercise.
//
// You can add cases as JSON objects, one after another, in further arguments; see package internal/cases for values
// that JSON lacks. With such cases, key may be any name:
//
//	lesson.Grade("clamp", clamp, `
//		{"category": "too large", "points": 2, "in": [7.5, 0, 1], "want": [1]}
//		{"category": "in between", "in": [0.5, 0, 1], "want": [0.5]}`)
//
// Under nbgrader (autograde, and validate, which students may run) the cell fails unless the function gets all its
// points. When a class is graded, by nbgrader or by go run ./kernel grade, the kernel compares the results, outside the
// student's process, and gives points for each case.
//
// Grade panics if it doesn't know the key and there are no cases, and with a [*CasesError] for cases that the function
// can't be called with.
func Grade(key string, f any, more ...string) {
	t := taskFor(key, f, more)
	said, got, of := t.grade(key, f)
	fmt.Println(said)
	if known, ok := taskOf(key); ok && !known.repair && got == of {
		show.Mine("yours", key)
	}
	if os.Getenv(nbgraderVar) != "" && got < of {
		panic(fmt.Errorf("lesson: exercise %s: %s of %d", key, humanize.Count(got, "point"), of))
	}
}

// nbgraderVar is the environment variable in which nbgrader says why it runs a notebook: autograde or validate.
const nbgraderVar = "NBGRADER_EXECUTION"

// taskFor finds a lesson's exercise and adds cases to it, or makes an exercise of the cases alone.
func taskFor(key string, f any, more []string) *task {
	known, ok := taskOf(key)
	if !ok && len(more) == 0 {
		panic(fmt.Errorf("lesson: there is no exercise %q that Grade knows: check the key, or pass cases of your own", key))
	}
	t := &task{name: key}
	if ok {
		*t = *known
		t.cases = slices.Clone(t.cases)
	} else if v := reflect.ValueOf(f); v.IsValid() && v.Kind() == reflect.Func {
		t.prototype = f
	}
	typ := reflect.TypeOf(t.prototype)
	for _, text := range more {
		list, err := cases.Parse(text)
		if err != nil {
			panic(&CasesError{Exercise: key, Err: err})
		}
		for i, c := range list {
			if typ == nil {
				t.cases = append(t.cases, gradedCase{points: c.Points})
				continue
			}
			g, err := typedCase(c, typ)
			if err != nil {
				panic(&CasesError{Exercise: key, Err: fmt.Errorf("case %d, %w", i+1, err)})
			}
			t.cases = append(t.cases, g)
		}
	}
	return t
}

// typedCase gives a case the types of the function that it is meant for.
func typedCase(c cases.Case, typ reflect.Type) (gradedCase, error) {
	g := gradedCase{category: c.Category, points: c.Points, tolerance: c.Tolerance}
	var err error
	if g.in, err = typed(c.In, typ.NumIn(), typ.In); err != nil {
		return g, fmt.Errorf("in: %w", err)
	}
	if g.want, err = typed(c.Want, typ.NumOut(), typ.Out); err != nil {
		return g, fmt.Errorf("want: %w", err)
	}
	return g, nil
}

func typed(raw []json.RawMessage, n int, typ func(int) reflect.Type) ([]any, error) {
	types := make([]reflect.Type, n)
	for i := range types {
		types[i] = typ(i)
	}
	values, err := cases.Decode(raw, types)
	if err != nil {
		return nil, err
	}
	list := make([]any, n)
	for i, v := range values {
		list[i] = v.Interface()
	}
	return list, nil
}

// Hint prints a hint for an exercise that [Grade] knows. There are two: the first says where to look; Hint(key, 2)
// nearly gives the solution away. It panics for an unknown key.
func Hint(key string, step ...int) {
	t, ok := taskOf(key)
	if !ok {
		panic(fmt.Errorf("lesson: there is no exercise %q that Grade knows", key))
	}
	n := 1
	if len(step) > 0 {
		n = min(max(step[0], 1), len(t.hints))
	}
	fmt.Println(say("Hint %d of %d: %s", n, len(t.hints), say(t.hints[n-1])))
	if n < len(t.hints) {
		fmt.Println(say("lesson.Hint(%q, %d) says more.", key, n+1))
	}
}

// A CasesError reports cases that the student's function can't be called with.
type CasesError struct {
	Exercise string
	Err      error
}

func (e *CasesError) Error() string {
	return fmt.Sprintf("lesson: the cases of exercise %s can't be run: %v", e.Exercise, e.Err)
}

func (e *CasesError) Unwrap() error { return e.Err }

// timeLimit is how long all cases of one call to Grade may take. The functions of lessons take microseconds.
var timeLimit = 5 * time.Second

// A task is an exercise whose answer is a function.
type task struct {
	key       string
	name      string   // of the function
	write     string   // of the function that the student writes, if it has another name
	mine      string   // of the function in package mine, unless that is name with a capital
	args      []string // names of its parameters, for messages
	prototype any      // a nil function of the wanted type
	repair    bool     // the function is there, with a bug: package mine doesn't keep it
	cases     []gradedCase
	tolerance float64 // relative; 1e-6 if it is 0
	hints     [2]string
	praise    string // shown with full points: what follows from it
}

// taskOf finds the exercise of a key.
func taskOf(key string) (*task, bool) {
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.key == key }); i >= 0 {
		return tasks[i], true
	}
	return nil, false
}

// A gradedCase is one call to the student's function. It is worth one point unless it says otherwise.
type gradedCase struct {
	category  string
	points    int
	in, want  []any
	tolerance float64 // relative; that of the task if it is 0
}

func (c gradedCase) worth() int { return max(c.points, 1) }

// signature writes the function's declaration as the student has to write it.
func (t *task) signature() string {
	typ := reflect.TypeOf(t.prototype)
	var b strings.Builder
	b.WriteString("func " + t.name + "(")
	for i := range typ.NumIn() {
		if i > 0 {
			b.WriteString(", ")
		}
		if t.args == nil {
			b.WriteString(typ.In(i).String())
			continue
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

// mismatch says why f is not the wanted function; "" if it is.
func (t *task) mismatch(f any) string {
	v := reflect.ValueOf(f)
	wanted := say("a function")
	if t.prototype != nil {
		wanted = t.signature()
	}
	switch {
	case !v.IsValid():
		return say("write %s, and pass it to Grade without calling it.", wanted)
	case v.Kind() != reflect.Func:
		return say("%s is of type %s; pass the function itself, %s, without calling it.", brief(f), v.Type(), wanted)
	case v.IsNil():
		return say("the function is nil; write %s.", wanted)
	case !v.Type().ConvertibleTo(reflect.TypeOf(t.prototype)):
		return say("your function is a %s; declare it as %s.", strings.ReplaceAll(v.Type().String(), "main.", ""), wanted)
	}
	return ""
}

// grade returns what Grade prints, and the points.
func (t *task) grade(key string, f any) (said string, got, of int) {
	for i := range t.cases {
		of += t.cases[i].worth()
	}
	if bad := t.mismatch(f); bad != "" {
		return say("Exercise %s: %s", key, bad), 0, of
	}
	v := reflect.ValueOf(f).Convert(reflect.TypeOf(t.prototype))
	deadline := time.Now().Add(timeLimit)
	var first *failedCase
	for i := range t.cases {
		c := &t.cases[i]
		bad := c.run(v, t.tolerance, deadline)
		if bad == nil {
			got += c.worth()
			continue
		}
		if errors.Is(bad.err, Todo) {
			return strings.TrimSpace(say("Exercise %s: write %s, then run the cell again.", key, cmp.Or(t.write, t.name)) + "\n" + t.help(key)), 0, of
		}
		if first == nil {
			first = bad
		}
	}
	if first == nil {
		said = say("✓ Exercise %s: %s of %d. %s", key, points(got), of, say(t.praise))
	} else {
		said = say("Exercise %s: %s of %d. The first case that fails (%s):", key, points(got), of, say(first.c.category)) + "\n" + first.describe(t) + t.help(key)
	}
	return strings.TrimSpace(said), got, of
}

// help says how to get a hint, if there is one.
func (t *task) help(key string) string {
	if t.hints[0] == "" {
		return ""
	}
	return say("lesson.Hint(%q) helps.", key)
}

// failedCase is a case and what became of it.
type failedCase struct {
	c    *gradedCase
	got  []reflect.Value // nil if the function did not return
	diff string          // where a result differs, if that isn't plain to see
	err  error           // why it did not return
}

var errTime = errors.New(phrase("it did not return in time: is there a loop that never ends?"))

// run calls the function with copies of a case's inputs; nil means that the case is solved.
func (c *gradedCase) run(f reflect.Value, tolerance float64, deadline time.Time) *failedCase {
	out, err := c.call(f, deadline)
	if err != nil {
		return &failedCase{c: c, err: err}
	}
	if c.tolerance > 0 {
		tolerance = c.tolerance
	}
	for i, w := range c.want {
		if diff := unequal("", out[i], reflect.ValueOf(w), tolerance); diff != "" {
			return &failedCase{c: c, got: out, diff: diff}
		}
	}
	return nil
}

// call calls the function with copies of a case's inputs.
func (c *gradedCase) call(f reflect.Value, deadline time.Time) ([]reflect.Value, error) {
	left := time.Until(deadline)
	if left <= 0 {
		return nil, errors.New(phrase("not run: an earlier case took all the time"))
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
		r := result{err: errors.New(phrase("it called runtime.Goexit, which ends the goroutine"))}
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
	select {
	case r := <-done:
		return r.out, r.err
	case <-timer.C:
		return nil, errTime
	}
}

// panicError says what a panic in the student's function was about, and where in their code it happened.
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

// describe writes a failed case for the student: a line for the input, one for the wanted result, one for theirs.
func (bad *failedCase) describe(t *task) string {
	var in []string
	for i, x := range bad.c.in {
		text := value(reflect.ValueOf(x))
		if t.args != nil {
			text = t.args[i] + " = " + text
		}
		in = append(in, text)
	}
	var b strings.Builder
	b.WriteString(say("  input   %s", strings.Join(in, ", ")) + "\n")
	var want, got []string
	for _, x := range bad.c.want {
		want = append(want, value(reflect.ValueOf(x)))
	}
	for _, x := range bad.got {
		got = append(got, value(x))
	}
	b.WriteString(say("  wanted  %s", strings.Join(want, ", ")) + "\n")
	switch {
	case bad.err != nil:
		b.WriteString(say("  got     nothing: %s", say(bad.err.Error())) + "\n")
	default:
		b.WriteString(say("  got     %s", strings.Join(got, ", ")) + "\n")
		if strings.HasPrefix(bad.diff, "element") || strings.Contains(bad.diff, "length") { // the others are plain to see
			fmt.Fprintf(&b, "          %s\n", bad.diff)
		}
	}
	return b.String()
}

// value writes what goes into a function or comes out of it, short enough for a line or two.
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

// unequal says where two values differ, or nothing if they don't. Floating-point numbers may differ by a share of the
// wanted one, anything else not at all.
func unequal(at string, got, want reflect.Value, tolerance float64) string {
	if tolerance == 0 {
		tolerance = cases.Tolerance
	}
	name := "the result"
	if at != "" {
		name = "element " + at
	}
	switch want.Kind() {
	case reflect.Float32, reflect.Float64:
		g, w := got.Float(), want.Float()
		if approx.Equal(g, w, tolerance, tolerance*cases.Least) {
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
