package command

const (
	exeSuffix = ".exe"
	venvBin   = "Scripts"
)
