//go:build linux && cgo

package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/device"
)

// The values of these tests are small integers, so that all formats hold
// them and all sums are exact.

// smallFloats are the exponent and mantissa bits of formats.
var smallFloats = map[device.Type][2]int{
	device.Float16: {5, 10}, device.BFloat16: {8, 7}, device.Float8E4M3: {4, 3}, device.Float8E5M2: {5, 2},
}

// bitsOf returns how an integer that the type can hold lies in memory.
func bitsOf(t device.Type, x int) uint64 {
	switch t {
	case device.Float32:
		return uint64(math.Float32bits(float32(x)))
	case device.Float64:
		return math.Float64bits(float64(x))
	}
	f, ok := smallFloats[t]
	if !ok {
		return uint64(x)
	}
	if x == 0 {
		return 0
	}
	fraction, exponent := math.Frexp(math.Abs(float64(x)))
	code := uint64((exponent-1+(1<<(f[0]-1)-1))<<f[1]) | uint64((fraction*2-1)*float64(uint64(1)<<f[1]))
	if x < 0 {
		code |= 1 << (f[0] + f[1])
	}
	return code
}

// valueOf is the inverse of bitsOf, for all whole and some other numbers.
func valueOf(t device.Type, bits uint64) float64 {
	switch t {
	case device.Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case device.Float64:
		return math.Float64frombits(bits)
	case device.Int64:
		return float64(int64(bits))
	case device.Int32:
		return float64(int32(bits))
	}
	f, ok := smallFloats[t]
	if !ok {
		return float64(bits)
	}
	exponent, fraction := int(bits>>f[1]&(1<<f[0]-1)), float64(bits&(1<<f[1]-1))
	x := math.Ldexp(1+math.Ldexp(fraction, -f[1]), exponent-(1<<(f[0]-1)-1))
	if exponent == 0 {
		x = math.Ldexp(fraction, 2-1<<(f[0]-1)-f[1])
	}
	if bits>>(f[0]+f[1])&1 == 1 {
		x = -x
	}
	return x
}

// stored is a view with the numbers in its memory as the test knows them.
type stored struct {
	device.View
	all []int
}

// at returns the number at a position.
func (s stored) at(index ...int) int {
	if s.Memory == nil {
		return s.all[0]
	}
	i := s.Offset
	for axis, x := range index {
		i += x * s.Strides[axis]
	}
	return s.all[i]
}

// lying makes a view of random numbers between -3 and 3 that lies in memory in a
// way of its own. order names the axes from the outermost to the innermost in
// memory; gap is left behind each run of the innermost axis; axes in broadcast
// have stride 0.
func lying(t *testing.T, c *card, kind device.Type, shape, order []int, gap, offset int, broadcast ...int) stored {
	t.Helper()
	s := stored{View: device.View{Type: kind, Shape: slices.Clone(shape), Strides: make([]int, len(shape)), Offset: offset}}
	stride := 1
	for i := len(order) - 1; i >= 0; i-- {
		axis := order[i]
		if slices.Contains(broadcast, axis) {
			continue
		}
		s.Strides[axis] = stride
		stride *= shape[axis]
		if i == len(order)-1 {
			stride += gap
		}
	}
	s.all = make([]int, offset+max(stride, 1))
	random := rand.New(rand.NewPCG(uint64(stride), uint64(kind)))
	for i := range s.all {
		s.all[i] = random.IntN(7) - 3
	}
	s.Memory = allocated(t, c, len(s.all)*sizes[kind])
	mustNot(t, c.Upload(s.Memory, 0, encoded(kind, s.all)))
	return s
}

func encoded(kind device.Type, numbers []int) []byte {
	var data []byte
	for _, x := range numbers {
		data = append(data, binary.LittleEndian.AppendUint64(nil, bitsOf(kind, x))[:sizes[kind]]...)
	}
	return data
}

// result makes an output whose memory holds something else.
func result(t *testing.T, c *card, kind device.Type, shape ...int) device.View {
	t.Helper()
	v, err := c.scratch(shape, kind)
	mustNot(t, err)
	rubbish := make([]byte, v.Memory.Size())
	for i := range rubbish {
		rubbish[i] = 0xcd
	}
	mustNot(t, c.Upload(v.Memory, 0, rubbish))
	return v
}

