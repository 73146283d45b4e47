//go:build !(linux && cgo)

package fakecuda

// usable says that package gpu can't open libraries in this build.
const usable = false
