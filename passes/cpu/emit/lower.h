// cpu_lower: tile ops become loops over vectors. What its files share; nothing outside includes it.
//
// How: the body is walked in order. A tile value is INLINE (computed again wherever an element of
// it is needed) or BUFFER (row-major in scratch memory). Ops with something to show for (stores,
// reductions, values that need a buffer) are roots; roots of one nest share loops, in which each
// inline value is computed once for each vector of elements. Which values are what, and which roots
// share a nest, cpu_plan has decided: it stands on the ops (ir_nests). Scalars stay as they are.
//
//     lower.c      the walk; control with carried tiles     nest.c       loops: interior and edge
//     survey.c     what a body will do, read-only           value.c      a value at a place
//     place.c      places of operands                       memo.c       what is computed already
//     terms.c      which lanes an access means              access.c     views, pointers, gathers
//     view.c       extents and strides of views             interior.c   where no masks are needed
//     memory.c     the ops that load and store              packed.c     i4 and u4
//     buffer.c     scratch memory                           buffer_access.c   its elements
//     transpose.c  loads that are transposed                select.c     masks that mostly hold
//     reduce.c     reductions in a nest                     demand.c     how much of it matters
//     sort.c       sort, topk, histogram                    scan.c       scans
//     effect.c     atomics, print                           dot.c        products, with pack.c,
//     divide.c     many values divided by one               micro.c      and one block of them
//     store_early.c  values kept where they are stored      prefetch.c   the next program's row
//     scalar.c     arithmetic on scalars, loops
//
// Invariants: what a program means stays, bit for bit, but for the order of float reductions and
// dots. Memory is read and written in the order written where it may overlap: an inline load never
// moves past a write that may touch it. Ownership: everything but new IR is in the pass's scratch.
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
    uint8_t depth;   // COORD_VALUE: of loops around what computed it
    IrValue *value;  // COORD_VALUE: an i64 scalar
} Coord;
// An element, or, where the coordinate is the nest's lane loop, as many as there are lanes.
typedef struct LanePlace {
    uint32_t rank;
    Coord at[IR_MAX_RANK];
} LanePlace;

// A computed value: a scalar, or a vector of the nest's lanes.
typedef struct NestValue {
    IrValue *value;
    uint8_t depth;  // loops of the nest around it
} NestValue;

// ---- buffers ------------------------------------------------------------------------------------

// A tile in scratch memory, row-major but for parts of a larger one. Pointers are kept as u64.
typedef struct TileBuffer {
    uint32_t id;  // equal for the same memory; 0: no buffer
    IrValue *data;
    const IrType *type;
    int64_t step[IR_MAX_RANK];  // elements from one to the next along a dimension
    IrOp *view;                 // it lies in the part of a view that this op stores to; else NULL
} TileBuffer;

// ---- nests --------------------------------------------------------------------------------------

typedef struct Root {
    RootKind kind;
    IrOp *op;                 // what makes or stores the value
    IrValue *value;           // ROOT_BUFFER: the tile
    TileBuffer buffer;        // ROOT_BUFFER: where to
    TileBuffer source;        // ROOT_BUFFER: with an id: what to copy, instead of a value
    NestValue *accumulators;  // ROOT_REDUCE: the loop's, while it is emitted
    uint32_t accumulator_count;
} Root;

// A view access whose lanes are checked once for the whole loop of lanes.
typedef struct LaneCheck {
    IrOp *op;
    LanePlace place;
    bool always;  // reached by places that differ: each access has its own mask
} LaneCheck;

typedef struct ValueMemo {
    const IrValue *tile;
    LanePlace place;
    NestValue val;
    uint32_t earlier;  // the tile's memo before this one: its index + 1
} ValueMemo;

// A square of a load whose neighbours lie along another loop than the lanes: row i holds what the
// load is at the i-th coordinate of the side.
typedef struct Square {
    uint32_t of;  // the op's id, or that of a buffer
    bool buffer;
    LanePlace place;
    IrValue **row;
} Square;

