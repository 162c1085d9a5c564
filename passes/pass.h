// Passes and their manager.
//
// A pass is a pure function on one IR function: it edits it in place and returns whether it changed
// anything; it keeps nothing between calls. There is one file for each pass, and one row in
// passes.def. A pipeline is a constant table of passes (pipelines.c), each entry with the reason
// for its position.
// Invariants: verified IR in, verified IR out; a pass keeps the meaning of every program bit for
// bit (NaN, -0, traps of assert, order of effects included) unless its row says otherwise. Analyses
// are kept from pass to pass (pass_ranges) until a pass reports a change; so a pass that changes
// anything must report it. A pass that edits after it has requested an analysis must expect this:
// new values have no facts, and others have those from before the edit.
// Ownership: the function's module arena for new IR, `scratch` for everything else (the manager
// resets it after each pass).
//
//     size_t n;
//     const PassStep *steps = pipeline_steps(PIPELINE_TILE, &n);
//     if (!passes_run(m, steps, n, &(PassOptions){.verify = true}, diags)) …
#ifndef TILEC_PASSES_PASS_H
#define TILEC_PASSES_PASS_H

#include "base/diag.h"
#include "ir/analysis/analysis.h"
#include "ir/ir.h"
#include "ir/remark.h"
#include "target/machine.h"

typedef struct PassAnalyses PassAnalyses;  // analyses.c

typedef struct PassContext {
    Arena *scratch;
    Diags *diags;
    const Machine *machine;  // never NULL; of the target of the compilation
    unsigned facts;          // FACT_ bits of the variant, base/facts.h
    uint64_t mapped;   // views that may be copied by tensor maps: bit i stands for parameter i
    Remarks *remarks;  // NULL: no remarks are collected
    PassAnalyses *analyses;  // NULL: none are kept
    // Set by a pass that only adds, removes or moves ops without results, or moves ops whose
    // results have no facts: ir_ranges is still valid.
    bool keeps_ranges;
} PassContext;

// ir_ranges of the function as it is now, from checked facts: kept, or computed.
IrRanges *pass_ranges(PassContext *context, const IrFunc *f);

typedef bool (*PassFunction)(IrFunc *f, PassContext *context);  // true: something was changed

typedef enum PassId {
#define PASS(name, text, levels, doc) PASS_##name,
#include "passes/passes.def"
#undef PASS
    PASSES
} PassId;

// The levels of functions that a pass runs on; see passes.def.
typedef enum PassLevels { LEVELS_ALL, LEVELS_PLAIN, LEVELS_CPU } PassLevels;

typedef struct PassInfo {
    const char *text;  // "cse"
    PassLevels levels;
    const char *doc;
    PassFunction run;
} PassInfo;
const PassInfo *pass_info(PassId id);
bool pass_from_text(Str text, PassId *id);

typedef struct PassStep {
    PassId pass;
    const char *why_here;
} PassStep;

typedef enum PipelineId {
    PIPELINE_NONE,
    // the start for every target: specialise, inline, simplify, clean, loops, bounds
    PIPELINE_TILE,
    // tile IR to the cpu level, ready for codegen/cpu
    PIPELINE_CPU,
    // the part of it that makes loops over vectors, without the clean-up before or after
    PIPELINE_CPU_LOOPS,
    // tile IR to the thread level, ready for the codegen of a GPU
    PIPELINE_GPU,
    PIPELINES
} PipelineId;
const PassStep *pipeline_steps(PipelineId id, size_t *count);
const char *pipeline_name(PipelineId id);
bool pipeline_from_text(Str text, PipelineId *id);

typedef struct PassTiming {
    PassId pass;
    uint64_t ns;
    bool changed;
    uint32_t ops_after;
} PassTiming;
typedef VEC(PassTiming) PassTimings;

// The time limit of a compilation; zeroed: there is none. It ends passes in their loops
// (base/recover.h), which leaves a function half changed: the module is of no use any more.
typedef struct PassLimit {
    uint64_t end;      // os_time_ns
    unsigned seconds;  // the limit as given
} PassLimit;
// Reports nothing while there is time; false after an error [limit] that names the step in which it
// ended.
bool pass_limit_holds(const PassLimit *limit, const IrFunc *f, const char *what, Diags *diags);

typedef struct PassOptions {
    // After every pass that changed something, and the last one; a failure is a defect of the
    // compiler [pass].
    bool verify;
    const PassId *dump_after;  // the results of these passes are given to `dump`
    size_t dump_after_count;
    bool dump_all;
    void (*dump)(void *user, PassId pass, const IrFunc *f);
    void *user;
    const Machine *machine;  // NULL: that of x86-64-v3
    unsigned facts;
    uint64_t mapped;       // see PassContext
    PassTimings *timings;  // NULL: not kept; pushed with the module's arena
    Remarks *remarks;      // NULL: not made
    PassLimit limit;
    PassAnalyses *analyses;  // for use after the last pass; NULL: not needed
} PassOptions;

// Analyses of functions: filled by passes_run, and used by its caller afterwards.
PassAnalyses *pass_analyses_create(void);
void pass_analyses_destroy(PassAnalyses *analyses);
// NULL: unknown, or no longer valid.
IrRanges *pass_analyses_ranges(const PassAnalyses *analyses, const IrFunc *f);
// Called by the manager: `to` gets the analyses of `from`, and no longer has its own.
void pass_analyses_move(PassAnalyses *to, PassAnalyses *from);
// Called by the manager: the function has changed.
void pass_analyses_drop(PassAnalyses *analyses, const IrFunc *f);

// Runs the steps on every function of the module, in order. False if a pass reported an error.
bool passes_run(IrModule *m, const PassStep *steps, size_t count, const PassOptions *options,
                Diags *diags);
// "a,b,c": pass names and pipeline names. NULL after reporting the unknown names and the known
// ones.
const PassStep *passes_parse(Arena *arena, Str list, size_t *count, Diags *diags);

#endif
