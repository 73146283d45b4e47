package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lectern-go/lectern/kernel/render"
)

func renderCommand() *command {
	var o render.Options
	return &command{
		name:  "render",
		args:  "[notebook ...]",
		short: "write the lessons as web pages",
		long: `
Render writes executed notebooks as web pages that need nothing else: no network, no script or font from another host. Without arguments
it renders all lessons. Outputs are those stored in the files; go run ./kernel run makes them. Examples:

  go run ./kernel render
  go run ./kernel render -o /tmp/page my-experiment.ipynb
  go run ./kernel render -untrusted -o /tmp/page from-somebody.ipynb
  go run ./kernel render -url https://example.org/course/

An output may hold a script, which the page runs. Use -untrusted for notebooks of people you don't know: then nothing of theirs runs, loads
anything or takes pictures from the folder they lie in, and what can't be rendered is a warning.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&o.Out, "o", "", "folder for the pages (default: site in the repository)")
			fs.StringVar(&o.URL, "url", "", "where the pages will be published: adds a site map and their addresses")
			fs.BoolVar(&o.Untrusted, "untrusted", false, "keep only what is harmless of the notebooks: no scripts, nothing loaded")
		},
		run: func(ctx context.Context, ws *workspace, args []string, _ *flag.FlagSet) error {
			return ws.render(args, o)
		},
	}
}

// What stands on the pages of all lessons, beside them.
const (
	siteDescription = "Tensors, and what computing with them costs, step by step in Go: after Stanford's CS336, from number formats to training a model."

	siteIntro = `Tensors, and what computing with them costs: the second lecture of [Stanford's CS336](https://cs336.stanford.edu/) and its unit on
tokenization, in Go. The pages show what the cells gave; to run them, change them and do the exercises, get
[the repository](https://github.com/lectern-go/lectern) and type ` + "`go run ./kernel lab`" + `.`

	siteFooter = `[Lectern](https://github.com/lectern-go/lectern), by its authors, under the
[MIT licence](https://github.com/lectern-go/lectern/blob/main/LICENSE). The lessons follow the subjects of
[Stanford's CS336, Language Modeling from Scratch](https://cs336.stanford.edu/) in their own words.`
)

// render writes the pages of the notebooks, or of all lessons.
func (w *workspace) render(args []string, o render.Options) error {
	list, err := w.notebooks(args)
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = filepath.Join(w.root, "site")
	}
	began := time.Now()
	p := w.step("Render %d notebooks", len(list))
	for i, path := range list {
		list[i] = fromHere(path)
	}
	o.Notebooks = list
	if len(args) == 0 { // all lessons, and nobody's own notebooks
		o.Description, o.Intro, o.Footer = siteDescription, siteIntro, siteFooter
	}
	r, err := render.Site(o)
	p.end()
	if err != nil {
		return err
	}
	for _, problem := range r.Warnings {
		fmt.Fprintf(w.stderr, "warning: %v\n", problem)
	}
	changed := 0
	for _, page := range r.Pages {
		if page.Changed {
			changed++
		}
	}
	fmt.Fprintf(w.stdout, "%d pages, %d of them new or changed, in %.1f s. Open %s\n", len(r.Pages), changed, time.Since(began).Seconds(), r.Index)
	return nil
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
