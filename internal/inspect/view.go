package inspect

import "sync"

var views struct {
	sync.Mutex
	list []func(v any) (view any, ok bool)
}

// RegisterView adds a function that returns a value to show in place of v, with the methods HTML and String or with
// MIMEBundle, or reports that it has none. A model, for example, is a struct that the user declares, and only package
// nn knows how to read it:
//
//	func init() { inspect.RegisterView(summarize) }
//
// The function must be cheap for values without a view, and safe for concurrent use.
func RegisterView(f func(v any) (view any, ok bool)) {
	views.Lock()
	views.list = append(views.list, f)
	views.Unlock()
}

// ViewOf returns the value to show in place of v: v itself unless a library has a view of it.
func ViewOf(v any) any {
	views.Lock()
	all := views.list
	views.Unlock()
	for _, f := range all {
		if view, ok := f(v); ok {
			return view
		}
	}
	return v
}
