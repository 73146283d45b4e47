//go:build linux && cgo

package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/fakecuda"
	"github.com/lectern-go/lectern/tensor"
)

func TestWhyThereIsNoDevice(t *testing.T) {
	for _, row := range []struct {
		name     string
		settings []string
		said     []string
	}{
		{"switched off", []string{"LECTERN_CUDA=0"}, []string{"no CUDA device: ", "LECTERN_CUDA=0"}},
		{"wrong file", []string{"LECTERN_CUDA_LIB=/nowhere/libcuda.so.1"}, []string{"LECTERN_CUDA_LIB", "/nowhere/libcuda.so.1", "No such file"}},
		{"no card", []string{"FAKECUDA_DEVICES=0"}, []string{"CUDA_ERROR_NO_DEVICE (100)", "no CUDA-capable device"}},
		{"toolkit's stand-in", []string{"FAKECUDA_FAULT=cuInit:1:34"}, []string{"STUB_LIBRARY", "LECTERN_CUDA_LIB"}},
		{"driver half updated", []string{"FAKECUDA_FAULT=cuInit:1:803"}, []string{"DRIVER_MISMATCH", "restart the machine"}},
		{"no module", []string{"FAKECUDA_FAULT=cuInit:1:999"}, []string{"nvidia-smi"}},
		{"old driver", []string{"FAKECUDA_DRIVER=11010"}, []string{"made for CUDA 11.1", "11.2 or later"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			useFake(t, row.settings...)
			err := Why()
			if !errors.Is(err, ErrNoDevice) {
				t.Errorf("%v is no ErrNoDevice", err)
			}
			wantError(t, err, row.said...)
			if Available() || DeviceCount() != 0 || !GetDevice(0).IsCPU() {
				t.Error("a device that isn't there is available")
			}
			if _, err := tensor.FindDevice("cuda:0"); !errors.Is(err, ErrNoDevice) {
				t.Errorf("tensor.FindDevice: %v", err)
			}
			if MemoryAllocated(0) != 0 || MemoryReserved(0) != 0 || MaxMemoryAllocated(0) != 0 {
				t.Error("no device has memory")
			}
			ResetMaxMemoryAllocated(0)
			_, _, memory := MemoryInfo(0)
			_, properties := Properties(0)
			_, event := NewEvent(0)
			for _, err := range []error{memory, properties, event, Synchronize(0), EmptyCache(0)} {
				if !errors.Is(err, ErrNoDevice) {
					t.Errorf("%v is no ErrNoDevice", err)
				}
			}
		})
	}
}

func TestDriverWithoutAnEntryPoint(t *testing.T) {
	useFake(t)
	t.Setenv("LECTERN_CUDA_LIB", fakecuda.Without(t, "cuMemAlloc_v2"))
	forget()
	wantError(t, Why(), "no CUDA device: ", "lacks cuMemAlloc_v2", "too old")
}

// What newer drivers have is not needed.
func TestDriverWithoutNewerEntryPoints(t *testing.T) {
	useFake(t)
	t.Setenv("LECTERN_CUDA_LIB", fakecuda.Without(t, "cuMemAllocAsync", "cuMemFreeAsync", "cuDeviceGetDefaultMemPool"))
	forget()
	c, err := open(0)
	mustNot(t, err)
	if c.heap.pooled {
		t.Error("the driver has no pool")
	}
	roundTrip(t, c, 1000)
}

func TestProperties(t *testing.T) {
	useFake(t, "FAKECUDA_CAPABILITY=86", "FAKECUDA_NAME=NVIDIA RTX 3090", "FAKECUDA_DEVICES=2", "FAKECUDA_DRIVER=13000")
	if !Available() || DeviceCount() != 2 {
		t.Fatal(Why(), DeviceCount())
	}
	p, err := Properties(1)
	mustNot(t, err)
	if p.Name != "NVIDIA RTX 3090" || p.Major != 8 || p.Minor != 6 || p.TotalMemory != 1<<30 || p.Multiprocessors != 132 || p.DriverMajor != 13 {
		t.Errorf("%+v", p)
	}
	if want := "NVIDIA RTX 3090: compute capability 8.6, 132 multiprocessors, 1 GiB of memory, driver for CUDA 13.0"; p.String() != want {
		t.Errorf("%s\nwant %s", p, want)
	}
	if d := GetDevice(1); d.String() != "cuda:1" || d.Model() != "NVIDIA RTX 3090" {
		t.Error(d)
	}
	if d := GetDevice(2); !d.IsCPU() {
		t.Error(d)
	}
	_, err = Properties(2)
	wantError(t, err, "no CUDA device: ", "there is no cuda:2", "cuda:0 to cuda:1")
}

