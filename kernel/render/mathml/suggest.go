package mathml

import (
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/spelling"
)

// known lists every command in order, for suggestions.
var known = allNames()

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
	for _, k := range known {
		if len(k) >= 3 && spelling.Distance(name, k) == 1 {
			return `; did you mean \` + k + `?`
		}
	}
	return ""
}
