package command

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/private"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/notebooks/course"
)

const firstPort = 8888

func labCommand() *command {
	var port int
	var noBrowser, edit bool
	var lang string
	return &command{
		name:  "lab",
		args:  "[folder or notebook]",
		short: "open the lessons, or a folder of your own, in JupyterLab (start here)",
		long: `
Lab sets up the kernel and opens working copies of the lessons in JupyterLab with the kernel chosen. The copies are in my-lessons/, which
git ignores. They have no outputs, and their solutions are folded; home.ipynb shows how far you are, and the folder mine is a package of
your own, into which lesson.Grade puts your functions. What you change there is never overwritten; when a lesson has changed since, its new
version is put beside yours. To change the lessons themselves, use -edit. JupyterLab is installed into a Python environment in .lectern/, by
uv if you have it, else by pip, and each file is checked against its hash; if there is no uv, a jupyter-lab in PATH is used. Your system's
Python is never touched. Outside the repository it opens the current folder, or the folder or notebook that you name. Without Python it
renders the lessons as web pages instead. The server listens on 127.0.0.1 only and asks for a token. Ctrl-C stops it. Examples:

  go run ./kernel lab
  go run ./kernel lab -lang zh
  go run ./kernel lab -port 9000 -no-browser notebooks/11-gradients.ipynb
  go run ./kernel lab -edit notebooks/11-gradients.ipynb`,
		flags: func(fs *flag.FlagSet) {
			fs.IntVar(&port, "port", 0, "port to listen on (default: the first free one from 8888 up)")
			fs.BoolVar(&edit, "edit", false, "open the lessons themselves, to change them, instead of working copies")
			fs.StringVar(&lang, "lang", "", langHelp)
			fs.BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
		},
		run: func(ctx context.Context, ws *workspace, args []string) error {
			if len(args) > 1 {
				return usagef("lab opens one notebook, got %d", len(args))
			}
			if port < 0 || port > 65535 {
				return usagef("-port %d is not a port", port)
			}
			if ws.lang = lang; edit && lang != "" {
				return usagef("-edit opens the lessons in English: choose one of -edit and -lang")
			}
			if ws.outside != "" {
				return ws.labAnywhere(ctx, args, port, !noBrowser)
			}
			open := filepath.Join(copiesDir, course.HomeFile)
			if edit {
				open = "notebooks"
			}
			if len(args) == 1 {
				list, err := ws.notebooks(args)
				if err != nil {
					return err
				}
				if open = ws.rel(list[0]); filepath.IsAbs(open) {
					return usagef("%s is outside the repository, and JupyterLab shows nothing else", args[0])
				}
				if dir, name := filepath.Split(open); !edit && filepath.Clean(dir) == "notebooks" {
					open = filepath.Join(copiesDir, name)
				}
			}
			if !edit {
				newer, err := ws.workingCopies(filepath.Join(ws.root, copiesDir), lang)
				if err != nil {
					return fmt.Errorf("lab: %w", err)
				}
				for _, path := range newer {
					fmt.Fprintf(ws.stdout, "A lesson has changed since you began to work on it: the new version is %s, yours stays as it is.\n", path)
				}
			}
			if err := ws.ready(ctx); err != nil {
				return err
			}
			lab, err := (jupyterLab{ws}).findLab(ctx)
			var none *noPython
			if errors.As(err, &none) {
				fmt.Fprintf(ws.stderr, "JupyterLab needs Python, and %v; the lessons are rendered as web pages instead.\n", none)
				return ws.render(ctx, nil, renderOptions{})
			}
			if err != nil {
				return err
			}
			return (jupyterLab{ws}).serveLab(ctx, lab, ws.root, port, !noBrowser, open)
		},
	}
}

// labAnywhere opens a folder, or a notebook, that lies outside the source.
func (w *workspace) labAnywhere(ctx context.Context, args []string, port int, browser bool) error {
	folder, open := w.outside, ""
	if len(args) == 1 {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return err
		}
		st, err := os.Stat(path)
		switch {
		case err != nil:
			return usagef("there is no folder or notebook %s", args[0])
		case st.IsDir():
			folder = path
		default:
			folder, open = filepath.Split(path)
		}
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	lab, err := (jupyterLab{w}).findLab(ctx)
	var none *noPython
	if errors.As(err, &none) {
		return fmt.Errorf("lab: JupyterLab needs Python, and %w; %s run and %s render do without", none, self, self)
	}
	if err != nil {
		return err
	}
	return (jupyterLab{w}).serveLab(ctx, lab, folder, port, browser, open)
}

// labConfig is Jupyter's configuration for this checkout: our kernel is the default and the only one. Kernels are
// reached by the given transport. What differs between JupyterLabs that run side by side is among [labArgs].
func (w jupyterLab) labConfig(transport string) map[string]any {
	return map[string]any{
		"ConnectionFileMixin": map[string]any{"transport": transport},
		"ServerApp": map[string]any{
			"ip": "127.0.0.1",
			// In a container everybody is root, and Jupyter refuses that unless told otherwise.
			"allow_root": os.Geteuid() == 0,
		},
		"MultiKernelManager": map[string]any{"default_kernel_name": kernelName},
		"KernelSpecManager":  map[string]any{"allowed_kernelspecs": []string{kernelName}, "ensure_native_kernel": false},
	}
}