// values reads a contiguous view.
func values(t *testing.T, c *card, v device.View) []float64 {
	t.Helper()
	size := sizes[v.Type]
	data := make([]byte, v.Len()*size)
	mustNot(t, c.Download(data, v.Memory, v.Offset*size))
	list := make([]float64, v.Len())
	for i := range list {
		var word [8]byte
		copy(word[:], data[i*size:(i+1)*size])
		list[i] = valueOf(v.Type, binary.LittleEndian.Uint64(word[:]))
	}
	return list
}

// product computes C = A·B with plain loops.
func productOf(a, b stored) []float64 {
	rank := len(a.Shape)
	m, k, n := a.Shape[rank-2], a.Shape[rank-1], b.Shape[rank-1]
	var list []float64
	index := make([]int, rank-2)
	for {
		for i := range m {
			for j := range n {
				sum := 0
				for x := range k {
					sum += a.at(append(slices.Clone(index), i, x)...) * b.at(append(slices.Clone(index), x, j)...)
				}
				list = append(list, float64(sum))
			}
		}
		axis := rank - 3
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < a.Shape[axis] {
				break
			}
			index[axis] = 0
		}
		if axis < 0 {
			return list
		}
	}
}

func checkProduct(t *testing.T, c *card, out device.View, a, b stored) {
	t.Helper()
	if got, want := values(t, c, out), productOf(a, b); !slices.Equal(got, want) {
		t.Errorf("%v x %v, strides %v and %v:\n got %v\nwant %v", a.Shape, b.Shape, a.Strides, b.Strides, got, want)
	}
}

// Operands that cuBLASLt can read are not copied.
func TestMatmulReadsOperandsAsTheyLie(t *testing.T) { checkLayouts(t, fakeCard(t), true) }

// checkLayouts multiplies operands that lie in memory in all ways that cuBLASLt
// knows. If always, it must also have a kernel for them.
func checkLayouts(t *testing.T, c *card, always bool) {
	mustNot(t, c.openLt())
	try := func(name string, kind device.Type, a, b stored) {
		t.Run(fmt.Sprintf("%s of type %d", name, kind), func(t *testing.T) {
			rank := len(a.Shape)
			out := result(t, c, kind, append(slices.Clone(a.Shape[:rank-1]), b.Shape[rank-1])...)
			before := c.Allocated()
			ResetMaxMemoryAllocated(0)
			done, err := c.multiply(out, a.View, b.View)
			if err != nil || always && !done {
				t.Fatal(done, err)
			}
			if MaxMemoryAllocated(0) != before {
				t.Errorf("%d bytes were allocated", MaxMemoryAllocated(0)-before)
			}
			if !done {
				t.Log("cuBLASLt has no kernel for it")
				mustNot(t, c.Matmul(out, a.View, b.View))
			}
			checkProduct(t, c, out, a, b)
		})
	}
	rows, columns := []int{0, 1}, []int{1, 0}
	for _, kind := range []device.Type{device.Float32, device.Float64, device.Float16, device.BFloat16} {
		of := func(shape, order []int, gap, offset int, broadcast ...int) stored {
			return lying(t, c, kind, shape, order, gap, offset, broadcast...)
		}
		try("plain", kind, of([]int{3, 4}, rows, 0, 0), of([]int{4, 5}, rows, 0, 0))
		try("both transposed", kind, of([]int{3, 4}, columns, 0, 0), of([]int{4, 5}, columns, 0, 0))
		try("rows with gaps and offsets", kind, of([]int{3, 4}, rows, 3, 5), of([]int{4, 5}, columns, 2, 1))
		try("one row", kind, of([]int{1, 4}, columns, 0, 0), of([]int{4, 5}, rows, 0, 0))
		try("one column", kind, of([]int{3, 4}, rows, 0, 0), of([]int{4, 1}, columns, 0, 2))
		try("outer product", kind, of([]int{3, 1}, columns, 0, 0), of([]int{1, 5}, rows, 0, 0))
		try("one number", kind, of([]int{1, 1}, rows, 0, 3), of([]int{1, 1}, rows, 0, 0))
		try("batch", kind, of([]int{2, 3, 4}, []int{0, 1, 2}, 0, 0), of([]int{2, 4, 5}, []int{0, 2, 1}, 0, 0))
		try("shared right operand", kind, of([]int{2, 3, 4}, []int{0, 1, 2}, 0, 0), of([]int{2, 4, 5}, []int{0, 1, 2}, 0, 0, 0))
		try("shared left operand", kind, of([]int{2, 3, 4}, []int{0, 1, 2}, 0, 0, 0), of([]int{2, 4, 5}, []int{0, 1, 2}, 0, 0))
		try("shared right operand of transposed ones", kind, of([]int{2, 3, 4}, []int{0, 2, 1}, 0, 0), of([]int{2, 4, 5}, []int{0, 1, 2}, 0, 0, 0))
		try("attention", kind, of([]int{2, 3, 4, 5}, []int{0, 2, 1, 3}, 0, 0), of([]int{2, 3, 5, 4}, []int{0, 3, 1, 2}, 0, 0))
		try("one broadcast batch of two", kind, of([]int{2, 3, 4, 5}, []int{0, 1, 2, 3}, 0, 0), of([]int{2, 3, 5, 2}, []int{0, 1, 2, 3}, 0, 0, 1))
		try("the other broadcast batch", kind, of([]int{2, 3, 4, 5}, []int{0, 1, 2, 3}, 0, 0), of([]int{2, 3, 5, 2}, []int{0, 1, 2, 3}, 0, 0, 0))
		try("many batches", kind, of([]int{2, 1, 3, 2, 2, 3}, []int{2, 0, 3, 1, 5, 4}, 1, 0), of([]int{2, 1, 3, 2, 3, 2}, []int{3, 2, 1, 0, 4, 5}, 0, 0, 2))
		try("rows of a batch", kind, of([]int{3, 1, 4}, []int{0, 1, 2}, 0, 0), of([]int{3, 4, 5}, []int{0, 1, 2}, 0, 0, 0))
		try("both shared", kind, of([]int{3, 2, 4}, []int{0, 1, 2}, 0, 0, 0), of([]int{3, 4, 5}, []int{0, 1, 2}, 0, 0, 0))
	}
}

