package einops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/callsite"
	"github.com/lectern-go/lectern/internal/spelling"
)

// The kinds of mistake that belong to this package; test for them with errors.Is on
// what [tensor.Try] returns. Sizes that don't fit are [tensor.ErrShape], element types
// [tensor.ErrDtype].
var (
	ErrPattern = errors.New("pattern not well formed")  // text that can't be read, or sides that don't match each other
	ErrLength  = errors.New("axis length not known")    // a length that must be given, or is of no use
	ErrOperand = errors.New("operands do not fit")      // more or fewer tensors than the pattern has operands, or nil
	ErrStrict  = errors.New("refused by strict einsum") // a pattern that is allowed but suspicious
)

// Error is what this package panics with when its caller has made a mistake. Its text
// shows what failed, then the pattern with a mark under the place, the shapes with the
// sizes known so far, and one thing to try.
type Error struct {
	Kind     error   // one of the Err… values of this package or of tensor
	Op       string  // "rearrange", "einsum", "check", ...
	Pattern  string  // as given
	Start    int     // byte offset in Pattern of what is wrong
	End      int     // byte offset after it; Start == End marks a single place
	Reason   string  // the rule that failed, with its axes and sizes
	Shapes   [][]int // of the tensors involved
	Sizes    []Size  // axis lengths known when it failed
	Hint     string  // what to try; may be empty
	Position string  // file:line of the call outside this library; empty when returned by Try
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "einops: %s: %s", e.Op, e.Reason)
	if e.Position != "" {
		fmt.Fprintf(&b, " (at %s)", e.Position)
	}
	if e.Pattern != "" {
		// The mark goes under runes, so a tab or a newline counts as one.
		shown := strings.Map(func(r rune) rune {
			if r < ' ' {
				return '␣'
			}
			return r
		}, e.Pattern)
		before := utf8.RuneCountInString(e.Pattern[:e.Start])
		marks := max(1, utf8.RuneCountInString(e.Pattern[e.Start:e.End]))
		fmt.Fprintf(&b, "\n    %s\n    %s%s", shown, strings.Repeat(" ", before), strings.Repeat("^", marks))
	}
	if len(e.Shapes) > 0 {
		b.WriteString("\n    shape " + joined(e.Shapes, " x "))
		for i, s := range e.Sizes {
			b.WriteString([]string{" with ", ", "}[min(i, 1)])
			fmt.Fprintf(&b, "%s=%d", s.Name, s.Len)
		}
	}
	if e.Hint != "" {
		b.WriteString("\n    " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the kind, so that errors.Is(err, tensor.ErrShape) works.
func (e *Error) Unwrap() error { return e.Kind }

// Mistake returns the error without its position; it makes [tensor.Try] recover
// the error.
func (e *Error) Mistake() error {
	shown := *e
	shown.Position = ""
	return &shown
}

// must panics with err, completed with the caller's line.
func must(err *Error) {
	if err != nil {
		err.Position = callsite.Position()
		panic(err)
	}
}

// joined writes values with a separator between them.
func joined[T any](values []T, separator string) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, separator)
}

// names writes axis names for a message: "heads", or "heads and hidden".
func names(list []string) string {
	list = slices.Clone(list)
	for i, name := range list {
		list[i] = fmt.Sprintf("%q", name)
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// nearest proposes the known name that differs from name by a slip of the
// keyboard, as a hint; it returns "" if there is none.
func nearest(name string, known []string) string {
	if word := spelling.Nearest(name, known, 2); word != "" {
		return fmt.Sprintf("did you mean %q?", word)
	}
	return ""
}
