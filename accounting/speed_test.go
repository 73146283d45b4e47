package accounting_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/accounting/internal/peak"
	"github.com/lectern-go/lectern/tensor"
)

// Five operations in bf16 on an H100: only the matrix product computes as fast
// as the machine can.
func ExampleRoofline() {
	d, _ := accounting.LookUp("NVIDIA H100 80GB HBM3")
	m, _ := d.Machine(accounting.BF16)
	fmt.Print(accounting.Roofline(m, accounting.LectureOperations(1024, 2)...))
	// Output:
	// H100 SXM bf16: 989.5 TFLOP/s, 3.35 TB/s, so 295.4 FLOP per byte
	// operation         FLOPs     bytes  FLOP/byte  bound by  MFU at most
	// ReLU           1.0486e6  4.1943e6       0.25    memory     0.000846
	// GELU           20.972e6  4.1943e6          5    memory       0.0169
	// dot product    2.0972e6  4.1943e6        0.5    memory      0.00169
	// matrix-vector  2.0961e6  2.1012e6      0.998    memory      0.00338
	// matmul         2.1464e9  6.2915e6        341   compute            1
}

// An MFU is a ratio of two speeds. One above 1 says that something was measured
// wrongly.
func ExampleMFU() {
	mfu, err := accounting.MFU(495e12, 989.5e12)
	fmt.Printf("%.2f %v\n", mfu, err)
	_, err = accounting.MFU(1400e12, 989.5e12)
	fmt.Println(err)
	// Output:
	// 0.50 <nil>
	// accounting: measured 1.4 PFLOP/s where the peak is 989.5 TFLOP/s, an MFU of 1.41: one of the two is wrong; check that the work was waited for, that its FLOPs are counted right, and that the peak is that of this dtype and device
}

func TestReLUIsNoFasterThanGELUAtTheRoof(t *testing.T) {
	d, _ := accounting.LookUp("NVIDIA H100 80GB HBM3")
	m, _ := d.Machine(accounting.BF16)
	relu, gelu := accounting.ReLUOperation(1<<20, 2), accounting.GELUOperation(1<<20, 2)
	if m.Seconds(relu) != m.Seconds(gelu) {
		t.Errorf("ReLU takes %v s, GELU %v s", m.Seconds(relu), m.Seconds(gelu))
	}
	if got := m.Attainable(1e9); got != m.PeakPerSecond {
		t.Errorf("the roof is at %v, want %v", got, m.PeakPerSecond)
	}
}

func TestTimeMatmul(t *testing.T) {
	a, b := tensor.Full(0.5, 128, 128), tensor.Full(0.25, 128, 128)
	timing := accounting.TimeMatmul(a, b, accounting.WarmUp(1), accounting.Repeats(5))
	if timing.FLOPs != 2*128*128*128 || len(timing.Runs) != 5 || timing.Median() <= 0 {
		t.Errorf("%+v", timing)
	}
	mfu, err := timing.MFU()
	var wrong *accounting.MeasurementError
	if err != nil && !errors.As(err, &wrong) || mfu <= 0 {
		t.Errorf("MFU %v, error %v", mfu, err)
	}
	if text := timing.String(); !strings.Contains(text, "of 5 runs, spread") {
		t.Errorf("%s", text)
	}
	if accounting.TimeMatmul(tensor.Ones(0, 3), tensor.Ones(3, 0), accounting.Repeats(1)).FLOPs != 0 {
		t.Error("an empty product has FLOPs")
	}
}

func TestTimingWaitsForShortFunctions(t *testing.T) {
	calls := 0
	timing := accounting.Time("counting", func() { calls++ }, accounting.Repeats(3))
	if calls < 1000 {
		t.Errorf("%d calls: too few to time something so short", calls)
	}
	if timing.Spread() < 0 {
		t.Errorf("spread %v", timing.Spread())
	}
}

func TestCPUPeak(t *testing.T) {
	p, err := accounting.CPUPeak(tensor.Float32, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := accounting.CPUPeak(tensor.Float32, 1)
	if p != again || p.PerSecond <= 0 || p.GHz > 0 && p.Formula() <= 0 {
		t.Errorf("peak %+v, then %+v", p, again)
	}
	small, err := accounting.CPUPeak(tensor.BFloat16, 1)
	if err != nil || small.PerSecond <= 0 {
		t.Errorf("bf16: %+v, %v", small, err)
	}
	if _, err := accounting.CPUPeak(tensor.Int64, 1); err == nil || !strings.Contains(err.Error(), "int64") {
		t.Errorf("peak for int64: %v", err)
	}
	if b := accounting.CPUBandwidth(1); b <= 0 {
		t.Errorf("memory moves %v bytes a second", b)
	}
	t.Log(p, small)
}

func TestMeasureRoofline(t *testing.T) {
	r, err := accounting.MeasureRoofline(tensor.Float32, 64, accounting.Repeats(3), accounting.WarmUp(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Operations {
		if o.Measured <= 0 || o.PerSecond() <= 0 {
			t.Errorf("%s was not measured", o.Name)
		}
		if bound := o.Intensity() < r.Machine.Intensity(); bound == (o.Name == "matmul") {
			t.Errorf("%s is bound by memory: %v", o.Name, bound)
		} else if bound && o.Bytes < float64(peak.BeyondCaches()) {
			t.Errorf("%s goes through %.3g bytes, which a cache may hold", o.Name, o.Bytes)
		}
	}
	if r.Highest() > 1+1e-9 { // whatever else ran while the roof was measured
		t.Errorf("an operation is above the roof:\n%v", r)
	}
	t.Log(r)
	if _, err := accounting.MeasureRoofline(tensor.Int64, 64); err == nil {
		t.Error("integers have a roofline")
	}
}

// TestRemarkOnWhatIsAboveTheRoof: the report says so, and what may be the reason.
func TestRemarkOnWhatIsAboveTheRoof(t *testing.T) {
	m := accounting.Machine{Name: "m", PeakPerSecond: 1e12, BytesPerSecond: 1e9}
	for seconds, want := range map[float64]bool{2: false, 1: false, 0.97: false, 0.9: true, 0.1: true} {
		o := accounting.Operation{Name: "o", FLOPs: 1e6, Bytes: 1e9, Measured: time.Duration(seconds * 1e9)}
		r := accounting.Roofline(m, o)
		if got := strings.Contains(r.String(), "caches"); got != want || strings.Contains(r.HTML(), "caches") != want {
			t.Errorf("%g s where the roof is at 1: remark %v, want %v", seconds, got, want)
		}
		if got := r.Highest(); got < 0.999/seconds || got > 1.001/seconds {
			t.Errorf("%g s: highest %g", seconds, got)
		}
	}
}
