// Codegen in a child process, so that a crash of LLVM cannot harm this process.
//
// The child opens libtilec_llvm itself, compiles, sends the result back and ends. If it is ended by
// a signal, calls exit, or takes longer than CHILD_SECONDS, that is an error [defect] with a file
// that reproduces it (the lowered IR), which stays. If a time limit of the caller ends it, that is
// an error [limit], and no file is left. Invariants: this process does not open the library for
// that. Ownership: the output is in the arena given.
//
//     ChildJob job = {.func = func, .options = &options};
//     if (!child_compile(arena, &job, &object, diags)) …
#ifndef TILEC_COMPILE_JIT_CHILD_H
#define TILEC_COMPILE_JIT_CHILD_H

#include "codegen/codegen.h"
#include "passes/pass.h"

enum { CHILD_SECONDS = 120 };

typedef struct ChildJob {
    const IrFunc *func;
    const CodegenOptions *options;
    const char *library;  // passed to plugin_create
    unsigned seconds;     // 0: CHILD_SECONDS
    PassLimit limit;      // the time limit: the child is then ended with an error [limit]
} ChildJob;

bool child_compile(Arena *arena, const ChildJob *job, Str *output, Diags *diags);

#endif
