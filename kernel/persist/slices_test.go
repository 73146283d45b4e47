package persist

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestSlicesKeepTheirRoom(t *testing.T) {
	folder(t)
	y := []int{1, 2, 3}
	z := y[:0]
	words := []string{"a", "b", "c"}
	stack := words[:1]
	empty := make([]*List, 0, 5)
	limited := y[0:1:2]
	grown := append(make([]byte, 0, 100), "abc"...)
	none := make([]int, 0)
	units := make([]struct{}, 2, 7)
	if out := define(t, "y", &y, "z", &z, "words", &words, "stack", &stack, "empty", &empty, "limited", &limited, "grown", &grown, "none", &none, "units", &units); out != "" {
		t.Fatalf("notes: %s", out)
	}
	m, _ := ReadManifest(dirs[0])
	if b := m.Vars["grown"].Bytes; b != 24+100 {
		t.Errorf("grown takes %d bytes, want 124", b)
	}
	var (
		Y, Z, Limited, None []int
		Words, Stack        []string
		Empty               []*List
		Grown               []byte
		Units               []struct{}
	)
	for range 2 {
		newCell(t)
		restore(t, nil, "y", &Y, "z", &Z, "words", &Words, "stack", &Stack, "empty", &Empty, "limited", &Limited, "grown", &Grown, "none", &None, "units", &Units)
	}
	for name, got := range map[string][2]int{"y": {len(Y), cap(Y)}, "z": {len(Z), cap(Z)}, "words": {len(Words), cap(Words)}, "stack": {len(Stack), cap(Stack)},
		"empty": {len(Empty), cap(Empty)}, "limited": {len(Limited), cap(Limited)}, "grown": {len(Grown), cap(Grown)}, "none": {len(None), cap(None)}, "units": {len(Units), cap(Units)}} {
		want := map[string][2]int{"y": {3, 3}, "z": {0, 3}, "words": {3, 3}, "stack": {1, 3}, "empty": {0, 5}, "limited": {1, 2}, "grown": {3, 100}, "none": {0, 0}, "units": {2, 7}}[name]
		if got != want {
			t.Errorf("%s has length and capacity %v, want %v", name, got, want)
		}
	}
	if None == nil {
		t.Error("an empty slice became nil")
	}
	if !reflect.DeepEqual(Stack[:3], []string{"a", "b", "c"}) {
		t.Errorf("behind the stack lies %q", Stack[:3])
	}
	Z = append(Z, 10)
	Stack = append(Stack, "B")
	if Limited = append(Limited, 20); Y[0] != 10 || Y[1] != 20 || Words[1] != "B" {
		t.Errorf("y %v, words %q: what was appended went elsewhere", Y, Words)
	}
	if Limited = append(Limited, 30); Y[2] != 3 {
		t.Errorf("append passed the capacity: %v", Y)
	}
}

// What lies behind a slice's length may be what can't be kept. The slice is kept without it.
func TestRoomThatCanNotBeKept(t *testing.T) {
	folder(t)
	queue := []any{1, make(chan int), 3}
	head := queue[:1]
	gone := queue[:0]
	out := define(t, "head", &head, "gone", &gone)
	if out != "" {
		t.Errorf("said %q", out)
	}
	newCell(t)
	var Head, Gone []any
	restore(t, nil, "head", &Head, "gone", &Gone)
	if len(Head) != 1 || cap(Head) != 1 || Head[0] != 1 || Gone == nil || len(Gone) != 0 {
		t.Errorf("restored %v with room for %d, and %v", Head, cap(Head), Gone)
	}
}

func TestMappedArraysKeepTheirRoom(t *testing.T) {
	d := folder(t)
	x := make([]float32, 10_000, 20_000)
	tail := x[15_000:15_000:16_000]
	define(t, "x", &x, "tail", &tail)
	newCell(t)
	var X, T []float32
	restore(t, func() { X = append(X, 5); T = append(T, 7) }, "x", &X, "tail", &T)
	if cap(X) != 20_000 || cap(T) != 1000 {
		t.Errorf("there is room for %d and %d elements", cap(X), cap(T))
	}
	arrays, _ := filepath.Glob(filepath.Join(d, "a*"))
	if len(arrays) != 1 {
		t.Errorf("appending within the capacity left the arrays %q", arrays)
	}
	if i, err := os.Stat(arrays[0]); err != nil || i.Size() != 80_000 {
		t.Errorf("the array's file has %d bytes, want 80000", i.Size())
	}
	newCell(t)
	X, T = nil, nil
	restore(t, nil, "x", &X, "tail", &T)
	if len(X) != 10_001 || X[10_000] != 5 || X[:20_000][15_000] != 7 || T[0] != 7 {
		t.Errorf("%d elements, the last %v; tail %v", len(X), X[len(X)-1], T)
	}
}
