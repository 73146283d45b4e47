package elementwise

import (
	"strings"
	"testing"
)

// TestTable holds what rows must be by themselves; that there are records and methods of their names is tested where
// these are known.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for i := range Table {
		o := &Table[i]
		if seen[o.Name] || seen[o.Method] || o.Name == "" || o.Method == "" {
			t.Errorf("%q, the method %q: there are two rows of one name, or a row without one", o.Name, o.Method)
		}
		seen[o.Name], seen[o.Method] = true, true
		operands := len(o.Operands())
		if operands != 1 && operands != 2 {
			t.Errorf("%s: the expression %q has the operands %q, want one or two", o.Name, o.Torch, o.Operands())
		}
		if o.Value == nil || len(o.Slopes) != 0 && len(o.Slopes) != operands {
			t.Errorf("%s: %d gradients for %d operands, or no value", o.Name, len(o.Slopes), operands)
		}
		if o.Timed == "" || strings.Trim(o.Timed, "filb") != "" {
			t.Errorf("%s: timed with %q, want some of filb", o.Name, o.Timed)
		}
		for _, p := range o.Smooth {
			if len(p) != operands {
				t.Errorf("%s: the point %v is of %d operands, want %d", o.Name, p, len(p), operands)
			}
		}
		for _, c := range o.Corners {
			if len(c.At) != operands || len(c.Want) != operands {
				t.Errorf("%s: the corner %v with gradients %v, want %d of each", o.Name, c.At, c.Want, operands)
			}
		}
		if len(o.Slopes) > 0 && len(o.Smooth) == 0 {
			t.Errorf("%s has gradients, and no point to check them at", o.Name)
		}
	}
}
