//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/spelling"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A magic is a line that the kernel obeys. The table of them says how cells run, what completion offers, what %help
// shows, and what docs/kernel.md has to name.
type magic struct {
	name  string
	args  string // what follows the name
	about string
	do    func(commands, rewrite.Command) *failure // nil: the rewriter handles it, or the cell is not Go
	gonb  bool                                     // GoNB obeys it
}

var magics []magic

func init() { // %help shows the table that it is in
	magics = []magic{
		{"!", "command", "runs a shell command; !* runs it in the folder of your module", commands.shellLine, false},
		{"?", "name", "shows the documentation of a name; name? does the same", nil, false},
		{"%vars", "", "lists the variables with their types, shapes and sizes", func(e commands, _ rewrite.Command) *failure { e.listVars(); return nil }, false},
		{"%whos", "", "does the same as %vars, for people who know IPython", func(e commands, _ rewrite.Command) *failure { e.listVars(); return nil }, false},
		{"%who", "", "lists the names of the variables", commands.who, false},
		{"%ls", "", "lists all names that cells have declared, by kind", func(e commands, _ rewrite.Command) *failure { e.listDecls(); return nil }, false},
		{"%list", "", "does the same as %ls", func(e commands, _ rewrite.Command) *failure { e.listDecls(); return nil }, false},
		{"%rm", "name …", "forgets names", commands.removed, false},
		{"%remove", "name …", "does the same as %rm", commands.removed, false},
		{"%reset", "", "forgets everything", commands.reset, false},
		{"%doc", "name", "shows the documentation of a name", func(e commands, c rewrite.Command) *failure { return e.document(c.Rest()) }, false},
		{"%time", "code", "runs the cell, and says how long building and running it took", nil, false},
		{"%timeit", "code", "runs the cell's statements again and again, and says how long one run takes", nil, false},
		{"%bench", "code", "runs them as a Go benchmark, which counts allocations, too", nil, false},
		{"%race", "code", "runs the cell with Go's race detector", nil, false},
		{"%save", "name", "stores all variables and declarations for a later kernel", commands.save, false},
		{"%load", "name", "brings back what %save has stored", commands.load, false},
		{"%%", "arguments", "gives the program arguments, for package flag", nil, false},
		{"%main", "arguments", "does the same as %%", nil, false},
		{"%args", "arguments", "gives this program and later ones arguments", nil, false},
		{"%exec", "function arguments", "calls a function with these arguments in os.Args", func(commands, rewrite.Command) *failure {
			return said("usage", "write %exec function, and the arguments that it gets")
		}, false},
		{"%test", "arguments", "runs the tests of the cell, or those of all cells", nil, false},
		{"%goflags", "-flag …", "builds cells with these flags of go build from now on", commands.setFlags, false},
		{"%env", "NAME=value", "sets a variable for shell lines and cells, or shows it", commands.setEnv, false},
		{"%cd", "folder", "changes the folder that cells run in, or shows it", commands.changeDir, false},
		{"%with_inputs", "", "lets you type what the next shell line reads", func(e commands, _ rewrite.Command) *failure { e.k.typed = typedText; return nil }, false},
		{"%with_password", "", "does the same, without showing what you type", func(e commands, _ rewrite.Command) *failure { e.k.typed = typedSecret; return nil }, false},
		{"%%bash", "", "runs the rest of the cell in bash", nil, false},
		{"%%sh", "", "runs the rest of the cell in sh", nil, false},
		{"%%script", "program", "passes the rest of the cell to a program as its input", nil, false},
		{"%%writefile", "path", "writes the rest of the cell to a file; -a appends it", nil, false},
		{"%capture", "path", "copies what the cell shows to a file; -a appends it", commands.capture, false},
		{"%output", "lines", "shows only so many lines of what a cell prints, and the last ones; 0 shows all", commands.limitOutput, false},
		{"%get", "module@version", "fetches a module", func(commands, rewrite.Command) *failure { return nil }, false}, // before everything else
		{"%autoget", "", "lets imports fetch missing modules", func(e commands, _ rewrite.Command) *failure { e.k.noAutoget = false; return nil }, false},
		{"%noautoget", "", "keeps imports from fetching them", func(e commands, _ rewrite.Command) *failure { e.k.noAutoget = true; return nil }, false},
		{"%goworkfix", "", "repeats the modules of your go.work in go.mod, for tools that look there", commands.workFix, false},
		{"%track", "path", "adds a folder to the list of those that are watched", commands.track, false},
		{"%untrack", "path", "removes it from that list", commands.untrack, false},
		{"%wasm", "", "builds the cell for the page, which runs it", commands.makePage, false},
		{"%widgets", "", "connects GoNB's own widgets with programs; package widget needs no magic", nil, true},
		{"%widgets_hb", "", "checks whether that works", nil, true},
		{"%fallbacks", "", "says how often GoNB was needed, and why", commands.listFallbacks, false},
		{"%version", "", "shows GoNB's version", nil, true},
		{"%help", "", "shows this list", commands.help, false},
	}
}

