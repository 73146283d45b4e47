//go:build linux && cgo

package gpu

import (
	"slices"

	"github.com/lectern-go/lectern/internal/device"
)

// Matmul computes the products of the matrices in the last two axes. Operands are read
// in place wherever cuBLASLt can do that: a transpose, a broadcast batch, rows with
// gaps between them. What it can't read is copied first, and what it can't multiply
// goes to our own kernel.
func (c *card) Matmul(out, a, b device.View) error {
	if err := c.alive("matmul"); err != nil {
		return err
	}
	defer keep(out, a, b)
	if out.Len() == 0 {
		return nil
	}
	if a.Shape[len(a.Shape)-1] == 0 { // sums of no terms
		return c.Map("copy", computeType(out.Type), out, device.View{Type: out.Type, Shape: out.Shape, Strides: make([]int, len(out.Shape))})
	}
	if isFloat(out.Type) && isFloat(a.Type) && isFloat(b.Type) && c.openLt() == nil {
		if done, err := c.multiply(out, a, b); done || err != nil {
			return err
		}
	}
	return c.plainMatmul(out, a, b)
}

// multiply computes products with cuBLASLt. done is false if it has no way to do that.
func (c *card) multiply(out, a, b device.View) (done bool, err error) {
	if isFloat8(a.Type) && isFloat8(b.Type) && out.Type != device.Float64 {
		if done, err := c.multiplyFloat8(out, a, b); done || err != nil {
			return done, err
		}
	}
	operands, sums := productTypes(out.Type, a.Type, b.Type)
	return c.into(out, sums, func(sums device.View) (done bool, err error) {
		for _, v := range []*device.View{&a, &b} {
			if v.Type == operands && v.Memory != nil {
				if _, _, ok := matrixOf(*v).reading(); ok {
					continue
				}
			}
			copied, err := c.contiguous(*v, operands)
			if err != nil {
				return false, err
			}
			defer copied.Memory.Free()
			*v = copied
		}
		return c.run(sums, a, b)
	})
}

// productTypes returns the type in which operands are multiplied, which holds them
// exactly, and the type of the sums that cuBLASLt then returns.
func productTypes(out, a, b device.Type) (operands, sums device.Type) {
	switch {
	case out == device.Float64 || a == device.Float64 || b == device.Float64:
		return device.Float64, device.Float64
	case isFloat8(a) && isFloat8(b):
		operands = device.Float16
	case a == b:
		operands = a
	default:
		return device.Float32, device.Float32
	}
	if out == operands {
		return operands, out
	}
	return operands, device.Float32
}

// into lets f fill sums, and rounds them to the type of out if that is another.
func (c *card) into(out device.View, sums device.Type, f func(sums device.View) (bool, error)) (done bool, err error) {
	if out.Type == sums {
		return f(out)
	}
	wide, err := c.scratch(out.Shape, sums)
	if err != nil {
		return false, err
	}
	defer wide.Memory.Free()
	if done, err = f(wide); !done || err != nil {
		return done, err
	}
	return true, c.Map("copy", sums, out, wide)
}

// multiplyFloat8 multiplies float8 matrices as they are, if the device can do that and
// sizes are multiples of 16. In both operands the axis to sum over must come last in
// memory; others are copied, one byte per element.
//
// Our own kernel rounds the sums to float8, like all other numbers: cuBLASLt would
// replace those out of range by the largest number.
func (c *card) multiplyFloat8(out, a, b device.View) (done bool, err error) {
	last := len(a.Shape) - 1
	p, k, n := c.properties, a.Shape[last], b.Shape[last]
	if p.Major*10+p.Minor < 89 || a.Type == device.Float8E5M2 && b.Type == device.Float8E5M2 || k%16 != 0 || n%16 != 0 {
		return false, nil
	}
	sums := out.Type
	if isFloat8(sums) {
		sums = device.Float32
	}
	return c.into(out, sums, func(sums device.View) (bool, error) {
		rows, columns, giveBack, err := c.inRows(a, turn(b))
		if err != nil {
			return false, err
		}
		defer giveBack()
		return c.run(sums, rows, turn(columns))
	})
}

func isFloat(t device.Type) bool { return t <= device.Float8E5M2 }

func isFloat8(t device.Type) bool { return t == device.Float8E4M3 || t == device.Float8E5M2 }

// inRows returns two float8 operands as matrices whose rows are contiguous and begin
// at multiples of 16 bytes, and a function that frees the copies that were needed.
func (c *card) inRows(a, b device.View) (x, y device.View, giveBack func(), err error) {
	var copies []device.Memory
	giveBack = func() {
		for _, m := range copies {
			m.Free()
		}
	}
	views := []device.View{a, b}
	for i, v := range views {
		if v.Memory != nil && liesInRows(v) {
			continue
		}
		if views[i], err = c.contiguous(v, v.Type); err != nil {
			giveBack()
			return x, y, func() {}, err
		}
		copies = append(copies, views[i].Memory)
	}
	return views[0], views[1], giveBack, nil
}

func liesInRows(v device.View) bool {
	transposed, lead, ok := matrixOf(v).reading()
	if !ok || transposed || lead%16 != 0 || v.Offset%16 != 0 {
		return false
	}
	for _, s := range v.Strides[:len(v.Strides)-1] {
		if s%16 != 0 {
			return false
		}
	}
	return true
}

