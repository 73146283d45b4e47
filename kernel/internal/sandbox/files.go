package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A FilesError says why the files of a submission can't be had inside.
type FilesError struct {
	Path string // the first that is too many, below the folder
	Most int64  // bytes, or 0 where there are too many files
}

func (e *FilesError) Error() string {
	if e.Most > 0 {
		return fmt.Sprintf("the files beside the notebook have more than %d MB together, with %s: leave out what the notebook doesn't open", e.Most>>20, e.Path)
	}
	return fmt.Sprintf("there are more than %d files and folders beside the notebook, with %s: leave out what the notebook doesn't open", mostFiles, e.Path)
}

// mostFiles is how many files and folders a submission may have: a disk in memory has room for twice as many.
const mostFiles = 10000

// CopyFiles copies the files of a submission, but no notebook: in one of them the hidden tests may stand. Links, named
// pipes and sockets are left out. It returns a [FilesError] where there are more than most bytes, or too many files.
func CopyFiles(from, to string, most int64) error {
	left, files := most, 0
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if files++; files > mostFiles {
			return &FilesError{Path: rel}
		}
		switch {
		case rel == ".":
			return nil
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular() || strings.EqualFold(filepath.Ext(path), ".ipynb"):
			return nil
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		if left -= i.Size(); left < 0 {
			return &FilesError{rel, most}
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.OpenFile(filepath.Join(to, rel), os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.CopyN(out, in, i.Size())
		return errors.Join(err, out.Close())
	})
}
