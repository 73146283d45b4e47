package data

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/tensor"
)

// The .npz format of NumPy: a zip archive of .npy files, one for each array, of
// the array's name.

// ReadNpz reads an archive of size bytes, as numpy.savez and
// numpy.savez_compressed write it: the tensors by name. The error is an
// [*NpyError] that names the array if one is not well formed.
func ReadNpz(r io.ReaderAt, size int64) (map[string]*tensor.Tensor, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, npyError("a single array is read with LoadNpy", "this is no archive of arrays: %v", err)
	}
	tensors := make(map[string]*tensor.Tensor, len(archive.File))
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, &NpyError{Name: f.Name, Reason: "the archive holds something that is not a .npy file"}
		}
		if _, twice := tensors[name]; twice {
			return nil, &NpyError{Name: f.Name, Reason: "the archive holds this array twice"}
		}
		t, err := readMember(f)
		if err != nil {
			return nil, named(err, f.Name)
		}
		tensors[name] = t
	}
	return tensors, nil
}

func readMember(f *zip.File) (*tensor.Tensor, error) {
	r, err := f.Open()
	if err != nil {
		return nil, npyError("", "%v", err)
	}
	defer r.Close()
	t, err := ReadNpy(r)
	if err != nil {
		return nil, err
	}
	// The checksum is looked at when the end is reached.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, npyError("the file is damaged: copy it again", "%v", err)
	}
	return t, nil
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
	if e, ok := err.(*NpyError); ok && e.Name != "" {
		e.Name = path + ": " + e.Name
	}
	return tensors, named(err, path)
}

// SaveNpz writes tensors to a .npz file at path; see [WriteNpz]. The file is
// complete or, if anything fails, as it was before.
func SaveNpz(path string, tensors map[string]*tensor.Tensor) error {
	err := atomicfile.Write(path, func(w io.Writer) error { return WriteNpz(w, tensors) })
	return named(err, path)
}
