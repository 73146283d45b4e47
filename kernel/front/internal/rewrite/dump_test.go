package rewrite

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDump(t *testing.T) {
	f := os.Getenv("DUMP")
	if f == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(f)
	nb := newNotebook(t)
	for _, c := range strings.Split(string(b), "\n===\n") {
		r := nb.run(c)
		fmt.Println("-------- cell", nb.n, r.Errors, r.Notes, r.Imports, r.GoNB, r.Restores, r.Defines, r.Forget)
		if r.Program != nil {
			fmt.Println(r.Program.String())
		}
	}
}
