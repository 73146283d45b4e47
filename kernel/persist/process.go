package persist

import (
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// What a process has besides its variables: the environment, the working folder, the local time zone, how many
// processors it uses and how it collects, and the settings of package log. What a cell changes there holds in the cells
// after it, too: it is kept as the difference to what the process began with, so that a change from outside, such as
// the kernel's %env or %cd, counts again.

// processName is the name under which that is kept.
const processName = "lectern/process"

// A process is what is kept; see settings.
type process struct {
	Env      map[string]string
	Dir      string
	Procs    int
	GC       int
	LogFlags int
	LogStart string // the prefix
	Zone     *time.Location
}

// A changed is a setting with its value at the beginning of the process.
type changed[T comparable] struct{ Before, Now T }

// kept is the difference that is written.
type kept struct {
	Env      map[string]changed[string] // of entries NAME=value; "" for a variable that is not there
	Dir      changed[string]
	Procs    changed[int]
	GC       changed[int]
	LogFlags changed[int]
	LogStart changed[string]
	Zone     *time.Location // nil for the machine's own
}

var (
	beginning process
	ownZone   = time.Local
)

// settings are those that hold now.
func settings() process {
	p := process{Env: map[string]string{}, Procs: runtime.GOMAXPROCS(0), LogFlags: log.Flags(), LogStart: log.Prefix(), Zone: time.Local}
	for _, kv := range os.Environ() {
		if name, _, ok := strings.Cut(kv, "="); ok {
			p.Env[name] = kv
		}
	}
	p.Dir, _ = os.Getwd()
	p.GC = debug.SetGCPercent(100)
	debug.SetGCPercent(p.GC)
	return p
}

func init() {
	cellstate.Register(processName, saveProcess, loadProcess)
}

// saveProcess returns what differs from the beginning, or nil if nothing does.
func saveProcess() []byte {
	b, now := beginning, settings()
	k := kept{Env: map[string]changed[string]{}, Dir: changed[string]{b.Dir, now.Dir}, Procs: changed[int]{b.Procs, now.Procs}, GC: changed[int]{b.GC, now.GC},
		LogFlags: changed[int]{b.LogFlags, now.LogFlags}, LogStart: changed[string]{b.LogStart, now.LogStart}}
	same := k.Dir.same() && k.Procs.same() && k.GC.same() && k.LogFlags.same() && k.LogStart.same()
	for _, from := range []map[string]string{b.Env, now.Env} {
		for name := range from {
			if c := (changed[string]{b.Env[name], now.Env[name]}); !c.same() {
				k.Env[name], same = c, false
			}
		}
	}
	if now.Zone != ownZone {
		k.Zone, same = now.Zone, false
	}
	if same {
		return nil
	}
	packed, err := pack(reflect.ValueOf(&k))
	if err != nil {
		note("", fmt.Sprintf("the environment and other settings of this cell end with it: %v", err))
	}
	return packed
}

func (c changed[T]) same() bool { return c.Before == c.Now }

// holds reports whether a change is to be made again: unless the process has begun with something else.
func (c changed[T]) holds(beginning T) bool { return !c.same() && c.Before == beginning }

func loadProcess(b []byte) error {
	var k kept
	if err := unpack(b, reflect.ValueOf(&k)); err != nil {
		return err
	}
	for name, c := range k.Env {
		_, value, ok := strings.Cut(c.Now, "=")
		switch {
		case !c.holds(beginning.Env[name]):
		case ok:
			os.Setenv(name, value)
		default:
			os.Unsetenv(name)
		}
	}
	if k.Dir.holds(beginning.Dir) {
		if err := os.Chdir(k.Dir.Now); err != nil {
			note("", fmt.Sprintf("an earlier cell went to the folder %s, and this one can't: %v", k.Dir.Now, errors.Unwrap(err)))
		}
	}
	if k.Procs.holds(beginning.Procs) {
		runtime.GOMAXPROCS(k.Procs.Now)
	}
	if k.GC.holds(beginning.GC) {
		debug.SetGCPercent(k.GC.Now)
	}
	if k.LogFlags.holds(beginning.LogFlags) {
		log.SetFlags(k.LogFlags.Now)
	}
	if k.LogStart.holds(beginning.LogStart) {
		log.SetPrefix(k.LogStart.Now)
	}
	if k.Zone != nil {
		time.Local = k.Zone
	}
	return nil
}

// pack writes one value as a group of its own.
func pack(p reflect.Value) ([]byte, error) {
	s := newSaving()
	c := newCollector(0, s)
	if err := c.try(p); err != nil {
		return nil, err
	}
	s.blocks = merge(c.blocks, func(a, b *block) {})
	e := s.encoder()
	e.array = func(*block) (string, uintptr, int, error) { return "", 0, 0, errors.New("it is too large") }
	return e.group([]string{""}, []reflect.Value{p})
}

// unpack restores what pack has written.
func unpack(b []byte, p reflect.Value) error {
	none := func(string, int) (unsafe.Pointer, error) { return nil, errShort }
	return (&decoder{open: none}).restore(b, map[string]reflect.Value{"": p})
}
