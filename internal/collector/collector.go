// Package collector tells what Go's garbage collector has done.
package collector

import "runtime/metrics"

// Runs counts the times that the collector has run.
func Runs() uint64 {
	count := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(count)
	return count[0].Value.Uint64()
}
