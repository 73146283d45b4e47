// Package sample says how much tests try: with -short, as CI runs them with the race detector and on an emulated
// processor, where all is many times slower, a tenth of what they try else.
package sample

import "testing"

// Of returns n, or with -short a tenth of it, but at least one.
func Of(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}
