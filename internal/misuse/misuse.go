// Package misuse reports what a caller of the packages above tensor did wrong, in the
// one form that package tensor defines.
package misuse

import (
	"github.com/lectern-go/lectern/internal/callsite"
	"github.com/lectern-go/lectern/tensor"
)

// Panic panics with a [*tensor.Error] of the package pkg, such as "nn", that points at
// the caller's line. hint, what to try, may be empty.
func Panic(pkg string, kind error, op, reason, hint string) {
	panic(&tensor.Error{Package: pkg, Kind: kind, Op: op, Reason: reason, Hint: hint, Position: callsite.Position()})
}
