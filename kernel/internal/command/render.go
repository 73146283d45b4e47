package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/stage"
	"github.com/lectern-go/lectern/kernel/internal/version"
)

func renderCommand() *command {
	return &command{
		name:  "render",
		args:  "[notebook ...]",
		short: "write notebooks as web pages",
		long: `
Render writes executed notebooks as web pages that need nothing else: no network, no script or font from another host. Without arguments
it renders all lessons, or outside the repository the notebooks of the current folder. Outputs are those stored in the files; go run ./kernel run makes
them.

Readers can go through the cells of lessons step by step. For that render runs each lesson once more and records it, unless the lesson is as it was when
it was recorded last, or somebody else has recorded it: -steps-from takes records out of a file, such as the steps.zip of a release, which is found by
itself where it lies in the repository; -steps-to writes one. A record is used for the very text and code that it was made of, and no other. The pages are
there before anything is recorded, and whole all the time, so that Ctrl-C loses nothing. -steps=false leaves it out, and -steps does it for other notebooks,
too. Examples:

  go run ./kernel render
  go run ./kernel render -o /tmp/page my-experiment.ipynb
  go run ./kernel render -untrusted -o /tmp/page from-somebody.ipynb
  go run ./kernel render -url https://example.org/course/
  go run ./kernel render -live
  go run ./kernel render -steps my-experiment.ipynb
  go run ./kernel render -steps-from steps.zip

With -live the cells of the pages run in the browser: beside the pages lies Go itself, compiled for it from the Go installed here. The first time this
takes some minutes. See docs/live.md.

An output may hold a script, which runs in a frame of its own. Use -untrusted for notebooks of people you don't know: then nothing of theirs runs, loads
anything or takes pictures from the folder they lie in, and what can't be rendered is a warning.`,
		flags: func(fs *flag.FlagSet) {
			fs.String("o", "", "folder for the pages (default: site in the repository, or the current folder)")
			fs.String("url", "", "where the pages will be published: adds a site map and their addresses")
			fs.Bool("steps", false, "run the cells once more and record them, to be gone through step by step (for the lessons it is the default)")
			fs.String("steps-from", "", "a file of recorded steps: what it has for the notebooks as they are now is not recorded again")
			fs.String("steps-to", "", "at the end, write such a file of all that is recorded")
			fs.Bool("live", false, "let cells run in the browser")
			fs.Bool("untrusted", false, "keep only what is harmless of the notebooks: no scripts, nothing loaded")
		},
		run: func(ctx context.Context, ws *workspace, args []string, flags *flag.FlagSet) error {
			return ws.render(ctx, args, flags)
		},
	}
}

// siteStep builds the program that writes pages.
func (w *workspace) siteStep(ctx context.Context, flags ...string) (step, error) {
	sources, err := w.sourceDigest()
	if err != nil {
		return step{}, err
	}
	tool := w.tool("lectern-site")
	return step{"site", "renderer built", []string{goVersion, sources, version.String()}, []string{tool}, func() error { return w.buildSite(ctx, tool, flags...) }}, nil
}

func (w *workspace) buildSite(ctx context.Context, tool string, flags ...string) error {
	args := append([]string{"build", "-ldflags=-s -w"}, flags...)
	return w.goCommand(ctx, "build the renderer", w.root, append(os.Environ(), "GOWORK=off"), append(args, "-o", tool, "./kernel/site")...)
}

