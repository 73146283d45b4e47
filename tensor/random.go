package tensor

import (
	endian "encoding/binary" // "binary" is a kind of operation in this package
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"sync"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/internal/random"
)

// A Generator makes random numbers from a seed. The same seed gives the same numbers,
// whatever the number of threads; each call continues where the previous one ended.
// Given to [With], it replaces the default generator:
//
//	g := tensor.NewGenerator(42)
//	w := tensor.With(g.Stream("init")).Randn(4, 8)
//
// A Generator may be used by several goroutines; the order of their calls then decides
// which goroutine gets which numbers. Give each its own Stream to avoid that.
type Generator struct {
	mu    sync.Mutex
	state generatorState
}

// generatorState is all of a generator's state. Streams differ in the upper half of
// the Philox counter; Next is its lower half.
type generatorState struct {
	Seed, Stream, Next uint64
}

// NewGenerator returns a generator that starts from a seed.
func NewGenerator(seed uint64) *Generator {
	return &Generator{state: generatorState{Seed: seed}}
}

// defaultGenerator serves calls that are given no generator. It starts from seed 0, so
// that a program gives the same results every time.
var defaultGenerator = NewGenerator(0)

func init() {
	cellstate.Register("tensor/random",
		func() []byte { b, _ := defaultGenerator.MarshalBinary(); return b },
		defaultGenerator.UnmarshalBinary)
	cellstate.Same("github.com/lectern-go/lectern/tensor.DefaultGenerator", defaultGenerator)
}

// DefaultGenerator returns the generator that Rand and similar functions use unless
// told otherwise. Its seed is 0 until Seed is called.
func DefaultGenerator() *Generator { return defaultGenerator }

// Seed restarts the default generator from a seed.
func Seed(seed uint64) { defaultGenerator.Seed(seed) }

// Seed restarts g from a seed; a stream stays the same stream.
func (g *Generator) Seed(seed uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Seed, g.state.Next = seed, 0
}

// Stream returns a new generator with the seed of g and its own numbers, which are the
// same however much g or other streams have been used. So initialization, dropout and
// the order of the data can share one seed without disturbing each other.
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

// Intn returns the next integer in [0, n). It panics if n is not positive.
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

// MarshalBinary returns the state, from which UnmarshalBinary makes a generator that
// continues with the same numbers.
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

// reserve takes the next n words from the generator. Each block has two; a call begins
// with a new block. A function that Recompute runs again gets the same words.
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

