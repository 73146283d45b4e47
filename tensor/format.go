package tensor

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/internal/printed"
)

// String returns the values in PyTorch's layout, aligned and summarized, with
// the dtype where it isn't the usual one:
//
//	tensor([[1., 2., 3.],
//	        [4., 5., 6.]])
func (t *Tensor) String() string {
	if t == nil {
		return "<nil>"
	}
	if t.storage == nil {
		return "<zero Tensor>"
	}
	const prefix = "tensor("
	text, notes := "[]", t.notes()
	switch {
	case t.Len() == 0:
	case t.storage.Freed(): // debugging needs to print what remains
		text, notes = "freed", append([]string{"size=" + sizeText(t.layout.Shape)}, notes...)
	default:
		text = t.printable().Text(len(prefix))
	}
	out := prefix + text
	lineLen := len(out) - strings.LastIndexByte(out, '\n') + 1 // as PyTorch counts
	for _, note := range notes {
		if lineLen+len(note)+2 > printed.Width {
			out += ",\n" + strings.Repeat(" ", len(prefix)) + note
			lineLen = len(prefix) + len(note)
		} else {
			out += ", " + note
			lineLen += len(note) + 2
		}
	}
	return out + ")"
}

// Format prints %v and %s as String does. %+v adds shape, strides, offset and
// version of the storage.
func (t *Tensor) Format(f fmt.State, verb rune) {
	io.WriteString(f, t.String())
	if verb == 'v' && f.Flag('+') && t != nil && t.storage != nil {
		fmt.Fprintf(f, "\n%s", t.details())
	}
}

// details describes everything but the values.
func (t *Tensor) details() string {
	on := ""
	if t.backend() != nil {
		on = " on " + t.Device().String()
	}
	return fmt.Sprintf("%s%s, shape %v, strides %v, offset %d, storage of %d bytes, version %d",
		t.dtype, on, t.layout.Shape, t.layout.Strides, t.layout.Offset, t.storage.Size, t.Version())
}

// sizeText writes a shape as Python does.
func sizeText(shape []int) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") }

// notes returns the text after the values.
func (t *Tensor) notes() []string {
	var notes []string
	if t.Len() == 0 && t.Dim() != 1 {
		notes = append(notes, "size="+sizeText(t.layout.Shape))
	}
	if t.backend() != nil {
		notes = append(notes, "device='"+t.Device().String()+"'")
	}
	usual := t.dtype == Float32 || t.Len() > 0 && (t.dtype == Int64 || t.dtype == Bool)
	if !usual {
		notes = append(notes, "dtype="+t.dtype.String())
	}
	switch {
	case !t.RequiresGrad():
	case t.IsLeaf():
		notes = append(notes, "requires_grad=True")
	default:
		notes = append(notes, "grad_fn=<"+t.graph().Function().Name()+">")
	}
	return notes
}

// printable returns the part of t that is printed. A small tensor of another device is
// fetched as a whole; of a large one only the elements that are shown will be.
func (t *Tensor) printable() printed.Array {
	t = t.Detach()
	if t.Len() <= printed.Threshold {
		t = t.onHost()
	}
	a := printed.Array{Shape: t.layout.Shape, Float: t.dtype.IsFloat(), Bool: t.dtype == Bool, At: t.At, Whole: t.AtInt}
	if t.backend() == nil {
		a.At, a.Whole = eachElement[float64](t), eachElement[int64](t)
	}
	return a
}

// eachElement is At or AtInt for many elements of a tensor on the processor, at indices that are in range.
func eachElement[T numbers.Number](t *Tensor) func(index ...int) T {
	data, size, convert := t.array().Data, t.dtype.Size(), numbers.Loader[T](device.Type(t.dtype))
	var value [1]T
	return func(index ...int) T {
		at := t.layout.Offset
		for axis, i := range index {
			at += i * t.layout.Strides[axis]
		}
		convert(value[:], unsafe.Add(data, at*size))
		return value[0]
	}
}

// HTML returns the tensor for a notebook: its values above a line with shape, dtype,
// strides and storage. One or two axes make a table, a third one puts tables side by
// side, and a fourth puts rows of them below each other.
func (t *Tensor) HTML() string {
	var b strings.Builder
	b.WriteString(`<div class="lectern-tensor">`)
	if t == nil || t.storage == nil {
		fmt.Fprintf(&b, `<pre style="margin:0">%s</pre></div>`, html.EscapeString(t.String()))
		return b.String()
	}
	if t.Dim() == 0 || t.Dim() > 4 || t.Len() == 0 || t.storage.Freed() {
		fmt.Fprintf(&b, `<pre style="margin:0">%s</pre>`, html.EscapeString(t.String()))
	} else {
		b.WriteString(t.printable().HTML())
	}
	fmt.Fprintf(&b, `<div style="font-size:85%%;opacity:.75">%s</div></div>`, html.EscapeString(t.caption()))
	return b.String()
}

// caption is the line under the values.
func (t *Tensor) caption() string {
	parts := []string{fmt.Sprintf("shape %v", t.layout.Shape), t.dtype.String(), fmt.Sprintf("strides %v", t.layout.Strides)}
	if t.layout.Offset > 0 {
		parts = append(parts, fmt.Sprintf("offset %d", t.layout.Offset))
	}
	parts = append(parts, humanize.Bytes(t.Bytes()))
	if t.backend() != nil {
		parts = append(parts, t.Device().String())
	}
	switch {
	case !t.RequiresGrad():
	case t.IsLeaf():
		parts = append(parts, "requires grad")
	default:
		parts = append(parts, "result of "+t.graph().Function().Name())
	}
	return strings.Join(parts, " · ")
}
