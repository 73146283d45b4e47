package checkpoint

import (
	"fmt"
	"hash"
	"hash/crc32"
	"sort"

	"github.com/lectern-go/lectern/internal/filemap"
	"github.com/lectern-go/lectern/tensor"
)

// A checkpoint carries, as metadata, a CRC-32C of its other metadata, of what its
// header says about the tensors, and of their elements. Processors have an instruction
// for it, so it runs at the speed of memory.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumMetadata(h hash.Hash32, metadata map[string]string) {
	keys := make([]string, 0, len(metadata))
	for key := range metadata {
		if key != sumKey {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	for _, key := range keys {
		fmt.Fprintf(h, "%q=%q\n", key, metadata[key])
	}
}

func sumTensor(h hash.Hash32, name, dtype string, shape []int, elements []byte) {
	fmt.Fprintf(h, "%q %s %d %d\n", name, dtype, shape, len(elements))
	h.Write(elements)
}

// checksum returns the sum of a checkpoint that is about to be written.
func checksum(tensors map[string]*tensor.Tensor, metadata map[string]string) (string, error) {
	names, err := writingOrder(tensors)
	if err != nil {
		return "", err
	}
	h := crc32.New(castagnoli)
	sumMetadata(h, metadata)
	for _, name := range names {
		t := tensors[name]
		sumTensor(h, name, t.Dtype().SafetensorsName(), t.Shape(), elements(t))
	}
	return sumText(h), nil
}

func sumText(h hash.Hash32) string { return fmt.Sprintf("%08x", h.Sum32()) }

// Verify reads the whole file and compares it with the checksum that it carries.
// It returns a [*FormatError] if they differ, and nil if the file carries none, like
// those that other programs write.
func (f *File) Verify() error {
	want, ok := f.metadata[sumKey]
	if !ok {
		return nil
	}
	h := crc32.New(castagnoli)
	sumMetadata(h, f.metadata)
	err := filemap.Guard(func() {
		for _, info := range f.tensors {
			sumTensor(h, info.Name, info.Dtype, info.Shape, f.data[info.Start:info.End])
		}
	})
	if err != nil {
		return &FormatError{Path: f.path, Reason: err.Error()}
	}
	if got := sumText(h); got != want {
		return &FormatError{Path: f.path, Reason: fmt.Sprintf("its checksum is %s and should be %s: it was damaged after it was written", got, want)}
	}
	return nil
}
