//go:build linux && cgo

package gpu

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestCompileTarget(t *testing.T) {
	nvrtc12, nvrtc13 := []int{50, 60, 70, 75, 80, 86, 89, 90, 100, 120}, []int{75, 80, 86, 89, 90, 100, 120}
	for _, row := range []struct {
		device    int
		supported []int
		want      []string
	}{
		{90, nvrtc12, []string{"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false"}},
		{87, nvrtc12, []string{"--gpu-architecture=compute_86", "--std=c++17", "--fmad=false"}}, // the driver compiles the rest
		{130, nvrtc13, []string{"--gpu-architecture=compute_120", "--std=c++17", "--fmad=false"}},
		{70, nvrtc13, []string{"--gpu-architecture=sm_70", "--std=c++17", "--fmad=false"}}, // NVRTC says that it can't
		{90, nil, []string{"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false"}},
	} {
		if got := compileTarget(row.device, row.supported).options(); !slices.Equal(got, row.want) {
			t.Errorf("%d of %v: %q, want %q", row.device, row.supported, got, row.want)
		}
	}
}

func TestCompilerSaysWhatIsWrong(t *testing.T) {
	useFake(t)
	_, err := open(0)
	mustNot(t, err)
	_, err = cuda.openNVRTC()
	mustNot(t, err)
	_, err = compile("cuda:0", "extern \"C\" __global__ void broken(int x) { undeclared = x; }", target{90, false})
	wantError(t, err, "gpu: compile the kernels on cuda:0", "NVRTC 6", "undeclared")
	var e *Error
	if !errors.As(err, &e) || e.Log == "" {
		t.Errorf("%+v", e)
	}
}

// Kernels are compiled once for all processes, and again if what was kept is
// damaged.
func TestCompiledKernelsAreKept(t *testing.T) {
	c := fakeCard(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	load := func() (compiled int64) {
		t.Helper()
		before := compilerRuns.Load()
		_, err := c.loadModule("map_f32")
		mustNot(t, err)
		return compilerRuns.Load() - before
	}
	if n := load(); n != 1 {
		t.Errorf("compiled %d times at first", n)
	}
	if n := load(); n != 0 {
		t.Errorf("compiled %d times when kept", n)
	}
	folder, err := os.UserCacheDir()
	mustNot(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "lectern", "cuda", "*"))
	if len(files) != 1 || err != nil {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	mustNot(t, err)
	for name, damaged := range map[string][]byte{"half": whole[:len(whole)/2], "empty": nil, "changed": append(slices.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1)} {
		mustNot(t, os.WriteFile(files[0], damaged, 0o644))
		if n := load(); n != 1 {
			t.Errorf("%s: compiled %d times", name, n)
		}
		if again, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("%s: not mended: %v", name, err)
		}
	}
	t.Setenv("FAKECUDA_FAULT", "cuModuleLoadData:1:209") // made for another device, though the key is the same
	if n := load(); n != 1 {
		t.Errorf("not loadable: compiled %d times", n)
	}
	t.Setenv("FAKECUDA_FAULT", "")
	t.Setenv("XDG_CACHE_HOME", "/dev/null") // no place to keep anything
	if n := load(); n != 1 {
		t.Errorf("without a cache: compiled %d times", n)
	}
}

// A kernel is compiled without the others, and messages name the lines of the
// files.
func TestPartsOfTheSource(t *testing.T) {
	p := inParts(`#define ONE 1
#line 1 "first.cu"
struct s { int x; };
extern "C" __global__ void short_one(s a) { f<int>(a); }
extern "C" __global__ void long_one(s a) {
	if (a.x) {
	}
}
int after;
#line 1 "second.cu"
extern "C" __global__ void __launch_bounds__(128, 2) last(s a) { g(a); }
`)
	want := `#define ONE 1
#line 1 "first.cu"
struct s { int x; };
#if !defined(PART) || defined(PART_short_one)
#line 2
extern "C" __global__ void short_one(s a) { f<int>(a); }
#endif
#line 3
#if !defined(PART) || defined(PART_long_one)
#line 3
extern "C" __global__ void long_one(s a) {
	if (a.x) {
	}
}
#endif
#line 7
int after;
#line 1 "second.cu"
#if !defined(PART) || defined(PART_last)
#line 1
extern "C" __global__ void __launch_bounds__(128, 2) last(s a) { g(a); }
#endif
#line 2
`
	if p.source != want {
		t.Errorf("got\n%s\nwant\n%s", p.source, want)
	}
	if want := []string{"short_one", "long_one", "last"}; !slices.Equal(p.kernels, want) {
		t.Errorf("%q, want %q", p.kernels, want)
	}
}

// Every kernel of the program is one that can be asked for, and whole.
func TestAllKernelsAreParts(t *testing.T) {
	p := partedSource()
	all := regexp.MustCompile(`__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)`).FindAllStringSubmatch(kernelSource, -1)
	var names []string
	for _, m := range all {
		names = append(names, m[1])
	}
	if !slices.Equal(names, p.kernels) {
		t.Errorf("the source has %q, its parts are %q", names, p.kernels)
	}
	if begin, end := strings.Count(p.source, "#if !defined(PART) ||"), strings.Count(p.source, "\n#endif\n#line "); begin != len(names) || end != len(names) {
		t.Errorf("%d begin and %d end, for %d kernels", begin, end, len(names))
	}
}
