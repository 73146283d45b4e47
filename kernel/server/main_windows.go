// Command server is Lectern's kernel. Like GoNB, which it is built on, it runs on Linux and macOS; on Windows, use WSL.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "lectern-kernel: the kernel runs on Linux and macOS; on Windows use it inside WSL")
	os.Exit(1)
}
