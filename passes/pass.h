// Passes and their manager.
//
// A pass is a pure function on one IR function: it edits it in place and says whether it changed
// anything; it keeps nothing between calls. One file each, one row each in passes.def. A pipeline
// is a constant table of passes (pipelines.c), each entry with the reason for its place.
// Invariants: verified IR in, verified IR out; a pass keeps the meaning of every program bit for
// bit (NaN, -0, traps of assert, order of effects included) unless its row says otherwise.
// Analyses are kept from pass to pass (pass_ranges) until one says that it changed the function; so
// a pass that changes anything says so, and one that edits after it has asked knows what it does:
// of new values nothing is known, and of the others what held before.
// Ownership: the function's module arena for new IR, `scratch` for everything else (reset after
// each pass by the manager).
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
    const Machine *machine;  // never NULL; of the target that is compiled for
    unsigned facts;          // FACT_ bits of the variant, base/facts.h
    Remarks *remarks;        // NULL: nobody asks
    PassAnalyses *analyses;  // NULL: none are kept
    // Set by a pass that only adds, removes or moves ops without results, or moves those of whose
    // results nothing is known: what ir_ranges said still holds.
    bool keeps_ranges;
} PassContext;

// ir_ranges of the function as it is now, of what was checked: kept, or computed.
IrRanges *pass_ranges(PassContext *context, const IrFunc *f);

typedef bool (*PassFunction)(IrFunc *f, PassContext *context);  // true: changed something

typedef enum PassId {
#define PASS(name, text, levels, doc) PASS_##name,
#include "passes/passes.def"
#undef PASS
    PASSES
} PassId;

// Which functions a pass runs on, by their level; see passes.def.
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
    // what every target begins with: specialise, inline, simplify, clean, loops, bounds
    PIPELINE_TILE,
    // tile IR to the cpu level, ready for codegen/cpu
    PIPELINE_CPU,
    // of it what makes loops over vectors, and nothing that cleans up before or after
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

// When compiling has to be done; zeroed: there is no limit.
typedef struct PassLimit {
    uint64_t end;      // os_time_ns
    unsigned seconds;  // that were given
} PassLimit;
// Nothing is said while there is time; false after an error [limit] that names what it ended in.
bool pass_limit_holds(const PassLimit *limit, const IrFunc *f, const char *what, Diags *diags);

typedef struct PassOptions {
    bool verify;               // after every pass; a failure is a defect of ours [pass]
    const PassId *dump_after;  // these passes' results are given to `dump`
    size_t dump_after_count;
    bool dump_all;
    void (*dump)(void *user, PassId pass, const IrFunc *f);
    void *user;
    const Machine *machine;  // NULL: that of x86-64-v3
    unsigned facts;
    PassTimings *timings;    // NULL: not kept; pushed with the module's arena
    Remarks *remarks;        // NULL: not made
    PassLimit limit;         // looked at after every pass
    PassAnalyses *analyses;  // to be used behind the last pass; NULL: nobody does
} PassOptions;

// What is known of functions: by passes_run, and by whoever goes on with what it has made.
PassAnalyses *pass_analyses_create(void);
void pass_analyses_destroy(PassAnalyses *analyses);
// NULL: it is not known, or no longer.
IrRanges *pass_analyses_ranges(const PassAnalyses *analyses, const IrFunc *f);
// Of the manager: the function has changed.
void pass_analyses_drop(PassAnalyses *analyses, const IrFunc *f);

// Runs the steps on every function of the module, in order. False when a pass reported an error.
bool passes_run(IrModule *m, const PassStep *steps, size_t count, const PassOptions *options,
                Diags *diags);
// "a,b,c": pass names and pipeline names. NULL after reporting what is unknown and what there is.
const PassStep *passes_parse(Arena *arena, Str list, size_t *count, Diags *diags);

#endif
