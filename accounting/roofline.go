package accounting

import (
	"fmt"
	"math"
	"time"

	"github.com/lectern-go/lectern/accounting/internal/peak"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor"
)

// Intensity returns the arithmetic intensity of a computation: FLOPs per byte
// moved. 0 bytes give 0.
func Intensity(flops, bytes float64) float64 {
	if bytes == 0 {
		return 0
	}
	return flops / bytes
}

// Machine is what bounds a computation: how fast it computes and how fast it
// reads and writes memory.
type Machine struct {
	Name           string
	PeakPerSecond  float64 // FLOP/s
	BytesPerSecond float64
}

// Machine returns the bounds of a device in a precision.
func (d Device) Machine(p Precision) (Machine, error) {
	peak, err := d.Peak(p)
	return Machine{d.Name + " " + string(p), peak, d.BytesPerSecond}, err
}

// CPUMachine measures the bounds of this computer for a dtype on a number of
// threads; 0 means as many as package tensor uses.
func CPUMachine(d tensor.Dtype, threads int) (Machine, error) { return cpuMachine(d, threads, 0, 0) }

// cpuMachine is CPUMachine when computations have already reached a number of FLOP/s,
// and moved a number of bytes per second.
func cpuMachine(d tensor.Dtype, threads int, reached, moved float64) (Machine, error) {
	p, err := cpuPeak(d, threads, reached)
	if err != nil {
		return Machine{}, err
	}
	return Machine{fmt.Sprintf("%s, %s, %s", p.CPU, humanize.Count(p.Threads, "thread"), d), p.PerSecond, cpuBandwidth(threads, moved)}, nil
}

// String prints both bounds and their ratio.
func (m Machine) String() string {
	return fmt.Sprintf("%s: %s, %s, so %s FLOP per byte", m.Name, rate(m.PeakPerSecond, "FLOP"), rate(m.BytesPerSecond, "B"), trim(m.Intensity(), 4))
}

// Intensity returns how many FLOPs the machine does while it moves one byte. A
// computation below that waits for memory, one above it for the arithmetic.
func (m Machine) Intensity() float64 { return Intensity(m.PeakPerSecond, m.BytesPerSecond) }

// Attainable returns the highest FLOP/s at an intensity: the roofline.
func (m Machine) Attainable(intensity float64) float64 {
	return min(m.PeakPerSecond, intensity*m.BytesPerSecond)
}

// MFUBound returns the highest MFU at an intensity: min(1, intensity / that of
// the machine).
func (m Machine) MFUBound(intensity float64) float64 { return min(1, intensity/m.Intensity()) }

// Seconds returns the shortest time for an operation, if moving and computing
// overlap: the longer of the two.
func (m Machine) Seconds(o Operation) float64 {
	return max(o.Bytes/m.BytesPerSecond, o.FLOPs/m.PeakPerSecond)
}

// Operation is a computation with its cost.
type Operation struct {
	Name         string
	FLOPs, Bytes float64
	Measured     time.Duration // 0 if it was not measured
}

// Intensity returns FLOPs per byte.
func (o Operation) Intensity() float64 { return Intensity(o.FLOPs, o.Bytes) }

// PerSecond returns the measured FLOP/s, 0 if it was not measured.
func (o Operation) PerSecond() float64 {
	if o.Measured == 0 {
		return 0
	}
	return o.FLOPs / o.Measured.Seconds()
}

// The operations of the lecture. n is a length, element the bytes of a number. Each
// reads its operands once and writes its result once.

// ReLUOperation is n comparisons.
func ReLUOperation(n, element int) Operation {
	return Operation{Name: "ReLU", FLOPs: float64(n), Bytes: float64(2 * n * element)}
}

// GELUOperation is about 20 FLOPs for each of n elements, mostly those of tanh.
func GELUOperation(n, element int) Operation {
	return Operation{Name: "GELU", FLOPs: float64(20 * n), Bytes: float64(2 * n * element)}
}

// DotOperation is the inner product of two vectors: n products, n-1 sums.
func DotOperation(n, element int) Operation {
	return Operation{Name: "dot product", FLOPs: float64(2*n - 1), Bytes: float64((2*n + 1) * element)}
}

// MatVecOperation is an n x n matrix times a vector.
func MatVecOperation(n, element int) Operation {
	return Operation{Name: "matrix-vector", FLOPs: float64(n * (2*n - 1)), Bytes: float64((n*n + 2*n) * element)}
}

// MatmulOperation is the product of two n x n matrices.
func MatmulOperation(n, element int) Operation {
	return Operation{Name: "matmul", FLOPs: float64(n*n) * float64(2*n-1), Bytes: float64(3 * n * n * element)}
}

// LectureOperations returns the five operations of the lecture: three on n²
// elements, two on n x n matrices. The lecture takes n = 1024 and 2 bytes.
func LectureOperations(n, element int) []Operation {
	return []Operation{
		ReLUOperation(n*n, element), GELUOperation(n*n, element), DotOperation(n*n, element),
		MatVecOperation(n, element), MatmulOperation(n, element),
	}
}

// RooflineReport sets operations under the roof of a machine.
type RooflineReport struct {
	Machine    Machine
	Operations []Operation
}

// Roofline returns the report of operations on a machine.
func Roofline(m Machine, operations ...Operation) RooflineReport {
	return RooflineReport{m, operations}
}

