package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/persist"
)

func TestShortType(t *testing.T) {
	for in, want := range map[string]string{
		"int": "int", "*github.com/a/b/tensor.Tensor": "*tensor.Tensor", "main.Model": "Model", "map[string][]main.T": "map[string][]T",
		"github.com/x/p.Pair[int,main.T]": "p.Pair[int,T]",
	} {
		if got := shortType(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestVarsLists(t *testing.T) {
	dir := t.TempDir()
	for i, pid := range []int{os.Getpid(), 1 << 30} { // one that lives and one that does not
		d := filepath.Join(dir, fmt.Sprint("lectern-kernel-", i))
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "about"), fmt.Appendf(nil, "%d\n/lessons\n\n%s\n", pid, d), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	forge(t, dir)
	ks := runningKernels(dir)
	if len(ks) != 1 || ks[0].where != "/lessons" {
		t.Fatalf("kernels %+v", ks)
	}
	var b bytes.Buffer
	listVars(&b, &persist.Manifest{Vars: map[string]persist.Var{"x": {Type: "[]main.P", Shape: "3", Bytes: 224, Data: 24}}, Notes: map[string]string{"c": "c (chan int) is not remembered\x1b[2J"}})
	for _, w := range []string{"x     []P   3      224    24", "c (chan int) is not remembered\ufffd[2J"} {
		if !strings.Contains(b.String(), w) {
			t.Errorf("no %q in\n%s", w, b.String())
		}
	}
}
