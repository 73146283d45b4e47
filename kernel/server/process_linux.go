package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes processes whose parents have ended our children, so that we can end them too.
func adoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// reapOrphans ends the children that we have adopted: what a cell left running in a group of its own.
func reapOrphans() {
	for range 3 { // an ended child may leave children of its own
		pids := children()
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
		if len(pids) == 0 {
			return
		}
	}
}

// mine are children that we started on purpose and that end by themselves: the watcher and gopls. GoNB may be ended
// while they go on.
var mine sync.Map // of process ids

// spare keeps a child from being taken for an orphan.
func spare(pid int) { mine.Store(pid, true) }

func children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, p := range stats {
		b, err := os.ReadFile(p)
		i := bytes.LastIndexByte(b, ')')
		if err != nil || i < 0 {
			continue
		}
		f := strings.Fields(string(b[i+1:]))
		if len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
				if _, ours := mine.Load(pid); !ours {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}
