package rewrite

import (
	"go/ast"
	"go/types"
	"slices"
)

// shadow gives other names to packages that declarations use under some names, which become something else. It returns
// those names that have meant packages.
func (s *Session) shadow(names ...string) (shadowed []string) {
	for d := range s.eachDecl() {
		if d.text != nil {
			continue
		}
		c := *d
		c.edits, c.uses = slices.Clone(d.edits), nil
		for _, u := range d.uses {
			if !slices.Contains(names, u.name) {
				c.uses = append(c.uses, u)
				continue
			}
			c.edits.replace(u.lo, u.hi, s.alias(u.path, u.name))
			shadowed = append(shadowed, u.name)
		}
		if len(c.uses) < len(d.uses) {
			s.put(&c)
		}
	}
	for _, name := range names {
		if s.imports[name] != "" {
			delete(s.imports, name)
			shadowed = append(shadowed, name)
		}
	}
	slices.Sort(shadowed)
	return slices.Compact(shadowed)
}

// noteShadow says once that a package has lost its name.
func (w *work) noteShadow(name string) {
	path := w.s.imports[name]
	if path == "" {
		path = w.n.packages.ByName(name)
	}
	w.note("package "+name, "%s is no longer the package here; import %q brings it back", name, path)
}

// namesPackage reports whether the cell, or a declaration of an earlier one, means a package by a name.
func (p *hoister) namesPackage(name string) bool {
	for id, o := range p.user.info.Uses {
		if _, ok := o.(*types.PkgName); ok && id.Name == name {
			return true
		}
	}
	return false
}

// shadowPackage lets a name, under which cells use a package, become something else: declarations and statements
// before that go on meaning the package.
func (p *hoister) shadowPackage(name string) {
	p.n.shadow(name)
	for id, o := range p.user.info.Uses {
		pkg, ok := o.(*types.PkgName)
		if !ok || id.Name != name || !p.mine(p.user, id) {
			continue
		}
		path := pkg.Imported().Path()
		p.replace(p.user, id.Pos(), id.End(), p.n.alias(path, pkg.Imported().Name()))
		p.dropped[id] = true
	}
}

// renameHidden gives variables whose names hide something of Go's own the names that they have in programs.
func (p *hoister) renameHidden() {
	rename := func(id *ast.Ident, o types.Object) {
		if name, ok := p.global[o]; ok && name != id.Name && p.mine(p.user, id) {
			p.replace(p.user, id.Pos(), id.End(), name)
		}
	}
	for id, o := range p.user.info.Uses {
		rename(id, o)
	}
	for id, o := range p.user.info.Defs {
		if o != nil {
			rename(id, o)
		}
	}
}
