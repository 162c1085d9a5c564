// gpu_threads: tiles with layouts become the code of each thread. This header is shared by its
// files; no other file includes it.
//
// How: the body is rebuilt, op by op, in order. A tile becomes a vector (of rank 1) of the elements
// that the thread holds, register by register of its layout; a scalar stays one, which every thread
// has. Control flow stays, around the lowered regions. Data moves between threads through
// thread.shuffle or shared memory. Code that writes shared memory puts a thread.barrier after the
// write, before any read, and one before the memory is written again (barriers.c removes the
// redundant ones).
//
//     threads.c      the walk; control; ops that stay   values.c      values and memory ops
//     memory.c       loads and stores: access.c,        convert.c     layout to layout; shuffle.c
//                    packed.c, pointers.c
//     reduce.c       reductions                         scan.c        scans
//     dot.c          products, with dot_*.c             sort.c        sort, topk, histogram, gather
//     combiner.c     combiners of the program's own     shared_trip.c through shared memory
//     effect.c       atomics, assert; print.c           coords.c      layouts as numbers
//     copy_ring.c    copies during the computation      copy_direct.c straight to shared memory
//     copy_map.c     copies by tensor maps              shared_budget.c  shared memory left
//     network.c      sorts in registers
//
// Invariants: registers that hold the same element hold the same value, in all threads. Ops that
// change memory are executed by one of the threads that hold an element (threads_owner). Control is
// uniform.
// Ownership: everything but new IR is in the pass's scratch.
#ifndef TILEC_PASSES_GPU_LOWER_THREADS_H
#define TILEC_PASSES_GPU_LOWER_THREADS_H

#include "base/map.h"
#include "base/os/os.h"
#include "base/status.h"
#include "ir/analysis/analysis.h"
#include "passes/gpu/cost.h"
#include "passes/gpu/gpu.h"

typedef struct SharedBudget SharedBudget;

typedef struct Threads {
    IrFunc *func;
    IrModule *module;
    Arena *scratch;
    Diags *diags;
    const Machine *machine;
    unsigned facts;
    Remarks *remarks;  // NULL: no remarks are collected
    IrRanges *ranges;
    SharedBudget *budget;
    const IrOp *op;   // that is lowered
    Map map;          // IrValue * of the gpu level → IrValue * of the thread level
    IrBuilder b;      // the position of new ops, with the span of the op that is lowered
    IrValue *thread;  // the latest thread.id
    uint32_t sites;   // asserts and prints so far
    IrValue *when;    // copies write zeros where this bool is false; NULL: no condition
} Threads;

// ---- values (threads.c) -------------------------------------------------------------------------

// The lowered form of a value; NULL stays NULL.
IrValue *threads_value(Threads *t, const IrValue *v);
IrValue *threads_operand(Threads *t, const IrOp *op, uint32_t i);
void threads_bind(Threads *t, const IrValue *from, IrValue *to);
void threads_define(Threads *t, const IrOp *op, uint32_t result, IrValue *v);
// The type of the vector that a thread holds of such a tile; for a scalar, the type itself.
const IrType *threads_type(Threads *t, const IrType *type);
const IrType *threads_vector(Threads *t, Dtype elem, uint32_t count);
void threads_block(Threads *t, const IrBlock *from, IrBlock *to);

// One register of a vector; several, in any order, as a vector; vectors and scalars concatenated.
IrValue *threads_get(Threads *t, IrValue *vector, uint32_t reg);
IrValue *threads_pick(Threads *t, IrValue *vector, uint32_t count, const uint32_t *regs);
IrValue *threads_pack(Threads *t, uint32_t count, IrValue *const *parts);
IrValue *threads_splat(Threads *t, IrValue *scalar, uint32_t count);
IrValue *threads_i32(Threads *t, int64_t value);
IrValue *threads_i64(Threads *t, int64_t value);

// ---- layouts as numbers (coords.c) --------------------------------------------------------------

// The xor of the values that the set bits of the thread's number map to, i32: the low five bits are
// the lane's bases, the others the warp's. Bases of 0 are free.
IrValue *threads_linear(Threads *t, const uint32_t *lane_bases, uint32_t lane_bits,
                        const uint32_t *warp_bases, uint32_t warp_bits);
// The coordinate on an axis of the element in this thread's register 0, i32. For register r it is
// that xor threads_offset(r), or their sum if threads_disjoint.
IrValue *threads_coord(Threads *t, const Layout *l, uint32_t axis);
uint32_t threads_offset(const Layout *l, uint32_t reg, uint32_t axis);
bool threads_disjoint(const Layout *l, uint32_t axis);
// Coordinate of register r on an axis, i32.
IrValue *threads_coord_of(Threads *t, const Layout *l, uint32_t axis, uint32_t reg);
// Does the thread's number have these bits where the mask has ones? NULL: the mask is 0.
IrValue *threads_with_bits(Threads *t, uint32_t mask, uint32_t wanted);
// Does this thread write for all that hold the same element? A bool, or NULL: every thread has its
// own elements.
IrValue *threads_owner(Threads *t, const Layout *l);
// The same for stores to shared memory: lanes of a warp that hold the same element store it
// together.
IrValue *threads_writer(Threads *t, const Layout *l);
// The first register that holds the same element as register r.
uint32_t threads_first_holder(const Layout *l, uint32_t reg);

// ---- memory shared by the threads ---------------------------------------------------------------

