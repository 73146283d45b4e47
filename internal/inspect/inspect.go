// Package inspect lets notebooks look into the values of a library without either knowing the other. A library that is
// linked into a program sets [Linked], which the stepper asks about tensors, and uses [RegisterView] to say how a cell
// shows values of the user's own types. Outside a notebook none of this is called.
package inspect

import (
	"reflect"
	"sync/atomic"
	"time"
)

// A Tensor describes a tensor at one moment.
type Tensor struct {
	Text    string // its values on one line, without those in the middle if there are many
	Memory  any    // identifies the memory that it shows: == if two share it
	Size    int    // bytes of that memory
	Dtype   string
	Shape   []int
	Strides []int    // in elements
	Offset  int      // of the first element
	Strip   []string // the elements of the memory in order; nil if there are many, or if their size is not the tensor's
	Tracked bool     // it requires a gradient
	Grad    any      // its gradient, nil if it has none
}

// An Op is an operation that was run.
type Op struct {
	Name     string
	Backward bool
	Of       string  // in Backward: the operation whose gradient is computed, "" where gradients are added
	Input    int     // in Backward: the input of that operation with respect to which it is computed
	Inputs   [][]int // shapes
	Output   []int
	Scope    string // see tensor.Scope
	FLOPs    int
	Matmul   int    // the part of FLOPs that matrix products take
	Bytes    int    // read and written
	Parts    []Part // what Bytes consists of: the inputs in order, and then the result; nil if nothing is moved
	Elapsed  time.Duration
}

// A Part is what an operation reads of one of its inputs, or writes. The bytes of all parts are those of the operation.
type Part struct {
	Kind  string
	Dtype string // of its elements; "" if there are several
	Bytes int
}

// The kinds of parts.
const (
	Read   = "read"   // an input, each of its elements once, even if they are repeated
	Over   = "over"   // an input that is written over without being read
	Number = "number" // a number in the code, which is in no memory
	Some   = "some"   // the touched part of all inputs: the rows that are picked, and their positions
	Write  = "write"  // the result
)

// A Library knows tensors.
type Library struct {
	Type reflect.Type // of a tensor

	// Describe describes a value of that type, in a text with a limited number of bytes; false if there is
	// nothing to say, as about a freed tensor.
	Describe func(v any, limit int) (Tensor, bool)

	// Stamp changes when the tensor, its elements or its gradient do. It is comparable.
	Stamp func(v any) any

	// Reach calls visit for each memory that a tensor keeps alive, perhaps several times, with the reason: "" for its
	// own elements, "gradient" for its gradient and those of its graph, otherwise the operation that saved it for
	// Backward.
	Reach func(v any, visit func(memory any, size int, why string))

	// Trace calls f for each operation from now on, on the goroutine that runs it.
	Trace func(f func(Op)) (stop func())
}

// Updated is called when an optimizer changes parameters, which takes no operations of the library; nil unless steps
// are recorded.
var Updated atomic.Pointer[func(Op)]

// Linked is the library of the program, nil if it has none. It is set before main begins, and never again.
var Linked *Library
