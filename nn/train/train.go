// Package train runs training loops: batch, forward, loss, backward, step, again,
// with progress on the terminal or in a notebook, metrics in a file, and
// checkpoints from which a run continues bit for bit, even after Ctrl-C.
//
//	points, err := train.Run(ctx, train.Config{
//		Steps:     1000,
//		Optimizer: opt,
//		Loss: func(step int) (*tensor.Tensor, error) {
//			batch, err := loader.Next()
//			if err != nil {
//				return nil, err
//			}
//			return nn.CrossEntropy(model.Forward(batch.X), batch.Y), nil
//		},
//		Store: checkpoint.Store{Dir: "run", Keep: 3}, SaveEvery: 100,
//		Parts: checkpoint.Parts{"model": nn.Part(model), "data": loader},
//	})
package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/progress"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// Config says what to run. Steps, Loss and Optimizer are required; everything else may
// be left out.
type Config struct {
	Steps     int                                    // the number of the step to stop before, counted from 0
	Loss      func(step int) (*tensor.Tensor, error) // takes the next batch forward
	Optimizer *optim.Optimizer

	Schedule   optim.Schedule // nil: the optimizer's own learning rate
	Accumulate int            // batches whose gradients are averaged for one step; 0 means 1
	ClipNorm   float64        // see optim.ClipGradNorm; 0: no clipping

	// Precision is the dtype in which Loss runs: tensor.Float32, or BFloat16 or Float16
	// for tensor.Autocast. Float16 needs a Scaler.
	Precision tensor.Dtype
	Scaler    *optim.GradScaler

	// FreeSteps frees the memory of a step when it ends, as tensor.FreeAfter does, which
	// makes steps faster and needs less memory on a device. What Loss makes can't be used
	// after the step then; parameters, their gradients and the optimizer stay.
	FreeSteps bool

	// Store is where checkpoints go, every SaveEvery steps, at the end and on an
	// interrupt. They hold Parts - the model, the position in the data - and,
	// automatically, the optimizer, the scaler and the default generator. If the store has
	// a checkpoint, the run continues from there.
	Store     checkpoint.Store
	SaveEvery int
	Parts     checkpoint.Parts

	Metrics string                   // a file that gets a line of JSON for each step
	Label   string                   // written before the progress
	Figure  func(points []Point) any // redrawn during the run, for example by plots.Loss; nil: a plain curve of the loss
	Quiet   bool                     // no progress
	Each    func(p Point)            // called after each step, before a checkpoint of it
}

// Point is what is known about one step.
type Point struct {
	Step     int     `json:"step"`
	Loss     float64 `json:"loss"` // the mean over the batches of the step
	LR       float64 `json:"lr"`
	GradNorm float64 `json:"grad_norm,omitempty"` // before clipping; only if there is clipping
	Skipped  bool    `json:"skipped,omitempty"`   // by the scaler
	Seconds  float64 `json:"seconds"`             // that the step took
}

// InterruptedError says that a run was stopped before its last step.
type InterruptedError struct {
	Step  int    // the next step
	Saved string // the checkpoint from which it can continue; empty if there is no store
}

func (e *InterruptedError) Error() string {
	text := fmt.Sprintf("train: interrupted before step %d", e.Step)
	if e.Saved != "" {
		return text + "; the same call continues from " + e.Saved
	}
	return text + "; nothing was saved, since the run has no store"
}

// DivergedError says that the loss was no longer a number, or that the scaler had to
// skip too many steps in a row.
type DivergedError struct {
	Step    int
	Loss    float64
	Skipped int // steps in a row; 0 without a scaler
}

// maxSkipped is how many steps in a row a scaler may skip. Halving the scale that
// often takes it from 65536 to 2^-24, so it is not the scale that is wrong.
const maxSkipped = 40

func (e *DivergedError) Error() string {
	if e.Skipped > 0 {
		return fmt.Sprintf("train: up to step %d the gradients of %s in a row were not finite, at whatever scale; the loss is %v; try a smaller learning rate, a warm-up or ClipNorm", e.Step, humanize.Count(e.Skipped, "step"), e.Loss)
	}
	return fmt.Sprintf("train: the loss of step %d is %v; try a smaller learning rate, a warm-up or ClipNorm", e.Step, e.Loss)
}

