package tensor

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// resident returns the bytes of the process that are in memory now.
func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("resident memory can be read on Linux only: " + err.Error())
	}
	pages, err := strconv.Atoi(string(bytes.Fields(text)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestEmptyCostsNoMemory: the feed-forward matrix of GPT-3 has 2304 MiB, none of
// which is touched before it is written.
func TestEmptyCostsNoMemory(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("2304 MiB do not fit into the address space")
	}
	runtime.GC()
	defer debug.FreeOSMemory()
	before := resident(t)
	x := Empty(12288*4, 12288)
	grown := resident(t) - before
	if x.Bytes() != 2304<<20 {
		t.Errorf("%d bytes, want 2304 MiB", x.Bytes())
	}
	if grown >= 16<<20 {
		t.Errorf("Empty of 2304 MiB made the process grow by %d MiB, want less than 16", grown>>20)
	}
	x.SetAt(1, 49151, 12287) // the far end is there
	if got := x.At(-1, -1); got != 1 {
		t.Errorf("wrote 1, read %g", got)
	}
	if grown := resident(t) - before; grown >= 16<<20 {
		t.Errorf("writing one element made the process grow by %d MiB", grown>>20)
	}
}

// TestAllocations bounds what small operations allocate: the result with its
// storage and shape, its elements, and what the call remembers. The count is that of the
// process, in which memory of earlier tests may be given back meanwhile: the least of a
// few counts is that of the calls.
func TestAllocations(t *testing.T) {
	x, y := Ones(8, 8), Ones(8, 8)
	w := Ones(8, 8).RequireGrad()
	for _, c := range []struct {
		name string
		most float64
		run  func()
	}{
		{"x.Add(y)", 3, func() { x.Add(y) }},
		{"x.AddInPlace(y)", 8, func() { x.AddInPlace(y) }},
		{"x.T()", 5, func() { x.T() }},
		{"w.Add(y), recorded", 8, func() { w.Add(y) }},
	} {
		n := math.Inf(1)
		for range 10 {
			n = min(n, testing.AllocsPerRun(100, c.run))
		}
		if n > c.most {
			t.Errorf("%s makes %g allocations, want at most %g", c.name, n, c.most)
		}
	}
}

// BenchmarkSmall measures what calls cost apart from the work.
func BenchmarkSmall(b *testing.B) {
	x, y, row := Ones(8, 8), Ones(8, 8), Ones(8)
	for name, f := range map[string]func(){
		"add": func() { x.Add(y) }, "add number": func() { x.Add(2) }, "add row": func() { x.Add(row) }, "exp": func() { x.Exp() },
		"sum": func() { x.Sum() }, "transpose": func() { x.T() }, "matmul": func() { x.Matmul(y) }, "softmax": func() { x.Softmax(1) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
