package tensor

import (
	"reflect"
	"testing"
)

// TestEveryAttributeIsKept: what operations with a derivative are given besides
// tensors goes through keptAttr and comes back, in whatever way they are used. An
// attribute without its field there would end the graph with its notebook cell.
func TestEveryAttributeIsKept(t *testing.T) {
	seen := map[reflect.Type]any{}
	for _, o := range ops {
		if len(o.gradients) == 0 {
			continue
		}
		forward := o.forward
		o.forward = func(c *call) *Tensor {
			switch c.attr.(type) {
			case nil, *custom, *segment: // of which functions are kept
			default:
				seen[reflect.TypeOf(c.attr)] = c.attr
			}
			return forward(c)
		}
		defer func() { o.forward = forward }()
	}
	use := func(c *opCase, dtype Dtype) {
		in := c.inputs(dtype, 7)
		if dtype.IsFloat() {
			for _, x := range in {
				x.RequireGrad()
			}
		}
		if out := c.run(in); out.RequiresGrad() {
			out.Backward(WithGrad(OnesLike(out)))
		}
	}
	for _, c := range opTable() {
		use(&c, Float32)
	}
	for _, c := range costTable() {
		use(&c.opCase, c.countedDtypes()[0])
	}
	for kind, attr := range seen {
		err := caught(func() error {
			if got := keepAttr(attr).value(); !reflect.DeepEqual(got, attr) {
				t.Errorf("%v: %v comes back as %v", kind, attr, got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for kind := range attrFields() {
		if kind == reflect.TypeFor[keptPlacement]() {
			kind = reflect.TypeFor[placement]()
		}
		if _, ok := seen[kind]; !ok {
			t.Errorf("no operation is given a %v, for which keptAttr has a field", kind)
		}
	}
}
