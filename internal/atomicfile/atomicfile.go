// Package atomicfile writes files so that their name always refers to a complete file,
// the old one or the new one, whenever the process or the machine stops.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// marker is in the names of files that are being written.
const marker = ".partial-"

// Write calls write with a new file in the folder of path and, if that returns nil,
// puts the file in the place of path: it is written to disk and renamed, and the
// folder is written to disk. Everybody may read the new file, unless it replaces one:
// then it has the old permissions. If anything fails, path is as it was.
func Write(path string, write func(w io.Writer) error) error {
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	return replace(path, mode, true, write)
}

// Replace puts a file with the content b in the place of path. It does not wait for the
// disk: it is for files that can be made anew, and would be if the machine stopped.
func Replace(path string, b []byte, mode os.FileMode) error {
	return replace(path, mode, false, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

func replace(path string, mode os.FileMode, durable bool, write func(w io.Writer) error) (err error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+marker+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil || !durable {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes a rename survive a power failure, if the file system can do that.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil // folders can't be synchronized there, and renames are journalled
	}
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// Clean removes what interrupted writes of the file left behind. It must not be
// called while the file is being written.
func Clean(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+filepath.Base(path)+marker) {
			if err := os.Remove(filepath.Join(filepath.Dir(path), e.Name())); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}

// Partial returns the name of the final file, if name is that of a file that is being
// written, or was when the process stopped.
func Partial(name string) (of string, ok bool) {
	before, _, found := strings.Cut(name, marker)
	if !found || !strings.HasPrefix(before, ".") {
		return "", false
	}
	return before[1:], true
}
