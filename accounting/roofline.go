package accounting

import (
	"fmt"
	"time"

	"github.com/lectern-go/lectern/internal/columns"
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
func CPUMachine(d tensor.Dtype, threads int) (Machine, error) { return cpuMachine(d, threads, 0) }

// cpuMachine is CPUMachine where a computation has reached so many FLOP/s.
func cpuMachine(d tensor.Dtype, threads int, reached float64) (Machine, error) {
	p, err := cpuPromise(d, threads, reached)
	if err != nil {
		return Machine{}, err
	}
	return Machine{fmt.Sprintf("%s, %s, %s", p.CPU, counted(p.Threads, "thread"), d), p.PerSecond, CPUBandwidth(threads)}, nil
}

// String prints both bounds and their ratio.
func (m Machine) String() string {
	return fmt.Sprintf("%s: %s, %s, so %s FLOP per byte", m.Name, rate(m.PeakPerSecond, "FLOP"), rate(m.BytesPerSecond, "B"), trim(m.Intensity(), 4))
}

// Intensity returns how many FLOPs the machine does while it moves one byte. A
// computation below it waits for memory, one above for the arithmetic.
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

// The operations of the lecture. n is a length, element the bytes of a number.
// Each reads its operands once and writes its result once.

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

// MeasureRoofline runs the five operations of the lecture on this computer, with
// tensors of a dtype and n as in LectureOperations, and returns them under its
// measured roof. The error says that the dtype is no floating-point type.
func MeasureRoofline(d tensor.Dtype, n int, options ...TimingOption) (RooflineReport, error) {
	if _, err := CPUMachine(d, 0); err != nil {
		return RooflineReport{}, err
	}
	make := tensor.With(d)
	long, other := make.Full(0.5, n*n), make.Full(0.25, n*n)
	a, b, v := make.Full(0.5, n, n), make.Full(0.25, n, n), make.Full(0.5, n)
	operations := LectureOperations(n, d.Size())
	for i, f := range []func() *tensor.Tensor{
		long.ReLU, long.GELU,
		func() *tensor.Tensor { return long.Matmul(other) },
		func() *tensor.Tensor { return a.Matmul(v) },
		func() *tensor.Tensor { return a.Matmul(b) },
	} {
		tensor.NoGrad(func() {
			operations[i].Measured = Time(operations[i].Name, func() { f().Free() }, options...).Median()
		})
	}
	m, err := cpuMachine(d, 0, operations[len(operations)-1].PerSecond())
	return Roofline(m, operations...), err
}

func (r RooflineReport) table() *columns.Table {
	t := &columns.Table{Header: []string{"operation", "FLOPs", "bytes", "FLOP/byte", "bound by", "MFU at most"}}
	measured := false
	for _, o := range r.Operations {
		measured = measured || o.Measured > 0
	}
	if measured {
		t.Header = append(t.Header, "measured", "FLOP/s", "of the roof")
	}
	for _, o := range r.Operations {
		bound := "memory"
		if o.Intensity() >= r.Machine.Intensity() {
			bound = "compute"
		}
		cells := []string{o.Name, short(o.FLOPs), short(o.Bytes), trim(o.Intensity(), 3), bound, trim(r.Machine.MFUBound(o.Intensity()), 3)}
		if measured {
			cells = append(cells, o.Measured.Round(time.Microsecond/10).String(), rate(o.PerSecond(), "FLOP"), trim(r.Machine.Seconds(o)/o.Measured.Seconds(), 3))
		}
		t.Add(cells...)
	}
	return t
}

// remark explains measurements above the roof.
func (r RooflineReport) remark() string {
	for _, o := range r.Operations {
		if o.Measured > 0 && r.Machine.Seconds(o) > o.Measured.Seconds() {
			return "above 1 of the roof: the operands stayed in caches, which are faster than the memory that the roof is made of\n"
		}
	}
	return ""
}

// String prints the machine and a row for each operation: its intensity, what
// bounds it, the MFU that this allows and, if measured, how near it came.
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
