//go:build linux && cgo

package gpu

import (
	"fmt"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// Algorithms, and what each takes besides the parameter and its gradient: numbers
// and tensors of state.
var (
	updateNames  = []string{"sgd", "momentum", "adagrad", "lecture_adagrad", "rmsprop", "adam"}
	updateParams = []int{3, 6, 4, 4, 8, 10}
	updateStates = []int{0, 1, 1, 1, 1, 2}
)

// update is the argument of a kernel; see update.cu.
type update struct {
	tensors   [5]uint64
	count     int64
	c         [10]float64
	algorithm int32
	given     int32
}

// Update runs one step of an optimizer.
func (c *card) Update(algorithm string, tensors []device.View, params ...float64) error {
	defer keep(tensors...)
	n, err := number(updateNames, algorithm, device.Float32)
	if err != nil {
		return err
	}
	if len(params) != updateParams[n] {
		return fmt.Errorf("gpu: a step of %s takes %d numbers and was given %d", algorithm, updateParams[n], len(params))
	}
	least := 2 + updateStates[n]
	most := least
	switch algorithm {
	case "rmsprop":
		for _, more := range []bool{params[6] > 0, params[7] != 0} {
			if more {
				least, most = least+1, most+1
			}
		}
	case "adam":
		most++
	}
	if len(tensors) < least || len(tensors) > most {
		return fmt.Errorf("gpu: a step of %s with these numbers takes %d tensors and was given %d", algorithm, least, len(tensors))
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
	u := update{count: int64(p.Len()), algorithm: n, given: int32(len(tensors))}
	copy(u.c[:], params)
	for i, t := range tensors {
		u.tensors[i] = origin(t)
	}
	return c.launchOver("step"+suffix(p.Type), u.count, unsafe.Pointer(&u), unsafe.Sizeof(u))
}
