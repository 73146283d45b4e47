//go:build linux && cgo

package gpu

import (
	"embed"
	"fmt"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// The kernels are CUDA C++ without headers, one program of several files. They
// are compiled for the device at hand when the first of them is launched.

//go:embed kernels/*.cu
var kernelFiles embed.FS

// Names of operations, as package tensor has them. A kernel knows an operation by
// its place in the list; the source is given the same numbers.
var (
	mapNames = []string{"copy", "neg", "abs", "sign", "square", "reciprocal", "sqrt", "log", "exp", "expm1", "log1p", "log2", "rsqrt", "sin", "cos", "erf",
		"tanh", "sigmoid", "relu", "silu", "softplus", "gelu", "gelu tanh", "floor", "ceil", "round", "trunc", "isnan", "isinf", "isfinite", "logical not", "not", "clamp", "saturate"}
	zipNames = []string{"add", "sub", "mul", "div", "pow", "relu gradient", "eq", "ne", "lt", "le", "gt", "ge", "logical and", "logical or", "logical xor",
		"and", "or", "xor", "floor divide", "truncating divide", "remainder", "fmod", "maximum", "minimum", "masked fill"}
)

// namesOfTypes are those that kernels use.
var namesOfTypes = map[device.Type]string{
	device.Float32: "float32", device.Float64: "float64", device.Float16: "float16", device.BFloat16: "bfloat16", device.Float8E4M3: "e4m3", device.Float8E5M2: "e5m2",
	device.Int64: "int64", device.Int32: "int32", device.Int16: "int16", device.Int8: "int8", device.Uint8: "uint8", device.Bool: "bool",
}

// kernelParts are the files, in an order in which each needs only those before.
var kernelParts = []string{"elements", "map", "move", "reduce", "rows", "random", "update", "matmul"}

// kernelSource is the CUDA C++ of all kernels.
var kernelSource = makeSource()

// makeSource puts the numbers before the files, and the sizes of the structs that
// Go and C++ both declare, which the source compares with its own.
func makeSource() string {
	var s strings.Builder
	fmt.Fprintf(&s, "#define MAX_AXES %d\n", maxAxes)
	for t := device.Float32; t <= device.Bool; t++ {
		fmt.Fprintf(&s, "#define type_%s %d\n", namesOfTypes[t], t)
	}
	for _, list := range []struct {
		prefix string
		names  []string
	}{{"map", mapNames}, {"zip", zipNames}, {"reduce", reduceNames}, {"rows", rowsNames}, {"random", randomNames}} {
		for number, name := range list.names {
			fmt.Fprintf(&s, "#define %s_%s %d\n", list.prefix, strings.ReplaceAll(name, " ", "_"), number)
		}
	}
	updateDefines(&s)
	for _, arguments := range []struct {
		name string
		size uintptr
	}{
		{"elementwise", unsafe.Sizeof(elementwise{})}, {"words", unsafe.Sizeof(words{})}, {"transposed", unsafe.Sizeof(transposed{})},
		{"gathered", unsafe.Sizeof(gathered{})}, {"scattered", unsafe.Sizeof(scattered{})}, {"reduction", unsafe.Sizeof(reduction{})},
		{"pairs", unsafe.Sizeof(pairs{})}, {"rowwise", unsafe.Sizeof(rowwise{})}, {"triangular", unsafe.Sizeof(triangular{})},
		{"sorting", unsafe.Sizeof(sorting{})}, {"drawing", unsafe.Sizeof(drawing{})}, {"update", unsafe.Sizeof(update{})}, {"product", unsafe.Sizeof(product{})},
	} {
		fmt.Fprintf(&s, "#define SIZE_%s %d\n", arguments.name, arguments.size)
	}
	for _, part := range kernelParts {
		text, err := kernelFiles.ReadFile("kernels/" + part + ".cu")
		if err != nil {
			panic(err) // the file is part of the program
		}
		fmt.Fprintf(&s, "#line 1 \"%s.cu\"\n%s", part, text)
	}
	return s.String()
}