// Rows that lie `stride` elements apart: from every fourth one the next three are reached.
typedef struct RowSteps {
    IrValue *stride;  // i64
    IrValue *fourth;  // a pointer: to row 0, 4, 8 …
    uint32_t row;     // which that is
} RowSteps;

// An access of which the side is taken coordinate by coordinate.
typedef struct Beside {
    uint32_t of;  // the op's id
    LanePlace place;
    RowSteps rows;
} Beside;

// A tile computed vector by vector into memory laid out as the caller likes.
typedef struct Pack {
    IrValue *tile;
    uint32_t rank;  // of the nest
    uint32_t shape[IR_MAX_RANK];
    IrValue *limit[IR_MAX_RANK];  // i64: where a loop may end; NULL: the whole
    LanePlace place;              // of the tile, in loops of the nest
    uint32_t lane, lanes;         // vectors run along this dimension
    void (*store)(Lower *l, Nest *nest, NestValue x, void *user);
    void *user;
} Pack;

// What the body of a nest will do (survey.h).
typedef struct NestSurvey {
    VEC(LaneCheck) checks;
    bool lanes_differ;    // lanes outside of all views need not have equal values
    uint32_t work;        // inline ops
    int turns;            // the dimension of the first load that could be turned; -1: none
    uint32_t turn_bytes;  // the size of the largest element that is turned
} NestSurvey;

enum { MAX_DEPTH = IR_MAX_RANK + 3 };
struct Nest {
    uint32_t number;  // as in ir_nests
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];
    int axis;          // that reductions run along; -1: none
    const Pack *pack;  // instead of roots; NULL
    VEC(Root) roots;
    // ---- while it is emitted
    int lane;        // the dimension of lanes; -1: none
    uint32_t lanes;  // of a vector; 1: scalars
    uint8_t depth_of[IR_MAX_RANK];
    IrValue *variable[IR_MAX_RANK];  // of the loops that are open
    IrBuilder builder[MAX_DEPTH];
    uint8_t depth;  // of the innermost loop that is open
    bool straight;  // no loops: one vector is all of it
    bool once;      // along the reductions' axis too
    bool masked;    // the edge: accesses have masks
    NestSurvey survey;
    uint32_t emitted;  // inline ops so far
    VEC(ValueMemo) memo;
    // Squares (transpose.c): one iteration takes `sides` coordinates of the dimension `side` at
    // once, so that loads whose neighbours lie there are turned in registers.
    int side;
    uint32_t sides;       // 0, 1: no squares
    uint32_t side_at;     // the one that the body is for
    IrValue *side_base;   // the first one's coordinate; NULL: outside of squares
    IrValue *side_limit;  // where the loop ends
    VEC(Square) squares;
    VEC(Beside) beside;
};

// ---- the pass -----------------------------------------------------------------------------------

// What is known of a tile value; by id.
typedef struct TileState {
    bool in_memory;     // else computed wherever it is needed
    bool pending;       // a root of the open nest will define it
    TileBuffer buffer;  // in_memory, once defined
    IrValue *vector;    // all of it, in one vector; NULL
    uint32_t memo;      // its last memo: index + 1; both hold where that one names this tile
} TileState;

typedef struct Demand Demand;  // demand.c
// A store of a kernel whose runs stand for several programs: only so many elements are theirs.
typedef struct StoreReach {
    const IrOp *store;
    uint32_t dim;     // of the view
    IrValue *extent;  // i64: from the index on
} StoreReach;

// A row of a view that the program reads by its number; and when a nest read it first.
typedef struct RowRead {
    const IrValue *view, *row;
    const IrOp *load;  // the first
    uint32_t nest;
    bool fetched;  // the next program's is asked for
} RowRead;

