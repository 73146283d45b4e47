//go:build linux && cgo

package gpu

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

// kernels are a card's kernels that have been launched, by name. Each is compiled by
// itself when it is first launched, and kept for all processes: a program waits only
// for the few that it uses.
type kernels struct {
	sync.Mutex          // owns what is compiled
	functions  sync.Map // string: *kernel
}

// kernel is a function that runs on the device.
type kernel struct {
	name     string
	function C.CUfunction
}

// function returns a kernel by name.
func (c *card) function(name string) (*kernel, error) {
	if f, ok := c.kernels.functions.Load(name); ok {
		return f.(*kernel), nil
	}
	c.kernels.Lock()
	defer c.kernels.Unlock()
	if f, ok := c.kernels.functions.Load(name); ok {
		return f.(*kernel), nil
	}
	entry, _, _ := strings.Cut(name, constants)
	if !slices.Contains(partedSource().kernels, entry) {
		return nil, fmt.Errorf("gpu: there is no kernel %q", name)
	}
	module, err := c.loadModule(name)
	if err != nil {
		return nil, err
	}
	text := C.CString(entry)
	defer C.free(unsafe.Pointer(text))
	f := &kernel{name: strings.Clone(name)}
	if err := c.check("find kernel "+name, C.gpu_function(c.c, module, text, &f.function)); err != nil {
		return nil, err
	}
	c.kernels.functions.Store(f.name, f)
	return f, nil
}

// partedSource is the source of all kernels in a form from which a single one can be
// compiled: with the options of part.
var partedSource = sync.OnceValue(func() parted { return inParts(kernelSource) })

type parted struct {
	source  string
	kernels []string
}

// inParts puts each kernel between lines that leave it out when another one is wanted. A kernel begins with
// kernelBegins, and perhaps __launch_bounds__, and ends on the same line or at the next line that is a closing
// brace. Lines keep their numbers in messages.
func inParts(source string) parted {
	var p parted
	var s strings.Builder
	number, inside := 0, false
	for line := range strings.Lines(strings.TrimSuffix(source, "\n") + "\n") {
		number++
		if strings.HasPrefix(line, "#line 1 ") {
			number = 0
		}
		if rest, ok := strings.CutPrefix(line, kernelBegins); ok {
			if bounds, after, ok := strings.Cut(rest, ") "); ok && strings.HasPrefix(bounds, "__launch_bounds__(") {
				rest = after
			}
			name, _, _ := strings.Cut(rest, "(")
			p.kernels = append(p.kernels, name)
			fmt.Fprintf(&s, "#if !defined(PART) || defined(PART_%s)\n#line %d\n", name, number)
			inside = true
		}
		s.WriteString(line)
		if end := strings.TrimSpace(line); inside && (end == "}" && line[0] == '}' || strings.HasPrefix(line, kernelBegins) && strings.HasSuffix(end, "}")) {
			fmt.Fprintf(&s, "#endif\n#line %d\n", number+1)
			inside = false
		}
	}
	p.source = s.String()
	return p
}

const kernelBegins = `extern "C" __global__ void `

// constants separates the name of a kernel from the constants that it is compiled with, as in
// "packed:OP=zip_add,OUT=type_float32": each operation and type has its own kernel, which need not look them up
// while it runs.
const constants = ":"

// part are the options for one kernel.
func part(kernel string) []string {
	entry, defines, _ := strings.Cut(kernel, constants)
	options := []string{"--define-macro=PART", "--define-macro=PART_" + entry}
	for d := range strings.SplitSeq(defines, ",") {
		if d != "" {
			options = append(options, "--define-macro="+d)
		}
	}
	return options
}

// compilerRuns counts how often kernels were compiled rather than found in the cache.
var compilerRuns atomic.Int64

