// Package lesson is what the notebooks use to hold themselves, and their
// readers, to the numbers. [Guess] asks for a prediction before the answer is
// shown, [Check] looks at the answer to an exercise, [Grade] runs a function
// that the student wrote against cases they don't see, [Hint] helps with it, and
// [Use] stands in for it in the lessons that build on it.
// [Expect] asserts a number from the lecture, and [Must] keeps cells short where a
// file may be missing.
package lesson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/internal/humanize"
)

// Expect prints got with a tick if it equals want, and panics with both
// otherwise, so that a lesson that runs is a lesson that is right. Numbers are
// compared by value, whatever their Go types, with a relative tolerance of
// 1e-9 or the one given; other values must be equal. A value with a method
// Floats, such as a tensor, is compared with a slice element by element; one
// with a method String may be compared with a string.
//
//	lesson.Expect("days of training", days, 143.93, 1e-4)
func Expect(what string, got, want any, tolerance ...float64) {
	if problem := differs(got, want, tolerance); problem != "" {
		panic(fmt.Errorf("lesson: %s: %s", what, problem))
	}
	fmt.Printf("✓ %s: %s\n", what, brief(got))
}

// Must returns a value, or ends the cell with the error that came instead. It is
// for lessons, where nothing can be done about it; programs handle errors.
//
//	bpe := lesson.Must(tokenizer.TrainBPE("the cat in the hat", 3))
func Must[T any](value T, err error) T {
	OK(err)
	return value
}

// OK ends the cell with an error, if there is one. It is Must for functions that
// return nothing else.
func OK(err error) {
	if err != nil {
		panic(err)
	}
}

// Check says whether the answer to an exercise is right, and gives a hint if it isn't, but never the solution. nil
// means that there is no answer yet; for an answer of the wrong type, Check says which type it wants. key names the
// exercise, such as "05.2". Check panics only for an unknown key, which is a mistake of the lesson's author.
//
// Some exercises ask for a sentence. Check looks for the right numbers in it, then says what else a good answer
// contains, which you judge yourself.
func Check(key string, answer any) {
	i := slices.IndexFunc(exercises, func(e exercise) bool { return e.key == key })
	if i < 0 {
		panic(fmt.Errorf("lesson: there is no exercise %q", key))
	}
	e := exercises[i]
	switch {
	case e.rubric != nil:
		fmt.Println(e.judge(answer))
	case isNil(answer):
		fmt.Println(say("Exercise %s: replace nil with your answer and run the cell again.", key))
	case differs(answer, e.want, e.tolerance) == "":
		fmt.Println(strings.TrimSpace(say("✓ Exercise %s is right. %s", key, say(e.praise))))
	case !sameKind(answer, e.want):
		fmt.Println(say("Exercise %s: %s is of type %s; give a %s.", key, quoted(answer), fmt.Sprintf("%T", answer), kindOf(e.want)))
	default:
		fmt.Println(say("Exercise %s: %s is not right yet. %s", key, brief(answer), say(e.hint)))
	}
}

// exercise is one question that a lesson asks.
type exercise struct {
	key       string
	want      any
	tolerance []float64
	hint      string   // shown with a wrong answer
	praise    string   // shown with the right one: what follows from it
	rubric    []string // if there is one, the answer is a sentence: see judge
}

// differs says how got differs from want, or nothing if it does not.
func differs(got, want any, tolerance []float64) string {
	if text, ok := got.(fmt.Stringer); ok && want == any(text.String()) {
		return ""
	}
	if g, ok := floats(got); ok {
		w, ok := floats(want)
		if !ok {
			return fmt.Sprintf("got %s, want %s", brief(got), brief(want))
		}
		if len(g) != len(w) {
			return fmt.Sprintf("got %s, want %d", humanize.Count(len(g), "number"), len(w))
		}
		for i := range g {
			if !near(g[i], w[i], tolerance) {
				return fmt.Sprintf("got %s, want %s%s", brief(got), brief(want), within(tolerance))
			}
		}
		return ""
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", brief(got), brief(want))
}

func near(got, want float64, tolerance []float64) bool {
	limit := 1e-9
	if len(tolerance) > 0 {
		limit = tolerance[0]
	}
	return approx.Equal(got, want, limit, 0)
}

func within(tolerance []float64) string {
	if len(tolerance) == 0 {
		return ""
	}
	return fmt.Sprintf(" within %g %%", 100*tolerance[0])
}

// floats returns a number, a slice of numbers or a tensor as float64 values.
func floats(x any) ([]float64, bool) {
	if t, ok := x.(interface{ Floats() []float64 }); ok && !isNil(x) {
		return t.Floats(), true
	}
	v := reflect.ValueOf(x)
	switch {
	case !v.IsValid():
		return nil, false
	case v.CanInt():
		return []float64{float64(v.Int())}, true
	case v.CanUint():
		return []float64{float64(v.Uint())}, true
	case v.CanFloat():
		return []float64{v.Float()}, true
	case v.Kind() != reflect.Slice:
		return nil, false
	}
	all := make([]float64, 0, v.Len())
	for i := range v.Len() {
		f, ok := floats(v.Index(i).Interface())
		if !ok {
			return nil, false
		}
		all = append(all, f...)
	}
	return all, true
}

// sameKind reports whether an answer can be compared with the wanted one at all. If a name is wanted, any text can be,
// and so can a value that has a name, such as a dtype.
func sameKind(answer, want any) bool {
	switch want.(type) {
	case bool:
		_, ok := answer.(bool)
		return ok
	case string:
		_, isText := answer.(string)
		_, isNamed := answer.(fmt.Stringer)
		return isText || isNamed
	}
	_, ok := floats(answer)
	return ok
}

// kindOf names what an answer should be, in the words of Go.
func kindOf(want any) string {
	switch want.(type) {
	case bool:
		return say("bool, true or false, without quotes")
	case string:
		return say("name, as text in quotes")
	}
	if v := reflect.ValueOf(want); v.Kind() == reflect.Slice {
		return say("slice of numbers or a tensor")
	}
	return say("number")
}

// quoted shows a text in quotes, and anything else as brief does.
func quoted(x any) string {
	if s, ok := x.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return brief(x)
}

func isNil(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// brief writes a value short enough for one line.
func brief(x any) string {
	text := fmt.Sprint(x)
	if list, ok := x.([]float64); ok {
		parts := make([]string, len(list))
		for i, f := range list {
			parts[i] = fmt.Sprintf("%.6g", f)
		}
		text = "[" + strings.Join(parts, " ") + "]"
	}
	if v := reflect.ValueOf(x); v.IsValid() && v.CanFloat() {
		text = fmt.Sprintf("%.6g", x)
	}
	text = strings.Join(strings.Fields(text), " ")
	return humanize.Shorten(text, 100)
}
