package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// dialogue is a process that answers questions, so that two sides can be measured by turns without being started anew
// each time. Questions and answers are lines of JSON.
type dialogue struct {
	in      io.WriteCloser
	answers *bufio.Reader
	stderr  bytes.Buffer
	wait    func() error
}

func startDialogue(ctx context.Context, env []string, name string, args ...string) (*dialogue, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	d := &dialogue{wait: cmd.Wait}
	cmd.Stderr = &d.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.in, d.answers = in, bufio.NewReader(out)
	return d, cmd.Start()
}

// ask asks a question, unless that is nil, and reads an answer.
func (d *dialogue) ask(question, answer any) error {
	if question != nil {
		if err := json.NewEncoder(d.in).Encode(question); err != nil {
			return d.ended(err)
		}
	}
	line, err := d.answers.ReadBytes('\n')
	if err != nil {
		return d.ended(err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("answer %q: %w", line, err)
	}
	return nil
}

// ended says why a process does not answer any more.
func (d *dialogue) ended(err error) error {
	d.in.Close()
	if failure := d.wait(); failure != nil {
		err = failure
	}
	if said := lastLines(d.stderr.String(), 3); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// close ends the process.
func (d *dialogue) close() {
	d.in.Close()
	d.wait()
}

// answer answers questions until there are no more: it is the other end of a dialogue.
func answer[Q, A any](f func(Q) (A, error)) error {
	questions, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var question Q
		if err := questions.Decode(&question); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		a, err := f(question)
		if err != nil {
			return err
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}
