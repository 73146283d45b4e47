package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/kjk/lzma"
)

// What is packed can be unpacked, and is packed once.
func TestPackAll(t *testing.T) {
	dir := t.TempDir()
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(rand.N(4))
	}
	for _, content := range [][]byte{{}, {7}, bytes.Repeat([]byte("Go "), 100_000), noise} {
		list := []*packing{{kind: "a", content: content, pack: gz}, {kind: "b", content: content, pack: lz}}
		for range 2 {
			if err := packAll(t.Context(), dir, list); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range list {
			var r io.Reader
			var err error
			if x.kind == "a" {
				r, err = gzip.NewReader(bytes.NewReader(x.packed))
			} else {
				r = lzma.NewReader(bytes.NewReader(x.packed))
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: of %d bytes %d came back (%v)", x.part.Name, len(content), len(got), err)
			}
			if x.part.Bytes != len(x.packed) {
				t.Errorf("%s announces %d bytes, and has %d", x.part.Name, x.part.Bytes, len(x.packed))
			}
			kept := filepath.Join(dir, x.part.Name)
			if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := packAll(t.Context(), dir, list); err != nil || string(list[0].packed) != "kept" || string(list[1].packed) != "kept" {
			t.Errorf("what was kept is not used: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := packAll(ctx, dir, []*packing{{kind: "c", pack: gz}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}
