//go:build !linux

package peak

// tilesAllowed reports that AMX tiles aren't available: only Linux is known to provide
// them on request.
func tilesAllowed() bool { return false }
