package show

import "strings"

// Echo shows the value or values of a cell's last expression. The kernel writes the call; a program needs Value.
func Echo(values ...any) {
	if len(values) > 1 && isNilError(values[len(values)-1]) {
		values = values[:len(values)-1]
	}
	var texts []string
	flush := func(kind string) {
		if len(texts) > 0 {
			bundle(kind, "text/plain", strings.Join(texts, "\n"))
			texts = nil
		}
	}
	for i, v := range values {
		f := formats(v)
		switch {
		case len(f) == 2:
			texts = append(texts, f[1])
		case i == len(values)-1:
			flush("display")
			bundle("result", f...)
		default:
			flush("display")
			bundle("display", f...)
		}
	}
	flush("result")
}

// EchoErr shows what a call returned whose only result is an error: nothing if it is nil, for a call made for its
// effect.
func EchoErr(err error) {
	if err != nil {
		Echo(err)
	}
}

// isNilError reports whether v is the nil of an error (or another interface): (value, nil) is shown as the value.
func isNilError(v any) bool { return v == nil }
