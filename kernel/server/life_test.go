//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// processesOf lists the living processes that were started with an entry in their environment.
func processesOf(entry string) (list []string) {
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range envs {
		b, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(b, []byte(entry)) {
			continue
		}
		pid := filepath.Base(filepath.Dir(p))
		if pid == strconv.Itoa(os.Getpid()) {
			continue
		}
		cmd, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		list = append(list, pid+" "+strings.ReplaceAll(string(cmd), "\x00", " "))
	}
	return list
}

// find returns the process whose command line contains a word.
func find(list []string, word string) int {
	for _, p := range list {
		if strings.Contains(p, word) {
			pid, _ := strconv.Atoi(strings.Fields(p)[0])
			return pid
		}
	}
	return 0
}

// TestNothingIsLeft ends kernels in every way and looks for processes, folders and pipes afterwards.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	spec := &jupyter.Spec{Argv: []string{filepath.Join(bin, "lectern-kernel"), "-root", repoRoot(t), "-bin", bin, "{connection_file}"}, InterruptMode: "message"}
	const running = "x := make([]float64, 100_000)\nfmt.Println(\"running\", len(x))\ntime.Sleep(time.Hour)"
	shutdown := func(k *jupyter.Kernel, _ []string) {
		if err := k.Shutdown(patience); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name string
		end  func(k *jupyter.Kernel, all []string)
		cell string
	}{
		{"shutdown", shutdown, ""},
		{"shutdown during a cell", shutdown, running},
		{"SIGTERM", func(k *jupyter.Kernel, _ []string) { syscall.Kill(k.Pid(), syscall.SIGTERM) }, running},
		{"SIGKILL of the kernel", func(k *jupyter.Kernel, _ []string) { syscall.Kill(k.Pid(), syscall.SIGKILL) }, running},
		{"SIGKILL of the kernel's group", func(k *jupyter.Kernel, _ []string) { syscall.Kill(-k.Pid(), syscall.SIGKILL) }, running},
		{"SIGKILL of GoNB and shutdown", func(k *jupyter.Kernel, all []string) {
			if pid := find(all, "/gonb -kernel"); pid == 0 {
				t.Error("GoNB does not run")
			} else {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			shutdown(k, all)
		}, "%version\n" + running},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "SIGKILL of the kernel" {
				needLong(t)
			}
			tmp := t.TempDir()
			mark := "LECTERN_TEST_MARK=" + jupyter.NewID()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			k, err := jupyter.Start(ctx, spec, jupyter.StartOptions{Dir: tmp, RuntimeDir: t.TempDir(), Log: os.Stderr, Env: append(os.Environ(), "TMPDIR="+tmp, mark), Ready: patience})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Kill()
			started := make(chan struct{})
			begun := sync.OnceFunc(func() { close(started) })
			if c.cell != "" {
				go k.Execute(ctx, c.cell, jupyter.ExecuteOptions{Output: func(m *jupyter.Message) {
					if m.Header.Type == "stream" {
						begun()
					}
				}})
			} else {
				k.Execute(ctx, "x := 1", jupyter.ExecuteOptions{})
				begun()
			}
			select {
			case <-started:
			case <-ctx.Done():
				t.Fatal("the cell does not run")
			}
			all := processesOf(mark)
			if len(all) < 2 {
				t.Fatalf("processes: %q", all)
			}
			c.end(k, all)
			var left, files []string
			for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
				left, files = processesOf(mark), leftovers(tmp)
				if len(left) == 0 && len(files) == 0 {
					return
				}
			}
			t.Errorf("processes left: %q\nfiles left: %q", left, files)
		})
	}
}

// TestSweep removes what a kernel and its watcher left when both were killed, and nothing of a
// living kernel, even where its folder on disk is out of sight: a service has a temporary folder of
// its own, and the memory disk that all have.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	create := func() *folders {
		t.Helper()
		f, err := newFolders()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.remove)
		return f
	}
	dead, living := create(), create()
	for _, lock := range dead.locks {
		lock.Close() // as the end of its process would
	}
	t.Setenv("TMPDIR", t.TempDir())
	elsewhere := create()
	if living.memory != "" {
		if _, err := os.Stat(dead.memory); err == nil {
			t.Errorf("%s is still there", dead.memory)
		}
	}
	t.Setenv("TMPDIR", filepath.Dir(dead.work))
	create()
	if _, err := os.Stat(dead.work); err == nil {
		t.Errorf("%s is still there", dead.work)
	}
	for _, d := range append(living.all(), elsewhere.all()...) {
		if _, err := os.Stat(d); err != nil {
			t.Error(err)
		}
	}
}

// TestSweepDuringStart makes folders while others sweep: none of them takes one that is being made for a dead kernel's.
func TestSweepDuringStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				f, err := newFolders()
				if err != nil {
					t.Error(err)
					return
				}
				sweepFolders(os.TempDir())
				for _, d := range f.all() {
					if _, err := os.Stat(filepath.Join(d, "lock")); err != nil {
						t.Error(err)
					}
				}
				f.remove()
			}
		})
	}
	all.Wait()
}
