package lesson

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/lectern-go/lectern/internal/cases"
	"github.com/lectern-go/lectern/kernel/show"
)

// AnswerType is the MIME type in which [Answers] publishes an [Answer].
const AnswerType = "application/vnd.lectern.answer" // without +json: such displays are parsed on their way, and lose digits

// An Answer is what a student's function returns for one case. It contains no verdict: the grader compares.
type Answer struct {
	Case    int               `json:"case"`              // counted from 0; -1 stands for all of them, if the function can't be called
	Out     []json.RawMessage `json:"out,omitempty"`     // the results
	Problem string            `json:"problem,omitempty"` // why there are none
	Todo    bool              `json:"todo,omitempty"`    // the function isn't written yet
}

// Answers runs the student's function on the inputs of an exercise, then on inputs, a list of lists in JSON,
// and publishes each [Answer] as soon as it is there. A grader runs it instead of [Grade], and keeps the wanted values
// to itself.
func Answers(key string, f any, inputs string) {
	t := &task{}
	if known, ok := taskOf(key); ok {
		*t = *known
	} else if v := reflect.ValueOf(f); v.IsValid() && v.Kind() == reflect.Func {
		t.prototype = f
	}
	if bad := t.mismatch(f); bad != "" {
		answer(Answer{Case: -1, Problem: bad})
		return
	}
	v := reflect.ValueOf(f).Convert(reflect.TypeOf(t.prototype))
	var more [][]json.RawMessage
	if err := json.Unmarshal([]byte(inputs), &more); err != nil {
		panic(&CasesError{Exercise: key, Err: err})
	}
	n := len(t.cases)
	deadline := time.Now().Add(timeLimit)
	for i := range n + len(more) {
		var c gradedCase
		if i < n {
			c = t.cases[i]
		} else {
			var err error
			if c.in, err = typed(more[i-n], v.Type().NumIn(), v.Type().In); err != nil {
				answer(Answer{Case: i, Problem: "its inputs don't fit your function: " + err.Error()})
				continue
			}
		}
		out, err := c.call(v, deadline)
		a := Answer{Case: i}
		if err == nil {
			a.Out, err = cases.Encode(out...)
		}
		if err != nil {
			a.Problem, a.Todo = err.Error(), errors.Is(err, Todo)
		}
		answer(a)
	}
}

func answer(a Answer) {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // the results are JSON, and the rest is plain
	}
	show.Bundle(AnswerType, string(text))
}

// Cases returns the cases of a lesson's exercise, wanted results included, and the names of the function's parameters.
// It is for graders.
func Cases(key string) (list []cases.Case, parameters []string, ok bool) {
	t, ok := taskOf(key)
	if !ok {
		return nil, nil, false
	}
	for _, c := range t.cases {
		tolerance := c.tolerance
		if tolerance == 0 {
			tolerance = t.tolerance
		}
		list = append(list, cases.Case{Category: c.category, Points: c.points, Tolerance: tolerance, In: encoded(c.in), Want: encoded(c.want)})
	}
	return list, t.args, true
}

func encoded(values []any) []json.RawMessage {
	list := make([]reflect.Value, len(values))
	for i, x := range values {
		list[i] = reflect.ValueOf(x)
	}
	raw, err := cases.Encode(list...)
	if err != nil {
		panic(err) // a test encodes all tasks
	}
	return raw
}
