// The generator of IR kernels, seen by its own files only.
//
// Invariants: `pool` holds the values in scope, tiles and pointers; all pointers of the pool lead
// into buffers that nothing writes. Memory that is written is divided by program: half a buffer
// each, every second row of a view each.
//
//     IrValue *x = gen_pick(g, DTYPE_CLASS_INT);
//     gen_push(g, ir_unary(&g->b, IR_NEG, x));
#ifndef TILEC_TESTS_GEN_GEN_INTERNAL_H
#define TILEC_TESTS_GEN_GEN_INTERNAL_H

#include "ir/build.h"
#include "tests/gen/gen.h"
#include "tests/support/dice.h"

enum {
    GEN_COUNT_MAX = 64,  // elements of a tile
    GEN_RANK_MAX = 3,
    GEN_REPEATS = 50,        // of a block, in the kernel
    GEN_CALLED_REPEATS = 9,  // in a function, which a loop may call
    GEN_HALF = 64,           // elements of a buffer that belong to one program
};

typedef struct Gen {
    Dice dice;
    uint64_t seed;
    IrModule *m;
    IrFunc *f;
    IrBuilder b;
    uint32_t depth, depth_max;
    bool apart;  // as in GenSize
    uint32_t repeats,
        repeats_max;     // how often the block runs at most, for each run of the function
    uint32_t combining;  // inside a combiner: scalars only
    VEC(IrValue *) pool;
    VEC(IrValue *) places;  // in scope: pointers to write through, lanes distinct
    VEC(IrOp *) accesses;   // in scope: stores to views, whose selection may be met again
    VEC(IrFunc *) callees;
    VEC(uint32_t) read_views, write_views;  // places of parameters
    uint32_t names;
} Gen;

// ---- gen_value.c: types and values
Dtype gen_elem(Gen *g, unsigned classes);
const IrType *gen_type(Gen *g, unsigned classes);  // of any shape
uint32_t gen_shape(Gen *g, uint32_t rank, uint32_t count_max, uint32_t *shape);
void gen_push(Gen *g, IrValue *value);
IrValue *gen_pick(Gen *g, unsigned classes);  // classes as in ir/op.h, pointers included
IrValue *gen_like(Gen *g, const IrType *type);
IrValue *gen_scalar(Gen *g, Dtype elem);
uint64_t gen_const_bits(Gen *g, Dtype elem);
IrValue *gen_const(Gen *g, const IrType *type);
IrValue *gen_int(Gen *g, Dtype elem, int64_t value);                       // scalar constant
IrValue *gen_fill(Gen *g, const IrType *like, Dtype elem, int64_t value);  // constant tile
IrValue *gen_mask(Gen *g, const IrType *like);                             // NULL now and then
IrValue *gen_iota(Gen *g, const IrType *like, Dtype elem);                 // 0, 1, 2 … row-major
// As x, with plain zeros for NaNs, whose bits are not defined.
IrValue *gen_no_nan(Gen *g, IrValue *x);
// Floats that sum exactly (0 … 3), or whose products are exact (-1 and 1); integers as they are.
IrValue *gen_exact(Gen *g, IrValue *x, bool product);
// A pointer tile of a buffer, in bounds; lanes distinct when `distinct`; `own`: this program's
// half.
IrValue *gen_places(Gen *g, uint32_t param, const IrType *like, bool own, bool distinct);

// ---- one op each, with what it needs
void gen_statements(Gen *g, uint32_t count);
void gen_op(Gen *g, IrOpcode code);
void gen_tile_op(Gen *g, IrOpcode code);     // gen_tiles.c
void gen_memory_op(Gen *g, IrOpcode code);   // gen_memory.c
void gen_control_op(Gen *g, IrOpcode code);  // gen_control.c

// ---- gen_kernel.c: parameters by use
uint32_t gen_read_buffer(Gen *g, Dtype elem);  // pointer parameters, made when there is none
uint32_t gen_write_buffer(Gen *g, Dtype elem);
uint32_t gen_atomic_buffer(Gen *g, Dtype elem);
void gen_store_result(Gen *g, IrValue *value);

#endif
