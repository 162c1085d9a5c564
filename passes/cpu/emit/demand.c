// The demand for a tile: how much of it is read. Rows that no store writes need not be computed.
//
// The demand is found backwards from the uses of a value: a store to `c[i +: BM, …]` needs only the
// rows below M - i, and so do the sums, casts, products and carried tiles that it is computed from.
// If two consumers need different parts, or if a consumer crosses a dimension (reductions, sorts,
// reshapes), the whole dimension is needed. A limit is a store and one of its dimensions: when it
// is queried, the extent and the index of that store must be available already.
#include <string.h>

#include "passes/cpu/emit/lower.h"

typedef enum DemandKind { DEMAND_NONE, DEMAND_LIMIT, DEMAND_ALL } DemandKind;
typedef struct DimDemand {
    DemandKind kind;
    const IrOp *store;  // DEMAND_LIMIT
    uint32_t dim;       // the view's dimension
} DimDemand;
struct Demand {
    DimDemand dim[IR_MAX_RANK];
};

static const DimDemand all = {DEMAND_ALL, NULL, 0};

static const IrDim *extent_of(const Lower *l, const IrOp *store, uint32_t dim) {
    for (size_t i = 0; i < l->func->params.count; i++)
        if (l->func->params.data[i].value == ir_operand(store, 0))
            return &l->func->params.data[i].dims[dim];
    UNREACHABLE("a view that is not a parameter");
}

static IrValue *index_of(const IrOp *store, uint32_t dim) {
    return ir_operand(store, ir_view_index_start(store->code) + dim);
}

static bool same_limit(const Lower *l, DimDemand a, DimDemand b) {
    if (index_of(a.store, a.dim) != index_of(b.store, b.dim)) return false;
    const IrDim *x = extent_of(l, a.store, a.dim), *y = extent_of(l, b.store, b.dim);
    return x->extent == y->extent && (x->extent || x->value == y->value);
}

static DimDemand join(const Lower *l, DimDemand a, DimDemand b) {
    if (a.kind == DEMAND_NONE) return b;
    if (b.kind == DEMAND_NONE) return a;
    if (a.kind == DEMAND_ALL || b.kind == DEMAND_ALL) return all;
    return same_limit(l, a, b) ? a : all;
}

static void add_demand(Lower *l, const IrValue *v, uint32_t dim, DimDemand w) {
    if (!cpu_is_tile(v)) return;
    DimDemand *old = &l->demand[v->id].dim[dim];
    DimDemand now = join(l, *old, w);
    if (now.kind == old->kind) return;
    *old = now;
    l->changed = true;
}

static void add_full_demand(Lower *l, const IrValue *v) {
    for (uint32_t d = 0; cpu_is_tile(v) && d < v->type->rank; d++) add_demand(l, v, d, all);
}

static DimDemand demand_of(const Lower *l, const IrValue *v, uint32_t dim) {
    return l->demand[v->id].dim[dim];
}

static void add_same_demand(Lower *l, const IrValue *v, const IrValue *as) {
    if (!cpu_is_tile(v) || !cpu_is_tile(as)) return;
    for (uint32_t d = 0; d < v->type->rank; d++) add_demand(l, v, d, demand_of(l, as, d));
}

// ---- ops ----------------------------------------------------------------------------------------

static void visit_store(Lower *l, const IrOp *op) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code), at = 0;
    bool tiles = false;
    for (uint32_t d = 0; d < select->u.ints.count; d++)
        tiles = tiles || cpu_is_tile(ir_operand(op, start + d));
    for (uint32_t i = 1; i < op->operand_count; i++)
        if (i >= start || tiles) add_full_demand(l, ir_operand(op, i));
    for (uint32_t d = 0; d < select->u.ints.count && !tiles; d++) {
        if (select->u.ints.items[d] == 0) continue;
        DimDemand w = {DEMAND_LIMIT, op, d};
        add_demand(l, ir_operand(op, 1), at, w);
        if (ir_operand(op, 2)) add_demand(l, ir_operand(op, 2), at, w);
        at++;
    }
}

static void visit_broadcast(Lower *l, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    for (uint32_t d = 0; d < x->type->rank; d++)
        add_demand(l, x, d, x->type->shape[d] == 1 ? all : demand_of(l, r, d));
}

static void visit_reshape(Lower *l, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    LanePlace place = {.rank = r->type->rank}, from;
    for (uint32_t d = 0; d < place.rank; d++)
        place.at[d] = (Coord){COORD_LOOP, (uint8_t)d, 0, NULL};
    if (!cpu_is_tile(x) || !value_reshape_place(x->type, r->type, place, &from)) {
        add_full_demand(l, x);
        return;
    }
    for (uint32_t d = 0; d < x->type->rank; d++)
        add_demand(l, x, d, x->type->shape[d] == 1 ? all : demand_of(l, r, from.at[d].loop));
}

static void visit_permute(Lower *l, const IrOp *op) {
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    for (uint32_t d = 0; d < perm->u.ints.count; d++)
        add_demand(l, ir_operand(op, 0), (uint32_t)perm->u.ints.items[d],
                   demand_of(l, &op->results[0], d));
}

static void visit_reduce(Lower *l, const IrOp *op) {
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *x = ir_operand(op, i);
        for (uint32_t d = 0; x && d < x->type->rank; d++) {
            if (d == axis) add_demand(l, x, d, all);
            for (uint32_t k = 0; d != axis && k < op->result_count; k++)
                add_demand(l, x, d, demand_of(l, &op->results[k], d > axis ? d - 1 : d));
        }
    }
}

