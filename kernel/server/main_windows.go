// Command server is Lectern's kernel. GoNB, which it is built on, runs on Linux and macOS, and so does it; on Windows
// use WSL.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "lectern-kernel: the kernel runs on Linux and macOS; on Windows use it inside WSL")
	os.Exit(1)
}
