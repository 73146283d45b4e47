//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// TestFigures measures cells in this kernel and in plain GoNB with the same settings, in turns, and logs the medians. It is run with
// LECTERN_FIGURES=1, on a machine that does nothing else.
func TestFigures(t *testing.T) {
	if os.Getenv("LECTERN_FIGURES") == "" {
		t.Skip("measures: set LECTERN_FIGURES=1 to run it")
	}
	bin, err := tools()
	need(t, err)
	front := &jupyter.Spec{Argv: []string{filepath.Join(bin, "lectern-kernel"), "-root", repoRoot(t), "-bin", bin, "{connection_file}"}, InterruptMode: "message"}
	env := map[string]string{"PATH": bin + string(os.PathListSeparator) + "${PATH}"}
	for k, v := range tuned {
		env[k] = v
	}
	plain := &jupyter.Spec{Argv: []string{filepath.Join(bin, "gonb"), "--kernel", "{connection_file}", "-go_work=" + repoRoot(t), "-raw_error=true", "-logtostderr=false",
		"-stderrthreshold=3", "-log_file=" + os.DevNull}, Env: env, InterruptMode: "message"}
	start := func(s *jupyter.Spec) (*jupyter.Kernel, time.Duration) {
		began := time.Now()
		k, err := jupyter.Start(context.Background(), s, jupyter.StartOptions{Dir: t.TempDir(), RuntimeDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return k, time.Since(began)
	}
	var startFront, startPlain []time.Duration
	for range 5 {
		a, d := start(front)
		startFront = append(startFront, d)
		a.Shutdown(5 * time.Second)
		b, d := start(plain)
		startPlain = append(startPlain, d)
		b.Shutdown(5 * time.Second)
	}
	kf, _ := start(front)
	defer kf.Shutdown(5 * time.Second)
	kp, _ := start(plain)
	defer kp.Shutdown(5 * time.Second)
	run := func(k *jupyter.Kernel, code, status string) time.Duration {
		began := time.Now()
		r, err := k.Execute(context.Background(), code, jupyter.ExecuteOptions{Timeout: time.Minute})
		d := time.Since(began)
		if err != nil || r.Status != status {
			t.Fatalf("%s: %s %v %s", code, r.Status, err, strings.Join(r.Traceback, "\n"))
		}
		return d
	}
	run(kf, "big := make([]float32, 10_000_000)\nk0 := 1", "ok")
	time.Sleep(20 * time.Second) // gopls and the search for packages are done
	t.Logf("start: front %v, plain %v", median(startFront), median(startPlain))
	for _, c := range []struct{ name, front, plain, status string }{
		{"hello", "fmt.Println(\"hello\", %d)", "%%%%\nfmt.Println(\"hello\", %d)", "ok"},
		{"define", "x := %d", "%%%%\nx := %d; _ = x", "ok"},
		{"restore and show", "x + %d", "%%%%\nfmt.Println(1 + %d)", "ok"},
		{"restore, change, show", "x += %d\nx", "%%%%\nfmt.Println(2 + %d)", "ok"},
		{"type error", "var s%d string = 1", "%%%%\nvar s%d string = 1", "error"},
		{"10M float32 touched", "big[%d] = 1", "%%%%\n_ = make([]float32, 10_000_000)[%d]", "ok"},
		{"10M float32 defined", "big%d := make([]float32, 10_000_000)", "%%%%\n_ = make([]float32, 10_000_000)[%d]", "ok"},
		{"declaration", "func f%d() {}", "func f%d() {}", "ok"},
	} {
		var f, p []time.Duration
		for i := range 9 {
			f = append(f, run(kf, fmt.Sprintf(c.front, 100+i), c.status))
			p = append(p, run(kp, fmt.Sprintf(c.plain, 100+i), c.status))
		}
		t.Logf("%-24s front %8v   plain %8v", c.name, median(f), median(p))
	}
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2].Round(100 * time.Microsecond)
}
