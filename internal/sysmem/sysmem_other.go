//go:build !linux

package sysmem

// total is more than any machine has: we don't ask how much this one has.
func total() int { return 1 << 40 }

func granted(int) bool { return true }
