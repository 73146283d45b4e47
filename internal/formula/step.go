package formula

import (
	"testing"

	"github.com/lectern-go/lectern/internal/device"
)

// Step returns the step of an optimizer, one of [device.Updates], for one element: it is given that element of
// the parameter, of the gradient and of the state, in this order, and changes them. The slice may be longer.
func Step[T float32 | float64](t testing.TB, update string, n *device.Numbers) func(elements []T) {
	t.Helper()
	u, _, err := device.FindUpdate(update)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(u.Formula)
	if err != nil {
		t.Fatalf("%s: %v", update, err)
	}
	constants := map[string]T{}
	for i, c := range u.Values(n) {
		constants[u.Numbers[i]] = T(c)
	}
	names := []string{"p", "g"}
	for _, s := range u.State {
		if s.When == "" || constants[s.When] != 0 {
			names = append(names, s.Name)
		}
	}
	return func(elements []T) {
		numbers := map[string]T{}
		for name, c := range constants {
			numbers[name] = c
		}
		for i, name := range names {
			numbers[name] = elements[i]
		}
		Run(f, numbers)
		for i, name := range names {
			elements[i] = numbers[name]
		}
	}
}
