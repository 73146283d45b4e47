//go:build unix

package private

import (
	"fmt"
	"os"
	"syscall"
)

func owned(dir string, i os.FileInfo) error {
	st, ok := i.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return &Error{dir, "its owner is unknown"}
	case int(st.Uid) != os.Geteuid():
		return &Error{dir, fmt.Sprintf("it belongs to user %d, and this is user %d", st.Uid, os.Geteuid())}
	case i.Mode().Perm()&0o077 != 0:
		return &Error{dir, fmt.Sprintf("others may use it (its mode is %#o, not 0700)", i.Mode().Perm())}
	}
	return nil
}
