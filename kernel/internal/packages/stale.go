package packages

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Refresh notices what has changed since the last cell: another Go, the modules' files, the source of local packages.
// It looks at nothing but the times and sizes of files; a stale package is looked up again when a cell names it.
// Files that are gone from the build cache are noticed by Config and Import themselves.
func (p *Packages) Refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.failed)
	if p.look() {
		p.forget()
		p.begin()
		return
	}
	p.sift()
}

// sift drops local packages whose source has changed. It needs p.mu, except for a new p.
func (p *Packages) sift() {
	stale := map[string]bool{}
	for path, k := range p.pkgs {
		if k.Local {
			if print, _ := k.print(); print != k.Print {
				stale[path] = true
			}
		}
	}
	if len(stale) > 0 {
		p.drop(stale)
	}
}

// Refetch forgets what was not found: there are new modules.
func (p *Packages) Refetch() { p.Refresh() }

// drop forgets packages and all that import them. It needs p.mu.
func (p *Packages) drop(stale map[string]bool) {
	for again := true; again; {
		again = false
		for path, k := range p.pkgs {
			if !stale[path] && !k.Standard && slices.ContainsFunc(k.Imports, func(i string) bool { return stale[i] }) {
				stale[path], again = true, true
			}
		}
	}
	for path := range stale {
		delete(p.pkgs, path)
	}
	p.whole = false
	p.reset()
}

// print is a number for the names, sizes and times of a package's files, and the time of the last change.
func (k *pkg) print() (uint64, time.Time) {
	h := fnv.New64a()
	var last time.Time
	var b [16]byte
	look := func(path string, dir bool) {
		i, err := os.Stat(path)
		if err != nil {
			io.WriteString(h, path)
			return
		}
		t := i.ModTime()
		if t.After(last) {
			last = t
		}
		binary.LittleEndian.PutUint64(b[:], uint64(t.UnixNano()))
		if !dir {
			binary.LittleEndian.PutUint64(b[8:], uint64(i.Size()))
		}
		h.Write(b[:])
	}
	look(k.Dir, true)
	dir := k.Dir
	for _, f := range k.Files {
		path := k.Dir + string(filepath.Separator) + f
		if d := filepath.Dir(path); d != dir { // embedded files lie deeper
			look(d, true)
			dir = d
		}
		look(path, false)
	}
	return h.Sum64(), last
}

// coarse is how much later than its time says a file may have changed, by the clocks of file systems.
const coarse = 2 * time.Second

// printBefore is a package's print, or 0 if its files are so new that they may have changed after the go command,
// started then, had read them.
func (k *pkg) printBefore(started time.Time) uint64 {
	print, last := k.print()
	if started.Sub(last) < coarse {
		return 0
	}
	return print
}

// world is what everything depends on: Go, the modules' files, the environment.
type world struct {
	Mods  []string // go.mod files of local modules besides those of the workspace
	Go    []string // files of the Go installation
	Sum   string   // of the content of the modules' files, the stats of Go's, and the environment
	stats string   // of all files when Sum was taken
}

// look reports whether the world has changed since it was last asked. It needs p.mu.
func (p *Packages) look() bool {
	w := &p.world
	files, installed := p.moduleFiles(), p.goFiles()
	stats := statsOf(files) + statsOf(installed)
	if stats == w.stats {
		return false
	}
	old := w.Sum
	w.stats, w.Sum = stats, p.sum(files, installed)
	return w.Sum != old
}

// watch adds a go.mod file to the world. It needs p.mu.
func (p *Packages) watch(mod string) {
	if mod == "" || slices.Contains(p.moduleFiles(), mod) {
		return
	}
	p.world.Mods = append(p.world.Mods, mod)
	p.look()
}

// moduleFiles lists the files that decide about what modules there are.
func (p *Packages) moduleFiles() []string {
	dirs := []string{p.c.Dir}
	if p.c.Root != "" && p.c.Root != p.c.Dir {
		dirs = append(dirs, p.c.Root)
	}
	for _, dir := range workspace(filepath.Join(p.c.Dir, "go.work")) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	files := []string{filepath.Join(p.c.Dir, "go.work")}
	for _, d := range dirs {
		files = append(files, filepath.Join(d, "go.mod"), filepath.Join(d, "go.sum"))
	}
	for _, m := range p.world.Mods {
		if !slices.Contains(files, m) {
			files = append(files, m)
		}
	}
	return files
}