IrValue *threads_shared(Threads *t, Dtype elem, uint32_t count);
IrOp *threads_barrier(Threads *t);
// `align` is in bytes, 0: the element's; mask is a bool scalar or NULL. Types are given by pointer
// and count (1: a scalar).
IrValue *threads_load(Threads *t, IrValue *p, uint32_t count, uint32_t align, IrValue *mask,
                      IrValue *other);
IrOp *threads_store(Threads *t, IrValue *p, IrValue *x, uint32_t align, IrValue *mask);
// `made` is part of the access `op`, and has its hint.
void threads_copy_hint(const IrOp *op, IrOp *made);
IrValue *threads_at(Threads *t, IrValue *p, IrValue *index);  // index i32 or i64
// The value of the thread of this warp whose lane differs by `by` (shuffle), or is `lane`.
IrValue *threads_xor_lane(Threads *t, IrValue *x, uint32_t by);
IrValue *threads_from_lane(Threads *t, IrValue *x, IrValue *lane);

// shared_budget.c: is there memory for this many bytes of the op that is lowered, in addition to
// the places that are held? And do they, after the loops of these places, make fewer programs run
// at once?
SharedBudget *threads_shared_budget(Arena *scratch, const IrFunc *f, const IrBlock *body);
bool threads_fits_shared(const Threads *t, uint64_t bytes);
bool threads_costs_occupancy(const Threads *t, uint64_t bytes);

// ---- a tile through shared memory (shared_trip.c) -----------------------------------------------

// Stores the vector of `from` such that `to` can load it without bank conflicts, by matrix loads if
// `to` suits them. A barrier is needed before the first load, and one after the last.
typedef struct ThreadsTrip ThreadsTrip;
ThreadsTrip *threads_trip(Threads *t, IrValue *x, const Layout *from, const Layout *to);
// The same; only threads for which `writer` is true store. NULL: all.
ThreadsTrip *threads_trip_of(Threads *t, IrValue *x, const Layout *from, const Layout *to,
                             IrValue *writer);
// Loads these registers of `to`. The registers of an access are kept for later calls in the same
// block.
IrValue *threads_trip_load(Threads *t, ThreadsTrip *trip, uint32_t count, const uint32_t *regs);
// The same from memory that contains the tile in this layout; all its registers.
ThreadsTrip *threads_trip_open(Threads *t, IrValue *p, const Layout *memory, const Layout *to);
IrValue *threads_trip_load_all(Threads *t, ThreadsTrip *trip);
// The places of a layout's registers in a memory of another layout.
typedef struct ThreadsPlaces {
    const Layout *layout;
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];  // of the memory
    IrValue *base;                           // i32: of this thread's register 0
    uint32_t moving;                         // the bits of base that differ by thread
} ThreadsPlaces;
ThreadsPlaces threads_places(Threads *t, const Layout *l, const Layout *memory);
IrValue *threads_places_at(Threads *t, const ThreadsPlaces *places, IrValue *memory, uint32_t reg);
// Stores the vector of `from` to memory of this layout.
void threads_trip_store(Threads *t, IrValue *p, IrValue *x, const Layout *from,
                        const Layout *memory);

// ---- one file each ------------------------------------------------------------------------------

void threads_compare(Threads *t, const IrOp *op);  // compare.c
void threads_access(Threads *t, const IrOp *op);   // access.c: view_load, view_store, view_inside,
                                                   // load, store
// pointers.c: ptr_add, as (p + s) + x if it is p + (s + x) and p and s are the same for all
// threads; an access then adds a lane's own part to such a base. False: the op stays as it is.
bool threads_pointer_sum(Threads *t, const IrOp *op);
void threads_convert(Threads *t, const IrOp *op);  // convert.c: gpu.convert
// shuffle.c: the same if each lane, or each warp, has all it needs.
IrValue *threads_renamed(Threads *t, IrValue *x, const Layout *from, const Layout *to);
IrValue *threads_shuffled(Threads *t, IrValue *x, const Layout *from, const Layout *to,
                          const LayoutShuffle *plan);
// The tile of a thread-level vector in layout `from`, in layout `to`.
IrValue *threads_move(Threads *t, IrValue *x, const Layout *from, const Layout *to);
// copy_ring.c: gpu.shared, slot, copy, commit, wait, read; permutations of shared tiles.
void threads_ring(Threads *t, const IrOp *op);
// copy_map.c: copies by tensor maps and their barriers: gpu.mbarrier…, gpu.tma_load.
void threads_map(Threads *t, const IrOp *op);
// Is the load done by the gpu.copy or gpu.tma_load that uses it?
bool threads_load_is_copy(Threads *t, const IrOp *load);
bool threads_copies(Threads *t, const IrOp *copy);  // together with its load, instead of a store
                                                    // from registers
// The memory from which products read step by step; NULL: the value is in registers.
ThreadsTrip *threads_read(Threads *t, const IrValue *v);
// The same place, as a value of the gpu level: a pointer with a layout; NULL: in registers.
const IrValue *threads_read_place(const IrValue *v);
void threads_shape(Threads *t, const IrOp *op);   // shape.c: broadcast, reshape, permute, join, …
void threads_reduce(Threads *t, const IrOp *op);  // reduce.c
void threads_scan(Threads *t, const IrOp *op);    // scan.c
void threads_dot(Threads *t, const IrOp *op);     // dot.c
void threads_order(Threads *t, const IrOp *op);   // sort.c: gather, sort, topk, histogram
// The minimum of an i32 scalar over all threads, in all threads (effect.c).
IrValue *threads_minimum(Threads *t, IrValue *x);
void threads_effect(Threads *t, const IrOp *op);  // effect.c: atomics, assert, print
void threads_print(Threads *t, const IrOp *op);   // print.c

#endif
