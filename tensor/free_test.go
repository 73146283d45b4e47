package tensor

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// TestFree: memory is handed out again at once, and only then, unless other code may
// still look at it; what was freed can't be used.
func TestFree(t *testing.T) {
	x := Arange(300).To(Float32)
	block := x.storage.Data
	x.View(3, 100).T().Free()
	y := Zeros(300)
	if !race.Enabled && y.storage.Data != block { // pools forget at random there
		t.Error("the block was not handed out again")
	}
	for name, use := range map[string]func(){
		"add": func() { y.Add(x) }, "sum": func() { x.Sum() }, "matmul": func() { x.View(3, 100).Matmul(Ones(100)) },
		"in place": func() { y.AddInPlace(x) }, "changed in place": func() { x.MulInPlace(2) }, "written": func() { x.Fill(1) },
		"numbers": func() { x.Floats() }, "one": func() { x.At(3) }, "set": func() { x.SetAt(1, 3) }, "data": func() { Data[float32](x) },
		"bytes": func() { x.RawBytes() }, "gather": func() { x.Gather(0, Of(1)) }, "copied": func() { y.CopyFrom(x) },
		"converted": func() { x.To(Int64) }, "joined": func() { Cat(0, y, x) },
	} {
		t.Run(name, func(t *testing.T) { wantPanic(t, ErrFreed, "freed by", use) })
	}
	if text, want := fmt.Sprintf("%v", x), "tensor(freed, size=[300])"; text != want {
		t.Errorf("printed as %q, want %q", text, want)
	}
	if html := x.HTML(); !strings.Contains(html, "tensor(freed, size=[300])") {
		t.Errorf("shown as %s", html)
	}
	x.Free() // once more changes nothing
	a, b := Zeros(300), Zeros(300)
	if a.storage.Data == b.storage.Data {
		t.Error("a block was handed out twice")
	}
	for _, v := range slices.Concat(y.Floats(), a.Floats(), b.Floats()) {
		if v != 0 {
			t.Fatal("zeros of recycled memory are not 0")
		}
	}

	lent := Ones(300)
	data := Data[float32](lent)
	lent.Free()
	Zeros(300).Fill(5)
	if data[0] != 1 || data[299] != 1 {
		t.Errorf("a slice of a freed tensor shows %v, %v", data[0], data[299])
	}
	wrapped := make([]byte, 1200)
	Wrap(wrapped, Float32, 300).Free()
	Ones(300)
	if slices.Max(wrapped) != 0 {
		t.Error("memory that is not ours was recycled")
	}
}

// TestFreedMemoryIsUsedAgain counts allocations.
func TestFreedMemoryIsUsedAgain(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget at random when the race detector is on")
	}
	const calls = 50
	allocated := func(f func()) int { // bytes in a call
		f()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			f()
		}
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc-before.TotalAlloc) / calls
	}
	const result = 4 * 20000 // bytes
	x, y := Ones(1000, 20), Ones(1000, 20)
	if n := allocated(func() { x.Add(y).Free() }); n > result/4 {
		t.Errorf("adding and freeing %d bytes allocates %d", result, n)
	}
	w := Ones(20, 20).RequireGrad()
	step := func() { // five such results forward, and five gradients of them
		x.Matmul(w).ReLU().Matmul(w).ReLU().Square().Mean().Backward()
		w.ZeroGrad()
	}
	if n := allocated(step); n > 6*result {
		t.Errorf("a step allocates %d bytes, want little more than the %d of five results", n, 5*result)
	}
	if n := allocated(func() { FreeAfter(func(func(*Tensor) *Tensor) { step() }) }); n > result {
		t.Errorf("a step in FreeAfter allocates %d bytes", n)
	}
}