// Any layouts: axes in any order, of any size, broadcast or not, with gaps.
func TestMatmulOfRandomLayouts(t *testing.T) { checkRandomLayouts(t, fakeCard(t)) }

func checkRandomLayouts(t *testing.T, c *card) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		rank := 2 + random.IntN(4)
		var batch []int
		for range rank - 2 {
			batch = append(batch, 1+random.IntN(3))
		}
		m, k, n := 1+random.IntN(4), 1+random.IntN(4), 1+random.IntN(4)
		operand := func(rows, columns int) stored {
			var broadcast []int
			for axis := range rank {
				if random.IntN(4) == 0 && (axis < rank-2 || random.IntN(4) == 0) {
					broadcast = append(broadcast, axis)
				}
			}
			return lying(t, c, device.Float32, append(slices.Clone(batch), rows, columns), random.Perm(rank), random.IntN(3), random.IntN(3), broadcast...)
		}
		a, b := operand(m, k), operand(k, n)
		out := result(t, c, device.Float32, append(slices.Clone(batch), m, n)...)
		mustNot(t, c.Matmul(out, a.View, b.View))
		checkProduct(t, c, out, a, b)
		if t.Failed() {
			return
		}
	}
}

// An output that lies transposed is computed as the transpose of a product.
func TestMatmulIntoATranspose(t *testing.T) {
	c := fakeCard(t)
	mustNot(t, c.openLt())
	a := lying(t, c, device.Float32, []int{2, 3, 4}, []int{0, 1, 2}, 0, 0)
	b := lying(t, c, device.Float32, []int{2, 4, 5}, []int{0, 2, 1}, 0, 0)
	out := result(t, c, device.Float32, 2, 5, 3)
	done, err := c.multiply(turn(out), a.View, b.View)
	if err != nil || !done {
		t.Fatal(done, err)
	}
	got, want := values(t, c, out), productOf(a, b)
	for batch := range 2 {
		for i := range 3 {
			for j := range 5 {
				if got[(batch*5+j)*3+i] != want[(batch*3+i)*5+j] {
					t.Fatalf("[%d %d %d] is %v, want %v", batch, i, j, got[(batch*5+j)*3+i], want[(batch*3+i)*5+j])
				}
			}
		}
	}
}