// labArgs are the arguments of JupyterLab that serves a folder at a port, and nowhere else.
func labArgs(port int, browser bool, folder, open string) []string {
	yes := "False"
	if browser {
		yes = "True"
	}
	return []string{
		fmt.Sprint("--ServerApp.port=", port), "--ServerApp.port_retries=0", "--ServerApp.root_dir=" + folder,
		"--LabApp.default_url=/lab/tree/" + urlPath(open), "--ServerApp.open_browser=" + yes, "--LabApp.open_browser=" + yes,
	}
}

func urlPath(p string) string {
	parts := strings.Split(filepath.ToSlash(p), "/")
	for i, s := range parts {
		parts[i] = url.PathEscape(s)
	}
	return strings.Join(parts, "/")
}

// firstSettings are what JupyterLab's settings are before the user changes them.
var firstSettings = map[string]string{
	// Don't ask on the first start whether news may be fetched.
	"@jupyterlab/apputils-extension/notification": `{"fetchNews": "false", "checkForUpdates": false}`,
	// JupyterLab gives up after a second, without a word; the first completion may take longer, while the kernel reads
	// what the library exports.
	"@jupyterlab/completer-extension/manager": `{"providerTimeout": 20000}`,
	// A notebook that is opened again shows its widgets as they were, although the kernel that had them has ended.
	"@jupyter-widgets/jupyterlab-manager/plugin": `{"saveState": true}`,
}

// serveLab starts JupyterLab in a folder and waits for its end or for Ctrl-C.
func (w jupyterLab) serveLab(ctx context.Context, lab *labProgram, folder string, port int, browser bool, open string) error {
	runtimeDir, transport, err := w.labRuntime()
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	if runtimeDir != w.state("jupyter", "runtime") {
		defer os.RemoveAll(runtimeDir)
	}
	config, err := json.MarshalIndent(w.labConfig(transport), "", "  ")
	if err != nil {
		return err
	}
	settings := w.state("jupyter", "settings")
	for name, text := range firstSettings {
		file := filepath.Join(settings, filepath.FromSlash(name)+".jupyterlab-settings")
		if fileExists(file) {
			continue
		}
		if err := writeFile(file, []byte(text+"\n"), 0o644); err != nil {
			return fmt.Errorf("lab: %w", err)
		}
	}
	if err := writeFile(w.state("jupyter", "config", "jupyter_server_config.json"), config, 0o644); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	if err := w.labExtension(); err != nil {
		return fmt.Errorf("lab: %w", err)
	}

	token := rand.Text()
	env := append(os.Environ(),
		// The token travels in the environment: other users can read command lines.
		"JUPYTER_TOKEN="+token,
		"JUPYTER_PATH="+w.state("share", "jupyter"),
		"JUPYTER_DATA_DIR="+w.state("share", "jupyter"),
		"JUPYTER_CONFIG_DIR="+w.state("jupyter", "config"),
		"JUPYTER_RUNTIME_DIR="+runtimeDir,
		"JUPYTERLAB_SETTINGS_DIR="+settings,
		"JUPYTERLAB_WORKSPACES_DIR="+w.state("jupyter", "workspaces"),
		po.LanguageVariable+"="+w.lang,                     // of what lessons say
		"LECTERN_COPIES="+filepath.Join(w.root, copiesDir), // where students guess before they look
	)
	var server *labServer
	p := w.step("Start JupyterLab (%s)", lab.from)
	for from := firstPort; ; {
		chosen, err := choosePort(port, from)
		if err == nil {
			server, err = w.startLab(ctx, lab, chosen, labArgs(chosen, browser, folder, open), env, folder)
		}
		if err == nil {
			break
		}
		var taken *portTaken
		if !errors.As(err, &taken) || port != 0 {
			p.end()
			return err
		}
		from = chosen + 1
	}
	p.end()
	proc, logFile := server.proc, server.log
	defer proc.Kill()
	fmt.Fprintf(w.stdout, "JupyterLab: http://127.0.0.1:%d/lab/tree/%s?token=%s\nCtrl-C stops it and its kernels. Its log: %s\n", server.port, urlPath(open), token, w.rel(logFile))
	// JupyterLab is in use meanwhile.
	rest, stop := context.WithCancel(ctx)
	var finishing sync.WaitGroup
	finishing.Go(func() {
		behind := *w.workspace
		behind.gently = true
		if err := behind.finish(rest, false); err != nil && rest.Err() == nil {
			fmt.Fprintf(w.stderr, "warning: there is no code completion: %v\n", err)
		}
	})
	defer finishing.Wait()
	defer stop()
	select {
	case <-proc.Exited():
		if proc.ExitCode() != 0 {
			return fmt.Errorf("lab: JupyterLab ended (%s); the end of %s:\n%s", proc.State(), w.rel(logFile), lastLog(logFile))
		}
		return nil
	case <-ctx.Done():
	}
	fmt.Fprintln(w.stdout, "Stopping JupyterLab and its kernels.")
	if err := proc.Terminate(); err == nil {
		proc.WaitExit(10 * time.Second)
	}
	return nil
}

