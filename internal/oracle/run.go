package oracle

import (
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
)

// Ops maps each operation of a family to the function that asks the library.
type Ops map[string]func(*Case) (any, error)

// Check is an answer that compares itself: it returns nil if the answer is right. Run calls it in place of Diff.
type Check func() error

// ErrNotOffered is returned by an op function if the library does not have what an optional case asks for.
var ErrNotOffered = errors.New("the library does not offer this")

// At says that err happened at the given step or statement of a case that runs several, counted from 0.
func At(step int, err error) error { return &stepError{step, err} }

type stepError struct {
	step int
	err  error
}

func (e *stepError) Error() string { return fmt.Sprintf("step %d: %v", e.step, e.err) }
func (e *stepError) Unwrap() error { return e.err }

const (
	// caseTime is long for a case, which takes milliseconds: it turns a hang into a failure.
	caseTime = 60 * time.Second
	// errorBytes is how much a case that must fail may allocate before it does.
	errorBytes = 64 << 20
)

// Run asks the library every case of the family and prints "oracle FAMILY: passed N of M". Each case is a subtest named
// by its id. An operation that ops lacks counts as a failure; so do a panic and a case that does not end. Only cases
// marked optional may be left out, by ErrNotOffered, and the line says how many were.
func Run(t *testing.T, family string, ops Ops) { RunPart(t, family, "", ops) }

// RunPart is Run for the operations of a family whose names begin with prefix, such as "npy.", for families that
// several packages share. A prefix that no case has fails.
func RunPart(t *testing.T, family, prefix string, ops Ops) {
	cases, err := Load(family)
	if err != nil {
		t.Fatal(err)
	}
	var passed, skipped, asked, matching int
	for _, c := range cases {
		if !strings.HasPrefix(c.Op, prefix) {
			continue
		}
		matching++
		t.Run(c.ID, func(t *testing.T) {
			asked++
			problem, left := ask(ops, c)
			switch {
			case problem != "":
				t.Errorf("%s\n\targs: %s\n\tanswer from: %s", problem, clip(string(c.Args)), c.Source)
			case left:
				skipped++
			default:
				passed++
			}
		})
	}
	if prefix != "" {
		family += " " + prefix
	}
	if matching == 0 {
		t.Fatalf("oracle %s: no case has an operation that begins so", family)
	}
	note := ""
	if skipped > 0 {
		note = fmt.Sprintf("; %d optional cases not offered", skipped)
	}
	fmt.Printf("oracle %s: passed %d of %d%s\n", family, passed, asked, note)
}

// ask runs one case. It returns what is wrong, or "", and whether the case was left out.
func ask(ops Ops, c *Case) (problem string, left bool) {
	f, ok := ops[c.Op]
	if !ok {
		return fmt.Sprintf("no function for op %q", c.Op), false
	}
	type outcome struct {
		problem string
		left    bool
	}
	done := make(chan outcome, 1) // room for one, so that a late answer does not block its goroutine for ever
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{problem: fmt.Sprintf("panic: %v\n%s", p, stack())}
				if e, ok := p.(caseError); ok {
					o.problem = "cannot read the case: " + e.Error()
				}
			}
			if o.problem != "" {
				o.problem = c.Op + ": " + o.problem
			}
			done <- o
		}()
		before := allocated()
		got, err := f(c)
		used := allocated() - before
		o.problem, o.left = judge(c, got, err)
		if c.Error != nil && o.problem == "" && used > errorBytes {
			o.problem = fmt.Sprintf("allocated %s before reporting %v", humanize.Bytes(int(used)), err)
		}
	}()
	select {
	case o := <-done:
		return o.problem, o.left
	case <-time.After(caseTime):
		return fmt.Sprintf("%s: no answer within %v", c.Op, caseTime), false
	}
}

// judge compares an outcome with what the case expects.
func judge(c *Case, got any, err error) (problem string, left bool) {
	if errors.Is(err, ErrNotOffered) {
		if c.Optional == "" {
			return err.Error() + ", and the case is not optional", false
		}
		return "", true
	}
	if c.Error != nil {
		if err == nil {
			if c.Lenient {
				return "", false
			}
			return fmt.Sprintf("got %s, want an error (%s: %s)", show(got), c.Error.Kind, c.Error.PeerMessage), false
		}
		var at *stepError
		if c.Error.Step != nil && errors.As(err, &at) && at.step != *c.Error.Step {
			return fmt.Sprintf("error at step %d, want one at step %d: %v", at.step, *c.Error.Step, err), false
		}
		return "", false
	}
	if err != nil {
		if c.Lenient {
			return "", false
		}
		return fmt.Sprintf("got error %q, want %s", err, show(c.Expect)), false
	}
	if check, ok := got.(Check); ok {
		if err := check(); err != nil {
			return err.Error(), false
		}
		return "", false
	}
	return Diff(got, c.Expect, c.Tol), false
}

// allocated returns the bytes allocated on the heap since the program started.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// stack returns the part of a panic's trace that names its place.
func stack() string {
	s := string(debug.Stack())
	if _, after, ok := strings.Cut(s, "panic("); ok {
		s = after
	}
	lines := strings.SplitN(s, "\n", 18)
	return strings.Join(lines[:min(len(lines), 17)], "\n")
}