// loadModule finds the code of a kernel in the user's cache or compiles it.
func (c *card) loadModule(kernel string) (module C.CUmodule, err error) {
	path, err := cuda.openNVRTC()
	if err != nil {
		return nil, err
	}
	source := partedSource().source
	target := compileTarget(c.properties.Major*10+c.properties.Minor, supportedArchitectures())
	var major, minor C.int
	C.gpu_nvrtc_version(&major, &minor)
	file := cacheFile(kernel, source, path, fmt.Sprint(major, ".", minor), strings.Join(target.options(), " "))
	if image, ok := readImage(file); ok && C.gpu_module(c.c, unsafe.Pointer(&image[0]), &module) == 0 {
		return module, nil
	}
	image, err := compile(c.name, source, target, part(kernel)...)
	if err != nil {
		return nil, err
	}
	if err := c.check("load kernel "+kernel, C.gpu_module(c.c, unsafe.Pointer(&image[0]), &module)); err != nil {
		return nil, err
	}
	writeImage(file, image) // a cache that can't be written only costs time
	return module, nil
}

// target is what kernels are compiled for: the code of one architecture, or PTX,
// which the driver compiles for its device.
type target struct {
	architecture int // such as 90
	ptx          bool
}

// compileTarget chooses the device's own architecture if the compiler knows it,
// otherwise the highest one below it, as PTX.
func compileTarget(device int, supported []int) target {
	best := 0
	for _, a := range supported {
		if a == device {
			return target{a, false}
		}
		if a < device {
			best = max(best, a)
		}
	}
	if best == 0 {
		return target{device, false} // the compiler says what is wrong
	}
	return target{best, true}
}

// options keep products and sums separate, as on a processor, so that both give the
// same numbers.
func (t target) options() []string {
	architecture := fmt.Sprintf("--gpu-architecture=sm_%d", t.architecture)
	if t.ptx {
		architecture = fmt.Sprintf("--gpu-architecture=compute_%d", t.architecture)
	}
	return []string{architecture, "--std=c++17", "--fmad=false"}
}

func supportedArchitectures() []int {
	var list [64]C.int
	n := int(C.gpu_architectures(&list[0], C.int(len(list))))
	architectures := make([]int, n)
	for i := range architectures {
		architectures[i] = int(list[i])
	}
	return architectures
}

// compile returns the code for a target; the error holds the compiler's messages.
func compile(device, source string, t target, more ...string) ([]byte, error) {
	compilerRuns.Add(1)
	text, options := C.CString(source), C.CString(strings.Join(append(t.options(), more...), "\n"))
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(options))
	var image unsafe.Pointer
	var size C.size_t
	var log *C.char
	r := C.gpu_compile(text, options, cBool(t.ptx), &image, &size, &log)
	defer C.free(image)
	defer C.free(unsafe.Pointer(log))
	if r != 0 {
		e := &Error{Device: device, Op: "compile the kernels", Library: "NVRTC", Code: int(r), Name: C.GoString(C.gpu_nvrtc_error(r)), Log: strings.TrimSpace(C.GoString(log))}
		if r == 7 {
			e.hint = "NVRTC needs libnvrtc-builtins of the same version beside it"
		}
		return nil, e
	}
	return C.GoBytes(image, C.int(size)), nil
}

// cacheFile is where the code of a kernel is kept, named after everything it depends
// on, or "" if there is no place for it.
func cacheFile(kernel string, parts ...string) string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	entry, defines, _ := strings.Cut(kernel, constants)
	for _, p := range append(parts, defines) {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return filepath.Join(folder, "lectern", "cuda", fmt.Sprintf("%s-%x.cubin", entry, h.Sum(nil)[:16]))
}

// readImage reads what writeImage wrote; ok is false for a damaged file.
func readImage(file string) (image []byte, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil || len(data) <= sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(data[sha256.Size:])
	return data[sha256.Size:], bytes.Equal(sum[:], data[:sha256.Size])
}

func writeImage(file string, image []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	sum := sha256.Sum256(image)
	return atomicfile.Write(file, func(w io.Writer) error {
		_, err := w.Write(append(sum[:], image...))
		return err
	})
}
