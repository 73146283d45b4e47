package export

import (
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Header is the first line of an exported program, and Begin how every such line begins.
const (
	Header = Begin + "%s as a program. A function for each cell, in their order.\n"
	Begin  = "// The notebook "
)

// A Mistake is what keeps a cell, and so the notebook, from becoming a program.
type Mistake struct {
	Cell   *notebook.Cell
	Number int    // of the cell, as in the program
	Text   string // with the line, if it has one
}

func (m *Mistake) Error() string { return fmt.Sprintf("cell [%d]%s", m.Number, m.Text) }

// Cells turns the cells of a notebook into parts of a program, as if each had run and kept what it defines.
// again is asked when a cell can't be rewritten as it should be, and reports whether it is worth another try. A cell
// that does not build is a [*Mistake].
func Cells(n *notebook.Notebook, p rewrite.Packages, again func(*rewrite.Result) bool) (list []Cell, err error) {
	session := rewrite.NewSession(p, nil).Alone()
	number := 0
	for _, cell := range n.Cells {
		switch {
		case cell.Type == "markdown":
			list = append(list, Cell{Text: cell.Source})
			continue
		case cell.Type != "code" || strings.TrimSpace(cell.Source) == "":
			continue
		}
		number++
		c := Cell{Number: number, MayFail: cell.HasTag("raises-exception"), Text: cell.Source}
		if cell.HasTag("skip-execution") {
			c.LeftOut = "it is tagged skip-execution"
			list = append(list, c)
			continue
		}
		if rewrite.Question(cell.Source) != "" {
			c.LeftOut = "it asks for help"
			list = append(list, c)
			continue
		}
		r := session.Rewrite(number, cell.Source)
		if again(r) {
			r = session.Rewrite(number, cell.Source)
		}
		switch {
		case len(r.Errors) > 0 && c.MayFail:
			c.LeftOut = "it is there to show a mistake: " + r.Errors[0].Msg
		case len(r.Errors) > 0:
			e := r.Errors[0]
			return nil, &Mistake{cell, number, fmt.Sprintf(", line %d: %s", e.Pos.Line, e.Msg)}
		case r.Whole != "":
			c.LeftOut = r.Whole + " is the notebook's"
		case r.Wasm:
			c.LeftOut = "%wasm is the notebook's"
		case r.Cgo:
			return nil, &Mistake{cell, number, " has C in it, which export does not write"}
		case r.GoNB != "":
			return nil, &Mistake{cell, number, " needs GoNB (" + r.GoNB + "), which a program does not have"}
		case r.Program != nil:
			c.Result = r
			var magics []string
			for _, m := range r.Commands {
				magics = append(magics, strings.TrimSpace(m.Text))
			}
			if len(magics) > 0 {
				c.LeftOut = strings.Join(magics, "\n")
			}
		}
		if c.Result == nil && c.LeftOut == "" {
			continue
		}
		list = append(list, c)
		if len(r.Errors) > 0 {
			continue
		}
		session = r.Next
	}
	return list, nil
}
