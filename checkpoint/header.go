package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// FormatError says why a file is refused. No part of it has been used.
type FormatError struct {
	Path   string // of the file; empty if it was read from memory
	Tensor string // the tensor whose entry is wrong; empty if the file as a whole is
	Reason string
}

func (e *FormatError) Error() string {
	text := "checkpoint: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	if e.Tensor != "" {
		text += fmt.Sprintf("tensor %q: ", e.Tensor)
	}
	return text + e.Reason
}

// Info is what a header says about one tensor.
type Info struct {
	Name  string
	Dtype string // as safetensors spells it: F32, BF16, F8_E4M3, U64, ...
	Shape []int
	Start int // of its bytes, counted from the end of the header
	End   int // after its bytes
}

// bitsOf has the dtypes of the format and the bits of one element.
var bitsOf = map[string]int{
	"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
	"U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}

// dtypeOf has the dtypes that tensors can have.
var dtypeOf = func() map[string]tensor.Dtype {
	all := map[string]tensor.Dtype{}
	for _, d := range tensor.Dtypes() {
		all[d.SafetensorsName()] = d
	}
	return all
}()

// maxHeader is the largest header that other readers accept.
const maxHeader = 100_000_000

// metadataKey is the entry of a header that is not a tensor.
const metadataKey = "__metadata__"

// parseHeader reads the header of a file of the given size, whose first bytes
// are data, and checks it against that size. The tensors are returned in the
// order in which they lie in the file; start is where their bytes begin.
func parseHeader(data []byte) (tensors []Info, metadata map[string]string, start int, err error) {
	refuse := func(format string, args ...any) ([]Info, map[string]string, int, error) {
		return nil, nil, 0, &FormatError{Reason: fmt.Sprintf(format, args...)}
	}
	if len(data) < 8 {
		return refuse("the file has %d bytes, too few for a safetensors file", len(data))
	}
	length := binary.LittleEndian.Uint64(data)
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return refuse("this is a zip file, as torch.save writes it, not safetensors; save it with safetensors.torch.save_file")
	case length > maxHeader:
		return refuse("the header is said to have %d bytes, more than the %d that are allowed; this isn't a safetensors file, or it is damaged", length, maxHeader)
	case length > uint64(len(data)-8):
		return refuse("the header is said to have %d bytes and the file has only %d more; it is cut off or damaged", length, len(data)-8)
	}
	header := data[8 : 8+length]
	if len(header) == 0 || header[0] != '{' {
		return refuse("the header does not begin with {")
	}
	if !utf8.Valid(header) {
		return refuse("the header is not UTF-8")
	}
	if at := loneSurrogate(header); at >= 0 {
		return refuse("the header has half a surrogate pair at byte %d", at)
	}
	r := &headerReader{json: json.NewDecoder(bytes.NewReader(header))}
	r.json.UseNumber()
	if err := r.read(); err != nil {
		var format *FormatError
		if errors.As(err, &format) {
			return nil, nil, 0, err
		}
		return refuse("the header is not well formed: %v (byte %d of it)", err, r.json.InputOffset())
	}
	if rest := bytes.TrimLeft(header[r.json.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return refuse("the header goes on after its end, at byte %d", len(header)-len(rest))
	}
	tensors = r.tensors
	slices.SortStableFunc(tensors, func(a, b Info) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.End - b.End
	})
	end := 0
	for _, t := range tensors {
		if t.Start > end {
			return nil, nil, 0, &FormatError{Tensor: t.Name, Reason: fmt.Sprintf("it starts at byte %d, which leaves a hole of %d bytes before it", t.Start, t.Start-end)}
		}
		if t.Start < end {
			return nil, nil, 0, &FormatError{Tensor: t.Name, Reason: fmt.Sprintf("it starts at byte %d, inside another tensor that ends at %d", t.Start, end)}
		}
		end = t.End
	}
	switch have := len(data) - 8 - int(length); {
	case end > have:
		return refuse("the tensors need %d bytes and the file has %d; it is cut off", end, have)
	case end < have:
		return refuse("the file goes on for %s after the last tensor", humanize.Count(have-end, "byte"))
	}
	return tensors, r.metadata, 8 + int(length), nil
}

// headerReader reads the JSON of a header token by token, so that nothing is
// accepted by accident: package json's own decoder accepts names in any case, and
// takes the last of several.
type headerReader struct {
	json     *json.Decoder
	tensors  []Info
	metadata map[string]string
}

func (r *headerReader) read() error {
	names := map[string]bool{}
	return r.object(func(name string) error {
		if names[name] {
			return &FormatError{Tensor: name, Reason: "the header has it twice"}
		}
		names[name] = true
		if name == metadataKey {
			return r.readMetadata()
		}
		info, err := r.entry(name)
		if err != nil {
			return err
		}
		r.tensors = append(r.tensors, info)
		return nil
	})
}

