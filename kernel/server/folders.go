//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/private"
)

// A kernel's folders hold everything that it writes outside the lessons: the cells' programs, kept values, pipes. All
// of them are removed when the kernel ends. A lock in each, which ends with the process, tells the folders of a killed
// kernel from those of a living one. Each has a lock because a process that sees one of them need not see the other:
// services and containers have temporary folders of their own, and may share the memory disk.
type folders struct {
	work   string // on disk
	memory string // on a memory disk, or "" if there is none
	locks  []*os.File
}

const folderPrefix = "lectern-kernel-"

// memoryDisk is where Linux keeps files in memory.
const memoryDisk = "/dev/shm"

// newFolders removes what dead kernels have left and creates the folders of this one.
func newFolders() (*folders, error) {
	sweepFolders(os.TempDir())
	sweepFolders(memoryDisk)
	work, lock, err := newFolder("")
	if err != nil {
		return nil, fmt.Errorf("working folder: %w", err)
	}
	f := &folders{work: work, locks: []*os.File{lock}}
	if i, err := os.Stat(memoryDisk); err == nil && i.IsDir() && os.Getenv("LECTERN_KEEP_ON_DISK") == "" {
		if memory, lock, err := newFolder(memoryDisk); err == nil {
			f.memory, f.locks = memory, append(f.locks, lock)
			lock.WriteString(work) // to say whose it is
		}
	}
	for _, d := range []string{f.tmp(), f.check(), filepath.Join(work, "keep"), f.path(), f.build()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			f.remove()
			return nil, fmt.Errorf("working folder: %w", err)
		}
	}
	return f, nil
}

func (f *folders) tmp() string   { return filepath.Join(f.work, "tmp") }   // TMPDIR of GoNB and of the cells' builds
func (f *folders) check() string { return filepath.Join(f.work, "check") } // the module in which cells are type-checked
func (f *folders) path() string  { return filepath.Join(f.work, "bin") }   // the tools that GoNB may see
func (f *folders) input() string { return filepath.Join(f.work, "input") } // the pipe for typed lines

func (f *folders) build() string { return filepath.Join(f.work, "build") } // programs on their way

// keep lists the folders for kept values, the preferred one first.
func (f *folders) keep() []string {
	d := []string{filepath.Join(f.work, "keep")}
	if f.memory != "" {
		d = append([]string{f.memory}, d...)
	}
	return d
}

// all lists the folders to be removed at the end.
func (f *folders) all() []string {
	if f.memory == "" {
		return []string{f.work}
	}
	return []string{f.memory, f.work}
}

func (f *folders) remove() {
	for _, d := range f.all() {
		removeAll(d)
	}
}

// removeAll removes a folder that a dying process may still write to.
func removeAll(dir string) {
	for i := range 20 {
		err := os.RemoveAll(dir)
		if _, serr := os.Stat(dir); err == nil && serr != nil {
			return
		}
		time.Sleep(time.Duration(10*i) * time.Millisecond)
	}
}

// newFolder creates a folder and takes its lock.
func newFolder(dir string) (string, *os.File, error) {
	for {
		name, err := private.MkdirTemp(dir, folderPrefix)
		if err != nil {
			return "", nil, err
		}
		lock, err := lockFolder(name)
		if err == nil {
			return name, lock, nil
		}
		os.RemoveAll(name)
		if !errors.Is(err, errSwept) {
			return "", nil, err
		}
	}
}

// sweepFolders removes the folders of this user's kernels that no longer live. What other users have put there under a
// name like that is not looked into: a file of theirs could be a pipe that keeps its reader waiting.
func sweepFolders(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	for _, d := range found {
		if private.Check(d) != nil {
			// A go build that outlives its kernel makes a folder of it again, for all to see and empty.
			if info, err := os.Lstat(d); err == nil && info.IsDir() {
				os.Remove(d) // fails if there is something in it
			}
			continue
		}
		if lock, ok := abandoned(d); ok {
			removeAll(d)
			lock.Close()
		}
	}
}

// keepLimit is how many bytes of values a kernel may keep: what the user says, or half of what the disk has left.
func keepLimit(dir string) string {
	if s := os.Getenv("LECTERN_KEEP_LIMIT"); s != "" {
		unit := int64(1)
		for suffix, u := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
			if t, ok := strings.CutSuffix(strings.ToUpper(strings.TrimSuffix(strings.ToUpper(s), "B")), suffix); ok {
				s, unit = t, u
			}
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil && n > 0 {
			return strconv.FormatInt(n*unit, 10)
		}
		fmt.Fprintf(os.Stderr, "lectern-kernel: LECTERN_KEEP_LIMIT is %q; write bytes, such as 500000000 or 4G\n", s)
	}
	return strconv.FormatInt(freeBytes(dir)/2, 10)
}
