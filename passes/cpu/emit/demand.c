// The demand for a tile: how much of it is read. Rows that no store writes need not be computed.
//
// The demand is found backwards from the uses of a value: a store to `c[i +: BM, …]` needs only the
// rows below M - i, and so do the sums, casts, products and carried tiles that it is computed from.
// If two consumers need different parts, or if a consumer crosses a dimension (reductions, sorts,
// reshapes), the whole dimension is needed. A limit is a store and one of its dimensions: when it
// is queried, the extent and the index of that store must be available already.
#include <string.h>

#include "passes/cpu/emit/lower.h"

typedef enum WantKind { WANT_NOTHING, WANT_LIMIT, WANT_ALL } WantKind;
typedef struct Want {
    WantKind kind;
    const IrOp *store;  // WANT_LIMIT
    uint32_t dim;       // the view's dimension
} Want;
struct Demand {
    Want dim[IR_MAX_RANK];
};

static const Want all = {WANT_ALL, NULL, 0};

static const IrDim *extent_of(const Lower *l, const IrOp *store, uint32_t dim) {
    for (size_t i = 0; i < l->func->params.count; i++)
        if (l->func->params.data[i].value == ir_operand(store, 0))
            return &l->func->params.data[i].dims[dim];
    UNREACHABLE("a view that is not a parameter");
}

static IrValue *index_of(const IrOp *store, uint32_t dim) {
    return ir_operand(store, ir_view_index_start(store->code) + dim);
}

static bool same_limit(const Lower *l, Want a, Want b) {
    if (index_of(a.store, a.dim) != index_of(b.store, b.dim)) return false;
    const IrDim *x = extent_of(l, a.store, a.dim), *y = extent_of(l, b.store, b.dim);
    return x->extent == y->extent && (x->extent || x->value == y->value);
}

static Want join(const Lower *l, Want a, Want b) {
    if (a.kind == WANT_NOTHING) return b;
    if (b.kind == WANT_NOTHING) return a;
    if (a.kind == WANT_ALL || b.kind == WANT_ALL) return all;
    return same_limit(l, a, b) ? a : all;
}

static void want(Lower *l, const IrValue *v, uint32_t dim, Want w) {
    if (!cpu_is_tile(v)) return;
    Want *old = &l->demand[v->id].dim[dim];
    Want now = join(l, *old, w);
    if (now.kind == old->kind) return;
    *old = now;
    l->changed = true;
}

static void want_all(Lower *l, const IrValue *v) {
    for (uint32_t d = 0; cpu_is_tile(v) && d < v->type->rank; d++) want(l, v, d, all);
}

static Want wanted(const Lower *l, const IrValue *v, uint32_t dim) {
    return l->demand[v->id].dim[dim];
}

static void want_same(Lower *l, const IrValue *v, const IrValue *as) {
    if (!cpu_is_tile(v) || !cpu_is_tile(as)) return;
    for (uint32_t d = 0; d < v->type->rank; d++) want(l, v, d, wanted(l, as, d));
}

// ---- ops ----------------------------------------------------------------------------------------

static void of_store(Lower *l, const IrOp *op) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code), at = 0;
    bool tiles = false;
    for (uint32_t d = 0; d < select->u.ints.count; d++)
        tiles = tiles || cpu_is_tile(ir_operand(op, start + d));
    for (uint32_t i = 1; i < op->operand_count; i++)
        if (i >= start || tiles) want_all(l, ir_operand(op, i));
    for (uint32_t d = 0; d < select->u.ints.count && !tiles; d++) {
        if (select->u.ints.items[d] == 0) continue;
        Want w = {WANT_LIMIT, op, d};
        want(l, ir_operand(op, 1), at, w);
        if (ir_operand(op, 2)) want(l, ir_operand(op, 2), at, w);
        at++;
    }
}

static void of_broadcast(Lower *l, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    for (uint32_t d = 0; d < x->type->rank; d++)
        want(l, x, d, x->type->shape[d] == 1 ? all : wanted(l, r, d));
}

static void of_reshape(Lower *l, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    LanePlace place = {.rank = r->type->rank}, from;
    for (uint32_t d = 0; d < place.rank; d++)
        place.at[d] = (Coord){COORD_LOOP, (uint8_t)d, 0, NULL};
    if (!cpu_is_tile(x) || !value_reshape_place(x->type, r->type, place, &from)) {
        want_all(l, x);
        return;
    }
    for (uint32_t d = 0; d < x->type->rank; d++)
        want(l, x, d, x->type->shape[d] == 1 ? all : wanted(l, r, from.at[d].loop));
}

static void of_permute(Lower *l, const IrOp *op) {
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    for (uint32_t d = 0; d < perm->u.ints.count; d++)
        want(l, ir_operand(op, 0), (uint32_t)perm->u.ints.items[d], wanted(l, &op->results[0], d));
}

static void of_reduce(Lower *l, const IrOp *op) {
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *x = ir_operand(op, i);
        for (uint32_t d = 0; x && d < x->type->rank; d++) {
            if (d == axis) want(l, x, d, all);
            for (uint32_t k = 0; d != axis && k < op->result_count; k++)
                want(l, x, d, wanted(l, &op->results[k], d > axis ? d - 1 : d));
        }
    }
}

