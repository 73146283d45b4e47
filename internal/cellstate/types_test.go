package cellstate

import (
	"reflect"
	"testing"
)

func TestRegisterType(t *testing.T) {
	type secret struct{ n int }
	type state struct{ N int }
	if _, ok := StateOfType(reflect.TypeFor[secret]()); ok {
		t.Error("the type is known before it is registered")
	}
	RegisterType(func(s *secret) any { return &state{s.n} }, func(s *secret, kept any) { s.n = kept.(*state).N })
	how, ok := StateOfType(reflect.TypeFor[secret]())
	if !ok {
		t.Fatal("the type is not known")
	}
	var again secret
	how.Restore(&again, how.Keep(&secret{7}))
	if again.n != 7 {
		t.Errorf("kept 7, got back %d", again.n)
	}
}
