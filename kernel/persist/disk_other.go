//go:build !js

package persist

import (
	"bytes"
	"io"
	"os"

	"github.com/lectern-go/lectern/internal/filemap"
)

// mapFile maps a whole file so that writes to the memory are writes to the file, where the system can do that.
func mapFile(path string, _ int) ([]byte, error) {
	m, err := filemap.Open(path, filemap.Shared)
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

// readFile reads a whole file.
func readFile(path string) ([]byte, error) { return os.ReadFile(path) }

// writeArray writes a new file.
func writeArray(path string, b []byte) error { return os.WriteFile(path, b, 0o600) }

// sameFile reports whether a file, which is as long as b, has these bytes.
func sameFile(path string, b []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for part := make([]byte, min(len(b), 1<<20)); len(b) > 0; b = b[len(part):] {
		part = part[:min(len(part), len(b))]
		if _, err := io.ReadFull(f, part); err != nil || !bytes.Equal(part, b[:len(part)]) {
			return false
		}
	}
	return true
}

// writeFile replaces a file in one step. Unlike atomicfile it has one name for unfinished files, which the next cell
// writes over: a cell may be killed at any time, and nothing cleans up after it.
func writeFile(path string, b []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}
