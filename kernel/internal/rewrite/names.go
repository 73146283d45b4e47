package rewrite

import (
	"go/types"
	"regexp"
	"strings"
)

// writeType returns a type as Go source for package main, in which packages have our aliases. ok is false if it can't
// be written there: it has an unexported name of another package, or is declared inside a function.
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
	all := func(ts ...types.Type) bool {
		for _, t := range ts {
			if !writable(t, seen) {
				return false
			}
		}
		return true
	}
	args := func(l *types.TypeList) bool {
		for i := range l.Len() {
			if !writable(l.At(i), seen) {
				return false
			}
		}
		return true
	}
	name := func(o *types.TypeName) bool {
		switch {
		case o.Pkg() == nil:
			return true
		case o.Pkg().Path() == "main":
			return o.Parent() == o.Pkg().Scope()
		}
		return o.Exported()
	}
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() != types.Invalid && t.Info()&types.IsUntyped == 0
	case *types.Named:
		return name(t.Obj()) && args(t.TypeArgs())
	case *types.Alias:
		return name(t.Obj()) && args(t.TypeArgs())
	case *types.Pointer:
		return all(t.Elem())
	case *types.Slice:
		return all(t.Elem())
	case *types.Array:
		return all(t.Elem())
	case *types.Chan:
		return all(t.Elem())
	case *types.Map:
		return all(t.Key(), t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			f := t.Field(i)
			if !f.Exported() && f.Pkg() != nil && f.Pkg().Path() != "main" || !all(f.Type()) {
				return false
			}
		}
		return true
	case *types.Signature:
		return all(t.Params(), t.Results())
	case *types.Tuple:
		for i := range t.Len() {
			if !all(t.At(i).Type()) {
				return false
			}
		}
		return true
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			m := t.ExplicitMethod(i)
			if !m.Exported() && m.Pkg() != nil && m.Pkg().Path() != "main" || !all(m.Type()) {
				return false
			}
		}
		for i := range t.NumEmbeddeds() {
			if !all(t.EmbeddedType(i)) {
				return false
			}
		}
		return true
	case *types.Union:
		return true
	case *types.TypeParam: // in generic makers alone
		return t.Obj().Name() != "_"
	}
	return false
}

var qualified = regexp.MustCompile(`[\w./~-]+\.\w+`)

// localise turns a type with full package paths, as package persist writes it, into one with our aliases.
func (s *Session) localise(t string) string {
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