func (r *headerReader) readMetadata() error {
	r.metadata = map[string]string{}
	return r.object(func(key string) error {
		token, err := r.json.Token()
		if err != nil {
			return err
		}
		value, ok := token.(string)
		if !ok {
			return &FormatError{Reason: fmt.Sprintf("metadata %q is %v, not a string", key, token)}
		}
		r.metadata[key] = value
		return nil
	})
}

// entry reads what the header says about one tensor and checks that it agrees
// with itself.
func (r *headerReader) entry(name string) (Info, error) {
	info := Info{Name: name}
	refuse := func(format string, args ...any) error {
		return &FormatError{Tensor: name, Reason: fmt.Sprintf(format, args...)}
	}
	seen := map[string]bool{}
	var shape, offsets []uint64
	err := r.object(func(field string) (err error) {
		if seen[field] {
			return refuse("the header has its %s twice", field)
		}
		seen[field] = true
		switch field {
		case "dtype":
			token, err := r.json.Token()
			if err != nil {
				return err
			}
			text, ok := token.(string)
			if !ok || bitsOf[text] == 0 {
				return refuse("dtype %v is not one of the format", token)
			}
			info.Dtype = text
		case "shape":
			shape, err = r.sizes()
		case "data_offsets":
			offsets, err = r.sizes()
		default: // of a later version of the format
			var ignored json.RawMessage
			return r.json.Decode(&ignored)
		}
		if err != nil {
			return refuse("%s: %v", field, err)
		}
		return nil
	})
	if err != nil {
		return info, err
	}
	for _, field := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[field] {
			return info, refuse("the header does not give its %s", field)
		}
	}
	if len(offsets) != 2 || offsets[0] > offsets[1] || offsets[1] > math.MaxInt64 {
		return info, refuse("data_offsets %v are not a start and an end", offsets)
	}
	count, overflow := uint64(1), uint64(0)
	for _, size := range append(shape, uint64(bitsOf[info.Dtype])) {
		var high uint64
		high, count = bits.Mul64(count, size)
		overflow |= high
		if size > math.MaxInt64 {
			overflow = 1
		}
	}
	if overflow != 0 {
		return info, refuse("shape %v has more elements than can be counted", shape)
	}
	if count%8 != 0 || count/8 != offsets[1]-offsets[0] {
		return info, refuse("%s %v takes %d bits and data_offsets %v give it %d bytes", info.Dtype, shape, count, offsets, offsets[1]-offsets[0])
	}
	info.Start, info.End = int(offsets[0]), int(offsets[1])
	info.Shape = make([]int, len(shape))
	for i, size := range shape {
		info.Shape[i] = int(size)
	}
	return info, nil
}

// object reads an object and calls f for each key; f reads the value.
func (r *headerReader) object(f func(key string) error) error {
	if err := r.open('{'); err != nil {
		return err
	}
	for r.json.More() {
		key, err := r.json.Token()
		if err != nil {
			return err
		}
		if err := f(key.(string)); err != nil {
			return err
		}
	}
	_, err := r.json.Token()
	return eof(err)
}

// sizes reads a list of integers that are not negative.
func (r *headerReader) sizes() ([]uint64, error) {
	if err := r.open('['); err != nil {
		return nil, err
	}
	sizes := []uint64{}
	for r.json.More() {
		token, err := r.json.Token()
		if err != nil {
			return nil, err
		}
		number, ok := token.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%v is not a number", token)
		}
		var size uint64
		if _, err := fmt.Sscanf(number.String()+" ", "%d ", &size); err != nil || strings.ContainsAny(number.String(), ".eE-") {
			return nil, fmt.Errorf("%v is not an integer from 0 to 2^64-1", number)
		}
		sizes = append(sizes, size)
	}
	_, err := r.json.Token()
	return sizes, eof(err)
}

func (r *headerReader) open(delim json.Delim) error {
	token, err := r.json.Token()
	if err != nil {
		return eof(err)
	}
	if token != delim {
		return fmt.Errorf("%v where %v should be", token, delim)
	}
	return nil
}

func eof(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// loneSurrogate returns the position of an escape such as \ud800 that has no
// partner, or -1. Package json would replace it and so change a name.
func loneSurrogate(header []byte) int {
	escape := func(at int) (code uint64, ok bool) {
		if at+6 > len(header) || header[at] != '\\' || header[at+1] != 'u' {
			return 0, false
		}
		_, err := fmt.Sscanf(string(header[at+2:at+6]), "%04x", &code)
		return code, err == nil
	}
	for at := 0; at < len(header); at++ {
		if header[at] != '\\' {
			continue
		}
		code, ok := escape(at)
		switch {
		case !ok:
			at++ // \\, \" and the like
		case code>>10 == 0xd800>>10:
			if low, ok := escape(at + 6); !ok || low>>10 != 0xdc00>>10 {
				return at
			}
			at += 11
		case code>>10 == 0xdc00>>10:
			return at
		default:
			at += 5
		}
	}
	return -1
}
