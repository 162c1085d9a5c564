// The syntax of PTX: parses text to functions with statements; names are not resolved yet.
//
// Purpose: the input of decoding.
// Invariants: every statement and operand has its span. Numbers are 64 raw bits with the kind in
// which they were written. Debug sections are dropped.
// Ownership: arena.
//
//     PtxModule *m = ptx_parse(arena, file, diags);   // NULL: reported
#ifndef TILEC_SIM_PTX_PARSE_H
#define TILEC_SIM_PTX_PARSE_H

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "sim/machine/program.h"

typedef enum PtxTokenKind {
    PTX_END,
    PTX_WORD,  // names, directives, opcodes: ".reg", "%tid.x", "ld.global.v4.b32"
    PTX_INTEGER,
    PTX_F32,  // 0f3F800000
    PTX_F64,  // 0d…, 1.5
    PTX_STRING,
    PTX_PUNCT  // one character
} PtxTokenKind;
typedef struct PtxToken {
    PtxTokenKind kind;
    Str text;
    uint64_t bits;
    Span span;
} PtxToken;

typedef struct PtxLexer {
    const SourceFile *file;
    size_t at;
    Diags *diags;
    bool failed;
} PtxLexer;
PtxToken ptx_lex(PtxLexer *lexer);

typedef enum PtxOperandKind {
    PTX_NAME,     // name (+ offset)
    PTX_NUMBER,   // bits, in the kind of `number`
    PTX_ADDRESS,  // [items[0] + offset], further items after commas
    PTX_VECTOR,   // {items}
    PTX_LIST,     // (items)
    PTX_PAIR,     // items[0] | items[1]
} PtxOperandKind;
typedef struct PtxOperand {
    PtxOperandKind kind;
    PtxTokenKind number;
    bool negated;  // !p
    Str name;
    uint64_t bits;
    int64_t offset;
    const struct PtxOperand *items;
    uint32_t count;
    Span span;
} PtxOperand;

typedef enum PtxSpace {
    PTX_SPACE_REG,
    PTX_SPACE_PARAM,
    PTX_SPACE_LOCAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST
} PtxSpace;

// One declared name, or a range of registers.
typedef struct PtxVariable {
    PtxSpace space;
    SimType type;
    Str name;
    uint32_t range;  // %r<33>: 33; 0: one
    uint64_t bytes;  // bytes of the whole variable
    uint32_t align;
    bool external, pointer;
    uint8_t *contents;  // NULL: zeros
    VEC(struct PtxAddress {
        uint64_t at;
        int64_t addend;
        Str name;
        Span span;
    })
    addresses;  // of other variables in the contents
    Span span;
} PtxVariable;

typedef enum PtxStatementKind {
    PTX_INSTR,
    PTX_LABEL,
    PTX_DECLARE,
    PTX_OPEN,
    PTX_CLOSE,
    PTX_TARGETS
} PtxStatementKind;
typedef struct PtxStatement {
    PtxStatementKind kind;
    Span span;
    SimLine line;
    Str name;  // label; opcode with all its modifiers
    PtxVariable *variable;
    bool guarded, guard_negated;
    Str guard;
    const PtxOperand *operands;  // or the labels of .branchtargets
    uint32_t operand_count;
} PtxStatement;

typedef struct PtxFunction {
    Str name;
    bool entry, external;
    VEC(PtxVariable *) params, results;
    VEC(PtxStatement) statements;
    uint32_t maxntid[3], reqntid[3], cluster[3], maxnreg;
    Span span;
} PtxFunction;

typedef struct PtxModule {
    unsigned version, arch;
    bool arch_a;
    VEC(PtxFunction *) functions;
    VEC(PtxVariable *) variables;
} PtxModule;

PtxModule *ptx_parse(Arena *arena, const SourceFile *file, Diags *diags);
bool ptx_type_named(Str name, SimType *type);

#endif
