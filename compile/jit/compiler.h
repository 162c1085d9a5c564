// The compiler of a context: the parts that its kernels share, and the settings from the
// environment.
//
//     TILEC_CPU_TARGET=x86-64-v3   code of device cpu for this target instead of the machine's best
//     TILEC_COMPILE_IN_CHILD=1     as the context's option compile_in_child
//     TILEC_COMPILE_SECONDS=30     as the context's option compile_seconds
//     TILEC_CACHE…                 see cache.h;   TILEC_LLVM_LIBRARY: plugin.h
//     TILEC_PTX_COMPILER=ptxas     as the context's option ptx_compiler; TILEC_PTXAS…: cubin.h
//     TILEC_TUNE_FILE              what `tilec tune` found: compile/tune/table.h
//
// Invariants: made with the context; only rows are added to its table. Its parts have their own
// locks. Ownership: the context, which destroys it after its devices.
//
//     const Compiler *c = compiler_of(kernel->context);
#ifndef TILEC_COMPILE_JIT_COMPILER_H
#define TILEC_COMPILE_JIT_COMPILER_H

#include "compile/jit/images.h"
#include "compile/tune/table.h"

typedef struct Compiler {
    CodeServices services;
    Images *images;
    OsMutex *rows;  // guards the next two
    Arena *tune_arena;
    TuneTable *tuned;    // rows of the user's table, and those that were measured since
    OsMutex *measuring;  // the thread that holds it measures; others would disturb it
    CpuTarget target;
    // the value of TILEC_CPU_TARGET if it does not run here; else ""
    char bad_target[CPU_NAME_MAX];
    bool target_exists;  // but it names a target
    // the value of TILEC_COMPILE_SECONDS if it is not a number of seconds; else ""
    char bad_seconds[32];
} Compiler;

static inline const Compiler *compiler_of(const tilec_context *context) {
    return context->compiler;
}

// The target for which kernels of a device are specialised and compiled. Its `tune` lines apply.
// False if the interpreter runs the kernels.
bool compiler_target_of(const tilec_device *device, CodeTarget *target);
// Its name, in the arena; empty if there is none.
Str compiler_target_name(Arena *arena, const tilec_device *device);

#endif
