#include "textflag.h"

// Constants of the exponential function: e^x = 2^n · e^r with n = round(x/ln 2) and
// r = x - n·ln 2, of which e^r is a polynomial of degree 7 (relative error 2·10⁻⁷).
DATA ·expLow+0(SB)/4, $-87.3
GLOBL ·expLow(SB), RODATA|NOPTR, $4
DATA ·log2e+0(SB)/4, $1.44269504
GLOBL ·log2e(SB), RODATA|NOPTR, $4
DATA ·ln2High+0(SB)/4, $0.693359375
GLOBL ·ln2High(SB), RODATA|NOPTR, $4
DATA ·ln2Low+0(SB)/4, $-2.12194440e-4
GLOBL ·ln2Low(SB), RODATA|NOPTR, $4
DATA ·exp7+0(SB)/4, $1.9875691500e-4
GLOBL ·exp7(SB), RODATA|NOPTR, $4
DATA ·exp6+0(SB)/4, $1.3981999507e-3
GLOBL ·exp6(SB), RODATA|NOPTR, $4
DATA ·exp5+0(SB)/4, $8.3334519073e-3
GLOBL ·exp5(SB), RODATA|NOPTR, $4
DATA ·exp4+0(SB)/4, $4.1665795894e-2
GLOBL ·exp4(SB), RODATA|NOPTR, $4
DATA ·exp3+0(SB)/4, $1.6666665459e-1
GLOBL ·exp3(SB), RODATA|NOPTR, $4
DATA ·exp2+0(SB)/4, $5.0000001201e-1
GLOBL ·exp2(SB), RODATA|NOPTR, $4
DATA ·one+0(SB)/4, $1.0
GLOBL ·one(SB), RODATA|NOPTR, $4
DATA ·expBias+0(SB)/4, $127
GLOBL ·expBias(SB), RODATA|NOPTR, $4

// EXP turns the eight numbers of Y0, none above 0, into their exponentials. It uses
// Y1 to Y3; Y8 to Y15 hold the constants that EXPLOAD put there.
#define EXPLOAD \
	VBROADCASTSS ·log2e(SB), Y8 \
	VBROADCASTSS ·ln2High(SB), Y9 \
	VBROADCASTSS ·ln2Low(SB), Y10 \
	VBROADCASTSS ·exp7(SB), Y11 \
	VBROADCASTSS ·exp6(SB), Y12 \
	VBROADCASTSS ·exp5(SB), Y13 \
	VBROADCASTSS ·exp4(SB), Y14 \
	VBROADCASTSS ·exp3(SB), Y15

#define EXP \
	VBROADCASTSS ·expLow(SB), Y1 \
	VMAXPS Y1, Y0, Y0 \
	VMULPS Y8, Y0, Y1 \
	VROUNDPS $0, Y1, Y1 \
	VFNMADD231PS Y9, Y1, Y0 \
	VFNMADD231PS Y10, Y1, Y0 \
	VMOVAPS Y11, Y2 \
	VFMADD213PS Y12, Y0, Y2 \
	VFMADD213PS Y13, Y0, Y2 \
	VFMADD213PS Y14, Y0, Y2 \
	VFMADD213PS Y15, Y0, Y2 \
	VBROADCASTSS ·exp2(SB), Y3 \
	VFMADD213PS Y3, Y0, Y2 \
	VMULPS Y0, Y0, Y3 \
	VFMADD213PS Y0, Y3, Y2 \
	VBROADCASTSS ·one(SB), Y3 \
	VADDPS Y3, Y2, Y2 \
	VCVTPS2DQ Y1, Y1 \
	VPBROADCASTD ·expBias(SB), Y3 \
	VPADDD Y3, Y1, Y1 \
	VPSLLD $23, Y1, Y1 \
	VMULPS Y1, Y2, Y0

