//go:build lectern_cell && go1.26 && !go1.28

package persist

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
	_ "unsafe" // for go:linkname
)

// What may still happen from outside is known only to Go's own packages. The linker gives it to cells, which are
// linked with -checklinkname=0, and to nobody else; and since these names may change, only with versions of Go in
// which they were looked at. Without this file a deadlock is not reported; see deadlock_other.go.

//go:linkname timeSleepUntil runtime.timeSleepUntil
func timeSleepUntil() int64

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// handlers begins like the variable of package os/signal: one entry for each channel that wants signals.
//
//go:linkname handlers os/signal.handlers
var handlers struct {
	sync.Mutex
	m        map[chan<- os.Signal]*struct{ mask [3]uint32 }
	ref      [65]int64
	stopping []struct {
		c chan<- os.Signal
		h *struct{ mask [3]uint32 }
	}
}

// nextTimer returns how long it is until the next timer goes off.
func nextTimer() time.Duration {
	t := timeSleepUntil()
	if t == math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t - nanotime())
}

var threads = []metrics.Sample{{Name: "/sched/threads/total:threads"}, {Name: "/cgo/go-to-c-calls:calls"}}

// outside says what may wake up a goroutine although all of them wait, or "".
func outside() string {
	if !handlers.TryLock() {
		return unknown
	}
	n := len(handlers.m)
	handlers.Unlock()
	if n > 1 { // one is ours
		return signals
	}
	if nextTimer() != math.MaxInt64 {
		return timerPending
	}
	metrics.Read(threads)
	ours, calls := threads[0].Value, threads[1].Value
	if ours.Kind() != metrics.KindUint64 || calls.Kind() != metrics.KindUint64 {
		return unknown
	}
	// A thread that C code has made may call back. Where the number of threads is unknown, C code that has been
	// called may have made some; Go itself calls C once, when a program with cgo starts.
	if tasks, err := os.ReadDir("/proc/self/task"); len(tasks) > int(ours.Uint64()) || err != nil && calls.Uint64() > 1 {
		return foreign
	}
	return ""
}

// dropStoppedTimers makes Go forget timers that were stopped. It does so when the processor that they belong to looks
// for work, which an idle one doesn't; so all go to one, and that one looks. Everything is waiting at this moment, so
// nobody notices.
func dropStoppedTimers() {
	n := runtime.GOMAXPROCS(1)
	runtime.Gosched()
	time.Sleep(time.Microsecond)
	runtime.GOMAXPROCS(n)
}
