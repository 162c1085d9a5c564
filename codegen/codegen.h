// Codegen: lowered IR to code, through LLVM. The only interface between compile/ and libtilec_llvm.
//
// libtilec_llvm carries LLVM and lld with hidden symbols and exports tilec_codegen_api alone;
// compile/ opens it on the first miss of the caches and checks `version` and `build` before it uses
// anything else. Invariants: codegen decides nothing: every op of the lowered level has one
// translation; the caller chooses LLVM's scheduling, and gets the facts of the result. Anything on
// which LLVM could abort is refused before (a diagnostic that names op, type and target). The same
// input gives the same bytes. Several threads may call at once. Ownership: results are in the arena
// given; nothing is kept between calls.
//
// LLVM ends its process if it finds an internal error: `on_defect` may save a report before.
//
//     const CodegenApi *api = tilec_codegen_api();
//     Str object;
//     if (!api->compile(arena, func, &options, &object, diags)) …
#ifndef TILEC_CODEGEN_CODEGEN_H
#define TILEC_CODEGEN_CODEGEN_H

#include "base/archive_abi.h"
#include "base/diag.h"
#include "base/gpu_code.h"
#include "ir/analysis/analysis.h"
#include "ir/ir.h"
#include "ir/remark.h"
#include "target/target.h"

enum { CODEGEN_VERSION = 10, CODEGEN_OBJECT_VERSION = 5 };

typedef enum CodegenOutput {
    CODEGEN_LLVM,    // LLVM IR as text, as handed to LLVM
    CODEGEN_ASM,     // assembly
    CODEGEN_OBJECT,  // relocatable
    CODEGEN_SHARED,  // linked by lld: what the cpu device loads; AMD's code object
} CodegenOutput;

// The goal that LLVM's scheduler and register allocator are given.
typedef enum CodegenStrategy {
    CODEGEN_DEFAULT,    // LLVM's default
    CODEGEN_WAVES,      // AMD: registers for at least `count` waves on each SIMD
    CODEGEN_REGISTERS,  // AMD: an order that needs the fewest registers
    CODEGEN_CLAUSES,    // AMD: long runs of memory accesses
    CODEGEN_BLOCKS,     // NVIDIA: ptxas leaves registers for at least `count` programs at once
} CodegenStrategy;

typedef struct CodegenSchedule {
    CodegenStrategy strategy;
    uint32_t count;
} CodegenSchedule;

// Facts that LLVM's metadata have about the code; for AMD's GPUs only.
typedef struct CodegenFacts {
    bool known;
    bool is_long;                           // so long that passes were left out
    uint32_t vectors, scalars;              // registers of a lane and of a wave
    uint32_t vector_spills, scalar_spills;  // to memory, and to lanes of other registers
    uint32_t scratch_bytes;                 // of a thread
    uint32_t shared_bytes;                  // of a program
} CodegenFacts;

typedef struct CodegenTimes {  // nanoseconds
    uint64_t build, optimise, emit, link;
} CodegenTimes;

typedef struct CodegenOptions {
    CodeTarget target;
    // For NVIDIA's GPUs: CODEGEN_LLVM, or CODEGEN_ASM for PTX, which a driver takes.
    CodegenOutput output;
    Str entry;   // the symbol of the entry: the kernel's name and its specialisation
    bool quick;  // CPUs: slower code with the same results, compiled in less time: for tests
    // Line tables, so that gdb, perf, profilers and findings of the warp machine show source lines.
    bool lines;
    uint32_t object_version;  // of AMD's code objects, 4 to 6; 0: CODEGEN_OBJECT_VERSION
    CodegenSchedule schedule;
    IrRanges *ranges;     // of the function, for checked facts, of this thread; NULL: not known
    CodegenTimes *times;  // NULL: not kept
    CodegenFacts *facts;  // NULL: not wanted
    Remarks *remarks;     // NULL: not wanted
    // Called on the failing thread when a defect of LLVM or of codegen is about to end the process;
    // NULL: no call. The IR is unchanged.
    void (*on_defect)(void *user);
    void *user;
    // Called when memory has run out. Codegen has released its objects, except those in which LLVM
    // was interrupted: its frames cannot be unwound. Does not return; NULL: the process ends.
    void (*no_memory)(void);
} CodegenOptions;

// A function of a built library: it takes a stream, then a value for each of `values`, and passes
// their addresses and its own number to tilec_archive_call.
typedef struct CodegenStub {
    Str symbol;
    uint32_t value_count;
    const ArchiveValue *values;
} CodegenStub;

// The parts of a built library in addition to the code of its kernels (base/archive_abi.h).
typedef struct CodegenLibrary {
    CpuTarget host;      // only the architecture counts: stubs are for its lowest level
    Str archive_symbol;  // of the tilec_archive
    Str bytes;
    uint32_t entry_count;
    const Str *entries;  // symbols of code for CPUs, in other objects; hidden
    uint32_t stub_count;
    const CodegenStub *stubs;  // stub i calls function i
    void (*no_memory)(void);   // as of CodegenOptions
} CodegenLibrary;

// Objects to one shared library.
typedef struct CodegenSharedLibrary {
    CpuTarget host;
    Str soname;
    Str runtime;  // the soname of the runtime that the loader is to load with it
    uint32_t object_count;
    const Str *objects;
    uint32_t export_count;
    const Str *exports;  // all other symbols are hidden
    void (*no_memory)(void);
} CodegenSharedLibrary;

typedef struct CodegenApi {
    uint32_t version;
    const char *build;         // equal to the caller's codegen_build()
    const char *llvm_version;  // "22.1.8"
    // False after reporting. `func` is verified IR of the cpu level, or for a GPU of the thread
    // level.
    bool (*compile)(Arena *arena, const IrFunc *func, const CodegenOptions *options, Str *output,
                    Diags *diags);
    // AMD machine code as text, for the warp machine.
    GpuDisassemble *amd_disassemble;
    // The object that has a library's stubs and data; false after reporting.
    bool (*library)(Arena *arena, const CodegenLibrary *library, Str *object, Diags *diags);
    bool (*link_shared)(Arena *arena, const CodegenSharedLibrary *library, Str *shared,
                        Diags *diags);
} CodegenApi;

// The two sides of the interface must also agree on the sizes of shared structs and the release.
#define CODEGEN_BUILD_TEXT "tilec 0.1.0, ir " CODEGEN_TEXT_(IR_LAYOUT_VERSION)
#define CODEGEN_TEXT_(x) CODEGEN_TEXT2_(x)
#define CODEGEN_TEXT2_(x) #x
#define IR_LAYOUT_VERSION 2  // goes up when a struct of ir/ or base/ changes its layout

typedef const CodegenApi *CodegenApiFunction(void);
#define CODEGEN_API_SYMBOL "tilec_codegen_api"
__attribute__((visibility("default"))) const CodegenApi *tilec_codegen_api(void);

#endif
