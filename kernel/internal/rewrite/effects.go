package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// effects are what code does besides giving values to variables of the cells, as far as its text tells. They are found
// once, when it is declared: a program has those of its statements and of the declarations that it reaches.
type effects struct {
	goroutines bool // a goroutine may go on when main ends
	process    bool // it changes the process, reads standard input, or goes on when a cell has ended
	aliases    bool // it takes the address of a variable of another package, which each process has for itself
	sets       []setting
}

// A setting is something of another package that code sets. Package persist carries what every process has, such as its
// environment; all else begins anew in each cell's process.
type setting struct{ name, note string } // note is shown once; "" is not shown

// starting are methods and functions that start goroutines, such as that of sync.WaitGroup.
var starting = map[string]bool{"Go": true, "AfterFunc": true}

// lasting are names of functions and variables that have to do with standard input, change the process, or go on when a
// cell has ended.
var lasting = map[string]bool{"Stdin": true, "Scan": true, "Scanln": true, "Scanf": true, "Setenv": true, "Unsetenv": true, "Clearenv": true, "Chdir": true, "Exit": true,
	"Pull": true, "Pull2": true}

// setters are functions that change what their package keeps, and whether a note is to say that nothing of it lives on:
// the logger of slog.SetDefault does.
var setters = map[string]bool{
	"archive/zip.RegisterCompressor": true, "archive/zip.RegisterDecompressor": true, "crypto.RegisterHash": true, "database/sql.Register": true,
	"encoding/gob.Register": true, "encoding/gob.RegisterName": true,
	"expvar.NewFloat": true, "expvar.NewInt": true, "expvar.NewMap": true, "expvar.NewString": true, "expvar.Publish": true,
	"image.RegisterFormat": true, "math/rand.Seed": true, "os/signal.Ignore": true, "mime.AddExtensionType": true, "net/http.Handle": true, "net/http.HandleFunc": true,
	"log/slog.SetDefault": false, "log/slog.SetLogLoggerLevel": true,
	"runtime/debug.SetMemoryLimit": true, "runtime/debug.SetMaxStack": true, "runtime/debug.SetMaxThreads": true, "runtime/debug.SetTraceback": true,
}

// writers are functions that write into their first argument.
var writers = map[string]bool{
	"sort.Sort": true, "sort.Stable": true, "sort.Slice": true, "sort.SliceStable": true, "sort.Strings": true, "sort.Ints": true, "sort.Float64s": true,
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true, "slices.Reverse": true, "slices.Delete": true, "slices.DeleteFunc": true,
	"slices.Insert": true, "slices.Replace": true, "slices.Compact": true, "slices.CompactFunc": true,
	"maps.Copy": true, "maps.Insert": true, "maps.DeleteFunc": true,
}

const everyCell = ". A function whose name begins with init_ runs in every cell"

// effects are those of a declaration or statement.
func (c *checked) effects(root ast.Node) (e effects) {
	set := func(x ast.Expr) {
		if v := c.ofPackage(x); v != nil {
			s := setting{name: v.Pkg().Name() + "." + v.Name()}
			if v.Pkg().Path()+"."+v.Name() != "time.Local" { // which lives on
				s.note = s.name + " is a variable of another package: what is set there ends with this cell" + everyCell
			}
			e.sets = append(e.sets, s)
		}
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			e.goroutines = true
		case *ast.SelectorExpr:
			e.goroutines = e.goroutines || starting[n.Sel.Name]
			e.process = e.process || lasting[n.Sel.Name]
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					set(l)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				set(n.Key)
				set(n.Value)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.UnaryExpr:
			e.aliases = e.aliases || n.Op == token.AND && c.ofPackage(n.X) != nil
		case *ast.CallExpr:
			if b, ok := c.info.Uses[named(n.Fun)].(*types.Builtin); ok && (b.Name() == "clear" || b.Name() == "copy" || b.Name() == "delete") {
				set(n.Args[0])
			}
			f, ok := c.info.Uses[named(n.Fun)].(*types.Func)
			if sel, method := n.Fun.(*ast.SelectorExpr); method && ok && strings.HasPrefix(f.Name(), "Handle") { // http.DefaultServeMux
				set(sel.X)
			}
			if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
				break
			}
			switch name := f.Pkg().Path() + "." + f.Name(); {
			case name == "runtime.SetFinalizer" || name == "runtime.AddCleanup":
				e.sets = append(e.sets, setting{name, "what " + name + " is to call is called in this cell or never: later cells have the value without it"})
			case writers[name]:
				set(n.Args[0])
			default:
				noted, sets := setters[name]
				if s := (setting{name: f.Pkg().Name() + "." + f.Name()}); sets {
					if noted {
						s.note = "what " + s.name + " sets ends with this cell" + everyCell
					}
					e.sets = append(e.sets, s)
				}
			}
		}
		return true
	})
	return e
}

// ofPackage is the variable of another package that an expression is, or is a part of; else nil.
func (c *checked) ofPackage(x ast.Expr) *types.Var {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.CallExpr: // a conversion, as in sort.StringSlice(os.Args)
			if len(e.Args) != 1 || !c.info.Types[e.Fun].IsType() {
				return nil
			}
			x = e.Args[0]
		case *ast.StarExpr:
			x = e.X
		case *ast.TypeAssertExpr:
			x = e.X
		case *ast.SelectorExpr:
			if v, ok := c.info.Uses[e.Sel].(*types.Var); ok && !v.IsField() {
				if v.Pkg() == c.pkg {
					return nil
				}
				return v
			}
			x = e.X
		default:
			return nil
		}
	}
}

// add adds the effects of a part.
func (e *effects) add(part effects) {
	e.goroutines, e.process, e.aliases = e.goroutines || part.goroutines, e.process || part.process, e.aliases || part.aliases
	e.sets = append(e.sets, part.sets...)
}

// alone reports whether a program with these effects needs a process to itself.
func (e *effects) alone() bool { return e.goroutines || e.process || e.aliases || len(e.sets) > 0 }

// noteEnds says that what a piece of the cell sets in other packages ends with the cell.
func (w *work) noteEnds(e effects) {
	for _, s := range e.sets {
		if s.note != "" {
			w.note("ends "+s.name, "%s", s.note)
		}
	}
}
