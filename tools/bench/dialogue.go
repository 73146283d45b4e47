package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// dialogue is a process that answers questions, so that two sides can be measured by turns without being started again
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
	d := &dialogue{wait: func() error {
		if err := cmd.Wait(); ctx.Err() == nil {
			return err
		}
		return ctx.Err()
	}}
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

// measurer is one of those who are compared: a process that measures one case after another.
type measurer struct {
	name string
	*dialogue
}

// startOurs starts a measurer that is one of children.
func startOurs(ctx context.Context, name, child string, env ...string) (measurer, error) {
	self, err := os.Executable()
	if err != nil {
		return measurer{}, err
	}
	d, err := startDialogue(ctx, env, self, "-child", child)
	return measurer{name, d}, err
}

// startPeer starts a measurer in Python.
func startPeer(ctx context.Context, library, py, program string, env []string, args ...string) (measurer, error) {
	return startTelling(ctx, library, env, py, append([]string{"-c", program}, args...)...)
}

// startTelling starts a measurer that is a program of its own, which first tells its library's version.
func startTelling(ctx context.Context, library string, env []string, program string, args ...string) (measurer, error) {
	d, err := startDialogue(ctx, env, program, args...)
	if err != nil {
		return measurer{}, err
	}
	var version string
	err = d.ask(nil, &version)
	return measurer{library + " " + version, d}, err
}

func closeAll(all []measurer) {
	for _, m := range all {
		m.close()
	}
}

// on returns the sides that measure a case, each after a pause.
func on(c any, all []measurer, pause time.Duration) []side {
	sides := make([]side, len(all))
	for i, m := range all {
		sides[i] = func(a *measured) error {
			time.Sleep(pause)
			if err := m.ask(c, a); err != nil {
				return fmt.Errorf("%s: %v: %w", m.name, c, err)
			}
			return nil
		}
	}
	return sides
}
