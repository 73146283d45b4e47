// Package private makes and opens folders that their user alone may enter.
//
// Kernels work in the system's temporary folder, where every user may put things under any name. The content of a
// folder there is trusted only if the folder is the user's own, closed to everybody else, and no link to somewhere
// else.
package private

import (
	"fmt"
	"os"
)

// An Error says why a folder can't be trusted.
type Error struct {
	Dir    string
	Reason string // the rule that failed, with what was found
}

func (e *Error) Error() string { return fmt.Sprintf("folder %s is not private: %s", e.Dir, e.Reason) }

// Check returns an [Error] unless dir is a folder, no symbolic link, that belongs to this process's user and has no
// permissions for others. On Windows, where each user's temporary folder is closed by the system, only the kind is
// looked at.
func Check(dir string) error {
	i, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch {
	case i.Mode()&os.ModeSymlink != 0:
		return &Error{dir, "it is a symbolic link"}
	case !i.IsDir():
		return &Error{dir, "it is not a folder"}
	}
	return owned(dir, i)
}

// MkdirTemp creates a new private folder in dir, or in the system's temporary folder if dir is "", named as by
// [os.MkdirTemp]. A disk that does not keep owners and permissions gives an [Error], and nothing is left there.
func MkdirTemp(dir, pattern string) (string, error) {
	name, err := os.MkdirTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	if err := Check(name); err != nil {
		os.Remove(name)
		return "", fmt.Errorf("%w; does its disk lack permissions? Set TMPDIR to a folder on another disk", err)
	}
	return name, nil
}
