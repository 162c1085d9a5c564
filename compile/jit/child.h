// Codegen in a child process: what LLVM does to its process then harms no other.
//
// The child opens libtilec_llvm itself, compiles, sends the result back and ends. One that is ended
// by a signal, calls exit, or takes longer than CHILD_SECONDS becomes an error [defect] with a file
// that reproduces it (the lowered IR), which stays. One that a limit of time ends is an error
// [limit], and leaves nothing. Invariants: this process never opens the
// library on this way. Ownership: the output is in the arena given.
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
    const char *library;  // plugin_create
    unsigned seconds;     // 0: CHILD_SECONDS
    PassLimit limit;      // when the child is ended, with an error [limit] instead
} ChildJob;

bool child_compile(Arena *arena, const ChildJob *job, Str *output, Diags *diags);

#endif
