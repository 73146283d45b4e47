// Command load tries what a class does to a machine. It starts JupyterHub with the configuration of kernel/deploy and
// simulated students who log in, open a lesson, run its cells with pauses to think, ask for completion, edit, save and
// interrupt, through the same proxy and the same protocol as their browsers would:
//
//	go run ./kernel/deploy/load                          2 students for half a minute
//	go run ./kernel/deploy/load -n 2,10,30 -time 90s     three classes, one after the other
//	go run ./kernel/deploy/load -n 30 -time 3m -goals    fails if the machine is too slow or too small for them
//
// As root on Linux, each student is a separate user, in a mount namespace with its own list of users; then it also
// checks that no student can read another's folder or write to what all share. Without root, all of them are you.
//
// It needs the kernel (go run ./kernel setup), and JupyterHub with its proxy, as kernel/deploy/install has put them
// into /srv/lectern-hub. Without installing anything for others:
//
//	python3 -m venv .lectern/hub
//	.lectern/hub/bin/pip install -r kernel/deploy/requirements.txt
//	cp kernel/deploy/package.json kernel/deploy/package-lock.json .lectern/hub
//	npm ci --ignore-scripts --prefix .lectern/hub
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Exit statuses.
const (
	failed  = 1
	misused = 2
	missing = 3 // something must be installed first
)

// hubVar names the folder with JupyterHub, if -hub does not.
const hubVar = "LECTERN_HUB"

// goals are what a class of thirty, each running a cell every 20 seconds, may take on two processors.
var goals = struct {
	late   time.Duration // within which 95 % of the cells end
	memory float64       // of everything, in GB
	kernel float64       // at rest, in MB
}{2 * time.Second, 6, 40}

type options struct {
	root    string
	folder  string // with JupyterHub and its proxy
	hub     string // the command jupyterhub in it
	proxy   string // the command configurable-http-proxy
	lesson  string
	time    time.Duration
	think   time.Duration
	verbose bool
	out     io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	var sizes string
	var check bool
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&sizes, "n", "2", "`numbers` of students, such as 2,10,30: one class after the other")
	fs.DurationVar(&o.time, "time", 30*time.Second, "how long each class works, once all have logged in")
	fs.DurationVar(&o.think, "think", 20*time.Second, "how long a student thinks between two cells, on average")
	fs.StringVar(&o.lesson, "lesson", "05-storage-strides-views", "the `lesson` that they work on")
	fs.StringVar(&o.folder, "hub", os.Getenv(hubVar), "the `folder` with JupyterHub and its proxy (default: $"+hubVar+", otherwise the first that exists of .lectern/hub and /srv/lectern-hub)")
	fs.BoolVar(&check, "goals", false, fmt.Sprintf("fail unless 95 %% of the cells end within %v, everything takes at most %g GB, and an idle kernel at most %g MB", goals.late, goals.memory, goals.kernel))
	fs.BoolVar(&o.verbose, "v", false, "print what JupyterHub says")
	if err := fs.Parse(args); err != nil {
		return misused
	}
	var classes []int
	for _, s := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n > 200 {
			fmt.Fprintf(stderr, "load: -n %s: %q is not a number of students from 1 to 200\n", sizes, s)
			return misused
		}
		classes = append(classes, n)
	}
	if fs.NArg() > 0 || o.time <= 0 || o.think < 0 {
		fmt.Fprintln(stderr, "load: -time and -think are durations, and nothing follows the flags; -h lists them")
		return misused
	}
	o.out = stderr
	if err := o.find(ctx); err != nil {
		fmt.Fprintln(stderr, "load:", err)
		return missing
	}
	fmt.Fprintf(stdout, "%8s %6s %6s %8s %8s %8s %9s %9s %8s %9s %9s %8s\n", "students", "cells", "failed", "cells/s", "median", "95 %", "complete", "interrupt", "CPU/cell", "memory", "a student", "kernel")
	bad := false
	for _, n := range classes {
		r, err := o.class(ctx, n)
		if err != nil {
			fmt.Fprintf(stderr, "load: %d students: %v\n", n, err)
			return failed
		}
		fmt.Fprintln(stdout, r.row())
		for _, f := range r.failures {
			fmt.Fprintln(stderr, "load:", f)
			bad = true
		}
		if check {
			for _, m := range r.missed() {
				fmt.Fprintf(stderr, "load: %d students: %s\n", n, m)
				bad = true
			}
		}
	}
	if bad {
		return failed
	}
	return 0
}

