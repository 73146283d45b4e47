//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The watcher is this program, started a second time. It waits for the kernel to end, however that happens, and then
// ends the processes and removes the folders that the kernel could not: no process cleans up after its own SIGKILL.

// watchArg makes this program the watcher.
const watchArg = "-watch-over"

// emulator runs this program, if tests have linked it for another processor than the machine's. They say so then.
var emulator string

// startWatcher starts the watcher of this process. It is told about groups and folders on its standard input, which
// ends when we do.
func startWatcher(f *folders) (*watcher, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := []string{exe, watchArg, strconv.Itoa(os.Getpid())}
	if emulator != "" {
		argv = append([]string{emulator}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = ownSession()
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the watcher: %w", err)
	}
	noOrphan(cmd.Process.Pid)
	w := &watcher{cmd, pipe}
	if ownGroupLeader() { // what we start without a group of its own, such as go list
		w.say(fmt.Sprint("group ", os.Getpid()))
	}
	for _, d := range f.all() {
		w.say("folder " + d)
	}
	return w, nil
}

type watcher struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func (w *watcher) say(line string) { io.WriteString(w.pipe, line+"\n") }

// end lets the watcher finish its work, which is nothing if everything is clean.
func (w *watcher) end() {
	w.pipe.Close()
	done := make(chan struct{})
	go func() { w.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		w.cmd.Process.Kill()
		<-done
	}
}

// watch is what the watcher does.
func watch(pid string) {
	ignoreSignals()
	b, _ := io.ReadAll(os.Stdin) // until the kernel has ended
	var folders []string
	var groups []int
	for line := range strings.Lines(string(b)) {
		kind, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "done": // the kernel has ended properly
			return
		case "group":
			if pgid, err := strconv.Atoi(arg); err == nil && pgid > 1 {
				groups = append(groups, pgid)
			}
		case "folder":
			if strings.Contains(arg, folderPrefix) {
				folders = append(folders, arg)
			}
		}
	}
	for _, g := range groups {
		killGroup(g)
	}
	for _, d := range folders {
		removeAll(d)
	}
}
