//go:build linux && cgo

package gpu

import (
	"cmp"
	"slices"
	"strconv"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// words, transposed, gathered and scattered are arguments of kernels; see move.cu.
type words struct {
	to, from uint64
	count    int64
}

type transposed struct {
	to, from               uint64
	rows, columns          int64
	toRow, fromColumn      int64
	across, down           int64
	batches                space
	toStrides, fromStrides [maxAxes]int64
}

type gathered struct {
	e      elementwise
	stride int64
}

type scattered struct {
	sum, x                  uint64
	places, starts, sources uint64
	count, run              int64
}

// bySize names the kernel for elements of a size.
func bySize(kernel string, t device.Type) string { return kernel + "_" + strconv.Itoa(sizes[t]) }

// move copies elements bit by bit.
func (c *card) move(out, x device.View) error {
	if out.IsContiguous() && x.IsContiguous() {
		bytes := uint64(out.Len() * sizes[out.Type])
		w := words{origin(out), origin(x), int64(bytes / 16)}
		if w.to%16 == 0 && w.from%16 == 0 && bytes%16 == 0 {
			return c.launchOver("move_words", w.count, unsafe.Pointer(&w), unsafe.Sizeof(w))
		}
	}
	if done, err := c.transpose(out, x); done {
		return err
	}
	e, err := elementwiseOf("copy", false, out, x)
	if err != nil {
		return inSlices([]device.View{out, x}, func(v []device.View) error { return c.move(v[0], v[1]) })
	}
	return c.launchOver("move", (e.space.count+3)/4, unsafe.Pointer(&e), unsafe.Sizeof(e))
}

// transpose copies large matrices whose columns are rows of the result; it leaves
// everything else to others.
func (c *card) transpose(out, x device.View) (done bool, err error) {
	if x.Memory == nil {
		return false, nil
	}
	axes := axesOf(out.Shape, out, x)
	last := len(axes) - 1 // of the result's memory
	if last < 1 || axes[last].strides[0] != 1 {
		return false, nil
	}
	column := -1 // the axis along which x lies in memory
	for i, a := range axes[:last] {
		if a.strides[1] == 1 {
			column = i
		}
	}
	const least = 16 // below this, squares are mostly empty
	if column < 0 || axes[last].size < least || axes[column].size < least {
		return false, nil
	}
	t := transposed{
		to: origin(out), from: origin(x),
		rows: axes[column].size, columns: axes[last].size,
		toRow: axes[column].strides[0], fromColumn: axes[last].strides[1],
	}
	t.across, t.down = (t.columns+31)/32, (t.rows+31)/32
	rest := append(append([]axis{}, axes[:column]...), axes[column+1:last]...)
	if t.batches.set("copy", rest, &t.toStrides, &t.fromStrides) != nil {
		return false, nil
	}
	return true, c.launchBlocks(bySize("transpose", out.Type), t.across*t.down*t.batches.count, blockSize, unsafe.Pointer(&t), unsafe.Sizeof(t))
}

// Gather takes, for each position of out, the element of x at the same position,
// except along one axis, where index, of Int64, gives the position.
func (c *card) Gather(out, x device.View, axis int, index device.View) error {
	defer keep(out, x, index)
	if out.Len() == 0 {
		return nil
	}
	if x.Type != out.Type {
		return unsupported("gather into another type", x.Type)
	}
	if index.Type != device.Int64 {
		return unsupported("gather by positions", index.Type)
	}
	var g gathered
	if x.Memory != nil {
		g.stride = int64(x.Strides[axis])
		x.Strides = append([]int{}, x.Strides...)
		x.Strides[axis] = 0
	}
	x.Shape = out.Shape
	var err error
	if g.e, err = elementwiseOf("gather", false, out, x, index); err != nil {
		return err
	}
	if from := &g.e.operands[1]; from.mode == modePacked {
		from.mode = modeStrided // positions along the axis may differ
	}
	return c.launchOver("gather", (g.e.space.count+3)/4, unsafe.Pointer(&g), unsafe.Sizeof(g))
}

// Scatter adds runs of elements: out[at[i]·run + j] += x[i·run + j], those that go to
// the same place in the order of i. The runs are sorted by place here, so that each
// sum belongs to one thread.
func (c *card) Scatter(out, x device.View, at []int64, run int) error {
	defer keep(out, x)
	if len(at) == 0 || run == 0 {
		return nil
	}
	lists := listsByPlace(at)
	memory, err := c.Allocate(8*len(lists.all), false)
	if err != nil {
		return err
	}
	defer memory.Free()
	if err := c.Upload(memory, 0, unsafe.Slice((*byte)(unsafe.Pointer(&lists.all[0])), 8*len(lists.all))); err != nil {
		return err
	}
	address := memory.(*block).address()
	s := scattered{sum: origin(out), x: origin(x), places: address, count: int64(lists.places), run: int64(run)}
	s.starts = s.places + 8*uint64(lists.places)
	s.sources = s.starts + 8*uint64(lists.places+1)
	if out.Type == device.Float32 && run%4 == 0 && s.sum%16 == 0 && s.x%16 == 0 {
		return c.launchOver("scatter_packs", s.count*s.run/4, unsafe.Pointer(&s), unsafe.Sizeof(s))
	}
	return c.launchOver("scatter"+suffix(out.Type), s.count*s.run, unsafe.Pointer(&s), unsafe.Sizeof(s))
}

// placeLists holds, one after the other: the distinct places; where the list of each
// begins, and the end of the last; the numbers of the runs that go to each.
type placeLists struct {
	all    []int64
	places int
}

func listsByPlace(at []int64) placeLists {
	order := make([]int64, len(at))
	sorted := true
	for i := range at {
		order[i] = int64(i)
		sorted = sorted && (i == 0 || at[i-1] <= at[i])
	}
	if !sorted {
		sortByPlace(order, at)
	}
	places := 0
	for i, n := range order {
		if i == 0 || at[n] != at[order[i-1]] {
			places++
		}
	}
	all := make([]int64, 2*places+1+len(at))
	starts := all[places:]
	k := 0
	for i, n := range order {
		if i == 0 || at[n] != at[order[i-1]] {
			all[k], starts[k] = at[n], int64(i)
			k++
		}
	}
	starts[places] = int64(len(at))
	copy(all[2*places+1:], order)
	return placeLists{all, places}
}

// sortByPlace sorts numbers of runs by their places; runs for the same place stay in
// order. Places in a small range are counted, others compared.
func sortByPlace(order, at []int64) {
	low, high := slices.Min(at), slices.Max(at)
	if span := high - low + 1; span <= int64(16*len(at)) { // such as the tokens of a batch among those of a vocabulary
		next := make([]int64, span+1)
		for _, p := range at {
			next[p-low+1]++
		}
		for i := range span {
			next[i+1] += next[i]
		}
		for i, p := range at {
			order[next[p-low]] = int64(i)
			next[p-low]++
		}
		return
	}
	slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(at[a], at[b]) })
}
