package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lectern-go/lectern/internal/humanize"
)

// nobody is the user that the program runs as if root grades: limits on processes don't hold for root.
const nobody = 65534

// system is what programs need of the system: compilers, libraries, nothing of anybody's.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
	"/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"}

// Available returns a [MissingError] if programs can't be isolated here.
func Available() error {
	base, err := os.MkdirTemp("", "lectern-sandbox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	c := Config{Mount: filepath.Join(base, "m"), Memory: 1 << 30, Disk: 1 << 20, Processes: 64, CPU: 10}
	if err := os.Mkdir(c.Mount, 0o700); err != nil {
		return err
	}
	args, variable, value, err := c.Command("/bin/true")
	if err != nil {
		return err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), variable+"="+value)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		text := strings.TrimPrefix(strings.TrimSpace(said.String()), "sandbox: ")
		if text == "" {
			text = err.Error()
		}
		return &MissingError{errors.New(text)}
	}
	return nil
}

// outside starts the program in namespaces of its own, and ends it if it takes too much.
func outside(c Config, argv []string) (int, error) {
	runtime.LockOSThread() // the program is told to end when this thread does
	me := os.Getuid()
	cmd := exec.Command("/proc/self/exe", append([]string{insideArg}, argv...)...)
	value, _ := c.value()
	cmd.Env = append(os.Environ(), configVar+"="+value)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	for i := range c.Files {
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(3+i), "given"))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	own := func(id int) []syscall.SysProcIDMap {
		ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		if me == 0 {
			ids = append(ids, syscall.SysProcIDMap{ContainerID: nobody, HostID: nobody, Size: 1})
		}
		return ids
	}
	cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = own(me), own(os.Getgid())
	cmd.SysProcAttr.GidMappingsEnableSetgroups = me == 0
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("namespaces: %w; may users make them? (sysctl kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns say so)", err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	var problem error
	for {
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode(), problem
		case s := <-signals:
			cmd.Process.Signal(s)
		case <-look.C:
			if problem == nil {
				if problem = c.tooMuch(cmd.Process.Pid); problem != nil {
					cmd.Process.Kill() // with it all of its namespace
				}
			}
		}
	}
}

// socketsLimit is how many sockets all processes may have: unread bytes in them are memory, too.
const socketsLimit = 1000

// tooMuch says which limit the program exceeds.
func (c Config) tooMuch(pid int) error {
	used, sockets := c.taken(pid)
	if used > c.Memory {
		return fmt.Errorf("it uses %s of memory, and %s are allowed", humanize.Bytes(int(used)), humanize.Bytes(int(c.Memory)))
	}
	if sockets > socketsLimit {
		return fmt.Errorf("it has %d open sockets, and %d are allowed", sockets, socketsLimit)
	}
	return nil
}

// taken is how much memory all processes of the namespace have, with its page tables, what they have written to their
// disk included, and how many sockets. Memory that several processes share lies in files on that disk: the filter on
// system calls refuses all other.
func (c Config) taken(pid int) (bytes int64, sockets int) {
	of := func(pid string, names ...string) string {
		return filepath.Join(append([]string{"/proc", pid}, names...)...)
	}
	space := func(pid string) string {
		s, _ := os.Readlink(of(pid, "ns", "pid"))
		return s
	}
	first := strconv.Itoa(pid)
	theirs := space(first)
	if theirs == "" || theirs == space("self") {
		return 0, 0 // it is ending, or has only begun
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' || space(name) != theirs {
			continue
		}
		b, _ := os.ReadFile(of(name, "statm")) // pages: all, resident, of files
		if f := strings.Fields(string(b)); len(f) > 2 {
			resident, _ := strconv.ParseInt(f[1], 10, 64)
			files, _ := strconv.ParseInt(f[2], 10, 64)
			bytes += (resident - files) * int64(os.Getpagesize())
		}
		status, _ := os.ReadFile(of(name, "status"))
		if _, tables, ok := strings.Cut(string(status), "\nVmPTE:"); ok {
			var kB int64
			fmt.Sscan(tables, &kB)
			bytes += kB << 10
		}
	}
	var disk unix.Statfs_t
	if unix.Statfs(of(first, "root"), &disk) == nil && disk.Type == unix.TMPFS_MAGIC && disk.Blocks*uint64(disk.Bsize) < uint64(c.Disk)+1<<16 {
		bytes += int64(disk.Blocks-disk.Bfree) * int64(disk.Bsize)
	}
	b, _ := os.ReadFile(of(first, "net", "sockstat"))
	fmt.Sscanf(string(b), "sockets: used %d", &sockets)
	return bytes, sockets
}

