package data

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tokenizer"
)

func write(t *testing.T, format Format, ids ...int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.bin")
	if n, err := WriteTokens(path, format, slices.Values(ids)); err != nil || n != len(ids) {
		t.Fatalf("wrote %d of %d ids: %v", n, len(ids), err)
	}
	return path
}

func open(t *testing.T, path string, format Format) *Tokens {
	t.Helper()
	tokens, err := OpenTokens(path, format)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tokens.Close() })
	return tokens
}

func TestEveryFormatHoldsItsRange(t *testing.T) {
	for f := range formats {
		format, row := Format(f), formats[f]
		path := write(t, format, int(row.min), 0, 1, int(row.max))
		tokens := open(t, path, format)
		batch, err := tokens.Batch([]int{2, 0}, 2)
		if err != nil {
			t.Fatal(err)
		}
		want := []int64{1, row.max, row.min, 0}
		if batch.Dtype() != row.batch || !slices.Equal(batch.Ints(), want) || tokens.At(3) != int(row.max) {
			t.Errorf("%s: got %v %v, want %s %v", format, batch.Dtype(), batch.Ints(), row.batch, want)
		}
		if row.size == 8 {
			continue
		}
		var refused *FileError
		for _, id := range []int64{row.min - 1, row.max + 1} {
			if _, err := WriteTokens(path, format, slices.Values([]int{int(id)})); !errors.As(err, &refused) || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: id %d: got %v, want a FileError that names the file once", format, id, err)
			}
		}
		if again := open(t, path, format); again.Len() != 4 {
			t.Errorf("%s: a refused write left %d ids of 4", format, again.Len())
		}
	}
}

func TestWriteTokensFromAFunction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "squares.bin")
	n, err := WriteTokens(path, Uint16, func(yield func(int) bool) {
		for i := 0; i < 5 && yield(i*i); i++ {
		}
	})
	if err != nil || n != 5 || open(t, path, Uint16).At(4) != 16 {
		t.Errorf("wrote %d ids: %v", n, err)
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	npy := filepath.Join(dir, "good.npy")
	if err := SaveNpy(npy, tensor.With(tensor.Int32).Of(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(npy)
	if err != nil {
		t.Fatal(err)
	}
	if tokens, err := OpenNpyTokens(npy); err != nil || tokens.Len() != 3 || tokens.At(2) != 3 || tokens.Format() != Int32 {
		t.Errorf("a good .npy file: %v", err)
	}
	matrix := filepath.Join(dir, "matrix.npy")
	if err := SaveNpy(matrix, tensor.With(tensor.Int32).Zeros(2, 2)); err != nil {
		t.Fatal(err)
	}
	fractions := filepath.Join(dir, "fractions.npy")
	if err := SaveNpy(fractions, tensor.Zeros(3)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		open func() (*Tokens, error)
		want string
	}{
		{"misaligned", func() (*Tokens, error) { return OpenTokens(file("a", make([]byte, 7)), Int32) }, "3 bytes too many"},
		{"npy as raw", func() (*Tokens, error) { return OpenTokens(npy, Int32) }, "OpenNpyTokens"},
		{"raw as npy", func() (*Tokens, error) { return OpenNpyTokens(file("b", make([]byte, 100))) }, "NUMPY"},
		{"cut npy", func() (*Tokens, error) { return OpenNpyTokens(file("c", good[:len(good)-1])) }, "11 bytes follow instead of 12"},
		{"long npy", func() (*Tokens, error) { return OpenNpyTokens(file("d", append(slices.Clone(good), 0))) }, "13 bytes follow instead of 12"},
		{"matrix", func() (*Tokens, error) { return OpenNpyTokens(matrix) }, "reshape"},
		{"fractions", func() (*Tokens, error) { return OpenNpyTokens(fractions) }, "not token ids"},
		{"absent", func() (*Tokens, error) { return OpenTokens(filepath.Join(dir, "none"), Int32) }, "none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tokens, err := test.open()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and %v, want an error that says %q", tokens, err, test.want)
			}
		})
	}
	if _, err := LoadRaw(file("e", make([]byte, 6)), tensor.Float32); err == nil {
		t.Error("6 bytes were read as float32")
	}
}

func TestAtNamesAnIDThatIsNotThere(t *testing.T) {
	for _, tokens := range []*Tokens{TokensOf([]int32{1, 2, 3}), open(t, write(t, Uint16), Uint16)} {
		for _, i := range []int{-1, tokens.Len()} {
			err := tensor.Try(func() { tokens.At(i) })
			if !errors.Is(err, tensor.ErrIndex) || !strings.Contains(err.Error(), fmt.Sprintf("id %d is not one of the %d", i, tokens.Len())) {
				t.Errorf("At(%d) of %d ids: %v", i, tokens.Len(), err)
			}
		}
	}
}

func TestFileShortenedWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are copied, not mapped, on this system")
	}
	path := write(t, Int32, make([]int, 1<<16)...)
	tokens := open(t, path, Int32)
	if err := os.Truncate(path, 4); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Batch([]int{1 << 15}, 4); err == nil || !strings.Contains(err.Error(), "shortened") {
		t.Errorf("got %v, want an error that says the file was shortened", err)
	}
}

func TestGetBatchWithoutRoom(t *testing.T) {
	var refused *FileError
	for _, B := range []int{1 << 40, 1 << 62} {
		if _, err := TokensOf([]int32{0, 1, 2}).GetBatch(B, 1, nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "there is no memory") {
			t.Errorf("%d sequences: got %v, want a FileError about memory", B, err)
		}
	}
}