// workspace reads the folders that a go.work file uses.
func workspace(file string) (dirs []string) {
	b, _ := os.ReadFile(file)
	block := false
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		switch {
		case line == ")":
			block = false
			continue
		case line == "use (":
			block = true
			continue
		case strings.HasPrefix(line, "use "):
			line = strings.TrimSpace(line[len("use "):])
		case !block:
			continue
		}
		if s, err := strconv.Unquote(line); err == nil {
			line = s
		}
		if line == "" {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(filepath.Dir(file), line)
		}
		dirs = append(dirs, filepath.Clean(line))
	}
	return dirs
}

// goFiles lists the files that tell one Go from another.
func (p *Packages) goFiles() []string {
	exe, err := p.goBinary()
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real // PATH may find it under several names
	}
	return append([]string{exe}, p.world.Go...)
}

// statsOf names the files with their sizes and times.
func statsOf(files []string) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f)
		if i, err := os.Stat(f); err == nil {
			fmt.Fprintf(&b, " %d %d", i.Size(), i.ModTime().UnixNano())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sum is a digest of the world.
func (p *Packages) sum(files, installed []string) string {
	h := sha256.New()
	io.WriteString(h, statsOf(installed))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		f = strings.TrimPrefix(f, p.c.Dir) // the same for every kernel, unlike the folder
		fmt.Fprintf(h, "%s %d\n%s", f, len(b), b)
	}
	builds, modules := Caches(p.c.Env)
	env := []string{"GOCACHE=" + builds, "GOMODCACHE=" + modules} // whether they were named, or are where the user's home is
	for _, kv := range p.c.Env {
		if k, _, _ := strings.Cut(kv, "="); decides(k) {
			env = append(env, kv)
		}
	}
	slices.Sort(env)
	fmt.Fprintln(h, env)
	fmt.Fprintln(h, p.c.Warm, p.c.Name, p.c.Known)
	return hex.EncodeToString(h.Sum(nil))
}

// Caches are the folders of the build cache and of the modules that the go command uses in an environment; "" where it
// would not know either.
func Caches(env []string) (builds, modules string) {
	set := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		set[k] = v
	}
	if builds = set["GOCACHE"]; builds == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			builds = filepath.Join(dir, "go-build")
		}
	}
	if modules = set["GOMODCACHE"]; modules == "" {
		path := set["GOPATH"]
		if home, err := os.UserHomeDir(); path == "" && err == nil {
			path = filepath.Join(home, "go")
		}
		if list := filepath.SplitList(path); len(list) > 0 {
			modules = filepath.Join(list[0], "pkg", "mod")
		}
	}
	return builds, modules
}

// NoHome is the error of an environment in which the go command has no place for its caches, or nil.
func NoHome(env []string) error {
	if builds, modules := Caches(env); builds == "" || modules == "" {
		return errors.New("HOME is not set, so Go has no folder for what it builds: set HOME, or both GOCACHE and GOMODCACHE, and start again")
	}
	return nil
}

// NoHome is that of the environment in which packages are found and compiled.
func (p *Packages) NoHome() error { return NoHome(p.c.Env) }

// decides reports whether an environment variable decides about what packages there are or how they are compiled.
func decides(name string) bool {
	switch name {
	case "GOCACHE", "GOMODCACHE", "GOPATH", "GOCACHEPROG": // Caches says where they are
		return false
	case "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "GODEBUG", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH":
		return false
	case "CC", "CXX", "AR", "FC", "PKG_CONFIG":
		return true
	}
	return strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_")
}

// goBinary finds the go command on the PATH of the environment.
func (p *Packages) goBinary() (string, error) {
	path := os.Getenv("PATH")
	for _, kv := range p.c.Env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	name := "go"
	if runtime.GOOS == "windows" {
		name = "go.exe"
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		exe := filepath.Join(dir, name)
		if i, err := os.Stat(exe); err == nil && !i.IsDir() && (i.Mode()&0o111 != 0 || runtime.GOOS == "windows") {
			return exe, nil
		}
	}
	return "", &ToolError{Reason: "the go command is not on PATH; install Go from go.dev"}
}
