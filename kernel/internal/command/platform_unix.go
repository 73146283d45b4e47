//go:build !windows

package command

const (
	exeSuffix = ""
	venvBin   = "bin"
)
