// cpu_lower: tile ops become loops over vectors. Declarations that its files share; no other file
// includes this.
//
// How: the body is walked in order. A tile value is INLINE (recomputed wherever an element of it is
// needed) or BUFFER (row-major in scratch memory). Ops with a visible effect or result (stores,
// reductions, values that need a buffer) are roots; roots of one nest share loops, in which each
// inline value is computed once for each vector of elements. cpu_plan has decided which values are
// what and which roots share a nest: the decisions are on the ops (ir_nests). Scalars stay
// unchanged.
//
//     lower.c      the walk; control with carried tiles     nest.c       loops: interior and edge
//     survey.c     properties of a body, read-only          value.c      a value at a place
//     place.c      places of operands                       memo.c       values already computed
//     terms.c      the lanes of an access                   access.c     views, pointers, gathers
//     view.c       extents and strides of views             interior.c   where no masks are needed
//     memory.c     the ops that load and store              packed.c     i4 and u4
//     buffer.c     scratch memory                           buffer_access.c   its elements
//     transpose.c  loads that are transposed                select.c     masks that usually hold
//     reduce.c     reductions in a nest                     demand.c     the part of a tile needed
//     sort.c       sort, topk, histogram                    scan.c       scans
//     effect.c     atomics, print                           dot.c        products, with pack.c,
//     divide.c     many values divided by one               micro.c      and one block of them
//     store_early.c  values kept where they are stored      prefetch.c   the next program's row
//     scalar.c     arithmetic on scalars, loops
//
// Invariants: a program keeps its meaning bit for bit, except for the order of float reductions and
// dots. Accesses to memory that may overlap happen in program order: an inline load never moves
// past a write that may touch its memory. Ownership: everything except new IR is in the pass's
// scratch.
#ifndef TILEC_PASSES_CPU_EMIT_LOWER_H
#define TILEC_PASSES_CPU_EMIT_LOWER_H

#include "base/os/os.h"
#include "base/status.h"
#include "ir/analysis/analysis.h"
#include "ir/build.h"
#include "ir/edit.h"
#include "passes/cpu/op_kind.h"
#include "passes/pass.h"

typedef struct Lower Lower;
typedef struct Nest Nest;

// ---- places -------------------------------------------------------------------------------------

// One coordinate of an element: a number, the variable of a nest's loop, or a scalar.
typedef enum CoordKind { COORD_ZERO, COORD_NUMBER, COORD_LOOP, COORD_VALUE } CoordKind;
typedef struct Coord {
    CoordKind kind;
    uint8_t loop;    // COORD_LOOP: the nest's dimension; COORD_NUMBER: the number
    uint8_t depth;   // COORD_VALUE: the number of loops around its computation
    IrValue *value;  // COORD_VALUE: an i64 scalar
} Coord;
// The place of one element; if a coordinate is the nest's lane loop, of one element for each lane.
typedef struct LanePlace {
    uint32_t rank;
    Coord at[IR_MAX_RANK];
} LanePlace;

// A computed value: a scalar, or a vector of the nest's lanes.
typedef struct NestValue {
    IrValue *value;
    uint8_t depth;  // the number of the nest's loops around it
} NestValue;

// ---- buffers ------------------------------------------------------------------------------------

// A tile in scratch memory, row-major unless it is part of a larger one. Pointers are kept as u64.
typedef struct TileBuffer {
    uint32_t id;  // equal for the same memory; 0: no buffer
    IrValue *data;
    const IrType *type;
    int64_t step[IR_MAX_RANK];  // elements between neighbours along a dimension
    IrOp *view;  // the tile is in the part of a view that this op stores to; NULL: scratch memory
} TileBuffer;

// ---- nests --------------------------------------------------------------------------------------

typedef struct Root {
    RootKind kind;
    IrOp *op;                 // the op that makes or stores the value
    IrValue *value;           // ROOT_BUFFER: the tile
    TileBuffer buffer;        // ROOT_BUFFER: the destination
    TileBuffer source;        // ROOT_BUFFER: if it has an id, it is copied instead of a value
    NestValue *accumulators;  // ROOT_REDUCE: carried by the loop while it is emitted
    uint32_t accumulator_count;
} Root;

