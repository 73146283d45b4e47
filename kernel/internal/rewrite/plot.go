package rewrite

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// Package gonum/plot links a writer for each file format (PDF, TeX, PNG, ...) into every program, which takes a good
// part of the time that a cell with a chart needs to build. Cells are built with its tag "minimal", which leaves them
// out, and get the writers back if they may write a file.

const (
	plotPath = "gonum.org/v1/plot"
	fontPath = plotPath + "/font" // whose DefaultCache, which is made of functions, all plots hold
)

// plotWriters are what gonum/plot imports without the tag.
var plotWriters = []string{
	plotPath + "/vg/vgeps", plotPath + "/vg/vgimg", plotPath + "/vg/vgpdf", plotPath + "/vg/vgsvg", plotPath + "/vg/vgtex",
}

// fileCalls are the functions of gonum/plot that look for a writer by its format's name.
var fileCalls = map[string][]string{plotPath: {"Save", "WriterTo"}, plotPath + "/vg/draw": {"NewFormattedCanvas"}}

// drawers returns the packages to import so that the value of the cell's last line, and what it gives to package show,
// can be drawn, if its type may be one of those that need them, and so that long work can show its progress on the
// page. A page has only what its lessons use.
func (a *assembly) drawers(imports map[string]string) (paths []string) {
	show := slices.Contains(slices.Collect(maps.Values(imports)), showPath)
	for _, path := range imports {
		switch {
		case !show && !a.s.alone && a.n.packages.Reaches(path, progressPath):
			paths = append(paths, showPath)
		case !show || a.s.alone:
		case path == "image" || strings.HasPrefix(path, "image/"):
			paths = append(paths, picturesPath)
		case path == plotPath:
			paths = append(paths, plotPath+"/vg/vgsvg")
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := a.n.packages.Import(path)
		return err != nil
	})
}

// libraryPrefix is that of the library's own packages, which draw charts and write no files with gonum/plot.
const libraryPrefix = "github.com/lectern-go/lectern/"

// plotFormats returns the packages to import for their effect.
func (a *assembly) plotFormats() []string {
	writes := false
	a.g.inspect(func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o := a.g.c.info.Uses[id]
			writes = writes || o != nil && o.Pkg() != nil && slices.Contains(fileCalls[o.Pkg().Path()], o.Name())
		}
		return !writes
	})
	if writes {
		return plotWriters
	}
	for _, path := range a.g.imports {
		if !strings.HasPrefix(path, libraryPrefix) && !strings.HasPrefix(path, plotPath) && a.n.packages.Reaches(path, plotPath) {
			return plotWriters
		}
	}
	return nil
}