// func softmaxAVX2(v *float32, n int, scale float32)
//
// n is a multiple of 8, at least 8. Y7 is the scale, Y6 the greatest number, Y5 the sum.
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-20
	MOVQ v+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS scale+16(FP), Y7
	SHRQ $3, CX
	MOVQ DI, SI
	MOVQ CX, DX
	VMOVUPS (SI), Y6

greatest:
	VMAXPS (SI), Y6, Y6
	ADDQ $32, SI
	DECQ DX
	JNZ greatest

	VPERM2F128 $1, Y6, Y6, Y0
	VMAXPS Y0, Y6, Y6
	VPERMILPS $0x4E, Y6, Y0
	VMAXPS Y0, Y6, Y6
	VPERMILPS $0xB1, Y6, Y0
	VMAXPS Y0, Y6, Y6
	EXPLOAD
	VXORPS Y5, Y5, Y5
	MOVQ DI, SI
	MOVQ CX, DX

exponentials:
	VMOVUPS (SI), Y0
	VSUBPS Y6, Y0, Y0
	VMULPS Y7, Y0, Y0
	EXP
	VMOVUPS Y0, (SI)
	VADDPS Y0, Y5, Y5
	ADDQ $32, SI
	DECQ DX
	JNZ exponentials

	VPERM2F128 $1, Y5, Y5, Y0
	VADDPS Y0, Y5, Y5
	VPERMILPS $0x4E, Y5, Y0
	VADDPS Y0, Y5, Y5
	VPERMILPS $0xB1, Y5, Y0
	VADDPS Y0, Y5, Y5
	VBROADCASTSS ·one(SB), Y0
	VDIVPS Y5, Y0, Y5

shares:
	VMULPS (DI), Y5, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	DECQ CX
	JNZ shares
	VZEROUPPER
	RET

// Constants of the error function by Abramowitz and Stegun 7.1.26: with
// t = 1/(1 + p·z), erf z = 1 - (a1·t + … + a5·t⁵)·e^(-z²), off by less than 1.5·10⁻⁷.
// They are those for z = |x|/√2, the a halved: half of what is missing to 1.
DATA ·erfP+0(SB)/4, $0.231641888
GLOBL ·erfP(SB), RODATA|NOPTR, $4
DATA ·erfA1+0(SB)/4, $0.127414796
GLOBL ·erfA1(SB), RODATA|NOPTR, $4
DATA ·erfA2+0(SB)/4, $-0.142248368
GLOBL ·erfA2(SB), RODATA|NOPTR, $4
DATA ·erfA3+0(SB)/4, $0.7107068705
GLOBL ·erfA3(SB), RODATA|NOPTR, $4
DATA ·erfA4+0(SB)/4, $-0.7265760135
GLOBL ·erfA4(SB), RODATA|NOPTR, $4
DATA ·erfA5+0(SB)/4, $0.5307027145
GLOBL ·erfA5(SB), RODATA|NOPTR, $4
DATA ·minusHalf+0(SB)/4, $-0.5
GLOBL ·minusHalf(SB), RODATA|NOPTR, $4
DATA ·absMask+0(SB)/4, $0x7fffffff
GLOBL ·absMask(SB), RODATA|NOPTR, $4

// func geluAVX2(v *float32, n int)
//
// n is a multiple of 8, at least 8. x·Φ(x) = max(x, 0) - |x|·g, where g is half of
// what erf(|x|/√2) lacks to 1.
TEXT ·geluAVX2(SB), NOSPLIT, $0-16
	MOVQ v+0(FP), DI
	MOVQ n+8(FP), CX
	SHRQ $3, CX
	EXPLOAD

