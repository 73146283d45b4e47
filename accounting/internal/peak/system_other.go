//go:build !linux

package peak

// pin does nothing: other systems have no portable way to choose a processor.
func pin(int) {}

// lastCaches returns 0: the sizes of caches are not known.
func lastCaches() int { return 0 }
