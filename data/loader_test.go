package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lectern-go/lectern/tensor"
)

func counting(n int) *Tokens {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return TokensOf(ids)
}

func mustNext(t *testing.T, l interface{ Next() (Batch, error) }) Batch {
	t.Helper()
	b, err := l.Next()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestShuffledIsAPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 64, 1000} {
		seen := make([]bool, n)
		for i := range n {
			at := shuffled(i, n, 7)
			if at < 0 || at >= n || seen[at] {
				t.Fatalf("n=%d: place %d is taken twice or out of range", n, at)
			}
			seen[at] = true
		}
	}
	same := 0
	for i := range 1000 {
		if shuffled(i, 1000, 7) == shuffled(i, 1000, 8) {
			same++
		}
	}
	if same > 10 {
		t.Errorf("%d of 1000 places are the same for two keys, want about one", same)
	}
}

func TestAnEpochSeesEverySequenceOnce(t *testing.T) {
	l, err := NewLoader(counting(103), 5, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l.BatchesPerEpoch() != 5 { // 25 sequences
		t.Fatalf("%d batches per epoch, want 5", l.BatchesPerEpoch())
	}
	var orders [][]int64
	for epoch := range 2 {
		var starts []int64
		for batch := range 5 {
			b := mustNext(t, l)
			if b.At != (Position{epoch, batch}) {
				t.Errorf("batch at %v, want %v", b.At, Position{epoch, batch})
			}
			if !tensor.Equal(b.X.Add(1), b.Y) {
				t.Fatalf("Y is not X moved on by one: %v %v", b.X, b.Y)
			}
			starts = append(starts, b.X.Select(1, 0).Ints()...)
		}
		orders = append(orders, starts)
		sorted := slices.Sorted(slices.Values(starts))
		for i := range sorted {
			if sorted[i] != sorted[0]+int64(4*i) {
				t.Fatalf("epoch %d: starts %v are not every fourth id", epoch, sorted)
			}
		}
	}
	if slices.Equal(orders[0], orders[1]) {
		t.Error("both epochs have the same order")
	}
	if _, err := NewLoader(counting(20), 5, 4, 1); err == nil {
		t.Error("20 ids fill 5 sequences of 4 but lack the id that follows the last: no error")
	}
	if _, err := NewLoader(counting(20), 0, 4, 1); err == nil || !strings.Contains(err.Error(), "at least 1") {
		t.Errorf("batches of no sequences: %v, want an error that says what B must be", err)
	}
}

func TestLoaderGoesOnFromASavedPosition(t *testing.T) {
	newLoader := func() *Loader {
		l, err := NewLoader(counting(103), 5, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := newLoader()
	for range 7 {
		mustNext(t, l)
	}
	_, state := l.SaveState()
	saved, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	other := newLoader()
	if err := other.LoadState(nil, saved); err != nil {
		t.Fatal(err)
	}
	if a, b := mustNext(t, l), mustNext(t, other); !tensor.Equal(a.X, b.X) || a.At != b.At {
		t.Errorf("the streams differ at %v and %v", a.At, b.At)
	}
	stranger, err := NewLoader(counting(103), 5, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.LoadState(nil, saved); err == nil || !strings.Contains(err.Error(), "seed") || stranger.Position() != (Position{}) {
		t.Errorf("a loader of another seed: got %v, position %v", err, stranger.Position())
	}
}

func TestSeek(t *testing.T) {
	l, err := NewLoader(counting(103), 5, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Seek(Position{Epoch: 2, Batch: 99})
	if b := mustNext(t, l); b.At != (Position{3, 0}) {
		t.Errorf("behind the end of epoch 2 comes %v", b.At)
	}
	if err := tensor.Try(func() { l.Seek(Position{Batch: -1}) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a negative place: got %v", err)
	}
	_, state := l.SaveState()
	saved := state.(loaderState)
	saved.Batch = -1
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.LoadState(nil, text); err == nil || l.Position() != (Position{3, 1}) {
		t.Errorf("a negative place in a state: got %v, and the loader is at %v", err, l.Position())
	}
}

// A mistake of place belongs to who asks for batches, not to a goroutine of which
// nobody knows.
func TestPanicOfPlaceReachesNext(t *testing.T) {
	l, err := NewLoader(counting(103), 5, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := Prefetch(l, 2, func(x *tensor.Tensor) *tensor.Tensor { return x.View(7) })
	defer p.Close()
	for range 2 {
		if err := tensor.Try(func() { p.Next() }); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("got %v, want ErrShape", err)
		}
	}
}

func TestPrefetchGivesTheSameStreamAndItsOwnPosition(t *testing.T) {
	newLoader := func() *Loader {
		l, err := NewLoader(counting(103), 5, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	plain := newLoader()
	placed := make(chan bool, 1000)
	p := Prefetch(newLoader(), 3, func(x *tensor.Tensor) *tensor.Tensor { placed <- true; return x.To(tensor.Int64) })
	for range 12 {
		want, got := mustNext(t, plain), mustNext(t, p)
		if !tensor.Equal(want.X, got.X) || got.Y.Dtype() != tensor.Int64 {
			t.Fatalf("batch %v differs", want.At)
		}
	}
	for range 2 * (12 + 3) { // until three batches are there ahead
		<-placed
	}
	_, state := p.SaveState()
	if got := fmt.Sprint(state.(loaderState).Position); got != fmt.Sprint(plain.Position()) {
		t.Errorf("position %v, want that of the batches handed out, %v", got, plain.Position())
	}
	saved, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	next := mustNext(t, p)
	if err := p.LoadState(nil, saved); err != nil {
		t.Fatal(err)
	}
	if again := mustNext(t, p); !tensor.Equal(next.X, again.X) {
		t.Error("after LoadState another batch came")
	}
	p.Close()
	p.Close()
}

// While the consumer works, batches must be made: three of two tensors, without anyone
// asking, and no more.
func TestPrefetchWorksAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := NewLoader(counting(103), 5, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		p := Prefetch(l, 3, func(x *tensor.Tensor) *tensor.Tensor { made++; return x })
		defer p.Close()
		synctest.Wait() // until its goroutine waits
		if made != 6 {
			t.Errorf("%d tensors were made ahead, want 6", made)
		}
		Prefetch(l, 1<<60, nil).Close() // which is more than there is memory for
	})
}
