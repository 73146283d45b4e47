package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/internal/sitejob"
)

func renderCommand() *command {
	var o renderOptions
	return &command{
		name:  "render",
		args:  "[notebook ...]",
		short: "write notebooks as web pages",
		long: `
Render writes executed notebooks as web pages that need nothing else: no network, no script or font from another host. Without arguments it
renders all lessons, or outside the repository the notebooks of the current folder. Outputs are those stored in the files; go run ./kernel
run creates them.

Readers can go through the cells of lessons step by step. For that, render runs each lesson once more and records it, unless the lesson has
not changed since it was last recorded, or somebody else has recorded it: -steps-from takes records from a file, such as the steps.zip of a
release, which is found automatically if it is in the repository; -steps-to writes one. A record is used only for the text and code that it
was made from. The pages are there before anything is recorded, and complete all the time, so Ctrl-C loses nothing. -steps=false leaves the
recording out, and -steps does it for other notebooks, too. Examples:

  go run ./kernel render
  go run ./kernel render -o /tmp/page my-experiment.ipynb
  go run ./kernel render -untrusted -o /tmp/page from-somebody.ipynb
  go run ./kernel render -url https://example.org/course/
  go run ./kernel render -live
  go run ./kernel render -steps my-experiment.ipynb
  go run ./kernel render -steps-from steps.zip

With -live, the cells of the pages run in the browser: Go itself lies beside the pages, compiled for the browser from the Go installed here.
The first time, this takes some minutes. See docs/live.md.

An output may contain a script, which runs in a frame of its own. Use -untrusted for notebooks from people you don't know: then nothing in
them runs, loads anything or takes pictures from their folder, and what can't be rendered is a warning.`,
		flags: o.flags,
		run: func(ctx context.Context, ws *workspace, args []string) error {
			return ws.render(ctx, args, o)
		},
	}
}

// renderOptions are what the flags of render say.
type renderOptions struct {
	out, url        string
	steps           *bool // nil if the command line does not say
	from, to        string
	live, untrusted bool
}

func (o *renderOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.out, "o", "", "folder for the pages (default: site in the repository, or the current folder)")
	fs.StringVar(&o.url, "url", "", "where the pages will be published: adds a site map and their addresses")
	fs.BoolFunc("steps", "run the cells once more and record them, so that readers can step through them (the default for the lessons)", func(text string) error {
		steps, err := strconv.ParseBool(text)
		o.steps = &steps
		return err
	})
	fs.StringVar(&o.from, "steps-from", "", "a file of recorded steps: what it has for the present version of a notebook is not recorded again")
	fs.StringVar(&o.to, "steps-to", "", "at the end, write all recorded steps to such a file")
	fs.BoolVar(&o.live, "live", false, "let cells run in the browser")
	fs.BoolVar(&o.untrusted, "untrusted", false, "keep only what is harmless in the notebooks: no scripts, nothing loaded")
}

// siteStep builds the program that writes pages.
func (w *workspace) siteStep(ctx context.Context, flags ...string) (step, error) {
	sources, err := w.sourceDigest()
	if err != nil {
		return step{}, err
	}
	tool := w.tool("lectern-site")
	return step{"site", "renderer built", []string{goVersion, sources, install.Version()}, []string{tool}, func() error { return w.buildSite(ctx, tool, flags...) }}, nil
}

func (w *workspace) buildSite(ctx context.Context, tool string, flags ...string) error {
	args := append([]string{"build", "-ldflags=-s -w"}, flags...)
	return w.goCommand(ctx, "build the renderer", w.root, append(os.Environ(), "GOWORK=off"), append(args, "-o", tool, "./kernel/site")...)
}

