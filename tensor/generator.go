package tensor

import (
	endian "encoding/binary" // "binary" is a kind of operation in this package
	"fmt"
	"hash/fnv"
	"math/bits"
	"sync"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/internal/random"
)

// A Generator makes random numbers from a seed. The same seed gives the same
// numbers, whatever the number of threads; each call goes on where the one before
// it ended. Given to [With], it replaces the default generator:
//
//	g := tensor.NewGenerator(42)
//	w := tensor.With(g.Stream("init")).Randn(4, 8)
//
// A Generator may be used by several goroutines; the order of their calls then
// decides who gets which numbers. Give each its own Stream to avoid that.
type Generator struct {
	mu    sync.Mutex
	state generatorState
}

// generatorState is all there is to a generator. Streams differ in the upper half
// of the Philox counter; Next is its lower half.
type generatorState struct {
	Seed, Stream, Next uint64
}

// NewGenerator returns a generator that starts from a seed.
func NewGenerator(seed uint64) *Generator {
	return &Generator{state: generatorState{Seed: seed}}
}

// defaultGenerator serves calls without a generator of their own. It starts from
// seed 0, so that a program gives the same results every time.
var defaultGenerator = NewGenerator(0)

func init() {
	cellstate.Register("tensor/random",
		func() []byte { b, _ := defaultGenerator.MarshalBinary(); return b },
		defaultGenerator.UnmarshalBinary)
}

// DefaultGenerator returns the generator that Rand and its kin use unless told
// otherwise. Its seed is 0 until Seed is called.
func DefaultGenerator() *Generator { return defaultGenerator }

// Seed restarts the default generator from a seed.
func Seed(seed uint64) { defaultGenerator.Seed(seed) }

// Seed restarts g, and any stream that it is, from a seed.
func (g *Generator) Seed(seed uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Seed, g.state.Next = seed, 0
}

// Stream returns a new generator with the seed of g and numbers of its own, which
// are the same however much g or other streams have been used. So initialisation,
// dropout and the order of the data can share one seed without disturbing each
// other.
func (g *Generator) Stream(name string) *Generator {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := fnv.New64a()
	h.Write(endian.LittleEndian.AppendUint64(nil, g.state.Stream))
	h.Write([]byte(name))
	return &Generator{state: generatorState{Seed: g.state.Seed, Stream: h.Sum64()}}
}

// Uint64 returns the next 64 random bits.
func (g *Generator) Uint64() uint64 {
	var words [2]uint64
	g.reserve(1).Words(words[:], 0)
	return words[0]
}

// Float64 returns the next number in [0, 1).
func (g *Generator) Float64() float64 { return float64(g.Uint64()>>11) * 0x1p-53 }

// Intn returns the next whole number in [0, n). It panics if n is not positive.
func (g *Generator) Intn(n int) int {
	if n <= 0 {
		fail(ErrValue, "intn", "", fmt.Sprintf("there is no number in [0, %d)", n), "")
	}
	high, _ := bits.Mul64(g.Uint64(), uint64(n))
	return int(high)
}

// String describes the state: seed, stream and position.
func (g *Generator) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("generator(seed %d, stream %#x, block %d)", g.state.Seed, g.state.Stream, g.state.Next)
}

// MarshalBinary returns the state, from which UnmarshalBinary makes a generator
// that goes on with the same numbers.
func (g *Generator) MarshalBinary() ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := []byte("philox1 ")
	for _, v := range []uint64{g.state.Seed, g.state.Stream, g.state.Next} {
		b = endian.LittleEndian.AppendUint64(b, v)
	}
	return b, nil
}

// UnmarshalBinary sets the state to one that MarshalBinary returned.
func (g *Generator) UnmarshalBinary(b []byte) error {
	if len(b) != 32 || string(b[:8]) != "philox1 " {
		return fmt.Errorf("tensor: random state: %d bytes that are not the state of a generator", len(b))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	word := func(i int) uint64 { return endian.LittleEndian.Uint64(b[8*i:]) }
	g.state = generatorState{word(1), word(2), word(3)}
	return nil
}

// keepGenerator returns what a notebook keeps of g from one cell to the next.
func keepGenerator(g *Generator) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	state := g.state
	return &state
}

func restoreGenerator(g *Generator, state any) { g.state = *state.(*generatorState) }

// reserve takes the next n words out of the generator. Each block has two; a call
// begins with a new one. What Recompute runs again gets the words that it had.
func (g *Generator) reserve(n int) random.Draw {
	return Once(func() random.Draw { return g.advance(n) })
}

func (g *Generator) advance(n int) random.Draw {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	d := random.Draw{Key: [2]uint32{uint32(s.Seed), uint32(s.Seed >> 32)}, Stream: s.Stream, First: s.Next}
	s.Next += uint64(n+1) / 2
	return d
}

// distribution makes random numbers of words: convert one for each. Words come in
// pairs that are never parted, so convert may combine them: where dst ends with the
// first of a pair, the second is there all the same. Other devices know it by its name
// and its params; one without a name is made by the processor for them.
type distribution[T numbers.Number] struct {
	name    string
	params  []float64
	convert func(dst []T, words []uint64)

	// direct makes the numbers from start, which is even, on; it takes the place of convert.
	direct func(dst []T, run random.Draw, start int)
}

// fillRandom writes random numbers to t, one word for each element.
func fillRandom[T numbers.Number](t *Tensor, g *Generator, d distribution[T]) *Tensor {
	if g == nil {
		g = defaultGenerator
	}
	words := g.reserve(t.Len())
	switch {
	case t.storage.Device == nil:
		d.fill(t, words)
	case d.name == "":
		made := newTensor(t.dtype, t.layout.Shape, false)
		d.fill(made, words)
		t.assign(made)
	default:
		t.fillOn(d.name, func(on device.Backend) error {
			return on.Random(d.name, t.view(), words.Key, words.Stream, words.First, d.params...)
		})
	}
	return t
}

// fill writes the numbers that a run of words makes.
func (d distribution[T]) fill(t *Tensor, run random.Draw) {
	loops.Parallel(t.Len(), 1<<12, func(start, end int) {
		w := newWriter[T](t)
		if d.direct != nil {
			loops.InBlocks(start, end, func(at, n int) {
				d.direct(w.Block(at, n), run, at)
				w.Flush(at, n)
			})
			return
		}
		var words [loops.BlockLen]uint64
		loops.InBlocks(start, end, func(at, n int) {
			pairs := words[:n+n&1]
			run.Words(pairs, at)
			d.convert(w.Block(at, n), pairs)
			w.Flush(at, n)
		})
	})
}

// uniformBits is how many random bits a number in [0, 1) has: as many as the dtype can
// hold between 1/2 and 1, so that rounding never makes 1 of them.
func uniformBits(d Dtype) int { return formats[d].mantissa + 1 }
