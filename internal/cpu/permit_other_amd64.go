//go:build !linux

package cpu

// permitTiles says no: how other systems are asked has not been tried.
func permitTiles() bool { return false }
