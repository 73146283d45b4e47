//go:build linux && cgo

package gpu

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
)

// update is the argument of a kernel; see update.cu.
type update struct {
	tensors            [5][maxUpdated]uint64
	count              [maxUpdated]uint64
	begin              [maxUpdated]uint32
	c                  [maxNumbers]float64
	updated, algorithm int32
}

// maxUpdated is how many parameters one launch takes, so that its argument has less than 4096 bytes, and
// updatedByBlock how many elements a block has.
const (
	maxUpdated     = 76
	updatedByBlock = 4096
)

// maxNumbers is the most numbers that an update has.
const maxNumbers = 12

// updateDefines tells the kernel which number each update has, and where it finds the names in the formulas.
func updateDefines(s *strings.Builder) {
	fmt.Fprintf(s, "#define MAX_NUMBERS %d\n#define MAX_UPDATED %d\n#define UPDATED_BY_BLOCK %d\n", maxNumbers, maxUpdated, updatedByBlock)
	for i, u := range device.Updates {
		fmt.Fprintf(s, "#define update_%s %d\n", u.Name, i)
		for at, name := range u.Numbers {
			fmt.Fprintf(s, "#define %s_%s c[%d]\n", u.Name, name, at)
		}
	}
}

// UpdateMany runs one step of an optimizer for several parameters.
func (c *card) UpdateMany(algorithm string, parameters [][]device.View, numbers *device.Numbers) error {
	u, n, err := device.FindUpdate(algorithm)
	if err != nil {
		return err
	}
	var waiting updates
	for _, tensors := range parameters {
		defer keep(tensors...)
		if want := u.Tensors(numbers); len(tensors) != want {
			return fmt.Errorf("gpu: a step of %s with these numbers takes %s and was given %d", algorithm, humanize.Count(want, "tensor"), len(tensors))
		}
		p := tensors[0]
		for i, t := range tensors {
			if t.Len() > 0 && !t.IsContiguous() || t.Type != p.Type || t.Len() != p.Len() {
				return fmt.Errorf("gpu: a step of %s: tensor %d is not contiguous, or not of the type and length of the parameter", algorithm, i)
			}
		}
		if p.Type != device.Float32 && p.Type != device.Float64 {
			return unsupported("a step of "+algorithm, p.Type)
		}
	}
	waiting.a.algorithm = int32(n)
	copy(waiting.a.c[:], u.Values(numbers))
	for _, tensors := range parameters {
		if tensors[0].Len() == 0 {
			continue
		}
		if waiting.a.updated == maxUpdated || waiting.a.updated > 0 && tensors[0].Type != waiting.typ {
			if err := waiting.launch(c); err != nil {
				return err
			}
		}
		waiting.add(tensors)
	}
	return waiting.launch(c)
}

// updates are parameters of one type that wait for a launch.
type updates struct {
	a      update
	typ    device.Type
	blocks int64
}

func (w *updates) add(tensors []device.View) {
	at, n := w.a.updated, tensors[0].Len()
	for i, t := range tensors {
		w.a.tensors[i][at] = origin(t)
	}
	w.typ, w.a.count[at], w.a.begin[at] = tensors[0].Type, uint64(n), uint32(w.blocks)
	w.blocks += int64((n + updatedByBlock - 1) / updatedByBlock)
	w.a.updated++
}

// launch runs them, and begins a new list.
func (w *updates) launch(c *card) error {
	err := c.launchBlocks("step"+suffix(w.typ), w.blocks, blockSize, unsafe.Pointer(&w.a), unsafe.Sizeof(w.a))
	w.a.updated, w.blocks = 0, 0
	return err
}
