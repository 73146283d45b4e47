// Package fakecuda is a CUDA driver, an NVRTC and a cuBLASLt for tests on machines without a device.
//
// [Use] builds one shared library with g++ and points the environment to it. g++ compiles the kernels as they are,
// and they run on the processor, thread after thread; work on a stream is done only when something waits for it, and
// memory that was freed or never written holds garbage. Environment variables, which are read at each call, choose
// what goes wrong:
//
//	FAKECUDA_DEVICES=0          number of devices (1)
//	FAKECUDA_DRIVER=11000       version of the driver (12080)
//	FAKECUDA_CAPABILITY=75      compute capability (90)
//	FAKECUDA_NAME=...           name of the devices ("Fake H200")
//	FAKECUDA_MEMORY=1048576     bytes of a device (1 GiB)
//	FAKECUDA_SHARED=101376      bytes of shared memory that a block may have (232448)
//	FAKECUDA_NO_POOL=1          no stream-ordered memory
//	FAKECUDA_EAGER=1            work is done at once
//	FAKECUDA_FAULT=name:n:code  the nth call of an entry point, counted from when the variable was set, returns code;
//	                            "kernel" is the nth kernel that runs; several faults are separated by commas
//
// Codes from which a real driver can't recover, such as 700 and 719, are returned by all later calls, too.
package fakecuda

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
)

//go:embed source
var source embed.FS

// Build returns the path of the library. It is built once and kept in the user's cache folder. If there is no g++,
// the test is skipped, or fails in CI. Where package gpu has no devices, without cgo or off Linux, it is skipped.
func Build(t testing.TB) string {
	t.Helper()
	if !usable {
		t.Skip("package gpu has no devices in a build without cgo, or off Linux")
	}
	path, err := built()
	if err != nil {
		unavailable(t, err)
	}
	return path
}

// Use builds the library and sets the environment so that package gpu finds it, and nothing else, for the duration of
// the test. Meanwhile the user's cache is a different one.
func Use(t testing.TB) {
	t.Helper()
	for name, value := range Environment(t) {
		t.Setenv(name, value)
	}
}

// Environment is what Use sets, for the environment of another process.
func Environment(t testing.TB) map[string]string {
	t.Helper()
	path := Build(t)
	return map[string]string{
		"LECTERN_CUDA": "", "LECTERN_CUDA_LIB": path, "LECTERN_CUBLASLT_LIB": path, "LECTERN_NVRTC_LIB": path,
		"FAKECUDA_CACHE": filepath.Dir(path), "XDG_CACHE_HOME": filepath.Join(filepath.Dir(path), "cache"),
	}
}

// Without returns the path of a library that lacks some entry points.
func Without(t testing.TB, symbols ...string) string {
	t.Helper()
	Build(t)
	folder := t.TempDir()
	script := filepath.Join(folder, "hidden")
	if err := os.WriteFile(script, []byte("{ local: "+strings.Join(symbols, "; ")+"; };\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "libfakecuda.so")
	objects, err := objectFiles()
	if err == nil {
		err = compiler(append([]string{"-shared", "-Wl,--version-script=" + script, "-o", path, "-ldl"}, objects...)...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func unavailable(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("the fake driver can't be built: %v", err)
	}
	t.Skipf("the fake driver can't be built: %v", err)
}

var built = sync.OnceValues(func() (string, error) {
	path, err := file("libfakecuda.so")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	objects, err := objectFiles()
	if err != nil {
		return "", err
	}
	return path, whole(path, func(temporary string) error {
		return compiler(append([]string{"-shared", "-o", temporary, "-ldl"}, objects...)...)
	})
})

// objectFiles compiles the parts of the library that have not been compiled.
var objectFiles = sync.OnceValues(func() ([]string, error) {
	names := parts()
	objects := make([]string, len(names))
	failures := make([]error, len(names))
	folder, err := os.MkdirTemp("", "fakecuda-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	entries, _ := source.ReadDir("source")
	for _, e := range entries {
		text, _ := source.ReadFile("source/" + e.Name())
		if err := os.WriteFile(filepath.Join(folder, e.Name()), text, 0o644); err != nil {
			return nil, err
		}
	}
	text, _ := source.ReadFile("source/prelude.h")
	raw := "R\"prelude(" + string(text) + ")prelude\""
	if err := os.WriteFile(filepath.Join(folder, "prelude.inc"), []byte(raw), 0o644); err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for i, name := range names {
		path, err := file(strings.TrimSuffix(name, ".cc") + ".o")
		if err != nil {
			return nil, err
		}
		objects[i] = path
		if _, err := os.Stat(path); err == nil {
			continue
		}
		all.Go(func() {
			failures[i] = whole(path, func(temporary string) error {
				return compiler("-c", "-o", temporary, filepath.Join(folder, name))
			})
		})
	}
	all.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
})

func parts() []string {
	entries, _ := source.ReadDir("source")
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".cc") {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names
}

// build tells versions of the fake apart.
var build = sync.OnceValue(func() string {
	h := sha256.New()
	entries, _ := source.ReadDir("source")
	for _, e := range entries {
		text, _ := source.ReadFile("source/" + e.Name())
		fmt.Fprintf(h, "%s %d\n%s", e.Name(), len(text), text)
	}
	fmt.Fprint(h, runtime.GOARCH, os.Getenv("CXX"), flags)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
})

// folder is where the files of this version of the fake are kept. FAKECUDA_CACHE tells
// it to processes that a test starts.
var folder = sync.OnceValues(func() (string, error) {
	if named := os.Getenv("FAKECUDA_CACHE"); named != "" {
		return named, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	path := filepath.Join(cache, "lectern", "fakecuda", build())
	return path, os.MkdirAll(path, 0o755)
})

func file(name string) (string, error) {
	path, err := folder()
	return filepath.Join(path, name), err
}

// whole first makes a file under another name, so that other processes never see half of it.
func whole(path string, make func(temporary string) error) error {
	temporary := path + "." + strconv.Itoa(os.Getpid())
	defer os.Remove(temporary)
	if err := make(temporary); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

var flags = []string{"-std=c++17", "-O2", "-w", "-fPIC", "-fvisibility=hidden", "-U_FORTIFY_SOURCE"}

func compiler(arguments ...string) error {
	name := os.Getenv("CXX")
	if name == "" {
		name = "g++"
	}
	number, _ := strconv.ParseUint(build()[:5], 16, 64)
	all := append(append([]string{}, flags...), "-DFAKECUDA_BUILD="+strconv.FormatUint(number, 10))
	output, err := exec.Command(name, append(all, arguments...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, output)
	}
	return nil
}
