//go:build linux && cgo

package gpu

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// registerLimits are the registers that a thread of a kernel may have at most, for as many blocks on a
// multiprocessor as the kernel was measured with, and the bytes that may have no place in them: on the architecture
// that was measured, 9.0, and on others.
var registerLimits = []struct {
	kernel             string
	oldest             int // the architecture that it is for
	registers, spilled int
	elsewhere          int
}{
	{"attend_bf16_64", 80, 255, 0, 0}, {"attend_bf16_128", 80, 255, 0, 0},
	{"attend_queries_bf16_64", 80, 168, 0, 0}, {"attend_queries_bf16_128", 80, 255, 0, 0},
	{"attend_keys_bf16_64", 80, 255, 32, 32}, {"attend_keys_bf16_128", 80, 255, 8, 8}, {"attend_keys_f16_64", 80, 255, 32, 32},
	{"attend_any_64", 75, 128, 16, 16}, {"attend_any_128", 75, 128, 112, 112}, {"attend_any_queries_64", 75, 128, 64, 144}, {"attend_any_keys_64", 75, 128, 64, 64},
	{"attend_any_queries_128", 75, 255, 16, 16}, {"attend_any_keys_128", 75, 255, 16, 16},
	{"decode_bf16_64", 75, 64, 0, 0}, {"decode_bf16_128", 75, 64, 0, 0}, {"decode_f32_128", 75, 64, 0, 0}, {"rotate_bf16", 75, 64, 0, 0},
	{"reduce_packs", 75, 64, 0, 0}, {"reduce_packs:REDUCE_TYPE=bfloat16,REDUCE_OP=reduce_max", 75, 64, 0, 0},
}

// TestRegistersOfKernels has a real NVRTC compile the kernels whose speed hangs on what they keep in registers: for
// 9.0, and with LECTERN_LONG=1 for all architectures.
func TestRegistersOfKernels(t *testing.T) {
	needNVRTC(t)
	for _, architecture := range []int{75, 80, 86, 89, 90, 100, 120} {
		if !slices.Contains(supportedArchitectures(), architecture) || architecture != 90 && os.Getenv("LECTERN_LONG") == "" {
			continue
		}
		t.Run(fmt.Sprint("sm_", architecture), func(t *testing.T) {
			for _, limit := range registerLimits {
				if architecture < limit.oldest {
					continue
				}
				image, err := compile("cuda:0", partedSource().source, target{architecture, false}, part(limit.kernel)...)
				if err != nil {
					t.Fatal(err)
				}
				entry, _, _ := strings.Cut(limit.kernel, constants)
				registers, spilled, err := registersOf(image, entry)
				t.Logf("%s: %d registers, %d bytes spilled", limit.kernel, registers, spilled)
				most := limit.elsewhere
				if architecture == 90 {
					most = limit.spilled
				}
				if err != nil || registers == 0 || registers > limit.registers || spilled > most {
					t.Errorf("%s has %d registers and spills %d bytes, want at most %d and %d; %v", limit.kernel, registers, spilled, limit.registers, most, err)
				}
			}
		})
	}
}

// registersOf reads from the code of a kernel how many registers a thread has, and how many bytes of stack.
func registersOf(image []byte, kernel string) (registers, stack int, err error) {
	image = slices.Clone(image)
	binary.LittleEndian.PutUint32(image[20:], 1) // the version, which older compilers have marked as theirs
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, 0, err
	}
	symbols, err := file.Symbols()
	if err != nil {
		return 0, 0, err
	}
	info := file.Section(".nv.info")
	if info == nil {
		return 0, 0, fmt.Errorf("the code says nothing of its kernels")
	}
	data, err := info.Data()
	const registerCount, frameSize, sized = 0x2f, 0x11, 4
	for len(data) >= 4 && err == nil {
		size := 0
		if data[0] == sized {
			size = int(binary.LittleEndian.Uint16(data[2:]))
		}
		if size == 8 {
			symbol, value := binary.LittleEndian.Uint32(data[4:]), int(binary.LittleEndian.Uint32(data[8:]))
			switch {
			case symbol == 0 || int(symbol) > len(symbols) || symbols[symbol-1].Name != kernel:
			case data[1] == registerCount:
				registers = value
			case data[1] == frameSize:
				stack = value
			}
		}
		data = data[4+size:]
	}
	return registers, stack, err
}
