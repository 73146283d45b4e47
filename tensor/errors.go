package tensor

import (
	"cmp"
	"errors"
	"strings"

	"github.com/lectern-go/lectern/internal/callsite"
	"github.com/lectern-go/lectern/tensor/layout"
)

// The kinds of mistake for which this package panics; test for them with errors.Is on
// what [Try] returns.
var (
	ErrShape  = layout.ErrShape                          // sizes or ranks that an operation can't combine
	ErrDtype  = errors.New("dtype not allowed")          // an element type that an operation can't take
	ErrIndex  = layout.ErrIndex                          // a position or axis that does not exist
	ErrView   = layout.ErrView                           // strided memory that can't be seen in another shape
	ErrWrite  = errors.New("write not allowed")          // a write through overlapping or protected memory
	ErrGrad   = errors.New("gradient not possible")      // a graph that is absent, freed or changed
	ErrDevice = errors.New("devices differ or can't do") // operands on different devices, or an op that a device lacks
	ErrFreed  = errors.New("memory was freed")           // a use after Free or FreeAfter
	ErrValue  = layout.ErrValue                          // an argument outside its range
)

// Error is what this package, and those built on it, panic with when their caller has made a mistake. The text has
// three parts: the operation with its operands as written, the rule that failed, and one thing to try.
type Error struct {
	Package  string // whose function was called, such as "nn"; empty for this one
	Kind     error  // one of the Err… values above, or one from that package
	Op       string // the operation, such as "matmul"
	Operands string // its operands, such as "[4 8 16 32] x [31 2]"; may be empty
	Reason   string // the rule that failed, with its axes and sizes
	Hint     string // what to try; may be empty
	Position string // file:line of the call outside this library; empty when returned by Try
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(cmp.Or(e.Package, "tensor") + ": " + e.Op + ": ")
	if e.Operands != "" {
		b.WriteString(e.Operands + ": ")
	}
	b.WriteString(e.Reason)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if e.Position != "" {
		b.WriteString(" (at " + e.Position + ")")
	}
	return b.String()
}

// Unwrap returns the kind, so that errors.Is(err, tensor.ErrShape) works.
func (e *Error) Unwrap() error { return e.Kind }

// Mistake tells [Try] that e is a mistake of the caller: it returns the error without
// its position.
func (e *Error) Mistake() error {
	shown := *e
	shown.Position = ""
	return &shown
}

// Panic panics with e, as a mistake at the line that called into this library. A package built on this one names
// itself in e.
func (e *Error) Panic() {
	e.Position = callsite.Position()
	panic(e)
}

func fail(kind error, op, operands, reason, hint string) {
	(&Error{Kind: kind, Op: op, Operands: operands, Reason: reason, Hint: hint}).Panic()
}

// Try runs f and returns the mistake for which it panicked, or nil. That is an
// [*Error], or an error of another package of this library with a method Mistake()
// error, too. A panic with anything else goes on.
//
// Lessons use it to show an error without ending the cell:
//
//	fmt.Println(tensor.Try(func() { x.View(2, 3) }))
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Mistake() error }:
			err = r.Mistake()
		default:
			panic(r)
		}
	}()
	f()
	return nil
}
