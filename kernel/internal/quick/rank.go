package quick

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A rank says which of the names that fit a place is likely to be meant. The scale is arbitrary; what counts is the
// order.
type rank struct {
	p       *program
	path    []ast.Node         // from the file down to the name
	wanted  types.Type         // of a value, nil if anything may come there
	typed   bool               // the name of a type is wanted
	start   bool               // a statement begins here
	uses    map[string]float64 // how near a name is used
	literal *types.Struct      // whose fields are named here
}

// newRank looks at what is around the name that is being written.
func newRank(p *program) *rank {
	r := &rank{p: p, uses: map[string]float64{}}
	var stack []ast.Node
	ast.Inspect(p.file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if id, ok := n.(*ast.Ident); ok && id.Pos() == p.at && r.path == nil {
			r.path = append([]ast.Node{}, stack...)
		}
		return true
	})
	at := p.fset.Position(p.at).Line
	ast.Inspect(p.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Pos() < p.at {
			near := 1 / (1 + float64(at-p.fset.Position(id.Pos()).Line)/8)
			r.uses[id.Name] = max(r.uses[id.Name], near) + 0.02
		}
		return true
	})
	r.context()
	return r
}

// context finds the type that is expected where the name is.
func (r *rank) context() {
	i := len(r.path) - 1
	if i < 1 {
		return
	}
	child := r.path[i]
	if s, ok := r.path[i-1].(*ast.SelectorExpr); ok && s.Sel == child {
		i--
		child = s
	}
	for i > 1 && passes(r.path[i-1]) {
		i--
		child = r.path[i]
	}
	switch parent := r.path[i-1].(type) {
	case *ast.KeyValueExpr:
		if lit, ok := r.path[i-2].(*ast.CompositeLit); ok {
			r.element(lit, parent, child)
		}
	case *ast.CompositeLit:
		if parent.Type == child {
			r.typed = true
		} else {
			r.element(parent, nil, child)
		}
	case *ast.CallExpr:
		r.argument(parent, child)
	case *ast.AssignStmt:
		r.assigned(parent, child)
	case *ast.ReturnStmt:
		r.returned(parent, child, r.path[:i-1])
	case *ast.ArrayType:
		if parent.Len == child {
			r.wanted = types.Typ[types.Int]
		} else {
			r.typed = true
		}
	case *ast.Field, *ast.MapType, *ast.ChanType, *ast.TypeSpec, *ast.Ellipsis:
		r.typed = true
	case *ast.ValueSpec:
		if parent.Type == child {
			r.typed = true
		} else if parent.Type != nil {
			r.wanted = r.p.info.Types[parent.Type].Type
		}
	case *ast.TypeAssertExpr:
		r.typed = parent.Type == child
	case *ast.ExprStmt:
		r.start = child == r.path[len(r.path)-1]
	default:
		r.operand(parent, child)
	}
}

// passes reports whether the type that is expected inside a node is the one that is expected in its place.
func passes(n ast.Node) bool {
	switch n.(type) {
	case *ast.ParenExpr, *ast.StarExpr:
		return true
	}
	return false
}

// operand finds what an operator or statement expects of a value.
func (r *rank) operand(parent, child ast.Node) {
	truth := func(x ast.Expr) {
		if x == child {
			r.wanted = types.Typ[types.Bool]
		}
	}
	switch parent := parent.(type) {
	case *ast.UnaryExpr:
		if parent.Op == token.NOT {
			truth(parent.X)
		}
	case *ast.BinaryExpr:
		other := parent.X
		if other == child {
			other = parent.Y
		}
		if tv := r.p.info.Types[other]; tv.Type != nil {
			r.wanted = types.Default(tv.Type)
		} else if parent.Op == token.LAND || parent.Op == token.LOR {
			r.wanted = types.Typ[types.Bool]
		}
	case *ast.IfStmt:
		truth(parent.Cond)
	case *ast.ForStmt:
		truth(parent.Cond)
	case *ast.IndexExpr:
		if parent.Index != child {
			return
		}
		switch t := under(r.p.info.Types[parent.X].Type).(type) {
		case *types.Map:
			r.wanted = t.Key()
		case *types.Slice, *types.Array, *types.Pointer, *types.Basic:
			r.wanted = types.Typ[types.Int]
		default: // the argument of a generic function
			r.typed = true
		}
	case *ast.SliceExpr:
		if parent.X != child {
			r.wanted = types.Typ[types.Int]
		}
	case *ast.SendStmt:
		if c, ok := under(r.p.info.Types[parent.Chan].Type).(*types.Chan); ok && parent.Value == child {
			r.wanted = c.Elem()
		}
	}
}

