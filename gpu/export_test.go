//go:build linux && cgo

package gpu

// Forget is forget for tests that use the package as programs do.
var Forget = forget
