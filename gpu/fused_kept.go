//go:build linux && cgo

package gpu

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

func init() {
	fusions["softmax gradient"] = (*card).softmaxGradient
	fusions["layer norm"] = norm("layer_norm")
	fusions["rms norm"] = norm("rms_norm")
	fusions["layer norm gradient"] = normGradient("layer_norm_gradient", 3)
	fusions["rms norm gradient"] = normGradient("rms_norm_gradient", 4)
}

// kept is the argument of kernels; see kept.cu.
type kept struct {
	out, x, g, w, b uint64
	dw, db          uint64
	rows, count     int64
	eps             float32
	typ             int32
}

// keptRows says how rows are kept in registers.
type keptRows struct {
	kernel  string // with its constants
	threads int    // of a block
	rows    int    // that a block has at a time
}

// keepRows chooses how many threads share a row of count elements, at most most, and how many packs each has. It
// refuses rows that are too long or not made of packs.
func keepRows(kernel string, t device.Type, count, most int) (keptRows, error) {
	name, each := packName(t), 16/sizes[t] // elements of a pack
	if name == "" || count == 0 || count%each != 0 {
		return keptRows{}, device.ErrUnsupported
	}
	all := count / each
	k := keptRows{threads: 32}
	packs := (all + 31) / 32
	if packs*each > 32 { // more than a warp should hold
		for k.threads = 128; ; k.threads *= 2 {
			if packs = (all + k.threads - 1) / k.threads; packs*each <= 16 {
				break
			}
			if k.threads == most {
				return keptRows{}, device.ErrUnsupported
			}
		}
	}
	k.kernel = fmt.Sprintf("%s%sROW_TYPE=%s,ROW_THREADS=%d,ROW_PACKS=%d", kernel, constants, name, k.threads, packs)
	if k.rows = 1; k.threads == 32 {
		k.threads, k.rows = 128, 4
	}
	return k, nil
}

// blocks returns how many blocks it takes for all rows.
func (k keptRows) blocks(rows int64) int64 { return (rows + int64(k.rows) - 1) / int64(k.rows) }

// inRows reports whether views of one type are rows without gaps that begin where packs do.
func inRows(t device.Type, views ...device.View) bool {
	for _, v := range views {
		if v.Type != t || !v.IsContiguous() || origin(v)%16 != 0 {
			return false
		}
	}
	return true
}

// keptSoftmax computes the softmax of rows, or its logarithm, if registers can hold them.
func (c *card) keptSoftmax(op string, out, x device.View) (done bool, err error) {
	if !inRows(out.Type, out, x) {
		return false, nil
	}
	count := x.Shape[len(x.Shape)-1]
	name := "softmax_kept"
	if op == "log softmax" {
		name = "log_softmax_kept"
	}
	k, err := keepRows(name, x.Type, count, 1024)
	if err != nil {
		return false, nil
	}
	a := kept{out: origin(out), x: origin(x), rows: int64(x.Len() / count), count: int64(count)}
	return true, c.launchBlocks(k.kernel, k.blocks(a.rows), k.threads, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// softmaxGradient computes dL/dx from dL/dy and the softmax y, along the last axis.
func (c *card) softmaxGradient(out, in []device.View, _ []float64) error {
	dx, g, y := out[0], in[0], in[1]
	count := y.Shape[len(y.Shape)-1]
	k, err := keepRows("softmax_gradient_kept", y.Type, count, 1024)
	if err != nil || !inRows(y.Type, dx, g, y) {
		return device.ErrUnsupported
	}
	a := kept{out: origin(dx), g: origin(g), x: origin(y), rows: int64(y.Len() / count), count: int64(count)}
	return c.launchBlocks(k.kernel, k.blocks(a.rows), k.threads, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// norm computes x̂·w + b from x, w and perhaps b.
func norm(kernel string) fusion {
	return func(c *card, out, in []device.View, numbers []float64) error {
		x, w := in[0], in[1]
		k, err := keepRows(kernel, x.Type, w.Len(), 1024)
		if err != nil || !inRows(x.Type, slices.Concat(in, out)...) {
			return device.ErrUnsupported
		}
		a := kept{out: origin(out[0]), x: origin(x), w: origin(w), rows: int64(x.Len() / w.Len()), count: int64(w.Len()), eps: float32(numbers[0])}
		if len(in) > 2 {
			a.b = origin(in[2])
		}
		return c.launchBlocks(k.kernel, k.blocks(a.rows), k.threads, unsafe.Pointer(&a), unsafe.Sizeof(a))
	}
}

// normGradient computes the gradients with respect to x, and perhaps to w and b, from dL/dout, x and w.
// resident is how many blocks of 128 threads their registers allow at a time.
func normGradient(kernel string, resident int) fusion {
	return func(c *card, out, in []device.View, numbers []float64) error {
		g, x, w := in[0], in[1], in[2]
		k, err := keepRows(kernel, x.Type, w.Len(), 512)
		if err != nil || !inRows(x.Type, slices.Concat(in, out)...) {
			return device.ErrUnsupported
		}
		a := kept{out: origin(out[0]), x: origin(x), g: origin(g), w: origin(w), rows: int64(x.Len() / w.Len()), count: int64(w.Len()), eps: float32(numbers[0])}
		blocks := min(k.blocks(a.rows), int64(max(resident*128/k.threads, 1)*c.properties.Multiprocessors))
		parameters := out[1:]
		if len(parameters) == 0 {
			return c.launchBlocks(k.kernel, blocks, k.threads, unsafe.Pointer(&a), unsafe.Sizeof(a))
		}
		parts, err := c.Allocate(4*int(blocks*a.count)*len(parameters), false)
		if err != nil {
			return err
		}
		defer parts.Free()
		a.dw = parts.(*block).address()
		sums := kept{rows: blocks, count: a.count, typ: int32(w.Type), x: a.dw, out: origin(parameters[0])}
		if len(parameters) > 1 {
			a.db = a.dw + 4*uint64(blocks*a.count)
			sums.g, sums.b = a.db, origin(parameters[1])
		}
		if err := c.launchBlocks(k.kernel, blocks, k.threads, unsafe.Pointer(&a), unsafe.Sizeof(a)); err != nil {
			return err
		}
		return c.launchBlocks("sum_of_blocks", (a.count+31)/32, blockSize, unsafe.Pointer(&sums), unsafe.Sizeof(sums))
	}
}
