package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// blockSize is how much text one goroutine works on at a time.
const blockSize = 1 << 20

// streamBlock is the same for streams of ids: several blocks and their ids are held at a time, and should be
// small compared with the tables of a tokenizer.
const streamBlock = 32 << 10

// blockReader reads a corpus in blocks that can be cut into segments independently of each other.
type blockReader struct {
	r       io.Reader
	pattern *Pattern
	special *specials
	size    int
	buf     []byte // read and not yet returned
	end     bool   // all is read
	read    int64  // bytes returned in all
}

// next returns the next block, or io.EOF after the last. Blocks have about b.size bytes, more where there is no place
// to cut, and all the rest if neither a pattern nor special tokens say where to cut.
func (b *blockReader) next(ctx context.Context) (string, error) {
	for want := b.size; ; want = 2 * len(b.buf) {
		if err := b.fill(ctx, want); err != nil {
			return "", err
		}
		n := len(b.buf)
		if !b.end {
			n = b.cut()
		}
		if n == 0 && !b.end {
			continue
		}
		if n == 0 {
			return "", io.EOF
		}
		block := string(b.buf[:n])
		b.buf = b.buf[:copy(b.buf, b.buf[n:])]
		b.read += int64(n)
		return block, nil
	}
}

// fill reads until the buffer holds n bytes or the corpus ends.
func (b *blockReader) fill(ctx context.Context, n int) error {
	if cap(b.buf) < n {
		b.buf = append(make([]byte, 0, n), b.buf...)
	}
	empty := 0
	for len(b.buf) < n && !b.end {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		k, err := b.r.Read(b.buf[len(b.buf):min(n, len(b.buf)+blockSize)])
		b.buf = b.buf[:len(b.buf)+k]
		switch {
		case errors.Is(err, io.EOF):
			b.end = true
		case err != nil:
			return fmt.Errorf("tokenizer: read after %d bytes: %w", b.read+int64(len(b.buf)), err)
		case k > 0:
			empty = 0
		default:
			if empty++; empty == 100 { // as bufio does with a reader that returns nothing
				return fmt.Errorf("tokenizer: read after %d bytes: %w", b.read+int64(len(b.buf)), io.ErrNoProgress)
			}
		}
	}
	return nil
}

// cut returns how much of the buffer may be returned now, or 0 when more must be read first.
func (b *blockReader) cut() int {
	text := string(b.buf)
	if b.pattern == nil || b.pattern.cut == nil {
		return b.special.lastEnd(text)
	}
	// A special token that is not read to its end must not be cut either.
	for n := len(text) - b.special.longest(); n > 0; {
		n = b.pattern.cut(text[:n])
		if !b.special.straddles(text, n) {
			return n
		}
	}
	return 0
}
