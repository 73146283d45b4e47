package command

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
	"github.com/lectern-go/lectern/notebooks/course"
)

const (
	homeText = `# Your course

Guess first, then run the cell: that is how the lessons are meant to be used. Your changes are kept in these copies, and nothing overwrites them.`

	homeCell = `// Run this cell to see how far you are now.
import "github.com/lectern-go/lectern/notebooks/course"

lesson.Must(course.Read("."))`

	// DOCS is replaced by where the documents are.
	homeHelp = `## When you are stuck

- Each exercise has hints: its cell says how to get them. Its solution is in the fold below it.
- A name with a question mark, such as ` + "`tensor.Matmul?`" + `, shows what it does. So does Shift-Tab at a name.
- ` + "`%help`" + ` lists what cells can do besides Go. [What the kernel can do](DOCS/kernel.md) has the details.
- What you have solved is kept in a package of your own, ` + "`mine`" + `: [how that works](DOCS/mine.md).
- [Go for people who know Python](0-go.ipynb) shows the Go that the lessons use, and [this table](DOCS/pytorch.md) gives PyTorch's names for it.
- Is something wrong in a lesson? [Errata](DOCS/errata.md) lists what we found ourselves. Please
  [tell us](https://github.com/lectern-go/lectern/issues) about anything else.`
)

// writeHome writes the notebook that JupyterLab opens with: what there is, and how far the student has come. Like the
// copies beside it, it is left alone once its cells were changed. Its links to the documents begin with docs.
func writeHome(dir, docs string, l *translate.Language) error {
	path := filepath.Join(dir, course.HomeFile)
	there, err := notebook.Read(path)
	switch {
	case err == nil && copiedVersion(there) != sourcesDigest(there):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil // whatever it is, it is not ours to replace
	}
	lessons, err := course.Read(dir)
	if err != nil {
		return err
	}
	n := l.Notebook(&notebook.Notebook{Metadata: notebook.Object{}, Minor: 5, Cells: []*notebook.Cell{
		{ID: "home", Type: "markdown", Source: homeText},
		{ID: "progress", Type: "code", Source: homeCell},
		{ID: "help", Type: "markdown", Source: homeHelp},
	}}).Notebook
	now := lessons.Page(l.Say)
	n.Cells[1].Outputs = []*notebook.Output{{Type: "display_data", Data: notebook.Object{"text/markdown": now, "text/plain": now}}}
	n.Cells[2].Source = strings.ReplaceAll(n.Cells[2].Source, "DOCS", docs)
	n.SetKernel(kernelName, kernelDisplay, kernelLanguage)
	n.Metadata["lectern"] = notebook.Object{"copied": sourcesDigest(n)}
	return n.Write(path)
}
