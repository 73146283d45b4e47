//go:build unix

package main

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/runner"
)

// commands are what a cell asks the kernel itself for: magics and shell lines. What concerns the kernel's own
// knowledge, or how its cells run, is obeyed here; the rest is GoNB's.
type commands struct{ *execution }

// obey runs commands in their order until one fails.
func (e commands) obey(cs []rewrite.Command) *failure {
	for _, c := range cs {
		if f := e.wasInterrupted(); f != nil {
			return f
		}
		var fail *failure
		switch m, _ := magicNamed(c.Name); {
		case m.do != nil:
			fail = m.do(e, c)
		case m.gonb:
			_, fail = e.askGoNB(c.Text)
		default:
			fail = unknown(c.Name)
		}
		if fail != nil {
			return fail
		}
	}
	return nil
}

// wholeCell runs a cell that is not Go.
func (e commands) wholeCell() *failure {
	first, body, _ := strings.Cut(e.req.Code, "\n")
	args, err := splitArgs(strings.TrimPrefix(first, "//gonb:"))
	if err != nil {
		return said("usage", err.Error())
	}
	switch e.Result.Whole {
	case "%%bash", "%%sh":
		if len(args) > 1 {
			return said("usage", args[0]+" takes no arguments; %%script runs any program")
		}
		return e.script(body, strings.TrimPrefix(args[0], "%%"))
	case "%%script":
		if len(args) < 2 {
			return said("usage", "write %%script and the program that should read the cell, such as %%script python3")
		}
		return e.script(body, args[1:]...)
	case "%%writefile":
		return e.writeFile(body, args[1:])
	}
	_, fail := e.askGoNB(e.req.Code)
	return fail
}

// script gives the cell to a program as its input.
func (e commands) script(body string, argv ...string) *failure {
	cmd := exec.Command(argv[0], argv[1:]...)
	if !strings.HasSuffix(body, "\n") { // some read whole lines only
		body += "\n"
	}
	cmd.Stdin = strings.NewReader(body)
	return e.runCommand(cmd, strings.Join(argv, " "))
}

// writeFile writes the cell into a file.
func (e commands) writeFile(body string, args []string) *failure {
	mode, verb := os.O_TRUNC, "Cell contents written to"
	if len(args) > 0 && args[0] == "-a" {
		mode, verb, args = os.O_APPEND, "Cell contents appended to", args[1:]
	}
	if len(args) != 1 {
		return said("usage", "write %%writefile path, or %%writefile -a path to append")
	}
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	path := e.k.path(args[0])
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err == nil {
		_, err = f.WriteString(body)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return said("writefile", err.Error())
	}
	e.Stream("stderr", fmt.Sprintf("%s %q.\n", verb, path))
	return nil
}

// path resolves a path as a shell would.
func (k *kernel) path(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		if home := k.getenv("HOME"); home != "" {
			p = home + p[1:]
		}
	}
	p = os.Expand(p, k.getenv)
	if !filepath.IsAbs(p) {
		p = filepath.Join(k.dir, p)
	}
	return p
}

// shellLine runs !command, or !*command in the folder of the module in which cells are compiled.
func (e commands) shellLine(c rewrite.Command) *failure {
	line := strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(c.Text, "!"), "\\\n", " "))
	dir := e.k.dir
	if rest, ok := strings.CutPrefix(line, "*"); ok {
		line, dir = rest, e.k.f.module()
		if e.k.plain != "" {
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(e.k.plain), 0o644); err != nil {
				return said("shell", err.Error())
			}
		}
		defer e.takeOver()
	}
	typed := e.k.typed
	e.k.typed = typedNothing
	cmd := exec.Command("/bin/bash", "-c", line)
	cmd.Dir = dir
	if typed != typedNothing {
		in, err := cmd.StdinPipe()
		if err != nil {
			return said("shell", err.Error())
		}
		e.k.input.feed(e.execution, in, typed == typedSecret)
		defer e.k.input.unfeed()
	}
	return e.runCommand(cmd, line)
}

// What a shell line reads.
const (
	typedNothing = iota
	typedText    // what the user types
	typedSecret  // a password that the user types
)

// runCommand runs a program that is not the cell's own.
func (e commands) runCommand(cmd *exec.Cmd, what string) *failure {
	if cmd.Dir == "" {
		cmd.Dir = e.k.dir
	}
	cmd.Env = e.k.shellEnv()
	show := func(name string) func(string) {
		return func(s string) {
			defer survive("output")
			e.Stream(name, s)
		}
	}
	p, err := start(cmd, show("stdout"), show("stderr"))
	if err != nil {
		return said("not started", fmt.Sprintf("%s: %v", what, err))
	}
	e.watch(p)
	state := p.cmd.ProcessState
	if state.Success() {
		return nil
	}
	if f := e.wasInterrupted(); f != nil {
		return f
	}
	return said("shell", fmt.Sprintf("%s: %s", firstWords(what), state))
}

func firstWords(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return humanize.Shorten(s, 60)
}

// setEnv obeys %env NAME value and %env NAME=value.
func (e commands) setEnv(c rewrite.Command) *failure {
	args, err := splitArgs(c.Rest())
	if err == nil && len(args) == 1 {
		if name, value, ok := strings.Cut(args[0], "="); ok && name != "" {
			args = []string{name, value}
		} else if v := e.k.getenv(args[0]); !ok {
			e.Stream("stdout", fmt.Sprintf("%s=%q\n", args[0], v))
			return nil
		}
	}
	if err != nil || len(args) != 2 {
		return said("usage", "write %env NAME value, or %env NAME=value; put a value with spaces between quotes")
	}
	e.k.setenv(args[0], args[1])
	e.Stream("stdout", fmt.Sprintf("Set: %s=%q\n", args[0], args[1]))
	if g := e.k.running(); g != nil {
		_, f := e.askGoNBQuietly(c.Text)
		return f
	}
	return nil
}

