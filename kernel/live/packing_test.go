package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kjk/lzma"
)

// A folder keeps what was packed last and as much again, also while other processes pack, and nothing that isn't
// its own is removed.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	pack := func(round, parts int) (names []string) {
		t.Helper()
		var list []*packing
		for i := range parts {
			list = append(list, &packing{kind: "part", content: fmt.Append(nil, round, i), pack: gz})
		}
		if err := packAll(t.Context(), dir, list); err != nil {
			t.Error(err)
		}
		for _, x := range list {
			if len(x.packed) == 0 {
				t.Errorf("%s is empty", x.part.Name)
			}
			names = append(names, x.part.Name)
		}
		return names
	}
	there := func() map[string]bool {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, e := range entries {
			names[e.Name()] = true
		}
		return names
	}
	write := func(name string, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	const begun, left = ".part-0123456789abcdef.gz.partial-1", ".part-0123456789abcdef.gz.partial-2"
	write("mine.txt", 100*time.Hour)
	write(begun, 0)
	write(left, 2*time.Hour)
	for i := range 9 {
		write(fmt.Sprintf("part-%016x.gz", i), time.Duration(i+1)*time.Hour)
	}
	names := pack(1, 4)
	got := there()
	want := append([]string{"mine.txt", begun, fmt.Sprintf("part-%016x.gz", 0), fmt.Sprintf("part-%016x.gz", 3)}, names...)
	for _, name := range want {
		if !got[name] {
			t.Errorf("%s is gone", name)
		}
	}
	if len(got) != 1+1+4+4 {
		t.Errorf("there are %d files: %v", len(got), got)
	}
	// A file that is used again is young again.
	for _, name := range names {
		write(name, 100*time.Hour)
	}
	pack(1, 4)
	pack(2, 4)
	for _, name := range names {
		if !there()[name] {
			t.Errorf("%s was used last, and is gone", name)
		}
	}
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for round := range 10 {
				pack(10*who+round, 3)
			}
		})
	}
	all.Wait()
	if n := len(there()); n > 2+4*2*3 {
		t.Errorf("four that pack at once leave %d files", n)
	}
}

// The script that pages unpack with gives the packed bytes, and refuses damaged ones.
func TestUnlzma(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes five seconds")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no Node in PATH")
	}
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n, values int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.IntN(values))
		}
		return b
	}
	source, err := os.ReadFile("packing_test.go")
	if err != nil {
		t.Fatal(err)
	}
	far := noise(300_000, 256) // what comes again lies far back
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"empty": {}, "byte": {7}, "zeros": make([]byte, 100_000), "source": source, "few": noise(50_000, 4), "noise": noise(5_000, 256),
		"program": program[:min(len(program), 3_000_000)], "far": slices.Concat(far, far[1000:], noise(400_000, 2), far[:250_000]),
	} {
		packed, err := lz.pack(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".lzma"), packed, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	inlined, err := inlineBits(unlzmaScript)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"as it is written": unlzmaScript, "as pages have it": inlined} {
		script := filepath.Join(t.TempDir(), "unlzma.js")
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "unlzma.cjs"), script, dir).CombinedOutput()
		if err != nil || len(said) > 0 {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}

// Packed bytes can be unpacked, and are packed once.
func TestPackAll(t *testing.T) {
	dir := t.TempDir()
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(rand.N(4))
	}
	for _, content := range [][]byte{{}, {7}, bytes.Repeat([]byte("Go "), 100_000), noise} {
		list := []*packing{{kind: "a", content: content, pack: gz}, {kind: "b", content: content, pack: lz}}
		for range 2 {
			if err := packAll(t.Context(), dir, list); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range list {
			var r io.Reader
			var err error
			if x.kind == "a" {
				r, err = gzip.NewReader(bytes.NewReader(x.packed))
			} else {
				r = lzma.NewReader(bytes.NewReader(x.packed))
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: of %d bytes %d came back (%v)", x.part.Name, len(content), len(got), err)
			}
			if x.part.Bytes != len(x.packed) {
				t.Errorf("%s announces %d bytes, and has %d", x.part.Name, x.part.Bytes, len(x.packed))
			}
			kept := filepath.Join(dir, x.part.Name)
			if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := packAll(t.Context(), dir, list); err != nil || string(list[0].packed) != "kept" || string(list[1].packed) != "kept" {
			t.Errorf("what was kept is not used: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := packAll(ctx, dir, []*packing{{kind: "c", pack: gz}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}
