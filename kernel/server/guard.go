//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A mistake of the kernel's own ends the request in which it shows, and never the kernel: hours of values depend on
// that.

// guard runs a cell. If the kernel panics, the cell fails with what a report needs, and the session is what it was
// before.
func (e *execution) guard(run func() *failure) (fail *failure) {
	before := e.k.session.Current()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		e.stop()
		e.mu.Lock()
		if e.process != nil {
			e.process.signal(syscall.SIGKILL)
		}
		e.process, e.gonb = nil, nil
		e.mu.Unlock()
		e.k.session.Set(before)
		fail = ourMistake(p)
	}()
	return run()
}

// ourMistake describes a panic of the kernel's. It must be called while the panic is being recovered.
func ourMistake(p any) *failure {
	text := fmt.Sprintf("a bug in Lectern's kernel, not in your cell: %v", p)
	f := said("kernel", text)
	f.Lines = append(f.Lines, "The session is what it was before the cell, and the next cell runs as always. Please report the cell with these lines:")
	f.Lines = append(f.Lines, fmt.Sprintf("  Lectern %s, %s %s/%s", install.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
	for _, at := range panicPlaces() {
		f.Lines = append(f.Lines, "  "+at)
	}
	return f
}

// reported is how many calls a report lists.
const reported = 5

// panicPlaces lists the calls that led to the panic which is being recovered, the innermost first.
func panicPlaces() (places []string) {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for panicked := false; ; {
		fr, more := frames.Next()
		inside := strings.HasPrefix(fr.Function, "runtime.")
		if panicked && !inside && len(places) < reported {
			name := fr.Function[strings.LastIndexByte(fr.Function, '/')+1:]
			places = append(places, fmt.Sprintf("%s (%s:%d)", name, filepath.Base(fr.File), fr.Line))
		}
		panicked = panicked || fr.Function == "runtime.gopanic"
		if !more {
			return places
		}
	}
}

// attempt handles a message that is no cell. After a panic the request is answered with an error.
func (k *kernel) attempt(m *jupyter.Message, handle func(*jupyter.Message)) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		f := ourMistake(p)
		fmt.Fprintln(os.Stderr, "lectern-kernel:", m.Header.Type+":", strings.Join(f.Lines, "\n"))
		if name, ok := strings.CutSuffix(m.Header.Type, "_request"); ok {
			content := f.Content()
			content["status"] = "error"
			k.answer(m, name+"_reply", content)
		}
	}()
	handle(m)
}

// survive lets a goroutine that handles a cell's output end alone if it panics. It must be deferred.
func survive(what string) {
	if p := recover(); p != nil {
		fmt.Fprintln(os.Stderr, "lectern-kernel:", what+":", strings.Join(ourMistake(p).Lines, "\n"))
	}
}