func TestOneDeviceIsOpenedOnce(t *testing.T) {
	a := fakeCard(t)
	b, err := open(0)
	if a != b || err != nil {
		t.Error(a, b, err)
	}
}

func TestMissingNVRTC(t *testing.T) {
	c := fakeCard(t, "LECTERN_NVRTC_LIB=/nowhere/libnvrtc.so.12")
	_, err := c.function("map_f32")
	wantError(t, err, "NVRTC", "/nowhere/libnvrtc.so.12", "pip install nvidia-cuda-nvrtc-cu12", "LECTERN_NVRTC_LIB")
	roundTrip(t, c, 10) // copies need no kernels
}

// TestLibraryFiles checks the order in which places are searched.
func TestLibraryFiles(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"CUDA_PATH", "CONDA_PREFIX", "LECTERN_PYTHON", "LECTERN_NVRTC_LIB"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", root)
	t.Setenv("PATH", root)
	t.Setenv("CUDA_HOME", filepath.Join(root, "cuda"))
	t.Setenv("VIRTUAL_ENV", filepath.Join(root, "venv"))
	toolkit := filepath.Join(root, "cuda", "lib64", "libnvrtc.so.12")
	wheel12 := filepath.Join(root, "venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
	wheel13 := filepath.Join(root, "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13")
	for _, file := range []string{toolkit, wheel12, wheel13} {
		mustNot(t, os.MkdirAll(filepath.Dir(file), 0o755))
		mustNot(t, os.WriteFile(file, nil, 0o644))
	}
	ours := func(driver int) []string {
		files := libraryFiles("LECTERN_NVRTC_LIB", "libnvrtc", driver, []string{"13", "12", "11.2"}, "cuda_nvrtc")
		return slices.DeleteFunc(files, func(f string) bool {
			return filepath.IsAbs(f) && !slices.Contains([]string{toolkit, wheel12, wheel13}, f)
		})
	}
	if got, want := ours(13000), []string{"libnvrtc.so.13", wheel13, "libnvrtc.so.12", toolkit, wheel12, "libnvrtc.so.11.2"}; !slices.Equal(got, want) {
		t.Errorf("driver 13.0: %q\nwant %q", got, want)
	}
	if got, want := ours(12080), []string{"libnvrtc.so.12", toolkit, wheel12, "libnvrtc.so.11.2"}; !slices.Equal(got, want) {
		t.Errorf("driver 12.8: %q\nwant %q", got, want)
	}
	t.Setenv("LECTERN_NVRTC_LIB", "/mine.so")
	if got := ours(12080); len(got) != 0 {
		t.Errorf("a named file is the only one: %q", got)
	}
}

func TestLibraries(t *testing.T) {
	useFake(t)
	file := os.Getenv("LECTERN_CUDA_LIB")
	want := "driver: for CUDA 12.8, " + file + "\nNVRTC: 12."
	if got := Libraries(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\ncuBLASLt: 120804, "+file) {
		t.Error(got)
	}
	useFake(t, "LECTERN_CUBLASLT_LIB=/nowhere/libcublasLt.so.12")
	if got := Libraries(); !strings.Contains(got, "\ncuBLASLt: gpu: cuBLASLt was not found (/nowhere/libcublasLt.so.12") {
		t.Error(got)
	}
	useFake(t, "LECTERN_CUDA=0")
	if got := Libraries(); got != Why().Error() {
		t.Error(got)
	}
}
