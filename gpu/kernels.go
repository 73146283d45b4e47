//go:build linux && cgo

package gpu

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// The kernels are CUDA C++ without headers, one program in several files. Each is
// compiled for the device at hand when it is first launched.

//go:embed kernels/*.cu
var kernelFiles embed.FS

// operation is one that kernels of a family know by its number, for integers, for floats, or for both.
type operation struct {
	name          string // the name that package tensor uses
	floats, whole bool
}

// mapped and zipped are what map.cu has a CASE for.
var (
	mapped = casesOf("map")
	zipped = casesOf("zip")
)

// aCase is a CASE of map.cu, or the head of the function that has the following ones.
var aCase = regexp.MustCompile(`(?m)^(?:(.*) bool (map|zip)_(any|values)\(const elementwise &args, const (C|i64) |\t\tCASE\((\w+),)`)

// casesOf reads from the source which elementwise operations a family has, and for which types: to give a device
// another operation, add the CASE with its formula.
func casesOf(family string) (list []operation) {
	text, err := kernelFiles.ReadFile("kernels/map.cu")
	if err != nil {
		panic(err) // the file is part of the program
	}
	var floats, whole, ours bool
	for _, m := range aCase.FindAllStringSubmatch(string(text), -1) {
		if m[5] == "" {
			ours, floats, whole = m[2] == family, m[4] == "C", m[4] == "i64" || m[3] == "any"
			continue
		}
		if !ours {
			continue
		}
		name := strings.ReplaceAll(m[5], "_", " ")
		i := slices.IndexFunc(list, func(o operation) bool { return o.name == name })
		if i < 0 {
			i, list = len(list), append(list, operation{name: name})
		}
		list[i].floats, list[i].whole = list[i].floats || floats, list[i].whole || whole
	}
	return list
}

// number finds an operation in the list of its family, and refuses one that doesn't exist for the type.
func number(list []operation, op string, compute device.Type) (int32, error) {
	i := slices.IndexFunc(list, func(o operation) bool { return o.name == op })
	if i < 0 || compute == device.Int64 && !list[i].whole || compute != device.Int64 && !list[i].floats {
		return 0, unsupported(op, compute)
	}
	return int32(i), nil
}

func unsupported(op string, compute device.Type) error {
	return fmt.Errorf("%w: %s of %s", device.ErrUnsupported, op, namesOfTypes[compute])
}

// namesOfTypes are the names that kernels use.
var namesOfTypes = map[device.Type]string{
	device.Float32: "float32", device.Float64: "float64", device.Float16: "float16", device.BFloat16: "bfloat16", device.Float8E4M3: "e4m3", device.Float8E5M2: "e5m2",
	device.Int64: "int64", device.Int32: "int32", device.Int16: "int16", device.Int8: "int8", device.Uint8: "uint8", device.Bool: "bool",
}

// kernelParts are the files, in an order in which each needs only those before it.
var kernelParts = []string{
	"elements", "packs", "map", "move", "reduce", "rows", "random", "update", "matmul",
	"rotate", "attention", "naive", "attention_any", "decode",
	"losses", "kept", "packed",
}

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
		known  []operation
	}{{"map", mapped}, {"zip", zipped}, {"reduce", reductions}, {"rows", rowwiseOperations}, {"random", draws}} {
		for number, o := range list.known {
			fmt.Fprintf(&s, "#define %s_%s %d\n", list.prefix, strings.ReplaceAll(o.name, " ", "_"), number)
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
		{"rotating", unsafe.Sizeof(rotating{})}, {"attending", unsafe.Sizeof(attending{})}, {"attending_any", unsafe.Sizeof(attendingAny{})},
		{"decoding", unsafe.Sizeof(decoding{})},
		{"losing", unsafe.Sizeof(losing{})}, {"kept", unsafe.Sizeof(kept{})}, {"packed", unsafe.Sizeof(packed{})}, {"gates", unsafe.Sizeof(gates{})},
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
