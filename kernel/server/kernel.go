//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/internal/vet"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A kernel is one running kernel.
type kernel struct {
	c        config
	f        *folders
	token    string
	jupyter  *jupyter.Sockets // toward Jupyter
	watcher  *watcher
	packages *packages.Packages
	queue    *queue
	input    *input
	widgets  widgets
	builder  *builder
	values   []string      // of the environment of cells
	ended    chan struct{} // closed when the kernel is to end
	endOnce  sync.Once

	// Of the running cell only.
	dir         string            // where cells run
	env         map[string]string // what %env has set
	noAutoget   bool
	started     string          // the folder that it was started in
	ran         []ranCell       // the cells that have made the session, for %save
	recordTaken bool            // what the notebook records of its module has been looked at
	flags       []string        // of go build, as %goflags has set them
	plain       string          // the last program, as the user might have written it
	wasm        string          // the folder for pages, once there is one
	tracked     map[string]bool // what %track lists
	joined      string          // the files of the user's module that have been taken over last
	lines       int             // that a cell shows of each of its streams; 0 is all
	typed       int             // what the next shell line reads
	fallbacks   map[string]int  // how often GoNB had to run a cell, by reason

	mu         sync.Mutex
	gonb       *gonb          // nil until a cell needs it
	run        *execution     // the cell that runs, or nil
	session    runner.Session // changed by the queue alone
	count      int            // execution count
	unrecorded int            // cells that are not counted
	history    []historyEntry
}

type historyEntry struct {
	count int
	code  string
}

// run runs the kernel to its end. When it returns, nothing of the kernel is left.
func run(c config) error {
	info, err := jupyter.ReadConnectionFile(c.connection)
	if err != nil {
		return err
	}
	adoptOrphans()
	whenOutOfMemory(os.Getpid(), killedAsOthers)
	if err := layerCache(); err != nil { // cells are built from compiled packages
		fmt.Fprintln(os.Stderr, "lectern-kernel: the build cache can't be written to:", err)
	}
	f, err := newFolders()
	if err != nil {
		return err
	}
	defer f.remove()
	w, err := startWatcher(f)
	if err != nil {
		return err
	}
	defer w.end()
	if err := makePipe(f.input()); err != nil {
		return fmt.Errorf("pipe for cells: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := c.locate(here, f); err != nil {
		return err
	}
	if err := makeCheckModule(c, f); err != nil {
		return err
	}
	var token [12]byte
	rand.Read(token[:])
	k := &kernel{c: c, f: f, token: hex.EncodeToString(token[:]), watcher: w, ended: make(chan struct{}), env: map[string]string{}, fallbacks: map[string]int{}, tracked: map[string]bool{}, dir: here, started: here, lines: linesFromEnv()}
	k.values = valuesEnv(f, k.token)
	life, die := context.WithCancel(context.Background())
	defer die()
	k.packages = packageIndex(life, c, f, false)
	k.session.Dir = f.keep()[0]
	k.session.Set(rewrite.NewSession(k.packages, k.session.Manifest).Vetted(vet.Check))
	k.builder = &builder{dir: f.build(), packages: k.packages, programs: os.Getenv("LECTERN_PROGRAMS")}
	k.input = &input{path: f.input()}
	k.queue = newQueue(k)
	if k.jupyter, err = jupyter.Listen(info); err != nil {
		return err
	}
	defer k.jupyter.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append(endSignals, os.Interrupt)...)
	go k.queue.run()
	go k.receive(k.jupyter.Shell, k.onShell)
	go k.receive(k.jupyter.Control, k.onControl)
	go k.receive(k.jupyter.Stdin, k.onStdin)
	go k.watchParent()
	k.publishStatus(nil, "starting")
	for {
		select {
		case s := <-signals:
			if s == os.Interrupt {
				k.interrupt()
				continue
			}
			k.end()
		case <-k.ended:
		}
		break
	}
	die()
	return k.shutDown()
}

// receive hands every message of a socket to f. A message with a wrong signature is dropped, as the protocol asks.
func (k *kernel) receive(s *jupyter.Socket, f func(*jupyter.Message)) {
	for {
		m, err := s.Recv()
		if jupyter.Broken(err) {
			return
		}
		if err == nil {
			k.attempt(m, f)
		}
	}
}

// end asks the kernel to end.
func (k *kernel) end() { k.endOnce.Do(func() { close(k.ended) }) }

// shutDown ends the cell that runs, GoNB, and all that they have started.
func (k *kernel) shutDown() error {
	k.mu.Lock()
	g, e := k.gonb, k.run
	k.mu.Unlock()
	if e != nil {
		e.stop()
		e.mu.Lock()
		p := e.process
		e.mu.Unlock()
		if p != nil {
			p.signal(syscall.SIGKILL)
		}
	}
	if g != nil {
		g.stop()
	}
	reapOrphans()
	k.packages.Ended() // or a go command would make its folder again, after ours are removed
	reapOrphans()
	k.watcher.say("done")
	return nil
}

// watchParent ends the kernel when the Jupyter that started it has died.
func (k *kernel) watchParent() {
	parent := os.Getppid()
	for {
		select {
		case <-k.ended:
			return
		case <-time.After(500 * time.Millisecond):
			if os.Getppid() != parent {
				k.end()
				return
			}
		}
	}
}

// publish sends a message on iopub as an answer to parent, which may be nil.
func (k *kernel) publish(parent *jupyter.Message, msgType string, content any) {
	m := jupyter.NewMessage("lectern", msgType, content)
	if parent != nil {
		m = parent.Reply(msgType, content)
	}
	m.Identities = [][]byte{[]byte("kernel." + msgType)}
	k.jupyter.IOPub.Send(m)
}

func (k *kernel) publishStatus(parent *jupyter.Message, state string) {
	k.publish(parent, "status", map[string]string{"execution_state": state})
}
