//go:build linux && cgo

package gpu

import (
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// packed is the argument of a kernel; see packed.cu.
type packed struct {
	out, x, y uint64
	count     int64
	p         [2]float64
	q         [2]int64
}

// packedFrom is how many positions are worth their own kernel. Fewer take as long as a launch.
var packedFrom int64 = 1 << 16

// packedElements computes a large elementwise operation whose operands have no gaps with a kernel compiled for
// it. views are those that e describes, the result first.
func (c *card) packedElements(family, op string, compute device.Type, e *elementwise, views ...device.View) (done bool, err error) {
	if e.space.count < packedFrom || e.space.rank != 1 {
		return false, nil
	}
	numbers := 0
	for i := range views {
		o := &e.operands[i]
		switch {
		case o.mode == modeNumber:
			numbers |= 1 << i >> 1
		case o.strides[0] != 1 || o.address%16 != 0:
			return false, nil
		}
	}
	y := views[len(views)-1].Type
	var name strings.Builder
	for _, part := range []string{"packed_elements", constants, "PACKED_OP=", family, "_", strings.ReplaceAll(op, " ", "_"), ",PACKED_INPUTS=", "012"[len(views)-1 : len(views)],
		",PACKED_COMPUTE=", computedAs[compute], ",PACKED_OUT=type_", namesOfTypes[views[0].Type], ",PACKED_X=type_", namesOfTypes[views[1].Type], ",PACKED_Y=type_", namesOfTypes[y],
		",PACKED_NUMBERS=", "0123"[numbers : numbers+1]} {
		name.WriteString(part)
	}
	a := packed{out: e.operands[0].address, x: e.operands[1].address, y: e.operands[2].address, count: e.space.count, p: e.p, q: e.q}
	each := int64(4)
	if sizes[views[0].Type] <= 2 {
		each = 8
	}
	return true, c.launchOver(name.String(), (a.count+each-1)/each, unsafe.Pointer(&a), unsafe.Sizeof(a))
}

// computedAs are the C++ types that are computed in.
var computedAs = map[device.Type]string{device.Float32: "float", device.Float64: "double", device.Int64: "i64"}