struct Lower {
    IrFunc *func;
    IrModule *module;
    Arena *scratch;
    const Machine *machine;
    unsigned facts;
    Remarks *remarks;  // NULL: nobody asks
    const IrRanges *ranges;
    Demand *demand;  // by value id, of the values before the walk
    uint32_t demand_count;
    bool *aligned;          // by op id: begins where a vector may (FACT_STREAM), or a byte (packed)
    uint8_t *positive;      // by op id: bit d says that index d of a selection has no lane below 0
    bool changed;           // demand.c
    const uint32_t *homes;  // of op_find_homes, for values with an id below home_count
    uint32_t home_count;
    VEC(TileState) tiles;  // by value id
    Nest *nest;            // the open one; NULL
    uint32_t nest_number;  // nests and whole ops that are done
    const IrOp *rooted;    // the op that made roots last, and how many
    uint32_t roots;
    VEC(StoreReach) reaches;
    // Within code that has asked: the view's elements are neighbours along this dimension.
    struct {
        const IrValue *view;
        uint32_t dim;
    } assumed;
    VEC(RowRead) rows;
    IrOp *owed;           // a load of the row that is to be asked for; NULL
    IrBuilder top;        // the start of the body: scratch memory
    IrOp *here;           // code goes before it
    VEC(IrOp *) dead;     // tile ops, in order
    VEC(IrOp *) control;  // loops and ifs with carried tiles, inner ones first
    uint32_t buffers;
    uint32_t sites;  // of asserts and prints so far
};

TileState *lower_tile(Lower *l, const IrValue *value);
// The carried tile whose buffer the value may take: its id + 1; 0: none.
static inline uint32_t lower_home(const Lower *l, const IrValue *value) {
    return value->id < l->home_count ? l->homes[value->id] : 0;
}
// A builder that adds code before `l->here`, outside of any nest.
IrBuilder lower_builder(Lower *l);

// nest.c
void nest_flush(Lower *l);  // emits the open nest before l->here
void nest_add(Lower *l, const Root *root, const IrType *shape, int axis, uint32_t number);
IrBuilder *nest_builder(Nest *nest, uint8_t depth);
// A coordinate as an i64 scalar: of lane 0, along the lanes.
NestValue nest_coord(Nest *nest, Coord c);
static inline bool nest_is_lane(const Nest *nest, Coord c) {
    return c.kind == COORD_LOOP && nest->lane >= 0 && c.loop == (uint32_t)nest->lane &&
           nest->lanes > 1;
}
// The identity place of a nest's shape.
LanePlace nest_place(const Nest *nest);
// A nest of its own at the builder, which goes on after it.
void nest_pack(Lower *l, const IrBuilder *b, const Pack *pack);

// value.c
NestValue value_at(Lower *l, Nest *nest, IrValue *tile, LanePlace place);
// memo.c: what the nest has computed of a tile at a place; NULL: nothing.
const ValueMemo *value_memo(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place);
void value_remember(Lower *l, Nest *nest, ValueMemo memo);
// The vector that holds just the lanes that are wanted; NULL: there is none.
IrValue *value_in_register(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place);
// What was found since there were `count` memos is known no longer; or what does not stay.
void value_forget_from(Lower *l, Nest *nest, size_t count);
void value_forget(Lower *l, Nest *nest, bool (*stays)(const Nest *nest, const ValueMemo *memo));
// The place of operand i of a pure tile op for its own place; false: no single place.
bool value_operand_place(const IrOp *op, const IrValue *result, uint32_t i, LanePlace place,
                         LanePlace *out);
// Of a reshape that only adds or drops extents of 1: the operand's place; else false.
bool value_reshape_place(const IrType *from, const IrType *to, LanePlace place, LanePlace *out);
// A vector of all lanes, if it is a scalar.
NestValue value_splat(Nest *nest, NestValue x);
const IrType *value_type(Lower *l, const Nest *nest, const IrType *element, bool vector);
// Along which stride (in elements) the values of an integer tile run in the lanes' direction:
// 0 equal, 1 neighbours, -1 unknown.
int value_lane_step(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place);

