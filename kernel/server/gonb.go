//go:build unix

package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/show"
)

// toolEnv is the environment in which cells are compiled: with path before the other folders of programs, and tmp for
// temporary files, which an end by force would leave behind elsewhere.
func toolEnv(env []string, path, tmp string) []string {
	var out []string
	for _, kv := range cellenv.Offline(env) {
		if k, _, _ := strings.Cut(kv, "="); k != "PATH" && k != "TMPDIR" {
			out = append(out, kv)
		}
	}
	return append(out, "TMPDIR="+tmp, "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// shellEnv is the environment of the programs that cells start: the user's, with what %env has set.
func (k *kernel) shellEnv() []string {
	env := append(os.Environ(), "TMPDIR="+k.f.tmp(), "GONB_DIR="+k.dir, "GONB_TMP_DIR="+k.f.module())
	env = append(env, gonbEnv(k.c)...)
	for name, value := range k.env {
		env = append(env, name+"="+value)
	}
	return env
}

// gonbEnv is what GoNB tells programs about itself and about the Jupyter that has started it.
func gonbEnv(c config) (env []string) {
	if info, err := buildinfo.ReadFile(filepath.Join(c.bin, "gonb")); err == nil {
		env = append(env, "GONB_VERSION="+info.Main.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				env = append(env, "GONB_GIT_COMMIT="+s.Value)
			}
		}
	}
	if dir := jupyterRoot(); dir != "" {
		env = append(env, "GONB_JUPYTER_ROOT="+dir)
	}
	return append(env, "GONB_JUPYTER_KERNEL_ID="+kernelID(c.connection))
}

// jupyterRoot is the folder that Jupyter serves files from, as far as it can be known: the one in which its process
// runs.
func jupyterRoot() string {
	dir, _ := os.Readlink(filepath.Join("/proc", os.Getenv("JPY_PARENT_PID"), "cwd"))
	return dir
}

// kernelID is Jupyter's name for this kernel, which is part of the name of the connection file: kernel-ID.json.
func kernelID(connection string) string {
	id := strings.TrimSuffix(filepath.Base(connection), ".json")
	return strings.TrimPrefix(id, "kernel-")
}

// cellEnv is the environment of a cell's program.
func (k *kernel) cellEnv() []string { return append(k.shellEnv(), k.values...) }

// valuesEnv tells a cell's program where its values are and how it speaks with the kernel.
func valuesEnv(f *folders, token string) []string {
	return []string{
		inband.TokenVar + "=" + token,
		show.InputVar + "=" + f.input(),
		persist.DirVar + "=" + strings.Join(f.keep(), string(os.PathListSeparator)),
		persist.LimitVar + "=" + keepLimit(f.work),
	}
}

// gonb is GoNB. It is started when a cell first needs it.
type gonb struct {
	cmd     *exec.Cmd
	sockets *jupyter.Sockets
	exited  <-chan struct{}
	flags   string // that it builds with
	dirty   bool   // it may remember something
}

// A request is a cell that GoNB runs.
type request struct {
	g             *gonb
	mu            sync.Mutex
	reply         map[string]any
	replied, idle bool
	quiet         bool // what it prints is of no interest
	done          chan struct{}
}

// running returns GoNB if it has been started and lives.
func (k *kernel) running() *gonb {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gonb
}

// startGoNB starts GoNB, unless it runs. Setup builds it last: who needs it earlier waits for it.
func (e *execution) startGoNB() (*gonb, *failure) {
	k := e.k
	if slices.ContainsFunc(install.GoNB, func(path string) bool { return missing(filepath.Join(k.c.bin, filepath.Base(path))) }) {
		e.note("this cell needs GoNB, which is built now; that takes half a minute, but only once")
		cmd := install.Tools(e.ctx, k.c.root, k.c.bin, install.GoNB...)
		if text, err := cmd.CombinedOutput(); err != nil && e.ctx.Err() == nil {
			return nil, said("no GoNB", fmt.Sprintf("GoNB, which this cell needs, can't be built: %v\n%s\nRun `%s setup` where there is a network.", err, bytes.TrimSpace(text), setupCommand()))
		}
	}
	g, err := k.startGoNB(e.ctx)
	if err == nil {
		return g, nil
	}
	if f := e.wasInterrupted(); f != nil {
		return nil, f
	}
	return nil, said("no GoNB", err.Error())
}

func (k *kernel) startGoNB(ctx context.Context) (*gonb, error) {
	if g := k.running(); g != nil {
		return g, nil
	}
	used := append(modules(k.c), k.f.check())
	g, err := newGoNB(ctx, k, used)
	for tries := 0; err != nil && ctx.Err() == nil && tries < 2; tries++ { // another kernel may be changing a go.mod at this moment
		time.Sleep(200 * time.Millisecond)
		if tries == 1 {
			used = nil // without the workspace all but cells with C in them can do
		}
		g, err = newGoNB(ctx, k, used)
	}
	if err != nil {
		return nil, err
	}
	k.watcher.say(fmt.Sprint("group ", g.cmd.Process.Pid))
	k.mu.Lock()
	k.gonb = g
	k.mu.Unlock()
	go k.receive(g.sockets.IOPub, k.fromIOPub)
	go k.receive(g.sockets.Shell, k.fromShell)
	go k.receive(g.sockets.Control, func(*jupyter.Message) {})
	go k.receive(g.sockets.Stdin, func(m *jupyter.Message) { k.jupyter.Stdin.Send(m) })
	go func() {
		<-g.exited
		g.sockets.Close()
		k.mu.Lock()
		if k.gonb == g {
			k.gonb = nil
		}
		e := k.run
		k.mu.Unlock()
		if e != nil {
			e.mu.Lock()
			if e.gonb != nil && e.gonb.g == g {
				e.gonb.finished(true, true)
			}
			e.mu.Unlock()
		}
	}()
	return g, nil
}

// newGoNB starts GoNB, in a process group of its own and in a workspace of some modules.
func newGoNB(ctx context.Context, k *kernel, modules []string) (*gonb, error) {
	// GoNB starts a gopls if it finds one, but is asked nothing that needs one. So it sees only goimports.
	tool := filepath.Join(k.f.path(), "goimports")
	if err := os.Symlink(filepath.Join(k.c.bin, "goimports"), tool); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("tools for GoNB: %w", err)
	}
	info, err := jupyter.NewConnectionInfo(k.f.work, k.f.memory) // folders that other users may not enter: iopub shows all who reach it what cells print
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(k.f.work, "gonb-") // of its own, since a GoNB before may have died
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "kernel-"+kernelID(k.c.connection)+".json") // widgets' pages identify the kernel to Jupyter by the ID in this name
	if err := info.WriteFile(file); err != nil {
		return nil, err
	}
	g := &gonb{}
	g.cmd = exec.Command(filepath.Join(k.c.bin, "gonb"), "-kernel="+file, "-raw_error=true", "-logtostderr=false", "-stderrthreshold=3", "-log_file="+os.DevNull)
	if len(modules) > 0 {
		g.cmd.Args = append(g.cmd.Args, "-go_work="+strings.Join(modules, ","))
	}
	env := append(toolEnv(os.Environ(), k.f.path(), k.f.tmp()), gonbEnv(k.c)...)
	for name, value := range k.env {
		env = append(env, name+"="+value)
	}
	g.cmd.Env, g.cmd.Dir = append(env, k.values...), k.dir
	g.cmd.Stdout, g.cmd.Stderr = io.Discard, os.Stderr
	g.cmd.WaitDelay = time.Second
	if g.exited, err = child.Begin(g.cmd); err != nil {
		return nil, fmt.Errorf("start gonb: %w", err)
	}
	if g.sockets, err = dial(ctx, info, g); err != nil {
		g.kill()
		return nil, fmt.Errorf("gonb: %w", err)
	}
	return g, nil
}