// A view access whose lanes are checked once for the whole lane loop.
typedef struct LaneCheck {
    IrOp *op;
    LanePlace place;
    bool always;  // a single check is not enough: each access has its own mask
} LaneCheck;

typedef struct ValueMemo {
    const IrValue *tile;
    LanePlace place;
    NestValue val;
    uint32_t earlier;  // the tile's memo before this one: its index + 1
} ValueMemo;

// The square of a transposed load, whose neighbours are along another loop than the lanes: row i
// holds the loaded vector for the i-th coordinate of the side.
typedef struct TransposeBlock {
    uint32_t of;  // the op's id, or a buffer's
    bool buffer;
    LanePlace place;
    IrValue **row;
} TransposeBlock;

// Rows with a stride: the pointer of every fourth row is kept, and the next three are reached from
// it.
typedef struct RowSteps {
    IrValue *stride;  // i64, in elements
    IrValue *fourth;  // a pointer to row 0, 4, 8 …
    uint32_t row;     // the number of that row
} RowSteps;

// An access that handles the coordinates of the side one by one.
typedef struct SteppedAccess {
    uint32_t of;  // the op's id
    LanePlace place;
    RowSteps rows;
} SteppedAccess;

// A tile computed vector by vector; the caller stores the vectors in a layout of its choice.
typedef struct Pack {
    IrValue *tile;
    uint32_t rank;  // of the nest
    uint32_t shape[IR_MAX_RANK];
    IrValue *limit[IR_MAX_RANK];  // i64: where a loop may end; NULL: at the full extent
    LanePlace place;              // the tile's place, in loops of the nest
    uint32_t lane, lanes;         // vectors run along this dimension
    void (*store)(Lower *l, Nest *nest, NestValue x, void *user);
    void *user;
} Pack;

// Facts about the body of a nest, known before it is emitted (survey.h).
typedef struct NestSurvey {
    VEC(LaneCheck) checks;
    bool lanes_differ;         // lanes outside of all views may have different values
    uint32_t work;             // inline ops
    int transpose_side;        // the side of the first load that could be transposed; -1: none
    uint32_t transpose_bytes;  // the size of the largest element that is transposed
} NestSurvey;

enum { MAX_DEPTH = IR_MAX_RANK + 3 };
struct Nest {
    uint32_t number;  // as in ir_nests
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];
    int axis;          // the axis of its reductions; -1: none
    const Pack *pack;  // used instead of roots; NULL: none
    VEC(Root) roots;
    // ---- state while it is emitted
    int lane;        // the dimension of lanes; -1: none
    uint32_t lanes;  // lanes of a vector; 1: scalars
    uint8_t depth_of[IR_MAX_RANK];
    IrValue *variable[IR_MAX_RANK];  // of the open loops
    IrBuilder builder[MAX_DEPTH];
    uint8_t depth;    // of the innermost open loop
    bool no_loops;    // no loops: one vector covers the whole nest
    bool one_vector;  // one vector covers the reductions' axis
    bool masked;      // at the edge: accesses have masks
    bool outside;     // beyond the end of all views: loads give their padding
    NestSurvey survey;
    uint32_t emitted;  // inline ops so far
    VEC(ValueMemo) memo;
    // Squares (transpose.c): one iteration handles `sides` coordinates of the dimension `side`, so
    // that loads whose neighbours are along that dimension are transposed in registers.
    int side;
    uint32_t sides;       // 0, 1: no transpose blocks
    uint32_t side_at;     // the coordinate of the side that the body is for
    IrValue *side_base;   // the first coordinate of the side; NULL: outside of transpose blocks
    IrValue *side_limit;  // where the loop ends
    VEC(TransposeBlock) transpose_blocks;
    VEC(SteppedAccess) stepped;
};

// ---- the pass -----------------------------------------------------------------------------------

// Facts about a tile value; by id.
typedef struct TileState {
    bool in_memory;     // false: recomputed wherever it is needed
    bool pending;       // a root of the open nest will define it
    TileBuffer buffer;  // in_memory, once defined
    IrValue *vector;    // the whole tile, in one vector; NULL: none
    uint32_t memo;      // index + 1 of its last memo; valid only if that memo names this tile
} TileState;

