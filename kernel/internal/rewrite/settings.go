package rewrite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// A carriedSetting is a setting of a package that lives on as a variable of the kernel's own; see persist.Setting. A
// program has it if it uses the package, so that something may be set, or if something is set.
type carriedSetting struct {
	path, name string
	typ        func(s *Session) string
	functions  func(a *assembly) string // that get and set it
}

var carried = []carriedSetting{
	{"log/slog", cellstate.SlogName,
		func(s *Session) string { return "*" + s.alias("log/slog", "slog") + ".Logger" },
		func(a *assembly) string {
			slog := a.n.alias("log/slog", "slog")
			return slog + ".Default, " + slog + ".SetDefault"
		}},
	{"flag", cellstate.FlagsName,
		func(s *Session) string { return "*" + s.alias(persistPath, "persist") + ".Flags" },
		func(a *assembly) string {
			args := []string{fmt.Sprint(a.r.Args != "")}
			for _, name := range a.flagNames() {
				args = append(args, fmt.Sprintf("%q", name))
			}
			return fmt.Sprintf("%s.ReadFlags, %[1]s.SetFlags(%s)", persistName, strings.Join(args, ", "))
		}},
}

// carries reports whether programs have settings that live on.
func (a *assembly) carries() bool { return !a.s.alone && !a.r.Wasm && !a.tests }

// reachSettings adds the settings of earlier cells.
func (a *assembly) reachSettings(company map[string]bool) {
	for _, c := range carried {
		if a.carries() && a.s.vars[c.name].typ != "" {
			company[c.name] = true
			a.g.reachName(c.name)
		}
	}
}

// addSettings adds those of the packages that the program uses.
func (a *assembly) addSettings() {
	paths := slices.Collect(maps.Values(a.g.imports))
	for _, c := range carried {
		if a.carries() && slices.Contains(paths, c.path) {
			a.need[c.name] = true
			a.n.vars[c.name] = variable{typ: c.typ(a.n)}
		}
	}
}

// settings are the statements that set them, once variables are restored.
func (a *assembly) settings() (calls []string) {
	for _, c := range carried {
		if a.carries() && a.need[c.name] {
			calls = append(calls, fmt.Sprintf("%s.Setting(%q, &%s, %s)", persistName, c.name, c.name, c.functions(a)))
		}
	}
	return calls
}