// How many products the library is asked for, and over how many it loops itself.
func TestJobs(t *testing.T) {
	view := func(shape, strides []int) device.View { return device.View{Shape: shape, Strides: strides} }
	for _, row := range []struct {
		name      string
		out, a, b device.View
		rows      int // of C, after folding
		inner     int
		outer     []int
	}{
		{"matrices", view([]int{3, 5}, []int{5, 1}), view([]int{3, 4}, []int{4, 1}), view([]int{4, 5}, []int{5, 1}), 3, 1, nil},
		{"batch", view([]int{7, 3, 5}, []int{15, 5, 1}), view([]int{7, 3, 4}, []int{12, 4, 1}), view([]int{7, 4, 5}, []int{20, 5, 1}), 3, 7, nil},
		{"two axes that follow each other", view([]int{2, 7, 3, 5}, []int{105, 15, 5, 1}), view([]int{2, 7, 3, 4}, []int{84, 12, 4, 1}),
			view([]int{2, 7, 4, 5}, []int{140, 20, 5, 1}), 3, 14, nil},
		{"a shared weight", view([]int{2, 7, 3, 5}, []int{105, 15, 5, 1}), view([]int{2, 7, 3, 4}, []int{84, 12, 4, 1}),
			view([]int{2, 7, 4, 5}, []int{0, 0, 5, 1}), 42, 1, nil},
		{"a weight shared by the inner axis", view([]int{2, 7, 3, 5}, []int{105, 15, 5, 1}), view([]int{2, 7, 3, 4}, []int{84, 12, 4, 1}),
			view([]int{2, 7, 4, 5}, []int{20, 0, 5, 1}), 21, 2, nil},
		{"a weight shared by the outer axis", view([]int{2, 7, 3, 5}, []int{105, 15, 5, 1}), view([]int{2, 7, 3, 4}, []int{84, 12, 4, 1}),
			view([]int{2, 7, 4, 5}, []int{0, 20, 5, 1}), 3, 7, []int{2}},
		{"heads", view([]int{2, 7, 3, 5}, []int{105, 15, 5, 1}), view([]int{2, 7, 3, 4}, []int{84, 4, 28, 1}),
			view([]int{2, 7, 4, 5}, []int{140, 4, 1, 28}), 3, 7, []int{2}},
	} {
		j := newJob(row.out, row.a, row.b).fold()
		inner, outer := j.split()
		var sizes []int
		for _, x := range outer {
			sizes = append(sizes, x.size)
		}
		if j.c.rows != row.rows || inner.size != row.inner || !slices.Equal(sizes, row.outer) {
			t.Errorf("%s: %d rows, %d at once, loops over %v; want %d, %d, %v", row.name, j.c.rows, inner.size, sizes, row.rows, row.inner, row.outer)
		}
	}
}

