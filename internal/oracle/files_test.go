package oracle_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestNpyFiles(t *testing.T) {
	oracle.RunPart(t, "files", "npy.", oracle.Ops{"npy.read": npyRead, "npy.write": npyWrite})
}

// fileArg reads the argument "file_b64".
func fileArg(c *oracle.Case) ([]byte, error) {
	var args struct {
		File string `json:"file_b64"`
	}
	c.DecodeArgs(&args)
	return base64.StdEncoding.DecodeString(args.File)
}

func npyRead(c *oracle.Case) (any, error) {
	file, err := fileArg(c)
	if err != nil {
		return nil, err
	}
	x, err := data.ReadNpy(bytes.NewReader(file))
	if c.Optional != "" {
		// Unsigned numbers of 16 and 32 bits are read as wider signed ones.
		h, err := data.ReadNpyHeader(bytes.NewReader(file))
		if err != nil {
			return nil, fmt.Errorf("%v: %w", err, oracle.ErrNotOffered)
		}
		if strings.HasPrefix(h.Descr[1:], "u") && h.Dtype != tensor.Uint8 {
			return nil, oracle.ErrNotOffered
		}
	}
	if err != nil {
		return nil, err
	}
	return answer(x), nil
}

// npyWrite: our files are NumPy's, byte for byte.
func npyWrite(c *oracle.Case) (any, error) {
	c.DecodeArgs(&struct{}{})
	var b bytes.Buffer
	if err := data.WriteNpy(&b, toTensor(c.Inputs[0])); err != nil {
		return nil, err
	}
	return map[string]any{"file_b64": base64.StdEncoding.EncodeToString(b.Bytes())}, nil
}
