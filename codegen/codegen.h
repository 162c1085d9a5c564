// Codegen: lowered IR to code, through LLVM. The one door between compile/ and libtilec_llvm.
//
// libtilec_llvm carries LLVM and lld with hidden symbols and exports tilec_codegen_api alone;
// compile/ opens it on the first miss of the caches and looks at `version` and `build` before it
// believes the rest. Invariants: codegen decides nothing: every op of the lowered level has one
// translation, and how LLVM schedules it is asked for by the caller, who learns the facts of what
// came of it; what LLVM could abort on is refused before it gets there (a diagnostic that names
// op, type and target); the same input gives the same bytes; calls from several threads at once are
// fine. Ownership: results are in the arena given; nothing is kept between calls.
//
// LLVM ends its process where it finds itself in error: `on_defect` may leave something behind.
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

// What LLVM's scheduler and its register allocator are asked for.
typedef enum CodegenStrategy {
    CODEGEN_PLAIN,      // nothing: LLVM's own way
    CODEGEN_WAVES,      // AMD: registers for at least `count` waves on each SIMD
    CODEGEN_REGISTERS,  // AMD: an order that needs the fewest registers
    CODEGEN_CLAUSES,    // AMD: accesses of memory in long runs
    CODEGEN_BLOCKS,     // NVIDIA: ptxas leaves registers for at least `count` programs at once
} CodegenStrategy;

typedef struct CodegenSchedule {
    CodegenStrategy strategy;
    uint32_t count;
} CodegenSchedule;

// What LLVM says of the code that it made, as far as its metadata do: of AMD's GPUs.
typedef struct CodegenFacts {
    bool known;
    bool is_long;                           // so long that passes were left out
    uint32_t vectors, scalars;              // registers of a lane and of a wave
    uint32_t vector_spills, scalar_spills;  // registers kept in memory, and in lanes of others
    uint32_t scratch_bytes;                 // of a thread
    uint32_t shared_bytes;                  // of a program
} CodegenFacts;

typedef struct CodegenTimes {  // nanoseconds
    uint64_t build, optimise, emit, link;
} CodegenTimes;

typedef struct CodegenOptions {
    CodeTarget target;
    // For NVIDIA's GPUs CODEGEN_LLVM, or CODEGEN_ASM: PTX, which a driver is given.
    CodegenOutput output;
    Str entry;   // the symbol of the entry; of a kernel's name and what it is specialised to
    bool quick;  // of CPUs: the same bits from slower code that LLVM makes in less time: for tests
    // Line tables, so that gdb, perf and profilers know source lines; findings of the warp machine,
    // too.
    bool lines;
    uint32_t object_version;  // of AMD's code objects, 4 to 6; 0: CODEGEN_OBJECT_VERSION
    CodegenSchedule schedule;
    IrRanges *ranges;     // of the function, of what was checked, for this thread; NULL: not known
    CodegenTimes *times;  // NULL: not kept
    CodegenFacts *facts;  // NULL: nobody asks
    Remarks *remarks;     // NULL: nobody asks
    // Called when a defect of LLVM or of codegen is about to end the process, on the thread that
    // failed; NULL: nothing is. The IR is as it was given.
    void (*on_defect)(void *user);
    void *user;
    // Memory ran out, and what codegen had made is released, but for what LLVM was in the midst of:
    // its frames cannot be left in order. Does not return; NULL: the process ends.
    void (*no_memory)(void);
} CodegenOptions;

// A function of a built library: takes a stream, then a value for each of `values`, and hands their
// addresses to tilec_archive_call with its own number.
typedef struct CodegenStub {
    Str symbol;
    uint32_t value_count;
    const ArchiveValue *values;
} CodegenStub;

// What a built library is beside the code of its kernels (base/archive_abi.h).
typedef struct CodegenLibrary {
    CpuTarget host;      // the architecture counts: stubs are of its lowest level
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
    const Str *exports;  // all other symbols stay inside
    void (*no_memory)(void);
} CodegenSharedLibrary;

typedef struct CodegenApi {
    uint32_t version;
    const char *build;         // equal to codegen_build() of whoever calls
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

// What the two sides of the door must agree on beyond the version: sizes of shared structs,
// release.
#define CODEGEN_BUILD_TEXT "tilec 0.1.0, ir " CODEGEN_TEXT_(IR_LAYOUT_VERSION)
#define CODEGEN_TEXT_(x) CODEGEN_TEXT2_(x)
#define CODEGEN_TEXT2_(x) #x
#define IR_LAYOUT_VERSION 2  // goes up when a struct of ir/ or base/ changes its layout

typedef const CodegenApi *CodegenApiFunction(void);
#define CODEGEN_API_SYMBOL "tilec_codegen_api"
__attribute__((visibility("default"))) const CodegenApi *tilec_codegen_api(void);

#endif
