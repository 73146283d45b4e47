package lesson

import (
	"fmt"
	"strings"
	"testing"
)

// Each function of package mine has a name of its own, and a file of its own in folders that don't tell A from a.
func TestKeptFunctions(t *testing.T) {
	of := map[string]string{}
	for _, k := range KeptFunctions() {
		name := strings.ToLower(k.Name)
		if of[name] != "" {
			t.Errorf("exercises %s and %s are both mine.%s: give one of them another name in tasks.go", of[name], k.Key, k.Name)
		}
		of[name] = k.Key
	}
}

// Programs that are only repaired have nothing in package mine.
func TestUseOfARepair(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "exercise 05.7 repairs a program") {
			t.Errorf("got %s", got)
		}
	}()
	Use("05.5", "05.7")
}

// same remembers what Same reports.
type same struct{ failed bool }

func (s *same) Helper()               {}
func (s *same) Errorf(string, ...any) { s.failed = true }

func TestSame(t *testing.T) {
	differ := func(f func(*same)) bool {
		s := &same{}
		f(s)
		return s.failed
	}
	for name, c := range map[string]struct {
		f    func(*same)
		want bool
	}{
		"equal":             {func(s *same) { Same(s, []int{1, 2}, []int{1, 2}) }, false},
		"an element":        {func(s *same) { Same(s, []int{1, 2}, []int{1, 3}) }, true},
		"a length":          {func(s *same) { Same(s, []int{1, 2}, []int{1}) }, true},
		"nil and empty":     {func(s *same) { Same(s, nil, []int{}) }, false},
		"rounded":           {func(s *same) { Same(s, 0.1+0.2, 0.3) }, false},
		"far off":           {func(s *same) { Same(s, 1.001, 1) }, true},
		"within a share":    {func(s *same) { Same(s, 1.001, 1, 0.01) }, false},
		"flags":             {func(s *same) { Same(s, true, false) }, true},
		"rows":              {func(s *same) { Same(s, [][]float64{{1}, {2}}, [][]float64{{1}, {2.5}}) }, true},
		"values of no type": {func(s *same) { Same[any](s, 1, 1.0) }, true},
	} {
		if got := differ(c.f); got != c.want {
			t.Errorf("%s: a difference is reported: %v, want %v", name, got, c.want)
		}
	}
}
