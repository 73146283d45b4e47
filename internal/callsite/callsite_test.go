package callsite

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestPosition(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	now, place := Position(), Here() // the line after that
	want := "callsite_test.go:" + strconv.Itoa(line+1)
	if now != want || place.Position() != want {
		t.Errorf("Position() = %q, Here().Position() = %q, want %q", now, place.Position(), want)
	}
	var none Place
	if got := none.Position(); got != "" {
		t.Errorf("the zero Place is at %q", got)
	}
}

// TestPositionIsOutside calls through the library: what counts is the caller's
// line, wherever the library's own frames are.
func TestPositionIsOutside(t *testing.T) {
	var got string
	func() { got = Position() }()
	if !strings.HasPrefix(got, "callsite_test.go:") {
		t.Errorf("got %q", got)
	}
	if isLibrary(runtime.Frame{Function: "main.main", File: "/home/user/main.go"}) {
		t.Error("a user's function counts as the library's")
	}
	if !isLibrary(runtime.Frame{Function: modulePath + "tensor.fail", File: "/x/tensor/errors.go"}) {
		t.Error("a function of the library does not count as its own")
	}
}
