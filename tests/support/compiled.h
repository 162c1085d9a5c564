// Compiled kernels in tests: libtilec_llvm opened, kernels compiled, loaded and run as the runtime
// would, to compare them with the interpreter.
//
// Invariants: where the plugin was not built, codegen_plugin gives NULL, and tests say so and skip.
// A kernel that does not compile fails the test with its diagnostics. Ownership: compiled_free.
//
//     if (!codegen_plugin()) skip();
//     Compiled *k = compiled_load(t, cpu_native());
//     compiled_run(k, args, 2, (int64_t[]){8, 1, 1});
//     compiled_free(k);
#ifndef TILEC_TESTS_SUPPORT_COMPILED_H
#define TILEC_TESTS_SUPPORT_COMPILED_H

#include "base/cpu_abi.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/tir.h"

typedef struct Failure {
    int64_t program, lane;
    uint32_t site;
} Failure;

typedef struct Compiled {
    Arena *arena;
    const IrFunc *func;
    Str image;
    void *library;
    CpuEntry *entry;
    CpuServices services;
    unsigned char *scratch;
    int32_t cancel;
    VEC(Failure) failures;  // of asserts
    StrBuf printed;         // "program site: first bytes" a line; see compiled.c
} Compiled;

enum { COMPILED_SCRATCH = 1 << 16 };

// The first function of the text. False after adding to the text's diagnostics.
bool compiled_output(Tir *t, CpuTarget target, CodegenOutput output, bool lines, Str *text);
Compiled *compiled_load(Tir *t, CpuTarget target);
// All programs of a grid, in one call of the entry.
void compiled_run(Compiled *k, const IrArg *args, uint32_t count, const int64_t grid[3]);
// Programs first … last - 1 of the grid set before.
void compiled_part(Compiled *k, const IrArg *args, uint32_t count, int64_t first, int64_t last);
void compiled_free(Compiled *k);

// The targets that this machine runs: v2, v3, v4, native; or aarch64.
uint32_t compiled_targets(CpuTarget targets[4]);

#endif
