// Command site writes notebooks as web pages. It is the part of the kernel command that `go run ./kernel render`
// starts: a separate program, since what highlights code and reads Markdown would double the time until the first cell
// runs, if it had to be compiled before that.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/sitejob"
	"github.com/lectern-go/lectern/kernel/live"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/render"
	"github.com/lectern-go/lectern/kernel/translate"
)

// What stands on the pages of all lessons, besides the lessons.
const (
	description = "Stanford CS336's lecture on tensors and what they cost, its tokenization and its accounting, step by step in Go, and on to a language model of your own."

	intro = `This course follows a part of [Stanford's CS336](https://cs336.stanford.edu/), *Language Modeling from Scratch*, in Go, and goes on from there:

- **Its second lecture**, as it was given in 2025 and in 2026: tensors, and what computing with them costs, from number formats to a training
  loop, mixed precision and the roofline.
- **Its unit on tokenization**, with byte-pair encoding written by you.
- **The accounting of its first assignment**: parameters, FLOPs, memory and time of a Transformer, and how to plan a run.
- **What goes beyond**: attention, a model that writes, inference, many GPUs, and in the end a language model built from your own pieces.

You guess before you see, predict before you measure, and write the important parts yourself: about half of the time goes into exercises. `
	stepped  = `You can step through every cell, forward and backward, and see what each line does to memory and what it costs. `
	recorded = `The pages show the outputs of the cells; to run cells, change them and do the exercises, get
[the repository](https://github.com/lectern-go/lectern) and type ` + "`go run ./kernel lab`" + `.`
	runsHere = `Every cell can be changed and run right here: Go's own compiler runs in your browser, and nothing
is sent anywhere. To work in JupyterLab, with a GPU or with files of your own, get [the repository](https://github.com/lectern-go/lectern)
and type ` + "`go run ./kernel lab`" + `.`

	after = `## Where to go from here

You have built small versions of all the parts of a language model, and you know what each of them costs. Some ways to go on:

- **Take the course.** The assignments of [CS336](https://cs336.stanford.edu/) let you build all of it once more in PyTorch, and in earnest: the
  tokenizer, the Transformer and its training first, then kernels, several GPUs, scaling laws and data.
- **Read a library.** [The one that you have used](https://github.com/lectern-go/lectern) is written to be read. Begin with the package ` + "`autograd`" + `, which knows
  nothing of tensors, and go on to ` + "`tensor`" + `. Compare it with Andrej Karpathy's [micrograd](https://github.com/karpathy/micrograd) and
  [llm.c](https://github.com/karpathy/llm.c).
- **Train something.** ` + "`go run ./nn/train/tinylm`" + ` in a copy of the repository trains a small Transformer. Change its sizes, and predict time and memory before you start it.
- **Think larger.** [How to scale your model](https://jax-ml.github.io/scaling-book/) goes on with rooflines where lesson 22 ends, to thousands of chips.`

	footer = `[Lectern](https://github.com/lectern-go/lectern), by its authors, under the
[MIT license](https://github.com/lectern-go/lectern/blob/main/LICENSE). The lessons follow the subjects of
[Stanford's CS336, Language Modeling from Scratch](https://cs336.stanford.edu/) in their own words.`
)

// parts are those of the course.
var parts = []render.Part{
	{Title: "Warming up, and tokenization", First: "0"},
	{Title: "Lecture 2: tensors", First: "02"},
	{Title: "Lecture 2: costs and gradients", First: "09"},
	{Title: "Lecture 2: training", First: "13"},
	{Title: "Lecture 2: making it fit, and making it fast", First: "21"},
	{Title: "Beyond the lecture: a language model", First: "24"},
	{Title: "Beyond the lecture: many GPUs", First: "28"},
	{Title: "Putting it all together", First: "29"},
}

// preview is what previews of links to the lessons show, drawn by preview.html.
//
//go:embed preview.png
var preview []byte

const previewAlt = "Lectern: tensors and what they cost, in Go. A notebook cell calls loss.Backward(), and the next one shows w.Grad()."

