// tl.inline_asm_elementwise: PTX that works on registers only, as tile IR.
//
// Purpose: an instruction becomes ops on tiles, so such kernels run on every target. asm.c reads
// the text, asm_ops.c has the instructions. Invariants: a register holds a tile of unsigned
// integers with its bits, or of bools for a predicate; all tiles have the shape of the packed
// arguments. Other instructions (memory, branches, exchanges between lanes) are refused by name.
//
//     AsmOperand x = …;
//     IrValue *a = asm_read(s, &x, (AsmType){DTYPE_F32});
#ifndef TILEC_FRONTEND_TRITON_TL_ASM_H
#define TILEC_FRONTEND_TRITON_TL_ASM_H

#include "frontend/triton/elaborate.h"

enum { ASM_OPERANDS = 8, ASM_MODIFIERS = 10, ASM_PARTS = 8 };

// The type of an operand: "f32", "b16", "f16x2". A pair has two elements in one register.
typedef struct AsmType {
    Dtype elem;  // bits are unsigned integers; DTYPE_BOOL: a predicate
    bool pair;
    bool e2m1, ue8m0;  // formats without a Dtype; elem is u8
} AsmType;

typedef struct AsmRegister {
    Str name;
    unsigned bits;   // 1: a predicate
    IrValue *value;  // NULL: not written yet
} AsmRegister;

typedef struct AsmOperand {
    Str text;        // "$1", "t0", "0x7f"
    uint32_t count;  // of a vector "{a, b}"; 0: it is not one
    Str parts[ASM_PARTS];
} AsmOperand;

typedef struct AsmInstruction {
    Str text;    // the whole opcode, for messages
    Str opcode;  // "cvt"
    uint32_t modifier_count, operand_count, type_count;
    Str modifiers[ASM_MODIFIERS];
    AsmType types[ASM_MODIFIERS];  // the modifiers that are types, in order
    AsmOperand operands[ASM_OPERANDS];
    IrValue *predicate;  // NULL: none
} AsmInstruction;

typedef struct AsmState {
    Elab *e;
    const TlCall *call;
    Shape shape;
    VEC(AsmRegister) registers;
    bool failed;
} AsmState;

// ---- asm.c
bool asm_has(const AsmInstruction *in, const char *modifier);
// False after reporting that the instruction is not supported.
bool asm_unsupported(AsmState *s, Str what);
const IrType *asm_type(AsmState *s, Dtype elem);
IrValue *asm_const(AsmState *s, Dtype elem, uint64_t bits);
IrValue *asm_as(AsmState *s, IrValue *v, Dtype elem);  // its bits as another type of this size
IrValue *asm_read(AsmState *s, const AsmOperand *o, AsmType type);
// The operand's register gets the value, where the predicate holds; a wider register is filled by
// zeros, or by the sign of signed integers.
void asm_write(AsmState *s, const AsmInstruction *in, const AsmOperand *o, IrValue *v);

// ---- asm_ops.c
void asm_run(AsmState *s, const AsmInstruction *in);

#endif