// render writes the pages of the notebooks, or of all lessons.
func (w *workspace) render(ctx context.Context, args []string, o renderOptions) error {
	list, err := w.notebooks(args)
	if err != nil {
		return err
	}
	course := len(args) == 0 && w.outside == ""
	asked, refused := o.steps != nil && *o.steps, o.steps != nil && !*o.steps
	if (asked || o.from != "" || o.to != "") && o.untrusted {
		return usagef("cells of a notebook that is not trusted are not run: choose one of -steps and -untrusted")
	}
	if o.to != "" && refused {
		return usagef("-steps-to writes what is recorded, and -steps=false records nothing: choose one of them")
	}
	beside := filepath.Join(w.root, stepsZip)
	found := o.from == "" && course && !refused && !o.untrusted && fileExists(beside)
	if found {
		o.from = beside
	}
	record := asked || o.to != "" || course && !o.untrusted && !refused
	if o.live && o.untrusted {
		return usagef("cells of a notebook that is not trusted are not run: choose one of -live and -untrusted")
	}
	job := sitejob.Job{Out: cmp.Or(o.out, filepath.Join(cmp.Or(w.outside, w.root), "site")), URL: o.url, Untrusted: o.untrusted,
		AllowMissingAlt: w.outside != "", // a stranger's figures need not be as complete as a lesson's
		Course:          course, Root: w.root, Cache: w.state("live")}
	for _, path := range list {
		job.Notebooks = append(job.Notebooks, fromHere(path))
	}
	site, err := w.siteStep(ctx)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	tool := w.tool("lectern-site")
	_, err = w.do(false, []step{site})
	var closed *notWritable
	if errors.As(err, &closed) && o.out != "" { // then the checkout need not be written to
		var dir string
		if dir, err = os.MkdirTemp("", "lectern-site-"); err == nil {
			defer os.RemoveAll(dir)
			tool, job.Cache = filepath.Join(dir, filepath.Base(tool)), filepath.Join(dir, "live")
			err = w.buildSite(ctx, tool)
		}
	}
	if err != nil {
		return err
	}
	r := &renderer{w: w, tool: tool, job: job}
	records := &recording{}
	if record || o.from != "" {
		dir := w.state("steps") // records stay in the checkout
		if closed != nil {
			dir, record = filepath.Join(filepath.Dir(tool), "steps"), false
		}
		if records, err = w.recordedOrNot(list, dir, o.from, found); err != nil {
			return err
		}
		r.steps = records.recorded
		if records.from != "" {
			fmt.Fprintln(w.stdout, records.came(fromHere(records.from), record))
		}
	}
	if err := r.first(ctx, o.live, !o.untrusted && explores(list)); err != nil {
		return err
	}
	if len(records.queue) == 0 || !record {
		return records.save(o.to)
	}
	fmt.Fprintln(w.stdout, "Now each lesson runs once more, to record what readers can step through, and its page is written again. The pages are already complete without that: Ctrl-C loses nothing.")
	r.quiet = true
	err = records.record(ctx, func() error {
		if o.live { // which takes longer: once, when all are recorded
			return nil
		}
		return r.render(ctx)
	})
	switch {
	case err == nil:
		r.quiet = false
		return cmp.Or(records.save(o.to), r.render(ctx))
	case ctx.Err() != nil || asked:
		return err
	}
	// Pages without steps are pages.
	fmt.Fprintf(w.stderr, "warning: readers can't step through every cell, since some could not be recorded: %v\n", err)
	return records.save(o.to)
}

// explores reports whether a notebook has something to play with: then pages need a program beside them.
func explores(notebooks []string) bool {
	return slices.ContainsFunc(notebooks, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && bytes.Contains(text, []byte("<!-- explore: ")) // one that can't be read is named by the renderer
	})
}

// A renderer calls the program that writes pages.
type renderer struct {
	w     *workspace
	tool  string
	job   sitejob.Job
	steps func() map[string]string // the files of the steps that are recorded so far, by notebook; nil for none
	quiet bool                     // success is not reported
}

// first writes the pages with the steps that are there, and then, if need be, those that take longer: with explorers,
// and with cells that run. Pages whose cells run already keep them meanwhile.
func (r *renderer) first(ctx context.Context, live, explore bool) error {
	built := fileExists(filepath.Join(r.job.Cache, "explore.wasm"))
	r.job.Explore = explore && built
	if run, _ := glob.In(filepath.Join(r.job.Out, "live"), "compiler-*"); !live || len(run) == 0 {
		if err := r.render(ctx); err != nil {
			return err
		}
	}
	if !live && (built || !explore) {
		return nil
	}
	r.job.Explore, r.job.Live = explore, live
	return r.render(ctx)
}

func (r *renderer) render(ctx context.Context) error {
	w := r.w
	if r.steps != nil {
		r.job.Steps = r.steps()
	}
	cmd, err := r.job.Command(ctx, r.tool)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	// What it says is shown when the line of progress has ended.
	var out bytes.Buffer
	said := &stages{w: w, quiet: r.quiet}
	cmd.Stdout, cmd.Stderr = &out, said
	said.begin(0, "Render "+humanize.Count(len(r.job.Notebooks), "notebook"))
	err = cmd.Run()
	said.end()
	if !r.quiet || err != nil {
		w.stderr.Write(said.rest.Bytes())
		w.stdout.Write(out.Bytes())
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return reported{}
	case err != nil:
		return fmt.Errorf("render: %w", err)
	}
	return nil
}

// stages takes what the program that writes pages says on its standard error: lines that announce a stage are shown as
// progress, the rest is kept.
type stages struct {
	w     *workspace
	quiet bool
	now   *progress
	line  []byte
	rest  bytes.Buffer
}

func (s *stages) begin(about time.Duration, what string) {
	if !s.quiet {
		s.end()
		s.now = s.w.longStep(about, "%s", what)
	}
}

func (s *stages) end() {
	if s.now != nil {
		s.now.end()
		s.now = nil
	}
}

func (s *stages) Write(b []byte) (int, error) {
	for _, c := range b {
		if s.line = append(s.line, c); c != '\n' {
			continue
		}
		if what, about, ok := sitejob.ParseStage(string(s.line)); ok {
			s.begin(about, what)
		} else {
			s.rest.Write(s.line)
		}
		s.line = s.line[:0]
	}
	return len(b), nil
}

// fromHere is path as a user in the current folder would write it.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(here, path)
	if err != nil || len(rel) > len(path) {
		return path
	}
	return rel
}
