//go:build !amd64

package cpu

// detect lists the levels of this processor.
func detect() []Level { return []Level{Generic} }