typedef struct Demand Demand;  // demand.c
// A store in a kernel whose runs cover several programs: only `extent` elements belong to them.
typedef struct StoreReach {
    const IrOp *store;
    uint32_t dim;     // the view's dimension
    IrValue *extent;  // i64: counted from the index
} StoreReach;

// A row of a view that is indexed by the program's number, and the nest that read it first.
typedef struct RowRead {
    const IrValue *view, *row;
    const IrOp *load;  // the first load
    uint32_t nest;
    bool fetched;  // the next program's row is prefetched
} RowRead;

struct Lower {
    IrFunc *func;
    IrModule *module;
    Arena *scratch;
    const Machine *machine;
    unsigned facts;
    Remarks *remarks;  // NULL: not wanted
    const IrRanges *ranges;
    Demand *demand;  // by value id, for values from before the walk
    uint32_t demand_count;
    bool *aligned;          // by op id: aligned for vectors (FACT_STREAM), or to a byte (packed)
    uint8_t *positive;      // by op id: bit d says that index d of a selection has no lane below 0
    bool changed;           // demand.c
    const uint32_t *homes;  // from op_find_homes, for values with an id below home_count
    uint32_t home_count;
    VEC(TileState) tiles;  // by value id
    Nest *nest;            // the open nest; NULL: none
    uint32_t nest_number;  // finished nests and whole ops
    const IrOp *root_op;   // the op that made roots last, and their number
    uint32_t roots;
    VEC(StoreReach) reaches;
    // Valid only in code that has checked it: the view's elements are neighbours along this
    // dimension.
    struct {
        const IrValue *view;
        uint32_t dim;
    } assumed;
    VEC(RowRead) rows;
    IrOp *pending_prefetch;  // a load whose row must still be prefetched; NULL: none
    IrBuilder top;           // the start of the body, for scratch memory
    IrOp *insert_before;     // code is inserted before it
    VEC(IrOp *) dead;        // tile ops, in order
    VEC(IrOp *) control;     // loops and ifs with carried tiles, inner ones first
    uint32_t buffers;
    uint32_t sites;  // asserts and prints so far
};

TileState *lower_new_tile(Lower *l, const IrValue *value);  // buffer.c
static inline TileState *lower_tile(Lower *l, const IrValue *value) {
    return value->id < l->tiles.count ? &l->tiles.data[value->id] : lower_new_tile(l, value);
}
// The carried tile whose buffer the value may take: its id + 1; 0: none.
static inline uint32_t lower_home(const Lower *l, const IrValue *value) {
    return value->id < l->home_count ? l->homes[value->id] : 0;
}
// A builder that adds code before `l->insert_before`, outside of any nest.
IrBuilder lower_builder(Lower *l);

// nest.c
void nest_flush(Lower *l);  // emits the open nest before l->insert_before
void nest_add(Lower *l, const Root *root, const IrType *shape, int axis, uint32_t number);
IrBuilder *nest_builder(Nest *nest, uint8_t depth);
// A coordinate as an i64 scalar; along the lanes, the coordinate of lane 0.
NestValue nest_coord(Nest *nest, Coord c);
static inline bool nest_is_lane(const Nest *nest, Coord c) {
    return c.kind == COORD_LOOP && nest->lane >= 0 && c.loop == (uint32_t)nest->lane &&
           nest->lanes > 1;
}
// The identity place of a nest's shape.
LanePlace nest_place(const Nest *nest);
// Emits a nest of its own at the builder, which then continues after the nest.
void nest_pack(Lower *l, const IrBuilder *b, const Pack *pack);

// value.c
NestValue value_at(Lower *l, Nest *nest, IrValue *tile, LanePlace place);
// memo.c: the nest's memo of a tile at a place; NULL: none.
const ValueMemo *value_memo(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place);
void value_remember(Lower *l, Nest *nest, ValueMemo memo);
// The vector that holds exactly the lanes of the place; NULL: none.
IrValue *value_in_register(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place);
// Forgets the memos after the first `count`, or all memos that do not satisfy `stays`.
void value_forget_from(Lower *l, Nest *nest, size_t count);
void value_forget(Lower *l, Nest *nest, bool (*stays)(const Nest *nest, const ValueMemo *memo));
// The place of operand i of a pure tile op, given the op's own place; false: no single place.
bool value_operand_place(const IrOp *op, const IrValue *result, uint32_t i, LanePlace place,
                         LanePlace *out);
