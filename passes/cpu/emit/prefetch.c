// Prefetches the next program's row while this program works on its own.
//
// When a nest reads a row that an earlier nest has read, the row is in the caches and memory is
// idle, so the second nest prefetches the next program's row, vector by vector. That row is then in
// the caches when the next program's first nest reads it.
//
//     max of x[r, …]               reads from memory, unless the row was prefetched
//     sum of exp(x[r, …] - max)    prefetches x[r + 1, …]; for a long row, while y is fetched,
//     y[r, …] = e / sum            this nest does it
//
// Invariants: prefetches are hints on which no result depends. If a row would not stay in a cache
// until its use, the nest prefetches a short distance ahead in its own row instead; the length of a
// row is known only at run time.
#include "passes/cpu/emit/access.h"
#include "passes/cpu/tuning.h"

// The view's dimension that is indexed by the program's number; -1: none.
static int row_dim(const IrOp *load) {
    uint32_t start = ir_view_index_start(load->code);
    const IrAttr *select = ir_attr(load, IR_ATTR_SELECT);
    int found = -1;
    for (uint32_t d = 0; d + 1 < select->u.ints.count; d++) {
        const IrOp *index = ir_operand(load, start + d)->def;
        if (select->u.ints.items[d] || !index || index->code != IR_PROGRAM) continue;
        if (ir_attr_int(index, IR_ATTR_DIM) == 0) found = (int)d;
    }
    return found;
}

// Are they in different branches of a condition, so that only one of them happens?
static bool exclude(const IrOp *a, const IrOp *b) {
    for (const IrBlock *block = a->block; block->parent; block = block->parent->block) {
        const IrOp *owner = block->parent;
        for (uint32_t i = 0; owner->code == IR_IF && i < owner->region_count; i++)
            if (owner->regions[i] != block && ir_block_within(b->block, owner->regions[i]))
                return true;
    }
    return false;
}

static RowRead *find_row(Lower *l, const IrOp *load, const IrValue *row) {
    for (size_t i = 0; i < l->rows.count; i++) {
        RowRead *r = &l->rows.data[i];
        if (r->view == ir_operand(load, 0) && r->row == row && !exclude(r->load, load)) return r;
    }
    return NULL;
}

// Is it time to prefetch? For long rows in the second nest that reads the row; for short rows at
// once, with a distance that gives memory time to answer.
static bool is_time(Lower *l, const Nest *nest, const IrOp *load, const IrValue *row) {
    RowRead *known = find_row(l, load, row);
    if (!known) {
        RowRead first = {ir_operand(load, 0), row, load, l->nest_number, nest->one_vector};
        vec_push(l->scratch, &l->rows, first);
        return nest->one_vector;
    }
    if (known->nest == l->nest_number || known->fetched || nest->masked) return false;
    known->fetched = true;
    return true;
}

// Is the row too long for the first-level cache?
static bool is_long(const Lower *l, const Nest *nest, int64_t size) {
    return nest->shape[nest->lane] * size > l->machine->l1_bytes;
}

// The distance to prefetch, in elements.
static IrValue *distance(Lower *l, Nest *nest, IrValue *view, int dim, int64_t size) {
    IrBuilder *top = nest_builder(nest, 0);
    IrValue *step = access_stride(l, top, view, (uint32_t)dim);
    if (nest->one_vector) {
        int64_t rows = TUNE_ROW_PREFETCH_BYTES / size / nest->lanes;
        return lower_mul(top, step, lower_i64(top, rows > 1 ? rows : 1));
    }
    int64_t most = l->machine->l2_bytes / TUNE_ROW_CACHE_PARTS / size;
    IrValue *stays = ir_binary(top, IR_LE, step, lower_i64(top, most));
    return ir_ternary(top, IR_SELECT, stays, step, lower_i64(top, TUNE_ROW_PREFETCH_BYTES / size));
}

void prefetch_row(Lower *l, Nest *nest, const IrOp *load, NestValue pointer) {
    int64_t size = (int64_t)dtype_size(pointer.value->type->elem);
    IrValue *step = distance(l, nest, ir_operand(load, 0), row_dim(load), size);
    IrBuilder *b = nest_builder(nest, pointer.depth);
    IrValue *next = ir_ptr_add(b, pointer.value, step);
    IrOp *op = ir_op(b, IR_CPU_PREFETCH, 1, &next, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, nest->lanes);
}

static bool stores_early(const Nest *nest) {
    for (size_t i = 0; i < nest->roots.count; i++)
        if (nest->roots.data[i].buffer.view) return true;
    return false;
}

bool prefetch_next_row(Lower *l, Nest *nest, IrOp *load, NestValue pointer) {
    int dim = row_dim(load);
    if (dim < 0 || nest->lane < 0 || nest->lanes == 1) return false;
    int64_t size = (int64_t)dtype_size(pointer.value->type->elem);
    uint32_t vectors = nest->shape[nest->lane] * (uint32_t)size / l->machine->vector_bytes;
    if (!nest->one_vector && vectors < TUNE_ROW_VECTORS) return false;
    IrValue *row = ir_operand(load, ir_view_index_start(load->code) + (uint32_t)dim);
    if (!is_time(l, nest, load, row)) return false;
    if (stores_early(nest) && is_long(l, nest, size))
        l->pending_prefetch = load;
    else
        prefetch_row(l, nest, load, pointer);
    return true;
}

IrOp *prefetch_take_pending(Lower *l, const Nest *nest) {
    IrOp *load = l->pending_prefetch;
    if (!load || nest->masked || nest->lanes == 1 || load->block != l->insert_before->block)
        return NULL;
    l->pending_prefetch = NULL;
    return load;
}
