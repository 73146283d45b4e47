package bench

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// TestSweepHasEveryOperation runs each case of the sweep on small operands, and fails for a method that returns a
// tensor, or a record, that none of them runs and that notSwept does not excuse.
func TestSweepHasEveryOperation(t *testing.T) {
	ran := map[string]bool{}
	stop := tensor.Trace(func(e tensor.Event) { ran[e.Op] = true })
	rows := sweepRows()
	methods := map[string]bool{}
	for _, c := range sweepCases(rows) {
		if c.side == sweepElements {
			continue
		}
		c.side = 9
		row := rows[c.row]
		methods[row.method] = true
		if row.python == "" {
			t.Errorf("%s has no expression for Python", row.method)
		}
		if err := tensor.Try(func() { row.run(c.operands()) }); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	stop()
	excused := strings.Join(slices.Collect(func(yield func(string) bool) {
		for names := range notSwept {
			if !yield(" " + names + " ") {
				return
			}
		}
	}), "")
	isExcused := func(name string) bool { return strings.Contains(excused, " "+name+" ") }
	kind := reflect.TypeFor[*tensor.Tensor]()
	for i := range kind.NumMethod() {
		m := kind.Method(i)
		if m.Type.NumOut() == 0 || m.Type.Out(0) != kind || strings.HasSuffix(m.Name, "InPlace") { // which run the same loops
			continue
		}
		switch {
		case !methods[m.Name] && !isExcused(m.Name):
			t.Errorf("sweep.go has no row for Tensor.%s, nor a reason in notSwept", m.Name)
		case methods[m.Name] && isExcused(m.Name):
			t.Errorf("the sweep has a row for Tensor.%s, which notSwept excuses", m.Name)
		}
	}
	for _, name := range tensor.OpNames() {
		if !ran[name] && !isExcused(name) {
			t.Errorf("no row of sweep.go runs the record %q, and notSwept has no reason", name)
		}
	}
}
