package optim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// named makes a parameter with a gradient, which may be nil.
func named(name string, value, grad *tensor.Tensor) tensor.NamedTensor {
	value.RequireGrad().SetGrad(grad)
	return tensor.Named(name, value)
}

func wantKind(t *testing.T, what string, kind error, say string, f func()) {
	t.Helper()
	err := tensor.Try(f)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), say) {
		t.Errorf("%s: got %v, want %v that says %q", what, err, kind, say)
	}
}

func TestParametersWithoutGradientAreNamedAndNothingChanges(t *testing.T) {
	a, b := named("layers.0.weight", tensor.Of(1., 2), tensor.Of(1., 1)), named("layers.1.weight", tensor.Of(1., 2), nil)
	opt := optim.NewAdamW([]tensor.NamedTensor{a, b}, 0.1)
	wantKind(t, "one missing", tensor.ErrGrad, "no gradient for layers.1.weight;", opt.Step)
	if !tensor.Equal(a.Tensor, tensor.Of(1., 2)) {
		t.Error("the refused step changed a parameter")
	}
	opt.AllowUnused().Step()
	if tensor.Equal(a.Tensor, tensor.Of(1., 2)) || !tensor.Equal(b.Tensor, tensor.Of(1., 2)) {
		t.Errorf("with AllowUnused: %v and %v", a.Tensor, b.Tensor)
	}
	wantKind(t, "all missing", tensor.ErrGrad, "call Backward", optim.NewSGD([]tensor.NamedTensor{b}, 0.1).Step)
}

func TestWhatAnOptimizerRefuses(t *testing.T) {
	p := []tensor.NamedTensor{named("w", tensor.Of(1.), nil)}
	frozen := []tensor.NamedTensor{tensor.Named("emb", tensor.Of(1.))}
	wantKind(t, "no parameters", tensor.ErrValue, "no parameters", func() { optim.NewSGD(nil, 0.1) })
	wantKind(t, "frozen", tensor.ErrGrad, `"emb"`, func() { optim.NewSGD(frozen, 0.1) })
	wantKind(t, "twice", tensor.ErrValue, "twice", func() { optim.NewSGD(append(p, p...), 0.1) })
	wantKind(t, "strange option", tensor.ErrValue, "sgd: it has no option betas", func() { optim.NewSGD(p, 0.1, optim.Betas(0.9, 0.9)) })
	wantKind(t, "rate", tensor.ErrValue, "lr is -1", func() { optim.NewSGD(p, -1) })
	wantKind(t, "nan", tensor.ErrValue, "lr is NaN", func() { optim.NewAdam(p, math.NaN()) })
	opt := optim.NewSGD(p, 0.1)
	opt.Groups()[0].LR = -2
	p[0].Tensor.SetGrad(tensor.Of(1.))
	wantKind(t, "rate set later", tensor.ErrValue, "lr is -2", opt.Step)
}

// A value saved by a graph is changed by a step: Backward must notice.
func TestStepIsSeenByOldGraphs(t *testing.T) {
	w := tensor.Of(2.).RequireGrad()
	loss := w.Mul(w).Sum()
	w.SetGrad(tensor.Of(1.))
	optim.NewSGD([]tensor.NamedTensor{tensor.Named("w", w)}, 0.1).Step()
	wantKind(t, "backward through an old graph", tensor.ErrGrad, "changed in place", func() { loss.Backward() })
}

func TestStridedAndLargeParameters(t *testing.T) {
	base := tensor.Zeros(300, 200)
	strided, plain := base.T(), tensor.Zeros(200, 300)
	g := tensor.Randn(200, 300)
	for _, w := range []*tensor.Tensor{strided, plain} {
		opt := optim.NewAdam([]tensor.NamedTensor{named("w", w, g.Clone())}, 0.1)
		for range 3 {
			opt.Step()
		}
	}
	if !tensor.Equal(strided.Detach(), plain.Detach()) || !tensor.Equal(base.Detach(), plain.Detach().T()) {
		t.Error("a strided parameter was changed otherwise than a plain one")
	}
}

