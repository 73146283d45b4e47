package main

const (
	exeSuffix = ".exe"
	venvBin   = "Scripts"
)
