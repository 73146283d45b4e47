package transformer

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// kinds are one small model of each kind.
var kinds = map[string]Config{
	"plain":   {Vocabulary: 29, Context: 16, Layers: 2, Width: 24, Heads: 3, Hidden: 40},
	"grouped": {Vocabulary: 29, Context: 16, Layers: 2, Width: 32, Heads: 4, KVHeads: 2},
	"tied":    {Vocabulary: 29, Context: 16, Layers: 1, Width: 16, Heads: 2, KVHeads: 1, Tied: true},
	"gpt2":    {Vocabulary: 29, Context: 16, Layers: 2, Width: 24, Heads: 3, GPT2: true},
}

// each runs a test on a model of each kind.
func each(t *testing.T, options []tensor.Option, test func(t *testing.T, m *LM)) {
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			test(t, New(c, append(options, tensor.NewGenerator(1))...))
		})
	}
}

// ids draws ids [B T] for a model.
func ids(m *LM, seed uint64, B, T int) *tensor.Tensor {
	return tensor.With(tensor.NewGenerator(seed)).Randint(0, m.Config().Vocabulary, B, T)
}

// near fails if two tensors differ by more than tolerance.
func near(t *testing.T, what string, got, want *tensor.Tensor, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s: the shape is %v, want %v", what, got.Shape(), want.Shape())
	}
	if off := got.Sub(want).Abs().Max().Item(); !(off <= tolerance) {
		t.Errorf("%s: off by %g, more than %g", what, off, tolerance)
	}
}

func TestParametersAreAsMany(t *testing.T) {
	each(t, nil, func(t *testing.T, m *LM) {
		if got, want := nn.NumParameters(m), m.Config().Sizes().Parameters(); got != want {
			t.Errorf("%d parameters, and the formula says %d", got, want)
		}
	})
}

func TestNamesAreTheAssignments(t *testing.T) {
	m := New(Config{Vocabulary: 5, Context: 4, Layers: 1, Width: 4, Heads: 2})
	var names []string
	for _, p := range nn.StateDict(m) {
		names = append(names, p.Name)
	}
	want := []string{
		"token_embeddings.weight", "layers.0.ln1.weight", "layers.0.attn.q_proj.weight", "layers.0.attn.k_proj.weight",
		"layers.0.attn.v_proj.weight", "layers.0.attn.output_proj.weight", "layers.0.ln2.weight", "layers.0.ffn.w1.weight",
		"layers.0.ffn.w2.weight", "layers.0.ffn.w3.weight", "ln_final.weight", "lm_head.weight",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the names are %q, want %q", names, want)
	}
}

// A sequence without a batch has the loss of a batch of one.
func TestLossOfOneSequence(t *testing.T) {
	each(t, []tensor.Option{tensor.Float64}, func(t *testing.T, m *LM) {
		x, y := ids(m, 2, 1, 10), ids(m, 3, 1, 10)
		near(t, "loss", m.Loss(x.Squeeze(0), y.Squeeze(0)), m.Loss(x, y), 1e-12)
	})
}

// Rotate turns each pair by position · theta^(-2i/d), wherever the vectors stand, and as attention does.
func TestRotateTurnsPairs(t *testing.T) {
	const d, theta = 6, 100.
	r := NewRoPE(d, 9, theta)
	x := tensor.With(tensor.Float64, tensor.NewGenerator(1)).Randn(2, 3, d)
	positions := tensor.Of([]int{8, 0, 3}, []int{5, 5, 1})
	got := r.Rotate(x, positions)
	for b := range 2 {
		for i := range 3 {
			for pair := range d / 2 {
				sin, cos := math.Sincos(float64(positions.At(b, i)) * math.Pow(theta, -2*float64(pair)/d))
				even, odd := x.At(b, i, 2*pair), x.At(b, i, 2*pair+1)
				want := [2]float64{even*cos - odd*sin, even*sin + odd*cos}
				if off := math.Hypot(got.At(b, i, 2*pair)-want[0], got.At(b, i, 2*pair+1)-want[1]); off > 1e-14 {
					t.Errorf("pair %d at position %g is off by %g", pair, positions.At(b, i), off)
				}
			}
		}
	}
	heads := tensor.With(tensor.Float64, tensor.NewGenerator(2)).Randn(1, 4, 2, d) // [B T H d]
	near(t, "heads", r.rotateHeads(heads, 3), r.Rotate(heads.Transpose(1, 2), tensor.Arange(3, 7)).Transpose(1, 2), 0)
}

