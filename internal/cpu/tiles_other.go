//go:build !amd64 && !arm64 && !(js && lectern_cell)

package cpu

// detect lists the levels of this processor.
func detect() []Level { return []Level{Generic} }

var tiles32 = [...]tile{Generic: {2, 4, 4, tileGo[float32]}}

var tiles64 = [...]tile{Generic: {2, 4, 4, tileGo[float64]}}
