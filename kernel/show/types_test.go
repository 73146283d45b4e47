package show

import (
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/plots/diagram"
	"github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tokenizer"
)

// What a cell shows when it ends with a value of one of the library's types.
func TestWhatCellsShowOfTheLibrary(t *testing.T) {
	x := tensor.Arange(4).View(2, 2)
	steps, err := tokenizer.Steps("the cat in the hat", 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		v          any
		html, text string // parts of them; no html means that there is none
	}{
		"tensor":             {x, "<table", "tensor([[0, 1],"},
		"tensor, four axes":  {x.View(1, 1, 2, 2), "display:flex", "tensor([[[[0, 1],"},
		"no tensor":          {(*tensor.Tensor)(nil), "", "nil"},
		"dtype":              {tensor.BFloat16, "", "bfloat16"},
		"dtype table":        {tensor.Formats(tensor.Float32, tensor.BFloat16), "<table", "7.8125e-03"},
		"bits":               {tensor.Float16.Bits(1), "lectern-bits", "0 01111 0000000000"},
		"figure":             {diagram.Storage(diagram.View("x", x)), "<svg", "Storage and strides: x has shape [2 2]"},
		"FLOP report":        {accounting.Count(func() { x.Matmul(x) }), "<table", "matmul"},
		"memory report":      {accounting.Memory(func() {}), "<table", "total"},
		"training memory":    {accounting.TrainingMemory{Width: 4, Layers: 2, Batch: 2, StatePerParameter: 1}, "496 bytes", "496 bytes"},
		"model":              {nn.NewCruncher(4, 2), "<td style=\"text-align:left\">layers.0.weight</td>", "nn.Cruncher: 36 parameters"},
		"merge":              {steps[0], "<span", "becomes 256"},
		"slice of numbers":   {x.Shape(), "", "[]int{2, 2}"},
		"error of a tensor":  {tensor.Try(func() { x.Matmul(tensor.Ones(3)) }), "", "matmul"},
		"module without any": {nn.ReLU{}, "", "nn.ReLU{}"},
	} {
		t.Run(name, func(t *testing.T) {
			f := formats(c.v)
			text := f[len(f)-1]
			if f[len(f)-2] != "text/plain" || !strings.Contains(text, c.text) {
				t.Errorf("the text is %q, want %q in it", text, c.text)
			}
			switch {
			case c.html == "" && len(f) > 2:
				t.Errorf("it is shown as %s", f[0])
			case c.html != "" && (f[0] != "text/html" || !strings.Contains(f[1], c.html)):
				t.Errorf("it is shown as %s %s, want HTML with %q in it", f[0], f[1], c.html)
			}
		})
	}
}

// ownModel is a model of the notebook, drawnModel one that says how it looks.
type ownModel struct{ Layer *nn.Dense }

func (m *ownModel) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Layer.Forward(x) }

type drawnModel struct{ ownModel }

func (m *drawnModel) String() string { return "a model of its own" }

func TestModelsOfTheNotebook(t *testing.T) {
	if f := formats(&ownModel{nn.NewDense(2, 3)}); !strings.Contains(f[len(f)-1], "show.ownModel: 6 parameters") {
		t.Errorf("a model is shown as %q", f)
	}
	if f := formats(&drawnModel{ownModel{nn.NewDense(2, 3)}}); f[len(f)-1] != "a model of its own" {
		t.Errorf("a model with a text of its own is shown as %q", f)
	}
}
