package show

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/kernel/internal/inband"
)

const (
	maxSteps     = 5000 // a longer run is cut: that is more steps than a reader goes through
	maxStepValue = 160  // bytes of one value
	maxStepOps   = 12   // operations of one statement that are listed one by one

	stepList, stepListShown = 40, 20 // of a list with more elements, only so many are shown
)

// Recording may take this much of the cell's own time, and stepPatience in any case. It has costs that are not counted,
// and in all a cell that one waits for should take at most three times as long.
const (
	stepShare = 1.5
	opCost    = 1500 * time.Nanosecond // about what it costs to learn of an operation
)

// stepping is the cell whose steps are recorded, or 0.
var stepping atomic.Int64

// Stepping reports whether the steps of a cell are recorded now. Code that the kernel adds to a cell asks this before
// it records anything: after the last step it costs only a comparison.
func Stepping(cell int64) bool { return stepping.Load() == cell }

// BeginSteps begins to record a cell. concurrent says that it starts goroutines: then what they may be
// changing is looked at only where a statement names it, unless all have ended. places are the functions
// and blocks in which the sites are: two numbers for each, and after a semicolon the block around each
// block. Names and values are as in [Step].
func BeginSteps(cell int64, concurrent bool, places string, namesAndValues ...any) {
	if inband.On() && stepping.CompareAndSwap(0, cell) {
		steps.begin(concurrent, places, namesAndValues)
	}
}

// Step records that a statement has run, and the variables that it set. site is the kernel's number of the statement.
//
// Each variable is a name and a value. The name begins with a letter that says what the value is and whose variable
// it is: v, the value of a variable of the function that runs; o, of one around it; a and p, the addresses of such
// variables; g, the address of one of the cell's own. After a space comes the number of the block that declares it, if
// that is not the cell: variables of the same name are different ones.
func Step(site int, namesAndValues ...any) { steps.step(site, "", false, namesAndValues) }

// StepAll is Step after a statement that may have changed what it doesn't name, by a call or through a pointer: it
// looks at all variables in sight.
func StepAll(site int, namesAndValues ...any) { steps.step(site, "", true, namesAndValues) }

// Enter records that a function of the cell has been called, with its parameters.
func Enter(site int, namesAndValues ...any) {
	steps.enter(site)
	steps.step(site, "enter", false, namesAndValues)
}

// Leave records that the function entered last has returned.
func Leave() { steps.leave() }

// Return returns a function that records what a function of the cell returns, and returns it.
func Return[T any](site int) func(T) T {
	return func(v T) T {
		steps.step(site, "return", true, []any{"vreturn", v})
		return v
	}
}

// Return2 is Return for two results.
func Return2[T, U any](site int) func(T, U) (T, U) {
	return func(v T, w U) (T, U) {
		steps.step(site, "return", true, []any{"vreturn.1", v, "vreturn.2", w})
		return v, w
	}
}

// Return3 is Return for three results.
func Return3[T, U, V any](site int) func(T, U, V) (T, U, V) {
	return func(v T, w U, x V) (T, U, V) {
		steps.step(site, "return", true, []any{"vreturn.1", v, "vreturn.2", w, "vreturn.3", x})
		return v, w, x
	}
}

