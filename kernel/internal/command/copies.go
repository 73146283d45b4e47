package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/kernel/internal/mine"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
	"github.com/lectern-go/lectern/notebooks/course"
)

// copiesDir is where students work: copies of the lessons, in a folder that git ignores.
const copiesDir = "my-lessons"

const (
	tagCheckOnly = "check-only" // checks a lesson's numbers; not for reading
	tagSolution  = "solution"
)

func copiesCommand() *command {
	var lang string
	return &command{
		name:  "copies",
		args:  "<folder>",
		flags: func(fs *flag.FlagSet) { fs.StringVar(&lang, "lang", "", langHelp) },
		short: "write the lessons as students get them",
		long: `
Copies writes all lessons into a folder the way lab hands them out: without outputs, with folded solutions, and without the cells that only
check a lesson; and the student's package mine, into which lesson.Grade puts functions. Copies without changes are brought up to date; if a
student has worked in one, the lesson's new version is put beside it. Teachers hand out lessons this way: see docs/teachers.md. Example:

  go run ./kernel copies .lectern/lessons`,
		run: func(_ context.Context, ws *workspace, args []string) error {
			if len(args) != 1 {
				return usagef("copies takes one folder, got %q", args)
			}
			newer, err := ws.workingCopies(args[0], lang)
			if err != nil {
				return fmt.Errorf("copies: %w", err)
			}
			for _, path := range newer {
				fmt.Fprintf(ws.stdout, "%s is the new version of a lesson that has changed; you worked on the copy beside it, which stays as it is.\n", path)
			}
			fmt.Fprintf(ws.stdout, "The lessons are in %s.\n", args[0])
			return nil
		},
	}
}

const langHelp = "language of the lessons' texts, such as zh (default: English); what a student writes is the same file in every language"

// workingCopies copies all lessons into a folder, with the student's package and a notebook that shows the student's
// progress, in the given language, or in English if that is "". A copy in which the student has worked stays; if its
// lesson has changed since, the new version is put beside it and named in newer. Copies without changes are replaced.
func (w *workspace) workingCopies(dir, lang string) (newer []string, err error) {
	lessons, err := glob.In(filepath.Join(w.root, "notebooks"), "*.ipynb")
	if err != nil {
		return nil, err
	}
	languages, err := translate.Languages(filepath.Join(w.root, "notebooks"))
	if err != nil {
		return nil, err
	}
	chosen, err := translate.Named(languages, lang)
	if err != nil {
		return nil, err
	}
	if err := mine.Make(dir, w.root); err != nil {
		return nil, err
	}
	for i, path := range lessons {
		n, err := notebook.Read(path)
		if err != nil {
			return nil, err
		}
		var next *notebook.Notebook
		if i+1 < len(lessons) {
			if next, err = notebook.Read(lessons[i+1]); err != nil {
				return nil, err
			}
		}
		in := func(l *translate.Language) *notebook.Notebook {
			copied := workingCopy(n, l)
			if next != nil {
				leadTo(copied, next, filepath.Base(lessons[i+1]), l)
			}
			return copied
		}
		c := &lessonCopy{in: in(nil)}
		c.version, c.forms = sourcesDigest(c.in), map[string][]string{}
		for _, l := range append([]*translate.Language{nil}, languages...) {
			copied := in(l)
			if l == chosen {
				c.in = copied
			}
			for _, cell := range copied.Cells {
				c.forms[cell.ID] = append(c.forms[cell.ID], cell.Source)
			}
		}
		to, made, err := c.place(filepath.Join(dir, filepath.Base(path)))
		if err != nil {
			return nil, err
		}
		if made && filepath.Base(to) != filepath.Base(path) {
			newer = append(newer, w.rel(to))
		}
	}
	docs := "https://" + modulePath + "/blob/main/docs" // whoever gets these copies may have nothing else
	if filepath.Clean(dir) == filepath.Join(w.root, copiesDir) {
		docs = "../docs"
	}
	return newer, writeHome(dir, docs, chosen)
}

// leadTo ends a working copy with a way to the next lesson, a notebook of that name.
func leadTo(n, next *notebook.Notebook, name string, l *translate.Language) {
	title := l.Notebook(next).Notebook.Title()
	n.Cells = append(n.Cells, &notebook.Cell{ID: "next", Type: "markdown",
		Source: fmt.Sprintf("**%s** [%s](%s) · [%s](%s)", l.Say("Next:"), title, url.PathEscape(name), l.Say("How far you are"), course.HomeFile)})
}

// A lessonCopy is a working copy to be placed.
type lessonCopy struct {
	in      *notebook.Notebook  // the student's language
	version string              // of the lesson: the same in all languages
	forms   map[string][]string // what each cell says in any language
}

