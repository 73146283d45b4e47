package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/tensor"
)

// WriteFile writes tensors and metadata, which may be nil, as a safetensors
// file. The file appears under its name when all of it is on disk; until then, and if
// anything fails, the previous file stays. Strided tensors are written in row-major
// order; gradients are not written.
func WriteFile(path string, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	err := atomicfile.Write(path, func(w io.Writer) error { return Write(w, tensors, metadata) })
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// The length of a header is rounded up to a multiple of headerAlign with spaces, so
// that the elements after it are aligned for vector registers when the file is mapped.
// Other writers use 8.
const headerAlign = 64

// Write writes tensors and metadata, which may be nil, in the safetensors
// format: those with the widest elements first, so that all are aligned, and
// among equals by name. The same tensors give the same bytes.
func Write(w io.Writer, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	names, err := writingOrder(tensors)
	if err != nil {
		return err
	}
	header, err := writeHeader(names, tensors, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := w.Write(elements(tensors[name])); err != nil {
			return err
		}
	}
	return nil
}

// elements returns the bytes that are written for a tensor.
func elements(t *tensor.Tensor) []byte {
	memory := t.Detach().Contiguous().To(tensor.CPU).RawBytes()
	if bigEndian {
		memory = swapped(memory, t.ElementSize())
	}
	return memory
}

func writingOrder(tensors map[string]*tensor.Tensor) ([]string, error) {
	names := make([]string, 0, len(tensors))
	for name, t := range tensors {
		switch {
		case t == nil:
			return nil, fmt.Errorf("checkpoint: tensor %q is nil", name)
		case name == metadataKey:
			return nil, fmt.Errorf("checkpoint: no tensor can have the name %s, which the format keeps for itself", name)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("checkpoint: the name %q is not UTF-8", name)
		}
		names = append(names, name)
	}
	sort.Strings(names)
	slices.SortStableFunc(names, func(a, b string) int { return tensors[b].ElementSize() - tensors[a].ElementSize() })
	return names, nil
}

func writeHeader(names []string, tensors map[string]*tensor.Tensor, metadata map[string]string) ([]byte, error) {
	header := bytes.NewBuffer(make([]byte, 8))
	write := func(key string, value any) {
		if header.Len() == 8 {
			header.WriteByte('{')
		} else {
			header.WriteByte(',')
		}
		e := json.NewEncoder(header)
		e.SetEscapeHTML(false)
		_ = e.Encode(key) // strings, numbers and maps of them can't fail
		header.Truncate(header.Len() - 1)
		header.WriteByte(':')
		_ = e.Encode(value)
		header.Truncate(header.Len() - 1)
	}
	for key, value := range metadata {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("checkpoint: metadata %q is not UTF-8", key)
		}
	}
	if len(metadata) > 0 {
		write(metadataKey, metadata)
	}
	at := 0
	for _, name := range names {
		t := tensors[name]
		write(name, struct {
			Dtype   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{t.Dtype().SafetensorsName(), append([]int{}, t.Shape()...), [2]int{at, at + t.Bytes()}})
		at += t.Bytes()
	}
	if header.Len() == 8 {
		header.WriteByte('{')
	}
	header.WriteByte('}')
	header.WriteString(strings.Repeat(" ", (headerAlign-header.Len()%headerAlign)%headerAlign))
	if header.Len()-8 > maxHeader {
		return nil, fmt.Errorf("checkpoint: the header would have %d bytes, more than the %d that readers accept", header.Len()-8, maxHeader)
	}
	binary.LittleEndian.PutUint64(header.Bytes(), uint64(header.Len()-8))
	return header.Bytes(), nil
}
