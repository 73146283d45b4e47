package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/nn/train"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/tensor"
)

// tiny returns settings that train within a second on a text of a few sentences.
func tiny(t *testing.T) (*settings, *bytes.Buffer) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	words := strings.Fields("the cat sat on a mat and saw dogs run over hills while birds sang in trees of green")
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 3000 {
		b.WriteString(words[r.IntN(len(words))] + " ")
	}
	if err := os.WriteFile(text, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	return &settings{
		text: text, out: filepath.Join(dir, "run"), vocabulary: 280, batch: 2, steps: 60, peak: 1e-2, every: 25, seed: 1, length: 12, log: &log,
		model:    transformer.Config{Context: 16, Layers: 1, Width: 16, Heads: 2},
		sampling: transformer.Sampling{Temperature: 0.8, TopP: 0.9},
	}, &log
}

var losses = regexp.MustCompile(`loss (\d+\.\d+)`)

func TestTrainsAndGoesOn(t *testing.T) {
	s, log := tiny(t)
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	whole := log.String()
	var values []float64
	for _, m := range losses.FindAllStringSubmatch(whole, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		values = append(values, x)
	}
	if len(values) < 5 || !(values[len(values)-1] < values[0]-0.5) {
		t.Errorf("the losses are %v:\n%s", values, whole)
	}
	for _, says := range []string{"1 documents, 0.0 MB", "model: ", "a step: 32 tokens", "step 60/60", "tokens/s  MFU", "a sample:", "bits a byte, after"} {
		if !strings.Contains(whole, says) {
			t.Errorf("no %q in:\n%s", says, whole)
		}
	}
	for _, name := range []string{"tokenizer.json", "train.bin", "valid.bin", "metrics.jsonl", "loss.svg", "checkpoints"} {
		if _, err := os.Stat(filepath.Join(s.out, name)); err != nil {
			t.Error(err)
		}
	}

	log.Reset() // again: there is nothing left to do
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	last := func(text string) string { all := losses.FindAllString(text, -1); return all[len(all)-1] }
	if got := log.String(); !strings.Contains(got, "is of step 60 already") || last(got) != last(whole) {
		t.Errorf("the second run says:\n%s", got)
	}

	log.Reset()
	s.sample = "the cat"
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.HasPrefix(got, "the cat") || len(got) < len("the cat")+5 {
		t.Errorf("the sample is %q", got)
	}
}

// A run that is interrupted goes on to the loss of one that was not.
func TestInterrupted(t *testing.T) {
	whole, log := tiny(t)
	if err := whole.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := log.String()
	s, log := tiny(t)
	ctx, stop := context.WithCancel(context.Background())
	s.log = stopper{log, stop}
	var interrupted *train.InterruptedError
	if err := s.run(ctx); !errors.As(err, &interrupted) {
		t.Fatalf("got %v, want an interrupted run", err)
	}
	s.log = log
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	last := func(text string) string { all := losses.FindAllString(text, -1); return all[len(all)-1] }
	if got := log.String(); last(got) != last(want) {
		t.Errorf("the loss is %s, and of a run in one go %s", last(got), last(want))
	}
}

// stopper interrupts at the first line about a step.
type stopper struct {
	*bytes.Buffer
	stop context.CancelFunc
}

func (s stopper) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("step ")) {
		s.stop()
	}
	return s.Buffer.Write(p)
}

func TestMistakes(t *testing.T) {
	for says, change := range map[string]func(*settings){
		"-vocabulary is 100":         func(s *settings) { s.vocabulary = 100 },
		"must be at least 1":         func(s *settings) { s.steps = 0 },
		"-lr is -1":                  func(s *settings) { s.peak = -1 },
		"no such file":               func(s *settings) { s.text += ".not" },
		"there is no text in":        func(s *settings) { os.WriteFile(s.text, []byte(" \n"), 0o644) },
		"give a longer text":         func(s *settings) { os.WriteFile(s.text, []byte("the cat the cat the cat the cat"), 0o644) },
		"has no checkpoint yet":      func(s *settings) { s.sample = "x" },
		"3 heads don't divide a wid": func(s *settings) { s.model.Heads = 3 },
	} {
		s, _ := tiny(t)
		change(s)
		var err error
		if mistake := tensor.Try(func() { err = s.run(context.Background()) }); mistake != nil {
			err = mistake
		}
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "cannot find the file", "no such file"), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func TestStandardLibrary(t *testing.T) {
	documents, err := standardLibrary()
	if err != nil {
		t.Skip(err) // a Go without its source
	}
	train, valid := split(documents)
	if n := megabytes(documents); n < 5 {
		t.Errorf("the text has %.1f MB, at least 5 are wanted", n)
	}
	if len(train)+len(valid) != len(documents) || len(valid) < len(documents)/25 {
		t.Errorf("%d of %d documents are held out", len(valid), len(documents))
	}
}
