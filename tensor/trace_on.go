//go:build !notrace

package tensor

// tracing compiles in the hooks of [Trace]. The build tag notrace leaves them
// out; it exists to measure what they cost while nobody listens.
const tracing = true
