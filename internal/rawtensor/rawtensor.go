// Package rawtensor lets other packages of this project work on tensors without their methods: read memory without
// owning it, and write to it directly. A careless caller sees the elements of another tensor, or gets a wrong
// gradient, so it is not for users.
//
// It knows nothing of tensors, or it could not be below them: package tensor registers the functions when it is
// initialized.
package rawtensor

import "github.com/lectern-go/lectern/internal/device"

// Access is what can be done with tensors of type T besides their methods.
type Access[T any] struct {
	// Grad is the gradient of t, or the zero T. The caller must let go of it before it is removed: its memory may then go
	// to another tensor.
	Grad func(t T) T

	// Float32s and Float64s are the elements of t, which must be contiguous. The caller must let go of the slice before
	// t is freed.
	Float32s func(t T) []float32
	Float64s func(t T) []float64

	// Wrote notes that such a slice was written to, so that a gradient that saved the old elements notices.
	Wrote func(t T)

	// UpdateMany runs one step of an optimizer for several parameters, on the device of the first: each has a parameter,
	// its gradient and its state. It notes the writes.
	UpdateMany func(algorithm string, parameters [][]T, numbers *device.Numbers)
}

var registered any

// Register sets what [Of] returns.
func Register[T any](a *Access[T]) { registered = a }

// Of returns the access to tensors of type T, once their package has been initialized. It panics if there is none.
func Of[T any]() *Access[T] { return registered.(*Access[T]) }

// Elements is Float32s or Float64s.
func Elements[E float32 | float64, T any](a *Access[T], t T) []E {
	var none E
	if _, single := any(none).(float32); single {
		return any(a.Float32s(t)).([]E)
	}
	return any(a.Float64s(t)).([]E)
}
