//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Modules are fetched by %get path@version, and by a cell that imports a package that is not there. Nothing else uses
// the network, and nothing is changed but the module beside the lessons' and the user's module cache.

// offlineVar keeps imports from fetching anything.
const offlineVar = "LECTERN_OFFLINE"

// get fetches modules for %get path@version.
func (e commands) get(c rewrite.Command) *failure {
	if len(c.Args) == 0 {
		return said("usage", "write %get path@version, such as %get golang.org/x/text@latest")
	}
	for _, a := range c.Args {
		if strings.HasPrefix(a, "-") || !modulePattern.MatchString(a) {
			return said("usage", fmt.Sprintf("%q is not path@version", a))
		}
	}
	if f := e.fetch("%get", c.Args, true); f != nil {
		return f
	}
	var ready []string
	for _, a := range c.Args {
		path, _, _ := strings.Cut(a, "@")
		ready = append(ready, fmt.Sprintf("ready: import %q", path))
	}
	e.fetched(strings.Join(ready, "\n"))
	return nil
}

// fetched says what a fetch achieved. Where the notebook has a module of its own, the output records that.
func (e *execution) fetched(text string) {
	if !e.k.c.own {
		e.Stream("stdout", text+"\n")
		return
	}
	if err := e.k.c.keepModule(); err != nil {
		e.note(fmt.Sprintf("the notebook's module could not be stored: %v", err))
	}
	e.Publish("clear_output", map[string]any{"wait": true}) // what was being downloaded
	e.Publish("display_data", map[string]any{"data": map[string]any{"text/plain": text}, "metadata": map[string]any{notebook.OutputModule: readModule(getModule(e.k.c))}, "transient": map[string]any{}})
}

// offline reports whether nothing may be fetched.
func offline() bool { return os.Getenv(offlineVar) != "" && os.Getenv(offlineVar) != "0" }

// mayFetch reports whether a package that a cell imports, and that is not here, should be fetched; if not, hint says
// how it could be.
func (k *kernel) mayFetch(path string) (ok bool, hint string) {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case !strings.Contains(first, ".") || !modulePattern.MatchString(path) || strings.Contains(path, "@"):
		return false, ""
	case offline():
		return false, offlineVar + " keeps imports from fetching it"
	case k.noAutoget:
		return false, fmt.Sprintf("fetch it with %%get %s, or let imports fetch with %%autoget", path)
	}
	return true, ""
}

// autoget fetches the module of a package that a cell imports and that has not been fetched yet. A module that is
// required already is downloaded, in the version that is required. Others are fetched in their latest version, but not
// into a module that others build from: there hint says what to do.
func (e *execution) autoget(path string) (hint string, f *failure) {
	if e.download(path) {
		return "", nil
	}
	within := func(module string) bool { return path == module || strings.HasPrefix(path, module+"/") }
	switch h := e.k.c.home; {
	case h != nil && within(h.path), within(modulePath(e.k.c.root)) && (h == nil || h.library):
		return "", nil // it is not there, and no other module has it
	case h != nil:
		return fmt.Sprintf("%s does not require its module: %%get %s adds it to %s", h.path, path, filepath.Join(h.dir, "go.mod")), nil
	}
	e.Stream("stderr", fmt.Sprintf("fetching %s, which this cell imports\n", path))
	if f := e.fetch("the fetch of "+path, []string{path}, false); f != nil {
		return "", f
	}
	if e.k.c.own {
		e.fetched("fetched " + path)
	}
	return "", nil
}

// download gets what a package needs from modules that are required already, and reports whether that was all it
// lacked.
func (e *execution) download(path string) bool {
	ok := download(e.ctx, e.k.f, path, func(text string) { e.Stream("stderr", text) })
	if ok {
		e.k.packages.Refetch()
	}
	return ok
}

func download(ctx context.Context, f *folders, path string, say func(text string)) bool {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	progress := func(line string) {
		if strings.HasPrefix(line, "go: downloading ") {
			say(line + "\n")
		}
	}
	_, err := goCommand(ctx, f.check(), networkEnv(os.Environ()), progress, "list", "-deps", "--", path)
	return err == nil
}

// Limits of a fetch: until something is found and is being downloaded, and in all.
const (
	findLimit  = 40 * time.Second
	fetchLimit = 10 * time.Minute
)

var errNotFound = errors.New("nothing was found in time")

