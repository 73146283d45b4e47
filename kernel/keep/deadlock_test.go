package keep

import "testing"

func TestWaiting(t *testing.T) {
	const ours = "goroutine 7 [sleep]:\ngithub.com/lectern-go/lectern/kernel/keep.watchDeadlock()\n\n"
	for _, c := range []struct {
		name, stack  string
		stuck, maybe bool
	}{
		{"lock", ours + "goroutine 1 [sync.Mutex.Lock]:\nmain.main()\n", true, true},
		{"channel", ours + "goroutine 1 [chan receive, 2 minutes]:\nmain.main()\n", false, true},
		{"works", ours + "goroutine 1 [chan receive]:\nmain.main()\n\ngoroutine 9 [running]:\nmain.f()\n", false, false},
		{"sleeps", ours + "goroutine 1 [sleep]:\nmain.main()\n", false, false},
		{"both", "goroutine 1 [sync.WaitGroup.Wait]:\nmain.main()\n\ngoroutine 9 [chan send]:\nmain.f()\n", true, true},
	} {
		if stuck, maybe, _ := waiting(c.stack); stuck != c.stuck || maybe != c.maybe {
			t.Errorf("%s: stuck %v, maybe %v; want %v, %v", c.name, stuck, maybe, c.stuck, c.maybe)
		}
	}
}
