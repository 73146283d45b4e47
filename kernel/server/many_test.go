//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cell that defines many variables keeps what it had defined when it panicked, and what it changed afterwards.
func TestManyVariables(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "v%d, w%[1]d := %[1]d, \"w\" // a comment\nv%[1]d++\n", i)
		if i == 200 {
			b.WriteString("if len(w0) == 1 { panic(\"here\") }\n")
		}
	}
	if outs, r := l.run(b.String()); r.Status != "error" || !strings.Contains(flat(outs), "here (line 403)") {
		t.Errorf("%s: %s", r.Status, flat(outs))
	}
	l.want("v0 + v200 + len(w200)", "[result]203")
	if outs, r := l.run("v201"); r.Status != "error" {
		t.Errorf("v201 shows %s", flat(outs))
	}
	l.want(strings.Replace(b.String(), "panic", "fmt.Println", 1)+"v299", "[result]300")
	l.want("v299 + v201", "[result]502")
}

// The folder of a notebook is deleted while its kernel runs: cells and shell lines say so, and %cd helps.
func TestFolderGone(t *testing.T) {
	t.Parallel()
	needRace(t)
	bin, err := tools()
	need(t, err)
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l := startLabIn(t, bin, dir, nil)
	l.run("x := 5")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"x + 1", "!ls", "%%bash\nls", "%race\nx", "%test\nfunc TestX(t *testing.T) {}"} {
		outs, r := l.run(code)
		if s := flat(outs); r.Status != "error" || !strings.Contains(s, "the folder that cells run in is gone: "+dir+"; %cd changes to another") {
			t.Errorf("%s: %s %s", code, r.Status, s)
		}
	}
	l.want("%cd "+filepath.Dir(dir)+"\nx + 1", "[result]6")
}
