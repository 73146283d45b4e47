package tensor

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/tensor/internal/random"
)

// The vectors are those of Random123, the authors' own implementation.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := random.Philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%#x, %#x) = %#x, want %#x", c.counter, c.key, got, c.want)
		}
	}
}

// TestRandomDoesNotDependOnThreads fills a large tensor with one thread and with
// several, and in pieces.
func TestRandomDoesNotDependOnThreads(t *testing.T) {
	const n = 100_003
	for name, f := range map[string]func(g *Generator) *Tensor{
		"rand":         func(g *Generator) *Tensor { return With(g).Rand(n) },
		"randn":        func(g *Generator) *Tensor { return With(g).Randn(n) },
		"randint":      func(g *Generator) *Tensor { return With(g).Randint(-5, 1000, n) },
		"randperm":     func(g *Generator) *Tensor { return With(g).Randperm(n) },
		"trunc normal": func(g *Generator) *Tensor { return With(g).TruncNormal(0, 1, -2, 2, n) },
		"bernoulli":    func(g *Generator) *Tensor { return With(g, Bool).Bernoulli(0.3, n) },
	} {
		before := runtime.GOMAXPROCS(1)
		one := f(NewGenerator(7))
		runtime.GOMAXPROCS(4)
		four := f(NewGenerator(7))
		runtime.GOMAXPROCS(before)
		if !Equal(one, four) {
			t.Errorf("%s: one thread and four give different numbers", name)
		}
		if other := f(NewGenerator(8)); Equal(one, other) {
			t.Errorf("%s: seeds 7 and 8 give the same numbers", name)
		}
	}
}

func TestSeedAndStreams(t *testing.T) {
	defer Seed(0)
	Seed(42)
	a, b := Randn(5), Randn(5)
	Seed(42)
	if c, d := Randn(5), Randn(5); !Equal(a, c) || !Equal(b, d) || Equal(a, b) {
		t.Errorf("after Seed(42): %v %v, then %v %v", a, b, c, d)
	}

	g := NewGenerator(1)
	first := With(g.Stream("data")).Rand(100)
	With(g).Rand(1000)
	With(g.Stream("init")).Rand(1000)
	if again := With(g.Stream("data")).Rand(100); !Equal(first, again) {
		t.Error("a stream depends on how the generator and other streams were used")
	}
	if other := With(g.Stream("init")).Rand(100); Equal(first, other) {
		t.Error("two streams give the same numbers")
	}
	if nested := With(g.Stream("init").Stream("data")).Rand(100); Equal(first, nested) {
		t.Error("a stream of a stream is the stream of its name")
	}

	// float32 holds the numbers of float64, rounded (normal) or cut (uniform).
	x32, x64 := With(NewGenerator(3)).Randn(50), With(NewGenerator(3), Float64).Randn(50)
	if !Equal(x32, x64.To(Float32)) {
		t.Error("float32 and float64 from one seed differ by more than rounding")
	}
}

func TestGeneratorState(t *testing.T) {
	g := NewGenerator(5).Stream("x")
	With(g).Rand(11)
	state, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	want := With(g).Randn(10)
	h := NewGenerator(0)
	if err := h.UnmarshalBinary(state); err != nil || !Equal(With(h).Randn(10), want) {
		t.Errorf("a generator does not go on from its state (%v)", err)
	}
	if err := h.UnmarshalBinary(state[1:]); err == nil {
		t.Error("a state that is cut short is accepted")
	}
	for _, e := range cellstate.Entries() {
		if e.Name != "tensor/random" {
			continue
		}
		defer Seed(0)
		Seed(9)
		Rand(3)
		saved := e.Save()
		want := Rand(3)
		if err := e.Load(saved); err != nil || !Equal(Rand(3), want) {
			t.Errorf("the default generator is not kept (%v)", err)
		}
		if now := e.Save(); bytes.Equal(now, saved) {
			t.Error("drawing numbers does not change the state")
		}
		return
	}
	t.Error("the default generator is not registered to be kept")
}

