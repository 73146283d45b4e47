// Package goroutine keeps values that belong to one goroutine, such as a mode in which
// it runs a function.
package goroutine

import (
	"sync"
	"sync/atomic"
)

// A Local holds at most one value for each goroutine. The zero Local holds none.
type Local[T any] struct {
	count  atomic.Int64 // of goroutines with a value: without any, Get costs one load
	values sync.Map     // key to *T, which only that goroutine reads and writes
}

// Get returns the value of the goroutine that calls it, and whether it has one.
func (l *Local[T]) Get() (v T, ok bool) {
	if l.count.Load() == 0 {
		return v, false
	}
	held, ok := l.values.Load(current())
	if ok {
		v = *held.(*T)
	}
	return v, ok
}

// Set gives this goroutine a value until restore is called, on the same goroutine,
// which brings back the previous one.
func (l *Local[T]) Set(v T) (restore func()) {
	k := current()
	if l.count.Load() > 0 {
		if held, nested := l.values.Load(k); nested {
			p := held.(*T)
			before := *p
			*p = v
			return func() { *p = before }
		}
	}
	l.values.Store(k, &v)
	l.count.Add(1)
	return func() {
		l.values.Delete(k)
		l.count.Add(-1)
	}
}

// With runs f while this goroutine has the value v.
func (l *Local[T]) With(v T, f func()) {
	defer l.Set(v)()
	f()
}
