package show

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

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

// Step records that the statement on a line of a //step cell has run, and the values that it set, as pairs of name and value. Values that
// changed in place since the step before are recorded with them. The kernel writes the calls.
func Step(line int, namesAndValues ...any) {
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
	if !inband.On() || steps.Load() > maxSteps {
		return
	}
	stepsShown.enter()
	inband.Send("enter", name)
	Step(line, namesAndValues...)
}

// Leave records that the function entered last has returned.
func Leave() {
	if inband.On() && steps.Load() <= maxSteps {
		stepsShown.leave()
		inband.Send("leave")
	}
}

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
	if len(s) > maxStepValue {
		i := maxStepValue
		for !utf8.RuneStart(s[i]) {
			i--
		}
		s = s[:i] + "…"
	}
	return s
}