// fetch adds modules, given as path or path@version, to the module for fetched packages, or leaves that as it was.
// what names the request, and all asks for every package below the paths to be available.
func (e *execution) fetch(what string, args []string, all bool) *failure {
	ctx, cancel := context.WithTimeout(e.ctx, fetchLimit)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if err := makeGetModule(e.k.c); err != nil {
		return said("get", fmt.Sprintf("there is no module for fetched packages: %v", err))
	}
	undo := remember(filepath.Join(getModule(e.k.c), "go.mod"), filepath.Join(getModule(e.k.c), "go.sum"))
	found := time.AfterFunc(findLimit, func() { giveUp(errNotFound) })
	defer found.Stop()
	progress := func(line string) {
		if strings.HasPrefix(line, "go: downloading ") {
			found.Stop()
		}
		if strings.HasPrefix(line, "go: ") && !strings.Contains(line, ": reading ") {
			e.Stream("stderr", line+"\n") // "go: downloading …", as it happens
		}
	}
	env := networkEnv(os.Environ())
	get, list := []string{"get"}, []string{"list", "-deps"}
	for _, a := range args {
		path, version, ok := strings.Cut(a, "@")
		if !ok {
			version = "latest"
		}
		get = append(get, path+"@"+version)
		if all {
			path += "/..."
		}
		list = append(list, path)
	}
	output, err := goCommand(ctx, getModule(e.k.c), append(env, "GOWORK=off"), progress, get...)
	if err == nil {
		// The workspace of the cells joins this module and the lessons'; what it needs to know of both must be at hand
		// before cells, which never use the network, are compiled in it.
		if err = joinModules(e.k.c, e.k.f.check()); err == nil {
			output, err = goCommand(ctx, e.k.f.check(), env, progress, list...)
		}
	}
	if err == nil {
		e.k.packages.Refetch()
		return nil
	}
	undo()
	if err := joinModules(e.k.c, e.k.f.check()); err != nil {
		e.note(err.Error())
	}
	if e.ctx.Err() != nil {
		return said("interrupted", what+" was interrupted")
	}
	f := said("get", strings.Join(args, " ")+" could not be fetched: "+reason(ctx, output))
	for _, line := range output[max(0, len(output)-8):] {
		if !strings.HasPrefix(line, "go: downloading ") {
			f.Lines = append(f.Lines, line)
		}
	}
	return f
}

// reason says in a sentence why the go command did not find what it should fetch.
func reason(ctx context.Context, said []string) string {
	text := strings.Join(said, "\n")
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	if wants := wantsGo.FindStringSubmatch(text); wants != nil {
		return fmt.Sprintf("it needs Go %s or newer, and cells are compiled with %s", wants[1], strings.TrimPrefix(wants[2], "go"))
	}
	switch {
	case errors.Is(context.Cause(ctx), errNotFound):
		return fmt.Sprintf("nothing was found within %v; is there a network?", findLimit)
	case ctx.Err() != nil:
		return fmt.Sprintf("it took longer than %v", fetchLimit)
	case has("dial tcp", "no such host", "i/o timeout", "connection refused", "proxyconnect", "TLS handshake", "network is unreachable", "Bad Gateway", "Service Unavailable"):
		return "the network, or the module proxy, can't be reached"
	case has("permission denied", "read-only file system"):
		return "the module cache, or the folder for fetched modules, can't be written to"
	case has("404", "410", "not found", "unrecognized import path", "no matching versions", "does not contain package", "no such file or directory", "unknown revision", "invalid version"):
		return "there is no such package or version; is its path spelled correctly?"
	}
	return "the go command says why"
}

var wantsGo = regexp.MustCompile(`requires go >= ([\w.]+) \(running (?:go )?([\w.]+)`)

// remember returns a function that gives files the content that they have now.
func remember(files ...string) (undo func()) {
	old := map[string][]byte{}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			old[f] = b
		}
	}
	return func() {
		for _, f := range files {
			if b, ok := old[f]; ok {
				os.WriteFile(f, b, 0o644)
			} else {
				os.Remove(f)
			}
		}
	}
}

// goCommand runs the go command, whose standard error it passes on line by line and returns.
func goCommand(ctx context.Context, dir string, env []string, progress func(line string), args ...string) (said []string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = child.OwnGroup()
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	for r := bufio.NewReader(pipe); ; {
		line, rerr := r.ReadString('\n')
		if line = strings.TrimRight(line, "\n"); line != "" {
			said = append(said, line)
			progress(line)
		}
		if rerr != nil {
			break
		}
	}
	return said, cmd.Wait()
}

var modulePattern = regexp.MustCompile(`^[A-Za-z0-9][\w.~/-]*(@[\w.~+-]+)?$`)

// networkEnv is the environment for the go command when it may use the network.
func networkEnv(env []string) []string { return cellenv.Online(env) }
