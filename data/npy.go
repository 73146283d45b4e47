package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/sysmem"
	"github.com/lectern-go/lectern/tensor"
)

// The .npy format of NumPy: the six bytes \x93NUMPY, a version, the length of a
// header, the header - a Python dictionary with the keys descr, fortran_order and
// shape, padded with blanks to a multiple of 64 bytes - and the elements.

// NpyError says why a file is not a .npy file that can be read.
type NpyError struct {
	Name   string // of the file, or of the member of an archive; may be empty
	Reason string // what is wrong, with the text found
	Hint   string // what to try; may be empty
}

func (e *NpyError) Error() string {
	text := "data: npy: "
	if e.Name != "" {
		text += e.Name + ": "
	}
	text += e.Reason
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func npyError(hint, format string, args ...any) error {
	return &NpyError{Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// NpyHeader is what precedes the elements of a .npy file.
type NpyHeader struct {
	Descr   string // NumPy's name of the element type, such as "<f4" or "|b1"
	Fortran bool   // the first axis varies fastest
	Shape   []int
	Dtype   tensor.Dtype // of the tensor that the elements become

	element npyElement
}

// npyElement is how an element lies in the file.
type npyElement struct {
	kind byte // f, i, u or b
	size int  // bytes
	big  bool // most significant byte first
}

const (
	npyMagic = "\x93NUMPY"
	// maxNpyHeader is the largest header that NumPy accepts, too.
	maxNpyHeader = 10_000
	maxNpyRank   = 64
)

// ReadNpyHeader reads the header of a .npy file (versions 1 to 3) and leaves r at
// the first element. It returns an [*NpyError] unless the header is well formed and
// has a dtype that tensors have.
func ReadNpyHeader(r io.Reader) (*NpyHeader, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return nil, cut(err, "the file ends within its first 8 bytes")
	}
	if string(start[:6]) != npyMagic {
		return nil, npyError("a file of several arrays is read with LoadNpz", "it begins with %q, not with %q", start[:6], npyMagic)
	}
	var length int
	switch start[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, cut(err, "the file ends within the length of its header")
		}
		length = int(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, cut(err, "the file ends within the length of its header")
		}
		length = int(binary.LittleEndian.Uint32(b[:]))
	default:
		return nil, npyError("", "version %d.%d is not known, only 1.0, 2.0 and 3.0", start[6], start[7])
	}
	if start[7] != 0 {
		return nil, npyError("", "version %d.%d is not known, only 1.0, 2.0 and 3.0", start[6], start[7])
	}
	if length > maxNpyHeader {
		return nil, npyError("", "the header claims %d bytes, more than the %d that are allowed", length, maxNpyHeader)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, cut(err, fmt.Sprintf("the file ends after %d of the %d bytes of its header", n, length))
	}
	if start[6] == 3 && !utf8.Valid(text) {
		return nil, npyError("", "the header is not UTF-8")
	}
	return parseNpyHeader(string(text))
}

// cut turns the end of the file into an NpyError and leaves other errors alone.
func cut(err error, reason string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return npyError("the file was cut short: copy it again", "%s", reason)
	}
	return err
}

// parseNpyHeader reads a header such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
func parseNpyHeader(text string) (*NpyHeader, error) {
	p := npyParser{rest: text}
	h := &NpyHeader{}
	seen := map[string]bool{}
	if !p.take("{") {
		return nil, p.fail("a { at the start of the header")
	}
	for !p.take("}") {
		key, ok := p.quoted()
		if !ok {
			return nil, p.fail("a key in quotes, or }")
		}
		if seen[key] {
			return nil, npyError("", "key %q occurs twice in the header", key)
		}
		seen[key] = true
		if !p.take(":") {
			return nil, p.fail("a : after key '" + key + "'")
		}
		switch key {
		case "descr":
			if h.Descr, ok = p.quoted(); !ok {
				return nil, p.fail("an element type in quotes (tables with named columns are not read)")
			}
		case "fortran_order":
			if h.Fortran = p.take("True"); !h.Fortran && !p.take("False") {
				return nil, p.fail("True or False for fortran_order")
			}
		case "shape":
			if h.Shape, ok = p.tuple(); !ok {
				return nil, p.fail("a tuple of sizes for shape")
			}
		default:
			return nil, npyError("", "key %q is not one of descr, fortran_order and shape", key)
		}
		if !p.take(",") {
			if !p.take("}") {
				return nil, p.fail("a , or } after the value of '" + key + "'")
			}
			break
		}
	}
	if strings.TrimLeft(p.rest, " \n\t\r\x00") != "" {
		return nil, npyError("", "the header goes on after its }: %.40q", p.rest)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return nil, npyError("", "the header has no %s", key)
		}
	}
	if err := h.setElement(); err != nil {
		return nil, err
	}
	return h, h.checkSize()
}

// npyParser reads the few Python literals that a header consists of.
type npyParser struct{ rest string }

