package oracle_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestDtypes(t *testing.T) {
	oracle.Run(t, "dtypes", oracle.Ops{
		"finfo":                finfo,
		"iinfo":                iinfo,
		"cast_bits":            castBits,
		"fp8_decode_all":       decodeFloat8,
		"decode_all_checksum":  decodeChecksum,
		"cast":                 cast,
		"cast_double_rounding": castDoubleRounding,
		"tensor_literal":       literal,
		"promote_types":        promoteTypes,
		"lowprec_add":          lowPrecision((*tensor.Tensor).Add),
		"lowprec_sub":          lowPrecision((*tensor.Tensor).Sub),
		"lowprec_mul":          lowPrecision((*tensor.Tensor).Mul),
		"lowprec_div":          lowPrecision((*tensor.Tensor).Div),
	})
}

// dtypeArg reads the argument "dtype".
func dtypeArg(c *oracle.Case) (tensor.Dtype, error) {
	var args struct{ Dtype string }
	c.DecodeArgs(&args)
	return dtypeOf(args.Dtype)
}

func finfo(c *oracle.Case) (any, error) {
	d, err := dtypeArg(c)
	if err != nil {
		return nil, err
	}
	return try(func() any {
		f := tensor.Finfo(d)
		return map[string]any{"bits": f.Bits, "eps": f.Eps, "max": f.Max, "min": f.Min, "tiny": f.Tiny, "smallest_normal": f.Tiny,
			"smallest_subnormal": f.SmallestSubnormal, "resolution": f.Resolution}
	})
}

func iinfo(c *oracle.Case) (any, error) {
	d, err := dtypeArg(c)
	if err != nil {
		return nil, err
	}
	return try(func() any {
		i := tensor.Iinfo(d)
		return map[string]any{"bits": i.Bits, "min": strconv.FormatInt(i.Min, 10), "max": strconv.FormatInt(i.Max, 10)}
	})
}

func castBits(c *oracle.Case) (any, error) {
	var args struct {
		From, To, Rounding string
		InHex              []string `json:"in_hex"`
		Saturate           bool
	}
	c.DecodeArgs(&args)
	from, err := dtypeOf(args.From)
	if err != nil {
		return nil, err
	}
	to, err := dtypeOf(args.To)
	if err != nil {
		return nil, err
	}
	// Both ways of converting must agree: the scalar one, and that of slices.
	values := make([]float64, len(args.InHex))
	codes := make([]uint64, len(args.InHex))
	for i, text := range args.InHex {
		code, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return nil, err
		}
		values[i] = from.Decode(code).Value
		codes[i] = to.Encode(values[i])
		if args.Saturate {
			codes[i] = to.EncodeSaturating(values[i])
		}
	}
	x := tensor.With(tensor.Float64).Of(values).To(from)
	if args.Saturate {
		x = x.ToSaturating(to)
	} else {
		x = x.To(to)
	}
	var want struct {
		OutHex []string `json:"out_hex"`
	}
	c.DecodeExpect(&want)
	return oracle.Check(func() error {
		if len(want.OutHex) != len(codes) {
			return fmt.Errorf("%d codes, want %d", len(codes), len(want.OutHex))
		}
		decoded := x.Floats()
		for i, text := range want.OutHex {
			code, err := strconv.ParseUint(text, 16, 64)
			if err != nil {
				return err
			}
			e := to.Decode(code).Value
			if math.IsNaN(e) {
				if got := to.Decode(codes[i]).Value; !math.IsNaN(got) || !math.IsNaN(decoded[i]) {
					return fmt.Errorf("%s becomes %g and %g, want NaN", args.InHex[i], got, decoded[i])
				}
				continue
			}
			if codes[i] != code || math.Float64bits(decoded[i]) != math.Float64bits(e) {
				return fmt.Errorf("%s (%g) becomes %#x, and %g in a tensor; want %#x, %g", args.InHex[i], values[i], codes[i], decoded[i], code, e)
			}
		}
		return nil
	}), nil
}

func decodeFloat8(c *oracle.Case) (any, error) {
	d, err := dtypeArg(c)
	if err != nil {
		return nil, err
	}
	values := make([]float64, 256)
	for code := range values {
		values[code] = d.Decode(uint64(code)).Value
	}
	return map[string]any{"values_by_code": values}, nil
}

func decodeChecksum(c *oracle.Case) (any, error) {
	var args struct {
		Dtype        string
		NanCanonical string `json:"nan_canonical"`
	}
	c.DecodeArgs(&args)
	d, err := dtypeOf(args.Dtype)
	if err != nil {
		return nil, err
	}
	codes := tensor.With(d).Empty(1 << 16)
	for i := range tensor.Data[uint16](codes) {
		tensor.Data[uint16](codes)[i] = uint16(i)
	}
	values := tensor.Data[float32](codes.To(tensor.Float32))
	hash := sha256.New()
	for _, v := range values {
		bits := math.Float32bits(v)
		if v != v {
			bits = 0x7fc00000
		}
		hash.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
	}
	var want struct{ Samples [][2]any }
	c.DecodeExpect(&want)
	samples := [][]any{}
	for _, s := range want.Samples {
		code := int(s[0].(float64))
		samples = append(samples, []any{code, values[code]})
	}
	return map[string]any{"sha256_le_float32": fmt.Sprintf("%x", hash.Sum(nil)), "samples": samples}, nil
}

func cast(c *oracle.Case) (any, error) {
	var args struct{ To string }
	c.DecodeArgs(&args)
	to, err := dtypeOf(args.To)
	if err != nil {
		return nil, err
	}
	return try(func() any { return answer(toTensor(c.Inputs[0]).To(to)) })
}

// castDoubleRounding: conversions to small floats go through float32, as
// PyTorch's do.
func castDoubleRounding(c *oracle.Case) (any, error) {
	got, err := cast(c)
	if err != nil {
		return nil, err
	}
	var want struct {
		ViaFloat32 map[string]any `json:"via_float32"`
		Direct     map[string]any
	}
	c.DecodeExpect(&want)
	return oracle.Check(func() error {
		if d := oracle.Diff(got, want.ViaFloat32, c.Tol); d != "" {
			return errors.New(d)
		}
		return nil
	}), nil
}

func literal(c *oracle.Case) (any, error) {
	var args struct {
		Values []float64
		Dtype  string
	}
	c.DecodeArgs(&args)
	d, err := dtypeOf(args.Dtype)
	if err != nil {
		return nil, err
	}
	return try(func() any { return answer(tensor.With(d).Of(args.Values)) })
}

func promoteTypes(c *oracle.Case) (any, error) {
	table := map[string]string{}
	for _, a := range tensor.Dtypes() {
		for _, b := range tensor.Dtypes() {
			if d, ok := tensor.Promote(a, b); ok {
				table[a.String()+","+b.String()] = d.String()
			}
		}
	}
	return map[string]any{"table": table}, nil
}

func lowPrecision(f func(x *tensor.Tensor, other any) *tensor.Tensor) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		return try(func() any { return answer(f(toTensor(c.Inputs[0]), toTensor(c.Inputs[1]))) })
	}
}
