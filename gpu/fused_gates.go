//go:build linux && cgo

package gpu

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

func init() {
	fusions["gelu gradient"] = func(c *card, out, in []device.View, _ []float64) error {
		return c.Zip("gelu gradient", computedWide(out[0].Type), out[0], in[0], in[1])
	}
	fusions["swiglu gradients"] = (*card).swigluGradients
}

// computedWide is the type in which floats are computed.
func computedWide(t device.Type) device.Type {
	if t == device.Float64 {
		return t
	}
	return device.Float32
}

// gates is the argument of kernels; see packed.cu.
type gates struct {
	dx, dgate, g, x, gate uint64
	count                 int64
}

// swigluGradients computes dL/dx and dL/dgate from dL/dout, x and the gate.
func (c *card) swigluGradients(out, in []device.View, _ []float64) error {
	x := in[1]
	name := smallName(x.Type)
	if name == "" || !inRows(x.Type, out...) || !inRows(x.Type, in...) {
		return device.ErrUnsupported
	}
	a := gates{dx: origin(out[0]), dgate: origin(out[1]), g: origin(in[0]), x: origin(x), gate: origin(in[2]), count: int64(x.Len())}
	each := int64(16 / sizes[x.Type])
	return c.launchOver("swiglu_gradients_"+name, (a.count+each-1)/each, unsafe.Pointer(&a), unsafe.Sizeof(a))
}
