package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/grading"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
	"github.com/lectern-go/lectern/kernel/notebook"
)

func assignmentCommand() *command {
	var to string
	return &command{
		name:  "assignment",
		args:  "lesson",
		short: "turn a lesson into an assignment",
		long: `
Assignment writes the source of an assignment: the lesson, with each lesson.Grade exercise as an answer with its solution and a locked test,
marked the way nbgrader marks them. Change it as you like, in JupyterLab; it is yours, and students never see it. Example:

  go run ./kernel assignment -o course/source/ps17/ps17.ipynb notebooks/17-optimizers.ipynb`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&to, "o", "", "the file to write; an existing file is never overwritten")
		},
		run: func(_ context.Context, ws *workspace, args []string) error {
			if len(args) != 1 || to == "" {
				return usagef("give a lesson, and with -o the file to write")
			}
			return ws.assignment(args, to)
		},
	}
}

func (w *workspace) assignment(args []string, to string) error {
	list, err := w.notebooks(args)
	if err != nil {
		return err
	}
	n, err := notebook.Read(list[0])
	if err != nil {
		return err
	}
	if fileExists(to) {
		return fmt.Errorf("%s exists already, and may hold your work; choose another file", to)
	}
	made, left := grading.FromLesson(n)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := made.Write(to); err != nil {
		return err
	}
	for _, text := range left {
		fmt.Fprintln(w.stderr, "left as it was:", text)
	}
	s, err := grading.ReadSource(to)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "%s: %s, %s\n", w.rel(to), humanize.Count(len(s.Tests), "test"), humanize.Count(s.Points(), "point"))
	return nil
}

// limits are what the flags say of the commands that run assignments.
type limits struct {
	trust       bool
	cell, total time.Duration
	memory      int64 // MiB
}

func (l *limits) flags(fs *flag.FlagSet) {
	fs.BoolVar(&l.trust, "trust", false, "run the notebooks without isolation, with your full permissions: only if you trust their authors")
	fs.DurationVar(&l.cell, "timeout", grading.CellLimit, "how long one cell may run")
	fs.DurationVar(&l.total, "total", grading.TotalLimit, "how long one notebook may run, with all its cells")
	fs.Int64Var(&l.memory, "memory", grading.MemoryLimit>>20, "MiB of memory that one notebook may use")
}

// absolute makes paths of the command line absolute. Submissions run elsewhere, where a relative path would lead to
// something else.
func absolute(paths ...*string) error {
	for _, p := range paths {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

// grader turns the limits into options, and refuses where there is no isolation.
func (w *workspace) grader(ctx context.Context, l limits) (grading.Options, error) {
	spec := w.spec()
	o := grading.Options{Root: w.root, Kernel: spec.Argv, Env: spec.Env, Trust: l.trust, Cell: l.cell, Total: l.total, Memory: l.memory << 20}
	if o.Cell <= 0 || o.Total <= 0 || o.Memory <= 0 {
		return o, usagef("-timeout, -total and -memory have to be more than 0")
	}
	if !o.Trust {
		if err := sandbox.Available(); err != nil {
			return o, fmt.Errorf("%w.\n-trust runs them anyway, with your full permissions: they could read the hidden tests, or remove your files", err)
		}
	}
	return o, w.ready(ctx)
}

func releaseCommand() *command {
	var to string
	var l limits
	return &command{
		name:  "release",
		args:  "source",
		short: "turn an assignment into what students get",
		long: `
Release checks an assignment, grades its own solutions, which have to get all points, and writes it as students get it: without solutions,
hidden tests and outputs. Examples:

  go run ./kernel release -o course/release course/source/ps17/ps17.ipynb
  go run ./kernel release -o course/release -trust course/source/ps17/ps17.ipynb`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&to, "o", "", "the folder to write it to")
			l.flags(fs)
		},
		run: func(ctx context.Context, ws *workspace, args []string) error {
			if len(args) != 1 || to == "" {
				return usagef("give the source of an assignment, and with -o a folder")
			}
			if err := absolute(&args[0], &to); err != nil {
				return err
			}
			return ws.release(ctx, args[0], to, l)
		},
	}
}

func (w *workspace) release(ctx context.Context, source, to string, l limits) error {
	s, err := grading.ReadSource(source)
	if err != nil {
		return err
	}
	path := filepath.Join(to, s.Name+".ipynb")
	if path == source {
		return usagef("%s is the source itself; choose another folder", path)
	}
	o, err := w.grader(ctx, l)
	if err != nil {
		return err
	}
	p := w.step("Grade the solutions of %s", s.Name)
	report := gradeOne(ctx, s, o, grading.Submission{Notebook: s.Notebook, Files: filepath.Dir(source)})
	p.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if report.Problem != "" {
		return fmt.Errorf("%s: %s", filepath.Base(source), report.Problem)
	}
	if report.Points < report.Of {
		var b strings.Builder
		for _, t := range report.Tests {
			if t.Verdict.Points < t.Test.Points {
				fmt.Fprintf(&b, "\n%s: %s", t.Test.ID, t.Verdict)
			}
		}
		return fmt.Errorf("%s: its own solutions get %d of %s; nothing was written%s", filepath.Base(source), report.Points, humanize.Count(report.Of, "point"), strings.TrimRight(b.String(), "\n"))
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := s.Release().Write(path); err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "%s: %s, %s; its solutions get all of them\n", w.rel(path), humanize.Count(len(s.Tests), "test"), humanize.Count(s.Points(), "point"))
	return nil
}