// contiguous returns a copy whose matrices lie in row-major order. A broadcast batch
// is copied once.
func (c *card) contiguous(v device.View, t device.Type) (device.View, error) {
	small := v
	small.Shape = slices.Clone(v.Shape)
	for i := range len(v.Shape) - 2 {
		if v.Memory == nil || v.Strides[i] == 0 {
			small.Shape[i] = 1
		}
	}
	made, err := c.scratch(small.Shape, t)
	if err != nil {
		return made, err
	}
	if err := c.Map("copy", computeType(v.Type), made, small); err != nil {
		made.Memory.Free()
		return made, err
	}
	for i := range len(v.Shape) - 2 {
		if small.Shape[i] != v.Shape[i] {
			made.Strides[i] = 0
		}
	}
	made.Shape = v.Shape
	return made, nil
}

// scratch returns a contiguous view of new memory.
func (c *card) scratch(shape []int, t device.Type) (device.View, error) {
	v := device.View{Type: t, Shape: slices.Clone(shape), Strides: make([]int, len(shape))}
	stride := 1
	for i := len(shape) - 1; i >= 0; i-- {
		v.Strides[i] = stride
		stride *= shape[i]
	}
	b, err := c.allocate(stride*sizes[t], false)
	if err != nil {
		return v, err
	}
	v.Memory = b
	return v, nil
}

// turn exchanges the last two axes.
func turn(v device.View) device.View {
	last := len(v.Shape) - 1
	v.Shape, v.Strides = slices.Clone(v.Shape), slices.Clone(v.Strides)
	v.Shape[last-1], v.Shape[last] = v.Shape[last], v.Shape[last-1]
	v.Strides[last-1], v.Strides[last] = v.Strides[last], v.Strides[last-1]
	return v
}

// matrix is how the last two axes of a view lie in memory.
type matrix struct {
	rows, columns int
	row, column   int // strides, in elements
}

func matrixOf(v device.View) matrix {
	last := len(v.Shape) - 1
	return matrix{v.Shape[last-1], v.Shape[last], v.Strides[last-1], v.Strides[last]}
}

// reading says how a library reads m if it knows only matrices with contiguous rows,
// lead elements apart, and their transposes. The strides of axes with one element
// don't matter.
func (m matrix) reading() (transposed bool, lead int, ok bool) {
	if m.inRows() {
		return false, m.lead(), true
	}
	if t := m.turned(); t.inRows() {
		return true, t.lead(), true
	}
	return false, 0, false
}

func (m matrix) inRows() bool {
	return (m.column == 1 || m.columns == 1) && (m.row >= m.columns || m.rows == 1)
}

func (m matrix) lead() int {
	if m.rows == 1 {
		return m.columns
	}
	return m.row
}

func (m matrix) turned() matrix { return matrix{m.columns, m.rows, m.column, m.row} }

// job is a batch of products C = A·B.
type job struct {
	c, a, b matrix
	batch   []batchAxis
}

// batchAxis is how far apart, in elements, the matrices of a batch are.
type batchAxis struct{ size, c, a, b int }

// newJob merges leading axes whose matrices follow each other.
func newJob(out, a, b device.View) job {
	j := job{c: matrixOf(out), a: matrixOf(a), b: matrixOf(b)}
	for i, size := range out.Shape[:len(out.Shape)-2] {
		if size == 1 {
			continue
		}
		x := batchAxis{size, out.Strides[i], a.Strides[i], b.Strides[i]}
		if n := len(j.batch); n > 0 {
			if y := &j.batch[n-1]; y.c == size*x.c && y.a == size*x.a && y.b == size*x.b {
				*y = batchAxis{y.size * size, x.c, x.a, x.b}
				continue
			}
		}
		j.batch = append(j.batch, x)
	}
	return j
}

// turned is the same job for the transposes: Cᵀ = Bᵀ·Aᵀ.
func (j job) turned() job {
	t := job{c: j.c.turned(), a: j.b.turned(), b: j.a.turned()}
	for _, x := range j.batch {
		t.batch = append(t.batch, batchAxis{x.size, x.c, x.b, x.a})
	}
	return t
}

// fold turns a batch whose right operand is shared into one tall product, which is
// faster than many small ones.
func (j job) fold() job {
	for n := len(j.batch); n > 0; n = len(j.batch) {
		x := j.batch[n-1]
		c, a := j.c, j.a
		if a.rows == 1 {
			c.row, a.row = x.c, x.a
		}
		c.rows, a.rows = x.size*c.rows, x.size*a.rows
		if x.b != 0 || x.c != j.c.rows*c.row || x.a != j.a.rows*a.row || !c.inRows() {
			break
		}
		before, _, _ := j.a.reading()
		after, _, ok := a.reading()
		if !ok || after && !before {
			break
		}
		j.c, j.a, j.batch = c, a, j.batch[:n-1]
	}
	return j
}

// split chooses the axis of a batch that the library runs over; we loop over the
// others.
func (j job) split() (inner batchAxis, outer []batchAxis) {
	inner, chosen := batchAxis{size: 1}, -1
	for i, x := range j.batch {
		if x.size > inner.size && x.c > 0 && x.a >= 0 && x.b >= 0 {
			inner, chosen = x, i
		}
	}
	outer = slices.Clone(j.batch)
	if chosen >= 0 {
		outer = slices.Delete(outer, chosen, chosen+1)
	}
	return inner, outer
}

// places calls f with the offsets of each position along some axes, until f says stop.
func places(axes []batchAxis, f func(c, a, b int) bool) bool {
	if len(axes) == 0 {
		return f(0, 0, 0)
	}
	x := axes[0]
	for i := range x.size {
		if !places(axes[1:], func(c, a, b int) bool { return f(c+i*x.c, a+i*x.a, b+i*x.b) }) {
			return false
		}
	}
	return true
}

// computeType is the type in which elements of a type are computed.
func computeType(t device.Type) device.Type {
	switch t {
	case device.Float64:
		return device.Float64
	case device.Float32, device.Float16, device.BFloat16, device.Float8E4M3, device.Float8E5M2:
		return device.Float32
	}
	return device.Int64
}
