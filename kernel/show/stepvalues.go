package show

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// A tracked is a variable whose value may change where the cell doesn't assign to it: it points to what others write
// to, as a tensor does to its numbers.
type tracked struct {
	value any
	text  string // as it was shown last
}

// A stepFrame holds the variables of one call by name; the first frame is the cell itself.
type stepFrame map[string]*tracked

// stepValues remembers what a //step cell has shown, so that each step can show what changed since then.
type stepValues struct {
	mu      sync.Mutex
	frames  []stepFrame
	writing atomic.Int64 // how many goroutines write values, or wait for that
}

func newStepValues() *stepValues { return &stepValues{frames: []stepFrame{{}}} }

func (s *stepValues) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, stepFrame{})
}

func (s *stepValues) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.frames) > 1 {
		s.frames = s.frames[:len(s.frames)-1]
	}
}

// fields are names and texts of the values that a statement set, and then of those that it changed without naming
// them: of the call that runs, and of the cell where no variable of the call hides them.
func (s *stepValues) fields(namesAndValues []any) []string {
	s.writing.Add(1)
	defer s.writing.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	now := s.frames[len(s.frames)-1]
	set := map[string]bool{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		name, _ := namesAndValues[i].(string)
		t := &tracked{namesAndValues[i+1], stepText(namesAndValues[i+1])}
		list = append(list, name, t.text)
		set[name] = true
		home := now
		if _, here := now[name]; !here && len(s.frames) > 1 && s.frames[0][name] != nil {
			home = s.frames[0] // as the page has it
		}
		home[name] = t
	}
	cell := s.frames[0]
	frames := []stepFrame{now}
	if len(s.frames) > 1 {
		frames = append(frames, cell)
	}
	for i, f := range frames {
		var names []string
		for name, t := range f {
			if set[name] || i > 0 && now[name] != nil || !points(t.value) {
				continue
			}
			if text := stepText(t.value); text != t.text {
				t.text = text
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			list = append(list, name, f[name].text)
		}
	}
	return list
}

// points reports whether a value can change through another name.
func points(v any) bool {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	}
	return false
}