// TestDistributions compares the samples' distribution with the one asked for:
// the largest distance between the two, times √n, is below 1.95 in 999 of 1000
// cases (Kolmogorov and Smirnov). Seeds are fixed, so the test is, too.
func TestDistributions(t *testing.T) {
	const n = 40_000
	unit := distuv.UnitNormal
	trunc := func(mean, std, low, high float64) func(x float64) float64 {
		a, b := unit.CDF((low-mean)/std), unit.CDF((high-mean)/std)
		return func(x float64) float64 { return (unit.CDF((x-mean)/std) - a) / (b - a) }
	}
	g := NewGenerator(2024)
	for _, c := range []struct {
		name string
		x    *Tensor
		cdf  func(x float64) float64
	}{
		{"rand", With(g).Rand(n), func(x float64) float64 { return x }},
		{"rand float64", With(g, Float64).Rand(n), func(x float64) float64 { return x }},
		{"uniform", With(g).Uniform(-3, 5, n), func(x float64) float64 { return (x + 3) / 8 }},
		{"randn", With(g).Randn(n), unit.CDF},
		{"normal", With(g).Normal(10, 3, n), distuv.Normal{Mu: 10, Sigma: 3}.CDF},
		{"trunc normal", With(g).TruncNormal(0, 1, -2, 2, n), trunc(0, 1, -2, 2)},
		{"skewed trunc normal", With(g, Float64).TruncNormal(1, 2, 2, 9, n), trunc(1, 2, 2, 9)},
		{"tail", With(g, Float64).TruncNormal(0, 1, 5, 6, n), func(x float64) float64 {
			return (unit.CDF(-5) - unit.CDF(-x)) / (unit.CDF(-5) - unit.CDF(-6))
		}},
		// Beyond 40 standard deviations the distribution is an exponential one, but for 1/40².
		{"far tail", With(g, Float64).TruncNormal(0, 1, 40, 50, n), func(x float64) float64 { return 1 - math.Exp(-40*(x-40)-(x-40)*(x-40)/2) }},
		{"far lower tail", With(g, Float64).TruncNormal(0, 1, -50, -40, n), func(x float64) float64 { return math.Exp(40*(x+40) - (x+40)*(x+40)/2) }},
	} {
		values := c.x.Floats()
		slices.Sort(values)
		var distance float64
		for i, v := range values {
			p := c.cdf(v)
			distance = max(distance, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
		}
		if d := distance * math.Sqrt(n); !(d < 1.95) {
			t.Errorf("%s: the distribution is off by %.4f, that is %.2f/√n", c.name, distance, d)
		}
	}

	counts := make([]float64, 10)
	for _, v := range With(g).Randint(-3, 7, n).Ints() {
		counts[v+3]++
	}
	var chi float64
	for _, k := range counts {
		chi += (k - n/10) * (k - n/10) / (n / 10)
	}
	if p := 1 - (distuv.ChiSquared{K: 9}).CDF(chi); p < 0.001 {
		t.Errorf("randint: counts %v have probability %g", counts, p)
	}
	if mean := With(g).Bernoulli(0.25, n).Mean().Item(); math.Abs(mean-0.25) > 4*math.Sqrt(0.25*0.75/n) {
		t.Errorf("bernoulli: %g ones, want 0.25", mean)
	}
	p := With(g).Randperm(1000)
	if sorted, _ := p.Sort(0, false); !Equal(sorted, Arange(1000)) || Equal(p, sorted) {
		t.Errorf("randperm is no permutation: %v", p)
	}
}

// drawn are all distributions. mean and std are those of one number.
var drawn = []struct {
	name      string
	f         func(m Maker, n int) *Tensor
	dtypes    []Dtype
	mean, std float64
}{
	{"rand", func(m Maker, n int) *Tensor { return m.Rand(n) }, floatDtypes, 0.5, math.Sqrt(1. / 12)},
	{"uniform", func(m Maker, n int) *Tensor { return m.Uniform(-3, 5, n) }, floatDtypes, 1, 8 * math.Sqrt(1./12)},
	{"randn", func(m Maker, n int) *Tensor { return m.Randn(n) }, floatDtypes, 0, 1},
	{"normal", func(m Maker, n int) *Tensor { return m.Normal(2, 3, n) }, floatDtypes, 2, 3},
	{"trunc normal", func(m Maker, n int) *Tensor { return m.TruncNormal(1, 2, -5, 7, n) }, floatDtypes, 1, 2 * 0.98658},
	{"bernoulli", func(m Maker, n int) *Tensor { return m.Bernoulli(0.25, n) }, append([]Dtype{Bool, Int64, Uint8}, floatDtypes...), 0.25, math.Sqrt(0.25 * 0.75)},
	{"randint", func(m Maker, n int) *Tensor { return m.Randint(0, 7, n) }, append([]Dtype{Int64, Int32, Int16, Int8, Uint8}, floatDtypes...), 3, 2},
}

var floatDtypes = []Dtype{Float64, Float32, Float16, BFloat16, Float8E4M3, Float8E5M2}

// TestEveryPositionIsDrawnAlike looks at each element of small tensors over many
// seeds: none may have another distribution than its neighbors, nor depend on how
// many come after it.
func TestEveryPositionIsDrawnAlike(t *testing.T) {
	const n, seeds = 10, 300
	for _, c := range drawn {
		for _, d := range c.dtypes {
			var sums, squares [n]float64
			for seed := range uint64(seeds) {
				x := c.f(With(NewGenerator(seed), d), n)
				for i, v := range x.Floats() {
					v = (v - c.mean) / c.std
					sums[i] += v
					squares[i] += v * v
				}
				for few := 1; few < n && seed < 20; few++ {
					if first := c.f(With(NewGenerator(seed), d), few); !Equal(first, x.Narrow(0, 0, few)) {
						t.Fatalf("%s of %s, seed %d: %d numbers are %v, the first of %d are %v", c.name, d, seed, few, first, n, x)
					}
				}
			}
			rounding := 0.0 // uniform numbers of three bits are cut by 1/16 on average
			if d.IsFloat() {
				rounding = math.Ldexp(1, -formats[d].mantissa)
			}
			for i := range n {
				if off := math.Abs(sums[i] / seeds); off > 4.5/math.Sqrt(seeds)+rounding {
					t.Errorf("%s of %s: number %d of %d is off by %.2f standard deviations on average", c.name, d, i, n, off)
				}
				if spread := math.Sqrt(squares[i] / seeds); spread < 0.8-rounding || spread > 1.2+rounding {
					t.Errorf("%s of %s: number %d of %d spreads %.2f times as far as it should", c.name, d, i, n, spread)
				}
			}
		}
	}
	for n := 1; n <= 9; n++ {
		counts := make([]float64, n*n)
		for seed := range uint64(seeds) {
			for i, v := range With(NewGenerator(seed)).Randperm(n).Ints() {
				counts[i*n+int(v)]++
			}
		}
		p := 1 / float64(n)
		for i, k := range counts {
			if math.Abs(k-seeds*p) > 4.5*math.Sqrt(seeds*p*(1-p)) {
				t.Errorf("randperm of %d has %d at position %d %g times in %d", n, i%n, i/n, k, seeds)
			}
		}
	}
}

// TestSmallFloatsStayBelowOne: rounding 0.9999 to bfloat16 would give 1.
func TestSmallFloatsStayBelowOne(t *testing.T) {
	for _, d := range []Dtype{Float16, BFloat16, Float8E4M3, Float8E5M2, Float32} {
		x := With(d, NewGenerator(1)).Rand(20_000)
		if high := x.Max().Item(); high >= 1 {
			t.Errorf("%s: rand gives %g", d, high)
		}
	}
}

// TestUniformStaysBelowItsEnd: 1.999 is 2 in bfloat16, and 1+(1-2⁻²⁴) is 2 in float32. The rest of the numbers are what
// the formula gives.
func TestUniformStaysBelowItsEnd(t *testing.T) {
	for _, c := range []struct {
		dtype     Dtype
		low, high float64
		n         int
		top       float64 // the largest number below high
	}{
		{BFloat16, 1, 2, 10_000, 2 - 0x1p-7}, {Float16, 1, 2, 50_000, 2 - 0x1p-10}, {Float8E5M2, 1, 2, 1000, 1.75}, {Float8E4M3, -3, -2, 1000, -2.25},
		{BFloat16, 1, 1.5, 10_000, 1.5 - 0x1p-7}, {BFloat16, -1, 0, 10_000, -0x1p-8}, {BFloat16, 100, 100.3, 1000, 100},
		{Float32, 1 << 20, 1<<20 + 1, 10_000, 1<<20 + 1 - 0x1p-3},
		{Float32, 1, 1 + 0x1p-22, 1000, 1 + 0x1p-23}, {Float64, 1, 1 + 0x1p-51, 1000, 1 + 0x1p-52},
	} {
		x := With(c.dtype, NewGenerator(1)).Uniform(c.low, c.high, c.n)
		if got := x.Max().Item(); got != c.top {
			t.Errorf("%s: the largest of [%v, %v) is %v, want %v", c.dtype, c.low, c.high, got, c.top)
		}
		unit := With(c.dtype, NewGenerator(1)).Rand(c.n).Floats()
		for i, got := range x.Floats() {
			want := c.dtype.Round(c.low + unit[i]*(c.high-c.low))
			if want >= c.high {
				want = c.top
			}
			if got != want {
				t.Fatalf("%s: number %d of [%v, %v) is %v, want %v", c.dtype, i, c.low, c.high, got, want)
			}
		}
	}
	if got := With(BFloat16).Uniform(2, 2, 100); !Equal(got, With(BFloat16).Full(2, 100)) {
		t.Errorf("[2, 2) gives %v", got)
	}
}

func TestRandomMistakes(t *testing.T) {
	for name, f := range map[string]func(){
		"rand of int64":      func() { With(Int64).Rand(3) },
		"empty range":        func() { Randint(3, 3, 2) },
		"probability":        func() { Bernoulli(1.5, 2) },
		"bounds":             func() { TruncNormal(0, 1, 2, -2, 3) },
		"standard deviation": func() { TruncNormal(0, 0, -2, 2, 3) },
		"negative length":    func() { Randperm(-1) },
		"expanded":           func() { Zeros(1).Expand(4).NormalInPlace(0, 1, nil) },
	} {
		if Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkRandom(b *testing.B) {
	const n = 1 << 16
	x := Zeros(n)
	for name, f := range map[string]func(){
		"uniform":      func() { x.UniformInPlace(0, 1, nil) },
		"normal":       func() { x.NormalInPlace(0, 1, nil) },
		"trunc normal": func() { x.TruncNormalInPlace(0, 1, -2, 2, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
		})
	}
}