// The lecture draws starts from [0, len-L); the last start that is valid is len-L.
func TestGetBatchReachesBothEnds(t *testing.T) {
	tokens := TokensOf([]int32{0, 1, 2, 3, 4})
	g := tensor.NewGenerator(1)
	seen := map[int64]int{}
	for range 100 {
		x, err := tokens.GetBatch(4, 3, g)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 4 {
			first := x.Index(row, 0).Ints()[0]
			seen[first]++
			if got := x.Select(0, row).Ints(); !slices.Equal(got, []int64{first, first + 1, first + 2}) {
				t.Fatalf("row %v is not consecutive", got)
			}
		}
	}
	if len(seen) != 3 || seen[0] < 100 || seen[1] < 100 || seen[2] < 100 {
		t.Errorf("starts drawn: %v, want 0, 1 and 2 about equally often", seen)
	}
	if x, err := tokens.GetBatch(1, 5, g); err != nil || x.Size(1) != 5 {
		t.Errorf("L equal to the length: %v", err)
	}
	if _, err := tokens.GetBatch(1, 6, g); err == nil {
		t.Error("L above the length was accepted")
	}
}

// The ids of a tokenizer are written as they are.
func ExampleWriteTokens() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "train.bin")
	n, err := WriteTokens(path, Uint8, slices.Values(tokenizer.Byte{}.Encode("hello")))
	fmt.Println(n, err)
	tokens, err := OpenTokens(path, Uint8)
	fmt.Println(tokens.Len(), tokens.At(1), err)
	// Output:
	// 5 <nil>
	// 5 101 <nil>
}

func ExampleTokens_GetBatch() {
	tokens := TokensOf([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	x, err := tokens.GetBatch(2, 4, tensor.NewGenerator(0))
	fmt.Println(x.Shape(), x.Dtype(), err)
	// Output: [2 4] int32 <nil>
}

func TestKeptTokensAreOpenedAgain(t *testing.T) {
	path := write(t, Uint16, 5, 6, 7)
	var again Tokens
	restoreTokens(&again, keepTokens(open(t, path, Uint16)))
	defer again.Close()
	if again.Len() != 3 || again.At(2) != 7 {
		t.Errorf("got %d ids", again.Len())
	}
	var inMemory Tokens
	restoreTokens(&inMemory, keepTokens(TokensOf([]int32{4})))
	if inMemory.At(0) != 4 {
		t.Error("ids in memory were lost")
	}
	state := keepTokens(&again)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var gone Tokens
	restoreTokens(&gone, state)
	if _, err := gone.GetBatch(1, 1, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("file removed: got %v", err)
	}
}

// skip passes over a test for which this machine lacks something; the machine that decides
// what lands lacks nothing.
func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// resident returns the memory of this process that is in RAM, and its part that
// belongs to files.
func resident(t *testing.T) (total int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		skip(t, "this system does not tell the resident memory of a process in /proc")
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS:") {
			fmt.Sscanf(strings.TrimPrefix(line, "VmRSS:"), "%d", &total)
		}
	}
	return total << 10
}

// A file of 50 GB, which takes no room on the disk as nothing was ever written to
// it, is sampled while the heap is limited to 256 MiB.
func TestFileFarLargerThanMemory(t *testing.T) {
	if os.Getenv("GOMEMLIMIT") != "256MiB" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, "-test.run", "^TestFileFarLargerThanMemory$", "-test.v")
		cmd.Env = append(os.Environ(), "GOMEMLIMIT=256MiB")
		out, err := cmd.CombinedOutput()
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, out)
		case strings.Contains(string(out), "SKIP"):
			skip(t, string(out))
		}
		t.Log(string(out))
		return
	}
	const size = 50_000_000_000
	path := filepath.Join(t.TempDir(), "huge.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		skip(t, fmt.Sprintf("the temporary folder can't hold a sparse file of 50 GB: %v", err))
	}
	if _, err := f.WriteAt([]byte{42, 0, 0, 0}, size-4); err != nil {
		t.Fatal(err)
	}
	f.Close()
	debug.FreeOSMemory()
	before := resident(t)
	tokens, err := OpenTokens(path, Int32)
	if err != nil {
		t.Fatal(err)
	}
	defer tokens.Close()
	if tokens.Len() != size/4 || tokens.At(tokens.Len()-1) != 42 {
		t.Fatalf("%d ids, the last %d", tokens.Len(), tokens.At(tokens.Len()-1))
	}
	const B, L, batches = 16, 1024, 100
	g := tensor.NewGenerator(1)
	for range batches {
		if _, err := tokens.GetBatch(B, L, g); err != nil {
			t.Fatal(err)
		}
	}
	touched := batches * B * 2 * os.Getpagesize() // 4096 bytes from anywhere lie in two pages
	grown := resident(t) - before
	t.Logf("resident memory grew by %d MiB; %d MiB of pages were touched", grown>>20, touched>>20)
	if grown > touched+64<<20 {
		t.Errorf("resident memory grew by %d MiB for %d MiB of touched pages", grown>>20, touched>>20)
	}
}

func TestGetPair(t *testing.T) {
	tokens := TokensOf([]int32{1, 2, 3, 4, 5})
	for range 20 {
		x, y, err := tokens.GetPair(3, 4, nil)
		if err != nil || !tensor.Equal(x.Add(1), y) || !slices.Equal(y.Shape(), []int{3, 4}) {
			t.Fatalf("x is %v, y %v, error %v", x, y, err)
		}
	}
	for _, L := range []int{0, 5} {
		if _, _, err := tokens.GetPair(1, L, nil); err == nil {
			t.Errorf("pairs of %d ids out of 5 were given", L)
		}
	}
}