// magicNamed returns a row of the table.
func magicNamed(name string) (magic, bool) {
	i := slices.IndexFunc(magics, func(m magic) bool { return m.name == name })
	if i < 0 {
		return magic{}, false
	}
	return magics[i], true
}

// unknown says that there is no such magic, and which one may be meant.
func unknown(name string) *failure {
	names := make([]string, len(magics))
	for i, m := range magics {
		names[i] = m.name
	}
	if nearest := spelling.Nearest(name, names, 2); nearest != "" {
		return said("unknown magic", fmt.Sprintf("there is no %s; did you mean %s?", name, nearest))
	}
	return said("unknown magic", fmt.Sprintf("there is no %s; %%help lists what there is", name))
}

func (e commands) help(rewrite.Command) *failure {
	var m, t strings.Builder
	m.WriteString("| write | and the kernel |\n|:--|:--|\n")
	for _, row := range magics {
		line := strings.TrimSpace(row.name + " " + row.args)
		if row.name == "!" || row.name == "?" {
			line = row.name + row.args
		}
		fmt.Fprintf(&m, "| `%s` | %s |\n", line, row.about)
		fmt.Fprintf(&t, "%-26s  %s\n", line, row.about)
	}
	e.show(map[string]any{"text/markdown": m.String(), "text/plain": strings.TrimSuffix(t.String(), "\n")})
	return nil
}

func (e commands) who(rewrite.Command) *failure {
	var names []string
	for _, r := range varRows(e.k.session.Current().Vars(), e.k.session.Manifest()) {
		if r.typ != "" {
			names = append(names, r.name)
		}
	}
	if len(names) == 0 {
		names = []string{"no variables yet"}
	}
	e.Stream("stdout", strings.Join(names, "  ")+"\n")
	return nil
}

// document answers with what Shift-Tab shows.
func (e commands) document(name string) *failure {
	if name == "" {
		return said("usage", "write %doc and a name, such as %doc tensor.Arange")
	}
	doc := e.k.hover(name, len(name))
	if doc == "" {
		return said("no documentation", fmt.Sprintf("nothing is known about %s", name))
	}
	plain := plainDoc(doc)
	e.pages = append(e.pages, [2]string{doc, plain})
	if e.copy != nil {
		e.copy.WriteString(plain + "\n")
	}
	return nil
}

// page is the text that the cell asked to read, by MIME type, or nil. Of several the clients
// show only one, so they are joined.
func (e *execution) page() map[string]any {
	if len(e.pages) == 0 {
		return nil
	}
	var markdown, plain []string
	for _, p := range e.pages {
		markdown, plain = append(markdown, p[0]), append(plain, p[1])
	}
	return map[string]any{"text/markdown": strings.Join(markdown, "\n\n---\n\n"), "text/plain": strings.Join(plain, "\n\n")}
}

// stopwatch is what %time measures.
type stopwatch struct{ begun, built time.Time }

// say tells how long a program took, from what the system knows about it.
func (s stopwatch) say(e *execution, p *process) {
	state := p.cmd.ProcessState
	e.Stream("stdout", fmt.Sprintf("%%time: ran for %s (processors: %s), after building for %s\n", brief(time.Since(s.built)), brief(state.UserTime()+state.SystemTime()),
		brief(s.built.Sub(s.begun))))
}

// brief rounds a duration to three digits or so.
func brief(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
