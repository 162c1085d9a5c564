// Explain: what one variant of a kernel costs on a target, and why. It holds facts about the
// compiled code, and the remarks of the passes and the code generator.
//
// Invariants: nothing comes from a cache and nothing is kept; the facts describe the IR from which
// the code was made. Facts that only a tool of the vendor knows (registers, spills) are `measured`,
// if services->cubin finds that tool. Ownership: the unit's arena; layouts are the module's.
//
//     Explain e;
//     if (explain(unit, compiled, target, variant, &services, &e)) …   // e.loops.data[0].counts
#ifndef TILEC_COMPILE_REPORT_EXPLAIN_H
#define TILEC_COMPILE_REPORT_EXPLAIN_H

#include "compile/pipeline/compile.h"
#include "compile/report/cpu_cost.h"
#include "compile/report/estimate.h"
#include "target/occupancy.h"

// The counts of a kernel and of each of its loops: COUNT(name, key, heading).
#define EXPLAIN_GPU_COUNTS(COUNT)                    \
    COUNT(LOADS, "loads", "loads")                   \
    COUNT(STORES, "stores", "stores")                \
    COUNT(COPIES, "copies", "async")                 \
    COUNT(SHARED_LOADS, "sharedLoads", "sh.load")    \
    COUNT(SHARED_STORES, "sharedStores", "sh.store") \
    COUNT(MATRIX, "matrixOps", "mma")                \
    COUNT(SHUFFLES, "shuffles", "shuffles")          \
    COUNT(ATOMICS, "atomics", "atomics")             \
    COUNT(BARRIERS, "barriers", "barriers")
#define EXPLAIN_CPU_COUNTS(COUNT)                    \
    COUNT(VECTOR_LOADS, "vectorLoads", "loads")      \
    COUNT(VECTOR_STORES, "vectorStores", "stores")   \
    COUNT(ELEMENTS, "elementAccesses", "elements")   \
    COUNT(MULTIPLY_ADDS, "multiplyAdds", "mul-adds") \
    COUNT(CPU_ATOMICS, "atomics", "atomics")

typedef enum ExplainCount {
#define COUNT(name, key, heading) EXPLAIN_##name,
    EXPLAIN_GPU_COUNTS(COUNT) EXPLAIN_CPU_COUNTS(COUNT)
#undef COUNT
        EXPLAIN_COUNTS
} ExplainCount;
typedef struct ExplainCountInfo {
    const char *key;      // in JSON
    const char *heading;  // of a column
    bool gpu;             // of GPUs, or of CPUs
} ExplainCountInfo;
const ExplainCountInfo *explain_count_info(ExplainCount count);

// The kernel (depth 0, the first) or a loop. Counts are for one iteration, without inner loops.
typedef struct ExplainLoop {
    Span span;
    uint32_t depth;
    bool counted;  // `for`, else `while`
    Symbol name;   // of the counter in the source; NULL: the compiler made the loop
    uint32_t ops;
    CpuCost cost;  // CPUs
    uint32_t counts[EXPLAIN_COUNTS];
} ExplainLoop;

// How deep in loops the code of a place of the source is.
typedef struct ExplainDepth {
    Span span;
    uint32_t depth;
} ExplainDepth;

// One layout, and the places of the source where its tiles are made.
typedef struct ExplainLayout {
    const IrType *type;
    VEC(Span) places;
} ExplainLayout;

// Facts of a code object, for AMD's GPUs.
typedef struct ExplainAmd {
    bool known;
    uint32_t lanes;                         // per wave
    uint32_t vectors, accumulators;         // registers per thread; accumulators are included
    uint32_t scalars;                       // per wave
    uint32_t vector_spills, scalar_spills;  // registers
    uint32_t scratch_bytes;                 // per thread
} ExplainAmd;

// The calls of a function, by position.
typedef struct ExplainCalls {
    Symbol name;  // NULL: there are none
    VEC(Span) places;
} ExplainCalls;

typedef struct Explain {
    CodeTarget target;
    const IrFunc *func;
    Machine machine;
    const MetaKernel *meta;
    uint32_t variant;
    CodeNotes notes;
    uint32_t warps;
    uint64_t code_bytes;  // machine code; PTX for NVIDIA
    PtxFacts measured;    // by a tool of NVIDIA
    Str measured_by;      // "ptxas 13.0.88"; empty if no tool was found
    ExplainAmd amd;
    Occupancy occupancy;  // GPUs
    Estimate estimate;    // GPUs
    Remarks *remarks;
    VEC(ExplainLoop) loops;
    VEC(ExplainDepth) depths;    // the greatest of each place
    VEC(ExplainLayout) layouts;  // GPUs: the layouts of the gpu level
} Explain;

// The cost of a remark, an order of magnitude: that of its reason, by its numbers, four times as
// much for each loop around its place. A remark about the whole kernel counts as one of the
// innermost loop.
uint64_t explain_cost(const Explain *e, const Remark *r);
// The calls of the function in which a place is. None: it is in the kernel itself.
ExplainCalls explain_calls(const Explain *e, Arena *arena, Span at);
// Returns false after reporting an error.
bool explain(Unit *unit, const Compiled *compiled, CodeTarget target, uint32_t variant,
             const CodeServices *services, Explain *e);

#endif
