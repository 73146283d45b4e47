package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// stepsFormat changes when records made before are of no use any more, as when the kernel records something else.
const stepsFormat = "3"

// keys names records of steps by what they come from: the text of a notebook, and the code of those of this module's
// packages that its cells can reach. Comments are no code.
type keys struct {
	packages map[string]*keyPackage // by import path
}

// A keyPackage is a package of this module.
type keyPackage struct {
	dir     string
	name    string
	imports []string
	sum     string // of its code; empty until it is needed
}

// stepsKeys reads which packages there are, and what they import.
func (w *workspace) stepsKeys() (*keys, error) {
	k := &keys{packages: map[string]*keyPackage{}}
	err := filepath.WalkDir(w.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == w.root {
			return err
		}
		if d.IsDir() {
			// What a cell does with the kernel's own packages changes with stepsFormat.
			top := filepath.Dir(file) == w.root && slices.Contains([]string{"kernel", "site", "tools", "docs", copiesDir}, d.Name())
			if top || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return nil // it is being written: no cell can reach it yet
		}
		dir := filepath.Dir(file)
		rel, err := filepath.Rel(w.root, dir)
		if err != nil {
			return err
		}
		at := path.Join(modulePath, filepath.ToSlash(rel))
		if k.packages[at] == nil {
			k.packages[at] = &keyPackage{dir: dir, name: f.Name.Name}
		}
		for _, i := range f.Imports {
			if to, err := strconv.Unquote(i.Path.Value); err == nil && strings.HasPrefix(to, modulePath+"/") {
				k.packages[at].imports = append(k.packages[at].imports, to)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recorded steps: %w", err)
	}
	return k, nil
}

var qualifier = regexp.MustCompile(`\b[a-z][a-z0-9]*\.`)

// key is that of a notebook with a text.
func (k *keys) key(name string, text []byte) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n%s", stepsFormat, len(text), text)
	n, err := notebook.Parse(name, text)
	if err != nil {
		return "", fmt.Errorf("recorded steps: %w", err)
	}
	named := map[string]bool{} // a cell imports what it names
	for _, c := range n.Cells {
		if c.Type != "code" {
			continue
		}
		for _, q := range qualifier.FindAllString(c.Source, -1) {
			named[strings.TrimSuffix(q, ".")] = true
		}
	}
	reached := map[string]bool{}
	var reach func(at string)
	reach = func(at string) {
		if p := k.packages[at]; p != nil && !reached[at] {
			reached[at] = true
			for _, i := range p.imports {
				reach(i)
			}
		}
	}
	for at, p := range k.packages {
		if named[p.name] && p.name != "main" {
			reach(at)
		}
	}
	list := make([]string, 0, len(reached))
	for at := range reached {
		list = append(list, at)
	}
	slices.Sort(list)
	for _, at := range list {
		p := k.packages[at]
		if p.sum == "" {
			if p.sum, err = codeSum(p.dir); err != nil {
				return "", fmt.Errorf("recorded steps: %w", err)
			}
		}
		fmt.Fprintf(h, "\n%s %s", at, p.sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// codeSum is a digest of what a package is built from, in the order of the files' names: of Go's files, the tokens.
func codeSum(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "_test.go") || filepath.Ext(e.Name()) == ".md" || filepath.Ext(e.Name()) == ".ipynb" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "\x00%s\x00", e.Name())
		if filepath.Ext(e.Name()) == ".go" {
			sumTokens(h, text)
		} else {
			h.Write(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func sumTokens(h hash.Hash, text []byte) {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	for {
		_, t, literal := s.Scan()
		if t == token.EOF {
			return
		}
		if t == token.SEMICOLON {
			literal = ""
		}
		fmt.Fprintf(h, "%d %s\x00", t, literal)
	}
}
