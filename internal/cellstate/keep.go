package cellstate

import "sync/atomic"

// WidgetsName begins the names under which a cell's widgets are kept; the cell's number follows.
const WidgetsName = "lecternWidgets"

// The names under which settings of packages are kept: the logger of slog.SetDefault, and the flags of package flag.
const (
	SlogName  = "lecternSlog"
	FlagsName = "lecternFlags"
)

// keeper is what SetKeep was given.
var keeper atomic.Pointer[func(name string, p any)]

// SetKeep says what Keep does. Package kernel/persist calls it.
func SetKeep(keep func(name string, p any)) { keeper.Store(&keep) }

// Keep keeps what p points to like one of the cell's variables, under a name that begins like the kernel's own
// names. Outside a notebook it does nothing.
func Keep(name string, p any) {
	if keep := keeper.Load(); keep != nil {
		(*keep)(name, p)
	}
}
