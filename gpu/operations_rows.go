//go:build linux && cgo

package gpu

import (
	"math/bits"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// rowwiseOperations are what Rows knows.
var rowwiseOperations = []operation{
	{"softmax", true, false}, {"log softmax", true, false}, {"cumsum", true, true}, {"cumprod", true, true}, {"tril", true, true},
	{"triu", true, true}, {"argsort", true, true},
}

// rowwise, triangular and sorting are arguments of kernels; see rows.cu.
type rowwise struct {
	rows           space
	xRows, outRows [maxAxes]int64
	x, out         uint64
	xStride        int64
	outStride      int64
	count          int64
	xType, outType int32
	op             int32
	_              int32
}

type triangular struct {
	e                       elementwise
	rows, columns, diagonal int64
	upper                   int32
	_                       int32
}

type sorting struct {
	r            rowwise
	pairs        uint64
	length       int64
	first, count int64
	size, step   int64
	descending   int32
	_            int32
}

// Rows computes each row, along the last axis, of out from the same row of x.
func (c *card) Rows(op string, compute device.Type, out, x device.View, params ...float64) error {
	defer keep(out, x)
	n, err := number(rowwiseOperations, op, compute)
	if err != nil || out.Len() == 0 {
		return err
	}
	if op == "tril" || op == "triu" {
		return c.triangle(op, compute, out, x, params[0])
	}
	if x.Memory == nil {
		memory, err := c.Allocate(sizes[x.Type], false)
		if err != nil {
			return err
		}
		defer memory.Free()
		if err := c.move(device.View{Memory: memory, Type: x.Type, Shape: []int{1}, Strides: []int{1}}, x); err != nil {
			return err
		}
		x.Memory, x.Offset, x.Strides = memory, 0, make([]int, len(x.Shape))
	}
	if op == "softmax" || op == "log softmax" {
		if done, err := c.keptSoftmax(op, out, x); done {
			return err
		}
	}
	last := len(out.Shape) - 1
	r := rowwise{x: origin(x), out: origin(out), xStride: int64(x.Strides[last]), outStride: int64(out.Strides[last]), count: int64(out.Shape[last]),
		xType: int32(x.Type), outType: int32(out.Type), op: n}
	views := []device.View{{Memory: x.Memory, Strides: x.Strides[:last]}, {Memory: out.Memory, Strides: out.Strides[:last]}}
	if err := r.rows.set(op, axesOf(out.Shape[:last], views...), &r.xRows, &r.outRows); err != nil {
		return err
	}
	kernel := "softmax"
	switch op {
	case "cumsum", "cumprod":
		kernel = "cumulate"
	case "argsort":
		return c.sort(compute, r, len(params) > 0 && params[0] != 0)
	}
	return c.launchBlocks(kernel+suffix(compute), r.rows.count, threadsFor(r.count), unsafe.Pointer(&r), unsafe.Sizeof(r))
}

// triangle keeps one side of a diagonal of the matrices in the last two axes.
func (c *card) triangle(op string, compute device.Type, out, x device.View, diagonal float64) error {
	if x.Type != out.Type {
		return unsupported(op+" into another type", compute)
	}
	last := len(out.Shape) - 1
	t := triangular{rows: int64(out.Shape[last-1]), columns: int64(out.Shape[last]), diagonal: int64(diagonal)}
	if op == "triu" {
		t.upper = 1
	}
	var err error
	if t.e, err = elementwiseOf(op, true, out, x); err != nil {
		return err
	}
	return c.launchOver("triangle", (t.e.space.count+3)/4, unsafe.Pointer(&t), unsafe.Sizeof(t))
}

// sortBytes is how much memory sorting takes at a time, unless a single row needs
// more.
const sortBytes = 256 << 20

// sort writes the positions that sort each row. Rows are padded to a power of two.
func (c *card) sort(compute device.Type, r rowwise, descending bool) error {
	const pair = 16 // bytes of a key and a position
	s := sorting{r: r, length: max(2, int64(1)<<bits.Len64(uint64(r.count-1)))}
	if descending {
		s.descending = 1
	}
	chunk := min(r.rows.count, max(1, sortBytes/(s.length*pair)))
	memory, err := c.Allocate(int(chunk*s.length*pair), false)
	if err != nil {
		return err
	}
	defer memory.Free()
	s.pairs = memory.(*block).address()
	near := min(s.length, 1024) // places that a block sorts by itself
	for ; s.first < r.rows.count; s.first += chunk {
		s.count = min(chunk, r.rows.count-s.first)
		launch := func(kernel string, n int64, threads int) {
			if err == nil {
				err = c.launchBlocks(kernel, (n+int64(threads)-1)/int64(threads), threads, unsafe.Pointer(&s), unsafe.Sizeof(s))
			}
		}
		all := s.count * s.length
		launch("sort_begin"+suffix(compute), all, blockSize)
		s.size = 0
		launch("sort_near", all/2, int(near/2))
		for s.size = 2 * near; s.size <= s.length; s.size *= 2 {
			for s.step = s.size / 2; s.step >= near; s.step /= 2 {
				launch("sort_far", all/2, blockSize)
			}
			launch("sort_near", all/2, int(near/2))
		}
		launch("sort_end", s.count*r.count, blockSize)
	}
	return err
}