// Steps of 2^-10 on a weight of 1: bfloat16 has 8 bits, so alone it never moves.
func TestMasterWeights(t *testing.T) {
	move := func(options ...optim.Option) (value, master float64) {
		w := tensor.With(tensor.BFloat16).Ones(1)
		g := tensor.With(tensor.BFloat16).Ones(1)
		opt := optim.NewSGD([]tensor.NamedTensor{named("w", w, g)}, 0x1p-10, options...)
		for range 64 {
			opt.Step()
		}
		if m := opt.State(w, "master"); m != nil {
			master = m.Item()
		}
		return w.Item(), master
	}
	if alone, _ := move(); alone != 1 {
		t.Errorf("without a copy the weight became %v, want 1", alone)
	}
	if with, master := move(optim.MasterWeights()); with != 1-64*0x1p-10 || master != with {
		t.Errorf("with a copy the weight became %v (copy %v), want %v", with, master, 1-64*0x1p-10)
	}
}

func TestStateOfSmallFloatsIsFloat32(t *testing.T) {
	w := tensor.With(tensor.BFloat16).Ones(4)
	opt := optim.NewAdamW([]tensor.NamedTensor{named("w", w, tensor.With(tensor.BFloat16).Ones(4))}, 0.1)
	opt.Step()
	if m := opt.State(w, "exp_avg"); m.Dtype() != tensor.Float32 || tensor.MemoryOf(m).Role() != tensor.OptimizerState {
		t.Errorf("exp_avg is %v of role %v", m.Dtype(), tensor.MemoryOf(m).Role())
	}
}

func TestGoingOnFromASavedStateIsExact(t *testing.T) {
	for name, newOptimizer := range map[string]func(p []tensor.NamedTensor) *optim.Optimizer{
		"sgd": func(p []tensor.NamedTensor) *optim.Optimizer {
			return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Dampening(0.1))
		},
		"amsgrad": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdamW(p, 0.1, optim.AMSGrad()) },
		"rmsprop": func(p []tensor.NamedTensor) *optim.Optimizer {
			return optim.NewRMSProp(p, 0.1, optim.Centered(), optim.Momentum(0.5))
		},
		"adagrad": func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdaGrad(p, 0.1) },
		"master":  func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdam(p, 0.001, optim.MasterWeights()) },
	} {
		dtype := tensor.Float32
		if name == "master" {
			dtype = tensor.BFloat16
		}
		g := tensor.NewGenerator(1)
		w := tensor.With(g, dtype).Randn(50)
		params := []tensor.NamedTensor{named("w", w, nil)}
		step := func(o *optim.Optimizer, w *tensor.Tensor, g *tensor.Generator) {
			w.SetGrad(tensor.With(g, dtype).Randn(50))
			o.Step()
		}
		opt := newOptimizer(params)
		for range 4 {
			step(opt, w, g)
		}
		tensors, values := opt.SaveState()
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		w2 := w.Detach().Clone()
		opt2 := newOptimizer([]tensor.NamedTensor{named("w", w2, nil)})
		opt2.SetLR(7) // the saved one counts
		if err := opt2.LoadState(tensors, text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g2 := tensor.NewGenerator(2)
		g3 := tensor.NewGenerator(2)
		for range 4 {
			step(opt, w, g2)
			step(opt2, w2, g3)
		}
		if !tensor.Equal(w.Detach(), w2.Detach()) {
			t.Errorf("%s: four steps after loading differ", name)
		}
		other := optim.NewSGD([]tensor.NamedTensor{named("v", tensor.Zeros(50), nil)}, 0.1, optim.Momentum(0.9))
		if err := other.LoadState(tensors, text); err == nil {
			t.Errorf("%s: an optimizer of another parameter took the state", name)
		}
	}
}