next:
	VMOVUPS (DI), Y4
	VBROADCASTSS ·absMask(SB), Y5
	VANDPS Y5, Y4, Y5 // |x|
	VMULPS Y4, Y4, Y0
	VBROADCASTSS ·minusHalf(SB), Y1
	VMULPS Y1, Y0, Y0
	EXP               // e^(-x²/2)
	VBROADCASTSS ·erfP(SB), Y1
	VBROADCASTSS ·one(SB), Y2
	VFMADD213PS Y2, Y5, Y1
	VDIVPS Y1, Y2, Y1 // t
	VBROADCASTSS ·erfA5(SB), Y2
	VBROADCASTSS ·erfA4(SB), Y3
	VFMADD213PS Y3, Y1, Y2
	VBROADCASTSS ·erfA3(SB), Y3
	VFMADD213PS Y3, Y1, Y2
	VBROADCASTSS ·erfA2(SB), Y3
	VFMADD213PS Y3, Y1, Y2
	VBROADCASTSS ·erfA1(SB), Y3
	VFMADD213PS Y3, Y1, Y2
	VMULPS Y1, Y2, Y2
	VMULPS Y0, Y2, Y2 // g
	VXORPS Y3, Y3, Y3
	VMAXPS Y3, Y4, Y4
	VFNMADD231PS Y2, Y5, Y4
	VMOVUPS Y4, (DI)
	ADDQ $32, DI
	DECQ CX
	JNZ next
	VZEROUPPER
	RET

// func normAVX2(x, y, scale, shift *float32, h int, epsilon float32)
//
// h is a multiple of 8, at least 8. y is added to x first, unless it is nil.
TEXT ·normAVX2(SB), NOSPLIT, $0-44
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ scale+16(FP), R8
	MOVQ shift+24(FP), R9
	MOVQ h+32(FP), CX
	VCVTSI2SSQ CX, X7, X7
	VBROADCASTSS X7, Y7 // h
	SHRQ $3, CX
	VXORPS Y6, Y6, Y6   // the sum
	MOVQ DI, R10
	MOVQ CX, DX
	TESTQ SI, SI
	JZ sum

add:
	VMOVUPS (R10), Y0
	VADDPS (SI), Y0, Y0
	VMOVUPS Y0, (R10)
	VADDPS Y0, Y6, Y6
	ADDQ $32, R10
	ADDQ $32, SI
	DECQ DX
	JNZ add
	JMP summed

sum:
	VADDPS (R10), Y6, Y6
	ADDQ $32, R10
	DECQ DX
	JNZ sum

summed:
	VPERM2F128 $1, Y6, Y6, Y0
	VADDPS Y0, Y6, Y6
	VPERMILPS $0x4E, Y6, Y0
	VADDPS Y0, Y6, Y6
	VPERMILPS $0xB1, Y6, Y0
	VADDPS Y0, Y6, Y6
	VDIVPS Y7, Y6, Y6 // the mean
	VXORPS Y5, Y5, Y5 // the sum of squares
	MOVQ DI, R10
	MOVQ CX, DX

squares:
	VMOVUPS (R10), Y0
	VSUBPS Y6, Y0, Y0
	VFMADD231PS Y0, Y0, Y5
	ADDQ $32, R10
	DECQ DX
	JNZ squares

	VPERM2F128 $1, Y5, Y5, Y0
	VADDPS Y0, Y5, Y5
	VPERMILPS $0x4E, Y5, Y0
	VADDPS Y0, Y5, Y5
	VPERMILPS $0xB1, Y5, Y0
	VADDPS Y0, Y5, Y5
	VDIVPS Y7, Y5, Y5
	VBROADCASTSS epsilon+40(FP), Y0
	VADDPS Y0, Y5, Y5
	VSQRTPS Y5, Y5
	VBROADCASTSS ·one(SB), Y0
	VDIVPS Y5, Y0, Y5

write:
	VMOVUPS (DI), Y0
	VSUBPS Y6, Y0, Y0
	VMULPS Y5, Y0, Y0
	VMOVUPS (R9), Y1
	VFMADD231PS (R8), Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ $32, DI
	ADDQ $32, R8
	ADDQ $32, R9
	DECQ CX
	JNZ write
	VZEROUPPER
	RET
