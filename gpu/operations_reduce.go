//go:build linux && cgo

package gpu

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
)

// reductions are what Reduce knows; those with roots, logarithms or quotients don't exist for integers.
var reductions = []operation{
	{"sum", true, true}, {"prod", true, true}, {"max", true, true}, {"min", true, true}, {"sum of squares", true, false},
	{"logsumexp", true, false}, {"var", true, false}, {"std", true, false}, {"argmax", true, true}, {"argmin", true, true},
}

// reduction and pairs are arguments of kernels; see reduce.cu.
type reduction struct {
	kept, gone               space
	keptStrides, goneStrides [maxAxes]int64
	x, out, partial          uint64
	count, blocks            int64
	width                    int64
	divisor                  float64
	xType, outType           int32
	op                       int32
	_                        int32
}

type pairs struct {
	partial, out       uint64
	parts              int64
	depth, outType, op int32
	last               int32
}

// piece is how many elements make up a partial sum.
const piece = 1024

// Reduce computes each element of out, which is contiguous, from count elements of x,
// which follow each other in row-major order. Terms are added in the same order as in
// package tensor.
func (c *card) Reduce(op string, compute device.Type, out, x device.View, count int, params ...float64) error {
	defer keep(out, x)
	n, err := number(reductions, op, compute)
	if err != nil || out.Len() == 0 {
		return err
	}
	if count == 0 || x.Memory == nil {
		return c.reduceNumber(op, compute, out, x, count)
	}
	r := reduction{out: origin(out), x: origin(x), count: int64(count), xType: int32(x.Type), outType: int32(out.Type), op: n}
	if len(params) > 0 {
		r.divisor = params[0]
	}
	kept, gone, err := r.split(op, x, count)
	if err != nil {
		return err
	}
	switch op {
	case "logsumexp":
		return c.launchReduction("logsumexp", compute, &r)
	case "var", "std":
		return c.launchReduction("spread", compute, &r)
	case "argmax", "argmin":
		if out.Type != device.Int64 {
			return unsupported(op+" into "+namesOfTypes[out.Type], compute)
		}
		return c.launchReduction("extreme", compute, &r)
	}
	r.blocks = int64((count + piece - 1) / piece)
	packs := r.packs(op, compute, x, kept, gone)
	joined := r.blocks == 1 || packs != "" && // the pieces of a run are in one warp
		r.blocks <= 16/int64(sizes[x.Type]) && r.blocks&(r.blocks-1) == 0
	if !joined {
		memory, err := c.Allocate(int(r.kept.count*r.blocks)*sizes[compute], false)
		if err != nil {
			return err
		}
		defer memory.Free()
		r.partial = memory.(*block).address()
	}
	switch {
	case packs != "":
		err = c.launchOver(packs, r.kept.count*r.blocks*2*int64(sizes[x.Type]), unsafe.Pointer(&r), unsafe.Sizeof(r))
	case columns(kept, gone):
		r.width = kept[len(kept)-1].size
		strips := (r.width + 31) / 32 * (r.kept.count / r.width)
		err = c.launchBlocks("reduce_columns"+suffix(compute), strips*r.blocks, blockSize, unsafe.Pointer(&r), unsafe.Sizeof(r))
	default:
		err = c.launchOver("reduce_rows"+suffix(compute), r.kept.count*r.blocks*32, unsafe.Pointer(&r), unsafe.Sizeof(r))
	}
	if err != nil || joined {
		return err
	}
	return c.joinPairs(compute, r)
}

// packs names the kernel for large runs that can be read 16 bytes at a time: the elements of a run follow each
// other, and each run begins at a multiple of 16 bytes and has such a length. Otherwise it returns "".
func (r *reduction) packs(op string, compute device.Type, x device.View, kept, gone []axis) string {
	t, each := packName(x.Type), int64(16/sizes[x.Type])
	if t == "" || compute != device.Float32 || r.count*r.kept.count < packedFrom || len(kept) > 1 || len(gone) != 1 || gone[0].strides[0] != 1 || r.count%each != 0 || r.keptStrides[0]%each != 0 || r.x%16 != 0 {
		return ""
	}
	return "reduce_packs" + constants + "REDUCE_TYPE=" + t + ",REDUCE_OP=reduce_" + strings.ReplaceAll(op, " ", "_")
}

