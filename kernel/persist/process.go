package persist

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// What a process has besides its variables: the environment, the working folder, the local time zone, how many
// processors it uses, how it collects garbage, and the settings of package log. What a cell changes there holds in the
// cells after it, too: it is kept as the difference to what the process began with, so that a change from outside, such
// as the kernel's %env or %cd, counts again.

// processName is the name under which all that is kept.
const processName = "lectern/process"

// A process is the kept state of the process; see settings.
type process struct {
	Env      map[string]string
	Dir      string
	Procs    int
	GC       int
	LogFlags int
	LogStart string // the prefix
	LogTo    string // the name of what it writes to, or ""
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
	LogTo    changed[string]
	Zones    []keptZone // that time.Local has been
	Zone     int        // which of them it is, from 1 on; 0 is the machine's own
}

// A keptZone is a time zone, or the name of a variable that holds it.
type keptZone struct {
	Name string
	Zone time.Location
}

var (
	beginning process
	ownZone   = time.Local
	zones     []*time.Location
)

// learnZone makes the zone that time.Local is known by name, since variables may hold the same zone.
func learnZone() {
	if time.Local != ownZone && !slices.Contains(zones, time.Local) {
		addZone(time.Local)
	}
}

func addZone(z *time.Location) {
	zones = append(zones, z)
	name := fmt.Sprint(zoneName, len(zones))
	inherent[name] = true
	learnSame(name, z)
}

// zoneName begins the names of zones.
const zoneName = "time zone "

// keepZones are the zones as they are written.
func keepZones() (list []keptZone) {
	for _, z := range zones {
		if name := samePointer(unsafe.Pointer(z), reflect.TypeFor[time.Location]()); !strings.HasPrefix(name, zoneName) {
			list = append(list, keptZone{Name: name})
		} else {
			list = append(list, keptZone{Zone: *z})
		}
	}
	return list
}

// outputs are what package log can write to in later cells, too.
var outputs = map[string]io.Writer{"os.Stdout": os.Stdout, "os.Stderr": os.Stderr, "io.Discard": io.Discard}

// output is the name of what package log writes to, or "".
func output() string {
	if t := reflect.TypeOf(log.Writer()); t == nil || !t.Comparable() { // of SetOutput(nil) there is no type
		return ""
	}
	for name, w := range outputs {
		if log.Writer() == w {
			return name
		}
	}
	if t := reflect.TypeOf(log.Writer()); t.Kind() == reflect.Pointer && t.Elem().PkgPath() == slogName {
		return slogName
	}
	return ""
}

// slogName is the name of what package log writes to after slog.SetDefault; toSlog says that it does so since an
// earlier cell.
const slogName = "log/slog"

var toSlog bool

// settings are those that hold now.
func settings() process {
	p := process{Env: map[string]string{}, Procs: runtime.GOMAXPROCS(0), LogFlags: log.Flags(), LogStart: log.Prefix(), LogTo: output()}
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
		LogFlags: changed[int]{b.LogFlags, now.LogFlags}, LogStart: changed[string]{b.LogStart, now.LogStart},
		LogTo: changed[string]{b.LogTo, now.LogTo}, Zones: keepZones(), Zone: slices.Index(zones, time.Local) + 1}
	if now.LogTo == "" {
		note("log.SetOutput", "what log.SetOutput sets ends with this cell. A function whose name begins with init_ runs in every cell")
		k.LogTo = changed[string]{}
	}
	same := k.Dir.same() && k.Procs.same() && k.GC.same() && k.LogFlags.same() && k.LogStart.same() && k.LogTo.same() && len(zones) == 0
	for _, from := range []map[string]string{b.Env, now.Env} {
		for name := range from {
			if c := (changed[string]{b.Env[name], now.Env[name]}); !c.same() {
				k.Env[name], same = c, false
			}
		}
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

// holds reports whether to make a change again: unless the process has begun with something else.
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
			note("", fmt.Sprintf("an earlier cell changed to the folder %s, and this one can't: %v", k.Dir.Now, errors.Unwrap(err)))
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
	if k.LogTo.holds(beginning.LogTo) {
		if toSlog = k.LogTo.Now == slogName; !toSlog {
			log.SetOutput(outputs[k.LogTo.Now])
		}
	}
	for i := range k.Zones {
		z := &k.Zones[i].Zone
		if name := k.Zones[i].Name; name != "" {
			v, err := findSame(name)
			if err != nil {
				return err
			}
			z = v.Interface().(*time.Location)
		}
		addZone(z)
	}
	if k.Zone > 0 && k.Zone <= len(zones) {
		time.Local = zones[k.Zone-1]
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
