package rewrite

import "fmt"

// fail notes a mistake at an offset of the cell.
func (w *work) fail(off int, msg, hint string) {
	w.r.Errors = append(w.r.Errors, Error{Pos: w.src.Pos(off), Msg: msg, Hint: hint, exact: true})
}

// note tells the user something, only once if key is not "".
func (w *work) note(key, format string, args ...any) {
	if key != "" {
		if w.n.noted[key] {
			return
		}
		w.n.noted[key] = true
	}
	w.r.Notes = append(w.r.Notes, fmt.Sprintf(format, args...))
}