func gradeCommand() *command {
	var g gradeOptions
	return &command{
		name:  "grade",
		args:  "folder",
		short: "grade what students have handed in",
		long: `
Grade runs the submissions in a folder, each isolated from your files, the network and the others, and compares what their functions return
with the answers in the source of the assignment. In the folder, a submission is student.ipynb, or a notebook with the name of the source,
below a folder named after the student.

Locked cells are restored. A submission that can't be graded gets no points and a note, and makes the exit status 1. Examples:

  go run ./kernel grade -source course/source/ps17/ps17.ipynb -o grades.csv course/submitted
  go run ./kernel grade -source course/source/ps17/ps17.ipynb -o grades.csv -feedback course/feedback course/submitted`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&g.source, "source", "", "the source of the assignment")
			fs.StringVar(&g.table, "o", "", "the CSV file to write the points to")
			fs.StringVar(&g.pages, "feedback", "", "a folder to write each student's page into")
			fs.IntVar(&g.workers, "j", runtime.GOMAXPROCS(0), "how many submissions run at the same time")
			g.flags(fs)
		},
		run: func(ctx context.Context, ws *workspace, args []string) error {
			if len(args) != 1 || g.source == "" || g.table == "" {
				return usagef("give the assignment with -source, the file for points with -o, and the folder of submissions after the flags")
			}
			if err := absolute(&args[0], &g.source, &g.table, &g.pages); err != nil {
				return err
			}
			return ws.grade(ctx, args[0], g)
		},
	}
}

// gradeOptions are what the flags of grade say.
type gradeOptions struct {
	limits
	source  string // of the assignment
	table   string // the file of points to write
	pages   string // a folder for feedback, or empty
	workers int    // submissions that run at the same time
}

// grade grades the submissions in a folder, and writes the points and, if it was asked for, feedback.
func (w *workspace) grade(ctx context.Context, folder string, g gradeOptions) error {
	s, err := grading.ReadSource(g.source)
	if err != nil {
		return err
	}
	submissions, err := grading.Submissions(folder, s.Name)
	if err != nil {
		return err
	}
	if len(submissions) == 0 {
		return fmt.Errorf("there are no submissions in %s: put student.ipynb there, or student/%s.ipynb", folder, s.Name)
	}
	o, err := w.grader(ctx, g.limits)
	if err != nil {
		return err
	}
	if g.workers < 1 {
		return usagef("-j %d: at least one has to run", g.workers)
	}
	if o.Programs, err = os.MkdirTemp("", "lectern-programs-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.Programs)
	if err := os.Chmod(o.Programs, 0o755); err != nil { // where root grades, submissions run as another user
		return err
	}
	p := w.step("Build the cells of %s", s.Name)
	err = s.Prepare(ctx, o)
	p.end()
	if err != nil {
		return err
	}
	began := time.Now()
	reports := make([]*grading.Report, len(submissions))
	next := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range min(g.workers, len(submissions)) {
		all.Go(func() {
			for i := range next {
				r := gradeOne(ctx, s, o, submissions[i])
				reports[i] = r
				if ctx.Err() != nil {
					continue
				}
				mu.Lock()
				if r.Problem != "" {
					fmt.Fprintf(w.stderr, "%s: not graded: %s\n", r.Student, r.Problem)
				} else {
					fmt.Fprintf(w.stdout, "%s: %d of %s\n", r.Student, r.Points, humanize.Count(r.Of, "point"))
				}
				mu.Unlock()
			}
		})
	}
	for i := range submissions {
		next <- i
	}
	close(next)
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var lines bytes.Buffer
	if err := s.WriteCSV(&lines, reports); err != nil {
		return err
	}
	if err := writeFile(g.table, lines.Bytes(), 0o600); err != nil {
		return err
	}
	bad := 0
	for _, r := range reports {
		if r.Problem != "" {
			bad++
		}
		if g.pages != "" {
			var page bytes.Buffer
			if err := s.WriteFeedback(&page, r); err != nil {
				return err
			}
			if err := writeFile(filepath.Join(g.pages, r.Student+".html"), page.Bytes(), 0o600); err != nil { // a name that is too long, perhaps
				fmt.Fprintf(w.stderr, "%s: no page: %v\n", r.Student, err)
				bad++
			}
		}
	}
	fmt.Fprintf(w.stdout, "%s in %.0f s\n", humanize.Count(len(submissions), "submission"), time.Since(began).Seconds())
	if bad > 0 {
		fmt.Fprintf(w.stderr, "%d of %d submissions were not graded\n", bad, len(submissions))
		return reported{}
	}
	return nil
}

// gradeOne grades a submission; whatever goes wrong is a problem of this one alone.
func gradeOne(ctx context.Context, s *grading.Source, o grading.Options, sub grading.Submission) (report *grading.Report) {
	problem := func(text string) *grading.Report {
		return &grading.Report{Student: sub.Student, Of: s.Points(), Problem: text}
	}
	if sub.Problem != "" {
		return problem(sub.Problem)
	}
	defer func() {
		if p := recover(); p != nil { // what a submission causes in our own code is its own problem, too
			report = problem(fmt.Sprintf("the grader failed on it: %v", p))
		}
	}()
	report, err := s.Grade(ctx, o, sub.Notebook, sub.Files)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return problem("interrupted")
		}
		return problem(err.Error())
	}
	report.Student = sub.Student
	return report
}
