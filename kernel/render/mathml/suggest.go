package mathml

import (
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/spelling"
)

// known lists every command in order, and suggested those that are long enough to be told from others.
var (
	known     = allNames()
	suggested = slices.DeleteFunc(slices.Clone(known), func(n string) bool { return len(n) < 3 })
)

func allNames() []string {
	names := strings.Fields(`frac dfrac tfrac binom sqrt left right middle begin end text textrm textbf textit texttt operatorname underline underbrace
		overbrace overset underset stackrel xrightarrow xleftarrow phantom boxed pmod not substack limits nolimits displaystyle textstyle`)
	for n := range symbols {
		names = append(names, n)
	}
	for n := range greek {
		names = append(names, n)
	}
	for n := range functions {
		names = append(names, n)
	}
	for n := range fontCommands {
		names = append(names, n)
	}
	for n := range accents {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// suggestion names the known command that is one slip of the pen away.
func suggestion(name string) string {
	if len(name) < 3 || len(name) > 20 {
		return ""
	}
	if k := spelling.Nearest(name, suggested, 1); k != "" {
		return `; did you mean \` + k + `?`
	}
	return ""
}
