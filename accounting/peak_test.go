package accounting

import (
	"math"
	"testing"
	"time"

	"github.com/lectern-go/lectern/tensor"
)

// What one notebook cell measured is there in the next, unless the notebook has
// moved to another computer.
func TestPeaksAreKept(t *testing.T) {
	p, err := CPUPeak(tensor.Float32, 1)
	if err != nil {
		t.Fatal(err)
	}
	state := savePeaks()
	forget := func() { peaks.cpu, peaks.ghz, peaks.all, peaks.bandwidth = "", 0, nil, bandwidth{} }
	forget()
	if savePeaks() != nil {
		t.Error("there is something to keep before anything was measured")
	}
	if err := loadPeaks(state); err != nil {
		t.Fatal(err)
	}
	if again, _ := CPUPeak(tensor.Float32, 1); again != p {
		t.Errorf("kept %+v, got %+v", p, again)
	}
	forget()
	if err := loadPeaks([]byte(`{"CPU":"another","All":[{"Dtype":"float32","Threads":1,"PerSecond":1}]}`)); err != nil || peaks.all != nil {
		t.Errorf("the peaks of another computer: error %v, %v", err, peaks.all)
	}
	if err := loadPeaks([]byte("x")); err == nil {
		t.Error("a broken state is no error")
	}
}

// A peak that was measured while something else ran is measured again when a computation exceeds it.
func TestPeaksThatAreExceededAreMeasuredAgain(t *testing.T) {
	p, err := CPUPeak(tensor.BFloat16, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range peaks.all {
		peaks.all[i].PerSecond /= 1000
	}
	low, _ := CPUPeak(tensor.BFloat16, 1)
	if low.PerSecond > p.PerSecond/900 {
		t.Fatalf("%v is not remembered", low.PerSecond)
	}
	again, err := cpuPeak(tensor.BFloat16, 1, p.PerSecond/50)
	same := again.CPU == p.CPU && again.Dtype == p.Dtype && again.Threads == p.Threads
	if err != nil || again.PerSecond < p.PerSecond/50 || !same || again.Instructions == "" { // the fastest by then: other programs slow one set of them more than another
		t.Errorf("measured again %+v, %v; at first it was %+v", again, err, p)
	}
	if kept, _ := CPUPeak(tensor.BFloat16, 1); kept != again {
		t.Errorf("%+v is remembered, want %+v", kept, again)
	}
	if more, _ := cpuPeak(tensor.BFloat16, 1, 1e30); more.PerSecond < again.PerSecond {
		t.Errorf("measured once more it is %v, less than %v", more.PerSecond, again.PerSecond)
	}
}

// TestRoofIsRaised: whatever slowed down the measurement of the roof, the operations below it show what the
// machine can do, also where memory turns out so fast that arithmetic becomes the limit.
func TestRoofIsRaised(t *testing.T) {
	machine := Machine{Name: "m", PeakPerSecond: 100, BytesPerSecond: 10} // 10 FLOPs per byte
	operation := func(flops, bytes, seconds float64) Operation {
		return Operation{"o", flops, bytes, time.Duration(seconds * 1e9)}
	}
	for _, c := range []struct {
		name        string
		operations  []Operation
		peak, bytes float64
	}{
		{"below", []Operation{operation(10, 10, 2), operation(1000, 10, 20), {FLOPs: 1, Bytes: 1}}, 100, 10},
		{"memory", []Operation{operation(10, 10, 0.5), operation(1000, 10, 20)}, 100, 20},
		{"arithmetic", []Operation{operation(10, 10, 2), operation(1000, 10, 5)}, 200, 10},
		{"both", []Operation{operation(10, 10, 0.5), operation(1000, 10, 5)}, 200, 20},
		{"memory, then arithmetic", []Operation{operation(90, 10, 0.5)}, 180, 20},
	} {
		r := Roofline(machine, c.operations...)
		r.raise()
		if m := r.Machine; math.Abs(m.PeakPerSecond-c.peak) > 1e-6 || math.Abs(m.BytesPerSecond-c.bytes) > 1e-6 {
			t.Errorf("%s: %v", c.name, m)
		}
		if r.Highest() > 1+1e-9 {
			t.Errorf("%s: still above the roof: %v", c.name, r)
		}
	}
}
