//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/grading"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// nbgraderVar says what nbgrader runs a notebook for: autograde, or validate.
const nbgraderVar = "NBGRADER_EXECUTION"

// A grader is the kernel that nbgrader sees when it grades. It runs the student's cells in another kernel, in a
// sandbox, and judges tests itself: the expected answers stay here.
type grader struct {
	runner *grading.Runner
	nb     *jupyter.Sockets // toward nbgrader
	cells  chan *jupyter.Message
	ended  chan struct{}
	count  int
}

// graderOptions reads the limits from the environment.
func graderOptions(c config) (grading.Options, error) {
	o := grading.Options{Root: c.root, Kernel: []string{filepath.Join(c.bin, "lectern-kernel"), "-root", c.root, "-bin", c.bin, "{connection_file}"},
		Env: map[string]string{"LECTERN_ROOT": c.root}, Trust: os.Getenv("LECTERN_GRADER_TRUST") != ""}
	if exe, err := os.Executable(); err == nil {
		o.Kernel[0] = exe
	}
	var err error
	for name, limit := range map[string]*time.Duration{"LECTERN_GRADER_TIMEOUT": &o.Cell, "LECTERN_GRADER_TOTAL": &o.Total} {
		if s := os.Getenv(name); s != "" {
			if *limit, err = time.ParseDuration(s); err != nil || *limit <= 0 {
				return o, fmt.Errorf("%s is %q; write a time, such as 30s", name, s)
			}
		}
	}
	if s := os.Getenv("LECTERN_GRADER_MEMORY"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 {
			return o, fmt.Errorf("LECTERN_GRADER_MEMORY is %q; write megabytes, such as 2048", s)
		}
		o.Memory = n << 20
	}
	if o.Trust {
		return o, nil
	}
	if err := sandbox.Available(); err != nil {
		return o, fmt.Errorf("%w; LECTERN_GRADER_TRUST=1 runs submissions anyway, with your full permissions", err)
	}
	return o, nil
}

// runGrader runs a grader from beginning to end.
func runGrader(c config) error {
	info, err := jupyter.ReadConnectionFile(c.connection)
	if err != nil {
		return err
	}
	o, err := graderOptions(c)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	life, die := signal.NotifyContext(context.Background(), endSignals...)
	defer die()
	g := &grader{cells: make(chan *jupyter.Message, 1000), ended: make(chan struct{})}
	if g.runner, err = grading.Start(life, o, dir); err != nil {
		return err
	}
	defer g.runner.Close()
	if g.nb, err = jupyter.Listen(info); err != nil {
		return err
	}
	defer g.nb.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt)
	go g.receive(g.nb.Shell)
	go g.receive(g.nb.Control)
	go g.run(life)
	parent := os.Getppid()
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-signals:
			g.runner.Interrupt()
		case <-look.C:
			if os.Getppid() != parent {
				return nil
			}
		case <-life.Done():
			return nil
		case <-g.ended:
			return nil
		}
	}
}

func (g *grader) receive(s *jupyter.Socket) {
	for {
		m, err := s.Recv()
		if jupyter.Broken(err) {
			return
		}
		if err != nil {
			continue
		}
		reply := func(msgType string, content any) {
			g.publish(m, "status", map[string]string{"execution_state": "busy"})
			s.Send(m.Reply(msgType, content))
			g.publish(m, "status", map[string]string{"execution_state": "idle"})
		}
		switch m.Header.Type {
		case "execute_request":
			g.cells <- m
		case "kernel_info_request":
			reply("kernel_info_reply", kernelInfo())
		case "interrupt_request":
			g.runner.Interrupt()
			reply("interrupt_reply", map[string]string{"status": "ok"})
		case "shutdown_request":
			reply("shutdown_reply", map[string]any{"status": "ok", "restart": false})
			time.Sleep(20 * time.Millisecond) // the reply is on its way when we go
			close(g.ended)
			return
		case "comm_info_request":
			reply("comm_info_reply", map[string]any{"status": "ok", "comms": map[string]any{}})
		}
	}
}

func (g *grader) publish(parent *jupyter.Message, msgType string, content any) {
	m := parent.Reply(msgType, content)
	m.Identities = [][]byte{[]byte("kernel." + msgType)}
	g.nb.IOPub.Send(m)
}

// run runs cells one after the other.
func (g *grader) run(ctx context.Context) {
	for {
		select {
		case m := <-g.cells:
			g.cell(ctx, m)
		case <-ctx.Done():
			return
		}
	}
}

// cell runs a cell, and answers.
func (g *grader) cell(ctx context.Context, m *jupyter.Message) {
	var req executeRequest
	m.DecodeContent(&req)
	g.count++
	g.publish(m, "status", map[string]string{"execution_state": "busy"})
	g.publish(m, "execute_input", map[string]any{"code": req.Code, "execution_count": g.count})
	reply := map[string]any{"status": "ok", "execution_count": g.count, "user_expressions": map[string]any{}, "payload": []any{}}
	if name, value := g.outcome(ctx, m, req.Code); name != "" {
		failed := map[string]any{"ename": name, "evalue": value, "traceback": strings.Split(value, "\n")}
		if name != shownAlready {
			g.publish(m, "error", failed)
		}
		reply["status"] = "error"
		for k, v := range failed {
			reply[k] = v
		}
	}
	g.nb.Shell.Send(m.Reply("execute_reply", reply))
	g.publish(m, "status", map[string]string{"execution_state": "idle"})
}

// shownAlready is the name of an error that the student's kernel has published itself.
const shownAlready = "error"

// outcome runs a cell and returns the error that it ends with, if it does.
func (g *grader) outcome(ctx context.Context, m *jupyter.Message, code string) (name, value string) {
	if calls, isTest, err := grading.ParseTest(code); isTest {
		if err != nil {
			return "test", "this test can't be graded: " + err.Error()
		}
		v, err := g.runner.Test(ctx, calls)
		if err != nil {
			return "test", err.Error()
		}
		return g.verdict(m, v)
	}
	result, err := g.runner.Cell(ctx, code, func(out *jupyter.Message) {
		content := out.Content
		var text struct{ Name, Text string }
		if out.Header.Type == "stream" && out.DecodeContent(&text) == nil && text.Name == "stderr" {
			// nbgrader gives no point for a cell that writes to stderr, and some notes are the kernel's own.
			g.publish(m, "stream", map[string]string{"name": "stdout", "text": text.Text})
			return
		}
		g.publish(m, out.Header.Type, content)
	})
	var limit *grading.LimitError
	switch {
	case errors.As(err, &limit):
		return "limit", limit.Reason
	case err != nil:
		return "kernel", err.Error()
	case result.Status != "ok":
		return shownAlready, result.EValue
	}
	return "", ""
}

// verdict shows the points of a test as nbgrader reads them: an error is none, a result that is a number is some of
// them, and anything else is all.
func (g *grader) verdict(m *jupyter.Message, v grading.Verdict) (name, value string) {
	g.publish(m, "stream", map[string]string{"name": "stdout", "text": v.String()})
	switch v.Points {
	case 0:
		return "points", fmt.Sprintf("0 of %s", humanize.Count(v.Of, "point"))
	case v.Of:
	default:
		g.publish(m, "execute_result", map[string]any{"data": map[string]any{"text/plain": strconv.Itoa(v.Points)}, "metadata": map[string]any{}, "execution_count": g.count})
	}
	return "", ""
}