// Plans are made once for each kind of product and do not pile up.
func TestPlansAreKept(t *testing.T) {
	c := fakeCard(t)
	mustNot(t, c.openLt())
	plain := []int{0, 1}
	for n := 1; n <= 3; n++ {
		a, b := lying(t, c, device.Float32, []int{n, 4}, plain, 0, 0), lying(t, c, device.Float32, []int{4, 5}, plain, 0, 0)
		out := result(t, c, device.Float32, n, 5)
		for range 3 {
			done, err := c.multiply(out, a.View, b.View)
			if !done || err != nil {
				t.Fatal(done, err)
			}
		}
		if len(c.products.plans) != n {
			t.Errorf("%d plans for %d kinds", len(c.products.plans), n)
		}
	}
	a, b := lying(t, c, device.Float32, []int{1, maxPlans + 10}, plain, 0, 0), lying(t, c, device.Float32, []int{maxPlans + 10, 1}, plain, 0, 0)
	out := result(t, c, device.Float32, 1, 1)
	for k := 1; k <= maxPlans+10; k++ {
		left, right := a.View, b.View
		left.Shape, right.Shape = []int{1, k}, []int{k, 1}
		if done, err := c.multiply(out, left, right); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	if n := len(c.products.plans); n > maxPlans || n == 0 {
		t.Errorf("%d plans, want at most %d", n, maxPlans)
	}
}

func TestTF32(t *testing.T) {
	defer AllowTF32(TF32Allowed())
	for capability, want := range map[string]int{"75": 68, "80": 77, "90": 77} {
		c := fakeCard(t, "FAKECUDA_CAPABILITY="+capability)
		mustNot(t, c.openLt())
		a, b := lying(t, c, device.Float32, []int{1, 1}, []int{0, 1}, 0, 0), lying(t, c, device.Float32, []int{1, 1}, []int{0, 1}, 0, 0)
		out := result(t, c, device.Float32, 1, 1)
		for _, allowed := range []bool{false, true} {
			AllowTF32(allowed)
			if done, err := c.multiply(out, a.View, b.View); !done || err != nil {
				t.Fatal(done, err)
			}
			if c.TF32() != (allowed && want == 77) {
				t.Errorf("capability %s, allowed %v: TF32 is %v", capability, allowed, c.TF32())
			}
		}
		var computed []int
		for p := range c.products.plans {
			computed = append(computed, int(p.compute))
		}
		slices.Sort(computed)
		if !slices.Equal(computed, slices.Compact([]int{68, want})) {
			t.Errorf("capability %s: computed in %v, want 68 and %d", capability, computed, want)
		}
	}
}

func TestAutotune(t *testing.T) {
	c := fakeCard(t, "LECTERN_AUTOTUNE=1")
	mustNot(t, c.openLt())
	c.properties.L2Cache = 1 << 20 // the fake one is slow to flush
	a, b := lying(t, c, device.Float32, []int{2, 3, 4}, []int{0, 1, 2}, 0, 0), lying(t, c, device.Float32, []int{2, 4, 5}, []int{0, 2, 1}, 0, 0)
	out := result(t, c, device.Float32, 2, 3, 5)
	before := c.Allocated()
	done, err := c.multiply(out, a.View, b.View)
	if !done || err != nil {
		t.Fatal(done, err)
	}
	checkProduct(t, c, out, a, b)
	if c.Allocated() != before {
		t.Error("memory of the measurement is still held")
	}
}

// A failure of cuBLASLt that is none of the driver's passes.
func TestFailureOfCuBLASLt(t *testing.T) {
	c := fakeCard(t)
	mustNot(t, c.openLt())
	a, b := lying(t, c, device.Float32, []int{2, 2}, []int{0, 1}, 0, 0), lying(t, c, device.Float32, []int{2, 2}, []int{0, 1}, 0, 0)
	out := result(t, c, device.Float32, 2, 2)
	t.Setenv("FAKECUDA_FAULT", "cublasLtMatmul:1:13")
	_, err := c.multiply(out, a.View, b.View)
	wantError(t, err, "gpu: matmul on cuda:0: CUBLAS_STATUS_EXECUTION_FAILED (cuBLASLt 13)")
	if done, err := c.multiply(out, a.View, b.View); !done || err != nil {
		t.Fatal(done, err)
	}
	checkProduct(t, c, out, a, b)
}

// Operands that cuBLASLt can't read are copied first: numbers that stand
// everywhere, rows that are read backwards or with steps, rows that are one row.
func TestMatmulOfOperandsThatAreCopied(t *testing.T) { checkCopiedOperands(t, fakeCard(t)) }

func checkCopiedOperands(t *testing.T, c *card) {
	plain := lying(t, c, device.Float32, []int{2, 3, 4}, []int{0, 1, 2}, 0, 0)
	right := lying(t, c, device.Float32, []int{2, 4, 5}, []int{0, 1, 2}, 0, 0)
	everySecond := lying(t, c, device.Float32, []int{2, 3, 8}, []int{0, 1, 2}, 0, 0)
	everySecond.Shape, everySecond.Strides = []int{2, 3, 4}, []int{24, 8, 2}
	backwards := lying(t, c, device.Float32, []int{2, 3, 4}, []int{0, 1, 2}, 0, 0)
	backwards.Strides, backwards.Offset = []int{12, -4, -1}, 11
	oneRow := lying(t, c, device.Float32, []int{2, 3, 4}, []int{0, 1, 2}, 0, 0)
	oneRow.Strides = []int{12, 0, 1}
	sharedAndBackwards := lying(t, c, device.Float32, []int{2, 4, 5}, []int{0, 1, 2}, 0, 0)
	sharedAndBackwards.Strides, sharedAndBackwards.Offset = []int{0, 5, -1}, 4
	everywhere := stored{device.View{Type: device.Float32, Value: bitsOf(device.Float32, 3), Shape: []int{2, 4, 5}, Strides: []int{0, 0, 0}}, []int{3}}
	for name, pair := range map[string][2]stored{
		"every second": {everySecond, right}, "backwards": {backwards, right}, "one row": {oneRow, right},
		"a number": {plain, everywhere}, "shared and backwards": {plain, sharedAndBackwards}, "both": {backwards, everywhere},
	} {
		t.Run(name, func(t *testing.T) {
			out := result(t, c, device.Float32, 2, 3, 5)
			before := c.Allocated()
			mustNot(t, c.Matmul(out, pair[0].View, pair[1].View))
			checkProduct(t, c, out, pair[0], pair[1])
			if c.Allocated() != before {
				t.Error("a copy is still held")
			}
		})
	}
}

// Products of float8 are computed natively where cuBLASLt can and in float16
// elsewhere; both are exact here.
func TestMatmulOfFloat8(t *testing.T) {
	for _, capability := range []string{"86", "89", "90", "100"} {
		t.Run(capability, func(t *testing.T) { checkFloat8(t, fakeCard(t, "FAKECUDA_CAPABILITY="+capability)) })
	}
}

// checkFloat8 looks into the plans for the type that was multiplied in.
func checkFloat8(t *testing.T, c *card) {
	const e4m3, e5m2 = device.Float8E4M3, device.Float8E5M2
	rows, columns := []int{0, 1, 2}, []int{0, 2, 1}
	for _, row := range []struct {
		name           string
		a, b, out      device.Type
		m, k, n        int
		orderA, orderB []int
		native, copies bool
		offsetA, gapA  int
	}{
		{"as PyTorch wants it", e4m3, e4m3, device.BFloat16, 3, 32, 16, rows, columns, true, false, 0, 0},
		{"right operand in rows", e4m3, e4m3, device.Float32, 3, 32, 16, rows, rows, true, true, 0, 0},
		{"left operand transposed", e4m3, e5m2, device.Float32, 32, 32, 16, columns, columns, true, true, 0, 0},
		{"odd start", e4m3, e4m3, device.Float32, 3, 32, 16, rows, columns, true, true, 1, 0},
		{"odd rows", e4m3, e4m3, device.Float32, 3, 32, 16, rows, columns, true, true, 0, 4},
		{"rounded to float8", e5m2, e4m3, e5m2, 16, 16, 32, rows, columns, true, true, 0, 0},
		{"both of two mantissa bits", e5m2, e5m2, device.Float32, 16, 16, 16, rows, columns, false, true, 0, 0},
		{"odd inner size", e4m3, e4m3, device.BFloat16, 16, 17, 16, rows, columns, false, true, 0, 0},
		{"few columns", e4m3, e4m3, e4m3, 16, 16, 5, rows, columns, false, true, 0, 0},
		{"half result", e4m3, e4m3, device.Float16, 16, 16, 16, rows, columns, true, false, 0, 0},
		{"wide result", e4m3, e4m3, device.Float64, 16, 16, 16, rows, columns, false, true, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			clear(c.products.plans)
			a := lying(t, c, row.a, []int{2, row.m, row.k}, row.orderA, row.gapA, row.offsetA)
			b := lying(t, c, row.b, []int{2, row.k, row.n}, row.orderB, 0, 0)
			if isFloat8(row.out) { // keep the sums to what the format holds
				for _, s := range []stored{a, b} {
					for i := range s.all {
						s.all[i] = i % 8 / 7
					}
					mustNot(t, c.Upload(s.Memory, 0, encoded(s.Type, s.all)))
				}
			}
			out := result(t, c, row.out, 2, row.m, row.n)
			before := c.Allocated()
			ResetMaxMemoryAllocated(0)
			mustNot(t, c.Matmul(out, a.View, b.View))
			checkProduct(t, c, out, a, b)
			canDo := c.properties.Major*10+c.properties.Minor >= 89
			if copied := MaxMemoryAllocated(0) > before; copied != (row.copies || !canDo) {
				t.Errorf("copied is %v", copied)
			}
			native := false
			for p, plan := range c.products.plans {
				native = native || plan != nil && p.type_a == ltTypes[row.b] && p.type_b == ltTypes[row.a]
			}
			if native != (row.native && canDo) {
				t.Errorf("native is %v", native)
			}
		})
	}
}