static void visit_dot(Lower *l, const IrOp *op) {
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1), *r = &op->results[0];
    uint32_t rank = r->type->rank, row = rank - 2, column = rank - 1;
    for (uint32_t d = 0; d < row; d++) {
        add_demand(l, a, d, demand_of(l, r, d));
        add_demand(l, b, d, demand_of(l, r, d));
    }
    add_demand(l, a, row, demand_of(l, r, row));
    add_demand(l, a, column, all);
    add_demand(l, b, row, all);
    add_demand(l, b, column, demand_of(l, r, column));
    if (op->operand_count > 2 && ir_operand(op, 2)) add_same_demand(l, ir_operand(op, 2), r);
}

static void visit_control(Lower *l, const IrOp *op) {
    bool counted = op->code == IR_FOR;
    uint32_t first = counted ? 3 : 0, argument = counted ? 1 : 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *r = &op->results[i];
        for (uint32_t k = 0; k < op->region_count; k++) {
            const IrBlock *region = op->regions[k];
            bool condition = op->code == IR_WHILE && k == 0;
            const IrValue *y = condition ? NULL : ir_operand(region->last, i);
            if (y) add_same_demand(l, y, r);
            if (op->code == IR_IF) continue;
            const IrValue *arg = region->args[argument + i];
            add_same_demand(l, ir_operand(op, first + i), arg);
            add_same_demand(l, ir_operand(op, first + i), r);
            // A carried tile is needed by either region and after the loop.
            for (uint32_t n = 0; n < op->region_count; n++)
                add_same_demand(l, arg, op->regions[n]->args[argument + i]);
            add_same_demand(l, arg, r);
            if (y) add_same_demand(l, y, arg);
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

static void visit_op(Lower *l, const IrOp *op) {
    switch (op->code) {
    case IR_VIEW_STORE: visit_store(l, op); return;
    case IR_BROADCAST: visit_broadcast(l, op); return;
    case IR_RESHAPE: visit_reshape(l, op); return;
    case IR_PERMUTE: visit_permute(l, op); return;
    case IR_REDUCE: visit_reduce(l, op); return;
    case IR_DOT: visit_dot(l, op); return;
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: visit_control(l, op); return;
    case IR_YIELD: return;  // visit_control handles it
    default: break;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (is_elementwise(op))
            add_same_demand(l, ir_operand(op, i), &op->results[0]);
        else
            add_full_demand(l, ir_operand(op, i));
    }
}

static void visit_block(Lower *l, const IrBlock *block) {
    for (const IrOp *op = block->last; op; op = op->prev) {
        visit_op(l, op);
        if (op->code == IR_REDUCE || op->code == IR_SCAN) continue;
        for (uint32_t i = 0; i < op->region_count; i++) visit_block(l, op->regions[i]);
    }
}

void demand_find(Lower *l, IrBlock *body) {
    l->demand = arena_new(l->scratch, Demand, l->func->value_count);
    l->demand_count = l->func->value_count;
    do {
        l->changed = false;
        visit_block(l, body);
    } while (l->changed);
}

// ---- limits -------------------------------------------------------------------------------------

// Is the value available where code is being added?
static bool is_known(const Lower *l, const IrValue *v) {
    if (v->def) return ir_dominates(v->def, l->insert_before);
    return !v->block || ir_block_within(l->insert_before->block, v->block);
}

static IrValue *limit_of(Lower *l, IrBuilder *b, DimDemand w) {
    if (w.kind != DEMAND_LIMIT || !is_known(l, index_of(w.store, w.dim))) return NULL;
    return access_remaining(l, b, w.store, w.dim);
}

IrValue *demand_limit(Lower *l, IrBuilder *b, const IrValue *tile, uint32_t dim) {
    if (tile->id >= l->demand_count) return NULL;
    return limit_of(l, b, demand_of(l, tile, dim));
}

static bool is_root(const Nest *nest, const IrOp *op) {
    for (size_t i = 0; i < nest->roots.count; i++)
        if (nest->roots.data[i].op == op) return true;
    return false;
}

static DimDemand demand_outside(const Lower *l, const Nest *nest, const IrValue *tile,
                                uint32_t dim) {
    DimDemand w = {DEMAND_NONE, NULL, 0};
    for (const IrUse *use = tile->uses; use; use = use->next) {
        const IrOp *user = use->user;
        if (user->code == IR_REDUCE && is_root(nest, user)) continue;
        bool same = is_elementwise(user) && user->results[0].id < l->demand_count;
        w = join(l, w, same ? demand_of(l, &user->results[0], dim) : all);
    }
    return w;
}

IrValue *demand_limit_outside(Lower *l, IrBuilder *b, const Nest *nest, const IrValue *tile,
                              uint32_t dim) {
    return limit_of(l, b, demand_outside(l, nest, tile, dim));
}

bool demand_ends_at(const Lower *l, const Nest *nest, const IrValue *tile, uint32_t dim,
                    const IrOp *store, uint32_t store_dim) {
    DimDemand end = {DEMAND_LIMIT, store, store_dim}, w = demand_outside(l, nest, tile, dim);
    return w.kind == DEMAND_LIMIT && same_limit(l, w, end);
}
