package oracle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestStoredTensors(t *testing.T) {
	dir := t.TempDir()
	oracle.RunPart(t, "files", "safetensors.", oracle.Ops{"safetensors.read": safetensorsRead})
	oracle.RunPart(t, "files", "bin.", oracle.Ops{"bin.read": func(c *oracle.Case) (any, error) { return binRead(c, dir) }})
	oracle.RunPart(t, "files", "get_batch", oracle.Ops{"get_batch": getBatch})
	oracle.RunPart(t, "files", "torch_pt.", oracle.Ops{"torch_pt.read": func(*oracle.Case) (any, error) { return nil, oracle.ErrNotOffered }})
}

func safetensorsRead(c *oracle.Case) (any, error) {
	file, err := fileArg(c)
	if err != nil {
		return nil, err
	}
	f, err := checkpoint.Parse(file)
	if err != nil {
		return nil, err
	}
	tensors := map[string]any{}
	for _, info := range f.Tensors() {
		x, err := f.Tensor(info.Name)
		if err != nil {
			return nil, err
		}
		tensors[info.Name] = map[string]any{"dtype": info.Dtype, "shape": info.Shape, "data": values(x)}
	}
	metadata := f.Metadata()
	if metadata == nil {
		metadata = map[string]string{}
	}
	return map[string]any{"tensors": tensors, "metadata": metadata}, nil
}

// values returns the elements: int64 without rounding, and float32 as the
// shortest decimals that mean them, which is how the cases write them.
func values(x *tensor.Tensor) any {
	if !x.Dtype().IsFloat() {
		return x.Ints()
	}
	all := x.Floats()
	if x.Dtype() == tensor.Float32 {
		for i, v := range all {
			all[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64)
		}
	}
	return all
}

func binRead(c *oracle.Case, dir string) (any, error) {
	var args struct {
		File  []byte `json:"file_b64"`
		Dtype string
	}
	c.DecodeArgs(&args)
	path := filepath.Join(dir, "ids.bin")
	if err := os.WriteFile(path, args.File, 0o666); err != nil {
		return nil, err
	}
	for _, format := range []data.Format{data.Int32, data.Uint16, data.Uint32, data.Int64, data.Uint8} {
		if format.String() != args.Dtype {
			continue
		}
		tokens, err := data.OpenTokens(path, format)
		if err != nil {
			return nil, err
		}
		defer tokens.Close()
		x, err := tokens.Batch([]int{0}, tokens.Len())
		if err != nil {
			return nil, err
		}
		return map[string]any{"dtype": tokens.Format().String(), "shape": []int{tokens.Len()}, "data": x.Ints()}, nil
	}
	d, err := dtypeOf(args.Dtype)
	if err != nil {
		return nil, fmt.Errorf("no format %q of ids, nor: %w", args.Dtype, err)
	}
	x, err := data.LoadRaw(path, d)
	if err != nil {
		return nil, err
	}
	return answer(x), nil
}

func getBatch(c *oracle.Case) (any, error) {
	var args struct {
		Starts []int
		Length int `json:"sequence_length"`
	}
	c.DecodeArgs(&args)
	ids := make([]int32, len(c.Inputs[0].Data))
	for i, id := range c.Inputs[0].Data {
		ids[i] = int32(id)
	}
	x, err := data.TokensOf(ids).Batch(args.Starts, args.Length)
	if err != nil {
		return nil, err
	}
	return answer(x), nil
}
