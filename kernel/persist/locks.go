package persist

import (
	"reflect"
	"sync"
)

// How a lock is held; a number above lockFree is that of readers.
const (
	lockHeld = -1
	lockFree = 0
)

// maxReaders is how many readers package sync allows.
const maxReaders = 1 << 30

// lockState says how the lock v is held. It takes the lock for a moment if it is free.
func lockState(v reflect.Value) int {
	switch l := v.Addr().Interface().(type) {
	case *sync.Mutex:
		if !l.TryLock() {
			return lockHeld
		}
		l.Unlock()
	case *sync.RWMutex:
		if l.TryLock() {
			l.Unlock()
			return lockFree
		}
		if !l.TryRLock() {
			return lockHeld
		}
		l.RUnlock()
		return readers(v)
	}
	return lockFree
}

// readers is how many readers hold an RWMutex that some do: the lock itself doesn't say. It is one if Go no longer
// counts them as it did.
func readers(lock reflect.Value) int {
	if count := lock.FieldByName("readerCount"); count.IsValid() && count.Kind() == reflect.Struct {
		if n := count.FieldByName("v"); n.IsValid() && n.CanInt() && n.Int() > 0 && n.Int() < maxReaders {
			return int(n.Int())
		}
	}
	return 1
}

// setLock locks v, which is not held, as lockState has found it.
func setLock(v reflect.Value, state int) {
	switch l := v.Addr().Interface().(type) {
	case *sync.Mutex:
		if state == lockHeld {
			l.Lock()
		}
	case *sync.RWMutex:
		if state == lockHeld {
			l.Lock()
		}
		for range min(max(state, 0), maxReaders) {
			l.RLock()
		}
	}
}
