// Building a library: functions × targets, compiled in parallel, to an archive and objects.
//
//     build_library     each job (function, target): source → tile IR → code of every
//                       alternative and variant, packed    build.c, through the caches of code.h
//                     all jobs → archive                   archive.c
//                     archive, stubs → the first object    codegen (CodegenApi.library)
//     build_header      the C header                       build_header.c
//
// Invariants: the same plan gives the same bytes, with any number of threads. Errors are in the
// diagnostics of the function's source, each once, in the order of jobs. Ownership: results are in
// the arena given; the caller keeps the plan's units.
//
//     BuildPlan plan = {.name = STR("kernels"), …};
//     Built built;
//     if (!build_library(arena, &plan, &built)) …
#ifndef TILEC_COMPILE_AOT_BUILD_H
#define TILEC_COMPILE_AOT_BUILD_H

#include "base/ar.h"
#include "compile/pipeline/compile.h"
#include "compile/tune/table.h"

typedef struct BuildBinding {
    Str name;
    bool is_type;
    bool pointer;  // the type is that of a pointer's elements
    Dtype type;
    int64_t value;  // for a const or an option
    Str text;       // an expression of the language, in place of these; or empty
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
    uint32_t alternative_count;  // at least one: a launch takes the first that fits
    const BuildAlternative *alternatives;
} BuildFunction;

typedef struct BuildPlan {
    Str name;     // NAME_archive, NAME_load
    Str command;  // the command that builds it, without outputs and targets
    uint32_t source_count;
    const char *const *paths;
    Unit *const *units;  // loaded without errors; they collect the errors of the build
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
    // called by any thread, by one at a time
    void (*progress)(void *user, uint32_t done, uint32_t all);
    void *user;
} BuildPlan;

// One piece of code, as it is stored in the archive or an object.
typedef struct BuiltCode {
    uint32_t function, target, alternative, variant;
    Str bytes;
    const char *extension;  // "ptx", "cubin", "hsaco", "o"
    bool cached;
} BuiltCode;

// A function, as its first target has it.
typedef struct BuiltFunction {
    uint32_t count;
    const MetaKernel *const *metas;  // of the alternatives that were asked for
    const MetaKernel *params;        // how C passes the arguments of all of them
} BuiltFunction;

typedef struct Built {
    Str archive;
    uint64_t interface_number;
    size_t packed_bytes;  // of the GPU code
    VEC(ArMember) members;
    VEC(BuiltCode) codes;
    BuiltFunction *functions;
} Built;

// False after reporting.
bool build_library(Arena *arena, const BuildPlan *plan, Built *built);
// Links the members to one shared library.
bool build_shared(Arena *arena, const BuildPlan *plan, const Built *built, Str soname, Str *shared);

// Finds the target whose code runs on the device of this name; the name is as in rows of tables.
// False if there is none.
bool build_device_takes(const BuildPlan *plan, Str device, uint32_t *target);

// "tilec_status softmax(tilec_stream *stream, tilec_view x, tilec_view y)". The grid of a kernel
// without its own comes last.
Str build_prototype(Arena *arena, Str symbol, const MetaKernel *params);
// The form in which a stub takes each argument.
const ArchiveValue *build_values(Arena *arena, const MetaKernel *params, uint32_t *count);
Str build_header(Arena *arena, const BuildPlan *plan, const Built *built);
// A description of what was built, as JSON.
Str build_manifest(Arena *arena, const BuildPlan *plan, const Built *built);

#endif
