// Package inside is the door that package tensor has for the other packages of this project: memory that is looked at
// without being handed out, and writes that go past the methods of a tensor. Who used it carelessly would see the
// elements of another tensor, or get a wrong gradient, so it is not for everybody.
//
// It knows nothing of tensors, or it could not lie below them: tensor sets the functions when it is initialized.
package inside

import "github.com/lectern-go/lectern/internal/device"

// A Door is what can be done with tensors of type T besides what their methods do.
type Door[T any] struct {
	// Grad is the gradient of t, or the zero T, for those who let go of it before it is removed: its memory may then
	// become that of another tensor.
	Grad func(t T) T

	// Float32s and Float64s are the elements of t, which must be contiguous, for those who let go of the slice before t
	// is freed.
	Float32s func(t T) []float32
	Float64s func(t T) []float64

	// Wrote notes that such a slice was written to. A gradient that saved the old elements then notices.
	Wrote func(t T)

	// UpdateMany runs one step of an optimizer for each of some parameters, on the device of the first: a parameter, its
	// gradient and its state. It notes the writes.
	UpdateMany func(algorithm string, parameters [][]T, numbers *device.Numbers)
}

var door any

// Open sets what [Of] returns.
func Open[T any](d *Door[T]) { door = d }

// Of returns the door of tensors of type T, after their package was initialized. It panics if they have none.
func Of[T any]() *Door[T] { return door.(*Door[T]) }

// Elements is Float32s or Float64s.
func Elements[E float32 | float64, T any](d *Door[T], t T) []E {
	var none E
	if _, single := any(none).(float32); single {
		return any(d.Float32s(t)).([]E)
	}
	return any(d.Float64s(t)).([]E)
}