// split fills in which axes of x are kept and which are reduced, the last ones.
func (r *reduction) split(op string, x device.View, count int) (kept, gone []axis, err error) {
	at, elements := len(x.Shape), 1
	for elements < count || at > 0 && x.Shape[at-1] == 1 {
		at--
		elements *= x.Shape[at]
	}
	if elements != count {
		return nil, nil, fmt.Errorf("gpu: %s: the last axes of %v don't hold %s", op, x.Shape, humanize.Count(count, "element"))
	}
	views := []device.View{{Memory: x.Memory, Strides: x.Strides[:at]}}
	if kept = axesOf(x.Shape[:at], views...); len(kept) > 0 {
		if err = r.kept.set(op, kept, &r.keptStrides); err != nil {
			return nil, nil, err
		}
	} else {
		r.kept.count = 1
	}
	views[0].Strides = x.Strides[at:]
	gone = axesOf(x.Shape[at:], views...)
	return kept, gone, r.gone.set(op, gone, &r.goneStrides)
}

// columns reports whether neighbors in memory belong to different results, so that it
// is better to compute many at a time.
func columns(kept, gone []axis) bool {
	if len(kept) == 0 || len(gone) == 0 {
		return false
	}
	k, g := kept[len(kept)-1], gone[len(gone)-1]
	return k.size >= 16 && abs(k.strides[0]) == 1 && abs(g.strides[0]) > 1
}

// launchReduction launches a block for each result.
func (c *card) launchReduction(kernel string, compute device.Type, r *reduction) error {
	return c.launchBlocks(kernel+suffix(compute), r.kept.count, threadsFor(r.count), unsafe.Pointer(r), unsafe.Sizeof(*r))
}

// threadsFor is the size of a block whose threads go through count elements together.
func threadsFor(count int64) int {
	threads := 32
	for threads < 512 && int64(threads)*4 < count {
		threads *= 2
	}
	return threads
}

// joinPairs adds up the parts of each result.
func (c *card) joinPairs(compute device.Type, r reduction) error {
	p := pairs{partial: r.partial, parts: r.blocks, outType: r.outType, op: r.op}
	for p.last == 0 {
		p.depth = 0
		for p.parts > 1024<<p.depth {
			p.depth++
		}
		p.out = r.out
		if p.depth == 0 {
			p.last = 1
		} else {
			memory, err := c.Allocate(int(r.kept.count<<p.depth)*sizes[compute], false)
			if err != nil {
				return err
			}
			scratch := memory.(*block)
			defer scratch.Free()
			p.out = scratch.address()
		}
		threads := min(blockSize, max(32, 1<<bits.Len64(uint64(p.parts-1)>>1)))
		if err := c.launchBlocks("join_pairs"+suffix(compute), r.kept.count<<p.depth, threads, unsafe.Pointer(&p), unsafe.Sizeof(p)); err != nil {
			return err
		}
		p.partial, p.parts = p.out, 1<<p.depth
	}
	return nil
}

// reduceNumber reduces an operand that is the same everywhere, or empty.
func (c *card) reduceNumber(op string, compute device.Type, out, x device.View, count int) error {
	if count > 0 { // give it its own memory, one element that is read again and again
		memory, err := c.Allocate(sizes[x.Type], false)
		if err != nil {
			return err
		}
		defer memory.Free()
		one := device.View{Memory: memory, Type: x.Type, Shape: []int{1}, Strides: []int{1}}
		if err := c.move(one, x); err != nil {
			return err
		}
		x.Memory, x.Offset, x.Strides = memory, 0, make([]int, len(x.Shape))
		return c.Reduce(op, compute, out, x, count)
	}
	value := math.NaN() // of the variance of nothing
	switch op {
	case "sum", "sum of squares":
		value = 0
	case "prod":
		value = 1
	case "max", "logsumexp":
		value = math.Inf(-1)
	case "min":
		value = math.Inf(1)
	}
	bits := uint64(math.Float32bits(float32(value)))
	if compute == device.Int64 { // the question is only whether all, or any, of nothing are true
		bits = 0
		if op == "min" || op == "prod" {
			bits = 1
		}
	} else if compute == device.Float64 {
		bits = math.Float64bits(value)
	}
	return c.Map("copy", compute, out, device.View{Value: bits, Type: compute, Shape: out.Shape, Strides: make([]int, len(out.Shape))})
}