// A token's logits depend on the tokens up to it alone.
func TestNothingLooksAhead(t *testing.T) {
	each(t, []tensor.Option{tensor.Float64}, func(t *testing.T, m *LM) {
		a, b := ids(m, 2, 2, 10), ids(m, 3, 2, 10)
		mixed := tensor.Cat(1, a.Narrow(1, 0, 6), b.Narrow(1, 6, 4))
		near(t, "the first six", m.Forward(mixed).Narrow(1, 0, 6), m.Forward(a).Narrow(1, 0, 6), 1e-12)
		if tensor.AllClose(m.Forward(mixed).Narrow(1, 6, 4), m.Forward(a).Narrow(1, 6, 4), 1e-6, 1e-6) {
			t.Error("other tokens made no difference")
		}
	})
}

// Prefill and decode with a cache, in parts of any length, give what one pass gives.
func TestCacheChangesNothing(t *testing.T) {
	each(t, []tensor.Option{tensor.Float64}, func(t *testing.T, m *LM) {
		const B = 2
		x := ids(m, 4, B, 12)
		want := m.Forward(x)
		cache := m.NewCache(B, 0)
		for _, T := range []int{5, 1, 1, 3, 1, 1} {
			got := m.Next(x.Narrow(1, cache.Length, T), cache)
			near(t, "logits", got, want.Select(1, cache.Length-1), 1e-12)
			if got.RequiresGrad() {
				t.Error("there is a graph")
			}
		}
		cache.Length = 6 // go back
		near(t, "after going back", m.Next(x.Narrow(1, 6, 2), cache), want.Select(1, 7), 1e-12)

		cache.Reorder(1, 1)
		got := m.Next(tensor.Cat(0, x.Narrow(0, 1, 1), x.Narrow(0, 1, 1)).Narrow(1, 8, 1), cache)
		near(t, "after going on with the second sequence twice", got, tensor.Stack(0, want.Index(1, 8), want.Index(1, 8)), 1e-12)
		if each := m.Config().Sizes().KVCacheBytesPerToken(8); cache.Bytes() != B*16*each {
			t.Errorf("the cache has %d bytes, and the formula says %d for each of %d tokens", cache.Bytes(), each, B*16)
		}
	})
}

func TestRecomputeChangesNothing(t *testing.T) {
	each(t, []tensor.Option{tensor.Float64}, func(t *testing.T, m *LM) {
		x, y := ids(m, 5, 2, 9), ids(m, 6, 2, 9)
		gradients := func() (all []*tensor.Tensor) {
			nn.ZeroGrad(m)
			m.Loss(x, y).Backward()
			for _, p := range nn.Parameters(m) {
				all = append(all, p.Tensor.Grad())
			}
			return all
		}
		want := gradients()
		m.Recompute = true
		for i, g := range gradients() {
			near(t, nn.Parameters(m)[i].Name, g, want[i], 1e-14)
		}
	})
}

// The gradient of the whole model, along a random direction, against a finite difference.
func TestGradient(t *testing.T) {
	each(t, []tensor.Option{tensor.Float64}, func(t *testing.T, m *LM) {
		x, y := ids(m, 7, 2, 8), ids(m, 8, 2, 8)
		m.Loss(x, y).Backward()
		g := tensor.NewGenerator(9)
		slope := 0.0
		var directions []*tensor.Tensor
		for _, p := range nn.Parameters(m) {
			d := tensor.With(g, tensor.Float64).Randn(p.Tensor.Shape()...)
			directions = append(directions, d)
			slope += d.Mul(p.Tensor.Grad()).Sum().Item()
		}
		loss := func(step float64) float64 {
			var at float64
			tensor.NoGrad(func() {
				for i, p := range nn.Parameters(m) {
					p.Tensor.AddInPlace(directions[i].Mul(step))
				}
				at = m.Loss(x, y).Item()
			})
			return at
		}
		const h = 1e-5
		above := loss(h)
		below := loss(-2 * h)
		if want := (above - below) / (2 * h); math.Abs(slope-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("the slope is %v, and by finite differences %v", slope, want)
		}
	})
}

