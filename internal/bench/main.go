// Command bench measures Lectern beside what people would use instead, in one run and alternately, so that the ratios
// mean something even on a noisy machine.
//
//	go run ./internal/bench -peers                  every group of comparisons with other libraries
//	go run ./internal/bench -peers tokenizer        one group
//	go run ./internal/bench -list                   what there is
//
// A group prints a row for each case and ends with its worst ratio; a ratio of 2 says that Lectern is twice as fast.
// The program fails if a ratio is below what its row requires. Peers are optional: missing ones are named and left
// out. Python peers run in the Python that LECTERN_PYTHON names, or else in an environment that is made below
// .lectern/ on the first run, which needs a package index.
//
// The groups are in package tools/bench.
package main

import "github.com/lectern-go/lectern/tools/bench"

func main() { bench.Main() }