func TestLoadingAState(t *testing.T) {
	w := named("w", tensor.Zeros(3), tensor.Ones(3))
	opt := optim.NewAdam([]tensor.NamedTensor{w}, 0.1)
	opt.Step()
	tensors, values := opt.SaveState()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	wide := named("w", tensor.With(tensor.Float64).Zeros(3), tensor.With(tensor.Float64).Ones(3))
	other := optim.NewAdam([]tensor.NamedTensor{wide}, 0.1)
	if err := other.LoadState(tensors, text); err != nil {
		t.Fatal(err)
	}
	other.Step()
	if m := other.State(wide.Tensor, "exp_avg"); m.Dtype() != tensor.Float64 {
		t.Errorf("the state of a float64 parameter is %v", m.Dtype())
	}
	for from, to := range map[string]string{`"Beta1":0.9`: `"Beta1":1.5`, `"Steps":[1]`: `"Steps":[-1]`, `[1]`: `[]`, `:[1]`: `:[1,1]`, `"Algorithm":"adam"`: `"Algorithm":"sgd"`, `"w"`: `"v"`} {
		damaged := strings.Replace(string(text), from, to, 1)
		if damaged == string(text) {
			t.Fatalf("no %s in %s", from, text)
		}
		if err := opt.LoadState(tensors, []byte(damaged)); err == nil {
			t.Errorf("a state with %s was taken", to)
		}
	}
	delete(tensors, "w.exp_avg_sq")
	if err := opt.LoadState(tensors, text); err == nil || !strings.Contains(err.Error(), "w.exp_avg_sq") {
		t.Errorf("a state without a tensor: got %v", err)
	}
}

func TestZeroGrad(t *testing.T) {
	p := named("w", tensor.Of(1.), tensor.Of(3.))
	opt := optim.NewSGD([]tensor.NamedTensor{p}, 0.1)
	opt.ZeroGrad(false)
	if g := p.Tensor.Grad(); g == nil || g.Item() != 0 {
		t.Errorf("set to zero: got %v", g)
	}
	opt.ZeroGrad(true)
	if g := p.Tensor.Grad(); g != nil {
		t.Errorf("set to nil: got %v", g)
	}
}

func TestSchedules(t *testing.T) {
	tests := []struct {
		name     string
		schedule optim.Schedule
		want     map[int]float64
	}{
		{"constant", optim.Constant{Peak: 2, Warmup: 4}, map[int]float64{-1: 0, 0: 0, 1: 0.5, 4: 2, 100: 2}},
		{"cosine", optim.Cosine{Peak: 1, Final: 0.1, Warmup: 10, Steps: 110}, map[int]float64{-1: 0, 0: 0, 9: 0.9, 10: 1, 60: 0.55, 110: 0.1, 999: 0.1}},
		{"linear", optim.Linear{Peak: 1, Steps: 10}, map[int]float64{-1: 1, 0: 1, 5: 0.5, 10: 0, 11: 0}},
		{"wsd", optim.WSD{Peak: 1, Final: 0.2, Warmup: 2, Decay: 4, Steps: 20}, map[int]float64{0: 0, 1: 0.5, 2: 1, 15: 1, 16: 1, 18: 0.6, 20: 0.2}},
		{"wsd without decay", optim.WSD{Peak: 0.1, Steps: 100}, map[int]float64{0: 0.1, 10: 0.1, 99: 0.1, 100: 0}},
		{"nothing to do", optim.Cosine{Peak: 1, Final: 0.5}, map[int]float64{0: 0.5}},
	}
	for _, test := range tests {
		for step, want := range test.want {
			if got := test.schedule.LR(step); !(math.Abs(got-want) <= 1e-12) { // NaN is wrong, too
				t.Errorf("%s: step %d: got %v, want %v", test.name, step, got, want)
			}
		}
	}
}

// TestParams: tensors that no model has are clipped and optimized, and nil is no parameter.
func TestParams(t *testing.T) {
	w, b := tensor.Of(3., 4).RequireGrad(), tensor.Of(1.).RequireGrad()
	var none *tensor.Tensor
	w.Sum().Backward()
	if norm := optim.ClipGradNorm(optim.Params(w, none, b), 1); math.Abs(norm-math.Sqrt2) > 1e-12 {
		t.Errorf("the norm is %v", norm)
	}
	with := []tensor.NamedTensor{{Name: "bias", Tensor: none}, {Name: "w", Tensor: w}}
	optim.ClipGradValue(with, 0.5)
	if norm := optim.ClipGradNorm(with, 10); math.Abs(norm-math.Sqrt(0.5)) > 1e-6 {
		t.Errorf("the norm of clipped gradients is %v", norm)
	}
	opt := optim.NewSGD(optim.Params(w, b, none), 1).AllowUnused()
	opt.Step()
	if got := w.Floats(); got[0] != 2.5 || got[1] != 3.5 || b.Item() != 1 || len(opt.Groups()[0].Params()) != 2 {
		t.Errorf("after a step: %v and %v", got, b)
	}
	wantKind(t, "nil alone", tensor.ErrValue, "optim.Params(w, b)", func() { optim.NewSGD(optim.Params(none), 1) })
}

