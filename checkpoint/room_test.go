package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// TestClaimsOfSmallFiles: a header that claims more than the file holds is refused
// before memory is taken.
func TestClaimsOfSmallFiles(t *testing.T) {
	file := func(length uint64, header string) []byte {
		data := binary.LittleEndian.AppendUint64(nil, length)
		return append(append(data, header...), 1, 2, 3, 4)
	}
	headers := map[string][]byte{"length": file(1<<40, "{}"), "longest length": file(1<<64-1, "{}"), "allowed length": file(maxHeader, "{}")}
	for _, dtype := range []string{"F32", "U16", "U64", "F4", "BF16"} {
		for name, entry := range map[string]string{
			"shape":          `{"x":{"dtype":"%s","shape":[35184372088832],"data_offsets":[0,4]}}`,
			"offsets":        `{"x":{"dtype":"%s","shape":[35184372088832],"data_offsets":[0,140737488355328]}}`,
			"both":           `{"x":{"dtype":"%s","shape":[70368744177664],"data_offsets":[0,140737488355328]}}`,
			"overflow":       `{"x":{"dtype":"%s","shape":[4294967296,4294967296],"data_offsets":[0,4]}}`,
			"largest offset": `{"x":{"dtype":"%s","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615]}}`,
		} {
			text := fmt.Sprintf(entry, dtype)
			headers[name+" of "+dtype] = file(uint64(len(text)), text)
		}
	}
	for name, data := range headers {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Parse(data)
		if err == nil {
			_, err = f.All()
		}
		runtime.ReadMemStats(&after)
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: %v, want a FormatError", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d MiB were taken before %v", name, used>>20, err)
		}
	}
	// Nothing has room for any shape that has a 0; what can't be a tensor's is an error, not a panic.
	for _, dtype := range []string{"F32", "U16", "U32", "U64"} {
		for _, shape := range []string{"[0,4611686018427387904,4611686018427387904]", "[4611686018427387904,4611686018427387904,0]", "[9223372036854775807,0]"} {
			text := fmt.Sprintf(`{"x":{"dtype":%q,"shape":%s,"data_offsets":[0,0]}}`, dtype, shape)
			data := file(uint64(len(text)), text)
			f, err := Parse(data[:len(data)-4])
			if err == nil {
				x, loadErr := f.Tensor("x")
				if err = loadErr; err == nil && x.Len() != 0 {
					t.Errorf("%s %s has %d elements", dtype, shape, x.Len())
				}
			}
			var format *FormatError
			if err != nil && !errors.As(err, &format) {
				t.Errorf("%s %s: %v", dtype, shape, err)
			}
		}
	}
}
