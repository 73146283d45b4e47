#include "textflag.h"

// Each loop keeps twelve sums in registers: fused multiply-adds take four cycles
// and two start in each, so eight would do. Nothing is read from memory.

// func fmaAVX2F32(n int)
TEXT ·fmaAVX2F32(SB), NOSPLIT, $0-8
	MOVQ   n+0(FP), CX
	VXORPS Y12, Y12, Y12
	VXORPS Y13, Y13, Y13
#define ZERO(r) VXORPS r, r, r
	ZERO(Y0); ZERO(Y1); ZERO(Y2); ZERO(Y3); ZERO(Y4); ZERO(Y5)
	ZERO(Y6); ZERO(Y7); ZERO(Y8); ZERO(Y9); ZERO(Y10); ZERO(Y11)

loop:
#define FMA(r) VFMADD231PS Y12, Y13, r
	FMA(Y0); FMA(Y1); FMA(Y2); FMA(Y3); FMA(Y4); FMA(Y5)
	FMA(Y6); FMA(Y7); FMA(Y8); FMA(Y9); FMA(Y10); FMA(Y11)
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func fmaAVX2F64(n int)
TEXT ·fmaAVX2F64(SB), NOSPLIT, $0-8
	MOVQ   n+0(FP), CX
	VXORPS Y12, Y12, Y12
	VXORPS Y13, Y13, Y13
	ZERO(Y0); ZERO(Y1); ZERO(Y2); ZERO(Y3); ZERO(Y4); ZERO(Y5)
	ZERO(Y6); ZERO(Y7); ZERO(Y8); ZERO(Y9); ZERO(Y10); ZERO(Y11)

loop:
#define FMAD(r) VFMADD231PD Y12, Y13, r
	FMAD(Y0); FMAD(Y1); FMAD(Y2); FMAD(Y3); FMAD(Y4); FMAD(Y5)
	FMAD(Y6); FMAD(Y7); FMAD(Y8); FMAD(Y9); FMAD(Y10); FMAD(Y11)
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

#define ZEROZ(r) VPXORQ r, r, r
#define ZEROALL \
	ZEROZ(Z0); ZEROZ(Z1); ZEROZ(Z2); ZEROZ(Z3); ZEROZ(Z4); ZEROZ(Z5); ZEROZ(Z6) \
	ZEROZ(Z7); ZEROZ(Z8); ZEROZ(Z9); ZEROZ(Z10); ZEROZ(Z11); ZEROZ(Z14); ZEROZ(Z15)

// func fmaAVX512F32(n int)
TEXT ·fmaAVX512F32(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	ZEROALL

loop:
#define FMAZ(r) VFMADD231PS Z14, Z15, r
	FMAZ(Z0); FMAZ(Z1); FMAZ(Z2); FMAZ(Z3); FMAZ(Z4); FMAZ(Z5)
	FMAZ(Z6); FMAZ(Z7); FMAZ(Z8); FMAZ(Z9); FMAZ(Z10); FMAZ(Z11)
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func fmaAVX512F64(n int)
TEXT ·fmaAVX512F64(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	ZEROALL

loop:
#define FMADZ(r) VFMADD231PD Z14, Z15, r
	FMADZ(Z0); FMADZ(Z1); FMADZ(Z2); FMADZ(Z3); FMADZ(Z4); FMADZ(Z5)
	FMADZ(Z6); FMADZ(Z7); FMADZ(Z8); FMADZ(Z9); FMADZ(Z10); FMADZ(Z11)
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// VDPBF16PS Z15, Z14, Zr: the assembler does not know it. For r below 8 the
// second byte is 0xd2, above it 0x52; the last one holds the low bits of r.
#define DOT(high, low) BYTE $0x62; BYTE $high; BYTE $0x0e; BYTE $0x48; BYTE $0x52; BYTE $low

// func dotBF16(n int)
TEXT ·dotBF16(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	ZEROALL

loop:
	DOT(0xd2, 0xc7); DOT(0xd2, 0xcf); DOT(0xd2, 0xd7); DOT(0xd2, 0xdf)
	DOT(0xd2, 0xe7); DOT(0xd2, 0xef); DOT(0xd2, 0xf7); DOT(0xd2, 0xff)
	DOT(0x52, 0xc7); DOT(0x52, 0xcf); DOT(0x52, 0xd7); DOT(0x52, 0xdf)
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// Tile instructions, which the assembler does not know either.
#define TILECONFIG  BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0x07
#define TILERELEASE BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0xc0
#define TILEZERO(r) BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x49; BYTE $r
#define TILEDOT(operands, r) BYTE $0xc4; BYTE $0xe2; BYTE $operands; BYTE $0x5c; BYTE $r

// Tiles are configured and released within one call: a goroutine that is
// preempted between must not find them gone.
//
// func tilesBF16(config *[64]byte, n int)
TEXT ·tilesBF16(SB), NOSPLIT, $0-16
	MOVQ config+0(FP), DI
	MOVQ n+8(FP), CX
	TILECONFIG
	TILEZERO(0xc0); TILEZERO(0xc8); TILEZERO(0xd0); TILEZERO(0xd8)
	TILEZERO(0xe0); TILEZERO(0xe8); TILEZERO(0xf0); TILEZERO(0xf8)

loop:
	TILEDOT(0x5a, 0xc6); TILEDOT(0x5a, 0xcf); TILEDOT(0x52, 0xd6); TILEDOT(0x52, 0xdf)
	DECQ CX
	JNZ  loop
	TILERELEASE
	RET

// func multiplyChain(n int)
//
// Each product waits for the one before.
TEXT ·multiplyChain(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	MOVQ $3, AX
	MOVQ $5, BX

loop:
	IMULQ BX, AX
	IMULQ BX, AX
	IMULQ BX, AX
	IMULQ BX, AX
	DECQ  CX
	JNZ   loop
	RET