// distribution turns random words into random numbers: convert makes one for each
// word. Words come in pairs that are never split, so convert may combine them: where
// dst ends with the first of a pair, the second is still there. Other devices are
// given its name and params; if it has no name, the processor makes the numbers for
// them.
type distribution[T numbers.Number] struct {
	name    string
	params  []float64
	convert func(dst []T, words []uint64)

	// direct makes the numbers from start on, which is even; it takes the place of convert.
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

// fill writes the numbers for a run of words.
func (d distribution[T]) fill(t *Tensor, run random.Draw) {
	loops.Parallel(t.Len(), 1<<12, func(start, end int) {
		w := newWriter[T](t)
		defer w.Done()
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
// hold between 1/2 and 1, so that no number is rounded to 1.
func uniformBits(d Dtype) int { return formats[d].mantissa + 1 }

// Random tensors. A Maker takes its numbers from the generator given to With, or from
// the default one. Each element is made from its own 64 random bits, so float32 and
// float64 tensors from the same seed hold the same numbers, except for rounding.

func (g *Generator) set(m *Maker) { m.random = g }

// Rand returns uniform random numbers in [0, 1). It panics unless the dtype is
// floating point; so do the functions below, except for Randint and Randperm.
func (m Maker) Rand(shape ...int) *Tensor {
	return m.blank("rand", shape).UniformInPlace(0, 1, m.random)
}

// Uniform returns uniform random numbers in [low, high).
func (m Maker) Uniform(low, high float64, shape ...int) *Tensor {
	return m.blank("uniform", shape).UniformInPlace(low, high, m.random)
}

// Randn returns normal random numbers of mean 0 and standard deviation 1.
func (m Maker) Randn(shape ...int) *Tensor {
	return m.blank("randn", shape).NormalInPlace(0, 1, m.random)
}

// Normal returns normal random numbers of a mean and a standard deviation.
func (m Maker) Normal(mean, std float64, shape ...int) *Tensor {
	return m.blank("normal", shape).NormalInPlace(mean, std, m.random)
}

// TruncNormal returns normal random numbers of a mean and a standard deviation,
// of which only those in [low, high] are drawn. The bounds are numbers, not
// multiples of std: three standard deviations are mean-3*std and mean+3*std.
func (m Maker) TruncNormal(mean, std, low, high float64, shape ...int) *Tensor {
	return m.blank("trunc normal", shape).TruncNormalInPlace(mean, std, low, high, m.random)
}

// Bernoulli returns ones with probability p and zeros otherwise.
func (m Maker) Bernoulli(p float64, shape ...int) *Tensor {
	if !(p >= 0 && p <= 1) {
		fail(ErrValue, "bernoulli", "", fmt.Sprintf("%g is not a probability", p), "give a number from 0 to 1")
	}
	return fillRandom(m.Empty(shape...), m.random, distribution[float64]{name: "bernoulli", params: []float64{p}, convert: func(dst []float64, words []uint64) {
		for i, w := range words[:len(dst)] {
			dst[i] = 0
			if float64(w>>11)*0x1p-53 < p {
				dst[i] = 1
			}
		}
	}})
}

// Randint returns uniform random integers in [low, high), as int64 unless another
// dtype is given. It panics if there are none.
func (m Maker) Randint(low, high int, shape ...int) *Tensor {
	if low >= high {
		fail(ErrValue, "randint", "", fmt.Sprintf("there is no integer in [%d, %d)", low, high), "")
	}
	span := uint64(high) - uint64(low)
	m.dtype = m.wholeDtype()
	return fillRandom(m.Empty(shape...), m.random, distribution[int64]{name: "randint", params: []float64{float64(low), float64(high)}, convert: func(dst []int64, words []uint64) {
		for i, w := range words[:len(dst)] { // of the 2⁶⁴ words, no number gets more than one more than another
			above, _ := bits.Mul64(w, span)
			dst[i] = int64(low) + int64(above)
		}
	}})
}

// Randperm returns 0 to n-1 in random order, as int64 unless another dtype is given.
// It panics if n is negative.
func (m Maker) Randperm(n int) *Tensor {
	if n < 0 {
		fail(ErrValue, "randperm", "", fmt.Sprintf("%s asked for", humanize.Count(n, "number")), "")
	}
	words := newTensor(Int64, []int{n}, false)
	fillRandom(words, m.random, distribution[int64]{direct: func(dst []int64, run random.Draw, start int) { run.Ints(dst, start) }})
	order := newTensor(Int64, []int{n}, false)
	p := plain[int64](order)
	for i, w := range plain[int64](words) { // each takes a random place among those before it
		j, _ := bits.Mul64(uint64(w), uint64(i+1))
		p[i] = p[j]
		p[j] = int64(i)
	}
	return order.To(m.wholeDtype(), m.device)
}

func (m Maker) wholeDtype() Dtype {
	if m.given {
		return m.dtype
	}
	return Int64
}

// blank returns the tensor that is to be filled.
func (m Maker) blank(op string, shape []int) *Tensor {
	if !m.dtype.IsFloat() {
		fail(ErrDtype, op, m.dtype.String(), "random fractions need a floating-point dtype", "use Randint for integers")
	}
	return m.Empty(shape...)
}

// UniformInPlace fills t with uniform random numbers in [low, high) and returns
// it. A nil generator is the default one. It panics unless t is floating point,
// and as described at [Tensor.CopyFrom].
func (t *Tensor) UniformInPlace(low, high float64, g *Generator) *Tensor {
	t.exist("uniform")
	bits := uniformBits(t.dtype)
	d := distribution[float64]{name: "uniform", params: []float64{low, high}, direct: func(dst []float64, run random.Draw, start int) {
		run.Uniforms(dst, start, bits, low, high)
	}}
	if top, reached := lastBelow(t.dtype, low, high); reached {
		d.name = "" // devices know nothing of top
		d.direct = func(dst []float64, run random.Draw, start int) {
			run.Uniforms(dst, start, bits, low, high)
			for i, v := range dst {
				if v > top {
					dst[i] = top
				}
			}
		}
	}
	return randomize(t, "uniform", g, d)
}

// lastBelow reports whether uniform numbers in [low, high) can reach high when they are rounded to d, and returns the
// largest number of d below high.
func lastBelow(d Dtype, low, high float64) (top float64, reached bool) {
	span, end := high-low, d.Round(high)
	if !d.IsFloat() || !(span > 0) || !loops.IsFinite(span) || !loops.IsFinite(end) {
		return 0, false
	}
	last := 1 - math.Ldexp(1, -uniformBits(d))                                  // of the numbers in [0, 1)
	if d.Round(max(low+float64(last*span), math.FMA(last, span, low))) < high { // loops may round once or twice
		return 0, false
	}
	switch code := d.Encode(end); {
	case end > 0:
		return d.Decode(code - 1).Value, true
	case end < 0:
		return d.Decode(code + 1).Value, true
	}
	return -Finfo(d).SmallestSubnormal, true
}

// NormalInPlace fills t with normal random numbers; see [Tensor.UniformInPlace].
func (t *Tensor) NormalInPlace(mean, std float64, g *Generator) *Tensor {
	t.exist("normal")
	if t.dtype == Float32 {
		return randomize(t, "normal", g, distribution[float32]{name: "normal", params: []float64{mean, std}, direct: func(dst []float32, run random.Draw, start int) {
			run.Normals32(dst, start, mean, std)
		}})
	}
	return randomize(t, "normal", g, distribution[float64]{name: "normal", params: []float64{mean, std}, direct: func(dst []float64, run random.Draw, start int) {
		run.Normals(dst, start, mean, std)
	}})
}

// TruncNormalInPlace fills t with the numbers of [Maker.TruncNormal]; see
// [Tensor.UniformInPlace]. It panics if low is above high, or if std is not positive.
func (t *Tensor) TruncNormalInPlace(mean, std, low, high float64, g *Generator) *Tensor {
	t.exist("trunc normal")
	if !(low <= high) || !(std > 0) {
		fail(ErrValue, "trunc normal", describe(t), fmt.Sprintf("bounds [%g, %g] and standard deviation %g", low, high, std), "give low ≤ high and std > 0")
	}
	draw := random.TruncatedNormal((low-mean)/std, (high-mean)/std)
	return randomize(t, "trunc normal", g, distribution[float64]{convert: func(dst []float64, words []uint64) {
		for i, w := range words[:len(dst)] {
			u := (float64(w>>11) + 0.5) * 0x1p-53
			dst[i] = min(max(mean+std*draw(u), low), high)
		}
	}})
}

// randomize fills t from a generator.
func randomize[T numbers.Number](t *Tensor, name string, g *Generator, d distribution[T]) *Tensor {
	if !t.dtype.IsFloat() {
		fail(ErrDtype, name, t.dtype.String(), "random fractions need a floating-point dtype", "use Randint for integers")
	}
	t.checkWritable(name + " in place")
	if GradEnabled() && t.RequiresGrad() { // as a Fill, so that no gradient goes to what t was computed from
		return t.putBy(scalar(0, Float64), func() { fillRandom(t, g, d) })
	}
	fillRandom(t, g, d)
	t.storage.Version.Add(1)
	return t
}

// Multinomial draws n positions from each row of t, an int64 tensor [n] of a vector
// and [rows n] of a matrix. The probability of position i is proportional to element i
// of the row; elements need not add up to 1. With replacement, positions may repeat;
// without it, they differ. Positions are in the order in which they were drawn. A nil
// g means the default generator.
//
// It panics if t does not have one or two axes, if an element is negative, infinite or
// NaN, if a row has no element above 0, or, without replacement, fewer than n of them.
func (t *Tensor) Multinomial(n int, replacement bool, g *Generator) *Tensor {
	if dim := t.exist("multinomial").Dim(); dim != 1 && dim != 2 {
		fail(ErrShape, "multinomial", describe(t), fmt.Sprintf("weights have one or two axes, these have %d", dim), "")
	}
	shape := t.Shape()
	size := shape[len(shape)-1]
	if n < 0 {
		fail(ErrValue, "multinomial", describe(t), fmt.Sprintf("%d positions were asked for", n), "")
	}
	shape[len(shape)-1] = n
	out := newTensor(Int64, shape, false)
	if out.Len() == 0 {
		return out.To(t.Device())
	}
	if g == nil {
		g = defaultGenerator
	}
	weights, drawn := t.Detach().onHost(), plain[int64](out)
	perRow := n // random words
	if !replacement {
		perRow = size
	}
	fractions := g.reserve(len(drawn) / n * perRow).FirstUniforms(len(drawn) / n * perRow)
	rows := len(drawn) / n
	positive, wrong := make([]int, rows), make([]int, rows)
	loops.ParallelRows(rows, loops.ParallelFrom/8/max(size, 1), func(start, end int) { // which must not panic
		r, w := newReader[float64](weights), make([]float64, size)
		for row := start; row < end; row++ {
			r.Copy(w, row*size)
			u, to := fractions[row*perRow:][:perRow], drawn[row*n:][:n]
			if replacement && loops.PositiveWeights(w) {
				positive[row], wrong[row] = 1, -1 // or more, which is enough to know
			} else {
				positive[row], wrong[row] = countWeights(w)
			}
			switch {
			case wrong[row] >= 0:
			case replacement && positive[row] > 0:
				random.WithReplacement(to, w, u)
			case positive[row] >= n:
				random.WithoutReplacement(to, w, u)
			}
		}
	})
	for row, have := range positive {
		if i := wrong[row]; i >= 0 {
			var w [1]float64
			newReader[float64](weights).Copy(w[:], row*size+i)
			fail(ErrValue, "multinomial", describe(t), fmt.Sprintf("weight %d of row %d is %g", i, row, w[0]), "weights are finite and at least 0; Softmax turns logits into such weights")
		}
		if have == 0 || !replacement && have < n {
			fail(ErrValue, "multinomial", describe(t), fmt.Sprintf("row %d has %s above 0, too few for %s", row, humanize.Count(have, "weight"), humanize.Count(n, "position")), "")
		}
	}
	return out.To(t.Device())
}

// countWeights returns how many weights are above 0, and the position of the first invalid one, or -1 if all are valid.
func countWeights(w []float64) (positive, wrong int) {
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			return positive, i
		}
		if v > 0 {
			positive++
		}
	}
	return positive, -1
}

// Rand is [Maker.Rand] for float32 from the default generator.
func Rand(shape ...int) *Tensor { return Maker{}.Rand(shape...) }

// Uniform is [Maker.Uniform] for float32 from the default generator.
func Uniform(low, high float64, shape ...int) *Tensor { return Maker{}.Uniform(low, high, shape...) }

// Randn is [Maker.Randn] for float32 from the default generator.
func Randn(shape ...int) *Tensor { return Maker{}.Randn(shape...) }

// Normal is [Maker.Normal] for float32 from the default generator.
func Normal(mean, std float64, shape ...int) *Tensor { return Maker{}.Normal(mean, std, shape...) }

// TruncNormal is [Maker.TruncNormal] for float32 from the default generator.
func TruncNormal(mean, std, low, high float64, shape ...int) *Tensor {
	return Maker{}.TruncNormal(mean, std, low, high, shape...)
}

// Bernoulli is [Maker.Bernoulli] for float32 from the default generator.
func Bernoulli(p float64, shape ...int) *Tensor { return Maker{}.Bernoulli(p, shape...) }

// Randint is [Maker.Randint] for int64 from the default generator.
func Randint(low, high int, shape ...int) *Tensor { return Maker{}.Randint(low, high, shape...) }

// Randperm is [Maker.Randperm] for int64 from the default generator.
func Randperm(n int) *Tensor { return Maker{}.Randperm(n) }
