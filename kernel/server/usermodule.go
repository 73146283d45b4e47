//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// The user's module is a folder with a go.mod and the last cell as main.go. Lines that begin with !* run in it, as
// they do with GoNB. Modules that its go.work or go.mod name are there for cells, too; but mistakes in them
// must not spoil cells that don't need them, so the cells' own workspace only takes them over if the go command accepts
// the result.

// module is the folder of the user's module.
func (f *folders) module() string {
	h := fnv.New32a()
	h.Write([]byte(f.work))
	return filepath.Join(f.work, fmt.Sprintf("gonb_%08x", h.Sum32()))
}

// makeUserModule creates the user's module.
func makeUserModule(c config, f *folders) error {
	dir := f.module()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+filepath.Base(dir)+"\n\ngo "+cellGo(c)+"\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644)
}

// A localModule is a module in a folder of the user's.
type localModule struct{ path, dir string }

// userFile reads a go.mod or go.work of the user's module with the go command.
func (k *kernel) userFile(what string, into any) error {
	name := filepath.Join(k.f.module(), "go."+what)
	if _, err := os.Stat(name); err != nil {
		return err
	}
	cmd := exec.Command("go", what, "edit", "-json", name)
	cmd.Dir, cmd.Env = k.f.module(), cellenv.Offline(os.Environ())
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// used lists the modules that the go.work of the user's module names.
func (k *kernel) used() (list []localModule, err error) {
	var work struct{ Use []struct{ DiskPath string } }
	if err := k.userFile("work", &work); err != nil {
		return nil, err
	}
	for _, u := range work.Use {
		dir := u.DiskPath
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(k.f.module(), dir)
		}
		if dir = filepath.Clean(dir); dir != k.f.module() && goLine(dir) != "" {
			list = append(list, localModule{modulePath(dir), dir})
		}
	}
	return list, nil
}

// replaced lists the modules that the go.mod of the user's module replaces by folders.
func (k *kernel) replaced() (list []localModule) {
	var mod struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if k.userFile("mod", &mod) != nil {
		return nil
	}
	for _, r := range mod.Replace {
		if dir := r.New.Path; r.New.Version == "" {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(k.f.module(), dir)
			}
			list = append(list, localModule{r.Old.Path, filepath.Clean(dir)})
		}
	}
	return list
}

// takeOver lets cells import from the modules that the user's module names by now.
func (e *execution) takeOver() {
	k := e.k
	var state string
	for _, name := range []string{"go.mod", "go.work"} {
		b, _ := os.ReadFile(filepath.Join(k.f.module(), name))
		state += string(b) + "\x00"
	}
	if state == k.joined {
		return
	}
	first := k.joined == ""
	k.joined = state
	used, _ := k.used()
	list := append(used, k.replaced()...)
	for _, m := range list {
		k.tracked[m.dir] = true
	}
	if len(list) == 0 && first {
		return
	}
	mod, sum := cellModule(k.c), []byte(nil)
	write := func(mod string, sum []byte) error {
		return errors.Join(os.WriteFile(filepath.Join(k.f.check(), "go.mod"), []byte(mod), 0o644), os.WriteFile(filepath.Join(k.f.check(), "go.sum"), sum, 0o644))
	}
	lessons := modulePath(k.c.root)
	for i, m := range list {
		if m.path == lessons || slices.ContainsFunc(list[:i], func(x localModule) bool { return x.path == m.path }) {
			continue
		}
		more := fmt.Sprintf("\nreplace %s => %q\n", m.path, m.dir)
		if m.path != gonbModulePath { // which is required already
			more += fmt.Sprintf("\nrequire %s v0.0.0-00010101000000-000000000000\n", m.path)
		}
		b, _ := os.ReadFile(filepath.Join(m.dir, "go.sum"))
		sums := append(append(slices.Clone(sum), bytes.TrimSpace(b)...), '\n')
		err := write(mod+more, sums)
		if err == nil { // the go command refuses all if one module of the graph is not there
			cmd := exec.Command("go", "list", "-m", m.path)
			cmd.Dir, cmd.Env = k.f.check(), toolEnv(os.Environ(), k.c.bin, k.f.tmp())
			var out []byte
			if out, err = cmd.CombinedOutput(); err != nil {
				err = errors.New(firstLine(string(out)))
			}
		}
		if err != nil {
			e.note(fmt.Sprintf("cells can't import from %s: %v", m.dir, err))
			continue
		}
		mod, sum = mod+more, sums
	}
	if err := write(mod, sum); err != nil {
		e.note(err.Error())
	}
	k.packages.Refetch()
}

