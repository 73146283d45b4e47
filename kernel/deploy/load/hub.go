package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/child"
)

// find looks for everything that a class needs and says how to get the missing parts.
func (o *options) find(ctx context.Context) (err error) {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("memory and processors are measured through Linux's /proc, which %s does not have", runtime.GOOS)
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return errors.New("the go command is not in PATH; install Go from go.dev")
	}
	o.root = filepath.Dir(strings.TrimSpace(string(out)))
	if !fileExists(filepath.Join(o.root, "kernel", "deploy", "jupyterhub_config.py")) {
		return errors.New("this is not the Lectern repository; change into it first")
	}
	if _, err := exec.LookPath("node"); err != nil {
		return errors.New("JupyterHub's proxy needs Node.js, and there is no node in PATH; on Debian and Ubuntu: apt install nodejs npm")
	}
	if o.folder == "" {
		o.folder = filepath.Join(o.root, ".lectern", "hub")
		if installed := "/srv/lectern-hub"; !fileExists(o.folder) && fileExists(installed) {
			o.folder = installed
		}
	}
	if o.folder, err = filepath.Abs(o.folder); err != nil {
		return err
	}
	o.hub, o.proxy = filepath.Join(o.folder, "bin", "jupyterhub"), filepath.Join(o.folder, "node_modules", ".bin", "configurable-http-proxy")
	if !fileExists(o.hub) {
		return fmt.Errorf("there is no JupyterHub in %[1]s; run: python3 -m venv %[1]s && %[1]s/bin/pip install -r kernel/deploy/requirements.txt", o.folder)
	}
	if !fileExists(o.proxy) {
		return fmt.Errorf("JupyterHub's proxy is not in %[1]s; run: cp kernel/deploy/package*.json %[1]s && npm ci --ignore-scripts --prefix %[1]s", o.folder)
	}
	if !fileExists(filepath.Join(o.root, ".lectern", "bin", "lectern-kernel")) {
		return errors.New("the kernel is not built; run: go run ./kernel setup")
	}
	lessons := filepath.Join(o.root, ".lectern", "lessons")
	if out, err := command(ctx, o.root, "go", "run", "./kernel", "copies", lessons).CombinedOutput(); err != nil {
		return fmt.Errorf("the lessons: %w\n%s", err, out)
	}
	return nil
}

func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd
}

// A hub is a running JupyterHub.
type hub struct {
	url       string // without a slash at the end
	password  string // of all students
	folder    string // everything that it writes, and the students' homes
	realUsers bool
	root      string
	process   *child.Process
	log       *tail
	ended     <-chan struct{} // closed when the process has
}

func userName(i int) string { return fmt.Sprintf("student%d", i+1) }

// firstUser is the id of the first student's user and group, far from those of the machine.
const firstUser = 64001

// startHub starts JupyterHub for n students with the configuration of this repository, except for who they are.
func (o *options) startHub(ctx context.Context, n int) (h *hub, err error) {
	h = &hub{root: o.root, log: &tail{}}
	if o.verbose {
		h.log.also = o.out
	}
	if h.folder, err = os.MkdirTemp("", "lectern-load-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(h.folder)
		}
	}()
	if err := os.Chmod(h.folder, 0o755); err != nil {
		return nil, err
	}
	if h.realUsers = os.Geteuid() == 0; h.realUsers {
		if out, err := exec.CommandContext(ctx, "unshare", "-m", "true").CombinedOutput(); err != nil {
			fmt.Fprintf(o.out, "load: no mount namespace can be made here, so all students are one user: %s\n", strings.TrimSpace(string(out)))
			h.realUsers = false
		}
	}
	var secret [16]byte
	rand.Read(secret[:])
	h.password = hex.EncodeToString(secret[:])
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	h.url = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	env, err := o.hubEnv(ctx, h, n)
	if err != nil {
		return nil, err
	}
	spawner, homes := "simple", filepath.Join(h.folder, "home")
	if h.realUsers {
		spawner = "jupyterhub.spawner.LocalProcessSpawner"
	}
	config := fmt.Sprintf(`import os
load_subconfig(%q)
c = get_config()
c.JupyterHub.hub_port = %d
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:%d"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = %q
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = %q
c.SimpleLocalProcessSpawner.home_dir_template = %q
`, filepath.Join(o.root, "kernel", "deploy", "jupyterhub_config.py"), ports[1], ports[2], h.password, spawner, filepath.Join(homes, "{username}"))
	file := filepath.Join(h.folder, "config.py")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := os.Mkdir(homes, 0o755); err != nil {
		return nil, err
	}
	argv := []string{o.hub, "-f", file}
	if h.realUsers {
		if argv, err = o.ownUsers(h, n, argv, env); err != nil {
			return nil, err
		}
	}
	if h.process, err = child.Start(argv, env, h.folder, h.log); err != nil {
		return nil, fmt.Errorf("JupyterHub: %w", err)
	}
	h.ended = h.process.Exited()
	for began := time.Now(); ; {
		if _, err := get(ctx, h.url+"/hub/health"); err == nil {
			return h, nil
		}
		select {
		case <-h.ended:
			return nil, errors.New("JupyterHub does not start:\n" + h.said())
		case <-ctx.Done():
			h.stop()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if time.Since(began) > patience {
			h.stop()
			return nil, fmt.Errorf("JupyterHub does not answer within %v:\n%s", patience, h.said())
		}
	}
}

