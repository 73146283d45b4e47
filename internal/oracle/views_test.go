package oracle_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestViews(t *testing.T) {
	oracle.Run(t, "views", oracle.Ops{"view_chain": viewChain, "view_mutate": viewChain})
}

// viewStep is one step of a chain; which fields matter depends on Op.
type viewStep struct {
	Op            string
	Dim0, Dim1    int
	Dim2          int
	Dims, Shape   []int
	Dim           *int
	Start, Length int
	Index         int
	StartDim      int `json:"start_dim"`
	EndDim        int `json:"end_dim"`
	Offset        int
	Size, Step    int
	Items         []json.RawMessage
}

func viewChain(c *oracle.Case) (any, error) {
	var args struct {
		Steps  []viewStep
		Mutate *struct {
			Fn        string
			Value     float64
			FlatIndex int `json:"flat_index"`
		}
	}
	c.DecodeArgs(&args)
	base := toTensor(c.Inputs[0])
	x := base
	for i, step := range args.Steps {
		if err := tensor.Try(func() { x = step.run(x) }); err != nil {
			return nil, oracle.At(i, err)
		}
	}
	if m := args.Mutate; m != nil {
		err := tensor.Try(func() {
			switch m.Fn {
			case "fill_":
				x.Fill(m.Value)
			case "add_":
				x.AddInPlace(m.Value)
			case "mul_":
				x.MulInPlace(m.Value)
			case "set_base":
				base.View(-1).SetAt(m.Value, m.FlatIndex)
			default:
				panic("no mutation " + m.Fn)
			}
		})
		if err != nil {
			return nil, oracle.At(len(args.Steps), err)
		}
	}
	return oracle.Check(func() error { return compareView(c, x, base, args.Mutate != nil) }), nil
}

func (s viewStep) run(x *tensor.Tensor) *tensor.Tensor {
	switch s.Op {
	case "transpose":
		return x.Transpose(s.Dim0, s.Dim1)
	case "t":
		return x.T()
	case "permute":
		return x.Permute(s.Dims...)
	case "view":
		return x.View(s.Shape...)
	case "reshape":
		return x.Reshape(s.Shape...)
	case "expand":
		return x.Expand(s.Shape...)
	case "unsqueeze":
		return x.Unsqueeze(*s.Dim)
	case "squeeze":
		if s.Dim == nil {
			return x.Squeeze()
		}
		return x.Squeeze(*s.Dim)
	case "narrow":
		return x.Narrow(*s.Dim, s.Start, s.Length)
	case "select":
		return x.Select(*s.Dim, s.Index)
	case "flatten":
		return x.Flatten(s.StartDim, s.EndDim)
	case "diagonal":
		return x.Diagonal(s.Offset, s.Dim1, s.Dim2)
	case "unfold":
		return x.Unfold(*s.Dim, s.Size, s.Step)
	case "contiguous":
		return x.Contiguous()
	case "clone":
		return x.Clone()
	case "index":
		return x.Index(indexItems(s.Items)...)
	}
	panic("no step " + s.Op)
}

// indexItems reads indices: an int, {"slice": [start, stop, step]}, null for a
// new axis or "...".
func indexItems(raw []json.RawMessage) []any {
	items := make([]any, len(raw))
	for i, text := range raw {
		var item any
		if err := json.Unmarshal(text, &item); err != nil {
			panic(err)
		}
		switch item := item.(type) {
		case nil:
			items[i] = tensor.NewAxis
		case string:
			items[i] = tensor.Ellipsis
		case float64:
			items[i] = int(item)
		case map[string]any:
			part := item["slice"].([]any)
			bound := func(k, otherwise int) int {
				if v, ok := part[k].(float64); ok {
					return int(v)
				}
				return otherwise
			}
			items[i] = tensor.Between(bound(0, 0), bound(1, math.MaxInt)).Step(bound(2, 1))
		}
	}
	return items
}

func compareView(c *oracle.Case, x, base *tensor.Tensor, mutated bool) error {
	var want struct {
		Dtype                    string
		Shape, Stride            []int
		StorageOffset            int   `json:"storage_offset"`
		IsContiguous             bool  `json:"is_contiguous"`
		SharesStorage            *bool `json:"shares_storage"`
		Ndim, Numel, ElementSize int
		StrideCheck              string `json:"stride_check"`
		BaseData                 any    `json:"base_data"`
		ElementBytes             int    `json:"element_size"`
		Data                     any
	}
	c.DecodeExpect(&want)
	got := answer(x)
	if d := oracle.Diff(got, c.Expect, c.Tol); d != "" {
		return fmt.Errorf("%s", d)
	}
	if mutated {
		if d := oracle.Diff(base.Floats(), want.BaseData, c.Tol); d != "" {
			return fmt.Errorf("base: %s", d)
		}
	}
	for i, stride := range x.Strides() {
		if want.StrideCheck == "exact" || x.Len() > 0 && x.Size(i) > 1 {
			if stride != want.Stride[i] {
				return fmt.Errorf("strides %v, want %v", x.Strides(), want.Stride)
			}
		}
	}
	shares := tensor.SameStorage(x, base)
	switch {
	case x.Len() > 0 && x.StorageOffset() != want.StorageOffset:
		return fmt.Errorf("offset %d, want %d", x.StorageOffset(), want.StorageOffset)
	case x.IsContiguous() != want.IsContiguous:
		return fmt.Errorf("contiguous is %v, want %v", x.IsContiguous(), want.IsContiguous)
	case want.SharesStorage != nil && shares != *want.SharesStorage:
		return fmt.Errorf("shares storage is %v, want %v", shares, *want.SharesStorage)
	case x.Dim() != want.Ndim || x.Len() != want.Numel || x.ElementSize() != want.ElementBytes:
		return fmt.Errorf("%d axes, %d elements of %d bytes; want %d, %d, %d", x.Dim(), x.Len(), x.ElementSize(), want.Ndim, want.Numel, want.ElementBytes)
	}
	return nil
}
