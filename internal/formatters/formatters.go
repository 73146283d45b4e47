// Package formatters lets a library say how a notebook shows values whose types are the user's own.
//
// A model is a struct that the user declares; only package nn knows how to read it. It registers here what stands for
// such a value when a cell ends with it:
//
//	func init() { formatters.Register(describeModel) }
//
// Outside a notebook nothing calls the functions.
package formatters

import "sync"

var (
	mu         sync.Mutex
	registered []func(v any) (stand any, ok bool)
)

// Register adds a function that returns a value to show in place of v, with the methods HTML and String or with
// MIMEBundle, or reports that v is none of its own. It must be cheap for values that are not, and safe for concurrent
// use.
func Register(f func(v any) (stand any, ok bool)) {
	mu.Lock()
	registered = append(registered, f)
	mu.Unlock()
}

// For returns what is shown in place of v: v itself if nobody knows better.
func For(v any) any {
	mu.Lock()
	all := registered
	mu.Unlock()
	for _, f := range all {
		if stand, ok := f(v); ok {
			return stand
		}
	}
	return v
}
