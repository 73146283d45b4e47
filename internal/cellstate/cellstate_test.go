package cellstate

import (
	"fmt"
	"testing"
)

// runs counts, as what is registered stays so.
var runs int

func TestRegister(t *testing.T) {
	runs++
	one, two := fmt.Sprint("test/one", runs), fmt.Sprint("test/two", runs)
	state := []byte("a")
	Register(one, func() []byte { return state }, func(b []byte) error { state = b; return nil })
	Register(two, func() []byte { return nil }, func([]byte) error { return nil })
	es := Entries()
	es = es[len(es)-2:] // this package has state of its own
	if es[0].Name != one || es[1].Name != two {
		t.Fatalf("entries %v, want test/one and test/two in this order", es)
	}
	if err := es[0].Load([]byte("b")); err != nil || string(es[0].Save()) != "b" {
		t.Errorf("saved %q after loading b (%v)", es[0].Save(), err)
	}
	defer func() {
		if recover() == nil {
			t.Error("registering a name twice did not panic")
		}
	}()
	Register(one, nil, nil)
}
