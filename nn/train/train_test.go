package train_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/train"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// The lecture's train, whose model and learning rate here are those it is given. It
// returns how far the weights are from the true ones before and after.
func lecture(name string, D, layers, B, steps int, lr float64) (before, after float64, err error) {
	trueWeight := tensor.Arange(float64(D)).To(tensor.Float32)
	draw := tensor.NewGenerator(0).Stream("data")
	model := nn.NewCruncher(D, layers, tensor.NewGenerator(0).Stream("init"))
	distance := func() float64 { return model.Final.Weight.Detach().Squeeze(-1).Sub(trueWeight).Norm().Item() }
	before = distance()
	_, err = train.Run(context.Background(), train.Config{
		Steps:     steps,
		Optimizer: optim.NewSGD(nn.Parameters(model), lr),
		Loss: func(int) (*tensor.Tensor, error) {
			x := tensor.With(draw).Randn(B, D)
			return nn.MSE(model.Forward(x), x.Matmul(trueWeight)), nil
		},
		Label: name,
		Quiet: true,
	})
	return before, distance(), err
}

// Ten steps find part of the way; with ten times the learning rate more of it.
func Example() {
	for _, lr := range []float64{0.01, 0.1} {
		before, after, err := lecture("simple", 16, 0, 4, 10, lr)
		fmt.Printf("lr %v: distance %.0f to %.0f %v\n", lr, before, after, err)
	}
	// Output:
	// lr 0.01: distance 35 to 30 <nil>
	// lr 0.1: distance 35 to 14 <nil>
}

// setup is a run that uses all that has state: dropout, a shuffled loader, AdamW
// with a schedule, float16 with a scaler, clipping and micro-batches.
type setup struct {
	model  *mlp
	config train.Config
}

type mlp struct {
	Embed *nn.Embedding
	Drop  *nn.Dropout // with the default generator
	Own   *nn.Dropout // with one of its own
	Out   *nn.Linear
}

func newSetup(t *testing.T, dir string, steps int) *setup {
	ids := make([]int32, 2000)
	for i := range ids {
		ids[i] = int32(i * i % 17)
	}
	loader, err := data.NewLoader(data.TokensOf(ids), 4, 8, 5)
	if err != nil {
		t.Fatal(err)
	}
	g := tensor.NewGenerator(3)
	model := &mlp{nn.NewEmbedding(17, 8, g), nn.NewDropout(0.2, nil), nn.NewDropout(0.1, tensor.NewGenerator(4)), nn.NewLinear(8, 17, nn.WithBias, g)}
	s := &setup{model: model}
	s.config = train.Config{
		Steps: steps, Optimizer: optim.NewAdamW(nn.Parameters(model), 1e-2), Schedule: optim.Cosine{Peak: 1e-2, Warmup: 3, Steps: 20},
		Accumulate: 2, ClipNorm: 1, Precision: tensor.Float16, Scaler: optim.NewGradScaler(optim.ScalerSettings{GrowthInterval: 4}),
		Loss: func(int) (*tensor.Tensor, error) {
			batch, err := loader.Next()
			if err != nil {
				return nil, err
			}
			logits := model.Out.Forward(model.Own.Forward(model.Drop.Forward(model.Embed.Forward(batch.X))))
			return nn.CrossEntropy(logits.View(-1, 17), batch.Y.View(-1)), nil
		},
		Parts: checkpoint.Parts{"model": nn.Part(model), "data": loader},
		Quiet: true,
	}
	if dir != "" {
		s.config.Store = checkpoint.Store{Dir: dir, Keep: 2}
		s.config.Metrics = filepath.Join(dir, "metrics.jsonl")
	}
	return s
}

