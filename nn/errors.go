package nn

import (
	"errors"

	"github.com/lectern-go/lectern/tensor"
)

// The kinds of mistake that belong to this package. Like the rest of this library, it
// panics with a [*tensor.Error]; test for them with errors.Is on what [tensor.Try]
// returns. Shapes that don't fit a layer are [tensor.ErrShape].
var (
	ErrModel = errors.New("model can't be looked through") // a field that holds tensors out of reach
	ErrState = errors.New("state does not fit the model")  // names or shapes that differ
)

func fail(kind error, op, reason, hint string) {
	(&tensor.Error{Package: "nn", Kind: kind, Op: op, Reason: reason, Hint: hint}).Panic()
}
