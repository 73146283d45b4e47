//go:build linux && cgo

package gpu

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
)

// maxAxes is how many axes a kernel can walk. Axes that follow each other in memory
// count as one.
const maxAxes = 8

// space and operand are what kernels know about shapes and tensors; see elements.cu.
type space struct {
	shape [maxAxes]int64
	count int64
	rank  int32
	wide  int32
}

type operand struct {
	address uint64
	strides [maxAxes]int64
	typ     int32
	bytes   int32
	mode    int32
	_       int32
}

const (
	modeStrided = iota
	modePacked
	modeNumber
)

type elementwise struct {
	space    space
	operands [4]operand
	p        [2]float64
	q        [2]int64
	op       int32
	strided  int32
}

// blockSize is the number of threads of a block, unless a kernel needs another.
const blockSize = 256

// sizes of elements, in bytes.
var sizes = [...]int{4, 8, 2, 2, 1, 1, 8, 4, 2, 1, 1, 1}

// suffix tells apart the kernels for one operation by the type that they compute in.
func suffix(compute device.Type) string {
	switch compute {
	case device.Float64:
		return "_f64"
	case device.Int64:
		return "_i64"
	}
	return "_f32"
}

// axis is one axis of at most 4 operands that have the same shape.
type axis struct {
	size    int64
	strides [4]int64
}

// axesOf returns the axes of views of the same shape, without those of size 1; axes
// that can be walked as one are merged. Numbers have stride 0.
func axesOf(shape []int, views ...device.View) []axis {
	axes := make([]axis, 0, 8)
	for i, size := range shape {
		if size == 1 {
			continue
		}
		a := axis{size: int64(size)}
		for v := range views {
			if views[v].Memory != nil {
				a.strides[v] = int64(views[v].Strides[i])
			}
		}
		axes = append(axes, a)
	}
	return merged(axes)
}

// merged merges axes in place.
func merged(axes []axis) []axis {
	n := 0
	for _, a := range axes {
		if n > 0 && continues(&axes[n-1], &a) {
			a.size *= axes[n-1].size
			axes[n-1] = a
			continue
		}
		axes[n] = a
		n++
	}
	return axes[:n]
}

// continues reports whether a step along outer is as long as all steps along
// inner together, for all operands.
func continues(outer, inner *axis) bool {
	for i, stride := range outer.strides {
		if stride != inner.strides[i]*inner.size {
			return false
		}
	}
	return true
}

// tooManyAxes says that a layout has too many axes for kernels.
type tooManyAxes struct {
	op   string
	axes int
}

func (e *tooManyAxes) Error() string {
	return fmt.Sprintf("%v: %s of a tensor whose layout takes %s to walk, and kernels walk %d; make it contiguous first", device.ErrUnsupported, e.op, humanize.Count(e.axes, "axis"), maxAxes)
}

// Is makes errors.Is find ErrUnsupported.
func (e *tooManyAxes) Is(target error) bool { return target == device.ErrUnsupported }

// inSlices does an operation separately for each index of the first axis: without that
// axis, kernels may be able to walk the rest.
func inSlices(views []device.View, do func(views []device.View) error) error {
	axis := slices.IndexFunc(views[0].Shape, func(size int) bool { return size > 1 })
	parts := make([]device.View, len(views))
	for i := range views[0].Shape[axis] {
		for k, v := range views {
			if v.Memory != nil {
				v.Offset += i * v.Strides[axis]
				v.Strides = v.Strides[axis+1:]
			}
			v.Shape = views[0].Shape[axis+1:]
			parts[k] = v
		}
		if err := do(parts); err != nil {
			return err
		}
	}
	return nil
}

// set fills in a space and the strides of operands in it.
func (s *space) set(op string, axes []axis, strides ...*[maxAxes]int64) error {
	if len(axes) > maxAxes {
		return &tooManyAxes{op, len(axes)}
	}
	count := int64(1)
	for i, a := range axes {
		s.shape[i] = a.size
		count *= a.size
		for j := range strides {
			strides[j][i] = a.strides[j]
		}
	}
	s.rank = int32(len(axes))
	s.setCount(count)
	return nil
}

func (s *space) setCount(n int64) {
	s.count = n
	if n > 1<<31-1 {
		s.wide = 1
	}
}

// origin returns the address of the first element of a view, or the bits of a
// number.
func origin(v device.View) uint64 {
	if v.Memory == nil {
		return v.Value
	}
	return v.Memory.(*block).address() + uint64(v.Offset*sizes[v.Type])
}

// set fills in all but the strides of an operand, and reports whether it has no gaps.
func (o *operand) set(v *device.View) (contiguous bool) {
	o.address, o.typ, o.bytes = origin(*v), int32(v.Type), int32(sizes[v.Type])
	if v.Memory == nil {
		o.mode = modeNumber
		return false
	}
	contiguous = v.IsContiguous()
	if contiguous && o.address%uint64(4*sizes[v.Type]) == 0 {
		o.mode = modePacked
	}
	return contiguous
}

