package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tokenizer"
)

const endOfText = "<|endoftext|>"

// corpus is a text as token files, one of which is held out.
type corpus struct {
	tokenizer    *tokenizer.BPE
	end          int32 // the id of the end of a document
	train, valid *data.Tokens
	validBytes   int64 // of text that the tokens of valid stand for
}

func (c *corpus) close() {
	c.train.Close()
	c.valid.Close()
}

// bitsPerByte turns a loss in nats per token into one that does not depend on the
// tokenizer.
func (c *corpus) bitsPerByte(nats float64) float64 {
	const ln2 = 0.6931471805599453
	return nats / ln2 * float64(c.valid.Len()) / float64(c.validBytes)
}

// prepare reads the text, trains the tokenizer and writes the token files, unless they
// exist.
func prepare(ctx context.Context, s *settings) (*corpus, error) {
	vocabulary := filepath.Join(s.out, "tokenizer.json")
	trainPath, validPath := filepath.Join(s.out, "train.bin"), filepath.Join(s.out, "valid.bin")
	c := &corpus{}
	var err error
	if c.tokenizer, err = tokenizer.Load(vocabulary); errors.Is(err, fs.ErrNotExist) {
		documents, err := read(s.text)
		if err != nil {
			return nil, err
		}
		train, valid := split(documents)
		fmt.Fprintf(s.log, "text: %d documents, %.1f MB; %d of them, %.1f MB, are held out\n",
			len(documents), megabytes(documents), len(valid), megabytes(valid))
		if err := c.tokenize(ctx, s, train, valid, trainPath, validPath); err != nil {
			return nil, err
		}
		if err := c.tokenizer.Save(vocabulary); err != nil { // last: its presence means that the rest is there
			return nil, err
		}
	} else if err != nil {
		return nil, err
	} else if c.tokenizer.VocabSize() > s.vocabulary {
		return nil, fmt.Errorf("%s has %s, and -vocabulary is %d; give another -out, or delete that folder", vocabulary, humanize.Count(c.tokenizer.VocabSize(), "token"), s.vocabulary)
	}
	var ok bool
	if c.end, ok = c.tokenizer.Special()[endOfText]; !ok {
		return nil, fmt.Errorf("%s has no %s", vocabulary, endOfText)
	}
	if c.train, err = data.OpenTokens(trainPath, data.Uint16); err != nil {
		return nil, err
	}
	if c.valid, err = data.OpenTokens(validPath, data.Uint16); err != nil {
		return nil, err
	}
	for i := range c.valid.Len() {
		if id := int32(c.valid.At(i)); id != c.end {
			token, _ := c.tokenizer.Token(id)
			c.validBytes += int64(len(token))
		}
	}
	return c, nil
}

// tokenize trains the tokenizer on the training text and encodes both parts.
func (c *corpus) tokenize(ctx context.Context, s *settings, train, valid []string, trainPath, validPath string) error {
	merges := s.vocabulary - 256 - 1
	var err error
	c.tokenizer, err = tokenizer.Train(ctx, joined(train), merges, tokenizer.TrainOptions{
		Pattern: tokenizer.GPT2, Ties: tokenizer.GreatestPair, Special: []string{endOfText}, MinCount: 2,
	})
	var few *tokenizer.TooFewPairsError
	if errors.As(err, &few) {
		return fmt.Errorf("%w; give a longer text, or a smaller -vocabulary", err)
	}
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name, path string
		documents  []string
	}{{"training", trainPath, train}, {"held-out", validPath, valid}} {
		var failed error
		ids := func(yield func(int32) bool) {
			stopped := errors.New("stopped")
			_, failed = c.tokenizer.EncodeStream(ctx, joined(part.documents), func(ids []int32) error {
				for _, id := range ids {
					if !yield(id) {
						return stopped
					}
				}
				return nil
			}, tokenizer.StreamOptions{})
		}
		n, err := data.WriteTokens(part.path, data.Uint16, iter.Seq[int32](ids))
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		fmt.Fprintf(s.log, "%s text: %s of %.2f bytes\n", part.name, humanize.Count(n, "token"), 1e6*megabytes(part.documents)/float64(max(n, 1)))
		if n < s.batch*(s.model.Context+1)+1 {
			return fmt.Errorf("the %s text has %s, too few for a batch of %s of %d; give a longer text", part.name, humanize.Count(n, "token"), humanize.Count(s.batch, "sequence"), s.model.Context)
		}
	}
	return nil
}

func megabytes(documents []string) float64 {
	n := 0
	for _, d := range documents {
		n += len(d)
	}
	return float64(n) / 1e6
}

// joined reads documents one after the other, each followed by the end-of-text token.
func joined(documents []string) io.Reader {
	var all []io.Reader
	for _, d := range documents {
		all = append(all, strings.NewReader(d), strings.NewReader(endOfText))
	}
	return io.MultiReader(all...)
}

// split holds out every twentieth document, or the last twentieth if there is only one.
func split(documents []string) (train, valid []string) {
	if len(documents) < 20 {
		for _, d := range documents {
			cut := len(d) * 19 / 20
			cut += max(0, strings.IndexByte(d[cut:], '\n'))
			train, valid = append(train, d[:cut]), append(valid, d[cut:])
		}
		return train, valid
	}
	for i, d := range documents {
		if i%20 == 10 {
			valid = append(valid, d)
		} else {
			train = append(train, d)
		}
	}
	return train, valid
}

// read returns the documents of a file or folder, or of Go's standard library.
func read(path string) ([]string, error) {
	if path == "" {
		return standardLibrary()
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return nonEmpty(path, strings.Split(string(text), endOfText))
	}
	return folder(path, func(name string) bool {
		return slices.Contains([]string{".go", ".md", ".txt"}, filepath.Ext(name))
	})
}

// standardLibrary returns the packages of the installed Go, which every reader of this
// has, without tests and generated tables. Its license is Go's, a BSD license.
func standardLibrary() ([]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	if err == nil {
		_, err = os.Stat(filepath.Join(src, "fmt", "print.go"))
	}
	if err != nil {
		return nil, fmt.Errorf("the source of Go's standard library was not found (%w); give a text with -text", err)
	}
	return folder(src, func(name string) bool {
		base := filepath.Base(name)
		return filepath.Ext(base) == ".go" && !strings.HasSuffix(base, "_test.go") && !strings.HasPrefix(base, "z") && !strings.Contains(base, "tables")
	})
}

const largestDocument = 200 << 10 // anything larger is a table

// folder returns the files that take accepts, sorted by path.
func folder(root string, take func(name string) bool) ([]string, error) {
	var documents []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"testdata", "vendor", "cmd", ".git", "node_modules"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > largestDocument || !take(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			documents = append(documents, string(text))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return nonEmpty(root, documents)
}

// nonEmpty leaves out documents that are only white space.
func nonEmpty(path string, documents []string) ([]string, error) {
	documents = slices.DeleteFunc(documents, func(d string) bool { return strings.TrimSpace(d) == "" })
	if len(documents) == 0 {
		return nil, fmt.Errorf("there is no text in %s", path)
	}
	return documents, nil
}