// inside builds the program's world, gives up all rights and becomes the program.
func inside(c Config, argv []string) error {
	runtime.LockOSThread()
	syscall.Umask(0o022)
	if c.Given != "" {
		if err := giveAway(c.Given); err != nil {
			return err
		}
	}
	w := world{c.Mount}
	if err := w.build(c); err != nil {
		return err
	}
	if err := w.enter(); err != nil {
		return err
	}
	unix.Sethostname([]byte("grader"))
	os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0) // of older kernels this can't be had
	if err := giveAway(Home); err != nil {
		return err
	}
	if err := os.Chdir(Home); err != nil {
		return err
	}
	if err := c.giveUpRights(); err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, configVar+"=") })
	return fmt.Errorf("%s: %w", argv[0], c.become(argv, env))
}

// become sets the limit on memory and becomes the program. The limit holds for this process, too, which may exceed it
// already (the race detector's memory counts), and without memory Go's runtime dies: nothing is allocated once the
// limit is set.
func (c Config) become(argv, env []string) error {
	path, err := syscall.BytePtrFromString(argv[0])
	if err != nil {
		return err
	}
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	vars, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: uint64(c.Memory), Max: uint64(c.Memory)}
	debug.SetGCPercent(-1)
	if _, _, failed := syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); failed != 0 {
		return failed
	}
	_, _, failed := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&vars[0])))
	return failed
}

// A world is a file system in memory, at a path, that becomes the root.
type world struct{ root string }

func (w world) build(c Config) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of our own: %w", err)
	}
	if err := unix.Mount("tmpfs", w.root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("mode=0755,size=%d,nr_inodes=20000", c.Disk)); err != nil {
		return fmt.Errorf("a disk in memory: %w", err)
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if err := os.MkdirAll(w.root+dir, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(w.root+dir, 0o777|fs.ModeSticky); err != nil {
			return err
		}
	}
	read := slices.Concat(system, c.Read)
	if c.Given != "" {
		read = append(read, c.Given)
	}
	slices.Sort(read)
	for _, path := range slices.Compact(read) {
		if err := w.show(path); err != nil {
			return err
		}
	}
	for _, device := range []string{"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"} {
		if err := w.bind(device); err != nil {
			return err
		}
	}
	for link, to := range map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2"} {
		if err := os.Symlink(to, w.root+link); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(w.root+"/proc", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", w.root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w; in a container it may have to be unmasked", err)
	}
	for _, keys := range []string{"/proc/keys", "/proc/key-users"} { // names of others' keys
		if err := unix.Mount("/dev/null", w.root+keys, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("%s: %w", keys, err)
		}
	}
	if err := os.MkdirAll(w.root+Home, 0o755); err != nil {
		return err
	}
	if c.Work == "" {
		return nil
	}
	return CopyFiles(c.Work, w.root+Home, c.Disk/2)
}

// show makes a path, with everything below it, visible for reading.
func (w world) show(path string) error {
	if _, err := os.Lstat(w.root + path); err == nil {
		return nil // it lies below a path that is visible already
	}
	i, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if i.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(w.root+path), 0o755); err != nil {
			return err
		}
		return os.Symlink(to, w.root+path)
	}
	if err := w.bind(path); err != nil {
		return err
	}
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(-1, w.root+path, unix.AT_RECURSIVE, &attributes); err != nil {
		return fmt.Errorf("%s, read-only: %w", path, err)
	}
	return nil
}

func (w world) bind(path string) error {
	i, err := os.Stat(path)
	if err != nil {
		return err
	}
	at := w.root + path
	if i.IsDir() {
		err = os.MkdirAll(at, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
		err = os.WriteFile(at, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(path, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// enter makes the world the root, and leaves all other file systems.
func (w world) enter() error {
	const old = "/.old"
	if err := os.Mkdir(w.root+old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(w.root, w.root+old); err != nil {
		return fmt.Errorf("a root of its own: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount(old, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("the old root: %w", err)
	}
	return os.Remove(old)
}

// isRoot reports whether root grades: then there is a second user inside.
func isRoot() bool {
	b, _ := os.ReadFile("/proc/self/uid_map")
	return strings.Contains(string(b), strconv.Itoa(nobody))
}

// giveAway makes a folder the program's own.
func giveAway(dir string) error {
	if !isRoot() {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
}

// giveUpRights sets the limits, except the one on memory, and gives up every right, for good.
func (c Config) giveUpRights() error {
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_NPROC: uint64(c.Processes), unix.RLIMIT_FSIZE: uint64(c.Disk), unix.RLIMIT_CPU: uint64(c.CPU),
		unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_CORE: 0, unix.RLIMIT_MEMLOCK: 1 << 20,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	for right := range uintptr(64) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break // there are no more
		} else if err != nil {
			return fmt.Errorf("rights: %w", err)
		}
	}
	if isRoot() {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(nobody, nobody, nobody), syscall.Setresuid(nobody, nobody, nobody)); err != nil {
			return fmt.Errorf("another user: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new rights: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil { // becoming another user has undone it
		return err
	}
	return filter()
}