func under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// element handles what is inside a literal: the name of a field, its value, or an element.
func (r *rank) element(lit *ast.CompositeLit, pair *ast.KeyValueExpr, child ast.Node) {
	t := r.p.info.Types[lit].Type
	if p, ok := under(t).(*types.Pointer); ok { // an element &T{…} of which &T is left out
		t = p.Elem()
	}
	switch t := under(t).(type) {
	case *types.Struct:
		switch {
		case pair == nil || pair.Key == child:
			r.literal = t
		default:
			if key, ok := pair.Key.(*ast.Ident); ok {
				for f := range t.Fields() {
					if f.Name() == key.Name {
						r.wanted = f.Type()
					}
				}
			}
		}
	case *types.Slice:
		r.wanted = t.Elem()
	case *types.Array:
		r.wanted = t.Elem()
	case *types.Map:
		r.wanted = t.Elem()
		if pair == nil || pair.Key == child {
			r.wanted = t.Key()
		}
	}
}

func (r *rank) argument(call *ast.CallExpr, child ast.Node) {
	for i, a := range call.Args {
		if a != child {
			continue
		}
		fun := r.p.info.Types[call.Fun]
		if fun.IsBuiltin() {
			id, _ := ast.Unparen(call.Fun).(*ast.Ident)
			switch {
			case id == nil:
			case (id.Name == "make" || id.Name == "new") && i == 0:
				r.typed = true
			case id.Name == "make":
				r.wanted = types.Typ[types.Int]
			case id.Name == "append" && i > 0:
				if s, ok := under(r.p.info.Types[call.Args[0]].Type).(*types.Slice); ok {
					r.wanted = s.Elem()
				}
			}
			return
		}
		sig, ok := under(fun.Type).(*types.Signature)
		if !ok {
			return
		}
		switch n := sig.Params().Len(); {
		case i < n-1 || i < n && !sig.Variadic():
			r.wanted = sig.Params().At(i).Type()
		case n > 0 && sig.Variadic():
			if s, ok := sig.Params().At(n - 1).Type().(*types.Slice); ok {
				r.wanted = s.Elem()
			}
		}
	}
}

func (r *rank) assigned(a *ast.AssignStmt, child ast.Node) {
	for i, x := range a.Rhs {
		if x == child && len(a.Lhs) == len(a.Rhs) && a.Tok != token.DEFINE {
			r.wanted = r.p.info.Types[a.Lhs[i]].Type
		}
	}
	for _, x := range a.Lhs {
		r.start = r.start || x == child && child == r.path[len(r.path)-1]
	}
}

func (r *rank) returned(s *ast.ReturnStmt, child ast.Node, path []ast.Node) {
	for i := len(path) - 1; i >= 0; i-- {
		var t *ast.FuncType
		switch f := path[i].(type) {
		case *ast.FuncLit:
			t = f.Type
		case *ast.FuncDecl:
			t = f.Type
		default:
			continue
		}
		if t.Results == nil {
			return
		}
		var results []ast.Expr
		for _, f := range t.Results.List {
			for range max(1, len(f.Names)) {
				results = append(results, f.Type)
			}
		}
		for k, x := range s.Results {
			if x == child && k < len(results) {
				r.wanted = r.p.info.Types[results[k]].Type
			}
		}
		return
	}
}

// score tells how likely a name is that is declared depth scopes further out than the innermost.
func (r *rank) score(o types.Object, depth int) float64 {
	points := 30 * r.uses[o.Name()]
	_, isType := o.(*types.TypeName)
	_, isPackage := o.(*types.PkgName)
	switch {
	case o.Parent() == types.Universe:
		points += 5
	case isPackage:
		points += 20
	default:
		points += max(20, 40-5*float64(depth))
	}
	switch {
	case r.typed && isType:
		points += 40
	case r.typed && !isPackage:
		points -= 60
	case isType && !r.start:
		points -= 5
	}
	if r.wanted != nil && !isType && !isPackage && r.gives(o.Type()) {
		points += 25
	}
	return points
}

// gives reports whether a value of a type is of the expected type, or a call of it returns one.
func (r *rank) gives(t types.Type) bool {
	if t == nil || t == types.Typ[types.Invalid] {
		return false
	}
	if i, ok := under(r.wanted).(*types.Interface); ok && i.Empty() {
		return false // which everything is
	}
	if _, generic := r.wanted.(*types.TypeParam); generic {
		return false
	}
	if types.AssignableTo(t, r.wanted) {
		return true
	}
	sig, ok := t.Underlying().(*types.Signature)
	return ok && sig.Results().Len() > 0 && types.AssignableTo(sig.Results().At(0).Type(), r.wanted)
}

// keyword is the score of a keyword: most of them begin a statement.
func (r *rank) keyword(t token.Token) float64 {
	switch {
	case t == token.FUNC:
		return 15
	case t == token.MAP || t == token.STRUCT || t == token.CHAN || t == token.INTERFACE:
		if r.typed {
			return 30
		}
		return 8
	case r.start:
		return 25
	case t == token.RANGE:
		return 10
	}
	return -10
}
