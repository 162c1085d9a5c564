// Layouts, and the other functions that the passes of this folder share.
//
// Invariants: layouts cover their tile and all threads of the program: the lanes of a warp and the
// warps (powers of two).
// Ownership: values.
//
//     Layout l = gpu_blocked(type, gpu_threads(f), 2);   // f16: 16 bytes a lane
#ifndef TILEC_PASSES_GPU_GPU_H
#define TILEC_PASSES_GPU_GPU_H

#include "ir/analysis/analysis.h"
#include "ir/analysis/layout_infer.h"
#include "ir/build.h"
#include "ir/edit.h"
#include "ir/layout/build.h"
#include "ir/layout/query.h"
#include "passes/pass.h"

enum { GPU_LANE_BITS_MAX = 6, GPU_ACCESS_BYTES = 16 };

// The threads of a program.
typedef struct GpuThreads {
    uint32_t lanes, warps;
} GpuThreads;
static inline GpuThreads gpu_threads(const IrFunc *f) {
    return (GpuThreads){ir_lane_count(f), (uint32_t)f->warps};
}
static inline uint32_t gpu_thread_count(GpuThreads threads) {
    return threads.lanes * threads.warps;
}

// For memory accesses of `bytes` per element: a lane holds neighbours along the last axis up to 16
// bytes; lanes run along that axis as far as it goes, then along the others; warps run along the
// first axes.
Layout gpu_blocked(const IrType *t, GpuThreads threads, uint32_t bytes);
// The distribution along the last axis but one: `elements` neighbours per lane (0: 1), if there are
// enough for all lanes. The steps along the axis are its powers of two; lanes take those of `late`
// after the others.
typedef struct GpuDepth {
    uint32_t elements, late;
} GpuDepth;
// The same, with this depth.
Layout gpu_blocked_deep(const IrType *t, GpuThreads threads, uint32_t bytes, GpuDepth deep);

// barriers.c: the thread.shared that a pointer points into. *elsewhere: it certainly points into
// other memory.
const IrOp *gpu_piece_of(const IrValue *p, bool *elsewhere);
// Do the places of two pieces have bytes in common?
bool gpu_pieces_overlap(const IrOp *a, const IrOp *b);

// proxies.c: marks the barriers that order accesses of threads with those of asynchronous units.
void gpu_mark_async(IrFunc *f, Arena *scratch);

// guard_facts.c: the facts that the guard of a variant has checked
// (compile/pipeline/launch_guard.h), as facts about extents and programs.
void gpu_apply_guard_facts(IrFunc *f, unsigned facts);

// scan.c: the layout in which a scan along the axis is computed.
Layout gpu_scan_layout(const IrType *type, uint32_t axis, GpuThreads threads);

// shared_trip.c: a tile's trip through shared memory: its layout there, free of bank conflicts if
// possible, and how it is loaded: as vectors of a lane, or by matrix loads. Both sides have plain
// accesses; false if no memory layout allows accesses of the width that they ask for.
typedef struct GpuTrip {
    LayoutTrip shared;
    bool by_matrix, transposed;
    LayoutMatrix matrix;
} GpuTrip;
bool gpu_trip(const LayoutSide *store, const LayoutSide *load, uint32_t bits,
              const Machine *machine, GpuTrip *trip);

// access.c: the elements of a lane's neighbours in the widest access that such a load or store of a
// view allows for a value of this layout: aligned, and all inside or all outside.
uint32_t gpu_view_vector(const IrFunc *f, unsigned facts, const IrRanges *ranges, const IrOp *op,
                         const Layout *l);

// copy_ring.c: the elements that one thread.copy moves if it replaces a load, of a view or through
// pointers, to memory of this layout (NULL: the best one); 0: a copy cannot replace the load.
typedef struct GpuFacts {
    const Machine *machine;
    unsigned facts;
    const IrRanges *ranges;
} GpuFacts;
uint32_t gpu_copy_vector(const IrFunc *f, const GpuFacts *facts, const IrOp *load,
                         const Layout *memory);
// The value of lanes that the load leaves out; NULL: 0.
const IrValue *gpu_load_pad(const IrOp *load);

// copy_direct.c: the size of a copy for this many neighbouring bytes of a lane: the same, or less;
// 0: there is no such copy.
uint32_t gpu_copy_bytes(const IrFunc *f, const GpuFacts *facts, uint32_t bytes);
// The memory for a load of a view, if a warp's lanes must write consecutive places
// (Machine.direct_bytes) and it is read as `wanted`; and the layout of the load. False if there is
// none.
typedef struct GpuDirect {
    Layout memory, load_layout;
    uint32_t vector;  // elements of a lane's copy
} GpuDirect;
bool gpu_direct(const IrFunc *f, const GpuFacts *facts, const IrOp *load, const Layout *wanted,
                GpuDirect *direct);

// dot_plan.c: the layout of a product's sum, and the layouts that it needs for its factors.
Layout gpu_dot_layout(const IrOp *op);
void gpu_fit_dot(IrOp *op);
// How a lane should load the factor b along K: as many neighbours as fill a register of the matrix
// unit, if no matrix load transposes them; the steps that lanes of the unit share come late.
GpuDepth gpu_dot_depth(const IrOp *op, const Machine *machine);

// pointers.c: the number of neighbours along an axis of a load or store through pointers that are
// known to be contiguous in memory, aligned, and all on or all off, in aligned groups: at most 16
// bytes.
typedef struct GpuFuncFacts {
    const IrFunc *func;
    const IrRanges *ranges;
    unsigned facts;
} GpuFuncFacts;
uint32_t gpu_pointer_run(const GpuFuncFacts *known, const IrOp *op, uint32_t axis);
// The same of pointers alone, whatever their alignment, and of any number.
uint32_t gpu_pointer_neighbours(const GpuFuncFacts *known, const IrValue *pointers, uint32_t axis);
// compare.c: the size, a power of two, of the aligned groups of elements along an axis for which a
// comparison has the same result.
uint32_t gpu_compare_run(const IrRanges *ranges, const IrOp *op, uint32_t axis);

#endif