// TestFreeAfterOnTheProcessor: it ends what was made, as on a device, and nothing
// else.
func TestFreeAfterOnTheProcessor(t *testing.T) {
	w := Ones(100).RequireGrad()
	var lost, small, kept, nested, held *Tensor
	FreeAfter(func(keep func(*Tensor) *Tensor) {
		lost = w.Mul(3)
		small = lost.Sum().Detach()
		kept = keep(lost.Add(1).Detach())
		FreeAfter(func(keep func(*Tensor) *Tensor) { nested = keep(Ones(100)) })
		if nested.Sum().Item() != 100 {
			t.Error("what an inner call kept is gone")
		}
		lost.Sum().Backward()
		held = w.Grad()
	})
	for i, x := range []*Tensor{lost, small, nested} {
		wantPanic(t, ErrFreed, "freed by", func() { x.Add(1) })
		if MemoryOf(x).Live() {
			t.Errorf("memory %d is live", i)
		}
	}
	wantFloats(t, "kept", kept.Narrow(0, 0, 2), 4, 4)
	wantFloats(t, "the gradient", w.Grad().Narrow(0, 0, 2), 3, 3)
	FreeAfter(func(func(*Tensor) *Tensor) { w.ZeroGrad() })
	wantPanic(t, ErrFreed, "freed by", func() { held.Add(1) })
	wantPanic(t, ErrFreed, "saved for the gradient", func() {
		x := Ones(100)
		loss := w.Mul(x).Sum()
		x.Free()
		loss.Backward()
	})
	done := make(chan *Tensor)
	FreeAfter(func(func(*Tensor) *Tensor) {
		go func() { done <- Ones(100) }()
		x := <-done
		Empty(100)
		done = nil
		held = x
	})
	wantFloats(t, "made on another goroutine", held.Narrow(0, 0, 1), 1)
	func() {
		defer func() { recover() }()
		FreeAfter(func(func(*Tensor) *Tensor) {
			lost = Ones(100)
			panic("ends it too")
		})
	}()
	wantPanic(t, ErrFreed, "freed by", func() { lost.Add(1) })
}

// TestFreeAfterLetsGo: a step needs no more memory inside FreeAfter than outside. What it
// can't reach any more is the collector's: values that nothing was saved of, and saved
// ones after Backward.
func TestFreeAfterLetsGo(t *testing.T) {
	const n = 200 // so that they are large
	w := Ones(n, n).RequireGrad()
	var held *Tensor
	var dropped Memory
	FreeAfter(func(func(*Tensor) *Tensor) {
		w.Square().Sum().Backward()
		dropped = MemoryOf(w.Grad()) // so that ZeroGrad may not give it back at once
		w.ZeroGrad()
		held = Ones(n, n)
		passing, saved, loss := func() (passing, saved Memory, loss *Tensor) {
			x := held.Add(1)
			y := x.Mul(2)
			return MemoryOf(x), MemoryOf(y), y.Matmul(w).Sum()
		}()
		runtime.GC()
		if passing.Live() || dropped.Live() {
			t.Errorf("a value that nobody can reach is held: %v; a gradient that was removed: %v", passing.Live(), dropped.Live())
		}
		if !saved.Live() {
			t.Error("a saved value is gone")
		}
		loss.Backward()
		runtime.GC()
		if saved.Live() {
			t.Error("Backward is over, and a value that was saved for it is held")
		}
		w.ZeroGrad()
	})
	wantPanic(t, ErrFreed, "freed by", func() { held.Add(1) })
}

// TestGraphsHoldWhatTheySaved, and of no operation more than that: the shapes of other
// values must not hold their elements. After Backward it is nothing.
func TestGraphsHoldWhatTheySaved(t *testing.T) {
	defer func(n int) { memory.Large = n }(memory.Large)
	memory.Large = 1
	for _, c := range opTable() {
		if !slices.Contains(c.dtypes(), Float32) {
			continue
		}
		var operands []Memory
		out := func() *Tensor { // whose variables are gone when it returns
			in := c.inputs(Float32, 1)
			for i, x := range in {
				if x.dtype.IsFloat() {
					in[i] = x.RequireGrad().Clone()
				}
				operands = append(operands, MemoryOf(in[i]))
			}
			return c.run(in)
		}()
		if !out.dtype.IsFloat() || !out.RequiresGrad() {
			continue
		}
		reached := map[Memory]bool{MemoryOf(out): true} // of which a view may be shown
		for _, n := range GraphOf(out).Nodes {
			for _, s := range n.Saved {
				reached[s.Storage] = true
			}
		}
		held := func(when string) {
			runtime.GC()
			for i, m := range operands {
				if m.Live() && !reached[m] {
					t.Errorf("%s: operand %d is held %s", c.name, i, when)
				}
			}
		}
		held("though it was not saved")
		reached = map[Memory]bool{MemoryOf(out): true}
		out.Backward(WithGrad(out.Detach().Clone()))
		held("after Backward")
		runtime.KeepAlive(out)
	}
}

