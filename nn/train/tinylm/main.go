// Command tinylm trains a small Transformer language model on a text, from the text to
// samples: it trains a tokenizer, writes token files, trains with AdamW, a cosine
// schedule and clipped gradients, and shows loss, tokens per second and MFU as it goes.
//
//	go run ./nn/train/tinylm                    learn Go from its standard library, in about ten minutes
//	go run ./nn/train/tinylm -text shakespeare.txt -out run
//	go run ./nn/train/tinylm -sample 'func main' -out run
//
// Ctrl-C saves a checkpoint; the same command continues from it, bit for bit. What it writes is in one folder:
// tokenizer.json, train.bin and valid.bin (uint16 ids), checkpoints, metrics.jsonl and loss.svg.
//
// pytorch.py beside this file trains the same model on the same token files with PyTorch.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/tensor"
)

// settings holds the settings from the command line.
type settings struct {
	text, out  string
	vocabulary int
	model      transformer.Config
	batch      int
	steps      int
	peak       float64
	bf16       bool
	every      int // steps between samples and evaluations on the held-out text
	seed       uint64
	sample     string
	length     int
	sampling   transformer.Sampling
	log        io.Writer
}

func main() {
	s := settings{log: os.Stdout}
	flag.StringVar(&s.text, "text", "", "a text file, or a folder whose .go, .md and .txt files are the text (default: Go's standard library)")
	flag.StringVar(&s.out, "out", filepath.Join(".lectern", "tinylm"), "the folder for all that is written")
	flag.IntVar(&s.vocabulary, "vocabulary", 2048, "the size of the tokenizer's vocabulary, bytes and end-of-text included")
	flag.IntVar(&s.model.Context, "context", 128, "tokens in a sequence")
	flag.IntVar(&s.model.Layers, "layers", 4, "layers")
	flag.IntVar(&s.model.Width, "width", 192, "features of a token")
	flag.IntVar(&s.model.Heads, "heads", 6, "attention heads")
	flag.IntVar(&s.batch, "batch", 16, "sequences in a batch")
	flag.IntVar(&s.steps, "steps", 1500, "training steps")
	flag.Float64Var(&s.peak, "lr", 3e-3, "the highest learning rate, after a warm-up of a twentieth of the steps")
	flag.BoolVar(&s.bf16, "bf16", false, "compute matmuls in bfloat16 (autocast)")
	flag.IntVar(&s.every, "every", 250, "steps between samples, checkpoints and evaluations on the held-out text")
	flag.Uint64Var(&s.seed, "seed", 1, "of the initial weights, the order of the text and the samples")
	flag.StringVar(&s.sample, "sample", "", "do not train: continue this prompt with the model in -out")
	flag.IntVar(&s.length, "length", 120, "tokens in a sample")
	flag.Float64Var(&s.sampling.Temperature, "temperature", 0.8, "of samples; 0 takes the most likely token")
	flag.Float64Var(&s.sampling.TopP, "top-p", 0.95, "samples draw from the fewest likeliest tokens with this probability in all")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "tinylm: %q is not a flag; -h lists them\n", flag.Arg(0))
		os.Exit(2)
	}
	var err error
	if mistake := tensor.Try(func() { err = s.run(context.Background()) }); mistake != nil {
		err = mistake
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tinylm:", err)
		os.Exit(1)
	}
}

// check finds settings that can't work before anything is written.
func (s *settings) check() error {
	switch {
	case s.vocabulary < 258 || s.vocabulary > 1<<16:
		return fmt.Errorf("-vocabulary is %d: it needs 256 bytes, end-of-text and a merge, and must fit into 16 bits", s.vocabulary)
	case s.batch < 1 || s.steps < 1 || s.every < 1 || s.length < 1:
		return errors.New("-batch, -steps, -every and -length must be at least 1")
	case !(s.peak > 0):
		return fmt.Errorf("-lr is %g: give a number above 0", s.peak)
	}
	return nil
}

func (s *settings) run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	corpus, err := prepare(ctx, s)
	if err != nil {
		return err
	}
	defer corpus.close()
	s.model.Vocabulary = corpus.tokenizer.VocabSize()
	g := tensor.NewGenerator(s.seed)
	model := transformer.New(s.model, g.Stream("weights"))
	if s.sample != "" {
		if err := loadNewest(s.out, model); err != nil {
			return err
		}
		s.show(model, corpus, s.sample)
		return nil
	}
	fmt.Fprintf(s.log, "model: %d parameters in %s of width %d, %s, context %d\n",
		nn.NumParameters(model), humanize.Count(s.model.Layers, "layer"), s.model.Width, humanize.Count(s.model.Heads, "head"), s.model.Context)
	start := time.Now()
	heldOut, err := learn(ctx, s, model, corpus)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.log, "held-out loss %.4f nats a token, %.4f bits a byte, after %s\n", heldOut,
		corpus.bitsPerByte(heldOut), time.Since(start).Round(time.Second))
	return nil
}

// show writes a prompt and the model's continuation, as it is computed.
func (s *settings) show(model *transformer.LM, c *corpus, prompt string) {
	sampling := s.sampling
	sampling.Generator = tensor.NewGenerator(s.seed).Stream("samples")
	sampling.Max, sampling.Stop = s.length, []int32{c.end}
	ids := c.tokenizer.Encode(prompt)
	ids = ids[max(0, len(ids)-model.Config().Context/2):]
	fmt.Fprint(s.log, prompt)
	for id := range model.Generate(ids, sampling) {
		token, _ := c.tokenizer.Token(id)
		s.log.Write(token) // bytes as they are: a token may end within a character
	}
	fmt.Fprintln(s.log)
}
