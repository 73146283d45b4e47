//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "engine runs in web pages: build it with GOOS=js GOARCH=wasm, as package kernel/live does")
	os.Exit(2)
}