// place writes the copy to path, or if a student's work is there, beside it: name.newer.ipynb, name.newer2.ipynb and
// so on. It returns where the copy is, and whether it was written now. A file that anybody has changed, or whose cells
// have run, is never replaced; if it belongs to this version of the lesson, what the student left unchanged is
// translated into the student's language.
func (c *lessonCopy) place(path string) (to string, made bool, err error) {
	stem := strings.TrimSuffix(path, ".ipynb")
	about := notebook.Object{"copied": c.version}
	for k, v := range c.in.Metadata["lectern"].(notebook.Object) {
		about[k] = v
	}
	if digest := sourcesDigest(c.in); digest != c.version {
		about["translated"] = digest
	}
	c.in.Metadata["lectern"] = about
	for i := 0; ; i++ {
		to := path
		switch {
		case i == 1:
			to = stem + ".newer.ipynb"
		case i > 1:
			to = fmt.Sprintf("%s.newer%d.ipynb", stem, i)
		}
		there, err := notebook.Read(to)
		if errors.Is(err, fs.ErrNotExist) {
			return to, true, c.in.Write(to)
		}
		if err != nil {
			if i < 20 {
				continue // whatever it is, it is not ours to replace
			}
			return "", false, err
		}
		same := copiedVersion(there) == c.version
		if untouched(there) {
			return to, !same, c.in.Write(to)
		}
		if same {
			return to, false, c.renew(there, to)
		}
	}
}

// renew translates the cells of a file that the student has left unchanged into the student's language.
func (c *lessonCopy) renew(there *notebook.Notebook, path string) error {
	now := map[string]string{}
	for _, cell := range c.in.Cells {
		now[cell.ID] = cell.Source
	}
	changed := false
	for _, cell := range there.Cells {
		if source, ok := now[cell.ID]; ok && source != cell.Source && slices.Contains(c.forms[cell.ID], cell.Source) {
			cell.Source, changed = source, true
		}
	}
	if !changed {
		return nil
	}
	return there.Write(path)
}

// workingCopy is a lesson as a student gets it: without outputs, without the cells that only check the lesson, and with
// each solution as a folded text, which shows nothing until it is opened, and which "run all" skips.
func workingCopy(lesson *notebook.Notebook, l *translate.Language) *notebook.Notebook {
	lesson = l.Notebook(lesson).Notebook
	n := &notebook.Notebook{Metadata: notebook.Object{}}
	for k, v := range lesson.Metadata {
		n.Metadata[k] = v
	}
	var solution *notebook.Cell // the fold to which the next solution belongs
	for _, c := range lesson.Cells {
		if c.HasTag(tagCheckOnly) {
			continue
		}
		if c.HasTag(tagSolution) {
			source := c.Source
			if c.Type == "code" {
				source = "```go\n" + strings.TrimRight(source, "\n") + "\n```"
			}
			if solution == nil {
				solution = &notebook.Cell{ID: c.ID, Type: "markdown", Metadata: notebook.Object{"tags": []string{tagSolution}}}
				n.Cells = append(n.Cells, solution)
				solution.Source = "<details>\n<summary>" + l.Say("Show a solution") + "</summary>\n\n</details>"
			}
			solution.Source = strings.TrimSuffix(solution.Source, "</details>") + source + "\n\n</details>"
			continue
		}
		solution = nil
		copied := *c
		copied.Outputs, copied.Count = nil, 0
		n.Cells = append(n.Cells, &copied)
	}
	about := notebook.Object{}
	if old, ok := lesson.Metadata["lectern"].(notebook.Object); ok {
		for k, v := range old {
			about[k] = v
		}
	}
	n.Metadata["lectern"] = about
	return n
}

// copiedVersion is the version of the lesson that a working copy was made from; "" for other notebooks.
func copiedVersion(n *notebook.Notebook) string {
	about, _ := n.Metadata["lectern"].(notebook.Object)
	version, _ := about["copied"].(string)
	return version
}

// untouched reports whether a working copy is as it was made: no cell's text has changed, and none has run.
func untouched(n *notebook.Notebook) bool {
	for _, c := range n.Cells {
		if c.Count > 0 || len(c.Outputs) > 0 {
			return false
		}
	}
	about, _ := n.Metadata["lectern"].(notebook.Object)
	digest := sourcesDigest(n)
	return digest == about["copied"] || digest == about["translated"]
}

// sourcesDigest tells notebooks with different cells apart.
func sourcesDigest(n *notebook.Notebook) string {
	h := sha256.New()
	for _, c := range n.Cells {
		fmt.Fprintf(h, "%s %d\n%s\n", c.Type, len(c.Source), c.Source)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
