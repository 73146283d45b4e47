//go:build unix

package main

import (
	"path/filepath"
	"regexp"

	"github.com/lectern-go/lectern/kernel/internal/mine"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// mine is the student's own package. Its folder is "" if there is none.
func (k *kernel) mine() *mine.Package {
	p := &mine.Package{Dir: k.c.mine, Ours: filepath.Join(k.c.root, "notebooks", mine.Name), Importer: k.packages}
	p.Test = func(f mine.Function) []byte { return lesson.Kept(f).Test() }
	for _, f := range lesson.KeptFunctions() {
		p.Functions = append(p.Functions, mine.Function(f))
	}
	return p
}

// keepMine puts a function into the student's own package, if there is one beside the notebook: the one that the cell
// has given lesson.Grade, or our solution of the exercise.
func (e *execution) keepMine(whose, exercise string) {
	p := e.k.mine()
	said := ""
	switch {
	case p.Dir != "" && whose == "yours":
		said = p.Keep(exercise, e.Result.Plain)
	case p.Dir != "":
		said = p.Use(exercise)
	case whose != "yours":
		said = "There is no package mine beside this notebook: in working copies of the lessons, which lab opens, this puts our solution there."
	}
	if said != "" {
		e.Print(said + "\n")
	}
}

// undefinedMine is the message for a name that the student's package does not have.
var undefinedMine = regexp.MustCompile(`^undefined: ` + mine.Name + `\.(\w+)`)

// missMine says where functions come from that a cell expects in the student's package.
func (e *execution) missMine() {
	for i, x := range e.Result.Errors {
		m := undefinedMine.FindStringSubmatch(x.Msg)
		if m == nil {
			continue
		}
		if hint := e.k.mine().Missing(m[1]); hint != "" {
			e.Result.Errors[i].Hint = hint
		}
	}
}
