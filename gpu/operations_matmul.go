//go:build linux && cgo

package gpu

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// product is the argument of a kernel; see matmul.cu.
type product struct {
	batches                      space
	aBatch, bBatch, outBatch     [maxAxes]int64
	a, b, out                    uint64
	m, k, n                      int64
	aRow, aColumn, bRow, bColumn int64
	outRow, outColumn            int64
	across, down                 int64
	aType, bType, outType        int32
	_                            int32
}

// plainMatmul multiplies matrices of any layout and type with our own kernel. Small
// floats and float32 are added up in float32, integers in int64.
func (c *card) plainMatmul(out, a, b device.View) error {
	defer keep(out, a, b)
	if out.Len() == 0 {
		return nil
	}
	for _, v := range []*device.View{&a, &b} {
		if v.Memory != nil {
			continue
		}
		memory, err := c.Allocate(sizes[v.Type], false)
		if err != nil {
			return err
		}
		defer memory.Free()
		if err := c.move(device.View{Memory: memory, Type: v.Type, Shape: []int{1}, Strides: []int{1}}, *v); err != nil {
			return err
		}
		v.Memory, v.Offset, v.Strides = memory, 0, make([]int, len(v.Shape))
	}
	last := len(out.Shape) - 1
	views := []device.View{a, b, out}
	for i := range views {
		views[i].Strides = views[i].Strides[:last-1]
	}
	p := product{
		a: origin(a), b: origin(b), out: origin(out),
		m: int64(out.Shape[last-1]), n: int64(out.Shape[last]), k: int64(a.Shape[last]),
		aRow: int64(a.Strides[last-1]), aColumn: int64(a.Strides[last]),
		bRow: int64(b.Strides[last-1]), bColumn: int64(b.Strides[last]),
		outRow: int64(out.Strides[last-1]), outColumn: int64(out.Strides[last]),
		aType: int32(a.Type), bType: int32(b.Type), outType: int32(out.Type),
	}
	if err := p.batches.set("matmul", axesOf(out.Shape[:last-1], views...), &p.aBatch, &p.bBatch, &p.outBatch); err != nil {
		return err
	}
	p.across, p.down = (p.n+63)/64, (p.m+63)/64
	return c.launchBlocks("matmul"+suffix(computeType(out.Type)), p.across*p.down*p.batches.count, blockSize, unsafe.Pointer(&p), unsafe.Sizeof(p))
}
