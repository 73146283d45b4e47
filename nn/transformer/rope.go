package transformer

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// RoPE is rotary position embeddings (Su et al. 2021, arXiv:2104.09864): the features of
// a query or key are taken in pairs of neighbors, (0 1), (2 3) and so on, and pair i at
// position t is turned by the angle
//
//	t · theta^(-2i/d)
//
// so that the product of a query and a key depends on how far apart they are, not on
// where. The sines and cosines of all positions are computed once, in float64.
type RoPE struct {
	Cos *tensor.Tensor `nn:"-"` // [positions d/2]; not part of a model's state, since it follows from the sizes
	Sin *tensor.Tensor `nn:"-"`

	copies atomic.Pointer[[]tables] // copies made for devices so far; the list is never changed
}

// tables is a copy of Cos and Sin in another place.
type tables struct{ cos, sin *tensor.Tensor }

// beside returns the cosines and sines on the device of x. They are copied to a device once, in the dtype
// that its angles are computed in, since each layer asks for them in each step.
func (r *RoPE) beside(x *tensor.Tensor) (cos, sin *tensor.Tensor) {
	device, dtype := x.Device(), tensor.Float32
	if x.Dtype() == tensor.Float64 {
		dtype = tensor.Float64
	}
	if device.IsCPU() {
		return r.Cos, r.Sin
	}
	for {
		old := r.copies.Load()
		var list []tables
		if old != nil {
			list = *old
		}
		for _, t := range list {
			if t.cos.Device() == device && t.cos.Dtype() == dtype {
				return t.cos, t.sin
			}
		}
		var made tables
		failed := make(chan error)
		go func() { // on its own goroutine, which is not inside any FreeAfter
			failed <- tensor.Try(func() { made = tables{r.Cos.To(dtype).To(device), r.Sin.To(dtype).To(device)} })
		}()
		if err := <-failed; err != nil {
			panic(err)
		}
		list = append(slices.Clone(list), made)
		r.copies.CompareAndSwap(old, &list)
	}
}

// NewRoPE returns the table for vectors of d features at the positions from 0 to
// positions-1. It panics if d is odd or not above 0, or if there is no memory for the table.
func NewRoPE(d, positions int, theta float64) *RoPE {
	if d < 2 || d%2 != 0 || positions < 1 || !(theta > 0) {
		fail(tensor.ErrValue, "new rope", fmt.Sprintf("%s, %s and theta %g", humanize.Count(d, "feature"), humanize.Count(positions, "position"), theta), "features must be even, and all above 0")
	}
	table := func() (*tensor.Tensor, []float64) {
		t := tensor.With(tensor.Float64).Empty(positions, d/2)
		return t, tensor.Data[float64](t)
	}
	cosines, cos := table()
	sines, sin := table()
	for t := range positions {
		for i := range d / 2 {
			angle := float64(t) * math.Pow(theta, -2*float64(i)/float64(d))
			sin[t*d/2+i], cos[t*d/2+i] = math.Sincos(angle)
		}
	}
	return &RoPE{Cos: cosines, Sin: sines}
}

// Rotate turns x [... T d], whose vectors are at the given positions: integers of any
// shape that broadcasts to [... T]. It panics if a position is not in the table.
func (r *RoPE) Rotate(x, positions *tensor.Tensor) *tensor.Tensor {
	return x.RotatePairs(r.Cos.Embedding(positions).To(x.Device()), r.Sin.Embedding(positions).To(x.Device()))
}

// rotateHeads turns x [... T H d], whose first vectors are at position start.
func (r *RoPE) rotateHeads(x *tensor.Tensor, start int) *tensor.Tensor {
	rows := func(table *tensor.Tensor) *tensor.Tensor {
		return table.Narrow(0, start, x.Size(-3)).Unsqueeze(1) // [T 1 d/2]
	}
	if end := start + x.Size(-3); end > r.Cos.Size(0) {
		fail(tensor.ErrShape, "attention", fmt.Sprintf("position %d is past the %d that the rotary positions are for", end-1, r.Cos.Size(0)), "make a table of more positions")
	}
	cos, sin := r.beside(x)
	return x.RotatePairs(rows(cos), rows(sin))
}
