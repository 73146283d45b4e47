//go:build !linux

package sysmem

// total is more than machines have: how much this one has is not asked for.
func total() int { return 1 << 40 }

func granted(int) bool { return true }
