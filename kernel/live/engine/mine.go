package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/mine"
)

const minePath = "github.com/lectern-go/lectern/notebooks/mine"

// A student is whoever reads the page, with a package mine of their own, whose sources the browser stores. Cells import
// it in place of ours. In the page's memory it is in Dir, where our solutions replace what the reader has not written;
// Ours has our package alone.
type student struct {
	mine.Package
	packages *packages
	ours     *pkg
	own      map[string]string // files that are not ours, by name
	changed  bool              // since the archive was made that cells are built with
	archives int
	next     *library // that is being compiled
	trouble  string   // for the next cell to say
}

// A library is a package that has to be compiled before a cell can be built with it.
type library struct {
	Path    string            `json:"path"`
	Archive string            `json:"archive"` // the file to write
	Sources []string          `json:"sources"`
	Files   map[string]string `json:"files"` // the archives of what it imports, by path

	imports []string
}

// newStudent returns a student whose packages are in a folder: ours in ours, where JavaScript puts it, with a list of
// the functions that such a package can hold.
func newStudent(p *packages, folder string) *student {
	s := &student{packages: p, ours: p.known[minePath]}
	s.Package = mine.Package{Dir: filepath.Join(folder, mine.Name), Ours: filepath.Join(folder, "ours"), InPage: true, Importer: p}
	if b, err := os.ReadFile(filepath.Join(s.Ours, "functions.json")); err != nil || json.Unmarshal(b, &s.Functions) != nil {
		s.ours = nil // a page of nothing but packages
		return s
	}
	s.begin(nil)
	s.changed = false
	return s
}

// begin takes what the browser has stored: files by name.
func (s *student) begin(stored map[string]string) {
	want := sources(s.Ours)
	for name, text := range stored {
		if base, _, _ := strings.Cut(name, ".go"); want[base+".go"] != "" && filepath.Base(name) == name {
			want[name] = text
		}
	}
	os.MkdirAll(s.Dir, 0o700)
	there := sources(s.Dir)
	for name := range there {
		if _, ok := want[name]; !ok {
			os.Remove(filepath.Join(s.Dir, name))
		}
	}
	for name, text := range want {
		if there[name] == text {
			continue
		}
		s.changed = true
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
			s.trouble = err.Error()
		}
	}
	s.written()
}

// sources reads the files of a package. There are no tests.
func sources(dir string) map[string]string {
	files := map[string]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && strings.Contains(e.Name(), ".go") {
			files[e.Name()] = string(b)
		}
	}
	return files
}

// written lists the files that are new since it was called last, and not ours.
func (s *student) written() map[string]string {
	ours, own, fresh := sources(s.Ours), sources(s.Dir), map[string]string{}
	maps.DeleteFunc(own, func(name, text string) bool { return ours[name] == text })
	for name, text := range own {
		if s.own[name] != text {
			fresh[name] = text
		}
	}
	s.own = own
	return fresh
}

// keep puts a function into the package, as a cell has asked for, and returns what there is to tell about it.
func (s *student) keep(whose, exercise, program string) string {
	if s.ours == nil {
		return ""
	}
	if whose != "yours" {
		return s.Use(exercise)
	}
	return s.Keep(exercise, program)
}

// library is the package that has to be compiled before a program that imports it can be built, or nil. need is what
// has to be loaded before that.
func (s *student) library(imports []string) (l *library, need []string) {
	if !s.changed || !slices.Contains(imports, minePath) {
		return nil, nil
	}
	l = &library{Path: minePath, Archive: filepath.Join(filepath.Dir(s.Dir), fmt.Sprintf("mine-%d.a", s.archives+1)), Files: map[string]string{}}
	for name, text := range sources(s.Dir) {
		if filepath.Ext(name) != ".go" {
			continue
		}
		l.Sources = append(l.Sources, filepath.Join(s.Dir, name))
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			continue // the compiler says it
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(l.imports, path) {
				l.imports = append(l.imports, path)
			}
		}
	}
	slices.Sort(l.Sources)
	if need := s.packages.missing(l.imports); len(need) > 0 {
		return nil, need
	}
	for _, path := range l.imports {
		s.packages.collect(path, l.Files)
	}
	s.archives++
	s.next = l
	return l, nil
}

// compiled takes what the compiler says about the library: nothing, if cells can be built with it. Otherwise they are
// built with ours.
func (s *student) compiled(said string) {
	s.changed = false
	now := *s.ours
	if said != "" {
		s.trouble = "your package mine does not compile here, so cells call our solutions: " + said
	} else {
		now.File, now.Imports = s.next.Archive, s.next.imports
	}
	s.packages.replace(&now)
}
