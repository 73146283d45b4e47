package accounting

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lectern-go/lectern/accounting/internal/peak"
	"github.com/lectern-go/lectern/internal/gc"
	"github.com/lectern-go/lectern/tensor"
)

// Timing is how long something took, in several runs.
type Timing struct {
	What         string
	FLOPs, Bytes float64         // of one run; 0 if not known
	Runs         []time.Duration // of one run each, sorted
	dtype        tensor.Dtype
	device       tensor.Device
	tf32         bool // the device could round float32 operands
}

// A TimingOption changes how often something is run.
type TimingOption func(*timer)

type timer struct {
	warmUp, repeats int
	exact           bool // no more than warmUp
	device          tensor.Device
}

// WarmUp sets how many runs come before those that count. They bring code, memory and
// clocks to their working state. Without this option there are 2 and, on the processor,
// more for up to 120 ms, until the garbage collector has run twice or there is hardly
// anything to collect: from then on, new values go to memory that was used before, as in
// a program that has run for a while. Memory is slow when it is touched for the first
// time.
func WarmUp(n int) TimingOption { return func(t *timer) { t.warmUp, t.exact = n, true } }

// longestWarmUp is how long the warm-up goes on if the collector is slow to run.
const longestWarmUp = 120 * time.Millisecond

// Repeats sets how many measurements are taken: 9 if not given.
func Repeats(n int) TimingOption { return func(t *timer) { t.repeats = max(n, 1) } }

// On names the device that does the work: each measurement ends when the device has
// finished. Without this option, the processor does the work.
func On(d tensor.Device) TimingOption { return func(t *timer) { t.device = d } }

// A measurement must take at least as long as shortest, and at least as many steps of
// the clock as steps; faster functions run several times in each, so that neither the
// cost of reading the clock matters nor its resolution, which is up to a millisecond
// in browsers.
const (
	shortest = 2 * time.Millisecond
	steps    = 20
)

// often returns how many calls a measurement takes, given how long some of them took.
func often(run func(calls int) time.Duration, step time.Duration) int {
	calls, took := 1, run(1)
	for took < shortest && took < steps/2*step { // the clock says little yet
		calls *= 10
		took = run(calls)
	}
	return int(math.Ceil(float64(calls) * float64(max(shortest, steps*step)) / float64(took)))
}

// Time measures f. A device that is still working when f returns must be named with
// [On]. Time panics with the error that such a device reports.
func Time(what string, f func(), options ...TimingOption) Timing {
	t := timer{warmUp: 2, repeats: 9}
	for _, o := range options {
		o(&t)
	}
	run := func(calls int) time.Duration {
		start := time.Now()
		for range calls {
			f()
		}
		if err := t.device.Synchronize(); err != nil {
			panic(fmt.Errorf("accounting: %s on %s: %w", what, t.device, err))
		}
		return time.Since(start)
	}
	memory := gc.StartWarmUp()
	run(t.warmUp)
	for !t.exact && t.device.IsCPU() && !memory.Done() && memory.Elapsed() < longestWarmUp {
		run(1)
	}
	calls := often(run, peak.Tick(time.Now))
	timing := Timing{What: what, device: t.device, tf32: t.device.TF32()}
	for range t.repeats {
		timing.Runs = append(timing.Runs, run(calls)/time.Duration(calls))
	}
	slices.Sort(timing.Runs)
	return timing
}

// TimeMatmul measures a.Matmul(b) on the device of a: warm-up, then several runs, each
// until the result is there and has been freed. It panics as Matmul does.
func TimeMatmul(a, b *tensor.Tensor, options ...TimingOption) Timing {
	r := Count(func() { tensor.NoGrad(func() { a.Matmul(b) }) })
	var t Timing
	tensor.NoGrad(func() {
		t = Time(fmt.Sprintf("matmul %v x %v %s", a.Shape(), b.Shape(), a.Dtype()), func() {
			a.Matmul(b).Free()
		}, append(slices.Clone(options), On(a.Device()))...)
	})
	t.FLOPs, t.Bytes, t.dtype = float64(r.FLOPs()), float64(r.Forward.Bytes), a.Dtype()
	return t
}

