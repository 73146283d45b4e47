package cpu

import "golang.org/x/sys/cpu"

// detect lists the levels of this processor. Each includes the ones before it. The flags also say what the operating
// system saves when it switches threads.
func detect() []Level {
	levels := []Level{Generic}
	x := &cpu.X86
	if !(x.HasAVX2 && x.HasFMA && x.HasF16C) {
		return levels
	}
	levels = append(levels, AVX2)
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
		levels = append(levels, AVX512)
	}
	return levels
}

// hasBFloat16Dot reports VDPBF16PS, which multiplies pairs of bfloat16.
var hasBFloat16Dot = cpu.X86.HasAVX512BF16
