//go:build !linux

package peak

// pin does nothing: other systems have no portable way to choose a processor.
func pin(int) {}
