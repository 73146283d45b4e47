package rewrite

import (
	"go/ast"
	"go/types"
	"strings"
)

// literalFunc is the prefix of the functions in which a program to be checked holds the remembered function literals.
const literalFunc = "lecternLiteral_"

// reach returns the names of the package-level variables that main can reach: through the functions and function literals that it mentions, and through
// methods, which may be called without being named.
func (c *checked) reach() map[string]bool {
	uses := map[types.Object][]types.Object{}
	var work []types.Object
	for _, d := range c.file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		obj := c.info.Defs[fd.Name]
		ast.Inspect(fd.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if u := c.info.Uses[id]; u != nil && u.Pkg() != nil && u.Pkg() == c.pkg {
					uses[obj] = append(uses[obj], u)
				}
			}
			return true
		})
		if fd == c.main || fd.Recv != nil || fd.Name.Name == "init" || strings.HasPrefix(fd.Name.Name, "init_") {
			work = append(work, obj)
		}
	}
	seen, need := map[types.Object]bool{}, map[string]bool{}
	for len(work) > 0 {
		o := work[len(work)-1]
		work = work[:len(work)-1]
		if o == nil || seen[o] {
			continue
		}
		seen[o] = true
		for _, u := range uses[o] {
			switch u := u.(type) {
			case *types.Var:
				if u.Parent() == c.pkg.Scope() {
					need[u.Name()] = true
					work = append(work, c.pkg.Scope().Lookup(literalFunc+u.Name()))
				}
			case *types.Func:
				work = append(work, u)
			}
		}
	}
	return need
}

// mainTypes returns the names of the cells' own types that t is made of, in any depth.
func mainTypes(t types.Type) []string {
	var names []string
	seen := map[types.Type]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			if o := t.Obj(); o.Pkg() != nil && o.Pkg().Path() == "main" {
				names = append(names, o.Name())
			}
			walk(types.Unalias(t))
		case *types.Named:
			for i := range t.TypeArgs().Len() {
				walk(t.TypeArgs().At(i))
			}
			if o := t.Obj(); o.Pkg() != nil && o.Pkg().Path() == "main" {
				names = append(names, o.Name())
				walk(t.Underlying())
			}
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			for i := range t.NumFields() {
				walk(t.Field(i).Type())
			}
		}
	}
	walk(t)
	return names
}
