package tensor

import (
	"testing"

	"github.com/lectern-go/lectern/tensor/internal/memory"
)

func TestZeroTensorCanTellWhatIsKept(t *testing.T) {
	if _, ok := keepTensor(new(Tensor)).(*keptTensor); !ok {
		t.Error("KeepState of a zero Tensor")
	}
	if _, ok := keepStorage(new(memory.Storage)).(*keptStorage); !ok {
		t.Error("what is kept of a zero storage")
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

func TestAttributeWithoutAField(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an attribute that can't be kept was taken")
		}
	}()
	keepAttr(struct{ f func() }{})
}
