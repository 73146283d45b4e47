package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// widgetPath is the package of widgets. It keeps those that a cell has made, with the functions that they call, as a
// variable of the kernel's own: widgetsOf the cell.
const widgetPath = showPath + "/widget"

func widgetsOf(cell int) string { return fmt.Sprint(cellstate.WidgetsName, cell) }

// isOwn reports whether a variable is one of the kernel's: a variable of its own, or a setting.
func isOwn(name string) bool {
	return strings.HasPrefix(name, cellstate.WidgetsName) || slices.ContainsFunc(carried, func(s carriedSetting) bool { return s.name == name })
}

// KeepWidgets notes that a cell has made widgets. It is called on the session that the cell leads to, before Settle.
func (s *Session) KeepWidgets(cell int) {
	s.vars[widgetsOf(cell)] = variable{typ: s.alias(widgetPath, "widget") + ".Kept", shown: "widget.Kept"}
}

// ForgetWidgets forgets the widgets of a cell, and returns the name of the kept variable that has become useless.
func (s *Session) ForgetWidgets(cell int) string {
	delete(s.vars, widgetsOf(cell))
	return widgetsOf(cell)
}

// Event composes the program that hands a reader's changes and clicks to the widgets of a cell; nil if the cell's
// widgets are no longer known. The program identifies itself as that cell. Its Next is the session as it is, for places
// in reports and for Settle.
func (s *Session) Event(cell int) *Result {
	v, ok := s.vars[widgetsOf(cell)]
	if !ok {
		return nil
	}
	c := s.clone()
	r := c.Rewrite(cell, strings.TrimSuffix(v.typ, ".Kept")+".Handle(&"+widgetsOf(cell)+")")
	r.Next = c
	return r
}
