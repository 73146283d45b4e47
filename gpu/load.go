//go:build linux && cgo

package gpu

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "products.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"
)

// oldestDriver is the oldest version of CUDA that a driver may have, in the driver's
// own numbers.
const oldestDriver = 11020

// system is what one process knows about CUDA. All of it is looked up at first use, so
// that a program that never asks for a device pays nothing.
type system struct {
	sync.Mutex
	asked   bool
	err     error  // why there is no device
	version int    // of the driver: 1000·major + 10·minor
	driver  string // its file
	devices int
	cards   []*card // those opened so far
	nvrtc   library
	lt      library
}

// library is opened when it is first needed.
type library struct {
	asked bool
	path  string
	err   error
}

var cuda = &system{}

// start opens the driver once and returns why that was not possible.
func (s *system) start() error {
	s.Lock()
	defer s.Unlock()
	if !s.asked {
		s.asked = true
		s.err = s.openDriver()
	}
	return s.err
}

func (s *system) openDriver() error {
	if os.Getenv("LECTERN_CUDA") == "0" {
		return &noDevice{"LECTERN_CUDA=0 switches CUDA off"}
	}
	files := driverFiles()
	handle, _, err := openFirst(files)
	if err != nil {
		if os.Getenv("LECTERN_CUDA_LIB") != "" {
			return &noDevice{fmt.Sprintf("the driver that LECTERN_CUDA_LIB names can't be opened: %v", err)}
		}
		return &noDevice{fmt.Sprintf("the NVIDIA driver was not found (%v)", err)}
	}
	if missing := C.gpu_bind_driver(handle); missing != nil {
		return &noDevice{fmt.Sprintf("the NVIDIA driver lacks %s; it is too old, CUDA %s or later is needed", C.GoString(missing), dotted(oldestDriver))}
	}
	var version, devices C.int
	if r := C.gpu_initialize(&version, &devices); r != 0 {
		hint := ""
		switch r {
		case 34:
			hint = "; what was opened is a toolkit's stand-in, not the driver: name the real one with LECTERN_CUDA_LIB"
		case 803:
			hint = "; the driver's library and its kernel module have different versions: restart the machine after an update"
		case 999:
			hint = "; often the driver's kernel module is not loaded: see what nvidia-smi says"
		}
		return &noDevice{fmt.Sprintf("the driver says %s (%d): %s%s", C.GoString(C.gpu_error_name(r)), int(r), C.GoString(C.gpu_error_string(r)), hint)}
	}
	if version < oldestDriver {
		return &noDevice{fmt.Sprintf("the NVIDIA driver is made for CUDA %s; %s or later is needed", dotted(int(version)), dotted(oldestDriver))}
	}
	if devices == 0 {
		return &noDevice{"the driver knows of none"}
	}
	s.version, s.devices, s.driver = int(version), int(devices), pathOf(handle, "cuInit")
	s.cards = make([]*card, devices)
	return nil
}

// dotted writes a version of CUDA as people do.
func dotted(version int) string { return fmt.Sprintf("%d.%d", version/1000, version%1000/10) }

// openNVRTC opens the kernel compiler.
func (s *system) openNVRTC() (path string, err error) {
	s.Lock()
	defer s.Unlock()
	l := &s.nvrtc
	if !l.asked {
		l.asked = true
		files := libraryFiles("LECTERN_NVRTC_LIB", "libnvrtc", s.version, []string{"13", "12", "11.2"}, "cuda_nvrtc")
		l.path, l.err = openLibrary(files, "nvrtcVersion", func(h unsafe.Pointer) *C.char { return C.gpu_bind_nvrtc(h) }, nil)
		if l.err != nil {
			l.err = fmt.Errorf("gpu: NVRTC, which compiles the kernels, was not found (%w); install the CUDA runtime libraries, such as "+
				"pip install nvidia-cuda-nvrtc-cu12, or name the library with LECTERN_NVRTC_LIB", l.err)
		} else {
			openBuiltins(l.path)
		}
	}
	return l.path, l.err
}

// Libraries says where the driver, NVRTC and cuBLASLt were found, or why not, with one
// line for each. It opens device 0.
func Libraries() string {
	c, err := open(0)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("driver: for CUDA %s, %s", dotted(cuda.version), cuda.driver)
	if path, err := cuda.openNVRTC(); err != nil {
		text += fmt.Sprintf("\nNVRTC: %v", err)
	} else {
		var major, minor C.int
		C.gpu_nvrtc_version(&major, &minor)
		text += fmt.Sprintf("\nNVRTC: %d.%d, %s", major, minor, path)
	}
	if err := c.openLt(); err != nil {
		return text + fmt.Sprintf("\ncuBLASLt: %v", err)
	}
	return text + fmt.Sprintf("\ncuBLASLt: %d, %s", C.gpu_lt_version(), cuda.lt.path)
}

// openBuiltins opens the library that NVRTC looks for by itself but doesn't find
// outside the loader's folders, as in a Python environment.
func openBuiltins(nvrtc string) {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(nvrtc), "libnvrtc-builtins.so.*"))
	openFirst(files) // NVRTC says what is missing if this fails
}

// openLibrary opens the first file that has all entry points and that try, if it isn't
// nil, accepts. It returns where the library is.
func openLibrary(files []string, symbol string, bind func(unsafe.Pointer) *C.char, try func() error) (string, error) {
	err := errors.New("no file of that name")
	for _, file := range files {
		handle, _, openErr := openFirst([]string{file})
		if openErr != nil {
			err = openErr
			continue
		}
		if missing := bind(handle); missing != nil {
			err = fmt.Errorf("%s lacks %s", file, C.GoString(missing))
			C.gpu_close(handle)
			continue
		}
		if try != nil {
			if err = try(); err != nil {
				C.gpu_close(handle)
				continue
			}
		}
		return pathOf(handle, symbol), nil
	}
	return "", err
}

// openFirst opens the first file that can be opened; the error is that of the first one.
func openFirst(files []string) (handle unsafe.Pointer, file string, err error) {
	const room = 1024
	why := (*C.char)(C.malloc(room))
	defer C.free(unsafe.Pointer(why))
	err = errors.New("no file of that name")
	for i, file := range files {
		path := C.CString(file)
		handle := C.gpu_open(path, why, room)
		C.free(unsafe.Pointer(path))
		if handle != nil {
			return handle, file, nil
		}
		if i == 0 {
			err = errors.New(strings.TrimSpace(C.GoString(why)))
		}
	}
	return nil, "", err
}

func pathOf(handle unsafe.Pointer, symbol string) string {
	const room = 4096
	path, name := (*C.char)(C.malloc(room)), C.CString(symbol)
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(name))
	C.gpu_path(handle, name, path, room)
	return C.GoString(path)
}