// hubEnv is the hub's environment: that of a service, not of the user who tries it.
func (o *options) hubEnv(ctx context.Context, h *hub, n int) ([]string, error) {
	out, err := command(ctx, o.root, "go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	where := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(where) != 3 {
		return nil, fmt.Errorf("go env: %w", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	path := []string{filepath.Dir(o.hub), filepath.Dir(o.proxy), filepath.Dir(node), filepath.Join(where[0], "bin"), "/usr/local/bin", "/usr/bin", "/bin"}
	env := []string{
		"PATH=" + strings.Join(path, string(os.PathListSeparator)),
		"HOME=" + h.folder, "LANG=C.UTF-8",
		"LECTERN_ROOT=" + o.root, "GOMODCACHE=" + where[1], "GOCACHE=" + where[2],
		"LECTERN_HUB_STATE=" + filepath.Join(h.folder, "state"),
		fmt.Sprint("LECTERN_STUDENTS=", n),
		"LECTERN_BIND=" + h.url,
	}
	for _, name := range []string{"LECTERN_STUDENT_MEMORY", "LECTERN_STUDENT_CPU"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env, nil
}

// ownUsers prepares a namespace in which each student is a user and can reach what the class shares, even where that is
// in a folder that is closed to others, such as the home of the user who tries this. Nothing changes outside.
func (o *options) ownUsers(h *hub, n int, argv, env []string) ([]string, error) {
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil, err
	}
	group, err := os.ReadFile("/etc/group")
	if err != nil {
		return nil, err
	}
	for i := range n {
		name, id := userName(i), firstUser+i
		home := filepath.Join(h.folder, "home", name)
		passwd = fmt.Appendf(passwd, "%s:x:%d:%d::%s:/bin/sh\n", name, id, id, home)
		group = fmt.Appendf(group, "%s:x:%d:\n", name, id)
		if err := os.Mkdir(home, 0o755); err != nil { // as it is on many machines: the hub closes it
			return nil, err
		}
		if err := os.Chown(home, id, id); err != nil {
			return nil, err
		}
	}
	var script strings.Builder
	fmt.Fprintln(&script, "set -e")
	for file, text := range map[string][]byte{"passwd": passwd, "group": group} {
		path := filepath.Join(h.folder, file)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
		fmt.Fprintf(&script, "mount --bind %s /etc/%s\n", quote(path), file)
	}
	shared := []string{o.root}
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == "PATH" {
			shared = append(shared, filepath.SplitList(v)...)
		} else if k == "GOMODCACHE" || k == "GOCACHE" {
			shared = append(shared, v)
		}
	}
	prefixes, err := exec.Command(filepath.Join(filepath.Dir(o.hub), "python3"), "-c", "import sys; print(sys.prefix); print(sys.base_prefix)").Output()
	if err != nil {
		return nil, fmt.Errorf("there is no python3 beside %s: make a virtual environment for JupyterHub", o.hub)
	}
	shared = append(shared, strings.Fields(string(prefixes))...)
	for _, prefix := range strings.Fields(string(prefixes)) { // also where it is a link
		if real, err := filepath.EvalSymlinks(prefix); err == nil {
			shared = append(shared, real)
		}
	}
	inside := map[string][]string{} // by the closed folder
	for _, path := range shared {
		if closed := closedAbove(path); closed != "" {
			inside[closed] = append(inside[closed], path)
		}
	}
	held := 0
	for closed, paths := range inside {
		hold := make([]string, len(paths))
		for i, path := range paths {
			held++
			hold[i] = filepath.Join(h.folder, fmt.Sprint("hold", held))
			fmt.Fprintf(&script, "mkdir %[1]s\nmount --rbind %[2]s %[1]s\n", quote(hold[i]), quote(path))
		}
		fmt.Fprintf(&script, "mount -t tmpfs -o mode=755 tmpfs %s\n", quote(closed))
		for i, path := range paths {
			fmt.Fprintf(&script, "mkdir -p %[2]s\nmount --rbind %[1]s %[2]s\n", quote(hold[i]), quote(path))
		}
	}
	fmt.Fprintln(&script, `exec "$@"`)
	return append([]string{"unshare", "-m", "sh", "-c", script.String(), "sh"}, argv...), nil
}

// closedAbove is the topmost folder on the path to a file that others can't enter; "" if there is none.
func closedAbove(path string) string {
	for _, dir := range above(path) {
		if i, err := os.Stat(dir); err == nil && i.IsDir() && i.Mode().Perm()&0o005 != 0o005 {
			return dir
		}
	}
	return ""
}

// above lists the folders on the way to a path, the topmost first, and it itself.
func above(path string) []string {
	if dir := filepath.Dir(path); dir != path {
		return append(above(dir), path)
	}
	return nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// stop ends the hub with all servers and removes what they have written.
func (h *hub) stop() {
	h.process.Terminate()
	h.process.WaitExit(30 * time.Second)
	h.process.Kill()
	for range 20 { // servers that end may still write
		if os.RemoveAll(h.folder) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// said is the end of the hub's output.
func (h *hub) said() string { return h.log.String() }

// A tail remembers the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	b    []byte
	also interface{ Write([]byte) (int, error) }
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.also != nil {
		t.also.Write(b)
	}
	t.b = append(t.b, b...)
	if over := len(t.b) - 4000; over > 0 {
		t.b = t.b[over:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