func (p *npyParser) take(token string) bool {
	rest := strings.TrimLeft(p.rest, " \t\n\r")
	if !strings.HasPrefix(rest, token) {
		return false
	}
	p.rest = rest[len(token):]
	return true
}

func (p *npyParser) quoted() (string, bool) {
	for _, quote := range []string{"'", `"`} {
		before := p.rest
		if p.take(quote) {
			if text, after, ok := strings.Cut(p.rest, quote); ok && !strings.ContainsAny(text, "\\\n") {
				p.rest = after
				return text, true
			}
			p.rest = before
		}
	}
	return "", false
}

// tuple reads (), (3,), (2, 3) and (2, 3,). Old files of Python 2 may have sizes
// such as 3L.
func (p *npyParser) tuple() ([]int, bool) {
	sizes := []int{}
	if !p.take("(") {
		return nil, false
	}
	for commas := 0; ; commas++ {
		if p.take(")") {
			return sizes, len(sizes) != 1 || commas > 0
		}
		p.rest = strings.TrimLeft(p.rest, " \t\n\r")
		digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
		size, err := strconv.Atoi(p.rest[:digits])
		if err != nil {
			return nil, false
		}
		p.rest = strings.TrimPrefix(p.rest[digits:], "L")
		sizes = append(sizes, size)
		if !p.take(",") {
			return sizes, p.take(")") && len(sizes) > 1
		}
	}
}

func (p *npyParser) fail(want string) error {
	return npyError("", "the header should have %s where it has %.40q", want, p.rest)
}

// setElement works out the dtype from the descriptor: an optional byte order, a kind
// and a size.
func (h *NpyHeader) setElement() error {
	descr := h.Descr
	order := byte('<')
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		order, descr = descr[0], descr[1:]
	}
	if descr == "?" {
		descr = "b1"
	}
	dtypes := map[string]tensor.Dtype{
		"f8": tensor.Float64, "f4": tensor.Float32, "f2": tensor.Float16,
		"i8": tensor.Int64, "i4": tensor.Int32, "i2": tensor.Int16, "i1": tensor.Int8,
		"u1": tensor.Uint8, "b1": tensor.Bool,
		"u2": tensor.Int32, "u4": tensor.Int64, // the smallest that holds all their numbers
	}
	dtype, ok := dtypes[descr]
	switch {
	case ok:
	case strings.HasPrefix(descr, "O"):
		return npyError("save numbers, not Python objects", "the elements are Python objects (%s), which only Python can read", h.Descr)
	case descr == "u8":
		return npyError("convert it to int64 in NumPy", "uint64 has numbers that no dtype here can hold")
	default:
		return npyError("", "element type %q is not one that tensors have", h.Descr)
	}
	h.Dtype = dtype
	h.element = npyElement{descr[0], int(descr[1] - '0'), order == '>'}
	return nil
}

// checkSize refuses shapes of unreasonable size.
func (h *NpyHeader) checkSize() error {
	if len(h.Shape) > maxNpyRank {
		return npyError("", "%d axes, more than the %d that are allowed", len(h.Shape), maxNpyRank)
	}
	total := uint64(8)
	for _, size := range h.Shape {
		if size == 0 {
			return nil
		}
	}
	for _, size := range h.Shape {
		high, low := bits.Mul64(total, uint64(size))
		if high != 0 || low > 1<<48 {
			return npyError("", "shape %v has more elements than any memory", h.Shape)
		}
		total = low
	}
	return nil
}

// Len returns the number of elements.
func (h *NpyHeader) Len() int {
	n := 1
	for _, size := range h.Shape {
		n *= size
	}
	return n
}

// ReadNpy reads one .npy file, versions 1 to 3, in either byte order and either
// order of axes, into a new contiguous tensor. uint16 becomes int32 and uint32
// becomes int64; other dtypes keep theirs. Memory grows with what has actually been
// read, whatever the header claims. The error is an [*NpyError] if the file is not
// well formed.
func ReadNpy(r io.Reader) (*tensor.Tensor, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	h, err := ReadNpyHeader(b)
	if err != nil {
		return nil, err
	}
	return h.readTensor(b)
}

// bytes is how many bytes the elements take in the file.
func (h *NpyHeader) bytes() int { return h.Len() * h.element.size }

// readTensor reads the elements that follow the header.
func (h *NpyHeader) readTensor(r io.Reader) (*tensor.Tensor, error) {
	raw, err := h.readElements(r)
	if err != nil {
		return nil, err
	}
	n := h.Len()
	t := tensor.With(h.Dtype).Empty(n)
	h.element.decode(t, raw)
	if !h.Fortran || len(h.Shape) < 2 {
		return t.View(h.Shape...), nil
	}
	// The file holds the transposed tensor in row-major order.
	reversed, axes := make([]int, len(h.Shape)), make([]int, len(h.Shape))
	for i := range h.Shape {
		reversed[i] = h.Shape[len(h.Shape)-1-i]
		axes[i] = len(h.Shape) - 1 - i
	}
	return t.View(reversed...).Permute(axes...).Contiguous(), nil
}

