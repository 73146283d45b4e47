package persist

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

// Go reports a deadlock by itself, but not in a program that waits for signals, as a cell with kept values does. So it
// is noticed here.
//
// A few counters of the scheduler are read each time, which takes microseconds and stops no goroutine. Only when they
// say twice in a row that every goroutine waits are the goroutines examined one by one, and then there is none left to
// be held up.

const (
	deadlockCheck = 250 * time.Millisecond // between two looks
	slowest       = time.Second
	// noteAfter is how many looks find a cell doing nothing but wait before that is worth a note.
	noteAfter = 40
	// settle is how long the counters may show a second processor at work before that is believed: waking up the watch
	// wakes another one, which finds nothing to do.
	settle = 50 * time.Microsecond
	// saveLimit is how many looks in a row everything may wait while the values are saved: a type's own KeepState may
	// want a lock of the deadlock.
	saveLimit = 4
)

// waits are the states that nothing but another goroutine or a timer can end. A state that is not in here is no
// deadlock, whatever it is.
var waits = map[string]bool{
	"semacquire": true, "sync.Mutex.Lock": true, "sync.RWMutex.Lock": true, "sync.RWMutex.RLock": true, "sync.WaitGroup.Wait": true,
	"sync.Cond.Wait": true, "select": true, "select (no cases)": true, "chan receive": true, "chan receive (nil chan)": true,
	"chan send": true, "chan send (nil chan)": true, "coroutine": true,
}

// watchDeadlock ends a cell in which every goroutine waits for another, with the report that Go itself would give. The
// values are kept. It runs in a goroutine made by watchInterrupt. It sleeps with a timer, but that has gone off
// whenever it looks at the others'.
func watchDeadlock() {
	w, pause := newWatch(), deadlockCheck
	for {
		time.Sleep(pause)
		pause = deadlockCheck
		begun := time.Now()
		found := w.look()
		looked(found)
		switch found {
		case deadlocked:
			end(w, string(w.suspect))
		case elsewhere: // many goroutines that wait for the network, for example: look at them less often
			pause = min(max(pause, 1000*time.Since(begun)), slowest)
		}
	}
}

// looked is told what each look has found. Tests count looks instead of seconds.
var looked = func(found string) {}

// What a look finds, besides what may wake up a goroutine from outside.
const (
	works      = "work"
	allWait    = "everything waits"
	elsewhere  = "a goroutine that nobody here has to wake up"
	stuckOnce  = "what looks like a deadlock"
	deadlocked = "a deadlock"
)

// look looks at the program once.
func (w *watch) look() (found string) {
	suspected := w.suspected
	w.suspected = false
	made, idle := w.idle()
	if !idle || made != w.made {
		w.waited, w.flush = 0, 1
	}
	w.made = made
	if !idle {
		return works
	}
	if w.waited++; w.waited == 1 {
		return allWait
	}
	why := outside()
	if why == timerPending && w.waited > w.flush && nextTimer() > 2*time.Second {
		// A timer that was stopped may still be counted. Looking again without it is worth the while less and less often.
		w.flush *= 2
		dropStoppedTimers()
		why = outside()
	}
	if why != "" {
		if (why == unknown || why == foreign) && !w.noted && w.waited > noteAfter {
			w.noted = true // whatever they say: looking at the stacks is of no use any more
			if w.inspect() {
				os.Stderr.WriteString("note: this cell seems to do nothing but wait; if nothing will ever end the wait, interrupt it\n")
			}
		}
		return why
	}
	w.suspect, w.before = w.before, w.suspect
	if !w.inspect() || outside() != "" {
		return elsewhere
	}
	w.suspected = true
	if suspected && bytes.Equal(w.suspect, w.before) {
		return deadlocked
	}
	return stuckOnce
}

// What may wake up a goroutine from outside, besides what its own state shows.
const (
	timerPending = "a timer"
	signals      = "a signal that the cell has asked for"
	foreign      = "a thread of C code"
	unknown      = "unknown"
)

// A watch reads the scheduler's counters, and remembers what it has seen.
type watch struct {
	samples   []metrics.Sample
	waited    int    // looks in a row at which everything waited, as far as the counters know
	made      uint64 // goroutines, at the last look
	suspected bool   // whether the last look found what looks like a deadlock
	// suspect are its stacks, before those of another look; all is room for the stacks of all goroutines. They are used
	// again, so that looking at a few thousand goroutines doesn't wake up the garbage collector each time.
	suspect, before, all []byte
	flush                int // how many looks have to find everything waiting before stopped timers are dropped
	noted                bool
}

