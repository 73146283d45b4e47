//go:build linux && cgo

package gpu

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

func init() { fusions["rotate pairs"] = (*card).rotate }

// rotating is the argument of a kernel; see rotate.cu.
type rotating struct {
	out, x, cosines, sines         uint64
	outAt, xAt, cosinesAt, sinesAt [3]int64
	shape                          [3]int32
	features                       int32
	way                            float32
	_                              int32
}

// rotate turns pairs of x by angles whose cosines and sines are float32 and may be repeated along any axis but the
// last.
func (c *card) rotate(out, in []device.View, numbers []float64) error {
	to, x, cosines, sines := out[0], in[0], in[1], in[2]
	name, last := smallName(x.Type), len(x.Shape)-1
	if name == "" || to.Type != x.Type || !inPacks(x) || !inPacks(to) {
		return device.ErrUnsupported
	}
	for _, table := range []device.View{cosines, sines} {
		if table.Memory == nil || table.Type != device.Float32 || table.Strides[last] != 1 {
			return device.ErrUnsupported
		}
	}
	without := func(v device.View) device.View { return device.View{Memory: v.Memory, Strides: v.Strides[:last]} }
	axes := axesOf(x.Shape[:last], without(to), without(x), without(cosines), without(sines))
	a := rotating{out: origin(to), x: origin(x), cosines: origin(cosines), sines: origin(sines),
		shape: [3]int32{1, 1, 1}, features: int32(x.Shape[last]), way: float32(numbers[0])}
	if len(axes) > len(a.shape) {
		return device.ErrUnsupported
	}
	for i, axis := range axes {
		if axis.size > 1<<31-1 {
			return device.ErrUnsupported
		}
		a.shape[i] = int32(axis.size)
		a.outAt[i], a.xAt[i], a.cosinesAt[i], a.sinesAt[i] = axis.strides[0], axis.strides[1], axis.strides[2], axis.strides[3]
	}
	return c.launchOver("rotate_"+name, int64(to.Len()*sizes[x.Type]/16), unsafe.Pointer(&a), unsafe.Sizeof(a))
}
