//go:build !linux

package peak

// tilesAllowed reports that AMX tiles can't be had: only Linux is known to hand
// them out on request.
func tilesAllowed() bool { return false }
