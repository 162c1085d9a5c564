// Converts LLVM's text of an instruction to the machine's form: the parts of the decoder.
//
// Purpose: one instruction at a time.
// Invariants: false after a diagnostic that names the instruction, its operand and its source line.
// Every modifier of the text is either used by the function that knows it, or an error.
// Ownership: the arena.
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
    Str name;      // without _e32 and similar endings
    Str operands[AMD_TEXT_OPERANDS];
    Str modifiers[AMD_TEXT_MODIFIERS];
    uint32_t operand_count, modifier_count;
    uint32_t taken;  // a bit for each modifier that was used
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
    Str text;  // of the current instruction
    uint32_t processor;
    uint32_t vectors, accumulators, scalars;  // the counts that the descriptor gives
} AmdDecoder;

bool amd_decode_fail(AmdDecoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool amd_text_split(AmdDecoder *d, Str line, AmdText *t);
// Operand n of the text, read as the given type.
bool amd_text_operand(AmdDecoder *d, const AmdText *t, uint32_t n, AmdType type, AmdOperand *o);
bool amd_text_one(AmdDecoder *d, Str text, AmdType type, AmdOperand *o);
// Finds the modifier with this name: "clamp", or "offset" of "offset:16"; *value is the text after
// the colon.
bool amd_text_modifier(AmdText *t, const char *name, Str *value);
// The text in a bracket: without the first `head` characters and the last one.
Str amd_text_inner(Str s, size_t head);
bool amd_text_number(Str s, int64_t *value);
// Reads the numbers of "[0,1,1]".
uint32_t amd_text_list(Str s, uint32_t *values, uint32_t most);

// Operand n as a result, in the kind of register that the instruction's unit writes.
bool amd_decode_result(AmdDecoder *d, const AmdText *t, uint32_t n, AmdType type, AmdOperand *to);

// The families of instructions.
bool amd_decode_lanes(AmdDecoder *d, AmdText *t, const AmdRow *row, AmdInstr *i);
bool amd_decode_access(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine);
bool amd_decode_matrix(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine);
bool amd_decode_wait(AmdDecoder *d, AmdText *t, AmdInstr *i);
const AmdRow *amd_row_find(const AmdDecoder *d, Str name);
void amd_rows_begin(AmdDecoder *d);

bool amd_decode_kernel(AmdDecoder *d, const GpuCode *code, SimKernel *to);

#endif
