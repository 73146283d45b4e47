package translate

import (
	"os"
	"path/filepath"

	"github.com/lectern-go/lectern/internal/po"
)

// ErrorsFile is the catalogue of the errors that students meet most.
const ErrorsFile = "errors.po"

// ErrorForms are those errors, and what hints say of them, in the words of whoever says them; %s and %d stand for
// values. The messages themselves stay English, as the web knows them.
var ErrorForms = []string{
	// The compiler, whose messages the kernel passes on.
	"undefined: %s",
	"%s is declared and not used",
	"%s is not used",
	"invalid operation: %s (mismatched types %s and %s)",
	"cannot use %s (%s) as %s value in %s",
	"%s undefined (type %s has no field or method %s)",
	"not enough arguments in call to %s",
	"too many arguments in call to %s",
	"assignment mismatch: %d variable but %s returns %d values",
	"assignment mismatch: %d variables but %s returns %d value",
	"missing return",
	"something is missing here",
	"missing ',' before newline in %s",
	"this { belongs at the end of the line before",

	// Go, while the program runs.
	"runtime error: index out of range [%d] with length %d",
	"runtime error: slice bounds out of range [:%d] with capacity %d",
	"runtime error: invalid memory address or nil pointer dereference",
	"runtime error: integer divide by zero",
	"assignment to entry in nil map",
	"all goroutines are asleep - deadlock!",
	"stack overflow",

	// The library, after its package's name.
	"matmul: %s: inner sizes differ, %d (axis %d of left) and %d (axis %d of right)",
	"matmul: %s: both operands must have the same dtype",
	"%s: %s: sizes differ, %d (axis %d of left) and %d (axis %d of right)",
	"%s: %s: shape %s has %d elements, %s has %d",
	"view: %s: view size is not compatible with input tensor's size and stride: shape %s strides %s cannot become %s without copying",
	"item: %s: the tensor has %d elements, not one",
	"%s: %s: index %d is out of range for axis %d of size %d",
	"backward: %s: without a starting gradient, the tensor must hold exactly one number",
	"backward: %s: the values saved by %s were released by an earlier Backward",
	"backward: %s: the tensor was not computed from one that requires a gradient",
	"%s: %s: the operands lie on different devices",
	"%s: %s: the memory of an operand was freed by Free or FreeAfter",

	// The kernel.
	"first run the cell that defines it",
	"%s was not kept: the cell that defines it ended too early, so run it again",
	"%s (%s) is not remembered by later cells: a channel can't be kept",
	"the cell was interrupted",
	"the cell was killed: usually because the machine ran out of memory",
}

// Errors says in a language what errors mean. A nil *Errors knows none.
type Errors struct{ forms []*form }

// errorTail is what may follow a form: a remedy, details or a place.
const errorTail = `(?:(?:[;:]| \().*)?$`

// ReadErrors reads a catalogue of errors. One that can't be read knows none: a message never gets lost because its
// meaning can't be shown.
func ReadErrors(catalogue []byte) *Errors {
	f, err := po.Parse(ErrorsFile, catalogue)
	if err != nil {
		return nil
	}
	e := &Errors{}
	for _, m := range f.Messages {
		if m.ID == "" || !m.Valid() {
			continue
		}
		if form := newForm(m, errorTail); form != nil {
			e.forms = append(e.forms, form)
		}
	}
	longestFirst(e.forms)
	return e
}

// ChosenErrors reads those of the student's language, in the checkout at root; nil for English, and for a language that
// has none.
func ChosenErrors(root string) *Errors {
	dir := po.Chosen(root)
	if dir == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, ErrorsFile))
	if err != nil {
		return nil
	}
	return ReadErrors(text)
}

// Text says what a message, a line, means; "" if it is not known. Names and values stay as they are.
func (e *Errors) Text(message string) string {
	if e == nil {
		return ""
	}
	for _, f := range e.forms {
		if values := f.matches.FindStringSubmatch(message); values != nil {
			return f.filled(values, func(value string) string { return value })
		}
	}
	return ""
}
