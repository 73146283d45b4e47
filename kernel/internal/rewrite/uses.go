package rewrite

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What a cell reads and what it declares, by name: of that the kernel knows which cells depend on which.

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

// reads are the names of earlier cells that the program reaches. A variable that the cell defines itself is among them
// only if a statement uses what it was before.
func (a *assembly) reads() (names []string) {
	for name := range a.named {
		if _, was := a.s.vars[name]; was && (a.types[name].typ == "" || a.g.before[name]) {
			names = append(names, name)
		}
	}
	for i := range a.g.reached {
		if d := a.g.parts[i].decl; d != nil && d.text == nil && d.src != a.src && d.key != mainName {
			names = append(names, d.called()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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

// Meaning is the code of the declaration of a name, or of a method called Type.Method, in a form in which neither
// comments nor layout matter; "" if there is none.
func (s *Session) Meaning(name string) string {
	if d := s.decls[name]; d != nil {
		return d.meaning
	}
	return ""
}

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
