package tensor

import (
	"testing"

	"github.com/lectern-go/lectern/internal/inspect"
)

// TestStamp: a stamp changes with the text of a tensor, also after a write past the
// library, and with nothing else.
func TestStamp(t *testing.T) {
	for _, c := range []struct {
		name        string
		x           *Tensor
		shown, none int // places in memory
	}{
		{"small", Zeros(4, 5), 7, -1},
		{"large", Zeros(100, 100), 1, 5050},
		{"transposed", Zeros(4, 5).T(), 7, -1},
		{"transposed large", Zeros(100, 90).T(), 1, 4500},
		{"part", Zeros(10, 10).Slice(0, 2, 4, 1), 25, 50},
		{"integers", Zeros(100, 100).To(Int32), 1, 5050},
		{"bfloat16", Zeros(30, 40).To(BFloat16), 2, 600},
	} {
		write := func(place int) {
			b := bytesOf(c.x.storage)
			b[place*c.x.dtype.Size()+1] ^= 1
		}
		c.x.storage.Lend()
		before := stampOf(c.x)
		if stampOf(c.x) != before {
			t.Errorf("%s: the stamp of the same state is another one", c.name)
		}
		if write(c.shown); stampOf(c.x) == before {
			t.Errorf("%s: what is shown has changed, but not the stamp", c.name)
		}
		if write(c.shown); stampOf(c.x) != before {
			t.Errorf("%s: it is as before, but the stamp isn't", c.name)
		}
		if c.none >= 0 {
			if write(c.none); stampOf(c.x) != before {
				t.Errorf("%s: what is not shown has changed the stamp", c.name)
			}
		}
		if c.x.Fill(3); stampOf(c.x) == before {
			t.Errorf("%s: it was filled, and the stamp is the same", c.name)
		}
	}
}

// TestStampOfViews: views of one memory have stamps of their own.
func TestStampOfViews(t *testing.T) {
	x := Zeros(4, 4)
	views := []*Tensor{x, x.T(), x.View(16), x.View(2, 8), x.Slice(0, 0, 2, 1), x.Slice(0, 2, 4, 1), x.Slice(1, 0, 4, 2)}
	for i, a := range views {
		for k, b := range views {
			if same := stampOf(a) == stampOf(b); same != (i == k) {
				t.Errorf("views %v and %v: the same stamp %v", a.Shape(), b.Shape(), same)
			}
		}
	}
}

// TestTraceOps: the stepper hears of operations, and nothing else is made for it.
func TestTraceOps(t *testing.T) {
	var names []string
	stop := traceOps(func(op inspect.Op) { names = append(names, op.Name) })
	for k := Ran; k <= RoleSet; k++ {
		if wanted(k) != (k == Ran) {
			t.Errorf("kind %d is wanted: %v", k, wanted(k))
		}
	}
	all := 0
	also := Trace(func(Event) { all++ })
	for k := Ran; k <= RoleSet; k++ {
		if !wanted(k) {
			t.Errorf("kind %d is not wanted, though somebody wants all", k)
		}
	}
	x := Ones(3).RequireGrad()
	x.Mul(x).Sum().Backward()
	also()
	stop()
	if wanted(Ran) {
		t.Error("nobody listens any more")
	}
	if len(names) < 4 || names[0] != "mul" || names[1] != "sum" || all <= len(names) {
		t.Errorf("operations %v, %d events", names, all)
	}
}