// The same for a reshape that only adds or drops extents of 1; false for other reshapes.
bool value_reshape_place(const IrType *from, const IrType *to, LanePlace place, LanePlace *out);
// Broadcasts a scalar to all lanes; a vector stays unchanged.
NestValue value_splat(Nest *nest, NestValue x);
const IrType *value_type(Lower *l, const Nest *nest, const IrType *element, bool vector);
// The step of an integer tile's values from lane to lane: 0 equal, 1 increasing by one, -1 unknown.
int value_lane_step(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place);

// select.c: a select of vectors whose condition usually holds for whole vectors; false: the
// condition does not qualify.
bool select_at(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile, LanePlace place,
               NestValue *out);

// Called before the walk, because the ranges describe the function before it is lowered.
void access_prove(Lower *l, const IrBlock *block);
NestValue access_load(Lower *l, Nest *nest, IrOp *op, LanePlace place);
void access_store(Lower *l, Nest *nest, IrOp *op, LanePlace place, NestValue x);
// Must the store go element by element, because its packed elements may not fill whole bytes?
bool access_needs_scalars(const Lower *l, const IrOp *op);
NestValue access_inside(Lower *l, Nest *nest, IrOp *op, LanePlace place);
// The dimension along which a view's elements are neighbours; -1: not known.
int access_run(const Lower *l, const IrValue *view);
// For a strided view: is the stride of this dimension 1? Returns a bool.
IrValue *access_has_stride_1(IrBuilder *b, IrValue *view, uint32_t dim);
NestValue access_gather(Lower *l, Nest *nest, const IrOp *op, LanePlace place);
NestValue access_buffer_load(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place);
void access_buffer_store(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place, NestValue x);
// The lane coordinates at which all accesses of the survey are inside. The code goes outside of the
// lane loop.
typedef struct Interior {
    IrValue *from_start;  // bool: lane 0 and all parts that do not move with the lanes are inside
    IrValue *end;         // i64: the smallest remaining extent; NULL: no limit
    IrValue *farthest;    // i64: the largest one: no lane is inside from there on; NULL: unknown
} Interior;
Interior access_interior(Lower *l, Nest *nest);
// The stride of a view's dimension, in elements: i64.
IrValue *access_stride(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim);
// The number of elements of a selection's dimension (given as the view's) before the view's end: an
// i64 that may be negative, or larger than the selection.
IrValue *access_remaining(Lower *l, IrBuilder *b, const IrOp *op, uint32_t dim);
// A selection that is a matrix in memory: its start, its steps, and whether all of it is inside
// (NULL: it is). access_is_whole returns false if the selection is not known to be one.
typedef struct WholeMatrix {
    IrValue *pointer, *inside;
    IrValue *step[IR_MAX_RANK];  // i64, by the selection's dimensions; the last one is 1
} WholeMatrix;
bool access_is_whole(Lower *l, const IrOp *op);
WholeMatrix access_whole(Lower *l, IrBuilder *b, IrOp *op);
// The address of a single element, and whether it is inside (NULL: it is): for atomics.
void access_element(Lower *l, Nest *nest, IrOp *op, LanePlace place, IrValue **pointer,
                    IrValue **mask);

// buffer.c
TileBuffer buffer_create(Lower *l, const IrType *type);
TileBuffer buffer_as(TileBuffer buffer, const IrType *type);  // the same elements in another shape
// The part that begins at coordinate `from` of a dimension, with another type; `drop`: without that
// dimension.
TileBuffer buffer_part(Lower *l, TileBuffer buffer, uint32_t dim, uint32_t from, const IrType *type,
                       bool drop);
TileBuffer lower_buffer_of(Lower *l, const IrValue *tile);  // of a BUFFER value that is defined
TileBuffer lower_result_buffer(Lower *l, IrValue *result);  // a new one, assigned to the value
void buffer_drop_unread(Lower *l);  // after the walk: drops scratch memory that is never read
IrValue *buffer_element(IrBuilder *b, TileBuffer buffer, IrValue *linear);  // a pointer
const IrType *buffer_elem_type(Lower *l, const IrType *type);               // scalar type in memory

