package rewrite

import (
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// writeType returns a type as Go source for package main, in which packages have our aliases. ok is false if it can't
// be written there: because it has an unexported name of another package, or is declared inside a function.
func (w *work) writeType(t types.Type) (text string, ok bool) {
	if !writable(t, map[types.Type]bool{}) {
		return "", false
	}
	return types.TypeString(t, w.qualify), true
}

// qualify writes a package in front of one of its names.
func (w *work) qualify(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return w.n.alias(p.Path(), p.Name())
}

// writable reports whether package main can name a type.
func writable(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return t != nil
	}
	seen[t] = true
	ours := func(o types.Object) bool { return o.Exported() || o.Pkg() == nil || o.Pkg().Path() == "main" }
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() != types.Invalid && t.Info()&types.IsUntyped == 0
	case interface{ Obj() *types.TypeName }: // a named type, an alias or a type parameter
		o := t.Obj()
		if _, param := t.(*types.TypeParam); param { // in generic makers alone
			return o.Name() != "_"
		}
		if !ours(o) || o.Pkg() != nil && o.Pkg().Path() == "main" && o.Parent() != o.Pkg().Scope() {
			return false
		}
	case *types.Struct:
		for f := range t.Fields() {
			if !ours(f) {
				return false
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if !ours(m) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(components(t), func(t types.Type) bool { return !writable(t, seen) })
}

// components are the types that a type is written with.
func components(t types.Type) (list []types.Type) {
	switch t := t.(type) {
	case *types.Named:
		list = slices.Collect(t.TypeArgs().Types())
	case *types.Alias:
		list = slices.Collect(t.TypeArgs().Types())
	case *types.Map:
		list = []types.Type{t.Key(), t.Elem()}
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		list = []types.Type{t.Elem()}
	case *types.Struct:
		for f := range t.Fields() {
			list = append(list, f.Type())
		}
	case *types.Signature:
		list = []types.Type{t.Params(), t.Results()}
	case *types.Tuple:
		for v := range t.Variables() {
			list = append(list, v.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			list = append(list, m.Type())
		}
		list = slices.AppendSeq(list, t.EmbeddedTypes())
	}
	return list
}

var qualified = regexp.MustCompile(`[\w./~-]+\.\w+`)

// localize turns a type with full package paths, as package persist writes it, into one with our aliases.
func (s *Session) localize(t string) string {
	return qualified.ReplaceAllStringFunc(t, func(m string) string {
		i := strings.LastIndexByte(m, '.')
		path, id := m[:i], m[i+1:]
		if path == "main" {
			return id
		}
		base := path[strings.LastIndexByte(path, '/')+1:]
		if p, err := s.packages.Import(path); err == nil {
			base = p.Name()
		}
		return s.alias(path, base) + "." + id
	})
}

// Reserved reports whether a name is one that programs use for something of the kernel's.
func Reserved(name string) bool {
	for _, p := range []string{literalName, aliasPrefix, HiddenPrefix, initName, mainName, captured, persistName, showName, cellstate.WidgetsName, cellstate.SlogName, cellstate.FlagsName} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func reservedMsg(name string) string { return name + " is a name that the kernel itself uses" }
