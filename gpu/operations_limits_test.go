//go:build linux && cgo

package gpu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/fakecuda"
	"github.com/lectern-go/lectern/tensor"
)

// TestWidePositions walks positions as tensors of more than 2³¹ elements are.
func TestWidePositions(t *testing.T) {
	c := fakeCard(t)
	x := lying(t, c, device.Float32, []int{3, 5, 7}, []int{2, 0, 1}, 1, 2)
	out := result(t, c, device.Int64, 3, 5, 7)
	e, err := elementwiseOf("copy", true, out, x.View)
	mustNot(t, err)
	if e.strided == 0 || e.space.wide != 0 {
		t.Fatalf("%+v", e)
	}
	e.space.wide = 1
	mustNot(t, c.launchOver("map_f32", e.space.count, unsafe.Pointer(&e), unsafe.Sizeof(e)))
	var want []float64
	for i := range 3 {
		for j := range 5 {
			for k := range 7 {
				want = append(want, float64(x.at(i, j, k)))
			}
		}
	}
	if got := values(t, c, out); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var s space
	if s.setCount(1 << 31); s.wide != 1 {
		t.Error("2³¹ positions are taken for few")
	}
}

// What a device can't do is refused with an error that says so, before anything
// is launched.
func TestWhatKernelsDoNotDo(t *testing.T) {
	c := fakeCard(t)
	x := lying(t, c, device.Float32, []int{4}, []int{0}, 0, 0).View
	n := lying(t, c, device.Int64, []int{4}, []int{0}, 0, 0).View
	shape, order := make([]int, 9), make([]int, 9)
	for i := range shape {
		shape[i], order[i] = 2, 8-i
	}
	many := lying(t, c, device.Float32, shape, order, 1, 0).View
	for name, row := range map[string]struct {
		err  error
		said string
	}{
		"map":        {c.Map("cube root", device.Float32, x, x), "cube root of float32"},
		"zip":        {c.Zip("no operation", device.Float32, x, x, x), "no operation of float32"},
		"whole sqrt": {c.Map("sqrt", device.Int64, n, n), "sqrt of int64"},
		"float not":  {c.Map("not", device.Float32, x, x), "not of float32"},
		"float and":  {c.Zip("and", device.Float64, x, x, x), "and of float64"},
		"whole div":  {c.Zip("div", device.Int64, n, n, n), "div of int64"},
		"reduce":     {c.Reduce("median", device.Float32, x, x, 1), "median of float32"},
		"whole var":  {c.Reduce("var", device.Int64, n, n, 1, 1), "var of int64"},
		"rows":       {c.Rows("sort", device.Float32, x, x), "sort of float32"},
		"soft whole": {c.Rows("softmax", device.Int64, n, n), "softmax of int64"},
		"random":     {c.Random("poisson", x, [2]uint32{}, 0, 0), "poisson of float32"},
		"whole rand": {c.Random("uniform", n, [2]uint32{}, 0, 0, 0, 1), "uniform of int64"},
		"optimizer":  {c.UpdateMany("lion", [][]device.View{[]device.View{x, x}}, &device.Numbers{}), "a step of lion"},
		"whole step": {c.UpdateMany("sgd", [][]device.View{[]device.View{n, n}}, &device.Numbers{}), "a step of sgd of int64"},
		"gather":     {c.Gather(x, n, 0, n), "gather into another type of int64"},
		"gather by":  {c.Gather(x, x, 0, x), "gather by positions of float32"},
		"nine axes":  {c.Random("uniform", many, [2]uint32{}, 0, 0, 0, 1), "9 axes to walk, and kernels walk 8; make it contiguous first"},
	} {
		if !errors.Is(row.err, device.ErrUnsupported) || !strings.Contains(fmt.Sprint(row.err), row.said) {
			t.Errorf("%s: %v, want one that says %q", name, row.err, row.said)
		}
	}
	for _, row := range map[string]struct {
		err  error
		said string
	}{
		"tensors":      {c.UpdateMany("adam", [][]device.View{[]device.View{x, x, x}}, &device.Numbers{}), "takes 4 tensors and was given 3"},
		"other tensor": {c.UpdateMany("sgd", [][]device.View{[]device.View{x, n}}, &device.Numbers{}), "tensor 1 is not contiguous, or not of the type"},
		"no such run":  {c.Reduce("sum", device.Float32, x, x, 3), "the last axes of [4] don't hold 3 elements"},
	} {
		wantError(t, row.err, row.said)
	}
}

