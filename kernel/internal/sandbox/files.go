package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A FilesError says why the files of a submission can't be copied inside.
type FilesError struct {
	Path string // the first one too many, below the folder
	Most int64  // bytes, or 0 where there are too many files
}

func (e *FilesError) Error() string {
	if e.Most > 0 {
		return fmt.Sprintf("the files beside the notebook take more than %s in all, with %s: leave out what the notebook doesn't open", humanize.Bytes(int(e.Most)), e.Path)
	}
	return fmt.Sprintf("there are more than %d files and folders beside the notebook, with %s: leave out what the notebook doesn't open", mostFiles, e.Path)
}

// mostFiles is how many files and folders a submission may have: a disk in memory has room for twice as many.
const mostFiles = 10000

// errNoFile says that what was opened is not a regular file.
var errNoFile = errors.New("it is a link, or something else that isn't a file")

// OpenFile opens a regular file whose owner may put something else in its place at any moment: it follows no link,
// and waits for no named pipe. What it says about the file holds for the one that is open.
func OpenFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, errNoFile
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	i, err := f.Stat()
	if err == nil && (!i.Mode().IsRegular() || !os.SameFile(before, i)) {
		err = errNoFile
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, i, nil
}

// IsNoFile reports whether [OpenFile] found something other than a file.
func IsNoFile(err error) bool { return err == errNoFile }

// CopyFiles copies the files of a submission, but no notebooks: one of them may contain the hidden tests. Links, named
// pipes and sockets are left out. It returns a [FilesError] where there are more than most bytes, or too many files.
func CopyFiles(from, to string, most int64) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	left, files := most, 0
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.FromSlash(path)
		if files++; files > mostFiles {
			return &FilesError{Path: name}
		}
		switch {
		case path == ".":
			return nil
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular() || strings.EqualFold(filepath.Ext(name), ".ipynb"):
			return nil
		}
		in, i, err := OpenFile(root, name)
		if IsNoFile(err) {
			return nil
		}
		if err != nil {
			return err
		}
		defer in.Close()
		if left -= i.Size(); left < 0 {
			return &FilesError{name, most}
		}
		out, err := os.OpenFile(filepath.Join(to, name), os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.CopyN(out, in, i.Size())
		return errors.Join(err, out.Close())
	})
}
