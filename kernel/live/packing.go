package live

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/kjk/lzma"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

// The kinds of those parts of which there are several.
const (
	bundle     = "packages" // that the same lessons need
	readerCopy = "notebook" // what a reader takes away of a lesson
)

// A packing is a part on its way: the first three fields are given, the others found.
type packing struct {
	kind    string
	content []byte
	pack    packer

	part   Part
	packed []byte
}

// A packer is a format of packed files.
type packer struct {
	extension string
	pack      func([]byte) ([]byte, error)
}

var (
	// gz is what browsers unpack by themselves.
	gz = packer{".gz", func(b []byte) ([]byte, error) {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		_, err = z.Write(b)
		err = cmp.Or(err, z.Close())
		return out.Bytes(), err
	}}

	// lz takes two thirds of the bytes, but packing is slow and unpacking needs a script.
	lz = packer{".lzma", func(b []byte) ([]byte, error) {
		const level = 6 // looks back 16 MB, for which it takes 200 MB of memory
		var out bytes.Buffer
		z := lzma.NewWriterSizeLevel(&out, int64(len(b)), level)
		_, err := z.Write(b)
		err = cmp.Or(err, z.Close())
		return out.Bytes(), err
	}}
)

// inlineBits puts the body of bit in place of its calls, since readers wait for unlzma.js: browsers that do so by
// themselves keep in memory what changes with each bit. go run ./internal/bench -pages live shows how long they wait.
func inlineBits(script string) (string, error) {
	definition := regexp.MustCompile(`(?s)\n  const bit = \((\w+)\) => \{\n(.*?)\n  \};\n`)
	call := regexp.MustCompile(`(?m)^( *)bit\((.*)\);$`)
	found := definition.FindStringSubmatch(script)
	if found == nil || !call.MatchString(script) {
		return "", errors.New("live: unlzma.js does not look as expected")
	}
	script = definition.ReplaceAllLiteralString(script, "\n")
	return call.ReplaceAllStringFunc(script, func(line string) string {
		part := call.FindStringSubmatch(line)
		return part[1] + "{ const " + found[1] + " = " + part[2] + ";\n" + found[2] + " }"
	}), nil
}

// packAll packs parts, as many at a time as there are processors. The folder dir keeps the results, and as many parts
// again that were used before.
func packAll(ctx context.Context, dir string, list []*packing) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("live: %w", err)
	}
	queue := make(chan *packing, len(list))
	for _, x := range list {
		queue <- x
	}
	close(queue)
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for x := range queue {
				err := ctx.Err()
				if err == nil {
					err = x.do(dir)
				}
				if err != nil {
					mu.Lock()
					first = cmp.Or(first, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	all.Wait()
	if first != nil {
		return fmt.Errorf("live: %w", first)
	}
	forget(dir, list)
	return nil
}

// packedName is how packed files are named.
var packedName = regexp.MustCompile(`^[a-z]+-[0-9a-f]{16}\.(gz|lzma)$`)

// forget removes packed files that are not in use, except the most recent ones, as many as are in use. Another process
// may do the same, or need one of them at the moment: one that finds none packs it again. What can't be
// removed is tried again the next time.
func forget(dir string, used []*packing) {
	type old struct {
		name string
		last time.Time
	}
	var others []old
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		of, partial := atomicfile.Partial(e.Name())
		if !partial {
			of = e.Name()
		}
		if err != nil || !packedName.MatchString(of) || slices.ContainsFunc(used, func(x *packing) bool { return x.part.Name == e.Name() }) {
			continue
		}
		if !partial {
			others = append(others, old{e.Name(), info.ModTime()})
		} else if time.Since(info.ModTime()) > time.Hour { // the process that wrote this has ended before it was done
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(others, func(a, b old) int { return b.last.Compare(a.last) })
	for _, o := range others[min(len(others), len(used)):] {
		os.Remove(filepath.Join(dir, o.name))
	}
}

// carrier is a script that carries the part: pages that are opened as files can't fetch anything, but they can run
// scripts that lie beside them.
func (x *packing) carrier() []byte {
	return fmt.Appendf(nil, "lecternPart(%q, %q)\n", x.part.Name, base64.StdEncoding.EncodeToString(x.packed))
}

func (x *packing) do(dir string) error {
	sum := sha256.Sum256(x.content)
	x.part.Name = x.kind + "-" + hex.EncodeToString(sum[:8]) + x.pack.extension
	file := filepath.Join(dir, x.part.Name)
	packed, err := os.ReadFile(file)
	if err == nil {
		now := time.Now()
		_ = os.Chtimes(file, now, now) // forget relies on this, and in a folder that can't be written to there is nothing to forget
	} else {
		if packed, err = x.pack.pack(x.content); err == nil {
			err = atomicfile.Replace(file, packed, 0o644)
		}
	}
	x.packed, x.part.Bytes = packed, len(packed)
	return err
}
