package data

import (
	"archive/zip"
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// npyDtypes are those that .npy files have.
var npyDtypes = []tensor.Dtype{tensor.Float64, tensor.Float32, tensor.Float16, tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool}

func samples() []*tensor.Tensor {
	var all []*tensor.Tensor
	x := tensor.With(tensor.Float64).Of(0, 1, -1, 2.5, 100, -128, 65504, 1e-7, 3, 7, 11, 13)
	for _, d := range npyDtypes {
		y := x.To(d)
		all = append(all, y, y.View(3, 4), y.View(3, 4).T(), y.Slice(0, 0, 12, 5), y.Narrow(0, 3, 1).Squeeze(), tensor.With(d).Zeros(2, 0, 3))
	}
	return all
}

func TestNpyRoundTrip(t *testing.T) {
	for _, x := range samples() {
		var b bytes.Buffer
		if err := WriteNpy(&b, x); err != nil {
			t.Fatal(err)
		}
		if b.Len()%64 != x.Bytes()%64 {
			t.Errorf("%s %v: the elements do not begin at a multiple of 64 bytes", x.Dtype(), x.Shape())
		}
		y, err := ReadNpy(&b)
		if err != nil {
			t.Fatalf("%s %v: %v", x.Dtype(), x.Shape(), err)
		}
		if y.Dtype() != x.Dtype() || !tensor.Equal(x, y) || !y.IsContiguous() {
			t.Errorf("%s %v became %s %v: %v", x.Dtype(), x, y.Dtype(), y.Shape(), y)
		}
	}
	nan := tensor.Of(math.NaN(), math.Inf(-1))
	var b bytes.Buffer
	if err := WriteNpy(&b, nan); err != nil {
		t.Fatal(err)
	}
	if y, err := ReadNpy(&b); err != nil || !tensor.AllClose(y, nan, 0, 0) {
		t.Errorf("%v became %v (%v)", nan, y, err)
	}
	var e *NpyError
	if err := WriteNpy(&b, tensor.With(tensor.BFloat16).Zeros(2)); !errors.As(err, &e) || !strings.Contains(err.Error(), "bfloat16") {
		t.Errorf("writing bfloat16: %v", err)
	}
}

// file builds a .npy file from a header and elements.
func file(version byte, header string, elements ...byte) []byte {
	b := append([]byte(npyMagic), version, 0)
	b = append(b, byte(len(header)), byte(len(header)>>8))
	if version > 1 {
		b = append(b, 0, 0)
	}
	return append(append(b, header...), elements...)
}

func TestNpyRead(t *testing.T) {
	one := []byte{0, 0, 0x80, 0x3f}
	for _, c := range []struct {
		name string
		file []byte
		want *tensor.Tensor
	}{
		{"blanks and double quotes", file(1, `{"descr" : "<f4" , "shape":( 1 ,),'fortran_order' :False }`+"\n", one...), tensor.Of(1.)},
		{"version 2", file(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", one...), tensor.Of(1.)},
		{"version 3", file(3, "{'descr': '=f4', 'fortran_order': False, 'shape': (1,), }\n", one...), tensor.Of(1.)},
		{"sizes of Python 2", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 1L), }", one...), tensor.Of(1.).View(1, 1)},
		{"single number", file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (), }", one...), tensor.Scalar(1)},
		{"big endian", file(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", 1, 2, 0xff, 0xfe), tensor.With(tensor.Int16).Of(258, -2)},
		{"uint16", file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }", 1, 2, 0xff, 0xff), tensor.With(tensor.Int32).Of(513, 65535)},
		{"uint32", file(1, "{'descr': '>u4', 'fortran_order': False, 'shape': (1,), }", 0xff, 0xff, 0xff, 0xff), tensor.With(tensor.Int64).Of(4294967295)},
		{"Fortran order", file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 1, 4, 2, 5, 3, 6),
			tensor.With(tensor.Uint8).Of([]int{1, 2, 3}, []int{4, 5, 6})},
		{"bytes after the elements", file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 1, 9, 9), tensor.With(tensor.Uint8).Of(1)},
	} {
		got, err := ReadNpy(bytes.NewReader(c.file))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got.Dtype() != c.want.Dtype() || !tensor.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNpyMistakes(t *testing.T) {
	good := "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
	for _, c := range []struct {
		name, text string
		file       []byte
	}{
		{"empty", "ends within its first 8 bytes", nil},
		{"zip", "LoadNpz", []byte("PK\x03\x04 and so on")},
		{"version", "version 4.0", file(4, good)},
		{"long header", "allowed", append([]byte(npyMagic), 2, 0, 0xff, 0xff, 0xff, 0x7f)},
		{"header cut", "of its header", file(1, good)[:30]},
		{"elements cut", "3 of the 4 bytes", file(1, good, 1, 2, 3)},
		{"no dictionary", "{ at the start", file(1, "descr")},
		{"unclosed", "a key in quotes", file(1, "{'descr': '<f4', ")},
		{"no comma", ", or }", file(1, "{'descr': '<f4' 'shape': (1,)}")},
		{"missing key", "no shape", file(1, "{'descr': '<f4', 'fortran_order': False}")},
		{"double key", "twice", file(1, "{'descr': '<f4', 'descr': '<f4'}")},
		{"unknown key", `"order"`, file(1, "{'order': 1}")},
		{"number for a bool", "True or False", file(1, "{'fortran_order': 1}")},
		{"size without comma", "tuple of sizes", file(1, "{'shape': (3)}")},
		{"size negative", "tuple of sizes", file(1, "{'shape': (-3,)}")},
		{"size with fraction", "tuple of sizes", file(1, "{'shape': (3.0,)}")},
		{"size too long for an int", "tuple of sizes", file(1, "{'shape': (99999999999999999999,)}")},
		{"sizes beyond memory", "more elements than any memory", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }")},
		{"sizes that are not there", "ends after", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,), }")},
		{"objects", "Python objects", file(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")},
		{"columns", "named columns", file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }")},
		{"complex", `"<c8"`, file(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }")},
		{"uint64", "uint64", file(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }")},
		{"more behind", "goes on after", file(1, good+" {}")},
	} {
		x, err := ReadNpy(bytes.NewReader(c.file))
		var e *NpyError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v and error %v, want an NpyError with %q", c.name, x, err, c.text)
		}
	}
}

func TestNpyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	x := tensor.Arange(6).View(2, 3)
	if err := SaveNpy(path, x); err != nil {
		t.Fatal(err)
	}
	if y, err := LoadNpy(path); err != nil || !tensor.Equal(x, y) {
		t.Errorf("got %v (%v), want %v", y, err, x)
	}
	// A write that fails leaves the file as it was.
	if err := SaveNpy(path, tensor.With(tensor.BFloat16).Zeros(1)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names the file", err)
	}
	if y, err := LoadNpy(path); err != nil || !tensor.Equal(x, y) {
		t.Errorf("after a failed write: got %v (%v), want %v", y, err, x)
	}
	if err := os.Truncate(path, 150); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadNpy(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names the file", err)
	}
	if _, err := LoadNpy(path + "?"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v for a file that is not there", err)
	}
}

func TestNpz(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	want := map[string]*tensor.Tensor{"a": tensor.Of(1., 2), "layers.0/w": tensor.Arange(6).View(2, 3), "half": tensor.With(tensor.Float16).Of(0.5)}
	if err := SaveNpz(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := LoadNpz(path)
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %v (%v), want %v", got, err, want)
	}
	for name, x := range want {
		if !tensor.Equal(got[name], x) {
			t.Errorf("%s: got %v, want %v", name, got[name], x)
		}
	}
	again := filepath.Join(t.TempDir(), "again.npz")
	if err := SaveNpz(again, want); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(again)
	if !bytes.Equal(a, b) {
		t.Error("the same tensors give different files")
	}

	// Compressed archives, as numpy.savez_compressed writes them, and damage.
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, _ := z.Create("zeros.npy")
	if err := WriteNpy(w, tensor.Zeros(10_000)); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if got, err := ReadNpz(bytes.NewReader(packed.Bytes()), int64(packed.Len())); err != nil || got["zeros"].Len() != 10_000 {
		t.Errorf("compressed: %v (%v)", got, err)
	}
	damaged := bytes.Clone(a)
	damaged[bytes.Index(damaged, []byte("half.npy"))+len("half.npy")+128+1] ^= 1
	var e *NpyError
	if _, err := ReadNpz(bytes.NewReader(damaged), int64(len(damaged))); !errors.As(err, &e) {
		t.Errorf("damaged: error %v, want an NpyError", err)
	}
	if _, err := ReadNpz(strings.NewReader("hello"), 5); !errors.As(err, &e) {
		t.Errorf("no archive: error %v, want an NpyError", err)
	}
}

// FuzzReadNpy checks that any bytes give a tensor or an error, and that what can
// be read can be written and read again.
func FuzzReadNpy(f *testing.F) {
	for _, x := range samples() {
		var b bytes.Buffer
		if err := WriteNpy(&b, x); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add(file(3, "{'descr': '>f8', 'fortran_order': True, 'shape': (1, 1, 1), }", 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(file(1, `{"shape": (1L,), 'descr': '?', 'fortran_order': True}`, 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := ReadNpy(bytes.NewReader(text))
		if err != nil {
			var e *NpyError
			if !errors.As(err, &e) {
				t.Fatalf("error %v is no NpyError", err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteNpy(&b, x); err != nil {
			t.Fatal(err)
		}
		y, err := ReadNpy(&b)
		if err != nil || x.Dtype() != y.Dtype() || !tensor.AllClose(x, y, 0, 0) {
			t.Fatalf("%v became %v (%v)", x, y, err)
		}
	})
}
