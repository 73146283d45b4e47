package data

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/tensor"
)

// The .npz format of NumPy: a zip archive of .npy files, one for each array, with the
// array's name.

// NpzLimit is how many bytes the compressed arrays of an archive may have in all when they are decompressed,
// unless [ReadNpzLimit] is told otherwise. Decompression can turn one byte into a thousand, so a file that
// looks small can fill any memory. Arrays that are stored uncompressed, as by numpy.savez and [WriteNpz], are
// no larger than the file and have no limit.
const NpzLimit = 4 << 30

// NpzLimitError says that an archive's compressed arrays are larger than allowed. None of them has been read then.
type NpzLimitError struct {
	Name  string // of the file; may be empty
	Bytes uint64 // of all compressed arrays, decompressed, as the archive claims
	Limit int64
}

func (e *NpzLimitError) Error() string {
	name := ""
	if e.Name != "" {
		name = e.Name + ": "
	}
	return fmt.Sprintf("data: npz: %sthe compressed arrays have %d bytes, more than the limit of %d; if you trust the file, give ReadNpzLimit a larger one", name, e.Bytes, e.Limit)
}

// ReadNpz reads an archive of size bytes, as numpy.savez and numpy.savez_compressed
// write it, and returns its tensors by name. The error is an [*NpyError] that names
// the array if one is not well formed, and an [*NpzLimitError] if compressed arrays
// have more than [NpzLimit] bytes.
func ReadNpz(r io.ReaderAt, size int64) (map[string]*tensor.Tensor, error) {
	return ReadNpzLimit(r, size, NpzLimit)
}

// ReadNpzLimit is [ReadNpz] with your own limit for the bytes of all compressed
// arrays.
func ReadNpzLimit(r io.ReaderAt, size, limit int64) (map[string]*tensor.Tensor, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, npyError("a single array is read with LoadNpy", "this isn't an archive of arrays: %v", err)
	}
	if err := checkMembers(archive, size, limit); err != nil {
		return nil, err
	}
	tensors := make(map[string]*tensor.Tensor, len(archive.File))
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		t, err := readMember(f)
		if err != nil {
			return nil, named(err, f.Name)
		}
		tensors[name] = t
	}
	return tensors, nil
}

// checkMembers looks at what an archive claims about its members before any of them is read. While they are read,
// package zip ensures that no member yields more bytes than it claims.
func checkMembers(archive *zip.Reader, size, limit int64) error {
	seen := make(map[string]bool, len(archive.File))
	var stored, unpacked uint64
	for _, f := range archive.File {
		switch {
		case !strings.HasSuffix(f.Name, ".npy"):
			return &NpyError{Name: f.Name, Reason: "the archive holds something that is not a .npy file"}
		case seen[f.Name]:
			return &NpyError{Name: f.Name, Reason: "the archive holds this array twice"}
		}
		seen[f.Name] = true
		// Members that share their bytes would make a small file large without any compression.
		if f.CompressedSize64 > uint64(size)-stored {
			return &NpyError{Name: f.Name, Reason: fmt.Sprintf("its %d bytes and those of the arrays before it are more than the %d of the archive", f.CompressedSize64, size)}
		}
		stored += f.CompressedSize64
		if f.Method == zip.Store {
			if f.UncompressedSize64 != f.CompressedSize64 {
				return &NpyError{Name: f.Name, Reason: fmt.Sprintf("it is not compressed and yet claims to become %d bytes of %d", f.UncompressedSize64, f.CompressedSize64)}
			}
			continue
		}
		if unpacked += f.UncompressedSize64; unpacked < f.UncompressedSize64 || unpacked > uint64(max(0, limit)) {
			if unpacked < f.UncompressedSize64 { // beyond 64 bits
				unpacked = f.UncompressedSize64
			}
			return &NpzLimitError{Bytes: unpacked, Limit: limit}
		}
	}
	return nil
}

func readMember(f *zip.File) (*tensor.Tensor, error) {
	r, err := f.Open()
	if err != nil {
		return nil, npyError("", "%v", err)
	}
	defer r.Close()
	counted := &countingReader{r: r}
	h, err := ReadNpyHeader(counted)
	if err != nil {
		return nil, damaged(err)
	}
	// Both the array's header and the archive say how long the array is. If they differ, nothing of it is read.
	if there := f.UncompressedSize64 - min(counted.n, f.UncompressedSize64); uint64(h.bytes()) != there {
		return nil, npyError("", "the header claims %d bytes of elements, the archive has %d", h.bytes(), there)
	}
	t, err := h.readTensor(r)
	if err != nil {
		return nil, damaged(err)
	}
	// The checksum is verified when the end is reached.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, damaged(err)
	}
	return t, nil
}

// damaged turns the errors of package zip, which name neither the array nor what to do, into ours.
func damaged(err error) error {
	var e *NpyError
	if errors.As(err, &e) {
		return err
	}
	return npyError("the file is damaged: copy it again", "%v", err)
}

// countingReader counts what is read through it.
type countingReader struct {
	r io.Reader
	n uint64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += uint64(n)
	return n, err
}

// WriteNpz writes tensors as an archive that numpy.load reads, uncompressed and
// in the order of their names, so that equal tensors give equal files. See
// [WriteNpy] for the dtypes.
func WriteNpz(w io.Writer, tensors map[string]*tensor.Tensor) error {
	archive := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		member, err := archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			return fmt.Errorf("data: npz: %s: %w", name, err)
		}
		if err := WriteNpy(member, tensors[name]); err != nil {
			return named(err, name)
		}
	}
	return archive.Close()
}

// LoadNpz reads the .npz file at path; see [ReadNpz].
func LoadNpz(path string) (map[string]*tensor.Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	tensors, err := ReadNpz(f, info.Size())
	switch e := err.(type) {
	case *NpyError:
		if e.Name != "" {
			e.Name = path + ": " + e.Name
		}
	case *NpzLimitError:
		e.Name = path
		return nil, e
	}
	return tensors, named(err, path)
}

// SaveNpz writes tensors to a .npz file at path; see [WriteNpz]. The file is
// complete or, if anything fails, as it was before.
func SaveNpz(path string, tensors map[string]*tensor.Tensor) error {
	err := atomicfile.Write(path, func(w io.Writer) error { return WriteNpz(w, tensors) })
	return named(err, path)
}
