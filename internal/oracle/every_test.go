package oracle_test

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// TestMain fails for an operation that no case runs, and that withoutAnswers does not excuse. What its own tests
// compare it with is written by the same hand and drawn from the same few numbers; answers are not.
func TestMain(m *testing.M) {
	var mu sync.Mutex
	ran := map[string]bool{}
	stop := tensor.Trace(func(e tensor.Event) {
		mu.Lock()
		defer mu.Unlock()
		ran[e.Op] = true
	})
	status := m.Run()
	stop()
	given := func(name string) bool { return flag.Lookup("test."+name).Value.String() != "" }
	if status == 0 && !given("run") && !given("skip") && !given("list") && os.Getenv("LECTERN_ORACLE") == "" {
		for _, name := range tensor.OpNames() {
			switch reason := withoutAnswers[name]; {
			case !ran[name] && reason == "":
				fmt.Printf("no case runs %q, and withoutAnswers has no reason\n", name)
				status = 1
			case ran[name] && reason != "":
				fmt.Printf("a case runs %q, which withoutAnswers excuses\n", name)
				status = 1
			}
		}
	}
	os.Exit(status)
}

// withoutAnswers are the operations that no case runs, and why.
var withoutAnswers = map[string]string{
	"custom":           "it runs the user's own formula",
	"recompute":        "it runs other operations once more",
	"straight through": "PyTorch writes it as x + (value - x).detach()",
	"matmul as":        "PyTorch has no product that is rounded to another dtype at once",
	"pick backward":    "it runs in second derivatives of a single element alone, which are compared with differences",
}
