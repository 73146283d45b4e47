package nn

import (
	"errors"

	"github.com/lectern-go/lectern/internal/caller"
)

// The kinds of mistake that are this package's own; test with errors.Is on what
// [tensor.Try] returns. Shapes that don't fit a layer are [tensor.ErrShape].
var (
	ErrModel = errors.New("model can't be looked through") // a field that holds tensors out of reach
	ErrState = errors.New("state does not fit the model")  // names or shapes that differ
)

// Error is what this package panics with when its caller made a mistake.
type Error struct {
	Kind     error  // ErrModel, ErrState or a kind of package tensor
	Op       string // such as "parameters"
	Reason   string
	Hint     string // what to try; may be empty
	Position string // file:line of the call outside this library; empty when returned by Try
}

func (e *Error) Error() string {
	text := "nn: " + e.Op + ": " + e.Reason
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	if e.Position != "" {
		text += " (at " + e.Position + ")"
	}
	return text
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Mistake says that e is a mistake of the caller, for [tensor.Try].
func (e *Error) Mistake() error {
	shown := *e
	shown.Position = ""
	return &shown
}

func fail(kind error, op, reason, hint string) {
	panic(&Error{Kind: kind, Op: op, Reason: reason, Hint: hint, Position: caller.Position()})
}
