// Running .tir texts in tests: parse, verify, interpret, look at what was said.
//
// Invariants: a text that does not parse or verify fails the test with its diagnostics.
// Ownership: everything goes with tir_free.
//
//     Tir *t = tir_load("kernel @k(%x: view f32[N]) { body { return } }");
//     IrArg args[] = {tir_view(x, 1, (int64_t[]){8})};
//     assert_int_equal(tir_run(t, args, 1, 4), IR_RUN_DONE);
//     tir_free(t);
//
// Texts of more than a dozen lines are files, tests/<room>/data/<name>.tir, as `tilec opt` prints
// them, so that no string in C has to be read as IR.
#ifndef TILEC_TESTS_SUPPORT_TIR_H
#define TILEC_TESTS_SUPPORT_TIR_H

#include "ir/interp/interp.h"
#include "tests/support/dice.h"

typedef struct Tir {
    Arena *arena;
    Sources *sources;
    IrModule *module;
    IrInterp *interp;  // of the first function
    Diags *diags;      // of all runs
    StrBuf printed;    // each line with its end
    IrLaunch launch;   // options for the next runs: sanitize, shadow, step_limit
} Tir;

Tir *tir_load(const char *format, ...) __attribute__((format(printf, 1, 2)));
Tir *tir_load_file(const char *path);  // from the root of the repository
// The text of a file; a test that cannot read it fails.
const char *tir_read(Arena *arena, const char *path);
void tir_free(Tir *t);
// The function of this name; a test without it fails.
IrFunc *tir_kernel(const Tir *t, const char *name);
// f16 elements -1, 0 and 1, whose sums are exact.
void tir_small_halves(Dice *dice, uint16_t *x, size_t count);
// A row-major view; a pointer with or without a known size in bytes; a scalar's bits.
IrArg tir_view(void *data, uint32_t rank, const int64_t *extents);
IrArg tir_pointer(void *data, uint64_t size);
IrArg tir_scalar(uint64_t bits);
IrOutcome tir_run(Tir *t, const IrArg *args, uint32_t count, int64_t programs);
// The text of all diagnostics; does it hold this?
const char *tir_text(const Tir *t);
bool tir_reported(const Tir *t, const char *text);
void tir_forget(Tir *t);  // diagnostics and prints

#endif
