// Building a library: functions × targets, compiled side by side, to an archive and objects.
//
//     build_library     each job (function, target): source → tile IR → code of every
//                       alternative and variant, packed    build.c, through the caches of code.h
//                     all jobs → archive                   archive.c
//                     archive, stubs → the first object    codegen (CodegenApi.library)
//     build_header      the C header                       build_header.c
//
// Invariants: the same plan gives the same bytes, whatever the number of threads; what is wrong is
// in the diagnostics of the function's source, each once, in the order of jobs. Ownership: results
// are in the arena given; the plan's units stay the caller's.
//
//     BuildPlan plan = {.name = STR("kernels"), …};
//     Built built;
//     if (!build_library(arena, &plan, &built)) …
#ifndef TILEC_COMPILE_AOT_BUILD_H
#define TILEC_COMPILE_AOT_BUILD_H

#include "base/ar.h"
#include "compile/pipeline/compile.h"
#include "compile/report/tuner.h"

typedef struct BuildBinding {
    Str name;
    bool is_type;
    Dtype type;
    int64_t value;  // of a const or an option
} BuildBinding;

typedef struct BuildAlternative {
    uint32_t count;
    const BuildBinding *bindings;
} BuildAlternative;

typedef struct BuildFunction {
    Str symbol;
    uint32_t source;
    Str kernel;
    unsigned math;
    uint32_t alternative_count;  // at least one: the first that fits is taken
    const BuildAlternative *alternatives;
} BuildFunction;

typedef struct BuildPlan {
    Str name;     // NAME_archive, NAME_load
    Str command;  // how to build it, but for outputs and targets
    uint32_t source_count;
    const char *const *paths;
    Unit *const *units;  // loaded without errors; they take what is wrong
    uint32_t function_count;
    const BuildFunction *functions;  // in the order of their symbols
    uint32_t target_count;
    const CodeTarget *targets;
    CpuTarget host;
    bool lines;
    uint32_t object_version;
    const TuneTable *tuned;  // NULL: none
    const CodeServices *services;
    uint32_t threads;
    void (*progress)(void *user, uint32_t done, uint32_t all);  // any thread, one at a time
    void *user;
} BuildPlan;

// One piece of code, as it is in the archive or an object.
typedef struct BuiltCode {
    uint32_t function, target, alternative, variant;
    Str bytes;
    const char *extension;  // "ptx", "cubin", "hsaco", "o"
    bool cached;
} BuiltCode;

typedef struct Built {
    Str archive;
    uint64_t interface_number;
    size_t packed_bytes;  // of GPU code
    VEC(ArMember) members;
    VEC(BuiltCode) codes;
    const MetaKernel **metas;  // of each function, for its first target
} Built;

// False after reporting.
bool build_library(Arena *arena, const BuildPlan *plan, Built *built);
// One shared library of the members.
bool build_shared(Arena *arena, const BuildPlan *plan, const Built *built, Str soname, Str *shared);

// Which target's code a device takes that is called so, as rows of tables are; false: none.
bool build_device_takes(const BuildPlan *plan, Str device, uint32_t *target);

// "tilec_status softmax(tilec_stream *stream, tilec_view x, tilec_view y)"
Str build_prototype(Arena *arena, Str symbol, const MetaKernel *meta);
// How a stub takes the arguments.
const ArchiveValue *build_values(Arena *arena, const MetaKernel *meta);
Str build_header(Arena *arena, const BuildPlan *plan, const Built *built);
// What was built, as JSON.
Str build_manifest(Arena *arena, const BuildPlan *plan, const Built *built);

#endif
