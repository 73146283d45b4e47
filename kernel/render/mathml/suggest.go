package mathml

import (
	"slices"
	"strings"
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
		if len(k) >= 3 && slip(name, k) {
			return `; did you mean \` + k + `?`
		}
	}
	return ""
}

// slip reports whether one insertion, deletion, replacement or swap of
// neighbours turns a into b.
func slip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