// step records a step.
func (s *stepper) step(site int, kind string, all bool, namesAndValues []any) {
	st := s.stack()
	if st == nil || stepping.Load() == 0 {
		return
	}
	own := time.Since(st.since)
	if !s.lock(st) {
		return
	}
	defer s.unlock()
	if stepping.Load() == 0 {
		return
	}
	now := time.Now()
	st.busy = true
	defer func() { st.busy = false }()
	ops := s.take(st)
	depth := s.arrive(st, site)
	where := strconv.Itoa(depth)
	fields := []string{strconv.Itoa(site), kind, strconv.Itoa(st.id), "", "", "", strconv.FormatInt(own.Nanoseconds(), 10), where}
	flops, bytes := 0, 0
	var shown []string
	forward := 0
	for _, op := range ops {
		if op.Backward {
			if s.n < maxSteps {
				s.n++
				inband.Send("step", strconv.Itoa(site), "backward", strconv.Itoa(st.id), strconv.Itoa(op.FLOPs), strconv.Itoa(op.Bytes), "",
					strconv.FormatInt(op.Elapsed.Nanoseconds(), 10), where, "1", opText(op))
				continue
			}
		} else if forward++; forward <= maxStepOps {
			shown = append(shown, opText(op))
		}
		flops, bytes = flops+op.FLOPs, bytes+op.Bytes
	}
	if more := forward - maxStepOps; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	fields[3], fields[4] = strconv.Itoa(flops), strconv.Itoa(bytes)
	vars := s.values(st, depth, namesAndValues, all)
	if s.moved || len(ops) > 0 {
		s.hold(st)
	}
	fields[5] = strconv.Itoa(s.live)
	fields = append(append(append(fields, strconv.Itoa(len(shown))), shown...), vars...)
	inband.Send("step", fields...)
	if s.deaf.Load() && !s.warned {
		s.warned = true
		inband.Send("steps-uncounted", strconv.Itoa(site))
	}
	st.since = time.Now()
	s.spent.Add(int64(st.since.Sub(now)))
	switch s.n++; {
	case s.n >= maxSteps:
		s.end(fmt.Sprintf("the first %d steps", maxSteps))
	case s.tooLong(st.since, 1):
		s.end(fmt.Sprintf("the first %d steps, since recording took longer than the cell", s.n))
	}
}

// tooLong reports whether recording has taken more than a part of what it may take until now. On a busy machine it only
// seems to, which is why processor time counts.
func (s *stepper) tooLong(now time.Time, part float64) bool {
	spent := time.Duration(s.spent.Load() + s.heard.Load()*int64(opCost))
	own := now.Sub(s.began) - spent
	patience := time.Duration(part * float64(stepPatience))
	return spent > patience && spent.Seconds() > part*stepShare*own.Seconds() && processorTime()-s.before > patience
}

// Kept sets *p to v and returns it: what a loop ranges over is needed once more where its steps end.
func Kept[T any](p *T, v T) T {
	*p = v
	return v
}

// opText describes an operation: its name, the shapes that go in and come out, FLOPs, bytes, what the bytes consist of
// and nanoseconds, with tabs between them.
func opText(op inspect.Op) string {
	name := op.Name
	if op.Backward && op.Of != "" {
		name += " · gradient of " + op.Of + " for input " + strconv.Itoa(op.Input+1)
	} else if op.Backward {
		name += " · gradients added up"
	}
	var in []string
	for _, shape := range op.Inputs {
		in = append(in, fmt.Sprint(shape))
	}
	var parts []string
	for _, p := range op.Parts {
		parts = append(parts, strings.TrimRight(fmt.Sprint(p.Kind, " ", p.Bytes, " ", p.Dtype), " "))
	}
	return strings.Join([]string{name, strings.Join(in, " "), fmt.Sprint(op.Output), strconv.Itoa(op.FLOPs), strconv.Itoa(op.Bytes), strings.Join(parts, ";"),
		strconv.FormatInt(op.Elapsed.Nanoseconds(), 10)}, "\t")
}

// stepText is a value on one line, cut to what fits beside the code.
func stepText(v reflect.Value) (text string) {
	if !v.IsValid() {
		return "nil"
	}
	defer func() {
		if recover() != nil { // by a method of the cell, or of a value that is not complete
			text = typeName(v.Type())
		}
	}()
	switch v.Kind() {
	case reflect.Int:
		if v.Type().PkgPath() == "" {
			return strconv.FormatInt(v.Int(), 10)
		}
	case reflect.Func:
		if v.IsNil() {
			return "nil"
		}
		return typeName(v.Type())
	case reflect.Slice:
		if v.Len() > stepList && !hasText(v.Interface()) {
			return humanize.Shorten(strings.TrimRight(oneLine(strings.TrimSuffix(formatHead(v.Slice(0, stepListShown).Interface(), maxStepValue), "}")), ", ")+fmt.Sprintf(", … %s}", humanize.Count(v.Len(), "element")), maxStepValue)
		}
	case reflect.Map:
		if v.Len() > 1000 && !hasText(v.Interface()) {
			return fmt.Sprintf("%s of %s", typeName(v.Type()), humanize.Count(v.Len(), "entry"))
		}
	case reflect.String:
		if v.Len() > 4*maxStepValue {
			v = reflect.ValueOf(v.String()[:2*maxStepValue] + "…")
		}
	}
	return humanize.Shorten(oneLine(formatHead(v.Interface(), maxStepValue)), maxStepValue)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