// readElements returns the bytes of the elements. Beyond a megabyte, it trusts the
// header only as far as bytes have arrived.
func (h *NpyHeader) readElements(r io.Reader) ([]byte, error) {
	want := h.bytes()
	if why := sysmem.Refusal(want); why != "" {
		return nil, npyError("", "shape %v: %s", h.Shape, why)
	}
	raw := make([]byte, min(want, 1<<20))
	for have := 0; ; {
		n, err := io.ReadFull(r, raw[have:])
		have += n
		if err != nil {
			return nil, cut(err, fmt.Sprintf("the file ends after %d of the %d bytes of its elements", have, want))
		}
		if have == want {
			return raw, nil
		}
		grown := make([]byte, min(want, 2*have))
		copy(grown, raw)
		raw = grown
	}
}

// machineBig says that this machine stores the most significant byte first.
var machineBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// decode puts elements into a tensor. It may change raw.
func (e npyElement) decode(t *tensor.Tensor, raw []byte) {
	if e.big != machineBig {
		reverseElements(raw, e.size)
	}
	switch {
	case e.kind == 'b':
		out := tensor.Data[bool](t)
		for i, b := range raw {
			out[i] = b != 0
		}
	case e.kind == 'u' && e.size == 2:
		out := tensor.Data[int32](t)
		for i := range out {
			out[i] = int32(binary.NativeEndian.Uint16(raw[2*i:]))
		}
	case e.kind == 'u' && e.size == 4:
		out := tensor.Data[int64](t)
		for i := range out {
			out[i] = int64(binary.NativeEndian.Uint32(raw[4*i:]))
		}
	default:
		copy(t.RawBytes(), raw)
	}
}

// reverseElements exchanges the byte order.
func reverseElements(raw []byte, size int) {
	if size == 1 {
		return
	}
	for start := 0; start+size <= len(raw); start += size {
		for i, j := start, start+size-1; i < j; i, j = i+1, j-1 {
			raw[i], raw[j] = raw[j], raw[i]
		}
	}
}

// npyDescr returns NumPy's name for a dtype.
func npyDescr(d tensor.Dtype) (string, bool) {
	descr, ok := map[tensor.Dtype]string{
		tensor.Float64: "<f8", tensor.Float32: "<f4", tensor.Float16: "<f2",
		tensor.Int64: "<i8", tensor.Int32: "<i4", tensor.Int16: "<i2", tensor.Int8: "|i1",
		tensor.Uint8: "|u1", tensor.Bool: "|b1",
	}[d]
	return descr, ok
}

// WriteNpy writes a tensor as a .npy file of version 1.0, byte for byte as NumPy
// would: little endian, in row-major order. It returns an [*NpyError] for bfloat16
// and the 8-bit floats, which NumPy does not have.
func WriteNpy(w io.Writer, t *tensor.Tensor) error {
	descr, ok := npyDescr(t.Dtype())
	if !ok {
		return npyError("convert it with To(tensor.Float32), or save it as safetensors", "NumPy has no %s", t.Dtype())
	}
	shape := "("
	for i, size := range t.Shape() {
		if i > 0 {
			shape += ", "
		}
		shape += strconv.Itoa(size)
	}
	if t.Dim() == 1 {
		shape += ","
	}
	shape += ")"
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	if t.Dim() > 0 { // NumPy leaves room for the first size to grow in place
		header += strings.Repeat(" ", 21-len(strconv.Itoa(t.Size(0))))
	}
	const before = len(npyMagic) + 4
	header += strings.Repeat(" ", 63-(before+len(header))%64) + "\n"
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString(npyMagic)
	b.Write([]byte{1, 0, byte(len(header)), byte(len(header) >> 8)})
	b.WriteString(header)
	raw := t.Detach().Contiguous().To(tensor.CPU).RawBytes()
	if machineBig {
		raw = bytes.Clone(raw)
		reverseElements(raw, t.ElementSize())
	}
	if _, err := b.Write(raw); err != nil {
		return err
	}
	return b.Flush()
}

// LoadNpy reads the .npy file at path; see [ReadNpy].
func LoadNpy(path string) (*tensor.Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	t, err := ReadNpy(f)
	return t, named(err, path)
}

// named puts the name of a file into an error.
func named(err error, name string) error {
	var e *NpyError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Name == "":
		with := *e
		with.Name = name
		return &with
	case errors.As(err, &e):
		return err
	}
	return fmt.Errorf("data: %s: %w", name, err)
}

// SaveNpy writes a tensor to a .npy file at path; see [WriteNpy]. The file is complete
// or, if anything fails, as it was before.
func SaveNpy(path string, t *tensor.Tensor) error {
	err := atomicfile.Write(path, func(w io.Writer) error { return WriteNpy(w, t) })
	return named(err, path)
}