func (s *setup) run(t *testing.T) []train.Point {
	t.Helper()
	points, err := train.Run(context.Background(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

func sameModels(t *testing.T, what string, a, b *mlp) {
	t.Helper()
	other := nn.StateDict(b).Map()
	for _, p := range nn.StateDict(a) {
		if !tensor.Equal(p.Tensor.Detach(), other[p.Name].Detach()) {
			t.Errorf("%s: %s differs", what, p.Name)
		}
	}
}

func TestResumedRunIsTheSameBitForBit(t *testing.T) {
	tensor.Seed(1)
	whole := newSetup(t, "", 20)
	want := whole.run(t)

	dir := filepath.Join(t.TempDir(), "run")
	tensor.Seed(1)
	newSetup(t, dir, 9).run(t)
	tensor.Seed(99) // the checkpoint's generator counts
	second := newSetup(t, dir, 20)
	got := second.run(t)

	if len(got) != 11 || got[0].Step != 9 {
		t.Fatalf("the second part has %d steps from %d", len(got), got[0].Step)
	}
	for i, p := range got {
		if w := want[9+i]; p.Loss != w.Loss || p.LR != w.LR || p.GradNorm != w.GradNorm || p.Skipped != w.Skipped {
			t.Fatalf("step %d: %+v, without interruption %+v", p.Step, p, w)
		}
	}
	sameModels(t, "at the end", whole.model, second.model)
	if whole.config.Scaler.CurrentScale() != second.config.Scaler.CurrentScale() {
		t.Error("the scales differ")
	}
	checkMetrics(t, second.config.Metrics, 20)
}

// killedSteps is how long the run below is, and killedDir the environment variable
// that tells a process where to run it.
const (
	killedSteps = 200
	killedDir   = "LECTERN_TEST_TRAIN_IN"
)

// A run that saves each step is killed a few steps after each start, each time taken up
// by a new process with another number of threads, and ends as one that nobody disturbed.
func TestKilledRunGoesOnBitForBit(t *testing.T) {
	start := func(dir string) *setup {
		tensor.Seed(1)
		s := newSetup(t, dir, killedSteps)
		s.config.SaveEvery = 1
		return s
	}
	if dir := os.Getenv(killedDir); dir != "" {
		s := start(dir)
		loss := s.config.Loss
		s.config.Loss = func(i int) (*tensor.Tensor, error) {
			fmt.Println("loss")
			return loss(i)
		}
		s.run(t)
		return
	}
	whole := start("")
	want := whole.run(t)

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for attempt := 0; ; attempt++ {
		cmd := exec.Command(self, "-test.run", "^TestKilledRunGoesOnBitForBit$")
		cmd.Env = append(os.Environ(), killedDir+"="+dir, fmt.Sprint("GOMAXPROCS=", 1+attempt%3))
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		losses, life, killed := 0, 1+random.IntN(40), false
		var said strings.Builder
		for in := bufio.NewScanner(stdout); in.Scan(); {
			if in.Text() != "loss" {
				said.WriteString(in.Text() + "\n")
			} else if losses++; losses == life && attempt < 20 {
				cmd.Process.Kill()
				killed = true
			}
		}
		if err = cmd.Wait(); err == nil {
			break
		}
		if !killed { // it ended by itself
			t.Fatalf("attempt %d: %v\n%s", attempt, err, &said)
		}
		kills++
	}
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("the run ended before the first kill: the test shows nothing")
	}
	end := start(dir)
	end.run(t) // loads the last checkpoint
	sameModels(t, "at the end", whole.model, end.model)
	checkMetrics(t, end.config.Metrics, killedSteps)
	for i, p := range readMetrics(t, end.config.Metrics) {
		if w := want[i]; p.Loss != w.Loss || p.LR != w.LR || p.GradNorm != w.GradNorm || p.Skipped != w.Skipped {
			t.Fatalf("step %d: %+v, without interruption %+v", i, p, w)
		}
	}
}

type table []float64

func (t table) LR(step int) float64 { return t[step] }

// The mean of two gradients, 1 and 3, is clipped to 1 and goes with the rate of its step.
func TestWhatAStepDoes(t *testing.T) {
	w := nn.Parameter(tensor.Of(1.))
	calls := 0
	points, err := train.Run(context.Background(), train.Config{
		Steps:      2,
		Optimizer:  optim.NewSGD([]tensor.NamedTensor{tensor.Named("w", w)}, 99),
		Loss:       func(int) (*tensor.Tensor, error) { calls++; return w.Mul(2*(calls%2) + 1).Sum(), nil },
		Schedule:   table{0.1, 0.01},
		Accumulate: 2,
		ClipNorm:   1,
		Quiet:      true,
	})
	if err != nil || len(points) != 2 {
		t.Fatalf("%d points: %v", len(points), err)
	}
	close := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	close("the weight", w.Item(), 1-0.1-0.01)
	for i, want := range []train.Point{{Loss: 2, LR: 0.1, GradNorm: 2}, {Loss: 2 * 0.9, LR: 0.01, GradNorm: 2}} {
		close("a loss", points[i].Loss, want.Loss)
		close("a learning rate", points[i].LR, want.LR)
		close("a norm", points[i].GradNorm, want.GradNorm)
	}
}

func TestGradientsFromBeforeTheRunDontCount(t *testing.T) {
	after := func(disturb bool) *mlp {
		tensor.Seed(1)
		s := newSetup(t, "", 2)
		if disturb {
			for _, p := range nn.Parameters(s.model) {
				p.Tensor.SetGrad(tensor.Ones(p.Tensor.Shape()...))
			}
		}
		s.run(t)
		return s.model
	}
	sameModels(t, "with gradients left over", after(false), after(true))
}

// TestFreeSteps: steps that give their memory back compute the same, and what they
// made can't be used.
func TestFreeSteps(t *testing.T) {
	var results [2]*setup
	var let *tensor.Tensor
	for i := range results {
		tensor.Seed(1)
		s := newSetup(t, "", 12)
		s.config.FreeSteps = i == 1
		loss := s.config.Loss
		s.config.Loss = func(step int) (*tensor.Tensor, error) {
			x, err := loss(step)
			let = x
			return x, err
		}
		s.run(t)
		results[i] = s
		if err := tensor.Try(func() { let.Item() }); s.config.FreeSteps != errors.Is(err, tensor.ErrFreed) {
			t.Errorf("a loss from before, FreeSteps being %v: %v", s.config.FreeSteps, err)
		}
	}
	sameModels(t, "with steps that free", results[0].model, results[1].model)
}

func readMetrics(t *testing.T, path string) (points []train.Point) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var p train.Point
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		points = append(points, p)
	}
	return points
}

