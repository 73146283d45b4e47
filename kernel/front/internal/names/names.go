// Package names says which of several packages of one name a cell means.
package names

// Preferred are the paths for names that several packages of the standard library have.
var Preferred = map[string]string{
	"rand": "math/rand/v2", "template": "text/template", "scanner": "text/scanner", "pprof": "runtime/pprof", "bits": "math/bits",
}