const gonbModulePath = "github.com/janpfeifer/gonb"

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// workFix obeys %goworkfix: what go.work uses is a replacement in go.mod, too.
func (e commands) workFix(rewrite.Command) *failure {
	used, err := e.k.used()
	if err != nil {
		return said("goworkfix", "there is no go.work in the cells' folder: make one with !*go work init && go work use . folder")
	}
	have := map[string]string{}
	for _, m := range e.k.replaced() {
		have[m.path] = m.dir
	}
	for _, m := range used {
		if have[m.path] == m.dir {
			e.Stream("stdout", fmt.Sprintf("\t- Replace rule for module %q to local directory %q already exists.\n", m.path, m.dir))
			continue
		}
		cmd := exec.Command("go", "mod", "edit", "-replace="+m.path+"="+m.dir)
		cmd.Dir, cmd.Env = e.k.f.module(), cellenv.Offline(os.Environ())
		if out, err := cmd.CombinedOutput(); err != nil {
			return said("goworkfix", firstLine(string(out)))
		}
		if old := have[m.path]; old != "" {
			e.Stream("stderr", fmt.Sprintf("\t- WARNING: replace rule for module %q mapping to %q, updated to `go.work` location %q\n", m.path, old, m.dir))
		} else {
			e.Stream("stdout", fmt.Sprintf("\t- Added replace rule for module %q to local directory %q.\n", m.path, m.dir))
		}
	}
	e.takeOver()
	return nil
}

// track obeys %track. Changes of packages are noticed anyway: the list is for those who ask.
func (e commands) track(c rewrite.Command) *failure {
	args, err := splitArgs(c.Rest())
	if err != nil {
		return said("usage", err.Error())
	}
	if len(args) == 0 {
		text := "<b>No files or directory being tracked yet</b>\n"
		if len(e.k.tracked) > 0 {
			text = "<b>List of files/directories being tracked:</b>\n<ul>\n"
			for _, p := range slices.Sorted(maps.Keys(e.k.tracked)) {
				text += "<li>" + html.EscapeString(p) + "</li>\n"
			}
			text += "</ul>\n"
		}
		e.displayHTML(text)
		return nil
	}
	for _, p := range args {
		if _, err := os.Stat(e.k.path(p)); err != nil {
			return said("track", fmt.Sprintf("%s can't be tracked: %v", p, err))
		}
		e.k.tracked[p] = true
		e.Stream("stdout", fmt.Sprintf("\tTracking %q\n", p))
	}
	return nil
}

// untrack obeys %untrack path, or path... for everything that begins with path.
func (e commands) untrack(c rewrite.Command) *failure {
	args, err := splitArgs(c.Rest())
	if err != nil || len(args) != 1 {
		return said("usage", "write %untrack and a path that %track lists, or the beginning of several and ...")
	}
	prefix, several := strings.CutSuffix(args[0], "...")
	if !several && !e.k.tracked[args[0]] {
		return said("untrack", args[0]+" is not tracked")
	}
	for p := range e.k.tracked {
		if p == args[0] || several && strings.HasPrefix(p, prefix) {
			delete(e.k.tracked, p)
		}
	}
	e.Stream("stdout", fmt.Sprintf("\tUntracked %q\n", args[0]))
	return nil
}
