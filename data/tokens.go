package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/internal/filemap"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/sysmem"
	"github.com/lectern-go/lectern/tensor"
)

// A Format says how token ids are stored in a file: as integers of one width, low byte
// first.
type Format uint8

// The formats of token files.
const (
	Int32  Format = iota // as in the lecture; batches are int32
	Uint16               // for vocabularies up to 65536; batches are int32
	Uint32               // batches are int64
	Int64                // batches are int64
	Uint8                // bytes; batches are uint8
)

// formats has one row for each Format.
var formats = [...]struct {
	name     string
	descr    string // NumPy's
	size     int    // bytes
	min, max int64
	batch    tensor.Dtype
}{
	Int32:  {"int32", "<i4", 4, math.MinInt32, math.MaxInt32, tensor.Int32},
	Uint16: {"uint16", "<u2", 2, 0, math.MaxUint16, tensor.Int32},
	Uint32: {"uint32", "<u4", 4, 0, math.MaxUint32, tensor.Int64},
	Int64:  {"int64", "<i8", 8, math.MinInt64, math.MaxInt64, tensor.Int64},
	Uint8:  {"uint8", "|u1", 1, 0, math.MaxUint8, tensor.Uint8},
}

// String returns the name as NumPy spells it, such as "uint16".
func (f Format) String() string { return formats[f].name }

// Size returns how many bytes one id takes.
func (f Format) Size() int { return formats[f].size }

// Dtype returns the dtype of batches of ids.
func (f Format) Dtype() tensor.Dtype { return formats[f].batch }

// FileError says why a file of token ids is refused or can't be read.
type FileError struct {
	Path   string
	Reason string
	Hint   string // what to try; may be empty
}

