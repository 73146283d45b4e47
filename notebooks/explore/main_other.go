//go:build !js

package main

import (
	"fmt"
	"os"
	"strings"
)

// main prints how all explorers look at first, or one after controls were set: explore formats number=0.1 bit=3.
func main() {
	if len(os.Args) < 2 {
		if err := printFirst(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "explore:", err)
			os.Exit(1)
		}
		return
	}
	known, ok := explorers[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "explore: there is no explorer %q\n", os.Args[1])
		os.Exit(2)
	}
	x := known.start()
	for _, arg := range os.Args[2:] {
		control, value, _ := strings.Cut(arg, "=")
		x.set(control, value)
	}
	fmt.Println(drawn(x))
}