// Run trains until c.Steps and returns what it knows about each step, except those
// before a resumed checkpoint. Gradients that the parameters had before are dropped.
//
// If ctx ends, or the process is asked to end (Ctrl-C, Interrupt in a notebook, or SIGTERM), Run finishes the current
// step, saves a checkpoint and returns an [*InterruptedError]; asked a second time, the process ends at once. It
// returns a [*DivergedError] if the loss is not finite and no scaler is there to skip the step, or if the scaler skips
// too many steps in a row. It panics if Steps, Loss or Optimizer are missing.
func Run(ctx context.Context, c Config) ([]Point, error) {
	if c.Loss == nil || c.Optimizer == nil || c.Steps < 0 {
		(&tensor.Error{Package: "train", Kind: tensor.ErrValue, Op: "run", Reason: "a Config needs Steps, Loss and Optimizer"}).Panic()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal has its usual effect
	c.Accumulate = max(c.Accumulate, 1)
	r := &run{Config: c, parts: checkpoint.Parts{}}
	maps.Copy(r.parts, c.Parts)
	r.parts["optimizer"] = c.Optimizer
	r.parts["random"] = checkpoint.Binary(tensor.DefaultGenerator())
	if c.Scaler != nil {
		r.parts["scaler"] = c.Scaler
	}
	first, err := r.resume()
	if err != nil {
		return nil, err
	}
	if err := r.openMetrics(first); err != nil {
		return nil, err
	}
	defer r.closeMetrics()
	r.startProgress(first)
	defer r.endProgress()
	r.Optimizer.ZeroGrad(true)
	for step := first; step < c.Steps; step++ {
		if ctx.Err() != nil {
			return r.points, r.interrupted(step)
		}
		var p Point
		if c.FreeSteps {
			tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { p, err = r.step(step) })
		} else {
			p, err = r.step(step)
		}
		if err != nil {
			return r.points, err
		}
		r.points = append(r.points, p)
		if err := r.writeMetrics(p); err != nil {
			return r.points, err
		}
		r.showProgress(p)
		if c.Each != nil {
			c.Each(p)
		}
		if r.skipped++; !p.Skipped {
			r.skipped = 0
		}
		if r.skipped == maxSkipped {
			return r.points, &DivergedError{step, p.Loss, r.skipped}
		}
		if r.saves(step + 1) {
			if _, err := c.Store.Save(step+1, r.parts); err != nil {
				return r.points, err
			}
		}
	}
	return r.points, nil
}

type run struct {
	Config
	parts    checkpoint.Parts
	points   []Point
	skipped  int // steps in a row
	metrics  *os.File
	progress *progress.Bar
	figure   *progress.Display
	drawn    time.Time
}

// resume loads the newest checkpoint, if there is one, and returns the step to
// continue with.
func (r *run) resume() (first int, err error) {
	if r.Store.Dir == "" {
		return 0, nil
	}
	resumed, err := r.Store.Resume(r.parts)
	if errors.Is(err, checkpoint.ErrNone) {
		return 0, nil
	}
	if err == nil && len(resumed.Skipped) > 0 {
		fmt.Fprintf(os.Stderr, "train: continuing from step %d, since what came later is damaged: %v\n", resumed.Step, errors.Join(resumed.Skipped...))
	}
	return resumed.Step, err
}

// saves reports whether a checkpoint is due after the given number of steps.
func (r *run) saves(done int) bool {
	return r.Store.Dir != "" && (done == r.Steps || r.SaveEvery > 0 && done%r.SaveEvery == 0)
}

func (r *run) interrupted(step int) error {
	e := &InterruptedError{Step: step}
	if r.Store.Dir != "" {
		path, err := r.Store.Save(step, r.parts)
		if err != nil {
			return errors.Join(e, err)
		}
		e.Saved = path
	}
	return e
}

// step runs one step: forward and backward for each batch, then the optimizer.
func (r *run) step(step int) (Point, error) {
	start := time.Now()
	p := Point{Step: step}
	for range r.Accumulate {
		var loss *tensor.Tensor
		var err error
		forward := func() { loss, err = r.Loss(step) }
		if _, on := tensor.AutocastDtype(); on || r.Precision != tensor.Float32 {
			tensor.Autocast(r.Precision, forward)
		} else {
			forward() // each operation is a little faster outside
		}
		if err != nil {
			return p, err
		}
		value := loss.Item()
		p.Loss += value / float64(r.Accumulate)
		if r.Scaler == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
			return p, &DivergedError{Step: step, Loss: value}
		}
		if r.Accumulate > 1 {
			loss = loss.Div(float64(r.Accumulate))
		}
		if r.Scaler != nil {
			loss = r.Scaler.Scale(loss)
		}
		loss.Backward()
	}
	if r.Schedule != nil {
		r.Optimizer.SetLR(r.Schedule.LR(step))
	}
	p.LR = r.Optimizer.Groups()[0].LR
	finite := true
	if r.Scaler != nil {
		finite = r.Scaler.Unscale(r.Optimizer)
	}
	if r.ClipNorm > 0 && finite {
		var params []tensor.NamedTensor
		for _, g := range r.Optimizer.Groups() {
			params = append(params, g.Params()...)
		}
		p.GradNorm = optim.ClipGradNorm(params, r.ClipNorm)
	}
	if r.Scaler != nil {
		p.Skipped = !r.Scaler.Step(r.Optimizer)
		r.Scaler.Update()
	} else {
		r.Optimizer.Step()
	}
	r.Optimizer.ZeroGrad(true)
	p.Seconds = time.Since(start).Seconds()
	return p, nil
}
