package persist

import (
	"strings"
	"sync"
	"testing"
)

//lint:ignore U1000 its fields are kept
type guarded struct {
	name string
	mu   sync.RWMutex
	once sync.Once
}

// Locks are in later cells what they were at the end of a cell, wherever they lie.
func TestLocksStayLocked(t *testing.T) {
	folder(t)
	var mu, idle sync.Mutex
	mu.Lock()
	g := &guarded{name: "g"}
	g.mu.RLock()
	g.mu.RLock()
	g.once.Do(func() {})
	m := map[string]*guarded{"written": {}, "g": g}
	m["written"].mu.Lock()
	list := []sync.Mutex{{}, {}}
	list[1].Lock()
	lock := sync.Locker(&mu)
	Reg[*sync.Mutex]()
	if out := define(t, "mu", &mu, "idle", &idle, "g", &g, "m", &m, "list", &list, "lock", &lock); out != "" {
		t.Error(out)
	}
	newCell(t)
	Reg[*sync.Mutex]()
	var mu2, idle2 sync.Mutex
	var g2 *guarded
	var m2 map[string]*guarded
	var list2 []sync.Mutex
	var lock2 sync.Locker
	restore(t, nil, "mu", &mu2, "idle", &idle2, "g", &g2, "m", &m2, "list", &list2, "lock", &lock2)
	if mu2.TryLock() || !idle2.TryLock() || !list2[0].TryLock() || list2[1].TryLock() || m2["written"].mu.TryRLock() {
		t.Error("a lock that was held is free, or the other way round")
	}
	g2.once.Do(func() { t.Error("once is done twice") })
	lock2.Unlock() // which is mu
	if !mu2.TryLock() {
		t.Error("mu is not what lock unlocks")
	}
	m2["g"].mu.RUnlock()
	if g2.mu.TryLock() {
		t.Error("a lock of two readers is free after one of them")
	}
	g2.mu.RUnlock()
	if !g2.mu.TryLock() {
		t.Error("the lock has more readers than it had")
	}
}

// A lock whose holder was cut off would never be unlocked, so it is free in the next cell, and a note says so.
func TestLocksOfWhatWasCutOff(t *testing.T) {
	hold := func(mu *sync.Mutex) { mu.Lock() }
	for name, cut := range map[string]func(done func(), mu *sync.Mutex){
		"panic": func(done func(), mu *sync.Mutex) {
			defer func() { recover() }()
			defer done()
			hold(mu)
			panic("no")
		},
		"interrupt": func(_ func(), mu *sync.Mutex) {
			hold(mu)
			Save()
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t)
			newCell(t)
			var mu, idle sync.Mutex
			out := captureStderr(t, func() {
				done := Begin(1)
				Def("mu", &mu, "idle", &idle)
				cut(done, &mu)
			})
			if strings.Count(out, "is restored unlocked") != 1 || !strings.Contains(out, "a lock in mu was held") {
				t.Errorf("the note is missing: %q", out)
			}
			newCell(t)
			var mu2 sync.Mutex
			restore(t, nil, "mu", &mu2)
			if !mu2.TryLock() {
				t.Error("the lock is held, and nobody will unlock it")
			}
		})
	}
}