// FLOPs that were counted are those that the formula predicts, matmuls and attention
// apart from what is done to each element.
func TestFLOPsAreAsPredicted(t *testing.T) {
	c := Config{Vocabulary: 101, Context: 32, Layers: 2, Width: 64, Heads: 4, KVHeads: 2, Hidden: 96}
	m := New(c)
	const B, T = 2, 32
	x, y := ids(m, 10, B, T), ids(m, 11, B, T)
	report := accounting.Count(func() { m.Loss(x, y).Backward() })
	pairs := B * c.Layers * c.Heads * T * (T + 1) / 2
	for phase, sides := range map[*accounting.Phase][2]int{&report.Forward: {2 + 2, report.Forward.Op("attention").Matmul}, &report.Backward: {6 + 4, report.Backward.Op("attention gradient").Matmul}} {
		if want := pairs * sides[0] * c.Width / c.Heads; sides[1] != want {
			t.Errorf("products of attention took %d FLOPs of %d, want %d", sides[1], phase.MatmulFLOPs(), want)
		}
	}
	// 2 FLOPs for each weight and token, besides attention.
	forward := report.Forward.MatmulFLOPs() - report.Forward.Op("attention").Matmul
	backward := report.Backward.MatmulFLOPs() - report.Backward.Op("attention gradient").Matmul
	want := B * T * (c.Sizes().ForwardFLOPsPerToken() - 4*c.Layers*c.Context*c.Width)
	if forward != want || backward != 2*want {
		t.Errorf("matmuls took %d FLOPs forward and %d backward, want %d and %d", forward, backward, want, 2*want)
	}
}

// TestActivationsAreAsPredicted: within 3 % of what the ledger counts.
func TestActivationsAreAsPredicted(t *testing.T) {
	for name, c := range map[string]Config{
		"shared keys":       {Vocabulary: 300, Context: 24, Layers: 2, Width: 48, Heads: 6, KVHeads: 2, Hidden: 100, Tied: true},
		"GPT-2":             {Vocabulary: 100, Context: 24, Layers: 3, Width: 32, Heads: 4, GPT2: true},
		"a wide vocabulary": {Vocabulary: 5000, Context: 32, Layers: 1, Width: 32, Heads: 4},
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16} {
			for _, again := range []accounting.Recompute{accounting.RecomputeNothing, accounting.RecomputeAll} {
				m := New(c, tensor.NewGenerator(1), dtype)
				m.Recompute = again == accounting.RecomputeAll
				all := ids(m, 3, 2, c.Context+1)
				x, y := all.Narrow(1, 0, c.Context), all.Narrow(1, 1, c.Context)
				known := append(nn.Parameters(m).Tensors(), all)
				measured := accounting.Memory(func() { m.Loss(x, y).Backward() }, known...).Highest[accounting.Activations]
				predicted := c.Sizes().SavedBytes(2, dtype.Size(), again)
				if ratio := float64(measured) / float64(predicted); ratio < 0.97 || ratio > 1.03 {
					t.Errorf("%s in %s, recompute %d: %d bytes measured, %d predicted: ratio %.3f", name, dtype, again, measured, predicted, ratio)
				}
			}
		}
	}
}

