package main

import (
	"bytes"
	"image/png"
	"testing"
)

// TestPreview asks that the picture has the proportions that previews show without cutting, and a size that they load.
func TestPreview(t *testing.T) {
	c, err := png.DecodeConfig(bytes.NewReader(preview))
	if err != nil {
		t.Fatal(err)
	}
	if c.Width != 1200 || c.Height != 630 || len(preview) > 300_000 {
		t.Errorf("%d x %d pixels in %d bytes; want 1200 x 630 in at most 300000", c.Width, c.Height, len(preview))
	}
}
