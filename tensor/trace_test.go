package tensor

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
)

func collect(f func()) (events []Event) {
	stop := Trace(func(e Event) { events = append(events, e) })
	defer stop()
	f()
	return events
}

func TestTraceTellsPhasesAndWhoseGradient(t *testing.T) {
	x, w := Ones(4, 3), Ones(3, 2).RequireGrad()
	events := collect(func() {
		var h *Tensor
		Scope("model", func() { Scope("layer", func() { h = x.Matmul(w) }) })
		h.Sum().Backward()
	})
	var got []string
	for _, e := range events {
		if e.Kind == Ran {
			got = append(got, fmt.Sprintf("%s %v %s %d %s %d", e.Op, e.Backward, e.Of, e.Input, e.Scope, e.FLOPs))
		}
	}
	for _, want := range []string{"matmul false  0 model/layer 48", "sum false  0  8", "matmul true matmul 1 model/layer 48"} {
		if !slices.Contains(got, want) {
			t.Errorf("no event %q in %q", want, got)
		}
	}
}

func TestTraceTellsSavedAndReleasedMemory(t *testing.T) {
	x, w := Ones(4, 3), Ones(3, 2).RequireGrad()
	balance := map[Memory]int{}
	most := 0
	events := collect(func() {
		x.Matmul(w).Pow(2).Sum().Backward()
	})
	for _, e := range events {
		switch e.Kind {
		case Saved:
			balance[e.Storage]++
			most = max(most, len(balance))
		case Released:
			balance[e.Storage]--
		}
	}
	if balance[MemoryOf(x)] != 0 || most < 2 {
		t.Errorf("saved and released memory don't balance: %v, at most %d", balance, most)
	}
	for m, n := range balance {
		if n != 0 {
			t.Errorf("%d values of %d bytes were saved and not released", n, m.Size())
		}
	}
}

func TestTraceTellsOfAllocations(t *testing.T) {
	var held *Tensor
	events := collect(func() { held = Ones(10) })
	if i := slices.IndexFunc(events, func(e Event) bool { return e.Kind == Allocated && e.Storage == MemoryOf(held) }); i < 0 || events[i].Size != 40 {
		t.Errorf("no allocation of 40 bytes in %v", events)
	}
	m := MemoryOf(held)
	if !m.Live() || m.Size() != 40 {
		t.Error("memory in use is not live")
	}
	runtime.KeepAlive(held)
	held = nil
	runtime.GC()
	if m.Live() {
		t.Error("a Memory keeps its tensor alive")
	}
}

func TestSeveralMayTrace(t *testing.T) {
	var first, second int
	stopFirst := Trace(func(e Event) { first++ })
	stopSecond := Trace(func(e Event) { second++ })
	Ones(2)
	stopFirst()
	before := first
	Ones(2)
	stopSecond()
	Ones(2)
	if first != before || second <= first {
		t.Errorf("first saw %d events, second %d", first, second)
	}
	if observed() {
		t.Error("somebody still listens")
	}
}

func TestPartsOfAnOperationAreNotOperations(t *testing.T) {
	x := Ones(3)
	mask := x.Eq(1)
	for _, e := range collect(func() { x.MaskedFill(mask, 0) }) {
		if e.Kind == Ran && e.Op != "masked fill" {
			t.Errorf("%q ran inside masked fill and was told of", e.Op)
		}
	}
}

func BenchmarkSmallAdd(b *testing.B) {
	x, y := Ones(4), Ones(4)
	for b.Loop() {
		x.Add(y)
	}
}

// A product and its gradients take transposed operands as they are.
func TestMatmulCopiesNoTranspose(t *testing.T) {
	x, w := Ones(5, 3).T().RequireGrad(), Ones(4, 5).RequireGrad()
	for _, e := range collect(func() { x.Matmul(w.T()).Backward(WithGrad(Ones(3, 4))) }) {
		if part := !e.Backward || e.Of == "matmul"; e.Kind == Ran && part && e.Op != "matmul" && e.Bytes > 0 {
			t.Errorf("%q ran for %v", e.Op, e.Inputs)
		}
	}
}
