package cellstate

import "testing"

func TestKeep(t *testing.T) {
	defer keeper.Store(keeper.Swap(nil)) // other tests of this package link persist
	Keep("lecternNobody", new(int))      // nobody keeps anything
	var name string
	var p any
	SetKeep(func(n string, v any) { name, p = n, v })
	x := new(int)
	if Keep("lecternX", x); name != "lecternX" || p != any(x) {
		t.Errorf("kept %v under %q", p, name)
	}
}
