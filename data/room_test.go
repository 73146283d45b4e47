package data

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// npyClaiming is a file of a few bytes whose header claims a shape.
func npyClaiming(descr, shape string) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	return append([]byte(npyMagic+"\x01\x00"+string([]byte{byte(len(header)), byte(len(header) >> 8)})+header), 1, 2, 3, 4)
}

// TestClaimsOfSmallFiles: what a header claims is no reason to take memory.
func TestClaimsOfSmallFiles(t *testing.T) {
	refused := func(name string, err error, before runtime.MemStats) {
		t.Helper()
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		var npy *NpyError
		if !errors.As(err, &npy) {
			t.Errorf("%s: %v, want an NpyError", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
			t.Errorf("%s: %d MiB were taken before %v", name, used>>20, err)
		}
	}
	var before runtime.MemStats
	for _, shape := range []string{"(2,)", "(1099511627776,)", "(35184372088832,)", "(281474976710656,)", "(4294967296, 4294967296)", "(18446744073709551615,)", "(1048576, 1048576, 16)", "(3, 9223372036854775807)"} {
		for _, descr := range []string{"<f4", "<f8", "|u1", "<u2", "<u4", "|b1"} {
			if shape == "(2,)" && (descr == "|u1" || descr == "<u2" || descr == "|b1") {
				continue // four bytes are enough
			}
			runtime.ReadMemStats(&before)
			_, err := ReadNpy(bytes.NewReader(npyClaiming(descr, shape)))
			refused(descr+" "+shape, err, before)
		}
	}
	for _, shape := range []string{"(0, 9223372036854775807)", "(9223372036854775807, 0, 9223372036854775807)"} {
		if x, err := ReadNpy(bytes.NewReader(npyClaiming("<f4", shape))); err == nil && x.Len() != 0 {
			t.Errorf("%s has %d elements", shape, x.Len())
		}
	}

	archive := func(claimed uint64, shape string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.CreateRaw(&zip.FileHeader{Name: "x.npy", Method: zip.Store, UncompressedSize64: claimed, CompressedSize64: uint64(len(npyClaiming("<f4", shape)))})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(npyClaiming("<f4", shape))
		z.Close()
		return b.Bytes()
	}
	for _, claimed := range []uint64{100, 1 << 47, 1 << 62, 1<<64 - 1} {
		file := archive(claimed, "(35184372088832,)")
		runtime.ReadMemStats(&before)
		_, err := ReadNpz(bytes.NewReader(file), int64(len(file)))
		refused(fmt.Sprint("archive of ", claimed), err, before)
		if err != nil && !strings.HasPrefix(err.Error(), "data: ") {
			t.Errorf("the error does not name its package: %v", err)
		}
	}
}
