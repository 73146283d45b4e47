package data

import (
	"encoding/json"
	"fmt"
	"math/bits"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// A Batch is what a model is trained on in one step: X [B L] holds sequences and Y [B
// L] the id that follows each of theirs: the same sequences, shifted by one.
type Batch struct {
	X, Y *tensor.Tensor
	At   Position // of this batch
}

// Position is a place in the stream of batches.
type Position struct {
	Epoch int // how often the loader has gone through all data before
	Batch int // the number of the batch within its epoch
}

// A Loader goes through all sequences of a file in a random order that differs from
// epoch to epoch. The order follows from the seed and takes no memory, however long
// the file is: the place of sequence i in an epoch is computed. So the stream can
// continue from anywhere, given only its [Position].
type Loader struct {
	tokens *Tokens
	b, l   int
	seed   uint64
	next   Position
}

// NewLoader returns a Loader of batches of B sequences of L ids. The file is cut
// into sequences at multiples of L, shifted by a random offset in each epoch so
// that the cuts differ; what does not fill a batch is left out of that epoch. It
// returns an error if the file does not fill one batch.
func NewLoader(tokens *Tokens, B, L int, seed uint64) (*Loader, error) {
	if tokens.broken != nil {
		return nil, tokens.broken
	}
	if B < 1 || L < 1 {
		return nil, &FileError{tokens.path, fmt.Sprintf("a batch of %s of %s has nothing in it", humanize.Count(B, "sequence"), humanize.Count(L, "id")),
			"B and L are at least 1"}
	}
	l := &Loader{tokens: tokens, b: B, l: L, seed: seed}
	if l.BatchesPerEpoch() == 0 {
		return nil, &FileError{tokens.path, fmt.Sprintf("its %d ids do not fill a batch of %s of %s, plus the id that follows", tokens.Len(), humanize.Count(B, "sequence"), humanize.Count(L, "id")),
			"make B or L smaller"}
	}
	return l, nil
}

// BatchesPerEpoch returns how many batches there are in an epoch.
func (l *Loader) BatchesPerEpoch() int { return l.sequences() / l.b }

// sequences is how many there are in an epoch. Each needs the id that follows it.
func (l *Loader) sequences() int { return (l.tokens.Len() - 1) / l.l }

// Position returns the place of the batch that Next will return.
func (l *Loader) Position() Position { return l.next }

// Seek sets the place of the batch that Next will return. It panics if the place is
// negative; one past the end of its epoch is the start of the next.
func (l *Loader) Seek(p Position) {
	if p.Epoch < 0 || p.Batch < 0 {
		reason := fmt.Sprintf("there is no epoch %d, batch %d", p.Epoch, p.Batch)
		(&tensor.Error{Package: "data", Kind: tensor.ErrValue, Op: "seek", Reason: reason, Hint: "both are counted from 0"}).Panic()
	}
	l.next = p
}

// Next returns the next batch; after the last of an epoch comes the first of the
// next, without end. It returns an error if the file can't be read.
func (l *Loader) Next() (Batch, error) {
	if l.next.Batch >= l.BatchesPerEpoch() {
		l.next = Position{Epoch: l.next.Epoch + 1}
	}
	batch := Batch{At: l.next}
	n := l.sequences()
	key := mix(l.seed ^ mix(uint64(l.next.Epoch)+1))
	spare := l.tokens.Len() - 1 - n*l.l // ids that no sequence covers
	offset := int(mix(key) % uint64(spare+1))
	starts := make([]int, l.b)
	for i := range starts {
		starts[i] = offset + l.l*shuffled(l.next.Batch*l.b+i, n, key)
	}
	var err error
	if batch.X, err = l.tokens.Batch(starts, l.l); err != nil {
		return batch, err
	}
	for i := range starts {
		starts[i]++
	}
	if batch.Y, err = l.tokens.Batch(starts, l.l); err != nil {
		return batch, err
	}
	l.next.Batch++
	return batch, nil
}

// loaderState is what a checkpoint holds: the position, and what it depends on.
type loaderState struct {
	Position
	Tokens, B, L int
	Seed         uint64
}

func (l *Loader) state(p Position) loaderState {
	return loaderState{p, l.tokens.Len(), l.b, l.l, l.seed}
}

// SaveState makes a Loader part of a checkpoint.
func (l *Loader) SaveState() (map[string]*tensor.Tensor, any) { return nil, l.state(l.next) }

// LoadState sets the position. It returns an error, and changes nothing, if the state
// belongs to other data, another batch shape or another seed, with which the stream
// would continue differently.
func (l *Loader) LoadState(_ map[string]*tensor.Tensor, values []byte) error {
	var s loaderState
	if err := json.Unmarshal(values, &s); err != nil {
		return err
	}
	if want := l.state(s.Position); s != want {
		return fmt.Errorf("data: the position belongs to a loader of %s, B=%d, L=%d, seed %d; this one has %s, B=%d, L=%d, seed %d",
			humanize.Count(s.Tokens, "id"), s.B, s.L, s.Seed, humanize.Count(want.Tokens, "id"), want.B, want.L, want.Seed)
	}
	return tensor.Try(func() { l.Seek(s.Position) })
}

// shuffled returns where a random permutation of [0, n) puts i. The permutation
// is a Feistel network over the next power of four, which is a bijection whatever its
// round function is; a result outside [0, n) goes through it again until it falls
// inside.
func shuffled(i, n int, key uint64) int {
	half := (bits.Len64(uint64(n-1)) + 1) / 2
	mask := uint64(1)<<half - 1
	x := uint64(i)
	for {
		left, right := x>>half, x&mask
		for round := range uint64(6) {
			left, right = right, left^(mix(right^mix(key+round))&mask)
		}
		x = left<<half | right
		if x < uint64(n) {
			return int(x)
		}
	}
}

// mix is the finalizer of SplitMix64: every bit of the result depends on every
// bit of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
