//go:build !unix

package filemap

import (
	"io"
	"os"
)

func open(f *os.File, size int, _ Mode) (*Map, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return &Map{Data: data}, nil
}
