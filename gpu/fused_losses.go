//go:build linux && cgo

package gpu

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

func init() {
	fusions["cross entropy"] = (*card).crossEntropy
	fusions["cross entropy gradient"] = (*card).crossEntropyGradient
}

// losing is the argument of kernels; see losses.cu.
type losing struct {
	x, out, lse, targets, g uint64
	count                   int64
	lossType, gType         int32
}

// logits describes rows that are a tensor's last axis, without gaps.
func (a *losing) logits(x device.View) (suffix string, rows int64, ok bool) {
	name, last := smallName(x.Type), len(x.Shape)-1
	if name == "" || last < 0 || !x.IsContiguous() || x.Len() == 0 {
		return "", 0, false
	}
	a.x, a.count = origin(x), int64(x.Shape[last])
	return "_" + name, int64(x.Len()) / a.count, true
}

// crossEntropy computes the loss of each row of the logits in[0], and the logarithm of its sum of exponentials, given
// the targets in[1].
func (c *card) crossEntropy(out, in []device.View, _ []float64) error {
	losses, lse, targets := out[0], out[1], in[1]
	var a losing
	suffix, rows, ok := a.logits(in[0])
	if !ok || !losses.IsContiguous() || !lse.IsContiguous() || lse.Type != device.Float32 || !targets.IsContiguous() || targets.Type != device.Int64 {
		return device.ErrUnsupported
	}
	a.out, a.lse, a.targets, a.lossType = origin(losses), origin(lse), origin(targets), int32(losses.Type)
	threads := 512
	for threads > 32 && int64(threads/2*16) >= a.count { // four packs of float32 a thread
		threads /= 2
	}
	return c.launchBlocks("cross_entropy"+suffix, rows, threads, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// crossEntropyGradient computes dL/dx from dL/dy, x, those logarithms, and the targets.
func (c *card) crossEntropyGradient(out, in []device.View, _ []float64) error {
	dx, g, lse, targets := out[0], in[0], in[2], in[3]
	var a losing
	suffix, rows, ok := a.logits(in[1])
	if !ok || dx.Type != in[1].Type || !dx.IsContiguous() || !g.IsContiguous() || !lse.IsContiguous() || lse.Type != device.Float32 || !targets.IsContiguous() || targets.Type != device.Int64 {
		return device.ErrUnsupported
	}
	a.out, a.g, a.lse, a.targets, a.gType = origin(dx), origin(g), origin(lse), origin(targets), int32(g.Type)
	if a.out%16 != a.x%16 { // packs of both would begin elsewhere
		return device.ErrUnsupported
	}
	const threads, partPacks = 256, 4
	parts := a.count/int64(16/sizes[dx.Type])/(partPacks*threads) + 1
	return c.launchBlocks("cross_entropy_gradient"+suffix, rows*parts, threads, unsafe.Pointer(&a), unsafe.Sizeof(a))
}
