// A value that is kept for a while and stored at the end is kept at the store's destination.
//
// softmax: e = exp(x - max) is computed in one nest, with its sum, and divided in the next one. In
// scratch memory it would take as much of the caches again as the row. If it is written to y at
// once, y's lines are fetched while exp is computed, and the division finds them in the caches.
//
//     e = exp(x - m); s = sum(e)       y[r, i] = e, sum         (instead of scratch[i] = e)
//     y[r, 0 +: W] = e / s             y[r, i] = y[r, i] / s
//
// Invariants: no op between the value and its store can observe the difference: there is no other
// effect, and no read that may touch the store's memory. Values that were read from there before
// are used only in the value's own nest, at the same element. Lanes that the store drops are read
// as 0 and not used: all paths from the value end in that store, or in reductions of the value's
// nest, which read the value as it is computed.
#include "passes/alias.h"
#include "passes/cpu/emit/lower.h"

typedef struct StoreSearch {
    const Lower *l;
    const Nest *nest;     // the value's nest
    const IrValue *kept;  // the value
    const IrOp *store;    // the store that was found
    bool *seen;           // by value id
    uint32_t left;  // values that may still be visited: for longer paths, caches do not matter
} StoreSearch;

enum { SEARCH_VALUES_MAX = 256 };

// Is it the first visit of this value, and is the value from before the walk?
static bool is_new(StoreSearch *w, const IrValue *v) {
    if (v->id >= w->l->demand_count || w->seen[v->id]) return false;
    w->seen[v->id] = true;
    if (w->left) w->left--;
    return true;
}

// An op on the path: the path continues with its result.
static const IrValue *through(const StoreSearch *w, const IrOp *op) {
    bool goes_on = op->block == w->kept->def->block && op_keeps_place(op) &&
                   op->result_count == 1 && op->results[0].id < w->l->demand_count;
    return goes_on ? &op->results[0] : NULL;
}

// ---- where the value goes -----------------------------------------------------------------------

static bool is_root(const Nest *nest, const IrOp *op) {
    for (size_t i = 0; i < nest->roots.count; i++)
        if (nest->roots.data[i].op == op) return true;
    return false;
}

static bool ends_in_store(StoreSearch *w, const IrValue *v);

static bool ends_with_use(StoreSearch *w, const IrValue *v, const IrOp *op) {
    if (op->code == IR_REDUCE) return is_root(w->nest, op);
    if (op->code != IR_VIEW_STORE) {
        const IrValue *result = through(w, op);
        return result && (!is_new(w, result) || ends_in_store(w, result));
    }
    if (op->block != w->kept->def->block || ir_operand(op, 1) != v) return false;
    if (w->store && w->store != op) return false;
    for (uint32_t i = 2; i < op->operand_count; i++)
        if (ir_operand(op, i) == v) return false;
    w->store = op;
    return true;
}

static bool ends_in_store(StoreSearch *w, const IrValue *v) {
    if (!w->left) return false;
    for (const IrUse *use = v->uses; use; use = use->next)
        if (!ends_with_use(w, v, use->user)) return false;
    return true;
}

// Are values read from `v` used only by the kept value, or by reductions before it?
static bool used_before(StoreSearch *w, const IrValue *v) {
    if (!w->left) return false;
    for (const IrUse *use = v->uses; use; use = use->next) {
        const IrOp *op = use->user;
        if (op == w->kept->def) continue;
        if (!ir_dominates(op, w->kept->def)) return false;
        if (op->code == IR_REDUCE && op->block == w->kept->def->block) continue;
        const IrValue *result = through(w, op);
        if (!result || (is_new(w, result) && !used_before(w, result))) return false;
    }
    return true;
}

// ---- the store ----------------------------------------------------------------------------------

// Is it a plain run of neighbours of the value's own type, at a place that is known when the value
// is made?
static bool is_plain_store(const Lower *l, const IrValue *kept, const IrOp *store) {
    const IrValue *view = ir_operand(store, 0);
    const IrAttr *select = ir_attr(store, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(store->code), rank = select->u.ints.count;
    if (ir_operand(store, 2) || kept->type != ir_operand(store, 1)->type) return false;
    if (view->type->elem != kept->type->elem || kept->type->elem == DTYPE_BOOL) return false;
    if (access_run(l, view) + 1 != (int)rank || select->u.ints.items[rank - 1] < 2) return false;
    for (uint32_t d = 0; d < rank; d++) {
        const IrValue *index = ir_operand(store, start + d);
        if (index->type->rank > 0) return false;
        if (index->id < l->tiles.count && l->tiles.data[index->id].pending) return false;
        if (index->def && !ir_dominates(index->def, l->insert_before)) return false;
    }
    for (size_t i = 0; i < l->reaches.count; i++)
        if (l->reaches.data[i].store == store) return false;
    // A store past the caches is not read again.
    return !((l->facts & FACT_STREAM) && l->aligned[store->id]);
}

// Is there no conflict between the value and its store?
static bool nothing_between(const Lower *l, const IrValue *kept, const IrOp *store) {
    for (const IrOp *op = kept->def->next; op != store; op = op->next) {
        if (!op || (op->region_count && op->code != IR_REDUCE)) return false;
        unsigned effects = ir_effects(op);
        if (effects & ~(1u << IR_EFFECT_READ)) return false;
        if (effects && (!op_is_load(op) || alias_conflict(l->func, l->facts, op, store)))
            return false;
    }
    return true;
}

// Are the earlier reads of the store's memory over? Reads of the same block happen late; those of
// other blocks are in buffers.
static bool reads_are_over(StoreSearch *w) {
    w->seen = arena_new(w->l->scratch, bool, w->l->demand_count);
    w->left = SEARCH_VALUES_MAX;
    for (const IrOp *op = w->kept->def->block->first; op != w->kept->def; op = op->next) {
        if (!op_is_load(op) || op->results[0].type->rank == 0) continue;
        if (!alias_conflict(w->l->func, w->l->facts, op, w->store)) continue;
        if (!alias_same_elements(w->l->facts, op, w->store)) return false;
        if (!used_before(w, &op->results[0])) return false;
    }
    return true;
}

static bool is_covered(Lower *l, const Nest *nest, const IrValue *kept, const IrOp *store) {
    const IrAttr *select = ir_attr(store, IR_ATTR_SELECT);
    uint32_t at = 0;
    for (uint32_t d = 0; d < select->u.ints.count; d++) {
        if (select->u.ints.items[d] == 0) continue;
        bool proven = ir_attr(store, IR_ATTR_INSIDE)->u.ints.items[d] != 0;
        if (!proven && !demand_ends_at(l, nest, kept, at, store, d)) return false;
        at++;
    }
    return true;
}

IrOp *store_early_find(Lower *l, const Nest *nest, const Root *root) {
    const IrValue *kept = root->value;
    if (root->kind != ROOT_BUFFER || !root->op || kept->id >= l->demand_count) return NULL;
    if (!op_keeps_place(root->op) || lower_home(l, kept)) return NULL;
    StoreSearch way = {.l = l, .nest = nest, .kept = kept, .left = SEARCH_VALUES_MAX};
    way.seen = arena_new(l->scratch, bool, l->demand_count);
    if (!ends_in_store(&way, kept) || !way.store || is_root(nest, way.store)) return NULL;
    bool fits = is_plain_store(l, kept, way.store) && nothing_between(l, kept, way.store) &&
                reads_are_over(&way) && is_covered(l, nest, kept, way.store);
    return fits ? (IrOp *)(uintptr_t)way.store : NULL;
}
