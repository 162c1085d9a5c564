// What the passes of this folder share: the layouts they choose.
//
// Invariants: layouts cover their tile and all threads of the program: the lanes of
// a warp and the warps (powers of two). Ownership: values.
//
//     Layout l = gpu_blocked(type, gpu_threads(f), 2);   // f16: 16 bytes a lane
#ifndef TILEC_PASSES_GPU_GPU_H
#define TILEC_PASSES_GPU_GPU_H

#include "ir/analysis/analysis.h"
#include "ir/analysis/spread.h"
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

// For memory accesses of `bytes` an element: neighbours along the last axis in one lane up to 16
// bytes, lanes along it as far as it goes, then along the others; warps along the first axes.
Layout gpu_blocked(const IrType *t, GpuThreads threads, uint32_t bytes);
// How what lies along the last axis but one is shared: `elements` neighbours a lane (0: 1), where
// there is enough for all; of the steps along it, which are its powers of two, the lanes take those
// of `late` after the others.
typedef struct GpuDepth {
    uint32_t elements, late;
} GpuDepth;
// The same, as deep.
Layout gpu_blocked_deep(const IrType *t, GpuThreads threads, uint32_t bytes, GpuDepth deep);

// barriers.c: the thread.shared that a pointer leads into. *elsewhere: into other memory for sure.
const IrOp *gpu_piece_of(const IrValue *p, bool *elsewhere);

// guard_facts.c: what the guard of a variant with these facts has asked for
// (compile/pipeline/launch_guard.h), as facts of extents and programs.
void gpu_known(IrFunc *f, unsigned facts);

// scan.c: in which a scan along the axis is done.
Layout gpu_scan_layout(const IrType *type, uint32_t axis, GpuThreads threads);

// shared_trip.c: a tile through shared memory: its layout there, free of bank conflicts where that
// can be, and how it is loaded: as vectors of a lane, or by matrix loads. Both sides are plain
// ones; false: there is none with accesses as wide as they ask for.
typedef struct GpuTrip {
    LayoutTrip way;
    bool by_matrix, turned;
    LayoutMatrix matrix;
} GpuTrip;
bool gpu_trip(const LayoutSide *store, const LayoutSide *load, uint32_t bits,
              const Machine *machine, GpuTrip *trip);

// access.c: elements of the widest access of a lane's neighbours that such a load or store of a
// view allows when its value is spread so: aligned, all inside or all outside.
uint32_t gpu_view_vector(const IrFunc *f, unsigned facts, const IrRanges *ranges, const IrOp *op,
                         const Layout *l);

// copy_ring.c: elements that one thread.copy brings from what a load of a view reads to a place of
// this layout (NULL: of the best); 0: a copy cannot be in place of the load.
typedef struct GpuFacts {
    const Machine *machine;
    unsigned facts;
    const IrRanges *ranges;
} GpuFacts;
uint32_t gpu_copy_vector(const IrFunc *f, const GpuFacts *facts, const IrOp *load,
                         const Layout *memory);

// copy_direct.c: what a copy brings of so many neighbouring bytes of a lane: as many, or fewer; 0:
// there is no such copy.
uint32_t gpu_copy_bytes(const IrFunc *f, const GpuFacts *facts, uint32_t bytes);
// The memory for what a load of a view brings, where a warp's lanes must lie there in a row
// (Machine.direct_bytes), and is read as `wanted`; how the load is spread then. False: there is
// none.
typedef struct GpuDirect {
    Layout memory, spread;
    uint32_t vector;  // elements of a lane's copy
} GpuDirect;
bool gpu_direct(const IrFunc *f, const GpuFacts *facts, const IrOp *load, const Layout *wanted,
                GpuDirect *direct);

// dot_plan.c: how the sum of a product is spread; what it wants of its factors.
Layout gpu_dot_layout(const IrOp *op);
void gpu_fit_dot(IrOp *op);
// How a lane should load the factor b along K: neighbours as fill a register of the matrix unit,
// where no matrix load turns them, and late what lanes of the unit share.
GpuDepth gpu_dot_depth(const IrOp *op, const Machine *machine);

// pointers.c: as many neighbours along an axis of a load or store of pointers, in aligned groups,
// are known to lie together, aligned and all on or all off: at most 16 bytes of them.
typedef struct GpuKnown {
    const IrFunc *func;
    const IrRanges *ranges;
    unsigned facts;
} GpuKnown;
uint32_t gpu_pointer_run(const GpuKnown *known, const IrOp *op, uint32_t axis);
// compare.c: does a comparison say the same for aligned groups of elements along an axis? Of how
// many, a power of two.
uint32_t gpu_compare_run(const IrRanges *ranges, const IrOp *op, uint32_t axis);

#endif
