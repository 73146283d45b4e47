package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	count "sync/atomic"
)

// Cells, and programs made from them, are parsed and type-checked only here, so that a test can count how often.
var parses, typeChecks count.Int64

// ParseFile is [parser.ParseFile] for a text.
func ParseFile(fset *token.FileSet, text string, mode parser.Mode) (*ast.File, error) {
	parses.Add(1)
	return parser.ParseFile(fset, "cell", text, mode)
}

// TypeCheck is [types.Config.Check] for a program of one file.
func TypeCheck(conf *types.Config, fset *token.FileSet, f *ast.File, info *types.Info) *types.Package {
	typeChecks.Add(1)
	pkg, _ := conf.Check("main", fset, []*ast.File{f}, info) // conf receives the errors
	return pkg
}