// select.c: a select of vectors whose condition holds for whole vectors mostly; false: nothing is
// known of it.
bool select_at(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile, LanePlace place,
               NestValue *out);

// access.c
// Before the walk: the ranges know the function as it was.
void access_prove(Lower *l, const IrBlock *block);
NestValue access_load(Lower *l, Nest *nest, IrOp *op, LanePlace place);
void access_store(Lower *l, Nest *nest, IrOp *op, LanePlace place, NestValue x);
// A store that must go element by element: parts of bytes that are no neighbours.
bool access_needs_scalars(const Lower *l, const IrOp *op);
NestValue access_inside(Lower *l, Nest *nest, IrOp *op, LanePlace place);
// The dimension along which a view's elements are neighbours; -1: not known.
int access_run(const Lower *l, const IrValue *view);
// Of a strided view: a bool.
IrValue *access_has_stride_1(IrBuilder *b, IrValue *view, uint32_t dim);
NestValue access_gather(Lower *l, Nest *nest, const IrOp *op, LanePlace place);
NestValue access_buffer_load(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place);
void access_buffer_store(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place, NestValue x);
// The first lane coordinate from which on, and up to which, all accesses of the survey are inside;
// builders of the loops outside of the lanes'. NULL: no limit.
typedef struct Interior {
    IrValue *from_start;  // bool: lane 0 is inside and so is all that does not move with the lanes
    IrValue *end;         // i64: the least extent left; NULL: the whole
    IrValue *farthest;    // i64: the greatest: from there on no lane is inside; NULL: unknown
} Interior;
Interior access_interior(Lower *l, Nest *nest);
// The stride of a view's dimension, in elements: i64.
IrValue *access_stride(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim);
// How many elements of a selection's dimension (of the view's) lie before the view's end: an i64
// that may be negative, or more than there are.
IrValue *access_room(Lower *l, IrBuilder *b, const IrOp *op, uint32_t dim);
// A view's part that is a matrix in memory: where it begins, its steps, and whether all of it is
// inside (NULL: it is). False: it is none, or not known to be one.
typedef struct WholeMatrix {
    IrValue *pointer, *inside;
    IrValue *step[IR_MAX_RANK];  // i64, by the selection's dimensions; the last one is 1
} WholeMatrix;
bool access_is_whole(Lower *l, const IrOp *op);
WholeMatrix access_whole(Lower *l, IrBuilder *b, IrOp *op);
// Where a single element lies, and whether it is inside (NULL: it is): for atomics.
void access_element(Lower *l, Nest *nest, IrOp *op, LanePlace place, IrValue **pointer,
                    IrValue **mask);

// buffer.c
TileBuffer buffer_create(Lower *l, const IrType *type);
TileBuffer buffer_as(TileBuffer buffer, const IrType *type);  // the same elements in another shape
// The part from coordinate `from` along a dimension on, of another type; `drop`: that dimension
// goes.
TileBuffer buffer_part(Lower *l, TileBuffer buffer, uint32_t dim, uint32_t from, const IrType *type,
                       bool drop);
TileBuffer lower_buffer_of(Lower *l, const IrValue *tile);  // of a BUFFER value that is defined
TileBuffer lower_result_buffer(Lower *l, IrValue *result);  // a new one, which is the value's then
void buffer_drop_unread(Lower *l);  // after the walk: scratch memory that is at most written
IrValue *buffer_element(IrBuilder *b, TileBuffer buffer, IrValue *linear);  // a pointer
const IrType *buffer_elem_type(Lower *l, const IrType *type);               // scalar type in memory

