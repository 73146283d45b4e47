package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/internal/filemap"
	"github.com/lectern-go/lectern/tensor"
)

// A File is a safetensors file whose tensors can be read.
type File struct {
	path     string
	data     []byte // the elements, without the header
	tensors  []Info
	metadata map[string]string
	mapped   *filemap.Map
}

// Open maps a safetensors file into memory and checks its header. It returns a
// [*FormatError] if the file is damaged or not of this format.
//
// Tensors of the file share the mapped memory, so opening costs the same for any
// size, and elements are read from disk when they are first used. Writing to such a
// tensor changes a private copy of its page, never the file. The memory stays mapped
// until Close.
func Open(path string) (*File, error) {
	mapped, err := filemap.Open(path, filemap.Private)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	f, err := Parse(mapped.Data)
	if err != nil {
		mapped.Close()
		if format, ok := err.(*FormatError); ok {
			format.Path = path
		}
		return nil, err
	}
	f.path, f.mapped = path, mapped
	return f, nil
}

// Parse reads a safetensors file that is in memory. Its tensors share the
// memory.
func Parse(data []byte) (*File, error) {
	tensors, metadata, start, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	return &File{data: data[start:], tensors: tensors, metadata: metadata}, nil
}

// Close unmaps the file. Tensors of it, and views of them, must not be used any
// more: that would end the process.
func (f *File) Close() error {
	f.data = nil
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// Tensors describes the tensors in the order in which they lie in the file.
func (f *File) Tensors() []Info { return slices.Clone(f.tensors) }

// Metadata returns the strings that the file carries besides its tensors.
func (f *File) Metadata() map[string]string { return f.metadata }

// Names returns the names of the tensors, sorted.
func (f *File) Names() []string {
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.Name
	}
	sort.Strings(names)
	return names
}

// Tensor returns a tensor of the file, without copying if its bytes are aligned to the
// size of its elements. Elements of U16 and U32, which tensors don't have, are
// converted to int32 and int64, and those of U64 to int64 if none of them is above
// 2^63-1. It returns an error if the file has no such tensor, or for complex numbers
// and the formats below 8 bits.
func (f *File) Tensor(name string) (*tensor.Tensor, error) {
	for _, info := range f.tensors {
		if info.Name == name {
			return f.load(info)
		}
	}
	return nil, fmt.Errorf("checkpoint: %s has no tensor %q; it has %s", f.name(), name, listed(f.Names()))
}

func (f *File) name() string {
	if f.path == "" {
		return "the file"
	}
	return f.path
}

func (f *File) load(info Info) (*tensor.Tensor, error) {
	memory := f.data[info.Start:info.End:info.End]
	if d, ok := dtypeOf[info.Dtype]; ok {
		if bigEndian {
			memory = swapped(memory, d.Size())
		}
		var t *tensor.Tensor
		err := tensor.Try(func() { t = tensor.Wrap(memory, d, info.Shape...) })
		if err != nil { // sizes that only an empty tensor can have
			return nil, &FormatError{Path: f.path, Tensor: info.Name, Reason: err.Error()}
		}
		return t, nil
	}
	n := len(memory) * 8 / bitsOf[info.Dtype]
	switch info.Dtype {
	case "U16":
		values := make([]int32, n)
		for i := range values {
			values[i] = int32(binary.LittleEndian.Uint16(memory[2*i:]))
		}
		return tensor.Of(values).View(info.Shape...), nil
	case "U32":
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(binary.LittleEndian.Uint32(memory[4*i:]))
		}
		return tensor.Of(values).View(info.Shape...), nil
	case "U64":
		values := make([]int64, n)
		for i := range values {
			v := binary.LittleEndian.Uint64(memory[8*i:])
			if v > math.MaxInt64 {
				return nil, &FormatError{Path: f.path, Tensor: info.Name, Reason: fmt.Sprintf("element %d is %d, which int64 can't hold", i, v)}
			}
			values[i] = int64(v)
		}
		return tensor.Of(values).View(info.Shape...), nil
	}
	return nil, &FormatError{Path: f.path, Tensor: info.Name, Reason: "tensors here can't hold elements of " + info.Dtype}
}

// All returns every tensor of the file by name, as [File.Tensor] does.
func (f *File) All() (map[string]*tensor.Tensor, error) {
	all := make(map[string]*tensor.Tensor, len(f.tensors))
	for _, info := range f.tensors {
		t, err := f.load(info)
		if err != nil {
			return nil, err
		}
		all[info.Name] = t
	}
	return all, nil
}

// listed writes names for a message, the first few of many.
func listed(names []string) string {
	const shown = 8
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > shown:
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return strings.Join(names, ", ")
}

// bigEndian says that this machine stores the high byte first, unlike the
// format.
var bigEndian = strings.HasPrefix(runtime.GOARCH, "ppc64") && !strings.HasSuffix(runtime.GOARCH, "le") || runtime.GOARCH == "s390x"

// swapped returns a copy with the bytes of each element reversed.
func swapped(memory []byte, size int) []byte {
	memory = slices.Clone(memory)
	for i := 0; i+size <= len(memory); i += size {
		slices.Reverse(memory[i : i+size])
	}
	return memory
}