// Operands and results of any floating-point types go together.
func TestMatmulOfMixedTypes(t *testing.T) { checkMixedTypes(t, fakeCard(t)) }

func checkMixedTypes(t *testing.T, c *card) {
	types := []device.Type{device.Float32, device.Float64, device.Float16, device.BFloat16, device.Float8E4M3, device.Float8E5M2}
	for _, x := range types {
		for _, y := range types {
			a := lying(t, c, x, []int{3, 2}, []int{0, 1}, 0, 0)
			b := lying(t, c, y, []int{2, 4}, []int{1, 0}, 0, 0)
			for i := range a.all {
				a.all[i] = []int{1, 0, -1, 2}[i%4] // sums that two bits of mantissa hold
			}
			for i := range b.all {
				b.all[i] = []int{1, 2, 0, 2, 1}[i%5]
			}
			mustNot(t, c.Upload(a.Memory, 0, encoded(x, a.all)))
			mustNot(t, c.Upload(b.Memory, 0, encoded(y, b.all)))
			for _, z := range types {
				out := result(t, c, z, 3, 4)
				mustNot(t, c.Matmul(out, a.View, b.View))
				checkProduct(t, c, out, a, b)
			}
		}
	}
}

func TestMatmulWithoutCuBLASLt(t *testing.T) {
	c := fakeCard(t, "LECTERN_CUBLASLT_LIB=/nowhere/libcublasLt.so.12")
	for _, kind := range []device.Type{device.Float32, device.BFloat16, device.Float8E4M3, device.Int32} {
		a := lying(t, c, kind, []int{2, 3, 4}, []int{0, 2, 1}, 0, 0)
		b := lying(t, c, kind, []int{2, 4, 5}, []int{0, 1, 2}, 0, 0, 0)
		for _, s := range []stored{a, b} { // sums that all types hold
			for i := range s.all {
				s.all[i] = i % 3
			}
			mustNot(t, c.Upload(s.Memory, 0, encoded(kind, s.all)))
		}
		out := result(t, c, kind, 2, 3, 5)
		mustNot(t, c.Matmul(out, a.View, b.View))
		checkProduct(t, c, out, a, b)
	}
	wantError(t, c.openLt(), "cuBLASLt", "/nowhere/libcublasLt.so.12", "pip install nvidia-cublas-cu12", "LECTERN_CUBLASLT_LIB")
}

