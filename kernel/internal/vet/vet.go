// Package vet runs the checks of go vet that say something about a cell, on the types that the kernel knows already.
// The vet command would read and check everything once more, in a process of its own.
//
// Left out are those about assembly, C, build tags, and examples, which cells don't have; composites, since
// plotter.XY{1, 2} is how people write it; and unusedresult, whose job package rewrite does for the library, too.
package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
)

var analyzers = []*analysis.Analyzer{
	appends.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, copylock.Analyzer, defers.Analyzer, errorsas.Analyzer, hostport.Analyzer,
	httpresponse.Analyzer, ifaceassert.Analyzer, lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer,
	stdmethods.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer, timeformat.Analyzer, unmarshal.Analyzer,
	unreachable.Analyzer, waitgroup.Analyzer,
}

// Check reports what go vet would say about a checked program. It says nothing if an analyzer can't cope with the
// program.
func Check(fset *token.FileSet, file *ast.File, pkg *types.Package, info *types.Info, report func(at token.Pos, what string)) {
	with := *info // what the proposals ask for, which we don't use
	with.Scopes, with.FileVersions = map[ast.Node]*types.Scope{file: pkg.Scope()}, map[*ast.File]string{file: pkg.GoVersion()}
	r := run{fset: fset, file: file, pkg: pkg, info: &with, results: map[*analysis.Analyzer]any{}, facts: map[fact]analysis.Fact{}}
	for _, a := range analyzers {
		for _, d := range r.diagnostics(a) {
			if a == lostcancel.Analyzer && (r.top(d.Pos) || strings.HasPrefix(d.Message, "this return statement")) {
				continue // a variable of the cell's, which later cells have, too; or the other end of the same mistake
			}
			report(d.Pos, plain(d.Message))
		}
	}
}

// plain leaves out what go vet adds for those who see nothing but its output.
func plain(msg string) string {
	msg, _, _ = strings.Cut(msg, "\n")
	return strings.ReplaceAll(msg, "main.", "")
}

// A run is what one program needs.
type run struct {
	fset    *token.FileSet
	file    *ast.File
	pkg     *types.Package
	info    *types.Info
	results map[*analysis.Analyzer]any
	facts   map[fact]analysis.Fact
}

// A fact is the place of something that an analyzer remembers about an object, or about the package, for which object
// is nil.
type fact struct {
	object types.Object
	kind   reflect.Type
}

// diagnostics runs an analyzer, after those that it needs.
func (r *run) diagnostics(a *analysis.Analyzer) (found []analysis.Diagnostic) {
	if _, done := r.results[a]; done {
		return nil
	}
	r.results[a] = nil
	needs := map[*analysis.Analyzer]any{}
	for _, n := range a.Requires {
		r.diagnostics(n)
		if r.results[n] == nil && n.ResultType != nil { // it could not cope
			return nil
		}
		needs[n] = r.results[n]
	}
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	get := func(o types.Object, f analysis.Fact) bool {
		have := r.facts[fact{o, reflect.TypeOf(f)}]
		if have != nil {
			reflect.ValueOf(f).Elem().Set(reflect.ValueOf(have).Elem())
		}
		return have != nil || o != nil && ends(o, f)
	}
	put := func(o types.Object, f analysis.Fact) { r.facts[fact{o, reflect.TypeOf(f)}] = f }
	result, err := a.Run(&analysis.Pass{
		Analyzer: a, Fset: r.fset, Files: []*ast.File{r.file}, Pkg: r.pkg, TypesInfo: r.info, TypesSizes: types.SizesFor("gc", runtime.GOARCH),
		Module: &analysis.Module{}, ReadFile: os.ReadFile, ResultOf: needs,
		Report:           func(d analysis.Diagnostic) { found = append(found, d) },
		ImportObjectFact: get, ExportObjectFact: put,
		ImportPackageFact: func(p *types.Package, f analysis.Fact) bool { return p == r.pkg && get(nil, f) },
		ExportPackageFact: func(f analysis.Fact) { put(nil, f) },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	})
	if err != nil {
		return nil
	}
	r.results[a] = result
	return found
}

// ends reports whether a function of another package never returns: all that the analyzers are told of others.
func ends(o types.Object, f analysis.Fact) bool {
	return fmt.Sprintf("%T", f) == "*ctrlflow.noReturn" && o.Pkg() != nil && o.Pkg().Path() == "log" &&
		slices.ContainsFunc([]string{"Fatal", "Panic"}, func(kind string) bool { return strings.HasPrefix(o.Name(), kind) })
}

// top reports whether a place is among the statements of main itself.
func (r *run) top(at token.Pos) bool {
	inside := false
	for _, d := range r.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || at < f.Pos() || at > f.End() {
			continue
		}
		inside = f.Name.Name == "main"
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if l, ok := n.(*ast.FuncLit); ok && l.Pos() <= at && at < l.End() {
				inside = false
			}
			return inside
		})
	}
	return inside
}
