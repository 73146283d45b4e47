//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/front/internal/packages"
	"github.com/lectern-go/lectern/kernel/front/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/keep"
)

// A kernel is one running front.
type kernel struct {
	c        config
	f        *folders
	token    string
	jupyter  *jupyter.Sockets // towards Jupyter
	watcher  *watcher
	packages *packages.Packages
	queue    *queue
	input    *input
	ended    chan struct{} // closed when the kernel is to end
	endOnce  sync.Once
	ready    chan struct{} // closed when GoNB is

	mu      sync.Mutex
	gonb    *child           // nil until it is ready
	failed  error            // why there is no GoNB
	run     *execution       // the cell that runs, or nil
	session *rewrite.Session // changed by the queue alone
	ran     map[int]ranCell  // by GoNB's count of cells
	count   int              // execution count
	history []historyEntry
	helper  *completer

	noAutoget bool // %noautoget: imports fetch nothing; changed by the queue alone
}

// ranCell is what is needed to read GoNB's messages about one of its cells.
type ranCell struct {
	lines []rewrite.Pos
	text  *rewrite.Text
}

type historyEntry struct {
	count int
	code  string
}

// run is the kernel's life. When it returns nothing of the kernel is left.
func run(c config) error {
	info, err := jupyter.ReadConnectionFile(c.connection)
	if err != nil {
		return err
	}
	adoptOrphans()
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
	for _, p := range []string{f.input(), f.output()} {
		if err := makePipe(p); err != nil {
			return fmt.Errorf("pipe for cells: %w", err)
		}
	}
	if err := makeCheckModule(c, f); err != nil {
		return err
	}
	var token [12]byte
	rand.Read(token[:])
	k := &kernel{c: c, f: f, token: hex.EncodeToString(token[:]), watcher: w, ended: make(chan struct{}), ready: make(chan struct{}), ran: map[int]ranCell{}}
	life, die := context.WithCancel(context.Background())
	defer die()
	k.packages = packageIndex(life, c, f)
	k.session = rewrite.NewSession(k.packages, k.manifest)
	k.input = &input{path: f.input()}
	k.queue = newQueue(k)
	k.helper = newCompleter(k)
	defer k.helper.stop()
	if k.jupyter, err = jupyter.Listen(info); err != nil {
		return err
	}
	defer k.jupyter.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append(endSignals, os.Interrupt)...)
	go k.bringUpGoNB()
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
	return k.shutDown()
}

// bringUpGoNB starts GoNB while Jupyter is already being served.
func (k *kernel) bringUpGoNB() {
	g, err := startGoNB(k.c, k.f, k.token)
	if g != nil {
		k.watcher.say(fmt.Sprint("group ", g.cmd.Process.Pid))
	}
	k.mu.Lock()
	k.gonb, k.failed = g, err
	k.mu.Unlock()
	close(k.ready)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
		return
	}
	go k.receive(g.sockets.IOPub, k.fromIOPub)
	go k.receive(g.sockets.Shell, k.fromShell)
	go k.receive(g.sockets.Control, func(*jupyter.Message) {})
	go k.receive(g.sockets.Stdin, k.fromStdin)
	<-g.exited
	k.mu.Lock()
	r := k.run
	k.mu.Unlock()
	if r != nil {
		r.died()
		time.Sleep(50 * time.Millisecond) // let the cell's error go out
	}
	k.end()
}

// dial connects to GoNB, unless that ends first.
func dial(info jupyter.ConnectionInfo, g *child) (*jupyter.Sockets, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 30*time.Second, errors.New("no answer within 30 s"))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-g.exited:
			stop(fmt.Errorf("it ended at once (%v)", g.cmd.ProcessState))
		case <-ctx.Done():
		}
	}()
	s, err := jupyter.Dial(ctx, info)
	if err != nil {
		return nil, err
	}
	if _, err := s.WaitReady(ctx, "front"); err != nil {
		s.Close()
		return nil, err
	}
	// With the network off, "go get" before each cell finds nothing and costs time. The first cell comes after this request.
	if err := s.Shell.Send(jupyter.NewMessage("front", "execute_request", map[string]any{"code": "%noautoget", "silent": true, "store_history": false,
		"allow_stdin": false, "stop_on_error": true, "user_expressions": map[string]string{}})); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// receive hands every message of a socket to f. A message with a wrong signature is dropped, as the protocol asks.
func (k *kernel) receive(s *jupyter.Socket, f func(*jupyter.Message)) {
	for {
		m, err := s.Recv()
		if jupyter.Broken(err) {
			return
		}
		if err == nil {
			f(m)
		}
	}
}

// end asks the kernel to end.
func (k *kernel) end() { k.endOnce.Do(func() { close(k.ended) }) }

// shutDown ends GoNB, the cell that runs, and all that they have started.
func (k *kernel) shutDown() error {
	k.helper.stop()
	select {
	case <-k.ready:
	case <-time.After(2 * time.Second):
	}
	k.mu.Lock()
	g, err := k.gonb, k.failed
	k.mu.Unlock()
	if g != nil {
		g.stop()
		g.sockets.Close()
	}
	reapOrphans()
	k.watcher.say("done")
	return err
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

// manifest says what is kept.
func (k *kernel) manifest() *keep.Manifest {
	m, err := keep.ReadManifest(k.f.keep()[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
	}
	return m
}

// publish sends a message on iopub as an answer to parent, which may be nil.
func (k *kernel) publish(parent *jupyter.Message, msgType string, content any) {
	m := jupyter.NewMessage("front", msgType, content)
	if parent != nil {
		m = parent.Reply(msgType, content)
	}
	m.Identities = [][]byte{[]byte("kernel." + msgType)}
	k.jupyter.IOPub.Send(m)
}

func (k *kernel) publishStatus(parent *jupyter.Message, state string) {
	k.publish(parent, "status", map[string]string{"execution_state": state})
}