// dial connects to GoNB, unless GoNB ends first.
func dial(ctx context.Context, info jupyter.ConnectionInfo, g *gonb) (*jupyter.Sockets, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("no answer within 30 s"))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-g.exited:
			stop(fmt.Errorf("it ended at once (%v)", g.cmd.ProcessState))
		case <-ctx.Done():
		}
	}()
	s, err := jupyter.Dial(ctx, info)
	if err != nil {
		return nil, err
	}
	if _, err := s.WaitReady(ctx, "lectern"); err != nil {
		s.Close()
		return nil, err
	}
	// With the network off, "go get" before each cell finds nothing and costs time. The first cell comes after this
	// request.
	if err := s.Shell.Send(jupyter.NewMessage("lectern", "execute_request", map[string]any{"code": "%noautoget", "silent": true, "store_history": false,
		"allow_stdin": false, "stop_on_error": true, "user_expressions": map[string]string{}})); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// stop ends GoNB and everything that it started.
func (g *gonb) stop() {
	terminate(g.cmd.Process)
	select {
	case <-g.exited:
	case <-time.After(1500 * time.Millisecond):
	}
	g.kill()
}

// kill ends GoNB and everything that it started, at once.
func (g *gonb) kill() {
	killGroup(g.cmd.Process.Pid)
	<-g.exited
	reapOrphans()
}