// reduce.c
void reduce_begin(Lower *l, Nest *nest, Root *root);
void reduce_step(Lower *l, Nest *nest, Root *root, LanePlace place);
void reduce_end(Lower *l, Nest *nest, Root *root, LanePlace place);
bool reduce_needs_scalars(const IrOp *op);  // its combiner has control flow
// Are sums and products of this type carried in f32?
bool reduce_is_wide(IrReduce kind, Dtype elem);
// One half of a vector; NULL of NULL.
IrValue *reduce_half(Lower *l, IrBuilder *b, IrValue *x, bool second);
// A combiner on scalars, or, when it is straight, on vectors: x is the earlier.
bool reduce_is_straight(const IrBlock *combiner);
void reduce_call_combiner(Lower *l, IrBuilder *b, const IrBlock *combiner, IrValue *const *x,
                          IrValue *const *y, IrValue **out);

// demand.c: how many elements along a dimension of a tile any consumer looks at; NULL: all.
void demand_find(Lower *l, IrBlock *body);
IrValue *demand_limit(Lower *l, IrBuilder *b, const IrValue *tile, uint32_t dim);
// The same of all that look at the tile but the reductions of this nest, which see it as it is
// made.
IrValue *demand_limit_outside(Lower *l, IrBuilder *b, const Nest *nest, const IrValue *tile,
                              uint32_t dim);

// Do those look no farther along it than a store does along a dimension of its view?
bool demand_ends_at(const Lower *l, const Nest *nest, const IrValue *tile, uint32_t dim,
                    const IrOp *store, uint32_t store_dim);

// store_early.c: as a nest is emitted: the store whose place may serve as the root's
// buffer until then. NULL: none.
IrOp *early_store(Lower *l, const Nest *nest, const Root *root);

// divide.c: a division of a vector by a scalar that stays the same in the loop of lanes.
bool quotient_pays(const Lower *l, const Nest *nest, NestValue x, NestValue c);
IrValue *quotient_of(Lower *l, Nest *nest, NestValue x,
                     NestValue c);  // at x's depth, which is the deeper

// prefetch.c: where a row is read once more, the next program's is asked for. After a load of
// neighbours, in a loop without masks: `pointer` is that of lane 0. False: it isn't.
bool ahead_fetch(Lower *l, Nest *nest, IrOp *load, NestValue pointer);
// For a nest that reads what was stored early: the load of the row that is to be asked for, once.
IrOp *ahead_take_owed(Lower *l, const Nest *nest);
void ahead_fetch_row(Lower *l, Nest *nest, const IrOp *load, NestValue pointer);

// Runs over all elements of a shape, one by one: `each` is called once, inside of the loops, with
// the place; nest->lanes is 1 and nest_builder(nest, nest->depth) adds code to the innermost body.
void nest_each(Lower *l, uint32_t rank, const uint32_t *shape,
               void (*each)(Lower *l, Nest *nest, LanePlace place, void *user), void *user);

// sort.c, scan.c, dot.c, effect.c: whole ops, emitted before l->here; operands that
// op_needs_buffer names lie in buffers; results of rank > 0 are defined as buffers.
void order_lower(Lower *l, IrOp *op);
void scan_lower(Lower *l, IrOp *op);
void dot_lower(Lower *l, IrOp *op);
void effect_lower(Lower *l, IrOp *op);

// Small steps of arithmetic on i64 scalars, folded where both are constants.
IrValue *lower_i64(IrBuilder *b, int64_t value);
IrValue *lower_add(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_mul(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_min(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_max(IrBuilder *b, IrValue *x, IrValue *y);
IrValue *lower_and(IrBuilder *b, IrValue *x, IrValue *y);  // bools; NULL is true
// A `for` from lo to hi by a constant step; its block, to be filled and ended with a yield. The
// carried values are the block's arguments 1, 2, ….
IrOp *lower_for(IrBuilder *b, IrValue *lo, IrValue *hi, int64_t step, uint32_t carried,
                IrValue *const *init);

// A loop of code that is put straight before `l->here`: index 0, step, … below count. One that
// runs once is no loop: its body is where `b` is. Closed with no carried values.
IrBuilder lower_open(IrBuilder *b, int64_t count, int64_t step, IrValue **index);
void lower_close(IrBuilder *body, const IrBuilder *outside);

#endif
