package main

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/lectern-go/lectern/kernel/internal/names"
)

// A pkg is a line of the index.
type pkg struct {
	Path    string   `json:"path"`
	Name    string   `json:"name"`
	Imports []string `json:"imports"`
	File    string   `json:"file"` // what its archive says to importers, in the page's memory
}

// packages implements rewrite.Packages with what the page has loaded.
type packages struct {
	types.Importer
	known  map[string]*pkg
	byName map[string]string
	absent []string        // what was asked for and is not loaded yet
	loaded map[string]bool // archives that have been seen in the page's memory, where they stay

	reaches map[[2]string]bool // what Reaches has found out
}

// state is the package whose importers have state that lives on from cell to cell.
const state = "github.com/lectern-go/lectern/internal/cellstate"

func readPackages(index string) (*packages, error) {
	b, err := os.ReadFile(index)
	if err != nil {
		return nil, err
	}
	var list []*pkg
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", index, err)
	}
	p := &packages{known: map[string]*pkg{}, byName: map[string]string{}, loaded: map[string]bool{}}
	for _, k := range list {
		p.known[k.Path] = k
		if old, ok := p.byName[k.Name]; names.Importable(k.Path) && (!ok || names.Better(k.Name, k.Path, old)) {
			p.byName[k.Name] = k.Path
		}
	}
	p.forget()
	return p, nil
}

// replace has a package come from another archive from now on.
func (p *packages) replace(k *pkg) {
	p.known[k.Path] = k
	p.forget()
}

// forget reads all packages again when they are needed.
func (p *packages) forget() {
	p.reaches = map[[2]string]bool{}
	p.Importer = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		k := p.known[path]
		if k == nil {
			return nil, fmt.Errorf("there is no package %s", path)
		}
		f, err := os.Open(k.File)
		if err != nil {
			p.absent = append(p.absent, path)
		}
		return f, err
	})
}

// ByName returns the path that a package name most likely means, or "".
func (p *packages) ByName(name string) string { return p.byName[name] }

// Names returns the names of all packages that can be imported.
func (p *packages) Names() []string { return slices.Sorted(maps.Keys(p.byName)) }

// Stateful reports whether a package has state that lives on.
func (p *packages) Stateful(path string) bool { return p.Reaches(path, state) }

// Reaches reports whether a package imports another one, itself or through others.
func (p *packages) Reaches(path, other string) bool {
	pair := [2]string{path, other}
	does, known := p.reaches[pair]
	if !known {
		found := map[string]string{}
		p.collect(path, found)
		does = path != other && found[other] != ""
		p.reaches[pair] = does
	}
	return does
}

// missing returns the packages among some, and all that they import, whose archives are not loaded.
func (p *packages) missing(paths []string) []string {
	files := map[string]string{}
	for _, path := range paths {
		p.collect(path, files)
	}
	var list []string
	for path, file := range files {
		if !p.loaded[file] {
			if _, err := os.Stat(file); err != nil {
				list = append(list, path)
			} else {
				p.loaded[file] = true
			}
		}
	}
	slices.Sort(list)
	return list
}

// collect adds the archives of a package and of all that it imports.
func (p *packages) collect(path string, files map[string]string) {
	k := p.known[path]
	if k == nil || files[path] != "" {
		return
	}
	files[path] = k.File
	for _, i := range k.Imports {
		p.collect(i, files)
	}
}
