//go:build linux && cgo

package gpu

import (
	"os"
	"testing"
)

func TestZZDump(t *testing.T) { os.WriteFile("/tmp/src.cu", []byte(partedSource().source), 0o644) }
