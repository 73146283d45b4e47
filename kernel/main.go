// Command kernel sets up the Go kernel of the lessons and runs, checks, renders and opens notebooks: go run ./kernel
// help lists what it does. Installed, it is better called lectern, which is the same command: see kernel/cmd/lectern.
package main

import "github.com/lectern-go/lectern/kernel/internal/command"

func main() { command.Main(true) }
