//go:build !unix

package private

import "os"

func owned(string, os.FileInfo) error { return nil }
