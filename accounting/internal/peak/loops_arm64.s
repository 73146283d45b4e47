#include "textflag.h"

// Sixteen sums: fused multiply-adds take four cycles, and up to four start in
// each.

#define CLEAR(r) VEOR r.B16, r.B16, r.B16
#define CLEARALL \
	CLEAR(V0); CLEAR(V1); CLEAR(V2); CLEAR(V3); CLEAR(V4); CLEAR(V5); CLEAR(V6); CLEAR(V7); CLEAR(V8) \
	CLEAR(V9); CLEAR(V10); CLEAR(V11); CLEAR(V12); CLEAR(V13); CLEAR(V14); CLEAR(V15); CLEAR(V30); CLEAR(V31)

// func fmaNEONF32(n int)
TEXT ·fmaNEONF32(SB), NOSPLIT, $0-8
	MOVD n+0(FP), R0
	CLEARALL

loop:
#define FMA(r) VFMLA V30.S4, V31.S4, r.S4
	FMA(V0); FMA(V1); FMA(V2); FMA(V3); FMA(V4); FMA(V5); FMA(V6); FMA(V7)
	FMA(V8); FMA(V9); FMA(V10); FMA(V11); FMA(V12); FMA(V13); FMA(V14); FMA(V15)
	SUBS $1, R0
	BNE  loop
	RET

// func fmaNEONF64(n int)
TEXT ·fmaNEONF64(SB), NOSPLIT, $0-8
	MOVD n+0(FP), R0
	CLEARALL

loop:
#define FMAD(r) VFMLA V30.D2, V31.D2, r.D2
	FMAD(V0); FMAD(V1); FMAD(V2); FMAD(V3); FMAD(V4); FMAD(V5); FMAD(V6); FMAD(V7)
	FMAD(V8); FMAD(V9); FMAD(V10); FMAD(V11); FMAD(V12); FMAD(V13); FMAD(V14); FMAD(V15)
	SUBS $1, R0
	BNE  loop
	RET

// func addChain(n int)
//
// Each sum waits for the one before.
TEXT ·addChain(SB), NOSPLIT, $0-8
	MOVD n+0(FP), R0
	MOVD $3, R1
	MOVD $5, R2

loop:
	ADD  R2, R1, R1
	ADD  R2, R1, R1
	ADD  R2, R1, R1
	ADD  R2, R1, R1
	SUBS $1, R0
	BNE  loop
	RET
