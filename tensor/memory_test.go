package tensor

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// resident returns how many bytes of the process are in memory now.
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

// TestProcessorIsADevice: questions to devices have an answer for the processor, and copies to it are none.
func TestProcessorIsADevice(t *testing.T) {
	if CPU.String() != "cpu" || CPU.Model() != "" || !CPU.IsCPU() || CPU.TF32() || CPU.Allocated() != 0 || CPU.Synchronize() != nil {
		t.Errorf("%v: model %q, TF32 %v, %d bytes", CPU, CPU.Model(), CPU.TF32(), CPU.Allocated())
	}
	x := Ones(2, 3)
	if x.PinMemory(CPU) != x || x.IsPinned() {
		t.Error("memory of the processor was pinned for the processor")
	}
	there, wait := x.Prefetch(CPU)
	if err := wait(); err != nil || there != x {
		t.Errorf("a copy from the processor to itself: %v", err)
	}
	for name, says := range map[string]string{
		"cuda:x": `device "cuda:x": "x" is not the number of a device`, "cuda:-1": `"-1" is not the number of a device`,
		"abacus": `device "abacus": `,
	} {
		if d, err := FindDevice(name); err == nil || !strings.Contains(err.Error(), says) || d != CPU {
			t.Errorf("%s: %v and %v, want the processor and an error that says %q", name, d, err, says)
		}
	}
	if d, err := FindDevice("cpu"); err != nil || d != CPU {
		t.Errorf("cpu: %v, %v", d, err)
	}
}

// TestMemoryOutlivesItsFacts: a Memory tells what it is for, and nothing once it was collected.
func TestMemoryOutlivesItsFacts(t *testing.T) {
	var roles []Role
	x := Ones(3)
	stop := Trace(func(e Event) {
		if e.Kind == RoleSet {
			roles = append(roles, e.Storage.Role())
		}
	})
	for _, r := range []Role{Input, Parameter, Gradient, OptimizerState, NoRole} {
		x.View(3, 1).SetRole(r)
		if m := MemoryOf(x); m.Role() != r || m.Size() != 12 || m.Device() != "cpu" {
			t.Errorf("%v: %v, %d bytes on %s", r, m.Role(), m.Size(), m.Device())
		}
	}
	stop()
	if got := fmt.Sprint(roles); got != "[input parameter gradient optimizer state none]" {
		t.Errorf("roles were set to %s", got)
	}
	if (Memory{}).Live() || (Memory{}).Size() != 0 || (Memory{}).Role() != NoRole || (Memory{}).Device() != "cpu" {
		t.Error("no memory has facts")
	}
}
