package nn

import (
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/internal/rawtensor"
	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor"
)

func init() {
	inspect.RegisterView(func(v any) (any, bool) {
		m, ok := v.(Module)
		if !ok {
			return nil, false
		}
		s, err := Summarize(m)
		return s, err == nil && len(s.Tensors) > 0
	})
}

// Summary is a model as a table: its tensors with their shapes and sizes.
type Summary struct {
	Model      string // its type
	Tensors    State  // parameters and buffers, in order
	Parameters int    // elements of all parameters, each counted once
	Trainable  int    // the same, of those that require a gradient
}

// Summarize describes a model. The error is what [Parameters] would panic with.
func Summarize(model any) (s Summary, err error) {
	err = tensor.Try(func() {
		s = Summary{Model: strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", model), "*"), "main."),
			Tensors: StateDict(model), Parameters: NumParameters(model)}
		for _, p := range Trainable(model) {
			s.Trainable += p.Tensor.Len()
		}
	})
	return s, err
}

var summaryHead = []string{"name", "shape", "dtype", "elements", "bytes", "gradient"}

// rows returns a row for each tensor.
func (s Summary) rows() [][]string {
	var rows [][]string
	for _, p := range s.Tensors {
		t := p.Tensor
		gradient := "no"
		switch {
		case t.RequiresGrad() && rawtensor.Of[*tensor.Tensor]().Grad(t) != nil:
			gradient = "there"
		case t.RequiresGrad():
			gradient = "asked for"
		}
		rows = append(rows, []string{p.Name, fmt.Sprint(t.Shape()), t.Dtype().String(), humanize.Thousands(t.Len()), humanize.Thousands(t.Bytes()), gradient})
	}
	return rows
}

// total is the line under the table.
func (s Summary) total() string {
	text := fmt.Sprintf("%s: %s parameters", s.Model, humanize.Thousands(s.Parameters))
	if s.Trainable != s.Parameters {
		text += fmt.Sprintf(", %s of them trained", humanize.Thousands(s.Trainable))
	}
	return text
}

// table is the summary in columns.
func (s Summary) table() tabular.Table {
	return tabular.Table{Caption: s.total(), Header: summaryHead, Rows: s.rows(), Left: func(column int) bool { return column != 3 && column != 4 }}
}

// String aligns the table as text.
func (s Summary) String() string { return s.table().String() }

// HTML returns the table for a notebook.
func (s Summary) HTML() string { return s.table().HTML() }
