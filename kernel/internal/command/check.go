package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
)

func checkCommand() *command {
	return forEach(&command{
		name:  "check",
		short: "execute notebooks and compare the results with their stored outputs",
		long: `
Check executes a copy of each notebook and compares the outputs with those stored in the file, which it never writes. For cells tagged
measured, only the form is compared: how many outputs, of which kinds, and the text without its digits. Without arguments it checks all
lessons, or outside the repository the notebooks of the current folder.

Lines of the diff that begin with - are stored, and those that begin with + are new. Cells that ask for a guess run twice, as they do for a
student who answers, and both runs must give the same result. The exit status is 1 if anything differs or a cell fails. If the new outputs
are right, store them with go run ./kernel run. For translated lessons, check names the cells with texts that are not translated yet, or
whose English has changed since; that is not a failure. Examples:

  go run ./kernel check
  go run ./kernel check notebooks/11-gradients.ipynb`,
	}, func(ctx context.Context, ws *workspace, path string, limit time.Duration) (string, error) {
		diff, err := ws.checkFile(ctx, ws.spec(), path, limit)
		if diff != "" {
			fmt.Fprint(ws.stdout, diff)
			if err == nil {
				err = reported{}
			}
		}
		untranslated, langErr := ws.untranslated(path)
		fmt.Fprint(ws.stdout, untranslated)
		err = cmp.Or(err, langErr)
		return "as stored", err
	}, func(bad, all int) string {
		return fmt.Sprintf("%d of %s differ or fail. If the new outputs are right: %s run", bad, humanize.Count(all, "notebook"), self)
	})
}

// untranslated says which texts of a lesson its translations lack, by cell; "" if they lack none, or there are no
// translations.
func (w *workspace) untranslated(path string) (string, error) {
	n, err := notebook.Read(path)
	if err != nil {
		return "", err
	}
	languages, err := translate.Languages(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, l := range languages {
		var cells []string
		missing := l.Notebook(n).Missing
		stale := 0
		for _, u := range missing {
			if l.Stale(u.Text) {
				stale++
			}
			if cell := cmp.Or(u.Cell, "summary"); !slices.Contains(cells, cell) {
				cells = append(cells, cell)
			}
		}
		if len(missing) > 0 {
			fmt.Fprintf(&b, "%s, in %s: %s, for %d of them the English has changed since; in cells %s\n", w.rel(path), l.Code,
				humanize.Count(len(missing), "text")+" without a translation", stale, humanize.Shorten(strings.Join(cells, " "), 300))
		}
	}
	return b.String(), nil
}

// checkFile executes a copy of one notebook and returns how its outputs differ from the stored ones, and those of cells
// that ran twice from each other; "" if they do not.
func (w *workspace) checkFile(ctx context.Context, spec *jupyter.Spec, path string, limit time.Duration) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	stored, err := notebook.Parse(w.rel(path), b)
	if err != nil {
		return "", err
	}
	now, err := notebook.Parse(w.rel(path), b)
	if err != nil {
		return "", err
	}
	unlike, err := w.execute(ctx, spec, path, now, execution{limit: limit, again: asks})
	var diff strings.Builder
	for _, u := range unlike {
		fmt.Fprintf(&diff, "%s, cell [%d]: gives a different result when it runs again with a guess; whatever changes its values belongs in another cell\n%s",
			w.rel(path), u.cell, u.diff)
	}
	if err == nil {
		stored.KeepModule() // what it fetched once is not fetched again
		diff.WriteString(compare(w.rel(path), stored, now))
	}
	return diff.String(), err
}

// asks reports whether a cell that has run asks for a guess. The student writes it there and runs the cell again.
func asks(c *notebook.Cell) bool {
	return slices.ContainsFunc(c.Outputs, func(o *notebook.Output) bool { return o.Data[notebook.GuessType] != nil })
}
