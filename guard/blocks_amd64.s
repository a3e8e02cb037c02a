//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// MASK gathers the top bits of the bytes of lo and hi, 64 in all, in dst.
#define MASK(lo, hi, dst, tmp) \
	VPMOVMSKB lo, dst  \
	VPMOVMSKB hi, tmp  \
	SHLQ      $32, tmp \
	ORQ       tmp, dst

// func stringBlocks(t *blockTables, b []byte) int
//
// Y0, Y1: the block. R10, R11, R12: its quotation marks, its backslashes, what is
// an error. R8: 1 if the next byte is escaped. R9: those of the next bytes that
// must be hexadecimal digits. BX: the last block that begins outside of an
// escape sequence.
TEXT ·stringBlocks(SB), NOSPLIT, $0-40
	MOVQ t+0(FP), DI
	MOVQ b_base+8(FP), SI
	MOVQ b_len+16(FP), DX
	LEAQ -64(SI)(DX*1), DX
	MOVQ SI, BX
	XORQ R8, R8
	XORQ R9, R9
	MOVQ $0xAAAAAAAAAAAAAAAA, R13
	VMOVDQU blockTables_low(DI), Y12
	VMOVDQU blockTables_high(DI), Y13
	VMOVDQU blockTables_quote(DI), Y8
	VMOVDQU blockTables_slash(DI), Y9
	VMOVDQU blockTables_control(DI), Y10
	VMOVDQU blockTables_escape(DI), Y11
	VMOVDQU blockTables_u(DI), Y14
	VMOVDQU blockTables_digit(DI), Y15
	VPXOR   Y7, Y7, Y7

block:
	MOVQ    R8, CX
	ORQ     R9, CX
	CMOVQEQ SI, BX
	CMPQ    SI, DX
	JHI     safe // fewer than 64 bytes are left

	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPCMPEQB Y0, Y8, Y2
	VPCMPEQB Y1, Y8, Y3
	MASK(Y2, Y3, R10, AX)
	VPCMPEQB Y0, Y9, Y2
	VPCMPEQB Y1, Y9, Y3
	MASK(Y2, Y3, R11, AX)
	VPMINUB  Y0, Y10, Y2
	VPMINUB  Y1, Y10, Y3
	VPCMPEQB Y0, Y2, Y2
	VPCMPEQB Y1, Y3, Y3
	MASK(Y2, Y3, R12, AX)

	ORQ R11, CX // escapes: begun before, or here
	JZ  judged

	// Which bytes are escaped: the borrow of the subtraction runs through each
	// series of backslashes, and tells odd from even (simdjson's way).
	MOVQ R8, CX
	NOTQ CX
	ANDQ R11, CX
	LEAQ (CX)(CX*1), DI
	ORQ  R13, DI
	SUBQ CX, DI
	XORQ R13, DI
	MOVQ R11, CX
	ORQ  R8, CX
	XORQ DI, CX // the escaped
	ANDQ R11, DI
	SHRQ $63, DI
	MOVQ DI, R8
	MOVQ CX, DI
	NOTQ DI
	ANDQ DI, R10

	// Their classes, in Y4 and Y6.
	VPAND   Y0, Y11, Y2
	VPSHUFB Y2, Y12, Y4
	VPSRLW  $4, Y0, Y3
	VPAND   Y3, Y11, Y3
	VPSHUFB Y3, Y13, Y5
	VPAND   Y4, Y5, Y4
	VPAND   Y1, Y11, Y2
	VPSHUFB Y2, Y12, Y6
	VPSRLW  $4, Y1, Y3
	VPAND   Y3, Y11, Y3
	VPSHUFB Y3, Y13, Y5
	VPAND   Y6, Y5, Y6

	VPAND    Y4, Y11, Y2
	VPAND    Y6, Y11, Y3
	VPCMPEQB Y2, Y7, Y2
	VPCMPEQB Y3, Y7, Y3
	MASK(Y2, Y3, DI, AX)
	ANDQ     CX, DI
	ORQ      DI, R12

	VPCMPEQB Y0, Y14, Y2
	VPCMPEQB Y1, Y14, Y3
	MASK(Y2, Y3, DI, AX)
	ANDQ     CX, DI // each begins a \uXXXX
	MOVQ     DI, CX
	ORQ      R9, CX
	JZ       judged
	LEAQ     (DI)(DI*1), CX
	ORQ      R9, CX
	MOVQ     DI, AX
	SHLQ     $2, AX
	ORQ      AX, CX
	SHLQ     $1, AX
	ORQ      AX, CX
	SHLQ     $1, AX
	ORQ      AX, CX // must be digits
	SHRQ     $60, DI
	MOVQ     DI, R9
	SHRQ     $1, DI
	ORQ      DI, R9
	SHRQ     $1, DI
	ORQ      DI, R9
	SHRQ     $1, DI
	ORQ      DI, R9
	VPAND    Y4, Y15, Y2
	VPAND    Y6, Y15, Y3
	VPCMPEQB Y2, Y7, Y2
	VPCMPEQB Y3, Y7, Y3
	MASK(Y2, Y3, DI, AX)
	ANDQ     DI, CX
	ORQ      CX, R12

judged:
	MOVQ R10, CX
	ORQ  R12, CX
	JNZ  stop
	ADDQ $64, SI
	JMP  block

stop:
	TESTQ R10, R10
	JZ    safe
	BSFQ  R10, AX
	TESTQ R12, R12
	JZ    quote
	BSFQ  R12, CX
	CMPQ  CX, AX
	JLS   safe // the error is not behind the closing quotation mark

quote:
	ADDQ AX, SI
	MOVQ SI, BX

safe:
	SUBQ b_base+8(FP), BX
	MOVQ BX, ret+32(FP)
	VZEROUPPER
	RET

// SPECIAL gathers in dst which bytes of Y0 do not stand for themselves.
#define SPECIAL(dst) \
	VPCMPEQB  Y0, Y8, Y2  \
	VPCMPEQB  Y0, Y9, Y3  \
	VPMINUB   Y0, Y10, Y4 \
	VPCMPEQB  Y0, Y4, Y4  \
	VPOR      Y2, Y3, Y2  \
	VPOR      Y2, Y4, Y2  \
	VPMOVMSKB Y2, dst

// func plainBlocks(t *blockTables, b []byte, i int) int
//
// SI: b. DX: where its last block begins. BX: where the block begins.
TEXT ·plainBlocks(SB), NOSPLIT, $0-48
	MOVQ t+0(FP), DI
	MOVQ b_base+8(FP), SI
	MOVQ b_len+16(FP), DX
	MOVQ i+32(FP), BX
	SUBQ $32, DX
	VMOVDQU blockTables_quote(DI), Y8
	VMOVDQU blockTables_slash(DI), Y9
	VMOVDQU blockTables_control(DI), Y10

plain:
	CMPQ BX, DX
	JGT  last
	VMOVDQU   (SI)(BX*1), Y0
	SPECIAL(AX)
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, BX
	JMP       plain

last: // the last block again, without what lies before BX
	MOVQ BX, CX
	SUBQ DX, CX
	CMPQ CX, $32
	JGE  none
	VMOVDQU   (SI)(DX*1), Y0
	SPECIAL(AX)
	SHRL      CX, AX
	TESTL     AX, AX
	JNZ       found

none:
	MOVQ b_len+16(FP), BX
	MOVQ BX, ret+40(FP)
	VZEROUPPER
	RET

found:
	BSFL AX, AX
	ADDQ AX, BX
	MOVQ BX, ret+40(FP)
	VZEROUPPER
	RET
