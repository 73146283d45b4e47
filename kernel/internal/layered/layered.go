// Package layered is a build cache in two layers: one that many share and that is never written here, and a private one
// above it. The go command can't do that alone, since it writes to the cache that it reads, but it lets a program act
// as its cache (GOCACHEPROG); [Serve] does that. Both layers are ordinary caches of the go command on disk, so their
// owners can use them without this package.
package layered

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

// request is what the go command asks.
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

// response is what it is told.
type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// Serve answers the go command's requests until it closes the connection. What the shared cache has is taken from
// there; all else is kept in the private one, which is created when it is first needed.
func Serve(r io.Reader, w io.Writer, shared, private string) error {
	requests, out := json.NewDecoder(bufio.NewReader(r)), bufio.NewWriter(w)
	answers := json.NewEncoder(out)
	say := func(a response) error {
		if err := answers.Encode(a); err != nil {
			return err
		}
		return out.Flush()
	}
	if err := say(response{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return err
	}
	for {
		var q request
		err := requests.Decode(&q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("build cache: the go command's request: %w", err)
		}
		a := response{ID: q.ID}
		switch q.Command {
		case "get":
			a.Miss = true
			for _, dir := range []string{private, shared} {
				if found, ok := get(dir, q.ActionID); ok {
					found.ID = q.ID
					a = found
					break
				}
			}
		case "put":
			var body []byte
			if q.BodySize > 0 {
				if err := requests.Decode(&body); err != nil {
					return fmt.Errorf("build cache: the body of a request: %w", err)
				}
			}
			if int64(len(body)) != q.BodySize {
				return fmt.Errorf("build cache: a body of %d bytes was announced, and %d came", q.BodySize, len(body))
			}
			if a.DiskPath, err = put(private, q.ActionID, q.OutputID, body); err != nil {
				a.Err = err.Error()
			}
		case "close":
			return say(a)
		default:
			a.Err = "unknown command " + q.Command
		}
		if err := say(a); err != nil {
			return err
		}
	}
}

// file is the path of an entry (-a) or of what it leads to (-d).
func file(dir string, id []byte, kind string) string {
	return filepath.Join(dir, fmt.Sprintf("%02x", id[:min(1, len(id))]), fmt.Sprintf("%x-%s", id, kind))
}

// get looks into one cache. An entry that can't be read, or leads nowhere, doesn't count.
func get(dir string, action []byte) (a response, ok bool) {
	b, err := os.ReadFile(file(dir, action, "a"))
	if err != nil {
		return a, false
	}
	f := strings.Fields(string(b)) // v1 ACTION OUTPUT SIZE TIME
	if len(f) != 5 || f[0] != "v1" || f[1] != fmt.Sprintf("%x", action) {
		return a, false
	}
	if _, err := fmt.Sscanf(f[2], "%x", &a.OutputID); err != nil {
		return a, false
	}
	nano, err := strconv.ParseInt(f[4], 10, 64)
	if a.Size, _ = strconv.ParseInt(f[3], 10, 64); err != nil {
		return a, false
	}
	when := time.Unix(0, nano)
	a.Time, a.DiskPath = &when, file(dir, a.OutputID, "d")
	i, err := os.Stat(a.DiskPath)
	return a, err == nil && i.Mode().IsRegular() && i.Size() == a.Size
}

// put stores a body, and then the entry that leads to it.
func put(dir string, action, output, body []byte) (path string, err error) {
	path = file(dir, output, "d")
	entry := fmt.Sprintf("v1 %x %x %20d %20d\n", action, output, len(body), time.Now().UnixNano())
	for _, f := range []struct {
		path string
		b    []byte
	}{{path, body}, {file(dir, action, "a"), []byte(entry)}} {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return "", err
		}
		if err := atomicfile.Replace(f.path, f.b, 0o600); err != nil {
			return "", err
		}
	}
	return path, nil
}

// Writable reports whether the go command can use a cache without [Serve]: it is there, or can be made, and files can
// be created in it.
func Writable(dir string) bool {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false
	}
	f, err := os.CreateTemp(dir, "lectern-try-")
	if err != nil {
		return false
	}
	f.Close()
	os.Remove(f.Name())
	return true
}
