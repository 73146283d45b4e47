package persist

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"
)

// Go reports a deadlock by itself, but not in a program that waits for signals, as a cell with kept values does. So it
// is noticed here.
//
// A few counters of the scheduler are read each time, which takes microseconds and stops nobody. Only when they say
// twice in a row that every goroutine waits are the goroutines looked at one by one, and then nobody is there to be
// held up.

const (
	deadlockCheck = 250 * time.Millisecond
	slowest       = time.Second
	deadlockNote  = 10 * time.Second
	// settle is how long the counters may show a second processor at work before that is believed: waking up the watch
	// wakes another one, which finds nothing to do.
	settle = 50 * time.Microsecond
	// saveLimit is how long everything may wait while the values are saved: a type's own KeepState may want a lock of
	// the deadlock.
	saveLimit = time.Second
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
	var (
		w       = newWatch()
		idle    time.Time // since when everything has waited, as far as the counters know
		made    uint64    // goroutines, then
		pause   = deadlockCheck
		suspect *string // the stacks that looked like a deadlock at the last look
		flush   = deadlockCheck
		noted   bool
	)
	for {
		time.Sleep(pause)
		pause = deadlockCheck
		n, waiting := w.idle()
		if !waiting || n != made || idle.IsZero() {
			made, suspect, flush = n, nil, deadlockCheck
			if idle = (time.Time{}); waiting {
				idle = time.Now()
			}
			continue
		}
		why := outside()
		if why == "" || why == timerPending && time.Since(idle) > flush && nextTimer() > 2*time.Second {
			// A timer that was stopped may still be counted. Looking again without it is worth the while less and less
			// often.
			if why == timerPending {
				flush *= 2
				dropStoppedTimers()
				if why = outside(); why != "" {
					continue
				}
			}
			begun := time.Now()
			stuck, user := inspect(stacks())
			if stuck && outside() == "" {
				if suspect != nil && user == *suspect {
					end(w, user)
				}
				suspect = &user
				continue
			}
			suspect = nil
			pause = min(max(pause, 1000*time.Since(begun)), slowest) // many goroutines that wait for the network, say: look at them less often
			continue
		}
		suspect = nil
		if (why == unknown || why == foreign) && !noted && time.Since(idle) > deadlockNote {
			noted = true // whatever they say: looking at the stacks is no use any more
			if stuck, _ := inspect(stacks()); stuck {
				os.Stderr.WriteString("note: this cell seems to do nothing but wait; if nobody will ever end that, interrupt it\n")
			}
		}
	}
}

// What may wake up a goroutine from outside, besides what its own state shows.
const (
	timerPending = "a timer"
	signals      = "a signal that the cell has asked for"
	foreign      = "a thread of C code"
	unknown      = "unknown"
)

// A watch reads the scheduler's counters.
type watch struct{ samples []metrics.Sample }

func newWatch() *watch {
	w := &watch{}
	for _, n := range []string{"running", "runnable", "not-in-go"} {
		w.samples = append(w.samples, metrics.Sample{Name: "/sched/goroutines/" + n + ":goroutines"})
	}
	w.samples = append(w.samples, metrics.Sample{Name: "/sched/goroutines-created:goroutines"})
	return w
}

// idle reports whether all goroutines wait, but for this one and the one that waits for signals in a system call; made
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

// stacks returns the stacks of all goroutines.
func stacks() string {
	for n := 64<<10 + 512*runtime.NumGoroutine(); ; n *= 2 {
		buf := make([]byte, n)
		if m := runtime.Stack(buf, true); m < n || n > 64<<20 {
			return string(buf[:m])
		}
	}
}

// inspect looks at the stacks of all goroutines. stuck: each of them waits for another one. user is the stacks without
// those of ours and without the minutes that they have waited.
func inspect(stacks string) (stuck bool, user string) {
	var own []string
	for g := range strings.SplitSeq(strings.TrimRight(stacks, "\n"), "\n\n") {
		if strings.Contains(g, "created by github.com/lectern-go/lectern/kernel/persist.watch") || strings.Contains(g, "\nos/signal.signal_recv(") {
			continue
		}
		head, rest, _ := strings.Cut(g, "\n") // goroutine 1 [chan receive, 2 minutes, locked to thread]:
		name, state, found := strings.Cut(head, "[")
		if !found || !strings.HasSuffix(state, "]:") {
			return false, ""
		}
		state, _, _ = strings.Cut(strings.TrimSuffix(state, "]:"), ",")
		for _, s := range []string{" (scan)", " (leaked)"} {
			state = strings.TrimSuffix(state, s)
		}
		if !waits[state] {
			return false, ""
		}
		own = append(own, name+"["+state+"]:\n"+rest)
	}
	return true, strings.Join(own, "\n\n")
}

// end saves the values and ends the process as Go does.
func end(w *watch, user string) {
	saved := make(chan struct{})
	go watchSave(saved)
	for blocked := time.Duration(0); blocked < saveLimit; {
		select {
		case <-saved:
			blocked = saveLimit
		case <-time.After(deadlockCheck):
			if _, waiting := w.idle(); waiting {
				blocked += deadlockCheck
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