func (e *FileError) Error() string {
	text := fmt.Sprintf("data: %s: %s", e.Path, e.Reason)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Tokens is a long sequence of token ids in a file that is mapped into memory:
// only the pages that are looked at are read, and the system may drop them again. So a
// file can be far larger than memory. Several goroutines may read.
type Tokens struct {
	path   string
	format Format
	ids    []byte // the ids as they lie in the file
	mapped *filemap.Map
	broken error // why the file could not be reopened in another notebook cell
}

// mapTokens maps a file of which the system is to read only the pages that are looked at, without reading ahead.
func mapTokens(path string) (*filemap.Map, error) {
	mapped, err := filemap.Open(path, filemap.ReadOnly)
	if err == nil {
		adviseRandom(mapped.Data)
	}
	return mapped, err
}

// OpenTokens opens a file that holds nothing but ids, as NumPy's tofile writes
// it. It returns a [*FileError] if the size is not a whole number of ids.
func OpenTokens(path string, format Format) (*Tokens, error) {
	mapped, err := mapTokens(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if bytes.HasPrefix(mapped.Data, []byte(npyMagic)) {
		mapped.Close()
		return nil, &FileError{path, "this is a .npy file, not bare ids", "open it with OpenNpyTokens"}
	}
	if extra := len(mapped.Data) % format.Size(); extra != 0 {
		size := len(mapped.Data)
		mapped.Close()
		return nil, &FileError{path, fmt.Sprintf("its %d bytes are not a whole number of %s ids: %s too many", size, format, humanize.Count(extra, "byte")),
			"it was cut off, or written in another format"}
	}
	return &Tokens{path: path, format: format, ids: mapped.Data, mapped: mapped}, nil
}

// OpenNpyTokens opens a .npy file of ids with one axis; its header gives the format.
// It returns an error if the header is not well formed, or if the file has more or
// fewer bytes than the header says.
func OpenNpyTokens(path string) (*Tokens, error) {
	mapped, err := mapTokens(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	tokens, err := npyTokens(path, mapped)
	if err != nil {
		mapped.Close()
		return nil, err
	}
	return tokens, nil
}

func npyTokens(path string, mapped *filemap.Map) (*Tokens, error) {
	r := bytes.NewReader(mapped.Data)
	header, err := ReadNpyHeader(r)
	if err != nil {
		return nil, named(err, path)
	}
	if len(header.Shape) != 1 {
		return nil, &FileError{path, fmt.Sprintf("it holds an array of shape %v", header.Shape), "token ids have one axis: save tokens.reshape(-1)"}
	}
	for f := range formats {
		if formats[f].descr != header.Descr {
			continue
		}
		format := Format(f)
		ids := mapped.Data[len(mapped.Data)-r.Len():]
		if want := header.Shape[0] * format.Size(); len(ids) != want {
			return nil, &FileError{path, fmt.Sprintf("its header promises %s of %d bytes, and %d bytes follow instead of %d", humanize.Count(header.Shape[0], "id"), format.Size(), len(ids), want),
				"it was cut off or damaged: copy it again"}
		}
		return &Tokens{path: path, format: format, ids: ids, mapped: mapped}, nil
	}
	return nil, &FileError{path, fmt.Sprintf("its elements are %q, not token ids", header.Descr), "save them as int32 or uint16"}
}

// TokensOf returns ids that are in memory, for small examples.
func TokensOf(ids []int32) *Tokens {
	t := &Tokens{path: "ids in memory", ids: make([]byte, 0, 4*len(ids))}
	for _, id := range ids {
		t.ids = binary.LittleEndian.AppendUint32(t.ids, uint32(id))
	}
	return t
}

// Close unmaps the file; the tokens must not be used any more.
func (t *Tokens) Close() error {
	t.ids = nil
	if t.mapped == nil {
		return nil
	}
	return t.mapped.Close()
}

// Len returns the number of ids.
func (t *Tokens) Len() int { return len(t.ids) / t.format.Size() }

// Format returns how the ids are stored in the file.
func (t *Tokens) Format() Format { return t.format }

// At returns one id. It panics unless 0 <= i < Len.
func (t *Tokens) At(i int) int {
	if i < 0 || i >= t.Len() {
		(&tensor.Error{Package: "data", Kind: tensor.ErrIndex, Op: "at", Reason: fmt.Sprintf("id %d is not one of the %d, which are counted from 0", i, t.Len())}).Panic()
	}
	var id [1]int64
	decodeIDs(id[:], t.format, t.ids[i*t.format.Size():])
	return int(id[0])
}

// Batch returns the sequences of L ids that begin at the given starts, as a
// tensor [len(starts) L] of the format's dtype. It returns a [*FileError] if a
// sequence is not within the file, or if the file has become shorter.
func (t *Tokens) Batch(starts []int, L int) (*tensor.Tensor, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	for _, start := range starts {
		if start < 0 || L < 0 || start > t.Len()-L {
			return nil, &FileError{t.path, fmt.Sprintf("%s from %d on are not within its %d", humanize.Count(L, "id"), start, t.Len()), ""}
		}
	}
	batch := tensor.With(t.format.Dtype()).Empty(len(starts), L).SetRole(tensor.Input)
	err := filemap.Guard(func() {
		for row, start := range starts {
			from := t.ids[start*t.format.Size():][:L*t.format.Size()]
			switch t.format.Dtype() {
			case tensor.Uint8:
				copy(tensor.Data[uint8](batch)[row*L:][:L], from)
			case tensor.Int32:
				decodeIDs(tensor.Data[int32](batch)[row*L:][:L], t.format, from)
			default:
				decodeIDs(tensor.Data[int64](batch)[row*L:][:L], t.format, from)
			}
		}
	})
	if err != nil {
		return nil, &FileError{t.path, err.Error(), ""}
	}
	return batch, nil
}

// GetBatch returns B sequences of L ids from random places, as a tensor [B L].
// Every start from 0 to Len-L, both included, is equally likely: Len-L+1 of them.
// A nil generator is the default one. It returns a [*FileError] if there are
// fewer than L ids, or no memory for B places.
func (t *Tokens) GetBatch(B, L int, g *tensor.Generator) (*tensor.Tensor, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	if L < 1 || B < 0 || t.Len() < L {
		return nil, &FileError{t.path, fmt.Sprintf("it has %s, too few for a batch of %s of %d", humanize.Count(t.Len(), "id"), humanize.Count(B, "sequence"), L), ""}
	}
	if why := sysmem.Refusal(8 * min(B, math.MaxInt/8)); why != "" {
		return nil, &FileError{t.path, fmt.Sprintf("there is no memory for the places of %s: %s", humanize.Count(B, "sequence"), why), "ask for a smaller batch"}
	}
	if g == nil {
		g = tensor.DefaultGenerator()
	}
	starts := make([]int, B)
	for i := range starts {
		starts[i] = g.Intn(t.Len() - L + 1)
	}
	return t.Batch(starts, L)
}

// GetPair is [Tokens.GetBatch] for predicting the next id: x and y, both [B L], where
// y.At(b, i) is the id that follows x.At(b, i). They are views of one batch of L+1
// ids. It returns a [*FileError] if there are fewer than that.
func (t *Tokens) GetPair(B, L int, g *tensor.Generator) (x, y *tensor.Tensor, err error) {
	if L < 1 { // L+1 would do for GetBatch
		return nil, nil, &FileError{t.path, fmt.Sprintf("%d ids don't make a sequence", L), ""}
	}
	batch, err := t.GetBatch(B, L+1, g)
	if err != nil {
		return nil, nil, err
	}
	return batch.Narrow(1, 0, L), batch.Narrow(1, 1, L), nil
}

// decodeIDs fills dst with the ids at the start of from.
func decodeIDs[T int32 | int64](dst []T, format Format, from []byte) {
	switch format {
	case Int32:
		for i := range dst {
			dst[i] = T(int32(binary.LittleEndian.Uint32(from[4*i:])))
		}
	case Uint16:
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint16(from[2*i:]))
		}
	case Uint32:
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint32(from[4*i:]))
		}
	case Int64:
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint64(from[8*i:]))
		}
	case Uint8:
		for i := range dst {
			dst[i] = T(from[i])
		}
	}
}

