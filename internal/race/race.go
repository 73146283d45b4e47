//go:build race

// Package race tells tests whether the race detector is on: it makes code many
// times slower, and pools forget at random, so that allocations can't be counted.
package race

// Enabled reports whether the race detector is on.
const Enabled = true
