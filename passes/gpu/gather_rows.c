// gpu_gather_rows: a gather with one index, the same for all elements, becomes a reduction: of all
// elements along the axis, only the one at the index takes part.
//
// Reads of rows and elements, m[k, :] and m[i, j], are gathers of this kind. A gather stores the
// whole tile to shared memory. The reduction needs none where a thread or a warp holds the elements
// along the axis, and little elsewhere; where the index is a constant and the axis is in registers,
// no instruction is left of it. Floats are reduced as their bits, with a sum of unsigned numbers:
// the sum of one number is that number, and without one (an index outside) 0.
#include "passes/gpu/gpu.h"
#include "passes/passes.h"
#include "passes/rewrite.h"
#include "passes/sort_key.h"

// The scalar that all elements of a tile are equal to; NULL: there is none.
static IrValue *scalar_of(IrBuilder *b, const IrValue *tile) {
    const IrOp *op = tile->def;
    uint64_t bits;
    if (rewrite_constant(tile, &bits))
        return ir_const_bits(b, ir_scalar(b->module, tile->type->elem), bits);
    bool broadcast = op && op->code == IR_BROADCAST && ir_operand(op, 0)->type->rank == 0;
    return broadcast ? ir_operand(op, 0) : NULL;
}

// The positions along the axis, compared with the index, for the tile's whole shape.
static IrValue *at_index(IrBuilder *b, const IrType *tile, uint32_t axis, IrValue *index) {
    uint32_t shape[IR_MAX_RANK];
    for (uint32_t d = 0; d < tile->rank; d++) shape[d] = d == axis ? tile->shape[d] : 1;
    IrValue *own = ir_iota(b, tile->shape[axis]);
    if (index->type->elem != DTYPE_I32) {
        if (index->type->elem != DTYPE_I64) index = ir_cast(b, index, DTYPE_I64, false);
        own = ir_cast(b, own, DTYPE_I64, false);
    }
    IrValue *one = ir_broadcast(b, index, 1, &tile->shape[axis]);
    IrValue *is = ir_reshape(b, ir_binary(b, IR_EQ, own, one), tile->rank, shape);
    return ir_broadcast(b, is, tile->rank, tile->shape);
}

static IrValue *reduced(IrBuilder *b, IrValue *x, IrValue *mask, uint32_t axis) {
    bool is_bool = x->type->elem == DTYPE_BOOL;
    uint32_t shape[IR_MAX_RANK], rank = 0;
    for (uint32_t d = 0; d < x->type->rank; d++)
        if (d != axis) shape[rank++] = x->type->shape[d];
    IrValue *operands[] = {mask, x};
    const IrType *type =
        rank ? ir_with_shape(b->module, x->type, rank, shape) : ir_scalar(b->module, x->type->elem);
    IrOp *op = ir_op(b, IR_REDUCE, 2, operands, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, is_bool ? IR_REDUCE_ANY : IR_REDUCE_SUM);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    return ir_result(op, 0);
}

static bool rewrite(IrOp *op) {
    IrValue *x = ir_operand(op, 0);
    const IrType *result = op->results[0].type;
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS), shape[IR_MAX_RANK];
    if (x->type->kind != IR_TILE) return false;
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    IrValue *index = scalar_of(&b, ir_operand(op, 1));
    if (!index) return false;
    IrValue *mask = at_index(&b, x->type, axis, index);
    Dtype elem = x->type->elem;
    bool as_bits = elem != DTYPE_BOOL;
    Dtype bits = unsigned_of((uint32_t)dtype_size(elem));
    if (as_bits) x = ir_bitcast(&b, x, ir_with_elem(b.module, x->type, bits));
    IrValue *r = reduced(&b, x, mask, axis);
    for (uint32_t d = 0; d < result->rank; d++) shape[d] = d == axis ? 1 : result->shape[d];
    if (!r->type->rank)
        r = ir_broadcast(&b, r, result->rank, shape);
    else
        r = ir_reshape(&b, r, result->rank, shape);
    if (as_bits) r = ir_bitcast(&b, r, ir_with_elem(b.module, r->type, elem));
    if (result->shape[axis] != 1) r = ir_broadcast(&b, r, result->rank, result->shape);
    ir_replace_all(ir_result(op, 0), r);
    ir_erase(op);
    return true;
}

static bool walk(IrBlock *block) {
    bool changed = false;
    for (IrOp *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->region_count; i++) changed |= walk(op->regions[i]);
        if (op->code == IR_GATHER) changed |= rewrite(op);
    }
    return changed;
}

bool pass_gpu_gather_rows(IrFunc *f, PassContext *context) {
    (void)context;
    return f->level == IR_LEVEL_TILE && walk(ir_body(f));
}