// Median returns the middle run.
func (t Timing) Median() time.Duration { return t.Runs[len(t.Runs)/2] }

// Fastest returns the shortest run.
func (t Timing) Fastest() time.Duration { return t.Runs[0] }

// Spread returns the distance between the quartiles in units of the median: how far to
// trust it. Above 0.1, something else was using the machine.
func (t Timing) Spread() float64 {
	n := len(t.Runs)
	return float64(t.Runs[n*3/4]-t.Runs[n/4]) / float64(max(t.Median(), 1))
}

// PerSecond returns FLOP/s at the median.
func (t Timing) PerSecond() float64 { return t.FLOPs / t.Median().Seconds() }

// Peak returns the peak FLOP/s of the dtype and the device on which the
// measurement ran: the measured peak of this computer's processor, or what the
// hardware table says.
func (t Timing) Peak() (float64, error) {
	if t.device.IsCPU() {
		p, err := cpuPeak(t.dtype, 0, t.PerSecond())
		return p.PerSecond, err
	}
	d, err := LookUp(t.device.Model())
	if err != nil {
		return 0, err
	}
	precision, ok := PrecisionOf(t.dtype)
	if !ok {
		return 0, fmt.Errorf("accounting: there are no peak FLOP/s for %s, which isn't a floating-point type", t.dtype)
	}
	if precision == FP32 && t.tf32 {
		precision = TF32
	}
	return d.Peak(precision)
}

// MFU returns the model FLOPs utilization; see [MFU]. The error is that of
// Peak or of MFU.
func (t Timing) MFU() (float64, error) {
	peak, err := t.Peak()
	if err != nil {
		return 0, err
	}
	return MFU(t.PerSecond(), peak)
}

// String prints median, spread and, where the FLOPs are known, speed and MFU.
func (t Timing) String() string {
	text := fmt.Sprintf("%s: median %v of %d runs, spread %s", t.What, t.Median().Round(time.Microsecond/10), len(t.Runs), percent(t.Spread()))
	if t.FLOPs == 0 {
		return text + "\n"
	}
	text += fmt.Sprintf("\n%s FLOPs / %v = %s\n", short(t.FLOPs), t.Median().Round(time.Microsecond/10), rate(t.PerSecond(), "FLOP"))
	peak, err := t.Peak()
	if err != nil {
		return text + err.Error() + "\n"
	}
	mfu, err := MFU(t.PerSecond(), peak)
	if err != nil {
		return text + err.Error() + "\n"
	}
	return text + fmt.Sprintf("MFU: %s of a peak of %s = %.3f\n", rate(t.PerSecond(), "FLOP"), rate(peak, "FLOP"), mfu)
}

// HTML shows the same text.
func (t Timing) HTML() string { return preformatted(t.String()) }

// MeasurementError says that a measured speed exceeds what the hardware can do, so the
// measurement, or the peak, is wrong.
type MeasurementError struct{ Actual, Peak float64 }

func (e *MeasurementError) Error() string {
	return fmt.Sprintf("accounting: measured %s where the peak is %s, an MFU of %.2f: one of the two is wrong; "+
		"check that the work was waited for, that its FLOPs are counted right, and that the peak is that of this dtype and device",
		rate(e.Actual, "FLOP"), rate(e.Peak, "FLOP"), e.Actual/e.Peak)
}

// MFU returns the model FLOPs utilization, actual over peak FLOP/s. The FLOPs are
// those that the model needs, not those that were computed: what is computed twice, as
// with activation checkpointing, counts once. At 0.5 and above, the hardware is used
// well.
//
// Above 1, which is impossible, the error is a [*MeasurementError].
func MFU(actualPerSecond, peakPerSecond float64) (float64, error) {
	if peakPerSecond <= 0 {
		return 0, fmt.Errorf("accounting: a peak of %g FLOP/s is not positive", peakPerSecond)
	}
	mfu := actualPerSecond / peakPerSecond
	if mfu > 1 {
		return mfu, &MeasurementError{actualPerSecond, peakPerSecond}
	}
	return mfu, nil
}