static void of_dot(Lower *l, const IrOp *op) {
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1), *r = &op->results[0];
    uint32_t rank = r->type->rank, row = rank - 2, column = rank - 1;
    for (uint32_t d = 0; d < row; d++) {
        want(l, a, d, wanted(l, r, d));
        want(l, b, d, wanted(l, r, d));
    }
    want(l, a, row, wanted(l, r, row));
    want(l, a, column, all);
    want(l, b, row, all);
    want(l, b, column, wanted(l, r, column));
    if (op->operand_count > 2 && ir_operand(op, 2)) want_same(l, ir_operand(op, 2), r);
}

static void of_control(Lower *l, const IrOp *op) {
    bool counted = op->code == IR_FOR;
    uint32_t first = counted ? 3 : 0, argument = counted ? 1 : 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *r = &op->results[i];
        for (uint32_t k = 0; k < op->region_count; k++) {
            const IrBlock *region = op->regions[k];
            bool condition = op->code == IR_WHILE && k == 0;
            const IrValue *y = condition ? NULL : ir_operand(region->last, i);
            if (y) want_same(l, y, r);
            if (op->code == IR_IF) continue;
            const IrValue *arg = region->args[argument + i];
            want_same(l, ir_operand(op, first + i), arg);
            want_same(l, ir_operand(op, first + i), r);
            // A carried tile is needed by either region and after the loop.
            for (uint32_t n = 0; n < op->region_count; n++)
                want_same(l, arg, op->regions[n]->args[argument + i]);
            want_same(l, arg, r);
            if (y) want_same(l, y, arg);
        }
    }
}

static bool is_elementwise(const IrOp *op) {
    switch (ir_op_info(op->code)->rule) {
    case IR_RULE_UNARY:
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE:
    case IR_RULE_TERNARY:
    case IR_RULE_SELECT:
    case IR_RULE_CAST:
    case IR_RULE_BITCAST:
    case IR_RULE_PTR_ADD:
    case IR_RULE_LOAD: return true;
    default: return false;
    }
}

static void of_op(Lower *l, const IrOp *op) {
    switch (op->code) {
    case IR_VIEW_STORE: of_store(l, op); return;
    case IR_BROADCAST: of_broadcast(l, op); return;
    case IR_RESHAPE: of_reshape(l, op); return;
    case IR_PERMUTE: of_permute(l, op); return;
    case IR_REDUCE: of_reduce(l, op); return;
    case IR_DOT: of_dot(l, op); return;
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: of_control(l, op); return;
    case IR_YIELD: return;  // of_control handles it
    default: break;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (is_elementwise(op))
            want_same(l, ir_operand(op, i), &op->results[0]);
        else
            want_all(l, ir_operand(op, i));
    }
}

static void of_block(Lower *l, const IrBlock *block) {
    for (const IrOp *op = block->last; op; op = op->prev) {
        of_op(l, op);
        if (op->code == IR_REDUCE || op->code == IR_SCAN) continue;
        for (uint32_t i = 0; i < op->region_count; i++) of_block(l, op->regions[i]);
    }
}

void demand_find(Lower *l, IrBlock *body) {
    l->demand = arena_new(l->scratch, Demand, l->func->value_count);
    l->demand_count = l->func->value_count;
    do {
        l->changed = false;
        of_block(l, body);
    } while (l->changed);
}

// ---- limits -------------------------------------------------------------------------------------

// Is the value available where code is being added?
static bool is_known(const Lower *l, const IrValue *v) {
    if (v->def) return ir_dominates(v->def, l->here);
    return !v->block || ir_block_within(l->here->block, v->block);
}

static IrValue *limit_of(Lower *l, IrBuilder *b, Want w) {
    if (w.kind != WANT_LIMIT || !is_known(l, index_of(w.store, w.dim))) return NULL;
    return access_room(l, b, w.store, w.dim);
}

IrValue *demand_limit(Lower *l, IrBuilder *b, const IrValue *tile, uint32_t dim) {
    if (tile->id >= l->demand_count) return NULL;
    return limit_of(l, b, wanted(l, tile, dim));
}

static bool is_root(const Nest *nest, const IrOp *op) {
    for (size_t i = 0; i < nest->roots.count; i++)
        if (nest->roots.data[i].op == op) return true;
    return false;
}

static Want wanted_outside(const Lower *l, const Nest *nest, const IrValue *tile, uint32_t dim) {
    Want w = {WANT_NOTHING, NULL, 0};
    for (const IrUse *use = tile->uses; use; use = use->next) {
        const IrOp *user = use->user;
        if (user->code == IR_REDUCE && is_root(nest, user)) continue;
        bool same = is_elementwise(user) && user->results[0].id < l->demand_count;
        w = join(l, w, same ? wanted(l, &user->results[0], dim) : all);
    }
    return w;
}

IrValue *demand_limit_outside(Lower *l, IrBuilder *b, const Nest *nest, const IrValue *tile,
                              uint32_t dim) {
    return limit_of(l, b, wanted_outside(l, nest, tile, dim));
}

bool demand_ends_at(const Lower *l, const Nest *nest, const IrValue *tile, uint32_t dim,
                    const IrOp *store, uint32_t store_dim) {
    Want end = {WANT_LIMIT, store, store_dim}, w = wanted_outside(l, nest, tile, dim);
    return w.kind == WANT_LIMIT && same_limit(l, w, end);
}
