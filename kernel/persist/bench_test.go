package persist

import (
	"os"
	"strconv"
	"testing"
)

// BenchmarkGraphs measures saving and restoring of many small things.
func BenchmarkGraphs(b *testing.B) {
	var head *List
	for i := range 100_000 {
		head = &List{head, i}
	}
	words := map[string]int{}
	var boxed []any
	rows := make([][]float64, 10_000)
	names := make([]string, 100_000)
	for i := range 100_000 {
		s := strconv.Itoa(i)
		words[s], names[i] = i, s
		boxed = append(boxed, i, s)
	}
	for i := range rows {
		rows[i] = make([]float64, 100)
	}
	b.Run("list", func(b *testing.B) { benchmarkKeep(b, head) })
	b.Run("map", func(b *testing.B) { benchmarkKeep(b, words) })
	b.Run("interfaces", func(b *testing.B) { benchmarkKeep(b, boxed) })
	b.Run("rows", func(b *testing.B) { benchmarkKeep(b, rows) })
	b.Run("strings", func(b *testing.B) { benchmarkKeep(b, names) })
}

func benchmarkKeep[T any](b *testing.B, x T) {
	d := b.TempDir()
	if m, err := os.MkdirTemp("/dev/shm", "lectern-bench-"); err == nil {
		d = m
		defer os.RemoveAll(m)
	}
	cell := func(pairs ...any) {
		dirs, manifest, vars, mappings, loaded = []string{d}, newManifest(), nil, nil, map[int][]byte{}
		Begin(1, pairs...)
	}
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			cell()
			Def("x", &x)
			Save()
		}
	})
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			var y T
			cell("x", &y)
		}
	})
}
