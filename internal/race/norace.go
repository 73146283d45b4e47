//go:build !race

// Package race tells whether the race detector is on. It makes code many times
// slower, and pools forget at random, so that tests can't count allocations; package
// tensor then spoils memory that it recycles. That is why it is not part of testenv,
// which imports package testing.
package race

// Enabled reports whether the race detector is on.
const Enabled = false
