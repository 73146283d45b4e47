package tensor

import "sync/atomic"

// Event describes one operation that was run; see [Trace].
type Event struct {
	Op     string  // its name, such as "matmul"
	Inputs [][]int // the shapes of its inputs
	Output []int   // the shape of its result
	Dtype  Dtype   // of the result
	FLOPs  int     // floating-point operations, counted from the shapes
	Bytes  int     // of the inputs and the result together
}

// observer is told of every operation; nil while nobody listens.
var observer atomic.Pointer[func(Event)]

// Trace calls f for every operation from now on, on the goroutine that runs
// it, until stop is called. There is one observer at a time; Trace panics if
// another one is active. Without one, an operation pays for a single atomic
// load.
func Trace(f func(Event)) (stop func()) {
	if !observer.CompareAndSwap(nil, &f) {
		fail(ErrValue, "trace", "", "another trace is active", "stop it first")
	}
	return func() { observer.CompareAndSwap(&f, nil) }
}

func emit(c *call, out *Tensor) {
	f := observer.Load()
	if f == nil {
		return
	}
	e := Event{Op: c.op.name, Output: out.Shape(), Dtype: out.dtype, Bytes: out.Bytes()}
	for _, x := range c.in {
		e.Inputs = append(e.Inputs, x.Shape())
		e.Bytes += x.Bytes()
	}
	if c.op.flops != nil {
		e.FLOPs = c.op.flops(c, out)
	}
	(*f)(e)
}
