package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A usage is what the processes of a class use, according to Linux's /proc.
type usage struct {
	cpu      time.Duration // also of those that have ended
	memory   float64       // MB; pages that processes share are counted once
	students float64       // of that, without the hub and its proxy
	kernel   float64       // of that, the largest kernel
}

const ticksPerSecond = 100 // of the clock of /proc, on every Linux that Go runs on

// A proc is a process.
type proc struct {
	pid, parent int
	name        string
	cpu         time.Duration
}

// take adds up a process and all that it has started, and the kernels' files on the memory disk if memory is wanted.
func take(root int, memory bool) (u usage) {
	procs := map[int]proc{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		b, err := os.ReadFile(file)
		open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		if err != nil || open < 0 || end < 0 {
			continue // it has ended
		}
		fields := strings.Fields(string(b[end+1:]))
		if len(fields) < 15 {
			continue
		}
		p := proc{name: string(b[open+1 : end])}
		p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
		p.parent, _ = strconv.Atoi(fields[1])
		for _, f := range fields[11:15] { // its own time, and that of children that it has waited for
			ticks, _ := strconv.Atoi(f)
			p.cpu += time.Duration(ticks) * time.Second / ticksPerSecond
		}
		procs[p.pid] = p
	}
	for _, p := range procs {
		server := false // whether it belongs to a student's server
		at := p
		for at.pid != root && at.pid != 0 {
			server = server || strings.HasPrefix(at.name, "jupyterhub-sing")
			at = procs[at.parent]
		}
		if at.pid != root {
			continue
		}
		u.cpu += p.cpu
		if !memory {
			continue
		}
		mb := pss(p.pid)
		u.memory += mb
		if server {
			u.students += mb
		}
		if p.name == "lectern-kernel" {
			u.kernel = max(u.kernel, mb)
		}
	}
	if memory {
		disk := memoryDisk()
		u.memory += disk
		u.students += disk
	}
	return u
}

// pss is the memory of a process in MB, with its share of what it shares with others.
func pss(pid int) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb * 1024 / 1e6
		}
	}
	return 0
}

// memoryDisk is the size of what kernels keep on the memory disk, in MB.
func memoryDisk() (mb float64) {
	folders, _ := filepath.Glob("/dev/shm/lectern-kernel-*")
	for _, d := range folders {
		filepath.WalkDir(d, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if i, err := e.Info(); err == nil && i.Mode().IsRegular() {
				mb += float64(i.Size()) / 1e6
			}
			return nil
		})
	}
	return mb
}

// watchMemory returns the most memory that was used, in MB.
func watchMemory(ctx context.Context, root int) (most float64) {
	for {
		most = max(most, take(root, true).memory)
		select {
		case <-ctx.Done():
			return most
		case <-time.After(2 * time.Second):
		}
	}
}
