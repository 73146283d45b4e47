package formula

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/device"
)

func TestRun(t *testing.T) {
	f, err := Parse("a := max(x, y) * (x - y)\nif zero {\n\tx = x - x\n} else {\n\tx += sqrt(a)\n}\nif y {\n\ty /= a\n}")
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]float64{"x": 5, "y": 4, "zero": 0}
	Run(f, n)
	if n["a"] != 5 || n["x"] != 5+2.23606797749979 || n["y"] != 0.8 {
		t.Errorf("%v", n)
	}
	small := map[string]float32{"x": 1, "y": 1e-9, "zero": 1}
	Run(f, small) // 1 - 1e-9 is 1 in float32
	if small["a"] != 1 || small["x"] != 0 {
		t.Errorf("%v", small)
	}
}

func TestWhatAFormulaMayNotHold(t *testing.T) {
	for _, text := range []string{"x = nothing", "x = sin(x)", "for {\n}", "x = x % 2", "x = -x"} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", text)
				}
			}()
			Run(f, map[string]float64{"x": 1})
		}()
	}
	if _, err := Parse("x = ="); err == nil {
		t.Error("a mistake is read")
	}
}

// Every number and tensor that an update lists is in its formula, and it is one that there is.
func TestUpdatesUseWhatTheyList(t *testing.T) {
	for _, u := range device.Updates {
		all := &device.Numbers{}
		for _, x := range []*float64{&all.Centered, &all.Momentum, &all.Amsgrad} {
			*x = 1
		}
		x := []float64{1, 1, 2, 1, 3}
		Step[float64](t, u.Name, all)(x)
		if got, want := u.Tensors(all), 2+len(u.State); got != want {
			t.Errorf("%s: %d tensors, want %d", u.Name, got, want)
		}
	}
}

// The operations that an update says it takes are those in its formula.
func TestUpdatesCountTheirOperations(t *testing.T) {
	for _, u := range device.Updates {
		f, err := Parse(u.Formula)
		if err != nil {
			t.Fatal(err)
		}
		for set := range 1 << 5 {
			n, on := &device.Numbers{}, map[string]bool{}
			for i, name := range []string{"ahead", "centered", "momentum", "amsgrad", "still"} {
				if set>>i&1 == 1 {
					on[name] = true
					*[]*float64{&n.Ahead, &n.Centered, &n.Momentum, &n.Amsgrad, &n.Still}[i] = 1
				}
			}
			if got, want := u.FLOPs(n), operationsIn(f.body, on); got != want {
				t.Errorf("%s with %v: %d operations, and the formula has %d", u.Name, on, got, want)
			}
		}
	}
}

// operationsIn counts those of statements, of an if those of the branch that is taken.
func operationsIn(b *ast.BlockStmt, on map[string]bool) (count int) {
	for _, s := range b.List {
		if s, ok := s.(*ast.IfStmt); ok {
			if on[s.Cond.(*ast.Ident).Name] {
				count += operationsIn(s.Body, on)
			} else if s.Else != nil {
				count += operationsIn(s.Else.(*ast.BlockStmt), on)
			}
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr, *ast.CallExpr:
				count++
			case *ast.AssignStmt:
				if !slices.Contains([]token.Token{token.ASSIGN, token.DEFINE}, n.Tok) {
					count++
				}
			}
			return true
		})
	}
	return count
}
