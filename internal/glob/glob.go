// Package glob finds files by a pattern in a folder whose own name may be anything: [filepath.Glob] would give
// brackets in that name a meaning, too, and a course in a folder "CS336 [2026]" would have no lessons.
package glob

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
)

// In returns the files in a folder that match a pattern, such as *.go or */site.po, ordered by name; none if there is
// no such folder. It fails if the pattern is malformed.
func In(dir, pattern string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(cmp.Or(dir, ".")), pattern)
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found, err
}
