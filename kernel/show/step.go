package show

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/inband"
)

const (
	maxSteps     = 2000 // a longer run is cut: nobody steps through more
	maxStepValue = 160  // bytes of one value
)

var (
	steps      atomic.Int64
	stepsShown = newStepValues()
)

// Step records that the statement on a line of a //step cell has run, and the values that it set, as pairs of name and
// value. Values that changed in place since the step before are recorded with them. The kernel writes the calls.
func Step(line int, namesAndValues ...any) {
	if formatting() {
		return
	}
	n := steps.Add(1)
	if !inband.On() || n > maxSteps+1 {
		return
	}
	if n > maxSteps {
		inband.Send("steps-cut", strconv.Itoa(maxSteps))
		return
	}
	inband.Send("step", append([]string{strconv.Itoa(line)}, stepsShown.fields(namesAndValues)...)...)
}

// Enter records that a function of the cell has been called, with its parameters.
func Enter(line int, name string, namesAndValues ...any) {
	if !inband.On() || steps.Load() > maxSteps || formatting() {
		return
	}
	stepsShown.enter()
	inband.Send("enter", name)
	Step(line, namesAndValues...)
}

// Leave records that the function entered last has returned.
func Leave() {
	if inband.On() && steps.Load() <= maxSteps && !formatting() {
		stepsShown.leave()
		inband.Send("leave")
	}
}

// formatting reports whether the caller runs because a value is written for a step: an Error or String method of the
// cell, whose own steps are nobody's.
func formatting() bool {
	if stepsShown.writing.Load() == 0 {
		return false
	}
	pcs := make([]uintptr, 64)
	n := runtime.Callers(2, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(2, pcs)
	}
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		if f.Function == stepTextName {
			return true
		}
		if !more {
			return false
		}
	}
}

// stepTextName is what a stack calls [stepText].
var stepTextName = runtime.FuncForPC(reflect.ValueOf(stepText).Pointer()).Name()

// stepText is a value on one line, cut to what fits beside the code.
func stepText(v any) (s string) {
	switch x := v.(type) {
	case nil:
		return "nil"
	case string:
		s = quote(x)
	default:
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Func {
			return rv.Type().String()
		} else if rv.Kind() == reflect.Slice && rv.Len() > 40 && !hasText(v) {
			s = strings.TrimSuffix(Format(rv.Slice(0, 20).Interface()), "}") + fmt.Sprintf(", … %d elements}", rv.Len())
		} else {
			s = Format(v)
		}
	}
	s = strings.Join(strings.Fields(s), " ")
	return humanize.Shorten(s, maxStepValue)
}