// elementwiseOf describes views of the same shape; the first is the result. Unless the
// order of positions matters, they are walked in the order of its memory.
func elementwiseOf(op string, ordered bool, views ...device.View) (elementwise, error) {
	var e elementwise
	alike := true // no operand has gaps, or a different order
	for i := range views {
		o := &e.operands[i]
		contiguous := o.set(&views[i])
		alike = alike && (contiguous || o.mode == modeNumber)
	}
	if alike {
		e.space.setCount(int64(views[0].Len()))
		e.space.shape[0], e.space.rank = e.space.count, 1
		for i := range views {
			if views[i].Memory != nil {
				e.operands[i].strides[0] = 1
			}
		}
		return e, nil
	}
	axes := axesOf(views[0].Shape, views...)
	if !ordered && !inOrder(axes) {
		slices.SortStableFunc(axes, func(a, b axis) int { return int(abs(b.strides[0]) - abs(a.strides[0])) })
		axes = merged(axes)
		for i := range views { // they are no longer walked in their own order
			if e.operands[i].mode == modePacked {
				e.operands[i].mode = modeStrided
			}
		}
	}
	e.strided = 1
	return e, e.space.set(op, axes, &e.operands[0].strides, &e.operands[1].strides, &e.operands[2].strides, &e.operands[3].strides)
}

// inOrder reports whether the first operand lies in memory in the order of its axes.
func inOrder(axes []axis) bool {
	for i := 1; i < len(axes); i++ {
		if abs(axes[i].strides[0]) > abs(axes[i-1].strides[0]) {
			return false
		}
	}
	return true
}

func abs(x int64) int64 { return max(x, -x) }

// launchOver launches a kernel with a thread for each of n things.
func (c *card) launchOver(kernel string, n int64, args unsafe.Pointer, size uintptr) error {
	return c.launchBlocks(kernel, (n+blockSize-1)/blockSize, blockSize, args, size)
}

// launchBlocks launches blocks of a number of threads each.
func (c *card) launchBlocks(kernel string, blocks int64, threads int, args unsafe.Pointer, size uintptr) error {
	if blocks == 0 {
		return nil
	}
	if blocks > 1<<31-1 {
		return fmt.Errorf("%w: %s of so many elements", device.ErrUnsupported, kernel)
	}
	return c.launch(kernel, uint32(blocks), uint32(threads), 0, args, size)
}

// Map computes one element of out from the element of x at the same position.
func (c *card) Map(op string, compute device.Type, out, x device.View, params ...float64) error {
	defer keep(out, x)
	n, err := number(mapped, op, compute)
	if err != nil || out.Len() == 0 {
		return err
	}
	if op == "copy" && (x.Type == out.Type || x.Memory != nil && sameBits(x.Type, out.Type)) {
		return c.move(out, x)
	}
	e, err := elementwiseOf(op, false, out, x)
	if err != nil {
		return inSlices([]device.View{out, x}, func(v []device.View) error { return c.Map(op, compute, v[0], v[1], params...) })
	}
	e.op = n
	e.setParams(op, params)
	if done, err := c.packedElements("map", op, compute, &e, out, x); done {
		return err
	}
	return c.launchOver("map"+suffix(compute), (e.space.count+3)/4, unsafe.Pointer(&e), unsafe.Sizeof(e))
}

// sameBits reports whether converting changes no bit: bools are stored as 0 or 1.
func sameBits(from, to device.Type) bool {
	return from == device.Bool && (to == device.Uint8 || to == device.Int8) || from == device.Uint8 && to == device.Int8 || from == device.Int8 && to == device.Uint8
}

// setParams passes numbers, as floats and as the nearest integers.
func (e *elementwise) setParams(op string, params []float64) {
	for i, p := range params {
		e.p[i], e.q[i] = p, wholeNear(p)
	}
}

// wholeNear returns the integer that is the same bound as p.
func wholeNear(p float64) int64 {
	switch {
	case p >= 1<<63:
		return 1<<63 - 1
	case p < -1<<63 || p != p:
		return -1 << 63
	}
	return int64(p)
}

// Zip computes one element of out from those of x and y at the same position.
func (c *card) Zip(op string, compute device.Type, out, x, y device.View, params ...float64) error {
	defer keep(out, x, y)
	n, err := number(zipped, op, compute)
	if err != nil || out.Len() == 0 {
		return err
	}
	e, err := elementwiseOf(op, false, out, x, y)
	if err != nil {
		return inSlices([]device.View{out, x, y}, func(v []device.View) error { return c.Zip(op, compute, v[0], v[1], v[2], params...) })
	}
	e.op = n
	e.setParams(op, params)
	if done, err := c.packedElements("zip", op, compute, &e, out, x, y); done {
		return err
	}
	return c.launchOver("zip"+suffix(compute), (e.space.count+3)/4, unsafe.Pointer(&e), unsafe.Sizeof(e))
}

// Choose takes the element of x where condition is not 0, and that of y elsewhere.
func (c *card) Choose(compute device.Type, out, condition, x, y device.View) error {
	defer keep(out, condition, x, y)
	if out.Len() == 0 {
		return nil
	}
	e, err := elementwiseOf("where", false, out, condition, x, y)
	if err != nil {
		return inSlices([]device.View{out, condition, x, y}, func(v []device.View) error { return c.Choose(compute, v[0], v[1], v[2], v[3]) })
	}
	return c.launchOver("choose"+suffix(compute), (e.space.count+3)/4, unsafe.Pointer(&e), unsafe.Sizeof(e))
}
