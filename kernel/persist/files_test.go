package persist

import (
	"os"
	"reflect"
	"testing"
)

// An array that a later cell of the same program has not changed keeps its file; files that are not needed any more
// are removed.
func TestUnchangedArrays(t *testing.T) {
	folder(t)
	newCell(t)
	x, y := make([]float32, 5000), make([]float32, 5000)
	done := Begin(1)
	Def("x", &x, "y", &y)
	done()
	t.Cleanup(func() { turns, alive = 0, map[string]reflect.Value{} })
	file := func(name string) string { return manifest.Groups[manifest.Vars[name].Group].Arrays[0] }
	xs, ys := file("x"), file("y")
	turn := func(change func()) {
		Turn()
		done := Begin(2, "x", &x, "y", &y)
		change()
		done()
	}
	turn(func() {})
	if file("x") != xs || file("y") != ys {
		t.Errorf("the arrays are written again, to %s and %s, though they are as they were in %s and %s", file("x"), file("y"), xs, ys)
	}
	turn(func() { x[4999] = 1 })
	if file("x") == xs || file("y") != ys {
		t.Errorf("of two arrays in %s and %s the first changed, and now they are in %s and %s", xs, ys, file("x"), file("y"))
	}
	if _, err := os.Stat(stored.path(xs)); err == nil {
		t.Errorf("%s is still there, though nobody needs it", xs)
	}
	changed := file("x")
	turn(func() { x = append([]float32(nil), x...) }) // elsewhere
	if file("x") == changed {
		t.Errorf("a copy has the file of what it was copied from")
	}
	var listed int64
	for _, n := range listFiles(dirs).sizes {
		listed += int64(n)
	}
	if n := stored.used(); n > listed || n < listed-4096 { // but for the manifest, whose growth is not counted
		t.Errorf("%d bytes are said to be used, and %d are", n, listed)
	}
}

// flat stands for a tensor: it says itself how large its elements are.
type flat struct{ n int }

func (f *flat) Shape() []int { return []int{f.n} }
func (f *flat) Bytes() int {
	if f.n < 0 {
		panic("it was freed")
	}
	return 4 * f.n
}

// A list of variables tells data and what it is kept in apart.
func TestDataOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    any
		want int64
	}{
		{"a tensor", &flat{2}, 8}, {"one that was freed", &flat{-1}, 0}, {"none", (*flat)(nil), 0},
		{"a slice", []float64{1, 2, 3}, 24}, {"an array", [2]int32{}, 8}, {"a string", "abc", 3},
		{"a slice of pointers", []*int{nil}, 0}, {"a slice of strings", []string{"a"}, 0}, {"a number", 3, 0}, {"a map", map[int]int{1: 2}, 0},
	} {
		v := reflect.New(reflect.TypeOf(tt.v)).Elem()
		v.Set(reflect.ValueOf(tt.v))
		if got := dataOf(v); got != tt.want {
			t.Errorf("%s: %d bytes of data, want %d", tt.name, got, tt.want)
		}
	}
}