func newWatch() *watch {
	w := &watch{flush: 1}
	for _, n := range []string{"running", "runnable", "not-in-go"} {
		w.samples = append(w.samples, metrics.Sample{Name: "/sched/goroutines/" + n + ":goroutines"})
	}
	w.samples = append(w.samples, metrics.Sample{Name: "/sched/goroutines-created:goroutines"})
	return w
}

// idle reports whether all goroutines wait, except this one and the one that waits for signals in a system call; made
// is how many goroutines were ever made.
func (w *watch) idle() (made uint64, waiting bool) {
	var until time.Time
	for {
		metrics.Read(w.samples)
		for _, s := range w.samples {
			if s.Value.Kind() != metrics.KindUint64 {
				return 0, false // a Go without these counters
			}
		}
		made = w.samples[3].Value.Uint64()
		running, runnable, outside := w.samples[0].Value.Uint64(), w.samples[1].Value.Uint64(), w.samples[2].Value.Uint64()
		if runnable == 0 && running <= 1 && outside <= 1 {
			return made, true
		}
		if runnable > 0 || running > 2 || outside > 1 {
			return made, false
		}
		if now := time.Now(); until.IsZero() {
			until = now.Add(settle)
		} else if now.After(until) {
			return made, false
		}
	}
}

// inspect looks at the stacks of all goroutines, and reports whether each of them waits for another one. It sets
// suspect.
func (w *watch) inspect() (stuck bool) {
	for n := max(len(w.all), 64<<10+512*runtime.NumGoroutine()); ; n *= 2 {
		if len(w.all) < n {
			w.all = make([]byte, n)
		}
		if m := runtime.Stack(w.all, true); m < n || n > 64<<20 {
			stuck, w.suspect = inspect(w.all[:m], w.suspect)
			return stuck
		}
	}
}

var (
	ourWatch = []byte("created by github.com/lectern-go/lectern/kernel/persist.watch")
	ourWait  = []byte("\nos/signal.signal_recv(")
	gap      = []byte("\n\n")
)

// inspect looks at the stacks of all goroutines. stuck: each of them waits for another one. user is the stacks without
// those of ours and without the minutes that they have waited; it replaces the content of room.
func inspect(stacks, room []byte) (stuck bool, user []byte) {
	user = room[:0]
	for g := range bytes.SplitSeq(bytes.TrimRight(stacks, "\n"), gap) {
		if bytes.Contains(g, ourWatch) || bytes.Contains(g, ourWait) {
			continue
		}
		head, rest, _ := bytes.Cut(g, gap[:1]) // goroutine 1 [chan receive, 2 minutes, locked to thread]:
		name, state, found := bytes.Cut(head, []byte("["))
		state, ended := bytes.CutSuffix(state, []byte("]:"))
		if !found || !ended {
			return false, user[:0]
		}
		state, _, _ = bytes.Cut(state, []byte(","))
		for _, s := range []string{" (scan)", " (leaked)"} {
			state = bytes.TrimSuffix(state, []byte(s))
		}
		if !waits[string(state)] {
			return false, user[:0]
		}
		if len(user) > 0 {
			user = append(user, gap...)
		}
		user = append(user, name...)
		user = append(user, '[')
		user = append(user, state...)
		user = append(user, "]:\n"...)
		user = append(user, rest...)
	}
	return true, user
}

// end saves the values and ends the process as Go does.
func end(w *watch, user string) {
	saved := make(chan struct{})
	go watchSave(saved)
	for blocked := 0; blocked < saveLimit; {
		select {
		case <-saved:
			blocked = saveLimit
		case <-time.After(deadlockCheck):
			if _, idle := w.idle(); idle {
				blocked++
			} else {
				blocked = 0
			}
		}
	}
	text := "all goroutines are asleep - deadlock!"
	if user == "" {
		text = "no goroutines (main called runtime.Goexit) - deadlock!"
	}
	os.Stderr.WriteString("fatal error: " + text + "\n\n" + user + "\n")
	os.Exit(2)
}

func watchSave(saved chan<- struct{}) {
	Save()
	close(saved)
}