func TestSetLRKeepsProportions(t *testing.T) {
	opt := optim.NewSGD([]tensor.NamedTensor{named("a", tensor.Of(1.), nil)}, 0.1)
	opt.AddGroup([]tensor.NamedTensor{named("b", tensor.Of(1.), nil)}, optim.LR(0.02))
	for _, lr := range []float64{0.5, 0, 1} {
		opt.SetLR(lr)
		if a, b := opt.Groups()[0].LR, opt.Groups()[1].LR; a != lr || math.Abs(b-lr/5) > 1e-15 {
			t.Errorf("set to %v: the groups have %v and %v", lr, a, b)
		}
	}
}

func TestClipping(t *testing.T) {
	p := []tensor.NamedTensor{named("a", tensor.Of(0., 0), tensor.Of(3., -4)), named("b", tensor.Of(0.), nil)}
	if norm := optim.ClipGradNorm(p, 10); norm != 5 || p[0].Tensor.Grad().At(0) != 3 {
		t.Errorf("below the limit: norm %v, gradient %v", norm, p[0].Tensor.Grad())
	}
	if norm := optim.ClipGradNorm(p, 2, math.Inf(1)); norm != 4 || math.Abs(p[0].Tensor.Grad().At(1)+2) > 1e-5 {
		t.Errorf("largest magnitude: norm %v, gradient %v", norm, p[0].Tensor.Grad())
	}
	optim.ClipGradValue(p, 1)
	if !tensor.Equal(p[0].Tensor.Grad(), tensor.Of(1., -1)) {
		t.Errorf("by value: %v", p[0].Tensor.Grad())
	}
	p[0].Tensor.SetGrad(tensor.Of(1., math.Inf(1)))
	if norm := optim.ClipGradNorm(p, 1); !math.IsInf(norm, 1) || p[0].Tensor.Grad().At(0) != 1 {
		t.Errorf("infinite: norm %v, gradient %v", norm, p[0].Tensor.Grad())
	}
}

func TestScalerSkipsAndRecovers(t *testing.T) {
	w := named("w", tensor.Of(1., 1), nil)
	opt := optim.NewSGD([]tensor.NamedTensor{w}, 1)
	s := optim.NewGradScaler(optim.ScalerSettings{InitialScale: 1024, GrowthInterval: 1})
	loss := w.Tensor.Mul(tensor.Of(0.5, 0.25)).Sum()
	s.Scale(loss).Backward()
	if got := w.Tensor.Grad().At(0); got != 512 {
		t.Fatalf("scaled gradient %v, want 512", got)
	}
	if !s.Step(opt) || w.Tensor.At(0) != 0.5 {
		t.Errorf("a finite step: weight %v", w.Tensor)
	}
	wantKind(t, "second step", tensor.ErrValue, "Update", func() { s.Step(opt) })
	s.Update()
	w.Tensor.SetGrad(tensor.Of(1., math.NaN()))
	if s.Step(opt) || w.Tensor.At(0) != 0.5 {
		t.Errorf("a step with nan was taken: weight %v", w.Tensor)
	}
	s.Update()
	if s.CurrentScale() != 1024 || s.GrowthTracker() != 0 {
		t.Errorf("scale %v, tracker %d, want 1024 (doubled, then halved) and 0", s.CurrentScale(), s.GrowthTracker())
	}
	wantKind(t, "nothing unscaled", tensor.ErrValue, "Step first", s.Update)
	half := named("h", tensor.With(tensor.Float16).Ones(1), tensor.With(tensor.Float16).Ones(1))
	wantKind(t, "float16 gradients", tensor.ErrDtype, "Autocast", func() { s.Unscale(optim.NewSGD([]tensor.NamedTensor{half}, 1)) })
}

// The lecture's example: AdaGrad on a Cruncher of 4 dimensions and 2 layers.
func ExampleNewLectureAdaGrad() {
	model := nn.NewCruncher(4, 2, tensor.NewGenerator(0))
	opt := optim.NewLectureAdaGrad(nn.Parameters(model), 0.01)
	x, y := tensor.With(tensor.NewGenerator(1)).Randn(2, 4), tensor.Of(4., 5)
	before := nn.MSE(model.Forward(x), y)
	before.Backward()
	opt.Step()
	opt.ZeroGrad(true)
	after := nn.MSE(model.Forward(x), y)
	fmt.Println(after.Item() < before.Item())
	fmt.Println(opt.State(model.Final.Weight, "g2").Shape(), model.Final.Weight.Grad())
	// Output:
	// true
	// [4 1] <nil>
}

