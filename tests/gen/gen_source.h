// The generator of Tile texts, seen by its own files only.
//
// Invariants: `vars` holds the names in scope with their types; an expression written by
// source_expr(s, type, …) has exactly this type. Ownership: the arena of the text.
//
//     SrcType t = {DTYPE_F32, 1, {8}};
//     source_expr(s, &t, 2);   // writes, for example, (v3 + exp(zeros(f32, 8)))
#ifndef TILEC_TESTS_GEN_GEN_SOURCE_H
#define TILEC_TESTS_GEN_GEN_SOURCE_H

#include "base/dtype.h"
#include "base/vec.h"
#include "tests/gen/gen.h"
#include "tests/support/dice.h"

typedef struct SrcType {
    Dtype elem;
    uint32_t rank;
    uint32_t shape[3];
} SrcType;

typedef struct SrcVar {
    char letter;  // and a number: its name
    uint32_t number;
    SrcType type;
    bool assignable;
    bool is_view, is_pointer;  // `type` has the rank of the view then
} SrcVar;

typedef struct Src {
    Arena *arena;
    Dice dice;
    StrBuf out;
    VEC(SrcVar) vars;
    uint32_t names, indent, loops;
} Src;

Dtype source_elem(Src *s, unsigned classes);
SrcType source_type(Src *s, unsigned classes);
uint32_t source_elements(const SrcType *t);
SrcType source_element(Src *s, const SrcType *t);  // an index of some of its dimensions; the rest
void source_expr(Src *s, const SrcType *t, int depth);
// A variable of the type (any when `t` is NULL); NULL when there is none.
const SrcVar *source_var(Src *s, const SrcType *t, bool assignable);
// A selection of some view with elements of t that has t's shape; false, nothing written, when
// there is no such view.
bool source_selection(Src *s, const SrcType *t);
const SrcVar *source_pointer(Src *s, Dtype elem);

#endif