// MeasureRoofline runs the five operations of the lecture on this computer, in a
// dtype, and returns them under its measured roof. The matrix product is one of n x n
// matrices, or of larger ones if it takes those to be bound by arithmetic. The other
// four, which wait for memory, get tensors too large for any cache: in a cache they
// would be faster than the memory that sets the roof. That takes a few hundred
// megabytes and about a second. The fastest run of each operation counts, as for the
// roof: anything else that runs only makes it slower.
//
// A result above the roof means that something else slowed down the measurement of the
// roof; both are then measured again, a few times at most. An operation that is still
// above it has shown that the machine can do more, and raises the roof to its own
// speed. The error says that the dtype is not floating point.
func MeasureRoofline(d tensor.Dtype, n int, options ...TimingOption) (RooflineReport, error) {
	m, err := CPUMachine(d, 0)
	if err != nil {
		return RooflineReport{}, err
	}
	element := d.Size()
	elements := peak.BeyondCaches() / 2 / element // two tensors of them
	rows := int(math.Ceil(math.Sqrt(float64(2 * elements))))
	make := tensor.With(d)
	long, other := make.Full(0.5, elements), make.Full(0.25, elements)
	wide, v := make.Full(0.5, rows, rows), make.Full(0.5, rows)
	const largest = 4096 // rows of a product, more than any processor needs
	n = max(n, 1)
	a, b := make.Full(0.5, n, n), make.Full(0.25, n, n)
	report := Roofline(m, ReLUOperation(elements, element), GELUOperation(elements, element), DotOperation(elements, element),
		MatVecOperation(rows, element), MatmulOperation(n, element))
	run := []func() *tensor.Tensor{
		long.ReLU, long.GELU,
		func() *tensor.Tensor { return long.Matmul(other) },
		func() *tensor.Tensor { return wide.Matmul(v) },
		func() *tensor.Tensor { return a.Matmul(b) },
	}
	for range 4 {
		for product := &report.Operations[4]; product.Intensity() < 2*report.Machine.Intensity() && n < largest; {
			n *= 2
			*product = MatmulOperation(n, element)
			a, b = make.Full(0.5, n, n), make.Full(0.25, n, n)
		}
		reached, moved := 0., 0.
		for i := range report.Operations {
			o := &report.Operations[i]
			if o.Measured > 0 && report.ofRoof(*o) <= 1 {
				continue
			}
			tensor.NoGrad(func() {
				o.Measured = Time(o.Name, func() { run[i]().Free() }, options...).Fastest()
			})
			if o.bound(report.Machine) == "compute" {
				reached = max(reached, o.PerSecond())
			} else {
				moved = max(moved, o.Bytes/o.Measured.Seconds())
			}
		}
		if report.Machine, err = cpuMachine(d, 0, reached, moved); err != nil || report.Highest() <= 1 {
			break
		}
	}
	report.raise()
	return report, err
}

// raise lifts the roof to the measured operations above it: each shows what the machine can do.
func (r *RooflineReport) raise() {
	m := &r.Machine
	for _, o := range r.Operations {
		if o.Measured == 0 || r.ofRoof(o) <= 1 {
			continue
		}
		if o.bound(*m) == "compute" {
			m.PeakPerSecond = o.PerSecond()
		} else {
			m.BytesPerSecond = o.Bytes / o.Measured.Seconds()
			m.PeakPerSecond = max(m.PeakPerSecond, o.PerSecond())
		}
	}
}

// ofRoof returns how close a measured operation came to its roof: 1 is on it.
func (r RooflineReport) ofRoof(o Operation) float64 {
	return r.Machine.Seconds(o) / o.Measured.Seconds()
}

// Highest returns how close the best operation came to its roof: 1 is on it. It is 0
// if none was measured.
func (r RooflineReport) Highest() (highest float64) {
	for _, o := range r.Operations {
		if o.Measured > 0 {
			highest = max(highest, r.ofRoof(o))
		}
	}
	return highest
}

// bound says what an operation waits for on a machine.
func (o Operation) bound(m Machine) string {
	if o.Intensity() >= m.Intensity() {
		return "compute"
	}
	return "memory"
}

func (r RooflineReport) table() *tabular.Table {
	measured := false
	for _, o := range r.Operations {
		measured = measured || o.Measured > 0
	}
	// Measured values take the place of the counts and of what follows from them, so that the table fits on a page.
	t := &tabular.Table{Header: []string{"operation", "FLOPs", "bytes", "FLOP/byte", "bound by", "MFU at most"}}
	if measured {
		t.Header = []string{"operation", "FLOP/byte", "bound by", "time", "FLOP/s", "of the roof"}
	}
	for _, o := range r.Operations {
		intensity, bound := trim(o.Intensity(), 3), o.bound(r.Machine)
		if measured {
			t.Add(o.Name, intensity, bound, o.Measured.Round(time.Microsecond/10).String(), rate(o.PerSecond(), "FLOP"), trim(r.ofRoof(o), 3))
		} else {
			t.Add(o.Name, short(o.FLOPs), short(o.Bytes), intensity, bound, trim(r.Machine.MFUBound(o.Intensity()), 3))
		}
	}
	return t
}

// remark explains measurements above the roof.
func (r RooflineReport) remark() string {
	if r.Highest() > 1.05 {
		return "above 1 of the roof: operands stayed in caches, which are faster than the memory that sets the roof, or something else ran while the roof was measured\n"
	}
	return ""
}

// String prints the machine and a row for each operation: its intensity, what
// bounds it, and the MFU that this allows or, if measured, how close it came to the
// roof.
func (r RooflineReport) String() string {
	return r.Machine.String() + "\n" + r.table().String() + r.remark()
}

// HTML shows the same.
func (r RooflineReport) HTML() string {
	text := preformatted(r.Machine.String()) + r.table().HTML()
	if remark := r.remark(); remark != "" {
		text += preformatted(remark)
	}
	return text
}
