//go:build !windows

package main

const (
	exeSuffix = ""
	venvBin   = "bin"
)
