// Package sitejob is what the kernel command and the program that writes pages say to each other: the job, as JSON on
// standard input, and which stage of it begins, as lines on standard error.
package sitejob

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A Job is the pages to write.
type Job struct {
	Notebooks []string          // files, in the order of the course
	Steps     map[string]string // the files of recorded steps, by notebook
	Out       string            // the folder for the pages
	URL       string            // where they will be published; may be empty
	Course    bool              // the notebooks are the lessons, which have an introduction
	Live      bool              // cells run in the browser
	Untrusted bool              // keep only what is harmless in the notebooks

	AllowMissingAlt bool // a figure without alternative text is a warning

	Explore   bool   // pages have explorers, also where cells don't run
	Explorers string // a folder for the explorers of JupyterLab alone: then no pages are written

	Root  string // the checkout, from which cells that run are built
	Cache string // the folder for the packages that are built for them
}

// Command is the program that does the job; both its outputs are the caller's to set. When ctx ends, the program is
// interrupted rather than killed: it stops the go commands that it runs, which would otherwise go on by themselves.
func (j *Job) Command(ctx context.Context, program string) (*exec.Cmd, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Stdin = bytes.NewReader(text)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd, nil
}

// mark begins a line that announces a stage.
const mark = "\x1estage "

// Stage tells which stage begins now, and about how long it takes.
func Stage(w io.Writer, what string, about time.Duration) {
	fmt.Fprintf(w, "%s%d %s\n", mark, int(about.Seconds()), what)
}

// ParseStage reads a line that [Stage] has written; ok is false for any other.
func ParseStage(line string) (what string, about time.Duration, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark)
	seconds, what, found := strings.Cut(text, " ")
	n, err := strconv.Atoi(seconds)
	if !ok || !found || err != nil {
		return "", 0, false
	}
	return what, time.Duration(n) * time.Second, true
}
