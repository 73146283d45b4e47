//go:build linux && cgo

package gpu

import "github.com/lectern-go/lectern/internal/device"

// A fusion launches the kernels that compute an operation as a whole. Before it does anything, it refuses
// operands that they don't take, with ErrUnsupported.
type fusion func(c *card, out, in []device.View, numbers []float64) error

// fusions are the operations that Fused knows, by name. The files that define them add them when the program starts.
var fusions = map[string]fusion{}

// Fused computes an operation of package tensor as a whole.
func (c *card) Fused(op string, out, in []device.View, numbers ...float64) error {
	f := fusions[op]
	if f == nil {
		return device.ErrUnsupported // package tensor then computes in steps, and shows this to nobody
	}
	defer keep(out...)
	defer keep(in...)
	return f(c, out, in, numbers)
}

// smallName is how kernels name the type of their elements; "" for a type that none of them computes in float32.
func smallName(t device.Type) string {
	switch t {
	case device.Float32:
		return "f32"
	case device.BFloat16:
		return "bf16"
	case device.Float16:
		return "f16"
	}
	return ""
}

// packName is packs.cu's name for a type of elements that are read in packs; "" for others.
func packName(t device.Type) string {
	switch t {
	case device.Float32:
		return "float"
	case device.BFloat16:
		return "bfloat16"
	case device.Float16:
		return "float16"
	}
	return ""
}

// inPacks reports whether a view can be read 16 bytes at a time along its last axis: whether its elements lie
// side by side there, and each row begins at a multiple of 16 bytes and has such a length.
func inPacks(v device.View) bool {
	last, each := len(v.Shape)-1, 16/sizes[v.Type]
	if v.Memory == nil || last < 0 || v.Shape[last]%each != 0 || v.Strides[last] != 1 && v.Shape[last] != 1 || v.Offset%each != 0 {
		return false
	}
	for i, size := range v.Shape[:last] {
		if size > 1 && v.Strides[i]%each != 0 {
			return false
		}
	}
	return true // blocks begin at multiples of more
}