func TestNormOfManyElements(t *testing.T) {
	for _, n := range []int{1, 3, 4, 7, 100_003} {
		g := tensor.With(tensor.NewGenerator(1)).Randn(n)
		want := 0.
		for _, v := range g.Floats() {
			want += v * v
		}
		p := []tensor.NamedTensor{named("w", tensor.Zeros(n), g)}
		if got := optim.ClipGradNorm(p, math.Inf(1)); math.Abs(got-math.Sqrt(want)) > 1e-12*got {
			t.Errorf("%d elements: norm %v, want %v", n, got, math.Sqrt(want))
		}
	}
}

func BenchmarkClipGradNorm(b *testing.B) {
	const n = 1 << 22
	p := []tensor.NamedTensor{named("w", tensor.Zeros(n), tensor.Ones(n))}
	b.SetBytes(4 * n)
	for b.Loop() {
		optim.ClipGradNorm(p, math.Inf(1))
	}
}

func BenchmarkStep(b *testing.B) {
	const n = 1 << 20
	for name, opt := range map[string]func(p []tensor.NamedTensor, lr float64, options ...optim.Option) *optim.Optimizer{"sgd": optim.NewSGD, "adamw": optim.NewAdamW} {
		b.Run(name, func(b *testing.B) {
			o := opt([]tensor.NamedTensor{named("w", tensor.Zeros(n), tensor.Ones(n))}, 0.1)
			b.SetBytes(4 * n)
			for b.Loop() {
				o.Step()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}

// Two models may have the same names; the state must tell their parameters apart.
func TestParametersOfOneNameInTwoGroups(t *testing.T) {
	a, b := named("w", tensor.Of(1.), tensor.Of(1.)), named("w", tensor.Of(2.), tensor.Of(5.))
	opt := optim.NewSGD([]tensor.NamedTensor{a}, 0.1, optim.Momentum(0.9)).AddGroup([]tensor.NamedTensor{b})
	opt.Step()
	tensors, _ := opt.SaveState()
	if len(tensors) != 2 || tensors["w.momentum_buffer"].Item() != 1 {
		t.Errorf("the state has %v", tensors)
	}
}

func TestString(t *testing.T) {
	a, b := tensor.Ones(2).RequireGrad(), tensor.Ones(3).RequireGrad()
	opt := optim.NewAdamW([]tensor.NamedTensor{tensor.Named("a", a)}, 0.1)
	opt.AddGroup([]tensor.NamedTensor{tensor.Named("b", b)}, optim.LR(0.01))
	if got, want := opt.String(), "adamw, parameters: 1 with lr 0.1, 1 with lr 0.01"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAdaGradDecaysAndBegins: the rate of step k is lr/(1 + (k-1)·decay), and the sum of squares starts where it is
// told.
func TestAdaGradDecaysAndBegins(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		w := tensor.With(dtype).Zeros(3).RequireGrad()
		opt := optim.NewAdaGrad(optim.Params(w), 2, optim.LRDecay(0.5), optim.InitialAccumulator(3), optim.Eps(0))
		want := 0.
		for k := range 4 {
			w.SetGrad(tensor.With(dtype).Ones(3))
			opt.Step()
			want -= 2 / (1 + 0.5*float64(k)) / math.Sqrt(3+float64(k+1))
			if got := w.At(2); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s after %d steps: %v, want %v", dtype, k+1, got, want)
			}
		}
	}
}

// TestScaleOfASmallLoss: a loss of 16 bits is scaled in float32, as its product may be too large for them.
func TestScaleOfASmallLoss(t *testing.T) {
	s := optim.NewGradScaler(optim.ScalerSettings{InitialScale: 1 << 16})
	if scaled := s.Scale(tensor.Of(2.).To(tensor.Float16).Sum()); scaled.Dtype() != tensor.Float32 || scaled.Item() != 1<<17 {
		t.Errorf("2 times 65536 is %v", scaled)
	}
}