// labRuntime is the folder for the connection files of JupyterLab's kernels, and the transport to use: "ipc", by which
// the kernels' sockets are files in that folder too, which other users can't enter. The one in the repository is used
// if there is room for its path in a socket's address, else a temporary one; where none will do the transport is
// "tcp", and what cells print can be read by all users of the machine.
func (w jupyterLab) labRuntime() (dir, transport string, err error) {
	ours := w.state("jupyter", "runtime")
	if err := os.MkdirAll(ours, 0o700); err != nil {
		return "", "", err
	}
	// Jupyter names the sockets kernel-ID-ipc-1 and so on.
	fits := func(dir string) bool { return jupyter.FitsSockets(filepath.Join(dir, "kernel-"+jupyter.NewID())) }
	if fits(ours) && private.Check(ours) == nil {
		return ours, "ipc", nil
	}
	for _, temp := range []string{os.TempDir(), "/tmp"} {
		if !fits(filepath.Join(temp, "lectern-lab-0123456789")) {
			continue
		}
		if dir, err := private.MkdirTemp(temp, "lectern-lab-"); err == nil {
			return dir, "ipc", nil
		}
	}
	return ours, "tcp", nil
}

// A portTaken says that a port is not free.
type portTaken struct {
	port int
	why  string
}

func (e *portTaken) Error() string {
	return fmt.Sprintf("lab: port %d is not free: %s; choose another with -port", e.port, e.why)
}

// tryPort says why a port can't be listened on, if it can't.
func tryPort(port int) error {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return &portTaken{port, err.Error()}
	}
	return l.Close()
}

// choosePort returns port if it is free or, if it is 0, the first free one from another port up. It may be taken before
// JupyterLab has it.
func choosePort(port, from int) (int, error) {
	if port != 0 {
		return port, tryPort(port)
	}
	for p := from; p < firstPort+100; p++ {
		if tryPort(p) == nil {
			return p, nil
		}
	}
	return 0, fmt.Errorf("lab: no free port from %d to %d; choose one with -port", firstPort, firstPort+99)
}

// A labServer is a running JupyterLab.
type labServer struct {
	proc *child.Process
	port int
	log  string
}

// startLab starts JupyterLab and waits until it listens at its port. If another program has got the port first, the
// error is a *portTaken.
func (w jupyterLab) startLab(ctx context.Context, lab *labProgram, port int, args, env []string, folder string) (*labServer, error) {
	is, err := w.newSign()
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	defer os.RemoveAll(is.dir)
	s := &labServer{port: port, log: w.state("jupyter", fmt.Sprintf("lab-%d.log", port))}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	defer log.Close() // JupyterLab has a descriptor of its own
	s.proc, err = child.Start(slices.Concat(lab.argv, args, []string{"--ServerApp.extra_static_paths=" + is.dir}), env, folder, log)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	switch up, err := s.wait(ctx, is); {
	case err != nil:
		s.proc.Kill()
		return nil, err
	case up:
		return s, nil
	}
	s.proc.Kill() // what it may have started
	said := lastLog(s.log)
	if err := tryPort(port); err != nil {
		return nil, err
	}
	if strings.Contains(said, fmt.Sprintf("port %d is not available", port)) { // it is free again
		return nil, &portTaken{port, "another program had it"}
	}
	return nil, fmt.Errorf("lab: JupyterLab ended (%s) before it served anything; the end of %s:\n%s", s.proc.State(), w.rel(s.log), said)
}

// A sign is a text in a file that JupyterLab serves to everybody. Whoever serves it at a port is the JupyterLab that we
// have started: others can't read the folder, and are sent nothing that they could use, such as the token.
type sign struct{ dir, name, text string }

func (w jupyterLab) newSign() (*sign, error) {
	dir, err := os.MkdirTemp(w.state("jupyter"), "sign-")
	if err != nil {
		return nil, err
	}
	s := &sign{dir, "lectern-" + rand.Text(), rand.Text()}
	if err := os.WriteFile(filepath.Join(dir, s.name), []byte(s.text), 0o600); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

// servedAt reports whether the sign is served at a port.
func (s *sign) servedAt(ctx context.Context, client *http.Client, port int) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/static/%s", port, s.name), nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, int64(len(s.text)+1)))
	return err == nil && string(b) == s.text
}

// wait waits until JupyterLab serves its sign; up is false if it ended before that.
func (s *labServer) wait(ctx context.Context, is *sign) (up bool, err error) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // another program may have taken our request and never answer
		select {
		case <-s.proc.Exited():
			stop()
		case <-asking.Done():
		}
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !is.servedAt(asking, client, s.port) {
		select {
		case <-s.proc.Exited():
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-tick.C:
		}
	}
	return true, nil
}

// lastLog returns the last lines of a log.
func lastLog(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