func main() {
	var job sitejob.Job
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		fail(fmt.Errorf("the job on standard input: %w; go run ./kernel render starts this program with one", err))
	}
	o := render.Options{Notebooks: job.Notebooks, Out: job.Out, URL: job.URL, AllowMissingAlt: job.AllowMissingAlt, Untrusted: job.Untrusted, Steps: stepRecords(job.Steps)}
	if !o.Untrusted {
		o.Source = job.Root
	}
	if job.Explorers != "" {
		if err := forLab(explorers(job.Root, job.Cache), job.Explorers); err != nil {
			fail(fmt.Errorf("explorers of JupyterLab: %w", err))
		}
		return
	}
	if job.Course {
		o.Description, o.Footer = description, footer
		o.Parts, o.After = parts, after
		o.Intro = []string{intro}
		if len(o.Steps) == len(o.Notebooks) {
			o.Intro = append(o.Intro, stepped)
		}
		if job.Live {
			o.Intro = append(o.Intro, runsHere)
		} else {
			o.Intro = append(o.Intro, recorded)
		}
		o.Picture, o.PictureAlt = preview, previewAlt
		var err error
		if o.Languages, err = translate.Languages(filepath.Dir(o.Notebooks[0])); err != nil {
			fail(err)
		}
	}
	began := time.Now()
	sizes := ""
	if job.Live {
		o.Live, o.Explore, sizes = liveParts(job.Root, job.Cache, o.Notebooks)
	} else if job.Explore {
		o.Explore = explorers(job.Root, job.Cache)
	}
	r, err := render.Site(o)
	if err != nil {
		fail(err)
	}
	for _, problem := range r.Warnings {
		fmt.Fprintf(os.Stderr, "warning: %v\n", problem)
	}
	changed := 0
	for _, page := range r.Pages {
		if page.Changed {
			changed++
		}
	}
	fmt.Print(sizes)
	fmt.Printf("%s, %d of them new or changed, in %.1f s. Open %s\n", humanize.Count(len(r.Pages), "page"), changed, time.Since(began).Seconds(), r.Index)
}

// stepRecords reads what was recorded of notebooks from the files that are given for them.
func stepRecords(files map[string]string) map[string]render.Steps {
	records := map[string]render.Steps{}
	for notebook, file := range files {
		var steps render.Steps
		text, err := os.ReadFile(file)
		if err == nil {
			if err = json.Unmarshal(text, &steps); err != nil {
				err = fmt.Errorf("%s: %w; remove it, and it is recorded again", file, err)
			}
		}
		if err != nil {
			fail(fmt.Errorf("render: recorded steps: %w", err))
		}
		records[notebook] = steps
	}
	return records
}

// say tells the program that has started this one what is being built, and how long that takes.
func say(what string, about time.Duration) { sitejob.Stage(os.Stderr, what, about) }

// explorers builds those of pages whose cells don't run.
func explorers(root, cache string) *render.Explore {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parts, err := live.PackExplorers(ctx, root, cache, say)
	if err != nil {
		fail(fmt.Errorf("render: %w", err))
	}
	return explore(parts)
}

func explore(e *live.Explorers) *render.Explore {
	return &render.Explore{Script: e.Script, Style: live.ExploreStyle, Files: e.Content, Told: map[string]any{"parts": e.Parts, "scripts": e.Scripts}, Looks: e.Looks}
}

// forLab writes what our extension of JupyterLab loads: a script that knows all explorers, and what it loads itself.
// The script comes last, since a page that finds it assumes that the rest is there.
func forLab(e *render.Explore, dir string) error {
	e.Told["explorers"], e.Told["style"] = e.Looks, e.Style
	told, err := json.Marshal(e.Told)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // parts of another version have other names
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range e.Files {
		if err := atomicfile.Replace(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	script := fmt.Appendf(nil, "globalThis.lecternExplore = %s;\n%s", told, e.Script)
	return atomicfile.Replace(filepath.Join(dir, "explore.js"), script, 0o644)
}

// liveParts builds what pages need for cells that run, and says how much that is.
func liveParts(root, cache string, notebooks []string) (parts *render.Live, explorers *render.Explore, sizes string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	lessons := make([]*notebook.Notebook, len(notebooks))
	for i, file := range notebooks {
		var err error
		if lessons[i], err = notebook.Read(file); err != nil {
			fail(fmt.Errorf("render: %w", err))
		}
		// A reader's copy lacks these cells, as a student's does.
		lessons[i].Cells = slices.DeleteFunc(lessons[i].Cells, func(c *notebook.Cell) bool { return c.HasTag("check-only") })
	}
	files, err := live.Pack(ctx, root, cache, lessons, say)
	if err != nil {
		fail(fmt.Errorf("render: %w", err))
	}
	most, all := 0, 0
	for i := range notebooks {
		var one int
		one, all = files.FirstRun(i)
		most = max(most, one)
	}
	sizes = fmt.Sprintf("Cells run in the browser: over http a lesson loads at most %.1f MB when its first cell runs, and all lessons together %.1f MB.\n", float64(most)/1e6, float64(all)/1e6)
	if len(files.Untrimmed) > 0 {
		sizes += fmt.Sprintf("The pages work with %s, but cells are built more slowly: this version is not known here yet, so the pages do without %s.\n", runtime.Version(), strings.Join(files.Untrimmed, ", "))
	}
	parts = &render.Live{
		Script: live.PageScript, Style: live.PageStyle,
		Files: files.Content, Lesson: files.Lesson,
	}
	return parts, explore(files.Explorers()), sizes
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "kernel render: %v\n", err)
	os.Exit(1)
}
