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
	tensors   [5]uint64
	count     int64
	c         [maxNumbers]float64
	algorithm int64
}

// maxNumbers is how many numbers an update has at most.
const maxNumbers = 12

// updateDefines tells the kernel which number each update has, and where it finds what the formulas name.
func updateDefines(s *strings.Builder) {
	fmt.Fprintf(s, "#define MAX_NUMBERS %d\n", maxNumbers)
	for i, u := range device.Updates {
		fmt.Fprintf(s, "#define update_%s %d\n", u.Name, i)
		for at, name := range u.Numbers {
			fmt.Fprintf(s, "#define %s_%s c[%d]\n", u.Name, name, at)
		}
	}
}

// Update runs one step of an optimizer.
func (c *card) Update(algorithm string, tensors []device.View, numbers *device.Numbers) error {
	defer keep(tensors...)
	u, n, err := device.FindUpdate(algorithm)
	if err != nil {
		return err
	}
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
	if p.Len() == 0 {
		return nil
	}
	a := update{count: int64(p.Len()), algorithm: int64(n)}
	copy(a.c[:], u.Values(numbers))
	for i, t := range tensors {
		a.tensors[i] = origin(t)
	}
	return c.launchOver("step"+suffix(p.Type), a.count, unsafe.Pointer(&a), unsafe.Sizeof(a))
}
