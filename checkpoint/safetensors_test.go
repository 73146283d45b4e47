package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// raw builds a file from a header and the number of bytes behind it.
func raw(header string, bytesBehind int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), make([]byte, bytesBehind)...)
}

func TestRoundTripOfEveryDtypeAndLayout(t *testing.T) {
	tensors := map[string]*tensor.Tensor{"scalar": tensor.Scalar(2.5), "empty": tensor.Zeros(0, 3), "weird \"name\"\n é": tensor.Of(1, 2, 3)}
	for _, d := range tensor.Dtypes() {
		tensors["a."+d.String()] = tensor.Arange(6).View(2, 3).To(d)
		tensors["b."+d.String()] = tensor.Arange(6).View(2, 3).To(d).T()
	}
	tensors["nan"] = tensor.Of(math.NaN(), math.Inf(-1))
	path := filepath.Join(t.TempDir(), "x.safetensors")
	metadata := map[string]string{"model": "cruncher", "<&>": "ä"}
	if err := WriteFile(path, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Metadata()) != 2 || f.Metadata()["<&>"] != "ä" {
		t.Errorf("metadata: got %v", f.Metadata())
	}
	if len(f.Tensors()) != len(tensors) {
		t.Fatalf("got %d tensors, want %d", len(f.Tensors()), len(tensors))
	}
	for name, want := range tensors {
		got, err := f.Tensor(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got.Dtype() != want.Dtype() || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) || !bytes.Equal(got.RawBytes(), want.Contiguous().RawBytes()) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestSameTensorsGiveTheSameBytes(t *testing.T) {
	write := func() []byte {
		var b bytes.Buffer
		tensors := map[string]*tensor.Tensor{}
		for i := range 20 {
			tensors[fmt.Sprint("t", i)] = tensor.Full(float64(i), 3)
		}
		if err := Write(&b, tensors, map[string]string{"a": "1", "b": "2", "c": "3"}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	first := write()
	for range 5 {
		if !bytes.Equal(first, write()) {
			t.Fatal("two files of the same tensors differ")
		}
	}
}

func TestMappedTensorsAreAlignedAndSharedAndWritesStayPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	err := WriteFile(path, map[string]*tensor.Tensor{"a": tensor.With(tensor.Uint8).Of(1, 2, 3), "b": tensor.Of(1., 2), "c": tensor.With(tensor.Float64).Of(3.)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, _ := f.Tensor("b")
	again, _ := f.Tensor("b")
	x.SetAt(7, 0)
	if again.At(0) != 7 {
		t.Error("two tensors of one place do not share memory: it was copied")
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("writing to a mapped tensor changed the file")
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	one := `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	tests := []struct {
		name string
		file []byte
		want string // part of the reason
	}{
		{"nothing", nil, "too few"},
		{"seven bytes", make([]byte, 7), "too few"},
		{"no header", make([]byte, 8), "does not begin with {"},
		{"a zip", append([]byte("PK\x03\x04"), make([]byte, 100)...), "zip file"},
		{"header of 2^63 bytes", []byte("\x00\x00\x00\x00\x00\x00\x00\x80{}"), "more than the"},
		{"header beyond the end", raw(one, 4)[:20], "cut off"},
		{"data cut", raw(one, 3), "cut off"},
		{"data left over", raw(one, 5), "goes on for 1 byte after"},
		{"leading space", raw(" "+one, 4), "begin with {"},
		{"zero padding", raw(one+"\x00", 4), "goes on after its end"},
		{"two values", raw(one+one, 4), "goes on after its end"},
		{"not JSON", raw("{nonsense", 4), "not well formed"},
		{"array", raw("[]", 0), "begin with {"},
		{"cut JSON", raw(one[:20], 4), "not well formed"},
		{"not UTF-8", raw("{\"\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4), "UTF-8"},
		{"half a surrogate", raw(`{"\ud800x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "surrogate"},
		{"low surrogate", raw(`{"\udc00":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "surrogate"},
		{"twice", raw(one[:len(one)-1]+","+one[1:], 4), "twice"},
		{"field twice", raw(`{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "dtype twice"},
		{"unknown dtype", raw(`{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}`, 4), "F31"},
		{"lower case field", raw(`{"a":{"Dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "does not give its dtype"},
		{"negative size", raw(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), "an integer"},
		{"fraction", raw(`{"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}`, 4), "an integer"},
		{"size as text", raw(`{"a":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}}`, 4), "not a number"},
		{"size of 2^64", raw(`{"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]}}`, 4), "an integer"},
		{"bits wrap to 32", raw(`{"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}}`, 4), "can be counted"},
		{"huge but empty", raw(`{"a":{"dtype":"U8","shape":[0,18446744073709551615],"data_offsets":[0,0]}}`, 0), "can be counted"},
		{"one offset", raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4]}}`, 4), "start and an end"},
		{"offsets swapped", raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 4), "start and an end"},
		{"offsets near 2^64", raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[18446744073709551611,18446744073709551615]}}`, 4), "start and an end"},
		{"hole", raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}}`, 5), "hole of 1"},
		{"overlap", raw(one[:len(one)-1]+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}}`, 7), "inside another"},
		{"size and offsets differ", raw(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4), "takes 64 bits"},
		{"half bytes", raw(`{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}`, 2), "takes 12 bits"},
		{"metadata not text", raw(`{"__metadata__":{"k":1}}`, 0), "not a string"},
		{"nested without end", raw(strings.Repeat(`{"a":`, 100_000), 0), "not well formed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(slices.Clip(test.file)) // so that reading on behind the end can't go unseen
			var format *FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a FormatError that says %q", err, test.want)
			}
		})
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.safetensors")
	if err := os.WriteFile(path, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), "broken.safetensors") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: got %v", err)
	}
}

func TestUnsignedAndUnknownElements(t *testing.T) {
	header := `{"a":{"dtype":"U64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"U16","shape":[1],"data_offsets":[8,10]},"c":{"dtype":"C64","shape":[1],"data_offsets":[10,18]}}`
	data := raw(header, 18)
	for i := range 10 {
		data[8+len(header)+i] = 0xff
	}
	f, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := f.Tensor("b"); err != nil || x.Dtype() != tensor.Int32 || x.At(0) != 65535 {
		t.Errorf("U16: %v %v", x, err)
	}
	for _, name := range []string{"a", "c", "none"} {
		if x, err := f.Tensor(name); err == nil {
			t.Errorf("%s: got %v, want an error", name, x)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"k":"v"}}`, 4))
	f.Add(raw(`{}`, 0))
	f.Add(raw(`{"a":{"dtype":"BOOL","shape":[2,1],"data_offsets":[0,2]},"\ud83d\ude00":{"dtype":"I64","shape":[0],"data_offsets":[0,0]}}`, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("the error is no FormatError: %v", err)
			}
			return
		}
		total := 0
		for _, info := range file.Tensors() {
			total += info.End - info.Start
			if x, err := file.Tensor(info.Name); err == nil {
				_ = x.Sum().Item()
			}
		}
		if total > len(data) {
			t.Fatalf("%d bytes of tensors in a file of %d", total, len(data))
		}
	})
}

// The two programs read each other's files.
func TestAgainstTheSafetensorsPackageOfPython(t *testing.T) {
	python := os.Getenv("LECTERN_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import safetensors.numpy").CombinedOutput(); err != nil {
		why := fmt.Sprintf("%s has no package safetensors: %v %s", python, err, out)
		if errors.Is(err, exec.ErrNotFound) {
			why = err.Error()
		}
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	dir := t.TempDir()
	ours := filepath.Join(dir, "ours.safetensors")
	want := map[string]*tensor.Tensor{"w": tensor.Of([]float64{1, 2.5}, []float64{-3, 4}), "ids": tensor.Of(1, -2, 3), "flag": tensor.Of(true, false), "half": tensor.Of(0.5).To(tensor.Float16)}
	if err := WriteFile(ours, want, map[string]string{"from": "go"}); err != nil {
		t.Fatal(err)
	}
	script := `
import sys
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open(sys.argv[1], "np") as f:
    assert f.metadata() == {"from": "go"}, f.metadata()
    tensors = {k: f.get_tensor(k) for k in f.keys()}
assert tensors["w"].tolist() == [[1, 2.5], [-3, 4]], tensors["w"]
save_file(tensors, sys.argv[2], {"from": "python"})
`
	theirs := filepath.Join(dir, "theirs.safetensors")
	if out, err := exec.Command(python, "-c", script, ours, theirs).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := Open(theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, x := range want {
		got, err := f.Tensor(name)
		if err != nil || !tensor.Equal(got, x) || got.Dtype() != x.Dtype() {
			t.Errorf("%s: got %v (%v), want %v", name, got, err, x)
		}
	}
}