// askGoNB lets GoNB run a cell. GoNB knows nothing of earlier ones.
func (e *execution) askGoNB(code string) (reply map[string]any, fail *failure) {
	return e.send(code, false)
}

// askGoNBQuietly is for what we tell the user ourselves.
func (e *execution) askGoNBQuietly(code string) (reply map[string]any, fail *failure) {
	return e.send(code, true)
}

func (e *execution) send(code string, quiet bool) (map[string]any, *failure) {
	g, fail := e.startGoNB()
	if fail != nil {
		return nil, fail
	}
	r := &request{g: g, quiet: quiet, done: make(chan struct{})}
	m := *e.m
	m.SetContent(map[string]any{"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": isTrue(e.req.AllowStdin), "stop_on_error": false})
	e.mu.Lock()
	e.gonb = r
	e.mu.Unlock()
	if err := g.sockets.Shell.Send(&m); err != nil {
		return nil, said("no GoNB", err.Error())
	}
	<-r.done
	e.mu.Lock()
	e.gonb = nil
	e.mu.Unlock()
	if f := e.wasInterrupted(); f != nil {
		return nil, f
	}
	select {
	case <-g.exited:
		return nil, said("GoNB died", "GoNB ended while it ran this cell; the next cell starts it again")
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, _ := r.reply["evalue"].(string); r.reply["status"] == "error" {
		return r.reply, said("gonb", value)
	}
	return r.reply, nil
}

// interrupt asks GoNB to end what it runs. While it compiles it does not listen, so it is asked again.
func (r *request) interrupt() {
	go func() {
		for {
			r.g.cmd.Process.Signal(interruptSignal)
			select {
			case <-r.done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
}

// finished notes the reply or the idle status; both end the request.
func (r *request) finished(replied, idle bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.replied && r.idle
	r.replied, r.idle = r.replied || replied, r.idle || idle
	if !was && r.replied && r.idle {
		close(r.done)
	}
}

// forget empties GoNB's memory, and tells it the flags of go build.
func (e *execution) forget() *failure {
	text := "%reset"
	g := e.k.running()
	if flags := quoted(e.k.flags); flags != "" || g != nil && g.flags != flags {
		if flags == "" {
			flags = `""`
		}
		text += "\n%goflags " + flags
	}
	if _, f := e.askGoNBQuietly(text); f != nil {
		return f
	}
	if g := e.k.running(); g != nil {
		g.flags = quoted(e.k.flags)
	}
	return nil
}

// quoted writes arguments the way a magic takes them.
func quoted(args []string) string {
	var out []string
	for _, a := range args {
		out = append(out, strconv.Quote(a))
	}
	return strings.Join(out, " ")
}

// runUnderGoNB builds the program and lets GoNB run it; the program tells GoNB what to display, and about widgets. GoNB
// builds nothing but a program that becomes the other one.
func (e *execution) runUnderGoNB() *failure {
	exe, f := e.build()
	if f != nil {
		return f
	}
	link := filepath.Join(e.k.f.build(), "underGoNB") // the same name each time, so that GoNB has nothing to build again
	os.Remove(link)
	if err := os.Symlink(exe, link); err != nil {
		return said("not started", err.Error())
	}
	code := fmt.Sprintf("%%args %s\nimport (\n\t\"os\"\n\t\"syscall\"\n)\n\nfunc main() {\n\tpanic(syscall.Exec(%q, os.Args, os.Environ()))\n}\n", e.Result.Args, link)
	g, fail := e.startGoNB()
	if fail != nil {
		return fail
	}
	if g.dirty {
		if f := e.forget(); f != nil {
			return f
		}
		g.dirty = false
	}
	return e.ended(e.askGoNB(code))
}

// runByGoNB lets GoNB build and run the cell's program.
func (e *execution) runByGoNB() *failure {
	if f := e.forget(); f != nil {
		return f
	}
	if g := e.k.running(); g != nil {
		g.dirty = true
	}
	code := e.Result.Program.String()
	if e.Result.Args != "" {
		code = "%args " + e.Result.Args + "\n" + code
	}
	return e.ended(e.askGoNB(code))
}

// ended turns GoNB's reply into a result of the cell.
func (e *execution) ended(reply map[string]any, f *failure) *failure {
	value, _ := reply["evalue"].(string)
	switch {
	case f == nil:
		return e.Outcome("exit status 0", nil)
	case reply == nil:
		return f
	case strings.HasPrefix(value, "exit status ") || strings.HasPrefix(value, "signal: "):
		return e.Outcome(value, e.wasInterrupted())
	}
	report, _ := reply["traceback"].([]any)
	f = e.Place().Compiler(e.gonbSays(value, report))
	f.NotRun = true
	return f
}

// asked returns the running cell, and what it has asked of GoNB, if a message of GoNB's is about that.
func (k *kernel) asked(m *jupyter.Message) (*execution, *request) {
	k.mu.Lock()
	e := k.run
	k.mu.Unlock()
	if e == nil || m.Parent.ID != e.m.Header.ID {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e, e.gonb
}

// fromIOPub handles what GoNB publishes.
func (k *kernel) fromIOPub(m *jupyter.Message) {
	e, r := k.asked(m)
	if r == nil {
		if m.Header.Type != "status" {
			k.jupyter.IOPub.Send(m)
		}
		return
	}
	switch m.Header.Type {
	case "status":
		var c struct {
			State string `json:"execution_state"`
		}
		if m.DecodeContent(&c) == nil && c.State == "idle" {
			r.finished(false, true)
		}
	case "execute_input", "error": // the kernel has its own
	case "stream":
		var c struct{ Name, Text string }
		if m.DecodeContent(&c) != nil || r.quiet || endOfProgram(c.Text) {
			return
		}
		if c.Name == "stderr" {
			e.stderr(e.fromGoNB(c.Text))
		} else {
			e.stdout(c.Text)
		}
	default:
		var content map[string]any
		if m.DecodeContent(&content) != nil || e.limited(m.Header.Type, content) {
			return
		}
		if e.copy != nil {
			e.captureDisplay(m)
		}
		if !e.req.Silent {
			e.text.flush()
			k.jupyter.IOPub.Send(m)
		}
	}
}

// endOfProgram recognizes what GoNB says about the end of a program.
func endOfProgram(text string) bool {
	text = strings.TrimPrefix(text, "^C\n")
	return (strings.HasPrefix(text, "exit status ") || strings.HasPrefix(text, "signal: ")) && strings.Count(text, "\n") == 1
}

// fromShell handles GoNB's replies.
func (k *kernel) fromShell(m *jupyter.Message) {
	if m.Header.Type != "execute_reply" {
		k.jupyter.Shell.Send(m)
		return
	}
	if _, r := k.asked(m); r != nil {
		c := map[string]any{}
		m.DecodeContent(&c)
		r.mu.Lock()
		r.reply = c
		r.mu.Unlock()
		r.finished(true, false)
	}
}

// fallbacksText says how often GoNB had to run a cell, by reason.
func (k *kernel) fallbacksText() string {
	var parts []string
	for why, n := range k.fallbacks {
		parts = append(parts, fmt.Sprintf("%s %d", why, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// missing reports whether a tool is not there: setup builds them last, while cells run already.
func missing(tool string) bool {
	_, err := os.Stat(tool)
	return err != nil
}
