package tensor

import (
	"flag"
	"os"
	"testing"
)

// In the tests of this package memory is recycled from the smallest tensors on, and
// spoilt before, so that all of them would show what was given back too early.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		recycleOver, spoilt = 3, true
	}
	os.Exit(m.Run())
}
