package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/train"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/plots"
	"github.com/lectern-go/lectern/tensor"
)

// reportEvery is the number of steps between two lines.
const reportEvery = 25

// learn trains the model and returns its loss on the held-out text.
func learn(ctx context.Context, s *settings, model *transformer.LM, c *corpus) (float64, error) {
	loader, err := data.NewLoader(c.train, s.batch, s.model.Context, s.seed)
	if err != nil {
		return 0, err
	}
	precision := tensor.Float32
	if s.bf16 {
		precision = tensor.BFloat16
	}
	peak, err := accounting.CPUPeak(precision, runtime.GOMAXPROCS(0))
	if err != nil {
		return 0, err
	}
	tokens := float64(s.batch * s.model.Context)
	flops := tokens * float64(model.Config().Sizes().TrainingFLOPsPerToken())
	fmt.Fprintf(s.log, "a step: %.0f tokens, %.1f GFLOPs; this processor's peak is %.0f GFLOP/s\n", tokens, flops/1e9, peak.PerSecond/1e9)

	optimizer := optim.NewAdamW(nn.Parameters(model), s.peak, optim.WeightDecay(0.1), optim.Betas(0.9, 0.95))
	var seconds, losses float64
	var since int
	points, err := train.Run(ctx, train.Config{
		Steps:     s.steps,
		Optimizer: optimizer,
		Schedule:  optim.Cosine{Peak: s.peak, Final: s.peak / 10, Warmup: s.steps / 20, Steps: s.steps},
		ClipNorm:  1,
		Precision: precision,
		FreeSteps: true,
		Loss: func(int) (*tensor.Tensor, error) {
			batch, err := loader.Next()
			if err != nil {
				return nil, err
			}
			return model.Loss(batch.X, batch.Y), nil
		},
		Each: func(p train.Point) {
			seconds, losses, since = seconds+p.Seconds, losses+p.Loss, since+1
			if done := p.Step + 1; done%reportEvery == 0 || done == s.steps {
				fmt.Fprintf(s.log, "step %*d/%d  loss %.3f  lr %.1e  %6.0f tokens/s  MFU %2.0f %%\n", len(fmt.Sprint(s.steps)), done, s.steps,
					losses/float64(since), p.LR, tokens*float64(since)/seconds, 100*flops*float64(since)/seconds/peak.PerSecond)
				seconds, losses, since = 0, 0, 0
			}
			if done := p.Step + 1; done%s.every == 0 && done < s.steps {
				fmt.Fprintf(s.log, "--- held-out loss %.4f; a sample:\n", heldOutLoss(s, model, c))
				s.show(model, c, "// ")
				fmt.Fprintln(s.log, "---")
			}
		},
		Store: checkpoint.Store{Dir: filepath.Join(s.out, "checkpoints"), Keep: 2}, SaveEvery: s.every,
		Parts:   checkpoint.Parts{"model": nn.Part(model), "data": loader},
		Metrics: filepath.Join(s.out, "metrics.jsonl"),
		Quiet:   true,
	})
	if err != nil {
		return 0, err
	}
	if len(points) == 0 {
		fmt.Fprintf(s.log, "the checkpoint in %s is of step %d already; ask for more -steps, or give another -out\n", s.out, s.steps)
	} else if err := drawLoss(filepath.Join(s.out, "loss.svg"), points); err != nil {
		return 0, err
	}
	loss := heldOutLoss(s, model, c)
	s.show(model, c, "// ")
	return loss, nil
}

// heldOutLoss returns the mean loss over 256 sequences of the held-out text, spread over all of it, since its documents
// differ more than models do.
func heldOutLoss(s *settings, model *transformer.LM, c *corpus) float64 {
	T := s.model.Context
	all := (c.valid.Len() - 1) / T
	n := min(256, all)
	total := 0.0
	for i := range n {
		tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) {
			tensor.NoGrad(func() {
				batch, err := c.valid.Batch([]int{i * all / n * T}, T+1)
				if err != nil {
					panic(err) // the file was cut off while we were running
				}
				total += model.Loss(batch.Narrow(1, 0, T), batch.Narrow(1, 1, T)).Item()
			})
		})
	}
	return total / float64(n)
}

// drawLoss writes the curve of the loss.
func drawLoss(path string, points []train.Point) error {
	losses := make([]float64, len(points))
	for i, p := range points {
		losses[i] = p.Loss
	}
	return os.WriteFile(path, []byte(plots.Loss(plots.Run("training", losses)).SVG()), 0o644)
}

// loadNewest loads the newest checkpoint of a run into a model.
func loadNewest(out string, model *transformer.LM) error {
	store := checkpoint.Store{Dir: filepath.Join(out, "checkpoints")}
	if _, err := store.Resume(checkpoint.Parts{"model": nn.Part(model)}); errors.Is(err, checkpoint.ErrNone) {
		return fmt.Errorf("%s has no checkpoint yet: train first, without -sample", out)
	} else {
		return err
	}
}