func checkMetrics(t *testing.T, path string, steps int) {
	t.Helper()
	points := readMetrics(t, path)
	if len(points) != steps {
		t.Fatalf("%d lines of metrics, want %d", len(points), steps)
	}
	for i, p := range points {
		if p.Step != i {
			t.Fatalf("line %d is that of step %d", i, p.Step)
		}
	}
}

// Large enough that everything is done in parallel: products, sums, norms, losses, steps.
func TestThreadsDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const B, V, D = 193, 501, 260
	type network struct {
		Embed *nn.Embedding
		Norm  *nn.LayerNorm
		Drop  *nn.Dropout
		MLP   *nn.MLP
	}
	run := func(threads int) ([]float64, nn.State) {
		runtime.GOMAXPROCS(threads)
		g := tensor.NewGenerator(1)
		m := &network{nn.NewEmbedding(V, D, g), nn.NewLayerNorm(D), nn.NewDropout(0.1, g.Stream("drop")), nn.NewMLP([]int{D, 300, V}, nn.GELU{}, g)}
		var losses []float64
		for _, precision := range []tensor.Dtype{tensor.Float32, tensor.BFloat16} {
			points, err := train.Run(context.Background(), train.Config{
				Steps: 3, Optimizer: optim.NewAdamW(nn.Parameters(m), 1e-3), ClipNorm: 0.1, Precision: precision, Quiet: true,
				Loss: func(step int) (*tensor.Tensor, error) {
					ids := tensor.Arange(B).Mul(step + 7).Remainder(V)
					h := m.Drop.Forward(m.Norm.Forward(m.Embed.Forward(ids)))
					return nn.CrossEntropy(m.MLP.Forward(h), ids, nn.LabelSmoothing(0.1)), nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range points {
				losses = append(losses, p.Loss, p.GradNorm)
			}
		}
		return losses, nn.StateDict(m)
	}
	wantLosses, want := run(1)
	for _, threads := range []int{2, 3, 5} {
		losses, state := run(threads)
		if !slices.Equal(losses, wantLosses) {
			t.Errorf("%d threads: losses and norms %v, one thread %v", threads, losses, wantLosses)
		}
		for i, p := range state {
			if !tensor.Equal(p.Tensor.Detach(), want[i].Tensor.Detach()) {
				t.Errorf("%d threads: %s differs", threads, p.Name)
			}
		}
	}
}

func TestInterruptSavesAndSaysWhere(t *testing.T) {
	interrupts := map[string]func(cancel func()){"context": func(cancel func()) { cancel() }}
	if runtime.GOOS != "windows" {
		interrupts["signal"] = func(func()) {
			me, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = me.Signal(os.Interrupt)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	for name, interrupt := range interrupts {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s := newSetup(t, dir, 1_000_000)
			loss := s.config.Loss
			calls := 0
			s.config.Loss = func(step int) (*tensor.Tensor, error) {
				if calls++; calls == 7 { // in the middle of step 3
					interrupt(cancel)
				}
				return loss(step)
			}
			points, err := train.Run(ctx, s.config)
			var stopped *train.InterruptedError
			if !errors.As(err, &stopped) || stopped.Step != len(points) || stopped.Step < 4 {
				t.Fatalf("%d points, error %v", len(points), err)
			}
			if _, statErr := os.Stat(stopped.Saved); statErr != nil || !strings.Contains(err.Error(), stopped.Saved) {
				t.Errorf("%v (%v)", err, statErr)
			}
			again := newSetup(t, dir, stopped.Step)
			again.run(t)
			sameModels(t, "after loading", s.model, again.model)
		})
	}
	s := newSetup(t, "", 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := train.Run(ctx, s.config); err == nil || !strings.Contains(err.Error(), "no store") {
		t.Errorf("without a store: %v", err)
	}
}

// A run that was killed after its last checkpoint has written metrics of steps that
// are run again.
func TestMetricsOfStepsThatAreRunAgainAreReplaced(t *testing.T) {
	dir := t.TempDir()
	s := newSetup(t, dir, 6)
	s.config.SaveEvery = 4
	s.config.Store.Keep = 0
	s.run(t)
	if err := os.Remove(filepath.Join(dir, "step-0000000006.safetensors")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.config.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	// A file system may leave zeros after a power failure.
	second := bytes.IndexByte(text, '\n') + 1
	text = slices.Concat(text[:second], make([]byte, 100_000), []byte("\n"), text[second:], []byte(`{"step":6,"lo`))
	if err := os.WriteFile(s.config.Metrics, text, 0o666); err != nil {
		t.Fatal(err)
	}
	newSetup(t, dir, 8).run(t)
	checkMetrics(t, s.config.Metrics, 8)
}

func TestDivergenceAndMistakes(t *testing.T) {
	w := nn.Parameter(tensor.Of(1.))
	opt := optim.NewSGD([]tensor.NamedTensor{tensor.Named("w", w)}, 1)
	nan := func(int) (*tensor.Tensor, error) { return w.Sum().Mul(math.NaN()), nil }
	_, err := train.Run(context.Background(), train.Config{Steps: 3, Optimizer: opt, Loss: nan, Quiet: true})
	var diverged *train.DivergedError
	if !errors.As(err, &diverged) || diverged.Step != 0 || w.Item() != 1 {
		t.Errorf("got %v, weight %v", err, w.Item())
	}
	points, err := train.Run(context.Background(), train.Config{Steps: 3, Optimizer: opt, Loss: nan, Quiet: true, Scaler: optim.NewGradScaler(optim.ScalerSettings{}), Metrics: filepath.Join(t.TempDir(), "m")})
	if err != nil || len(points) != 3 || !points[2].Skipped {
		t.Errorf("with a scaler: %v, %+v", err, points)
	}
	points, err = train.Run(context.Background(), train.Config{Steps: 1000, Optimizer: opt, Loss: nan, Quiet: true, Scaler: optim.NewGradScaler(optim.ScalerSettings{})})
	if !errors.As(err, &diverged) || diverged.Skipped != len(points) || len(points) > 100 || !strings.Contains(err.Error(), "in a row") {
		t.Errorf("nothing but skipped steps: %d points, %v", len(points), err)
	}
	disk := errors.New("disk on fire")
	if _, err := train.Run(context.Background(), train.Config{Steps: 1, Optimizer: opt, Quiet: true, Loss: func(int) (*tensor.Tensor, error) { return nil, disk }}); !errors.Is(err, disk) {
		t.Errorf("an error of the data: got %v", err)
	}
	if err := tensor.Try(func() { train.Run(context.Background(), train.Config{}) }); err == nil {
		t.Error("an empty Config was accepted")
	}
}
