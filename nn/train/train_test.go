package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
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
	Drop  *nn.Dropout
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
	model := &mlp{nn.NewEmbedding(17, 8, g), nn.NewDropout(0.2, nil), nn.NewLinear(8, 17, nn.WithBias, g)}
	s := &setup{model: model}
	s.config = train.Config{
		Steps: steps, Optimizer: optim.NewAdamW(nn.Parameters(model), 1e-2), Schedule: optim.Cosine{Peak: 1e-2, Warmup: 3, Steps: 20},
		Accumulate: 2, ClipNorm: 1, Precision: tensor.Float16, Scaler: optim.NewGradScaler(optim.ScalerSettings{GrowthInterval: 4}),
		Loss: func(int) (*tensor.Tensor, error) {
			batch, err := loader.Next()
			if err != nil {
				return nil, err
			}
			logits := model.Out.Forward(model.Drop.Forward(model.Embed.Forward(batch.X)))
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

func checkMetrics(t *testing.T, path string, steps int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != steps {
		t.Fatalf("%d lines of metrics, want %d", len(lines), steps)
	}
	for i, line := range lines {
		var p train.Point
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.Step != i {
			t.Fatalf("line %d: %s (%v)", i, line, err)
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
	f, err := os.OpenFile(s.config.Metrics, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"step":6,"lo`)
	f.Close()
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
	disk := errors.New("disk on fire")
	if _, err := train.Run(context.Background(), train.Config{Steps: 1, Optimizer: opt, Quiet: true, Loss: func(int) (*tensor.Tensor, error) { return nil, disk }}); !errors.Is(err, disk) {
		t.Errorf("an error of the data: got %v", err)
	}
	if err := tensor.Try(func() { train.Run(context.Background(), train.Config{}) }); err == nil {
		t.Error("an empty Config was accepted")
	}
}
