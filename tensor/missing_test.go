package tensor

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestMissingTensors: a nil receiver or operand, and a zero Tensor, are
// mistakes that are named, in every method there is.
func TestMissingTensors(t *testing.T) {
	typ := reflect.TypeFor[*Tensor]()
	// A tensor that is printed, or kept by a notebook, may be missing.
	shown := []string{"String", "Format", "HTML"}
	// The zero Tensor has a shape and a kind: it is a number.
	known := []string{"BorrowGrad", "Bytes", "Detach", "Device", "Dim", "Dtype", "ElementSize", "Grad", "IsContiguous", "IsLeaf", "Layout", "Len", "RequiresGrad", "Shape", "Size", "Stride",
		"StorageOffset", "Strides"}
	check := func(name, want string, f reflect.Value, args []reflect.Value) {
		t.Helper()
		err := Try(func() {
			defer func() { // a runtime error is no mistake with a name
				if r := recover(); r != nil {
					if e, ok := r.(*Error); ok {
						panic(e)
					}
					t.Errorf("%s: panic: %v", name, r)
				}
			}()
			f.Call(args)
		})
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrValue) {
			t.Errorf("%s: got %v, want an error with %q", name, err, want)
		}
	}
	for m := range typ.Methods() {
		params := m.Type.NumIn()
		if m.Type.IsVariadic() {
			params--
		}
		takesTensor := func(i int) bool {
			in := m.Type.In(i)
			return in == typ || in.Kind() == reflect.Interface && in.NumMethod() == 0
		}
		args := func(receiver *Tensor) []reflect.Value {
			all := []reflect.Value{reflect.ValueOf(receiver)}
			for i := 1; i < params; i++ {
				if takesTensor(i) {
					all = append(all, reflect.ValueOf(Ones(2, 3)))
				} else {
					all = append(all, reflect.Zero(m.Type.In(i)))
				}
			}
			return all
		}
		if !slices.Contains(shown, m.Name) {
			check(m.Name+" of nil", "is a nil tensor", m.Func, args(nil))
			if !slices.Contains(known, m.Name) {
				check(m.Name+" of the zero Tensor", "is the zero Tensor, which has no memory", m.Func, args(&Tensor{}))
			}
		}
		for i := 1; i < params; i++ {
			if !takesTensor(i) || m.Name == "LayerNorm" || m.Name == "RMSNorm" || slices.Contains(shown, m.Name) { // those of norms may be nil
				continue
			}
			with := args(Ones(2, 3))
			with[i] = reflect.ValueOf(&Tensor{})
			check(m.Name+" with the zero Tensor", "is the zero Tensor, which has no memory", m.Func, with)
			if m.Name != "SetGrad" { // it removes the gradient
				with[i] = reflect.ValueOf((*Tensor)(nil))
				check(m.Name+" with nil", "is a nil tensor", m.Func, with)
			}
		}
	}
	var missing *Tensor
	for name, f := range map[string]func(){
		"where": func() { Where(missing, 1, 2) }, "where's choice": func() { Where(Of(true), missing, 2) }, "cat": func() { Cat(0, Ones(1), &Tensor{}) },
		"stack": func() { Stack(0, Ones(1), &Tensor{}) }, "one hot": func() { OneHot(missing) }, "recompute": func() { Recompute(func(in ...*Tensor) *Tensor { return in[0].Exp() }, missing) },
		"index": func() { Ones(2).Index(&Tensor{}) }, "set index": func() { Ones(2).SetIndex(1, missing) },
	} {
		if err := Try(f); err == nil {
			t.Errorf("%s of a missing tensor: no error", name)
		}
	}
	for got, want := range map[string]string{missing.String(): "<nil>", new(Tensor).String(): "<zero Tensor>"} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if html := missing.HTML() + new(Tensor).HTML(); !strings.Contains(html, "&lt;nil&gt;") || !strings.Contains(html, "&lt;zero Tensor&gt;") {
		t.Errorf("as HTML: %s", html)
	}
}