func (k *kernel) getenv(name string) string {
	if v, ok := k.env[name]; ok {
		return v
	}
	return os.Getenv(name)
}

func (k *kernel) setenv(name, value string) { k.env[name] = value }

// changeDir obeys %cd.
func (e commands) changeDir(c rewrite.Command) *failure {
	args, err := splitArgs(c.Rest())
	switch {
	case err != nil || len(args) > 1:
		return said("usage", "write %cd folder, or %cd alone to see where cells run")
	case len(args) == 0:
		e.Stream("stdout", fmt.Sprintf("Current directory: %q\n", e.k.dir))
		return nil
	}
	dir := e.k.path(args[0])
	if i, err := os.Stat(dir); err != nil || !i.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is not a folder", dir)
		}
		return said("cd", err.Error())
	}
	e.k.dir = filepath.Clean(dir)
	e.Stream("stdout", fmt.Sprintf("Changed directory to %q\n", e.k.dir))
	if g := e.k.running(); g != nil {
		_, f := e.askGoNBQuietly(fmt.Sprintf("%%cd %q", e.k.dir))
		return f
	}
	return nil
}

// capture copies what the cell prints into a file.
func (e commands) capture(c rewrite.Command) *failure {
	args, err := splitArgs(c.Rest())
	mode := os.O_TRUNC
	if len(args) > 0 && args[0] == "-a" {
		mode, args = os.O_APPEND, args[1:]
	}
	if err != nil || len(args) != 1 {
		return said("usage", "write %capture path, or %capture -a path to append")
	}
	if e.copy, err = os.OpenFile(e.k.path(args[0]), os.O_WRONLY|os.O_CREATE|mode, 0o644); err != nil {
		e.copy = nil
		return said("capture", err.Error())
	}
	return nil
}

// listDecls shows the names that are remembered, by kind, as GoNB does.
func (e commands) listDecls() {
	e.displayHTML("<h3>Memorized Definitions</h3>\n")
	kinds := e.Result.Next.Names()
	for _, kind := range []string{"Imports", "Constants", "Types", "Variables", "Functions"} {
		if len(kinds[kind]) == 0 {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "<h4>%s</h4>\n<ul>\n", kind)
		for _, n := range kinds[kind] {
			fmt.Fprintf(&b, "<li><pre>%s</pre></li>\n", html.EscapeString(n))
		}
		b.WriteString("</ul>")
		e.displayHTML(b.String())
	}
}

// removed tells what %rm has forgotten; the rewriting has done it.
func (e commands) removed(c rewrite.Command) *failure {
	if len(c.Args) == 0 {
		return said("usage", "write %rm and the names to forget; %ls lists them")
	}
	for _, n := range c.Args {
		if kind := e.Result.Removed[n]; kind != "" {
			e.Stream("stdout", fmt.Sprintf(". removed %s %s\n", kind, n))
		} else {
			e.Stream("stderr", fmt.Sprintf(". key %q not found in any definition, not removed\n", n))
		}
	}
	return nil
}

// resets reports whether the cell makes the kernel forget everything.
func (e *execution) resets() bool {
	return slices.ContainsFunc(e.Result.Commands, func(c rewrite.Command) bool { return c.Name == "%reset" && len(c.Args) == 0 })
}

// reset tells what %reset has forgotten.
func (e commands) reset(c rewrite.Command) *failure {
	switch {
	case len(c.Args) == 0:
		e.Stream("stdout", "* State reset: all memorized declarations discarded.\n")
		e.k.widgets.close(e.k, e.m, func(*runner.Widget) bool { return true })
	case len(c.Args) > 1 || c.Args[0] != "go.mod":
		return said("usage", "write %reset alone, or %reset go.mod")
	}
	os.Remove(filepath.Join(e.k.f.module(), "go.work"))
	if err := makeUserModule(e.k.c, e.k.f); err != nil {
		return said("reset", err.Error())
	}
	e.takeOver()
	return nil
}

// listFallbacks says how often GoNB had to run a cell, and why.
func (e commands) listFallbacks(rewrite.Command) *failure {
	text := e.k.fallbacksText()
	if text == "" {
		text = "the kernel has run every cell itself"
	}
	e.Stream("stdout", text+"\n")
	return nil
}

// splitArgs splits a command as GoNB does: at blanks, but not between double quotes.
func splitArgs(s string) (args []string, err error) {
	var arg strings.Builder
	begun, quoted := false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case !quoted && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				args = append(args, arg.String())
			}
			arg.Reset()
			begun = false
		case c == '"':
			quoted, begun = !quoted, true
		case quoted && c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				arg.WriteByte('\n')
			case 't':
				arg.WriteByte('\t')
			default:
				arg.WriteByte(s[i])
			}
		default:
			arg.WriteByte(c)
			begun = true
		}
	}
	if quoted {
		return nil, errors.New("a quote is never closed")
	}
	if begun {
		args = append(args, arg.String())
	}
	return args, nil
}

// inputAfter is how long a shell line may run before the user is asked for what it seems to wait for.
const inputAfter = 200 * time.Millisecond
