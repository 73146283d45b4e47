//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An embedding tells the compiler which files //go:embed names, as the go command does.
type embedding struct {
	Patterns map[string][]string // the files that each names
	Files    map[string]string   // where they are
}

// embedded finds the files in a folder that //go:embed lines name.
func embedded(dir string, lines []string) (*embedding, error) {
	e := &embedding{map[string][]string{}, map[string]string{}}
	for _, line := range lines {
		for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
			quoted, _ := strconv.QuotedPrefix(line)
			line = strings.TrimPrefix(line, quoted)
			pattern, err := strconv.Unquote(quoted)
			if err != nil {
				pattern, line, _ = strings.Cut(line, " ")
			}
			if err := e.add(dir, pattern); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

// add finds the files of one pattern. Of a folder it takes all but what begins with . or _, unless it begins with all:.
func (e *embedding) add(dir, pattern string) error {
	glob, all := strings.CutPrefix(pattern, "all:")
	if !fs.ValidPath(glob) {
		return fmt.Errorf("go:embed %s: files are named relative to the folder that cells run in, and must be in it: %s", pattern, dir)
	}
	found, err := fs.Glob(os.DirFS(dir), glob)
	if err != nil {
		return fmt.Errorf("go:embed %s: %w", pattern, err)
	}
	e.Patterns[pattern] = []string{}
	for _, name := range found {
		root := filepath.Join(dir, filepath.FromSlash(name))
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != root && !all && strings.ContainsAny(d.Name()[:1], "._"):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular():
				name, err := filepath.Rel(dir, path)
				if err != nil {
					return err
				}
				name = filepath.ToSlash(name)
				e.Patterns[pattern] = append(e.Patterns[pattern], name)
				e.Files[name] = path
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("go:embed %s: %w", pattern, err)
		}
	}
	if len(e.Patterns[pattern]) == 0 {
		return fmt.Errorf("go:embed %s: there is no such file in %s, where cells run", pattern, dir)
	}
	return nil
}

// write writes it to a file for the compiler, and returns what the files hold, by which programs differ.
func (e *embedding) write(path string) (contents []byte, err error) {
	for _, pattern := range slices.Sorted(maps.Keys(e.Patterns)) {
		for _, name := range e.Patterns[pattern] {
			b, err := os.ReadFile(e.Files[name])
			if err != nil {
				return nil, err
			}
			contents = append(fmt.Appendf(contents, "%s %d ", name, len(b)), b...)
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return contents, os.WriteFile(path, text, 0o600)
}
