package tensor

import (
	"reflect"
	"testing"
)

func TestZeroTensorCanTellWhatIsKept(t *testing.T) {
	if _, ok := keepTensor(new(Tensor)).(*keptTensor); !ok {
		t.Error("KeepState of a zero Tensor")
	}
	if _, ok := new(storage).KeepState().(*keptStorage); !ok {
		t.Error("KeepState of a zero storage")
	}
	if _, ok := new(keptNode).KeepState().(*keptNodeState); !ok {
		t.Error("KeepState of a zero node")
	}
}

func TestNamesOfOperationsAreTheirOwn(t *testing.T) {
	if len(opNames()) != len(ops) {
		t.Errorf("%d operations have %d names", len(ops), len(opNames()))
	}
	for _, o := range ops {
		if opNamed(o.name) != o {
			t.Errorf("%q leads to another operation", o.name)
		}
	}
}

func TestLayoutsArePacked(t *testing.T) {
	for _, l := range []Layout{{}, ContiguousLayout(0), ContiguousLayout(2, 3), {Shape: []int{5, 1 << 40}, Strides: []int{0, 7}, Offset: 1 << 50}} {
		var p packing
		p.layout(l)
		got := p.nextLayout()
		if len(got.Shape) != len(l.Shape) || got.Offset != l.Offset || len(l.Shape) > 0 && !reflect.DeepEqual(got, l) {
			t.Errorf("%v became %v", l, got)
		}
	}
}

func TestAttributeWithoutAField(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an attribute that can't be kept was taken")
		}
	}()
	keepAttr(struct{ f func() }{})
}
