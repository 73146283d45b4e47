// Command typecheck checks the types of all packages and tests of this module as other systems see them:
//
//	go run ./tools/typecheck darwin/arm64 windows/amd64
//
// go vet says the same and more, but compiles the standard library and every dependency for each system first. This
// reads them, and what they declare is enough.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH ...")
		os.Exit(2)
	}
	failed := false
	for _, target := range os.Args[1:] {
		system, processor, ok := strings.Cut(target, "/")
		if !ok {
			fmt.Fprintf(os.Stderr, "typecheck: %q is not a system and a processor, such as darwin/arm64\n", target)
			os.Exit(2)
		}
		n, err := check(system, processor)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", target, err)
			failed = true
			continue
		}
		fmt.Printf("%s: the types of %d packages and tests are right\n", target, n)
	}
	if failed {
		os.Exit(1)
	}
}

// listed is what go list says of a package. That of a test has another import path than the package: "p [p.test]".
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // import paths in the files, where they stand for others
	Module     *struct{ Main bool }
	Error      *struct{ Err string }
}

// check returns how many packages of this module have the right types, or what is wrong in them.
func check(system, processor string) (n int, err error) {
	list := exec.Command("go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := list.Start(); err != nil {
		return 0, err
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	said := map[string]bool{}                 // of a package, and again of its tests
	for packages := json.NewDecoder(out); ; { // each comes after those that it imports
		var p listed
		if err := packages.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return 0, errors.Join(err, list.Wait())
		}
		if p.Error != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err))
			continue
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the main package of a test is made by go test
			continue
		}
		ours := p.Module != nil && p.Module.Main
		pkg, errs := p.check(done, processor, ours)
		done[p.ImportPath] = pkg
		if ours {
			n++
			for _, err := range errs {
				if !said[err.Error()] {
					said[err.Error()] = true
					wrong = append(wrong, err)
				}
			}
		}
	}
	return n, errors.Join(append(wrong, list.Wait())...)
}

// check reads a package and checks its types: bodies of functions, too, if it is ours.
func (p *listed) check(done map[string]*types.Package, processor string, ours bool) (*types.Package, []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	var wrong []error
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		files = append(files, f)
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if other := p.ImportMap[path]; other != "" {
				path = other
			}
			if pkg := done[path]; pkg != nil {
				return pkg, nil
			}
			return nil, fmt.Errorf("there is no package %s", path)
		}),
		IgnoreFuncBodies: !ours,
		Sizes:            types.SizesFor("gc", processor),
		Error:            func(err error) { wrong = append(wrong, err) },
	}
	pkg, _ := config.Check(path, fset, files, nil) // its error is among those that Error was told
	return pkg, wrong
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
