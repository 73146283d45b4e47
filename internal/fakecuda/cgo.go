//go:build linux && cgo

package fakecuda

// usable says that package gpu can open libraries in this build.
const usable = true