// WriteTokens writes ids to a file that OpenTokens reads, and returns how many there
// were; for a slice, such as a tokenizer's, pass slices.Values(ids). The file appears
// under its name when it is complete. It returns a [*FileError] if the format can't
// hold an id.
func WriteTokens[ID int | int32 | int64 | uint16 | uint32 | uint8](path string, format Format, ids iter.Seq[ID]) (n int, err error) {
	err = atomicfile.Write(path, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		var buf [8]byte
		for id := range ids {
			if int64(id) < formats[format].min || int64(id) > formats[format].max {
				return &FileError{path, fmt.Sprintf("id %d, at index %d, doesn't fit into %s", id, n, format), "use a wider format"}
			}
			binary.LittleEndian.PutUint64(buf[:], uint64(id))
			if _, err := b.Write(buf[:format.Size()]); err != nil {
				return err
			}
			n++
		}
		return b.Flush()
	})
	var refused *FileError // which names the path by itself
	switch {
	case errors.As(err, &refused):
		return 0, refused
	case err != nil:
		return 0, fmt.Errorf("data: %w", err)
	}
	return n, nil
}

// LoadRaw reads a file of bare elements, as NumPy's tofile writes it, into a
// tensor with one axis. It returns a [*FileError] if the size is not a whole number of
// elements.
func LoadRaw(path string, dtype tensor.Dtype) (*tensor.Tensor, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if extra := len(raw) % dtype.Size(); extra != 0 {
		return nil, &FileError{path, fmt.Sprintf("its %d bytes are not a whole number of %s elements: %d are left over", len(raw), dtype, extra),
			"it was cut off, or written in another format"}
	}
	return tensor.Wrap(raw, dtype, len(raw)/dtype.Size()), nil
}

// keptTokens is what the notebook kernel keeps of Tokens: not the mapping, which ends
// with a cell's process, but how to make it again.
type keptTokens struct {
	Path   string
	Format Format
	Npy    bool
	IDs    []byte // of TokensOf
	Broken string
}

func init() { cellstate.RegisterType(keepTokens, restoreTokens) }

func keepTokens(t *Tokens) any {
	state := &keptTokens{Path: t.path, Format: t.format}
	switch {
	case t.broken != nil:
		state.Broken = t.broken.Error()
	case t.mapped == nil:
		state.IDs = t.ids
	default:
		state.Npy = len(t.ids) != len(t.mapped.Data)
	}
	return state
}

// restoreTokens opens the file again. If it can't be opened any more, methods that read it
// say so.
func restoreTokens(t *Tokens, state any) {
	s := state.(*keptTokens)
	*t = Tokens{path: s.Path, format: s.Format, ids: s.IDs}
	var again *Tokens
	var err error
	switch {
	case s.Broken != "":
		t.broken = &FileError{Path: s.Path, Reason: s.Broken}
		return
	case s.IDs != nil:
		return
	case s.Npy:
		again, err = OpenNpyTokens(s.Path)
	default:
		again, err = OpenTokens(s.Path, s.Format)
	}
	if err != nil {
		t.broken = err
		return
	}
	*t = *again
}
