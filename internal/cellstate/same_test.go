package cellstate

import "testing"

func TestSame(t *testing.T) {
	x := new(int)
	Same("test.x", x)
	all := SamePointers()
	if n := len(all); n < 2 || all[n-2] != "test.x" || all[n-1] != any(x) {
		t.Errorf("%v, want test.x and its pointer last", all)
	}
}
