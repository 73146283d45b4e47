package tensor

import "testing"

// throughKeep does with a tensor what the notebook kernel does between cells.
func throughKeep(t *Tensor, storages map[*storage]*storage) *Tensor {
	state := t.KeepState().(*keptTensor)
	copied := *state
	if storages[state.Storage] == nil {
		bytes := state.Storage.KeepState().(*keptStorage)
		again := new(storage)
		again.RestoreState(&keptStorage{append([]byte(nil), bytes.Bytes...), bytes.Version, bytes.Role, bytes.Device, bytes.Freed})
		storages[state.Storage] = again
	}
	copied.Storage = storages[state.Storage]
	if state.Grad != nil {
		copied.Grad = throughKeep(state.Grad, storages)
	}
	restored := new(Tensor)
	restored.RestoreState(&copied)
	return restored
}

func TestTensorsLiveOn(t *testing.T) {
	x := Arange(6).To(Float32).View(2, 3)
	column := x.Select(1, 2)
	w := Of(1., 2).RequireGrad()
	loss := w.Mul(w).Sum()
	loss.Backward(Retain())

	storages := map[*storage]*storage{}
	x2, column2, w2, loss2 := throughKeep(x, storages), throughKeep(column, storages), throughKeep(w, storages), throughKeep(loss, storages)
	if !SameStorage(x2, column2) {
		t.Error("a view lost its storage")
	}
	x2.SetAt(50, 1, 2)
	wantFloats(t, "column", column2, 2, 50)
	wantFloats(t, "w.grad", w2.Grad(), 2, 4)
	if !w2.RequiresGrad() || !w2.IsLeaf() || loss2.IsLeaf() {
		t.Error("leaf or result changed its kind")
	}
	wantPanic(t, ErrGrad, `the graph behind a result of "sum" belongs to cell`, func() { loss2.Backward() })
	w2.Mul(3).Sum().Backward()
	wantFloats(t, "w.grad after another cell's Backward", w2.Grad(), 5, 7)
}

func TestZeroTensorCanTellWhatIsKept(t *testing.T) {
	if _, ok := new(Tensor).KeepState().(*keptTensor); !ok {
		t.Error("KeepState of a zero Tensor")
	}
	if _, ok := new(storage).KeepState().(*keptStorage); !ok {
		t.Error("KeepState of a zero storage")
	}
}
