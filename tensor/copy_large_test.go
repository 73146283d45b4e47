package tensor

import (
	"bytes"
	"testing"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

func TestLargeCopies(t *testing.T) {
	x := With(Uint8).Empty(loops.LargeCopy + loops.CopyPiece/2 + 3)
	memory := x.RawBytes()
	for i := range memory {
		memory[i] = byte(i ^ i>>8 ^ i>>16)
	}
	if y := x.Clone(); !bytes.Equal(y.RawBytes(), memory) {
		t.Error("a large copy differs from what was copied")
	}
}
