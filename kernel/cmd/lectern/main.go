// Command lectern is a Jupyter kernel for Go, and what goes with it: it needs no checkout.
//
//	go install github.com/lectern-go/lectern/kernel/cmd/lectern@latest
//	lectern setup -user    make the kernel known to your Jupyter and VS Code
//	lectern lab            open the notebooks of the current folder in a JupyterLab of its own
//	lectern run *.ipynb    execute notebooks, without Python
//	lectern help           list the other commands
//
// What it builds is in a folder of the user's cache folder; lectern uninstall removes it.
package main

import "github.com/lectern-go/lectern/kernel/internal/command"

func main() { command.Main() }
