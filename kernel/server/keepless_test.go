//go:build unix

package main

import (
	"errors"
	"go/types"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/persist"
)

// noPackages is for cells that import nothing.
type noPackages struct{}

func (noPackages) Import(string) (*types.Package, error) { return nil, errors.New("there is none") }
func (noPackages) ByName(string) string                  { return "" }
func (noPackages) Stateful(string) bool                  { return false }
func (noPackages) Reaches(string, string) bool           { return false }
func (noPackages) Names() []string                       { return nil }

// TestSparing has a compiler that refuses the code by which some things are kept.
func TestSparing(t *testing.T) {
	const code = "a, b, c := 1, 2, 3\nf := func() int { a++; return a }"
	for _, test := range []struct {
		name    string
		refuses []string // in the program
		kept    string
		note    string
	}{
		{"one variable", []string{`"b", &b`}, "a c f", "b is not remembered by later cells: it can't be kept"},
		{"several", []string{`"a", &a`, `"c", &c`}, "b f", "c is not remembered by later cells: it can't be kept"},
		{"a function literal", []string{persist.LiteralName}, "a b c f", "function values of this cell are not remembered"},
		{"the user's own code", []string{"a++"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			builds := 0
			refused := &compileError{"compile", "cell1:1:1: boom"}
			build := func(r *rewrite.Result) error {
				builds++
				for _, s := range test.refuses {
					if strings.Contains(r.Program.String(), s) {
						return refused
					}
				}
				return nil
			}
			session := rewrite.NewSession(noPackages{}, nil)
			first := session.Rewrite(1, code)
			if len(first.Errors) > 0 || build(first) == nil {
				t.Fatalf("the cell as it is builds, or has errors: %v", first.Errors)
			}
			builds = 0
			r := keepingLess(session, first, 1, code, refused, build)
			if test.note == "" {
				if r != nil || builds != 1 {
					t.Errorf("%d more programs were built", builds)
				}
				return
			}
			if r == nil {
				t.Fatal("what not to keep was not found")
			}
			if got := strings.Join(r.Defines, " "); got != test.kept {
				t.Errorf("it keeps %q, want %q", got, test.kept)
			}
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, test.note) || !strings.Contains(notes, "boom") {
				t.Errorf("the notes are %q", notes)
			}
			if again := r.Next.Rewrite(2, code); len(again.Defines) != 4 {
				t.Errorf("the next cell keeps %q", again.Defines)
			}
		})
	}
}
