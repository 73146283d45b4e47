package cpu

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Level names the instructions in which kernels are written.
type Level uint8

// The levels, from the one that runs everywhere to the fastest.
const (
	Generic Level = iota // Go, for any processor
	NEON                 // arm64
	SIMD128              // WebAssembly, in a page
	AVX2                 // amd64 with AVX2, FMA and F16C
	AVX512               // AVX2 and AVX-512 F, BW, DQ, VL
)

var levelNames = [...]string{"generic", "neon", "simd128", "avx2", "avx512"}

// String returns the name that LECTERN_CPU takes.
func (l Level) String() string { return levelNames[l] }

// Override is the environment variable that chooses a level other than the best. Any name, also that of the best level,
// leaves AMX out.
const Override = "LECTERN_CPU"

var (
	supported = detect()
	level     = choose(os.Getenv(Override))
)

// Supported returns the levels that this processor runs, the best one last.
func Supported() []Level { return slices.Clone(supported) }

// choose returns the level with a name, or the best one if no name is given. It panics if this processor does not
// have that level: whoever asks for a level by name is measuring it, and must not get another.
func choose(name string) Level {
	if name == "" {
		return supported[len(supported)-1]
	}
	for _, l := range supported {
		if strings.EqualFold(name, l.String()) {
			return l
		}
	}
	panic(fmt.Sprintf("cpu: %s=%s: this processor has only %v; unset the variable to get the best of them", Override, name, supported))
}
