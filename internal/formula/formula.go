// Package formula computes what the text of a formula says, so that tests can compare fast code with the text itself.
package formula

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
)

// A Formula is a list of statements over named numbers. There are only assignments, +, -, *, /, sqrt, max, and if and
// else, whose condition is a name: it is true if that number exists and is not 0.
type Formula struct{ body *ast.BlockStmt }

// Parse reads statements in Go's syntax.
func Parse(text string) (*Formula, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", 0)
	if err != nil {
		return nil, err
	}
	return &Formula{f.Decls[0].(*ast.FuncDecl).Body}, nil
}

// Run runs the statements over numbers, which it changes and adds to. Every operation rounds to T: nothing is fused.
// It panics if it meets something that no formula may contain, or an unknown name.
func Run[T float32 | float64](f *Formula, numbers map[string]T) {
	run[T](numbers).block(f.body)
}

type run[T float32 | float64] map[string]T

func (r run[T]) block(b *ast.BlockStmt) {
	for _, s := range b.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			x := r.value(s.Rhs[0])
			if op, and := operations[s.Tok]; and {
				x = r.operate(op, r.value(s.Lhs[0]), x)
			}
			r[s.Lhs[0].(*ast.Ident).Name] = x
		case *ast.IfStmt:
			if r[s.Cond.(*ast.Ident).Name] != 0 {
				r.block(s.Body)
			} else if s.Else != nil {
				r.block(s.Else.(*ast.BlockStmt))
			}
		default:
			panic(fmt.Sprintf("formula: a %T", s))
		}
	}
}

// operations are those of assignments that change a number.
var operations = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
}

func (r run[T]) value(e ast.Expr) T {
	switch e := e.(type) {
	case *ast.Ident:
		x, there := r[e.Name]
		if !there {
			panic("formula: nothing is called " + e.Name)
		}
		return x
	case *ast.ParenExpr:
		return r.value(e.X)
	case *ast.BinaryExpr:
		return r.operate(e.Op, r.value(e.X), r.value(e.Y))
	case *ast.CallExpr:
		x := r.value(e.Args[0])
		switch name := e.Fun.(*ast.Ident).Name; name {
		case "sqrt":
			return T(math.Sqrt(float64(x)))
		case "max":
			return max(x, r.value(e.Args[1]))
		default:
			panic("formula: no function is called " + name)
		}
	}
	panic(fmt.Sprintf("formula: a %T", e))
}

// operate is not inlined, so no product is fused with a sum, whatever the processor.
//
//go:noinline
func (r run[T]) operate(op token.Token, x, y T) T {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	panic("formula: no operation " + op.String())
}