// reduce.c
void reduce_begin(Lower *l, Nest *nest, Root *root);
void reduce_step(Lower *l, Nest *nest, Root *root, LanePlace place);
void reduce_end(Lower *l, Nest *nest, Root *root, LanePlace place);
bool reduce_needs_scalars(const IrOp *op);  // its combiner has control flow
// Are sums and products of this type carried in f32?
bool reduce_is_wide(IrReduce kind, Dtype elem);
// One half of a vector; NULL for NULL.
IrValue *reduce_half(Lower *l, IrBuilder *b, IrValue *x, bool second);
// Calls a combiner on scalars or, if it is straight-line code, on vectors; x comes before y.
bool reduce_is_straight(const IrBlock *combiner);
void reduce_call_combiner(Lower *l, IrBuilder *b, const IrBlock *combiner, IrValue *const *x,
                          IrValue *const *y, IrValue **out);

// demand.c: how many elements along a dimension of a tile the consumers read; NULL: all.
void demand_find(Lower *l, IrBlock *body);
IrValue *demand_limit(Lower *l, IrBuilder *b, const IrValue *tile, uint32_t dim);
// The same without the reductions of this nest, which read the tile while it is computed.
IrValue *demand_limit_outside(Lower *l, IrBuilder *b, const Nest *nest, const IrValue *tile,
                              uint32_t dim);

// Do these consumers read no farther along it than a store writes along a dimension of its view?
bool demand_ends_at(const Lower *l, const Nest *nest, const IrValue *tile, uint32_t dim,
                    const IrOp *store, uint32_t store_dim);

// store_early.c: called before a nest is emitted: the store whose destination can serve as the
// root's buffer until then; NULL: none.
IrOp *store_early_find(Lower *l, const Nest *nest, const Root *root);

// divide.c: a division of a vector by a scalar that is invariant in the lane loop.
bool quotient_pays(const Lower *l, const Nest *nest, NestValue x, NestValue c);
IrValue *quotient_of(Lower *l, Nest *nest, NestValue x,
                     NestValue c);  // at x's depth, the deeper one

// prefetch.c: when a row is read a second time, prefetches the next program's row. Called after a
// load of neighbours, in a loop without masks: `pointer` is that of lane 0. False: no prefetch.
bool prefetch_next_row(Lower *l, Nest *nest, IrOp *load, NestValue pointer);
// For a nest that reads values that were stored early: the load whose row must be prefetched, once.
IrOp *prefetch_take_pending(Lower *l, const Nest *nest);
void prefetch_row(Lower *l, Nest *nest, const IrOp *load, NestValue pointer);

// Runs over all elements of a shape one by one: calls `each` once, inside of the loops, with the
// place; nest->lanes is 1, and nest_builder(nest, nest->depth) adds code to the innermost body.
void nest_each(Lower *l, uint32_t rank, const uint32_t *shape,
               void (*each)(Lower *l, Nest *nest, LanePlace place, void *user), void *user);

// sort.c, scan.c, dot.c, effect.c: whole ops, emitted before l->insert_before. Operands that
// op_needs_buffer names are in buffers; results of rank > 0 get buffers.
void order_lower(Lower *l, IrOp *op);
void scan_lower(Lower *l, IrOp *op);
void dot_lower(Lower *l, IrOp *op);
void effect_lower(Lower *l, IrOp *op);

// Arithmetic on i64 scalars, folded if both operands are constants.
IrValue *lower_i64(IrBuilder *b, int64_t value);
IrValue *lower_add(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_mul(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_min(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_max(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_and(IrBuilder *b, IrValue *x, IrValue *y);  // bools; NULL is true
// Makes a `for` from lo to hi with a constant step; the caller fills its block and ends it with a
// yield. The carried values are the block's arguments 1, 2, ….
IrOp *lower_for(IrBuilder *b, IrValue *lo, IrValue *hi, int64_t step, uint32_t carried,
                IrValue *const *init);

// Opens a loop right before `l->insert_before`, with index 0, step, … below count. For one
// iteration there is no loop: the body is at `b`. Closed by lower_close, without carried values.
IrBuilder lower_open(IrBuilder *b, int64_t count, int64_t step, IrValue **index);
void lower_close(IrBuilder *body, const IrBuilder *outside);

#endif
