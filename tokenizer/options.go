package tokenizer

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// TrainOptions says how to train. The zero value is the lecture's training: the whole text is one piece.
type TrainOptions struct {
	// Pattern cuts the text into pieces that no merge crosses. nil means one piece.
	Pattern *Pattern
	// Ties chooses among pairs that are equally common.
	Ties Ties
	// Special lists special tokens. Text is cut at them and nothing is learned from them. They get the
	// ids after those of all merges, in the order of this list.
	Special []string
	// MinCount stops the training when no pair is that common. 0 means 1.
	MinCount int64
	// Workers is how many goroutines cut the text. 0 means one per processor. The result does not depend on it.
	Workers int
	// Progress, if not nil, is called about ten times a second and at the end of each stage, by one
	// goroutine at a time.
	Progress func(Progress)
}

// TrainBPE learns merges from a text as the lecture does: no pattern, no special tokens, and the first of
// equally common pairs. For training with options or from a file, use Train.
func TrainBPE(text string, merges int) (*BPE, error) {
	return Train(context.Background(), strings.NewReader(text), merges, TrainOptions{})
}

// OptionError reports options that cannot be used.
type OptionError struct {
	Option  string
	Problem string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("tokenizer: option %s: %s", e.Option, e.Problem)
}

func (o *TrainOptions) check(merges int) error {
	if merges < 0 {
		return &OptionError{"merges", fmt.Sprintf("is %d; ask for 0 or more", merges)}
	}
	if o.Ties != FirstCounted && o.Ties != GreatestPair {
		return &OptionError{"Ties", fmt.Sprintf("is %d; use FirstCounted or GreatestPair", int(o.Ties))}
	}
	seen := map[string]bool{}
	for i, text := range o.Special {
		if text == "" {
			return &OptionError{"Special", fmt.Sprintf("token %d is empty", i)}
		}
		if seen[text] {
			return &OptionError{"Special", fmt.Sprintf("lists %q twice", text)}
		}
		seen[text] = true
	}
	return nil
}

func (o *TrainOptions) specialIDs(first int) map[string]int32 {
	ids := make(map[string]int32, len(o.Special))
	for i, text := range o.Special {
		ids[text] = int32(first + i)
	}
	return ids
}

func workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Progress is how far along a long operation is.
type Progress struct {
	Stage   string // "read", "merge" or "encode"
	Done    int64  // bytes read, merges learned, bytes encoded
	Total   int64  // of these; 0 if unknown, as for a reader without a size
	Elapsed time.Duration
	Rate    float64 // done per second, since the stage began
}

// String shows the progress in one line, such as "merge: 1200 of 10000, 4021/s".
func (p Progress) String() string {
	done, rate := fmt.Sprint(p.Done), fmt.Sprintf("%.0f/s", p.Rate)
	total := fmt.Sprint(p.Total)
	if p.Stage != "merge" {
		done, rate = fmt.Sprintf("%.1f", float64(p.Done)/1e6), fmt.Sprintf("%.1f MB/s", p.Rate/1e6)
		total = fmt.Sprintf("%.1f MB", float64(p.Total)/1e6)
	}
	if p.Total > 0 {
		done += " of " + total
	} else if p.Stage != "merge" {
		done += " MB"
	}
	return fmt.Sprintf("%s: %s, %s", p.Stage, done, rate)
}

// readerSize returns how many bytes a reader has left if it knows, and 0 otherwise.
func readerSize(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }: // strings.Reader, bytes.Reader, bytes.Buffer
		return int64(r.Len())
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		return max(0, info.Size()-at)
	}
	return 0
}

// meter calls a progress function now and then.
type meter struct {
	call  func(Progress)
	stage string
	total int64
	start time.Time
	last  time.Time
}

func newMeter(call func(Progress), stage string, total int64) *meter {
	now := time.Now()
	return &meter{call: call, stage: stage, total: total, start: now, last: now}
}

const meterEvery = 100 * time.Millisecond

// at reports done if the last report is old enough.
func (m *meter) at(done int64) {
	if m.call != nil && time.Since(m.last) >= meterEvery {
		m.report(done)
	}
}

// report reports done.
func (m *meter) report(done int64) {
	if m.call == nil {
		return
	}
	m.last = time.Now()
	elapsed := m.last.Sub(m.start)
	m.call(Progress{Stage: m.stage, Done: done, Total: m.total, Elapsed: elapsed, Rate: float64(done) / max(elapsed.Seconds(), 1e-9)})
}