// TestBackwardKeepsWhatIsSeen: Backward gives back the gradients that only it can
// see, and ZeroGrad those that were not asked for.
func TestBackwardKeepsWhatIsSeen(t *testing.T) {
	var seen []*Tensor
	see := func(x *Tensor) *Tensor {
		seen = append(seen, x)
		return x
	}
	w, v := Full(2, 100).RequireGrad(), Full(3, 100).RequireGrad()
	twice := Apply(Function{
		Name:    "twice",
		Forward: func(in []*Tensor) (*Tensor, []*Tensor) { return in[0].Mul(2), nil },
		Gradient: func(_ []*Tensor, g *Tensor) []*Tensor {
			return []*Tensor{see(see(g).Mul(2))}
		},
	}, w.Mul(v))
	again := Recompute(func(in ...*Tensor) *Tensor { return see(in[0].Square()).Add(v) }, twice)
	again.OnGrad(func(g *Tensor) *Tensor { return see(see(g).Mul(10)) })
	middle := again.Add(again).RetainGrad()
	middle.Mul(w).Sum().Backward()
	// middle = 2(4w²v² + v), loss = Σ w·middle, the gradient of again is 10 times as large
	wantFloats(t, "of middle", middle.Grad().Narrow(0, 0, 2), 2, 2)
	for i, x := range seen {
		if x.storage.Freed() {
			t.Errorf("value %d that a function saw was given back", i)
		}
	}
	first := slices.Clone(w.Grad().Floats())
	held, unseen := w.Grad(), v.borrowGrad()
	w.ZeroGrad()
	v.ZeroGrad()
	Ones(100).Fill(7)
	wantFloats(t, "a gradient that is held", held, first...)
	if !unseen.storage.Freed() {
		t.Error("a gradient that nobody holds is still there")
	}

	// What a hook returned becomes the gradient of a leaf, and is the hook's as well.
	hooked := Full(3, 100).RequireGrad()
	var returned *Tensor
	hooked.OnGrad(func(g *Tensor) *Tensor {
		if returned == nil {
			returned = g.Mul(2)
			return returned
		}
		return nil
	})
	hooked.Square().Sum().Backward()
	hooked.Square().Sum().Backward()
	wantFloats(t, "the sum of two", hooked.borrowGrad().Narrow(0, 0, 2), 18, 18)
	hooked.ZeroGrad()
	wantFloats(t, "what a hook returned", returned.Narrow(0, 0, 2), 12, 12)

	// Several calls add up in one place, unless the first gradient was handed out.
	for _, look := range []bool{false, true} {
		x := Full(3, 100).RequireGrad()
		x.Square().Sum().Backward()
		first := x.borrowGrad()
		if look {
			first = x.Grad()
		}
		x.Square().Sum().Backward()
		wantFloats(t, "the sum of two", x.borrowGrad().Narrow(0, 0, 2), 12, 12)
		if look {
			wantFloats(t, "the first of two", first.Narrow(0, 0, 2), 6, 6)
		} else if first != x.borrowGrad() {
			t.Error("the sum of two gradients is not where the first was")
		}
	}

	// Gradients of gradients read the first ones.
	x := Full(3, 100).RequireGrad()
	x.Mul(x).Mul(x).Sum().Backward(CreateGraph())
	g := x.borrowGrad()
	x.ZeroGrad()
	g.Sum().Backward()
	wantFloats(t, "the second derivative of x³", x.Grad().Narrow(0, 0, 2), 18, 18)
}

// TestGradientsThroughRecycledMemory: a graph with branches, views and values used
// many times has the gradients that it has without recycling.
func TestGradientsThroughRecycledMemory(t *testing.T) {
	gradients := func(recycle bool) []float64 {
		stop := func() {}
		if !recycle {
			stop = Trace(func(Event) {}) // with an observer all memory is shown as it is
		}
		defer stop()
		g := NewGenerator(3)
		x := With(g).Randn(24, 24).RequireGrad()
		w := With(g).Randn(24, 24).RequireGrad()
		h, all := x, []*Tensor{}
		for i := range 12 {
			switch i % 6 {
			case 0:
				h = h.Matmul(w.T()).Tanh()
			case 1:
				h = h.Add(x).Mul(h)
			case 2:
				h = Cat(0, h.Narrow(0, 0, 12), h.Narrow(0, 12, 12).Neg())
			case 3:
				h = h.T().Softmax(-1).Add(w.Select(0, i))
			case 4:
				h = h.View(2, 12, 24).Permute(1, 0, 2).Reshape(24, 24).Exp()
			case 5:
				h = h.Sub(h.Mean(0, KeepDim)).Expand(2, 24, 24).Sum(0)
			}
			all = append(all, h.Square().Mean())
		}
		Stack(0, all...).Sum().Backward()
		return slices.Concat(x.Grad().Floats(), w.Grad().Floats())
	}
	if plain, recycled := fmt.Sprint(gradients(false)), fmt.Sprint(gradients(true)); plain != recycled {
		t.Errorf("%.300s\ninstead of\n%.300s", recycled, plain)
	}
}
