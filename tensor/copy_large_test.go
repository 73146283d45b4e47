package tensor

import (
	"bytes"
	"testing"
)

func TestLargeCopies(t *testing.T) {
	x := With(Uint8).Empty(largeCopy + copyPiece/2 + 3)
	memory := x.RawBytes()
	for i := range memory {
		memory[i] = byte(i ^ i>>8 ^ i>>16)
	}
	if y := x.Clone(); !bytes.Equal(y.RawBytes(), memory) {
		t.Error("a large copy differs from what was copied")
	}
}
