// Command site writes notebooks as web pages. It is the part of the kernel command that `go run ./kernel render` starts: a program of its own,
// as what highlights code and reads Markdown would double the time until a first cell runs, if it had to be compiled before.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/lectern-go/lectern/kernel/render"
)

// What stands on the pages of all lessons, beside them.
const (
	description = "Tensors, and what computing with them costs, step by step in Go: after Stanford's CS336, from number formats to training a model."

	intro = `Tensors, and what computing with them costs: the second lecture of [Stanford's CS336](https://cs336.stanford.edu/) and its unit on
tokenization, in Go. The pages show what the cells gave; to run them, change them and do the exercises, get
[the repository](https://github.com/lectern-go/lectern) and type ` + "`go run ./kernel lab`" + `.`

	footer = `[Lectern](https://github.com/lectern-go/lectern), by its authors, under the
[MIT licence](https://github.com/lectern-go/lectern/blob/main/LICENSE). The lessons follow the subjects of
[Stanford's CS336, Language Modeling from Scratch](https://cs336.stanford.edu/) in their own words.`
)

// preview is what previews of links to the lessons show, drawn by preview.html.
//
//go:embed preview.png
var preview []byte

const previewAlt = "Lectern: tensors and what they cost, in Go. A notebook cell calls loss.Backward(), and the next one shows w.Grad()."

func main() {
	var o render.Options
	flag.StringVar(&o.Out, "o", "site", "folder for the pages")
	flag.StringVar(&o.URL, "url", "", "where the pages will be published")
	flag.BoolVar(&o.Untrusted, "untrusted", false, "keep only what is harmless of the notebooks")
	course := flag.Bool("course", false, "the notebooks are the lessons, which have an introduction")
	flag.Parse()
	o.Notebooks = flag.Args()
	if *course {
		o.Description, o.Intro, o.Footer = description, intro, footer
		o.Picture, o.PictureAlt = preview, previewAlt
	}
	began := time.Now()
	r, err := render.Site(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "kernel render: %v\n", err)
		os.Exit(1)
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
	fmt.Printf("%d pages, %d of them new or changed, in %.1f s. Open %s\n", len(r.Pages), changed, time.Since(began).Seconds(), r.Index)
}
