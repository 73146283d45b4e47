package persist

import (
	"log"
	"slices"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// Some settings of packages are values like those of variables: the logger that slog.SetDefault was given writes into
// what a variable of a cell holds, at a level that another variable holds. So they are kept like variables, along with
// those that they share memory with, under names of the kernel's own.

// settingNames say which setting is kept under such a name.
var settingNames = map[string]string{
	cellstate.SlogName:  "what slog.SetDefault has set",
	cellstate.FlagsName: "what has been defined of package flag",
}

// firsts are the values of settings at the beginning of the process.
var firsts = map[string]any{}

// Setting says that a setting of a package is kept as the variable that p points to. If an earlier cell has kept it, it
// is set now; at the end of the cell it is what get returns, and not kept if that is what it was at the beginning.
func Setting[T comparable](name string, p *T, get func() T, set func(T)) {
	if len(dirs) == 0 {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	first, ok := firsts[name].(T)
	if !ok {
		first = get()
		firsts[name] = first
	}
	var none T
	if *p != none && *p != get() {
		besideLog(func() { set(*p) })
	}
	later = append(later, func() {
		if now := get(); now != none && now != first {
			*p = now
			addDefined([]bool{true}, []any{name, p})
			return
		}
		delete(manifest.Vars, name)
		delete(alive, name)
		vars = slices.DeleteFunc(vars, func(v *variable) bool { return v.name == name })
	})
}

// besideLog calls f, which may be slog.SetDefault, or may restore the default logger as a variable holds it, and then
// restores package log's settings, which are those of the latest cell.
func besideLog(f func()) {
	flags, prefix, w := log.Flags(), log.Prefix(), log.Writer()
	f()
	log.SetFlags(flags)
	log.SetPrefix(prefix)
	if !toSlog {
		log.SetOutput(w)
	}
}
