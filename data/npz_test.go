package data

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// member is one file of an archive that a test makes.
type member struct {
	name   string
	data   []byte
	stored bool
}

func archiveOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.stored {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// central returns the archive with a field of the i-th entry of its directory set: that is where readers look.
func central(archive []byte, i, offset int, value uint32) []byte {
	b := bytes.Clone(archive)
	at := 0
	for ; i >= 0; i-- {
		at += bytes.Index(b[at:], []byte("PK\x01\x02")) + 4
	}
	binary.LittleEndian.PutUint32(b[at-4+offset:], value)
	return b
}

const ( // offsets in an entry of the directory
	compressedField   = 20
	uncompressedField = 24
	localField        = 42
)

func TestNpzRefusesWhatIsNotThere(t *testing.T) {
	var zeros bytes.Buffer
	if err := WriteNpy(&zeros, tensor.Zeros(1000)); err != nil {
		t.Fatal(err)
	}
	n := uint32(zeros.Len()) // 128 + 4000
	larger := bytes.Replace(zeros.Bytes(), []byte("(1000,)"), []byte("(1001,)"), 1)
	huge := bytes.Replace(zeros.Bytes(), []byte("(1000,), }    "), []byte("(1000000000,),}"), 1)[:n]
	smaller := bytes.Replace(zeros.Bytes(), []byte("(1000,)"), []byte("(  10,)"), 1)
	packed := archiveOf(t, member{"a.npy", zeros.Bytes(), false})
	plain := archiveOf(t, member{"a.npy", zeros.Bytes(), true})
	twice := archiveOf(t, member{"a.npy", zeros.Bytes(), true}, member{"b.npy", zeros.Bytes(), true})
	three := archiveOf(t, member{"a.npy", zeros.Bytes(), true}, member{"b.npy", nil, true}, member{"c.npy", nil, true})
	for i := 1; i < 3; i++ { // all of them have the bytes of the first
		three = central(central(central(three, i, compressedField, n), i, uncompressedField, n), i, localField, 0)
	}
	for _, tt := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"header claims more than there is", archiveOf(t, member{"a.npy", larger, false}), "a.npy: the header claims 4004 bytes of elements, the archive has 4000"},
		{"header claims a million times more", archiveOf(t, member{"a.npy", huge, false}), "claims 4000000000 bytes of elements, the archive has 4000"},
		{"header claims less than there is", archiveOf(t, member{"a.npy", smaller, true}), "the archive has 4000"},
		{"archive claims more than there is", central(packed, 0, uncompressedField, n+4), "the archive has 4004"},
		{"both claim more than there is", central(archiveOf(t, member{"a.npy", larger, false}), 0, uncompressedField, n+4), "the file"},
		{"archive claims less than there is", central(packed, 0, uncompressedField, n-4), "the archive has 3996"},
		{"archive claims less than a header", central(packed, 0, uncompressedField, 20), "damaged"},
		{"stored, and claims to grow", central(plain, 0, uncompressedField, n+4), "not compressed and yet"},
		{"arrays that share their bytes", three, "more than the"},
		{"array outside the archive", central(twice, 1, localField, 1<<30), "b.npy"},
		{"longer than the archive", central(central(plain, 0, compressedField, 1<<20), 0, uncompressedField, 1<<20), "more than the"},
		{"twice the same name", archiveOf(t, member{"a.npy", zeros.Bytes(), true}, member{"a.npy", zeros.Bytes(), true}), "twice"},
		{"another kind of file", archiveOf(t, member{"a.txt", zeros.Bytes(), true}), "not a .npy file"},
	} {
		got, err := ReadNpz(bytes.NewReader(tt.archive), int64(len(tt.archive)))
		var e *NpyError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v (%v), want an NpyError with %q", tt.name, got, err, tt.want)
		}
	}
}

func TestNpzLimit(t *testing.T) {
	var zeros bytes.Buffer
	if err := WriteNpy(&zeros, tensor.Zeros(1_000_000)); err != nil {
		t.Fatal(err)
	}
	n := int64(zeros.Len())
	packed := archiveOf(t, member{"a.npy", zeros.Bytes(), false}, member{"b.npy", zeros.Bytes(), false}, member{"c.npy", zeros.Bytes(), true})
	read := func(limit int64) error {
		_, err := ReadNpzLimit(bytes.NewReader(packed), int64(len(packed)), limit)
		return err
	}
	if err := read(2 * n); err != nil {
		t.Errorf("two compressed arrays of %d bytes, and a stored one that doesn't count: %v", n, err)
	}
	for _, limit := range []int64{2*n - 1, n, 0, -1} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(limit)
		runtime.ReadMemStats(&after)
		var e *NpzLimitError
		if !errors.As(err, &e) || e.Limit != limit || e.Bytes <= uint64(max(0, limit)) {
			t.Errorf("limit %d: got %v, want an NpzLimitError", limit, err)
		}
		if grew := after.TotalAlloc - before.TotalAlloc; grew > 1<<20 {
			t.Errorf("limit %d: %d bytes were allocated before it was refused", limit, grew)
		}
	}
	// What claims to be larger than the default limit is refused by every way in, whatever is there.
	bomb := central(packed, 0, uncompressedField, math.MaxUint32)
	path := filepath.Join(t.TempDir(), "bomb.npz")
	if err := os.WriteFile(path, bomb, 0o600); err != nil {
		t.Fatal(err)
	}
	var e *NpzLimitError
	if _, err := LoadNpz(path); !errors.As(err, &e) || e.Name != path || !strings.Contains(err.Error(), path) {
		t.Errorf("LoadNpz: got %v, want an NpzLimitError that names the file", err)
	}
}

// FuzzReadNpz checks that any bytes give tensors or an error of ours, and that the tensors are
// no larger than the limit allows.
func FuzzReadNpz(f *testing.F) {
	var small bytes.Buffer
	if err := WriteNpy(&small, tensor.Arange(6)); err != nil {
		f.Fatal(err)
	}
	f.Add(archiveOf(f, member{"a.npy", small.Bytes(), false}, member{"b.npy", small.Bytes(), true}))
	f.Add(archiveOf(f))
	const limit = 1 << 20
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadNpzLimit(bytes.NewReader(b), int64(len(b)), limit)
		var e *NpyError
		var l *NpzLimitError
		if err != nil && !errors.As(err, &e) && !errors.As(err, &l) {
			t.Fatalf("error %v is none of ours", err)
		}
		total := 0
		for _, x := range got {
			total += x.Bytes()
		}
		// uint16 and uint32 take twice the bytes in memory.
		if total > 2*(limit+len(b)) {
			t.Fatalf("%d bytes of tensors from %d", total, len(b))
		}
	})
}
