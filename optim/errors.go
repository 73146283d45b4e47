package optim

import "github.com/lectern-go/lectern/internal/caller"

// Error is what this package panics with when its caller made a mistake. Its kind
// is one of package tensor: ErrValue for settings, ErrGrad for gradients that are
// missing.
type Error struct {
	Kind     error
	Op       string // such as "adamw"
	Reason   string
	Hint     string // what to try; may be empty
	Position string // file:line of the call outside this library; empty when returned by Try
}

func (e *Error) Error() string {
	text := "optim: " + e.Op + ": " + e.Reason
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
