package main

import (
	"bytes"
	"fmt"
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

// Which process is killed first when memory runs out: the kernel like any program (a service above it may have exempted
// itself), and its cells before it. The kernel keeps a cell's values; nothing keeps the kernel's own.
const (
	killedAsOthers = 0
	killedFirst    = 500 // as if the process had half of the memory besides its own
)

// whenOutOfMemory raises what the system adds to a process's share of the memory when it looks for a process to end.
func whenOutOfMemory(pid, score int) {
	file := fmt.Sprintf("/proc/%d/oom_score_adj", pid)
	b, err := os.ReadFile(file)
	if is, e := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && e == nil && is < score {
		os.WriteFile(file, []byte(strconv.Itoa(score)), 0)
	}
}

// ownChildren are those that we started on purpose and that end by themselves: the watchers. They may go on when GoNB
// is ended.
var ownChildren sync.Map // of process ids

// noOrphan keeps a child from being taken for an orphan.
func noOrphan(pid int) { ownChildren.Store(pid, true) }

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
				if _, ours := ownChildren.Load(pid); !ours {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}
