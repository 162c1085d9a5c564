// Bundles: kernels made of many independent ops, each with an output of its own, run by the
// interpreter and compiled, and compared bit for bit (NaNs are equal).
//
// Inputs are arrays of BUNDLE_COUNT elements: all pairs of special values, then random bits.
// Program p works on lanes p*n … p*n + n - 1. Ownership: the arena given.
//
//     Bundle *b = bundle_create(arena, 16);
//     uint32_t x = bundle_input(b, DTYPE_F32, 0);
//     bundle_output(b, DTYPE_F32, 16, "neg", bundle_op(b, "neg %%%u : f32[16]", x));
//     bundle_check(b, target);
#ifndef TILEC_TESTS_CODEGEN_BUNDLE_H
#define TILEC_TESTS_CODEGEN_BUNDLE_H

#include "tests/support/compiled.h"

enum { BUNDLE_COUNT = 512, BUNDLE_MOST = 200 };

typedef struct BundleArray {
    Dtype elem;
    uint32_t lanes;  // of one program; 0 of an input
    const char *what;
    unsigned char *expected, *found;  // of inputs: the same
    size_t size;                      // bytes of each
    unsigned char *first;             // what is there before a run
} BundleArray;

typedef struct Bundle {
    Arena *arena;
    uint32_t lanes;  // 0: scalars
    bool x86;        // AArch64 lacks an op of it
    StrBuf params, body;
    uint32_t next;    // number of the next value
    uint32_t places;  // of this program in arrays of `lanes` a program
    uint32_t array_count;
    BundleArray arrays[BUNDLE_MOST];
} Bundle;

Bundle *bundle_create(Arena *arena, uint32_t lanes);
// "f32[16]", or "f32" for scalars.
const char *bundle_type(Bundle *b, Dtype elem, uint32_t lanes);
// Values of an input of this type; `variant` 0, 1, 2: first, second, third operand of the pairs.
uint32_t bundle_input(Bundle *b, Dtype elem, unsigned variant);
// The op's text without its result; returns the number of the result.
uint32_t bundle_op(Bundle *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A pointer to this program's `lanes` elements (0 and 1: one) of a new output, which is filled with
// values of `variant` before the run; 3: zeroes.
uint32_t bundle_target(Bundle *b, Dtype elem, uint32_t lanes, const char *what, unsigned variant);
void bundle_output(Bundle *b, Dtype elem, uint32_t lanes, const char *what, uint32_t value);
// The kernel's text.
const char *bundle_text(Bundle *b);
// Runs both; false after printing what differs. Marks the ops that were in it in `seen`.
bool bundle_check(Bundle *b, CpuTarget target, bool *seen);
// The bits of special value or dice number i of a type.
uint64_t bundle_value(Dtype elem, uint32_t i, unsigned variant);

// Marks the ops of a block and its regions.
void bundle_mark(const IrBlock *block, bool *seen);
typedef enum Place { NONE, VALUES, MEMORY, TILES, CONTROL, REFUSED, NOWHERE } Place;
Place bundle_place(IrOpcode code);  // of cells.def
// Every op that cells.def places here has been seen.
void bundle_all_seen(Place place, const bool *seen);

#endif
