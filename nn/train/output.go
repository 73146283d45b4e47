package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/progress"
)

// openMetrics opens the file for the metrics of step first and those after it. Lines
// for those steps, from a run that went on after its last checkpoint, are removed: the
// steps are run again.
func (r *run) openMetrics(first int) error {
	if r.Metrics == "" {
		return nil
	}
	old, err := os.ReadFile(r.Metrics)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("train: %w", err)
	default:
		kept := linesBefore(old, first)
		if len(kept) != len(old) {
			err := atomicfile.Write(r.Metrics, func(w io.Writer) error { _, err := w.Write(kept); return err })
			if err != nil {
				return fmt.Errorf("train: %w", err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(r.Metrics), 0o777); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	r.metrics, err = os.OpenFile(r.Metrics, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// linesBefore returns the complete lines of steps before first.
func linesBefore(old []byte, first int) []byte {
	var kept []byte
	for line := range bytes.Lines(old) {
		var p Point
		if json.Unmarshal(line, &p) == nil && p.Step < first {
			kept = append(append(kept, bytes.TrimRight(line, "\n")...), '\n')
		}
	}
	return kept
}

func (r *run) writeMetrics(p Point) error {
	if r.metrics == nil {
		return nil
	}
	m := metric{Point: p, Loss: number(p.Loss)}
	if r.ClipNorm > 0 {
		m.GradNorm = number(p.GradNorm)
	}
	line, err := json.Marshal(m)
	if err == nil {
		_, err = r.metrics.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// metric is a Point as it is written: JSON has no NaN and no infinities, so where a
// skipped step has those, it writes null.
type metric struct {
	Point
	Loss     *float64 `json:"loss"`
	GradNorm *float64 `json:"grad_norm,omitempty"`
}

func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (r *run) closeMetrics() {
	if r.metrics != nil {
		r.metrics.Close()
	}
}

func (r *run) startProgress(first int) {
	if r.Quiet {
		return
	}
	label := r.Label
	if label == "" {
		label = "training"
	}
	r.progress = progress.New(label, int64(r.Steps))
	r.progress.Before(int64(first))
	if r.Figure != nil {
		r.figure = progress.NewDisplay()
	}
}

// redrawAfter is how often a figure is redrawn.
const redrawAfter = 500 * time.Millisecond

func (r *run) showProgress(p Point) {
	if r.progress == nil {
		return
	}
	note := fmt.Sprintf("lr %.3g", p.LR)
	switch {
	case p.Skipped:
		note += ", skipped"
	case r.figure == nil:
		r.progress.Loss(p.Loss)
	default:
		note = fmt.Sprintf("loss %.4g, %s", p.Loss, note)
	}
	r.progress.Note(note)
	r.progress.Add(1)
	if r.figure != nil && time.Since(r.drawn) > redrawAfter {
		r.draw()
	}
}

func (r *run) draw() {
	r.figure.Value(r.Figure(r.points))
	r.drawn = time.Now()
}

func (r *run) endProgress() {
	if r.progress == nil {
		return
	}
	r.progress.Done()
	if r.figure != nil && len(r.points) > 0 {
		r.draw()
	}
}
