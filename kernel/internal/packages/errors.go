package packages

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A MissingError says that there is no such package.
type MissingError struct {
	Path   string
	Reason string // of the go command; "" if the package is simply not there
}

func (e *MissingError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("package %s can't be imported: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("there is no package %s", e.Path)
}

// A BuildError says that a package, or one that it imports, does not compile.
type BuildError struct {
	Path   string   // that was to be imported
	Broken string   // the package that does not compile
	Lines  []string // what the compiler says, with file and line; files of local packages are relative to their module
}

func (e *BuildError) Error() string {
	text := "package " + e.Path + " does not compile"
	if e.Broken != e.Path {
		text = fmt.Sprintf("package %s imports %s, which does not compile", e.Path, e.Broken)
	}
	return text + ":\n" + strings.Join(e.Lines, "\n")
}

// A ToolError says that something is wrong with Go itself, or with the modules' files, so that no package can be looked
// up.
type ToolError struct{ Reason string }

func (e *ToolError) Error() string { return e.Reason }

// unavailable are the go command's ways to say that nothing is there.
var unavailable = []string{"no required module provides", "cannot find module providing", "cannot find package", "is not in std", "malformed import path",
	"cannot find main module", "no Go files in"}

// problem turns the go command's words about a package into an error.
func (p *Packages) problem(path, reason string) error {
	reason = strings.TrimSpace(reason)
	if broken, lines, ok := strings.Cut(strings.TrimPrefix(reason, "# "), "\n"); ok && strings.HasPrefix(reason, "# ") {
		broken, _, _ = strings.Cut(broken, " ") // the test variant of a package has more
		e := &BuildError{Path: path, Broken: broken}
		for line := range strings.Lines(lines) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				e.Lines = append(e.Lines, p.relative(line))
			}
		}
		return e
	}
	for _, s := range unavailable {
		if strings.Contains(reason, s) {
			return &MissingError{Path: path}
		}
	}
	return &MissingError{Path: path, Reason: reason}
}

// relative makes the file name before a message relative to the root of its module.
func (p *Packages) relative(line string) string {
	file, rest, ok := strings.Cut(line, ":")
	if !ok || !strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, ".s") && !strings.HasSuffix(file, ".c") {
		return line
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.c.Dir, file)
	}
	root := p.c.Root
	if root == "" {
		root = p.c.Dir
	}
	if r, err := filepath.Rel(root, file); err == nil && !strings.HasPrefix(r, "..") {
		file = r
	}
	return file + ":" + rest
}
