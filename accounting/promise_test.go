package accounting

import (
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// What one notebook cell measured is there in the next, unless the notebook has
// moved to another computer.
func TestPromisesAreKept(t *testing.T) {
	p, err := CPUPromise(tensor.Float32, 1)
	if err != nil {
		t.Fatal(err)
	}
	state := savePromises()
	forget := func() { promises.cpu, promises.ghz, promises.all, promises.bandwidth = "", 0, nil, bandwidth{} }
	forget()
	if savePromises() != nil {
		t.Error("there is something to keep before anything was measured")
	}
	if err := loadPromises(state); err != nil {
		t.Fatal(err)
	}
	if again, _ := CPUPromise(tensor.Float32, 1); again != p {
		t.Errorf("kept %+v, got %+v", p, again)
	}
	forget()
	if err := loadPromises([]byte(`{"CPU":"another","All":[{"Dtype":"float32","Threads":1,"PerSecond":1}]}`)); err != nil || promises.all != nil {
		t.Errorf("the promises of another computer: error %v, %v", err, promises.all)
	}
	if err := loadPromises([]byte("x")); err == nil {
		t.Error("a broken state is no error")
	}
}

// A promise that was measured while something else ran is measured again when a computation exceeds it.
func TestPromisesThatAreExceededAreMeasuredAgain(t *testing.T) {
	p, err := CPUPromise(tensor.BFloat16, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range promises.all {
		promises.all[i].PerSecond /= 1000
	}
	low, _ := CPUPromise(tensor.BFloat16, 1)
	if low.PerSecond > p.PerSecond/900 {
		t.Fatalf("%v is not remembered", low.PerSecond)
	}
	again, err := cpuPromise(tensor.BFloat16, 1, p.PerSecond/50)
	if err != nil || again.PerSecond < p.PerSecond/50 || again.Instructions != p.Instructions {
		t.Errorf("measured again %+v, %v; at first it was %+v", again, err, p)
	}
	if kept, _ := CPUPromise(tensor.BFloat16, 1); kept != again {
		t.Errorf("%+v is remembered, want %+v", kept, again)
	}
	if more, _ := cpuPromise(tensor.BFloat16, 1, 1e30); more.PerSecond < again.PerSecond {
		t.Errorf("measured once more it is %v, less than %v", more.PerSecond, again.PerSecond)
	}
}
