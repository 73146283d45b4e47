// Package facts lets the stepper of notebooks ask a library about its values, without either knowing the other: the
// library sets Of when it is linked into a program, and the stepper calls it if it is there.
package facts

import (
	"reflect"
	"sync/atomic"
	"time"
)

// A Tensor is what there is to say about one at a moment.
type Tensor struct {
	Text    string // its values on one line, those in the middle left out if they are many
	Memory  any    // identifies the memory that it shows: == if two share it
	Size    int    // bytes of that memory
	Dtype   string
	Shape   []int
	Strides []int    // in elements
	Offset  int      // of the first element
	Strip   []string // the elements of the memory in order; nil if they are many, or of another size than the tensor's
	Tracked bool     // it requires a gradient
	Grad    any      // its gradient, nil if it has none
}

// An Op is an operation that was run.
type Op struct {
	Name     string
	Backward bool
	Of       string  // in Backward: the operation whose gradient is computed, "" where gradients are added
	Input    int     // in Backward: the input of that operation with respect to which
	Inputs   [][]int // shapes
	Output   []int
	FLOPs    int
	Bytes    int // read and written
	Elapsed  time.Duration
}

// A Library knows tensors.
type Library struct {
	Type reflect.Type // of a tensor

	// Describe tells about a value of that type, in a text of so many bytes at most; false if there is nothing to
	// tell, as of a tensor that was freed.
	Describe func(v any, limit int) (Tensor, bool)

	// Stamp changes when the tensor, its elements or its gradient do. It is comparable.
	Stamp func(v any) any

	// Reach calls visit for each memory that a tensor keeps alive, its gradient's and its graph's among them, perhaps
	// several times.
	Reach func(v any, visit func(memory any, size int))

	// Trace calls f for each operation from now on, on the goroutine that runs it.
	Trace func(f func(Op)) (stop func())
}

// Updated is told how optimizers change parameters, which takes no operations of the library; nil while nobody asks.
var Updated atomic.Pointer[func(Op)]

// Of is the library of the program, nil if it has none. It is set before main begins, and never again.
var Of *Library
