package rewrite

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// declares are the names of the cell's declarations.
func (a *assembly) declares() (names []string) {
	for _, d := range a.decls {
		if !isInit(d) && d.text == nil {
			names = append(names, d.called()...)
		}
	}
	slices.Sort(names)
	return names
}

// called are the names by which a declaration is known: those that it declares, or for a method Type.Method.
func (d *decl) called() []string {
	if len(d.names) == 0 && !strings.HasPrefix(d.key, "_ ") {
		return []string{d.key}
	}
	return d.names
}

// usedBefore are the variables of earlier cells that the cell's own statements name.
func (w *work) usedBefore() map[string]bool {
	names := map[string]bool{}
	for id, o := range w.user.info.Uses {
		if v, ok := o.(*types.Var); ok && v.Parent() == w.user.pkg.Scope() && id.Pos() >= w.user.main.Body.Lbrace {
			names[strings.TrimPrefix(v.Name(), HiddenPrefix)] = true
		}
	}
	return names
}

// meaning is code in a form that doesn't depend on comments or layout.
func meaning(code string) string {
	var b strings.Builder
	ended := false // by a semicolon, which says nothing before a bracket
	for _, t := range tokens(code) {
		switch t.tok {
		case token.COMMENT:
			continue
		case token.SEMICOLON:
			ended = true
			continue
		case token.RBRACE, token.RPAREN:
		default:
			if ended {
				b.WriteString("; ")
			}
		}
		ended = false
		b.WriteString(cmp.Or(t.lit, t.tok.String()) + " ")
	}
	return b.String()
}
