// Package names says which packages cells may import, which of several packages with the same name they mean, and which
// are the library's. It runs nothing, so that pages whose cells run can have it, too.
package names

import (
	"slices"
	"strings"
)

// Preferred are the paths for names that several packages of the standard library have.
var Preferred = map[string]string{
	"rand": "math/rand/v2", "template": "text/template", "scanner": "text/scanner", "pprof": "runtime/pprof", "bits": "math/bits",
}

// Better reports whether a name more likely means the package a than b: the preferred one, then one of the standard
// library, then the one with the shorter path.
func Better(name, a, b string) bool {
	if want := Preferred[name]; a == want || b == want {
		return a == want
	}
	if x, y := strings.Contains(a, "."), strings.Contains(b, "."); x != y {
		return y
	}
	return len(a) < len(b)
}

// Library are the folders of the library's packages that lessons are written with.
var Library = []string{"tensor", "nn", "optim", "einops", "autograd", "accounting", "tokenizer", "data", "checkpoint", "plots", "nn/transformer", "nn/train", "nn/parallel"}

// Importable reports whether cells may import a package: not one that is internal or vendored.
func Importable(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "internal" || s == "vendor" })
}