// A cuBLASLt that is too new for the driver opens but doesn't start.
func TestMatmulWithACuBLASLtThatDoesNotStart(t *testing.T) {
	c := fakeCard(t, "FAKECUDA_FAULT=cublasLtCreate:1:1")
	wantError(t, c.openLt(), "cuBLASLt was not found", "CUBLAS_STATUS_NOT_INITIALIZED")
	a, b := lying(t, c, device.Float32, []int{2, 2}, []int{0, 1}, 0, 0), lying(t, c, device.Float32, []int{2, 2}, []int{0, 1}, 0, 0)
	out := result(t, c, device.Float32, 2, 2)
	mustNot(t, c.Matmul(out, a.View, b.View))
	checkProduct(t, c, out, a, b)
}

func TestMatmulOfNothing(t *testing.T) {
	c := fakeCard(t)
	a, b := device.View{Type: device.Float32, Shape: []int{3, 0}, Strides: []int{0, 1}}, device.View{Type: device.Float32, Shape: []int{0, 4}, Strides: []int{4, 1}}
	out := result(t, c, device.Float32, 3, 4)
	mustNot(t, c.Matmul(out, a, b))
	if got := values(t, c, out); !slices.Equal(got, make([]float64, 12)) {
		t.Errorf("sums of nothing are %v", got)
	}
	mustNot(t, c.Matmul(result(t, c, device.Float32, 0, 4), device.View{Type: device.Float32, Shape: []int{0, 5}, Strides: []int{5, 1}},
		device.View{Type: device.Float32, Shape: []int{5, 4}, Strides: []int{4, 1}}))
}
