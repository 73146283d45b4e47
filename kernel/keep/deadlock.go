package keep

import (
	"os"
	"runtime"
	"strings"
	"time"
)

// Go reports a deadlock by itself, but not in a program that waits for signals, as a cell with kept values does. So it is noticed here.

const (
	deadlockCheck = 500 * time.Millisecond
	deadlockNote  = 10 * time.Second
)

// waits are states that only another goroutine can end. Receiving from a channel is none: the channel may be a timer's.
var waits = map[string]bool{
	"semacquire": true, "sync.Mutex.Lock": true, "sync.RWMutex.Lock": true, "sync.RWMutex.RLock": true, "sync.WaitGroup.Wait": true,
	"sync.Cond.Wait": true, "select (no cases)": true, "chan receive (nil chan)": true, "chan send (nil chan)": true, "chan send": true,
}

// watchDeadlock ends a cell in which every goroutine waits for another, with the report that Go itself would give. The values are kept.
func watchDeadlock() {
	buf := make([]byte, 256<<10)
	var last string
	var since time.Time
	noted := false
	for {
		time.Sleep(deadlockCheck)
		if runtime.NumGoroutine() > 1000 {
			continue
		}
		stack := string(buf[:runtime.Stack(buf, true)])
		stuck, maybe, user := waiting(stack)
		switch {
		case user == "" || !stuck && !maybe:
			last = ""
		case user != last:
			last, since = user, time.Now()
		case stuck:
			Save()
			os.Stderr.WriteString("fatal error: all goroutines are asleep - deadlock!\n\n" + user)
			os.Exit(2)
		case !noted && time.Since(since) > deadlockNote:
			noted = true
			os.Stderr.WriteString("note: for 10 seconds everything in this cell has waited for a channel; if nobody will ever write to it, interrupt the cell\n")
		}
	}
}

// waiting looks at the stacks of all goroutines. stuck: all wait for each other; maybe: some for a channel that may be a timer's. user is the stacks
// without those of ours.
func waiting(stacks string) (stuck, maybe bool, user string) {
	stuck, maybe = true, true
	var own []string
	for _, g := range strings.Split(stacks, "\n\n") {
		if strings.Contains(g, "kernel/keep.watch") || strings.Contains(g, "os/signal.") || strings.Contains(g, "keep.waiting") {
			continue
		}
		_, state, found := strings.Cut(g, "[") // goroutine 1 [chan receive, 2 minutes]:
		if !found {
			return false, false, ""
		}
		state = state[:max(0, strings.IndexAny(state, ",]"))]
		switch {
		case waits[state]:
		case state == "chan receive" || state == "select":
			stuck = false
		default:
			return false, false, ""
		}
		own = append(own, g)
	}
	return stuck, maybe, strings.Join(own, "\n\n")
}
