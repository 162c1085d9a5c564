// From LLVM's text of an instruction to what the machine runs: the parts of the decoder.
//
// Purpose: one instruction at a time. Invariants: false after a diagnostic that names the
// instruction, its operand and its source line; every modifier of the text is either taken by
// whoever knows it or an error. Ownership: the arena.
//
//     AmdText t;
//     if (!amd_text_split(d, line, &t)) …      // "v_add_f32_e32 v0, s1, v2"
//     amd_text_operand(d, &t, 1, AMD_F32, &o)   // s1
#ifndef TILEC_SIM_AMD_DECODE_H
#define TILEC_SIM_AMD_DECODE_H

#include "base/gpu_code.h"
#include "base/map.h"
#include "base/vec.h"
#include "sim/amd/wave.h"

enum { AMD_TEXT_OPERANDS = 12, AMD_TEXT_MODIFIERS = 24 };

typedef struct AmdText {
    Str mnemonic;  // as written
    Str name;      // without _e32 and its kin
    Str operands[AMD_TEXT_OPERANDS];
    Str modifiers[AMD_TEXT_MODIFIERS];
    uint32_t operand_count, modifier_count;
    uint32_t taken;  // a bit for each modifier that was
    bool vop3, dpp, sdwa;
} AmdText;

typedef struct AmdDecoder {
    Arena *arena;
    Diags *diags;
    Interner *names;
    Map rows;  // by name: index + 1
    const AmdObject *object;
    const AmdObjectKernel *source;
    AmdKernel *kernel;
    SimLine line;
    Str text;  // of the instruction at hand
    uint32_t processor;
    uint32_t vectors, accumulators, scalars;  // that the descriptor gives
} AmdDecoder;

bool amd_decode_fail(AmdDecoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool amd_text_split(AmdDecoder *d, Str line, AmdText *t);
// Operand n of the text as the type says.
bool amd_text_operand(AmdDecoder *d, const AmdText *t, uint32_t n, AmdType type, AmdOperand *o);
bool amd_text_one(AmdDecoder *d, Str text, AmdType type, AmdOperand *o);
// The modifier with this name: "clamp", or "offset" of "offset:16", with what follows the colon.
bool amd_text_modifier(AmdText *t, const char *name, Str *value);
// What a bracket holds: without the first `head` characters and the last one.
Str amd_text_inner(Str s, size_t head);
bool amd_text_number(Str s, int64_t *value);
// "[0,1,1]": numbers.
uint32_t amd_text_list(Str s, uint32_t *values, uint32_t most);

// Operand n as a result: of the kind that the instruction's unit writes.
bool amd_decode_result(AmdDecoder *d, const AmdText *t, uint32_t n, AmdType type, AmdOperand *to);

// Of the families.
bool amd_decode_lanes(AmdDecoder *d, AmdText *t, const AmdRow *row, AmdInstr *i);
bool amd_decode_access(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine);
bool amd_decode_matrix(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine);
bool amd_decode_wait(AmdDecoder *d, AmdText *t, AmdInstr *i);
const AmdRow *amd_row_find(const AmdDecoder *d, Str name);
void amd_rows_begin(AmdDecoder *d);

bool amd_decode_kernel(AmdDecoder *d, const GpuCode *code, SimKernel *to);

#endif
