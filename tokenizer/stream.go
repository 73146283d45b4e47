package tokenizer

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

// StreamOptions says how a long text is encoded. The zero value is ready to use.
type StreamOptions struct {
	// Workers is how many goroutines encode. 0 means one per processor. The result does not depend on it.
	Workers int
	// Ordinary treats special tokens as ordinary text.
	Ordinary bool
	// Progress, if not nil, is called about ten times a second and at the end.
	Progress func(Progress)
}

// EncodeBatch encodes many texts in parallel and returns the ids of each, in order. workers is how many
// goroutines work; 0 means one per processor.
func (t *BPE) EncodeBatch(texts []string, n int) [][]int32 {
	ids := make([][]int32, len(texts))
	n = min(workers(n), len(texts))
	var wait sync.WaitGroup
	next := make(chan int, n)
	for range n {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range next {
				ids[i] = t.Encode(texts[i])
			}
		}()
	}
	for i := range texts {
		next <- i
	}
	close(next)
	wait.Wait()
	return ids
}

// EncodeStream reads a text of any length and calls emit with its ids, part by part; together they are what Encode
// would return. Blocks are encoded in parallel; only a few are in memory at a time. (A text without a pattern, or
// without ASCII white space, is one piece and is read whole.) emit must not keep the slice. EncodeStream returns the
// number of ids, and the first error: of the reader, of emit, or the cause of ctx.
func (t *BPE) EncodeStream(ctx context.Context, text io.Reader, emit func(ids []int32) error, o StreamOptions) (tokens int64, err error) {
	special := &t.special
	if o.Ordinary {
		special = &specials{}
	}
	type block struct {
		text string
		read int64 // bytes of the text up to the end of this block
		ids  chan []int32
	}
	meter := newMeter(o.Progress, "encode", readerSize(text))
	n := workers(o.Workers)
	work := make(chan block, n)    // to the workers
	order := make(chan block, 2*n) // to us, in the order of the text
	spare := make(chan []int32, n) // ids that were emitted, for the next blocks
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var readErr error
	go func() {
		defer close(order)
		defer close(work)
		r := blockReader{r: text, pattern: t.pattern, special: special, size: streamBlock}
		for {
			s, err := r.next(ctx)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					readErr = err
				}
				return
			}
			b := block{s, r.read, make(chan []int32, 1)}
			work <- b
			order <- b
		}
	}()
	for range n {
		go func() {
			e := t.encoders.Get().(*encoder)
			defer t.encoders.Put(e)
			for b := range work {
				var ids []int32
				select {
				case ids = <-spare:
				default:
				}
				if o.Ordinary {
					b.ids <- e.appendText(ids[:0], b.text)
				} else {
					b.ids <- e.appendAll(ids[:0], b.text)
				}
			}
		}()
	}
	var read int64
	for b := range order { // to its end even after an error, so that no goroutine waits for ever
		ids := <-b.ids
		if err == nil {
			if err = emit(ids); err != nil {
				stop(err)
				continue
			}
			tokens += int64(len(ids))
			read = b.read
			meter.at(read)
			select {
			case spare <- ids:
			default:
			}
		}
	}
	meter.report(read)
	if err == nil {
		err = readErr
	}
	if err != nil {
		return tokens, fmt.Errorf("tokenizer: encode: %w", err)
	}
	return tokens, nil
}

// EncodeFile encodes a text into a token file: the ids as little-endian int32, one after another, with nothing
// before or after them. The file appears under its name only when it is complete. It returns the number of ids.
func (t *BPE) EncodeFile(ctx context.Context, path string, text io.Reader, o StreamOptions) (tokens int64, err error) {
	err = writeFile(path, func(w *bufio.Writer) error {
		var buf []byte
		tokens, err = t.EncodeStream(ctx, text, func(ids []int32) error {
			buf = buf[:0]
			for _, id := range ids {
				buf = binary.LittleEndian.AppendUint32(buf, uint32(id))
			}
			_, err := w.Write(buf)
			return err
		}, o)
		return err
	})
	return tokens, err
}

// writeFile writes a file that appears under its name only when it is complete: it is first written under
// another name in the same folder, and an error leaves the previous file.
func writeFile(path string, write func(*bufio.Writer) error) error {
	err := atomicfile.Write(path, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<16)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("tokenizer: save: %w", err)
	}
	return nil
}