// A result is what was measured of a class.
type result struct {
	students  int
	took      time.Duration
	cells     []time.Duration // from the key press to the last output
	complete  []time.Duration
	interrupt []time.Duration
	failures  []string
	cpu       time.Duration // of everything, while they worked
	memory    float64       // the most that all took together, in MB
	student   float64       // what a student takes at rest, in MB, on average
	kernel    float64       // the largest kernel at rest, in MB
}

func (r *result) row() string {
	per := func(d time.Duration, n int) string { return fmt.Sprintf("%.2f s", d.Seconds()/float64(max(n, 1))) }
	return fmt.Sprintf("%8d %6d %6d %8.2f %8s %8s %9s %9s %8s %6.2f GB %6.0f MB %5.0f MB", r.students, len(r.cells), len(r.failures), float64(len(r.cells))/r.took.Seconds(),
		per(quantile(r.cells, 0.5), 1), per(quantile(r.cells, 0.95), 1), per(quantile(r.complete, 0.95), 1), per(quantile(r.interrupt, 0.95), 1),
		per(r.cpu, len(r.cells)), r.memory/1000, r.student, r.kernel)
}

// missed lists the goals that the class has missed.
func (r *result) missed() (m []string) {
	if late := quantile(r.cells, 0.95); late > goals.late {
		m = append(m, fmt.Sprintf("95 %% of the cells took up to %.2f s, more than %v", late.Seconds(), goals.late))
	}
	if r.memory/1000 > goals.memory {
		m = append(m, fmt.Sprintf("everything took %.2f GB, more than %g", r.memory/1000, goals.memory))
	}
	if r.kernel > goals.kernel {
		m = append(m, fmt.Sprintf("an idle kernel took %.0f MB, more than %g", r.kernel, goals.kernel))
	}
	return m
}

// quantile is the smallest of the values that at least a fraction q of them do not exceed; 0 if there are none.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	i := int(q*float64(len(d))+0.999999) - 1
	return d[min(max(i, 0), len(d)-1)]
}

// settle is how long a class rests before its memory at rest is measured.
const settle = 5 * time.Second

// class has n students work.
func (o *options) class(ctx context.Context, n int) (*result, error) {
	h, err := o.startHub(ctx, n)
	if err != nil {
		return nil, err
	}
	defer h.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-h.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	lesson, err := o.readLesson()
	if err != nil {
		return nil, err
	}
	students := make([]*student, n)
	errs := make([]error, n)
	each := func(f func(i int) error) error {
		var all sync.WaitGroup
		for i := range students {
			all.Go(func() { errs[i] = f(i) })
		}
		all.Wait()
		select {
		case <-h.ended:
			return errors.New("JupyterHub has ended:\n" + h.said())
		default:
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("%w\n%s", err, h.said())
		}
		return nil
	}
	if err := each(func(i int) (err error) {
		students[i], err = newStudent(ctx, h, i, lesson, o.think)
		return err
	}); err != nil {
		return nil, err
	}
	defer func() {
		for _, s := range students {
			s.socket.Close()
		}
	}()
	r := &result{students: n}
	if h.realUsers {
		if err := h.tryTheft(ctx, students); err != nil {
			r.failures = append(r.failures, err.Error())
		}
	}
	before := take(h.process.Pid(), false)
	began := time.Now()
	work, done := context.WithTimeout(ctx, o.time)
	watched := make(chan float64)
	go func() { watched <- watchMemory(work, h.process.Pid()) }()
	err = each(func(i int) error { return students[i].work(work) })
	done()
	r.took, r.memory = time.Since(began), <-watched
	if err != nil {
		return nil, err
	}
	after := take(h.process.Pid(), false)
	r.cpu = after.cpu - before.cpu
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rest := take(h.process.Pid(), true)
	r.memory = max(r.memory, rest.memory)
	r.student, r.kernel = rest.students/float64(n), rest.kernel
	for _, s := range students {
		r.cells = append(r.cells, s.cells...)
		r.complete = append(r.complete, s.complete...)
		r.interrupt = append(r.interrupt, s.interrupt...)
		r.failures = append(r.failures, s.failures...)
	}
	if len(r.cells) == 0 {
		return nil, fmt.Errorf("nobody has run a cell in %v: give them more time, or less to think", o.time)
	}
	return r, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