// render writes the pages of the notebooks, or of all lessons.
func (w *workspace) render(ctx context.Context, args []string, flags *flag.FlagSet) error {
	list, err := w.notebooks(args)
	if err != nil {
		return err
	}
	given := map[string]string{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	untrusted, course := given["untrusted"] == "true", len(args) == 0 && w.outside == ""
	asked, refused := given["steps"] == "true", given["steps"] != "" && given["steps"] != "true"
	from, to := given["steps-from"], given["steps-to"]
	for _, name := range []string{"steps", "steps-from", "steps-to"} { // to the renderer, -steps is a file
		delete(given, name)
	}
	if (asked || from != "" || to != "") && untrusted {
		return usagef("cells of a notebook that is not trusted are not run: choose one of -steps and -untrusted")
	}
	if to != "" && refused {
		return usagef("-steps-to writes what is recorded, and -steps=false records nothing: choose one of them")
	}
	beside := filepath.Join(w.root, stepsZip)
	found := from == "" && course && !refused && !untrusted && fileExists(beside)
	if found {
		from = beside
	}
	record := asked || to != "" || course && !untrusted && !refused
	live := given["live"] == "true"
	if live && untrusted {
		return usagef("cells of a notebook that is not trusted are not run: choose one of -live and -untrusted")
	}
	delete(given, "live")
	out := cmp.Or(given["o"], filepath.Join(cmp.Or(w.outside, w.root), "site"))
	given["o"] = out
	site, err := w.siteStep(ctx)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	tool, cache := w.tool("lectern-site"), w.state("live")
	_, err = w.do(false, []step{site})
	var closed *notWritable
	if errors.As(err, &closed) && flags.Lookup("o") != nil && flags.Lookup("o").Value.String() != "" { // then the checkout need not be written to
		var dir string
		if dir, err = os.MkdirTemp("", "lectern-site-"); err == nil {
			defer os.RemoveAll(dir)
			tool, cache = filepath.Join(dir, filepath.Base(tool)), filepath.Join(dir, "live")
			err = w.buildSite(ctx, tool)
		}
	}
	if err != nil {
		return err
	}
	r := &renderer{w: w, tool: tool, cache: cache, flags: given, list: list, course: len(args) == 0}
	records := &recording{}
	if record || from != "" {
		dir := w.state("steps") // records stay in the checkout
		if closed != nil {
			dir, record = filepath.Join(filepath.Dir(tool), "steps"), false
		}
		if records, err = w.recordedOrNot(list, dir, from, found); err != nil {
			return err
		}
		r.steps = records.list
		if records.from != "" {
			fmt.Fprintln(w.stdout, records.came(fromHere(records.from), record))
		}
	}
	// The pages come first, with the steps that are there; what takes minutes, behind them. Pages whose cells run stay so.
	if !live || !fileExists(filepath.Join(out, "live")) {
		if err := r.render(ctx); err != nil {
			return err
		}
	}
	if live {
		given["live"] = "true"
		if err := r.render(ctx); err != nil {
			return err
		}
	}
	if len(records.queue) == 0 || !record {
		return records.save(to)
	}
	fmt.Fprintln(w.stdout, "Each lesson is run now for what readers can step through, and its page is written again. Until then the pages are whole, too: Ctrl-C loses nothing.")
	r.quiet = true
	err = records.record(ctx, func() error {
		if live { // which takes longer: once, when all are recorded
			return nil
		}
		return r.render(ctx)
	})
	switch {
	case err == nil:
		r.quiet = false
		return cmp.Or(records.save(to), r.render(ctx))
	case ctx.Err() != nil || asked:
		return err
	}
	// Pages without steps are pages.
	fmt.Fprintf(w.stderr, "warning: readers can't step through all cells, since they could not be recorded: %v\n", err)
	return records.save(to)
}

// A renderer calls the program that writes pages.
type renderer struct {
	w      *workspace
	tool   string
	flags  map[string]string
	cache  string
	list   []string
	course bool                   // all lessons, and nobody's own notebooks
	steps  func() (string, error) // writes the list of recorded steps; nil for none
	quiet  bool                   // nothing is said of success
}

func (r *renderer) render(ctx context.Context) error {
	w := r.w
	cmd := exec.CommandContext(ctx, r.tool, "-root", w.root, "-cache", r.cache)
	for _, name := range slices.Sorted(maps.Keys(r.flags)) {
		cmd.Args = append(cmd.Args, "-"+name+"="+r.flags[name])
	}
	if r.steps != nil {
		file, err := r.steps()
		if err != nil {
			return err
		}
		defer os.Remove(file)
		cmd.Args = append(cmd.Args, "-steps="+file)
	}
	if w.outside != "" { // what a stranger draws need not be as a lesson's
		cmd.Args = append(cmd.Args, "-allow-missing-alt")
	} else if r.course {
		cmd.Args = append(cmd.Args, "-course")
	}
	cmd.Args = append(cmd.Args, "--")
	for _, path := range r.list {
		cmd.Args = append(cmd.Args, fromHere(path))
	}
	// What it says is shown when the line of progress has ended.
	var out bytes.Buffer
	said := &stages{w: w, quiet: r.quiet}
	cmd.Stdout, cmd.Stderr = &out, said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	said.begin(0, "Render "+humanize.Count(len(r.list), "notebook"))
	err := cmd.Run()
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

// stages is what the program that writes pages says on its standard error: lines of a stage that begins are shown as
// the progress that they are, the rest is kept.
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
		if what, about, ok := stage.Parse(string(s.line)); ok {
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
