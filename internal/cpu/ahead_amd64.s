#include "textflag.h"

// func cpuid(leaf uint32, to *[12]byte)
TEXT ·cpuid(SB), NOSPLIT, $0-16
	MOVL leaf+0(FP), AX
	XORL CX, CX
	CPUID
	MOVQ to+8(FP), DI
	MOVL BX, 0(DI)
	MOVL DX, 4(DI)
	MOVL CX, 8(DI)
	RET