// TestMemoryOfAStep: bfloat16 takes less than float32, and a step takes no more inside FreeAfter than outside.
func TestMemoryOfAStep(t *testing.T) {
	m := New(Config{Vocabulary: 500, Context: 64, Layers: 2, Width: 128, Heads: 4}, tensor.NewGenerator(1))
	x, y := ids(m, 1, 4, 64), ids(m, 2, 4, 64)
	parameters := nn.Parameters(m).Tensors()
	peak := func(dtype tensor.Dtype, free bool) int {
		step := func(func(*tensor.Tensor) *tensor.Tensor) {
			var loss *tensor.Tensor
			tensor.Autocast(dtype, func() { loss = m.Loss(x, y) })
			loss.Backward()
			for _, p := range parameters {
				p.ZeroGrad()
			}
		}
		return accounting.Memory(func() {
			if free {
				tensor.FreeAfter(step)
			} else {
				step(nil)
			}
		}, parameters...).Peak.Total()
	}
	single, half := peak(tensor.Float32, false), peak(tensor.BFloat16, false)
	if float64(half) > 0.87*float64(single) {
		t.Errorf("bfloat16 takes %d bytes, float32 %d", half, single)
	}
	for dtype, without := range map[tensor.Dtype]int{tensor.Float32: single, tensor.BFloat16: half} {
		if with := peak(dtype, true); float64(with) > 1.01*float64(without) {
			t.Errorf("a step of %s takes %d bytes inside FreeAfter and %d outside", dtype, with, without)
		}
	}
}

func TestTrainingInAnyPrecision(t *testing.T) {
	each(t, nil, func(t *testing.T, m *LM) {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.BFloat16} {
			opt := optim.NewAdamW(nn.Parameters(m), 1e-2)
			x := ids(m, 12, 4, 12)
			first, last := 0.0, 0.0
			for step := range 15 {
				opt.ZeroGrad(true)
				var loss *tensor.Tensor
				tensor.Autocast(dtype, func() { loss = m.Loss(x.Narrow(1, 0, 11), x.Narrow(1, 1, 11)) })
				loss.Backward()
				opt.Step()
				if last = loss.Item(); step == 0 {
					first = last
				}
			}
			if !(last < first) || math.IsNaN(last) {
				t.Errorf("%s: the loss went from %v to %v", dtype, first, last)
			}
		}
	})
}

func TestGenerate(t *testing.T) {
	each(t, nil, func(t *testing.T, m *LM) {
		prompt := []int32{3, 1, 4}
		greedy := slices.Collect(m.Generate(prompt, Sampling{}))
		if len(greedy) != 16-3+1 {
			t.Errorf("%d tokens until the context of 16 is full, want 14", len(greedy))
		}
		text := slices.Clone(prompt)
		for _, id := range greedy { // the same without a cache
			logits := m.Forward(tensor.Of(text).View(1, -1))
			if want := logits.Select(1, len(text)-1).Argmax(-1).ItemInt(); int64(id) != want {
				t.Fatalf("after %v comes %d, want %d", text, id, want)
			}
			text = append(text, id)
		}
		if got := slices.Collect(m.Generate(prompt, Sampling{Stop: []int32{greedy[2]}})); !slices.Equal(got, greedy[:slices.Index(greedy, greedy[2])]) {
			t.Errorf("with a stop the text is %v, want the start of %v", got, greedy)
		}
		for id := range m.Generate(prompt, Sampling{}) { // leaving early is fine
			if id != greedy[0] {
				t.Errorf("the first token is %d, want %d", id, greedy[0])
			}
			break
		}
		drawn := func(seed uint64) []int32 {
			return slices.Collect(m.Generate(prompt, Sampling{Temperature: 2, TopK: 20, TopP: 0.99, Max: 10, Generator: tensor.NewGenerator(seed)}))
		}
		if a, b := drawn(1), drawn(1); !slices.Equal(a, b) || len(a) != 10 {
			t.Errorf("one seed gives %v and %v", a, b)
		}
		if slices.Equal(drawn(1), drawn(2)) {
			t.Error("two seeds give the same text")
		}
	})
}

