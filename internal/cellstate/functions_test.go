package cellstate

import (
	"reflect"
	"testing"
)

func named() {}

type rule struct {
	name string
	f    func()
}

func TestKeeps(t *testing.T) {
	defer knows.Store(knows.Swap(nil)) // other tests of this package link keep, which has said what it knows
	var none func()
	literal := func() { t.Log() }
	for _, known := range []bool{false, true} {
		if known {
			SetFunctions(func(f any) bool { return reflect.ValueOf(f).Pointer() == reflect.ValueOf(named).Pointer() })
		}
		for what, c := range map[string]struct {
			v    any
			want bool
		}{
			"nil":                    {nil, true},
			"a number":               {1, true},
			"a nil function":         {none, true},
			"a named function":       {named, known},
			"a literal":              {literal, false},
			"an unexported field":    {rule{"a", named}, known},
			"a literal in a field":   {rule{"a", literal}, false},
			"a pointer":              {&rule{"a", named}, known},
			"a pointer to a literal": {&rule{"a", literal}, false},
			"a nil pointer":          {(*rule)(nil), true},
			"an interface":           {struct{ v any }{literal}, false},
			"a channel":              {make(chan int), false},
			"far away":               {&struct{ p *rule }{&rule{"a", literal}}, true},
		} {
			if got := Keeps(c.v); got != c.want {
				t.Errorf("%s, with functions known %v: %v", what, known, got)
			}
		}
	}
}

func TestSpare(t *testing.T) {
	if OverLimit() {
		t.Error("no room at first")
	}
	SetOverLimit(true)
	if !OverLimit() {
		t.Error("room after all")
	}
	SetOverLimit(false)
	if OverLimit() {
		t.Error("no room in the end")
	}
}