// TestManyAxes walks more axes than a kernel can.
func TestManyAxes(t *testing.T) {
	fakeCard(t)
	x := tensor.Arange(0, 2*1024, 1).To(tensor.Float32).View(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2).Permute(10, 8, 6, 4, 2, 0, 9, 7, 5, 3, 1)
	there := x.To(GetDevice(0)) // put in order by the processor
	back := []int{5, 10, 4, 9, 3, 8, 2, 7, 1, 6, 0}
	there, x = there.Permute(back...), x.Contiguous().Permute(back...)
	same(t, "copy", there.Contiguous(), x, 0)
	same(t, "map", there.Neg(), x.Neg(), 0)
	same(t, "convert", there.To(tensor.BFloat16), x.To(tensor.BFloat16), 0)
	same(t, "zip", there.Add(there.Contiguous()), x.Add(x), 0)
	same(t, "where", tensor.Where(there.Gt(700), there, 0), tensor.Where(x.Gt(700), x, 0), 0)
}

// TestScratchThatDoesNotFit checks that an operation that needs memory besides
// its result says so when there is none, and that the device goes on.
func TestScratchThatDoesNotFit(t *testing.T) {
	c := fakeCard(t, "FAKECUDA_MEMORY=1048576")
	x, err := c.Allocate(600<<10, true)
	mustNot(t, err)
	out, err := c.Allocate(8, true)
	mustNot(t, err)
	view := func(m device.Memory, n int) device.View {
		return device.View{Memory: m, Type: device.Int8, Shape: []int{n}, Strides: []int{1}}
	}
	all := view(x, 600<<10)
	positions := view(out, 600<<10)
	positions.Type = device.Int64
	if err := c.Rows("argsort", device.Int64, positions, all); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("sorting without memory: %v", err)
	}
	sum := view(out, 1)
	sum.Type = device.Int64
	mustNot(t, c.Reduce("sum", device.Int64, sum, all, 600<<10))
	if got := values(t, c, sum); got[0] != 0 {
		t.Errorf("after that a sum of zeros is %v", got)
	}
}

// What a real device would punish by chance, or much later, the fake driver finds
// at once: tests rely on it.
func TestFakeDriverIsStrict(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(c *card) error
		said string
	}{
		"writes beside a block": {func(c *card) error {
			m, _ := c.Allocate(512, true)
			w := words{m.(*block).address() + 512, m.(*block).address(), 1}
			c.launch("move_words", 1, 1, 0, unsafe.Pointer(&w), unsafe.Sizeof(w))
			m.Free()
			return c.Synchronize()
		}, "fakecuda: memory beside a block of 512 bytes was written to, 0 bytes away"},
		"waits that never end": {func(c *card) error {
			kernelSource = `extern "C" __global__ void parted(int) { if (threadIdx.x < 16) __syncthreads(); else __syncwarp(); }`
			var none int32
			if err := c.launch("parted", 1, 32, 0, unsafe.Pointer(&none), 4); err != nil {
				return err
			}
			return c.Synchronize()
		}, "fakecuda: threads of parted wait for others that never come"},
		"memory that was freed": {func(c *card) error {
			m, _ := c.Allocate(32<<20, false) // too large to be set aside
			at := m.(*block).at
			m.Free()
			c.drain()
			return c.Download(make([]byte, 8), &block{held: &held{card: c, at: at, size: 8}}, 0)
		}, "CUDA_ERROR_INVALID_VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("GPU_TEST_CHILD") != "" {
				useFake(t)
				c, err := open(0)
				mustNot(t, err)
				t.Fatal(row.do(c))
			}
			child := exec.Command(os.Args[0], "-test.run=^TestFakeDriverIsStrict$/^"+strings.ReplaceAll(name, " ", "_")+"$")
			child.Env = append(os.Environ(), "GPU_TEST_CHILD=1", "FAKECUDA_CACHE="+filepath.Dir(fakecuda.Build(t)))
			if out, err := child.CombinedOutput(); err == nil || !strings.Contains(string(out), row.said) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
