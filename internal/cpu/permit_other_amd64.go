//go:build !linux

package cpu

// permitTiles says no: how to ask other systems has not been tried.
func permitTiles() bool { return false }
