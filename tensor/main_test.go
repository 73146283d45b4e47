package tensor

import (
	"flag"
	"os"
	"testing"

	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// In the tests of this package memory is recycled from the smallest tensors on, and
// spoilt before, so that all of them would show what was given back too early.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		memory.RecycleOver, memory.Spoilt = 3, true
	}
	os.Exit(m.Run())
}