// Mistakes are told in one sentence each.
func TestMistakes(t *testing.T) {
	m := New(kinds["plain"])
	other := New(kinds["grouped"])
	small := Config{Vocabulary: 5, Context: 4, Layers: 1, Width: 4, Heads: 2}
	with := func(change func(*Config)) func() {
		return func() {
			c := small
			change(&c)
			New(c)
		}
	}
	tests := []struct {
		name string
		f    func()
		kind error
		says string
	}{
		{"sizes below 0", with(func(c *Config) { c.Hidden = -1 }), tensor.ErrValue, "Hidden is -1, Theta 10000 and Eps 1e-05"},
		{"no sizes", with(func(c *Config) { c.Layers = 0 }), tensor.ErrValue, "Config.Layers is 0"},
		{"heads", with(func(c *Config) { c.Heads = 3 }), tensor.ErrValue, "3 heads don't divide a width of 4"},
		{"shared heads", with(func(c *Config) { c.Heads, c.KVHeads = 4, 3 }), tensor.ErrValue, "4 query heads can't share 3 key/value heads"},
		{"odd heads", with(func(c *Config) { c.Heads = 4 }), tensor.ErrValue, "a head has 1 feature"},
		{"too long", func() { m.Forward(ids(m, 1, 1, 17)) }, tensor.ErrShape, "a sequence of 17 tokens is longer than the context of 16"},
		{"an id", func() { m.Forward(tensor.Of([]int{1, 29})) }, tensor.ErrIndex, "29"},
		{"a negative id", func() { m.Forward(tensor.Of([]int{1, -1})) }, tensor.ErrIndex, "-1"},
		{"behind the cache", func() {
			cache := m.NewCache(1, 0)
			m.Next(ids(m, 1, 1, 10), cache)
			m.Next(ids(m, 1, 1, 7), cache)
		}, tensor.ErrShape, "7 tokens after the 10 in the cache are more than the 16 it has room for"},
		{"GPT-2's weights in another model", func() { m.LoadGPT2(nil) }, tensor.ErrValue, "make it with Config.GPT2"},
		{"a position of no row", func() { NewRoPE(4, 3, 10000).Rotate(tensor.Ones(1, 4), tensor.Of(3)) }, tensor.ErrIndex, "position 3 is out of range"},
		{"axes", func() { m.Forward(ids(m, 1, 4, 4).View(2, 2, 4)) }, tensor.ErrShape, "give [T] or [B T]"},
		{"another model's cache", func() { m.Next(ids(m, 1, 1, 1), other.NewCache(1, 0)) }, tensor.ErrValue, "made by a model of other sizes"},
		{"another batch", func() { m.Next(ids(m, 1, 2, 1), m.NewCache(1, 0)) }, tensor.ErrShape, "the cache is for 1 sequence"},
		{"a full cache", func() { m.Next(ids(m, 1, 1, 5), m.NewCache(1, 4)) }, tensor.ErrShape, "5 tokens after the 0 in the cache"},
		{"no cache", func() { m.Next(ids(m, 1, 1, 1), nil) }, tensor.ErrValue, "the cache is nil"},
		{"a cache of another dtype", func() {
			cache := m.NewCache(1, 0)
			m.Next(ids(m, 1, 1, 1), cache)
			nn.To(m, tensor.Float64)
			defer nn.To(m, tensor.Float32)
			m.Next(ids(m, 1, 1, 1), cache)
		}, tensor.ErrDtype, "make a new cache after nn.To"},
		{"too large a cache", func() { m.NewCache(1, 17) }, tensor.ErrValue, "at most the context of 16"},
		{"no prompt", func() { m.Generate(nil, Sampling{}) }, tensor.ErrShape, "the prompt has 0 tokens"},
		{"a prompt's id", func() { m.Generate([]int32{29}, Sampling{}) }, tensor.ErrValue, "id 29 of the prompt is not in the vocabulary of 29"},
		{"sampling", func() { m.Generate([]int32{1}, Sampling{TopP: 1.5}) }, tensor.ErrValue, "TopP 1.5"},
		{"reorder", func() { m.NewCache(2, 0).Reorder(0, 2) }, tensor.ErrValue, "does not name one of 2 sequences"},
		{"rope", func() { NewRoPE(3, 4, 10000) }, tensor.ErrValue, "features must be even"},
		{"rope without end", func() { NewRoPE(8, 1<<46, 10000) }, tensor.ErrShape, "there is no memory for so many elements"},
		{"rope of another size", func() { NewAttention(8, 2, 2, NewRoPE(8, 4, 10000)) }, tensor.ErrShape, "a head has 4 features"},
		{"behind the positions", func() { NewAttention(8, 2, 2, NewRoPE(4, 4, 10000)).Forward(tensor.Ones(1, 5, 8)) }, tensor.ErrShape, "position 4 is past the 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := tensor.Try(test.f)
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %v that says %q", err, test.kind, test.says)
			}
		})
	}
}
