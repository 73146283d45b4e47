//go:build race

// Package race tells whether the race detector is on. It makes code many times slower,
// and pools forget at random, so tests can't count allocations; and package tensor
// then spoils memory that it recycles, which is why this is not part of testenv, which
// imports package testing.
package race

// Enabled reports whether the race detector is on.
const Enabled = true
