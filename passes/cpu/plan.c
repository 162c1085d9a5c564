// INLINE or BUFFER: what each tile value is, found by walking the body until nothing changes.
//
// A value becomes BUFFER when an op must have it in memory; when it is computed outside of the loop
// that uses it; when several nests would compute it and that is dear; when it is a load that would
// move past a write that may touch it; when the body of a loop would grow beyond all measure.
#include <string.h>

#include "passes/alias.h"
#include "passes/cpu/lower.h"
#include "passes/cpu/tuning.h"

// A body has about as many values as this at most: LLVM's time grows with the square of its length.
// Chains of values are walked by recursion.
enum { BODY_VALUES = 2048, CHAIN_VALUES = 1024 };

TileState *lower_tile(Lower *l, const IrValue *value) {
    while (l->tiles.count <= value->id) {
        TileState blank = {0};
        vec_push(l->scratch, &l->tiles, blank);
    }
    return &l->tiles.data[value->id];
}

void plan_buffer(Lower *l, const IrValue *value) {
    TileState *t = lower_tile(l, value);
    if (t->mode == MODE_BUFFER) return;
    t->mode = MODE_BUFFER;
    l->changed = true;
}

bool plan_needs_buffer(const IrOp *op, uint32_t operand) {
    switch (op->code) {
    case IR_GATHER:
    case IR_DOT: return operand == (op->code == IR_GATHER ? 0u : 2u);
    case IR_RESHAPE: {
        LanePlace at, place = {.rank = op->results[0].type->rank};
        return !value_reshape_place(ir_operand(op, 0)->type, op->results[0].type, place, &at);
    }
    case IR_SCAN:
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM:
    case IR_PRINT: return true;
    default: return false;
    }
}

bool plan_conflict(const Lower *l, const IrOp *a, const IrOp *b) {
    return alias_conflict(l->func, l->facts, a, b);
}

// In one iteration a root's load of the very elements that a store of the nest writes is read
// before it is written; so the order holds if nobody else touches them.
bool plan_harmless_together(const Lower *l, const IrOp *load, const IrOp *store) {
    return alias_same_elements(l->facts, load, store);
}

// ---- walking what a root computes ---------------------------------------------------------------

// A value may be read where the root's element is, and elsewhere as well (x + transpose(x)): the
// second way is walked even if the first one was.
typedef struct SeenValue {
    const IrValue *value;
    bool same_place;  // so far only there
} SeenValue;

typedef struct PlanWalk {
    Lower *l;
    const Nest *nest;
    uint32_t root_time;
    bool depends;         // on what the open nest will only define
    bool planning;        // values become BUFFER
    const IrValue *what;  // is it read?
    PlanRead read;
    const IrOp *store;  // a store that is to join: `depends` when a load minds
    VEC(SeenValue) seen;
    uint32_t values;  // planning: met, less those that lie in memory from now on
} PlanWalk;

bool plan_keeps_place(const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    return rule == IR_RULE_UNARY || rule == IR_RULE_BINARY || rule == IR_RULE_TERNARY ||
           rule == IR_RULE_SHIFT || rule == IR_RULE_COMPARE || rule == IR_RULE_SELECT ||
           rule == IR_RULE_CAST || rule == IR_RULE_BITCAST || rule == IR_RULE_PTR_ADD ||
           rule == IR_RULE_LOAD;
}

static bool is_load(const IrOp *op) { return op->code == IR_VIEW_LOAD || op->code == IR_LOAD; }

// Roughly how many ops it takes to compute an element again, up to a limit.
static uint32_t cost_of(const Lower *l, const IrValue *v, uint32_t limit) {
    if (v->type->rank == 0 || !v->def || limit == 0) return 0;
    if (v->id < l->tiles.count && l->tiles.data[v->id].mode == MODE_BUFFER) return 1;
    IrOpcode code = v->def->code;
    if (code == IR_CONST || code == IR_IOTA) return 0;
    uint32_t cost = 1;
    if (code == IR_BROADCAST || code == IR_RESHAPE || code == IR_PERMUTE) cost = 0;
    if (code == IR_DIV || code == IR_REM || code == IR_SQRT) cost = TUNE_SLOW_OP;
    if (code == IR_GATHER) cost = TUNE_SLOW_OP;
    uint32_t first = alias_is_view_access(v->def) ? ir_view_index_start(code) : 0;
    for (uint32_t i = first; i < v->def->operand_count && cost < limit; i++)
        if (ir_operand(v->def, i)) cost += cost_of(l, ir_operand(v->def, i), limit - cost);
    return cost;
}

static bool reads_memory(const IrValue *v, uint32_t depth) {
    if (v->type->rank == 0 || !v->def) return false;
    if (is_load(v->def) || depth == 0) return true;
    for (uint32_t i = 0; i < v->def->operand_count; i++)
        if (ir_operand(v->def, i) && reads_memory(ir_operand(v->def, i), depth - 1)) return true;
    return false;
}

// Is it made of constants, iotas and scalars by few ops? Then it is computed wherever it is needed.
static bool is_free(const Lower *l, const IrValue *v) {
    enum { DEPTH = 8 };
    return cost_of(l, v, TUNE_FREE_OPS) < TUNE_FREE_OPS && !reads_memory(v, DEPTH);
}

static bool seen_before(PlanWalk *w, const IrValue *v, bool same_place) {
    TileState *t = lower_tile(w->l, v);
    if (t->seen && t->seen <= w->seen.count && w->seen.data[t->seen - 1].value == v) {
        SeenValue *seen = &w->seen.data[t->seen - 1];
        if (same_place || !seen->same_place) return true;
        seen->same_place = false;
        return false;
    }
    SeenValue seen = {v, same_place};
    vec_push(w->l->scratch, &w->seen, seen);
    t->seen = (uint32_t)w->seen.count;
    w->values++;
    return false;
}

static void walk_value(PlanWalk *w, IrValue *v, bool same_place);

static void walk_operands(PlanWalk *w, const IrOp *op, bool same_place) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IrValue *x = ir_operand(op, i);
        if (x && x->type->kind != IR_VIEW) walk_value(w, x, same_place && plan_keeps_place(op));
    }
}

// A load that would be done after a write which may touch it.
static bool moves_past_write(const PlanWalk *w, const IrOp *load, uint32_t time, bool same_place) {
    const Lower *l = w->l;
    for (size_t i = l->writes.count; i-- > 0;) {
        const PastWrite *write = &l->writes.data[i];
        if (write->time < time) break;
        if (!plan_conflict(l, load, write->op)) continue;
        bool in_nest = false;
        for (size_t k = 0; w->nest && k < w->nest->roots.count; k++)
            in_nest = in_nest || w->nest->roots.data[k].op == write->op;
        if (!(in_nest && same_place && plan_harmless_together(l, load, write->op))) return true;
    }
    return false;
}

static void plan_value(PlanWalk *w, IrValue *v, bool same_place) {
    Lower *l = w->l;
    TileState *t = lower_tile(l, v);
    if (is_load(v->def) && moves_past_write(w, v->def, t->time, same_place)) plan_buffer(l, v);
    if (is_free(l, v)) return;
    if (v->def->block != l->here->block) plan_buffer(l, v);
    bool again = t->nest != 0 && t->nest != l->nest_number + 1;
    if (again && cost_of(l, v, TUNE_DEAR_OPS) >= TUNE_DEAR_OPS) plan_buffer(l, v);
    lower_tile(l, v)->nest = l->nest_number + 1;
}

static void meet_store(PlanWalk *w, const IrOp *load, bool same_place) {
    if (!plan_conflict(w->l, load, w->store)) return;
    if (!(same_place && plan_harmless_together(w->l, load, w->store))) w->depends = true;
}

static void walk_value(PlanWalk *w, IrValue *v, bool same_place) {
    Lower *l = w->l;
    TileState *t = lower_tile(l, v);
    uint32_t before = w->values;
    if (v == w->what) {
        PlanRead read = same_place ? PLAN_SAME_PLACE : PLAN_OTHER_PLACE;
        if (read > w->read) w->read = read;
    }
    if (t->pending && !w->store) {
        bool reduced = v->def && v->def->code == IR_REDUCE;
        if (reduced || !same_place) w->depends = true;
    }
    if (v->type->rank == 0 || !v->def) return;
    if (t->mode == MODE_BUFFER && !t->pending) return;
    if (w->store && is_load(v->def)) meet_store(w, v->def, same_place);
    if (seen_before(w, v, same_place)) return;
    if (w->planning && !t->pending) {
        plan_value(w, v, same_place);
        if (lower_tile(l, v)->mode == MODE_BUFFER) return;
    }
    for (uint32_t i = 0; w->planning && i < v->def->operand_count; i++)
        if (plan_needs_buffer(v->def, i) && lower_is_tile(ir_operand(v->def, i)))
            plan_buffer(l, ir_operand(v->def, i));
    walk_operands(w, v->def, same_place);
    if (!w->planning) return;
    bool other = lower_tile(l, v)->pending;  // another root's: its walk cuts it
    if (!other && w->values - before < BODY_VALUES) return;
    if (!other) plan_buffer(l, v);
    w->values = before + 1;
}

// The op itself looks at its operands where its element is; indices have shapes of their own.
static void walk_root(PlanWalk *w, const Root *root) {
    if (root->source.id) return;
    if (root->kind == ROOT_BUFFER) {
        if (root->op && root->value->def == root->op) {
            if (w->store && is_load(root->op)) meet_store(w, root->op, true);
            walk_operands(w, root->op, true);
        } else {
            walk_value(w, root->value, true);
        }
        return;
    }
    bool view = alias_is_view_access(root->op);
    uint32_t indices = view ? ir_view_index_start(root->op->code) : root->op->operand_count;
    for (uint32_t i = 0; i < root->op->operand_count; i++) {
        IrValue *x = ir_operand(root->op, i);
        if (x && x->type->kind != IR_VIEW) walk_value(w, x, i < indices);
    }
}

// ---- joining ------------------------------------------------------------------------------------

static bool stores_conflict(const Lower *l, const Nest *nest, const Root *root) {
    for (size_t i = 0; i < nest->roots.count; i++) {
        const Root *other = &nest->roots.data[i];
        if (other->kind == ROOT_STORE && plan_conflict(l, other->op, root->op)) return true;
    }
    return false;
}

// Loads that the root reads and that were met after a store of the nest.
static bool loads_conflict(Lower *l, const Nest *nest, const PlanWalk *w) {
    for (size_t i = 0; i < w->seen.count; i++) {
        const IrValue *v = w->seen.data[i].value;
        if (!is_load(v->def)) continue;
        for (size_t k = 0; k < nest->roots.count; k++) {
            const Root *store = &nest->roots.data[k];
            if (store->kind == ROOT_STORE && store->time < lower_tile(l, v)->time &&
                plan_conflict(l, v->def, store->op))
                return true;
        }
    }
    return false;
}

// Would a load of the nest see what the store writes too early?
static bool store_disturbs(Lower *l, const Nest *nest, const IrOp *store) {
    for (size_t i = 0; i < nest->roots.count; i++) {
        PlanWalk w = {.l = l, .nest = nest, .store = store};
        // What the roots before leave pending is no matter here.
        walk_root(&w, &nest->roots.data[i]);
        if (w.depends) return true;
    }
    return false;
}

// Counts what the root adds to the nest; false: it is too much.
static bool take_values(Lower *l, Nest *nest, const PlanWalk *w) {
    uint32_t member = l->nest_number + 1, more = 1;
    for (size_t i = 0; i < w->seen.count; i++)
        more += lower_tile(l, w->seen.data[i].value)->member != member;
    if (nest->values && nest->values + more > BODY_VALUES) return false;
    for (size_t i = 0; i < w->seen.count; i++)
        lower_tile(l, w->seen.data[i].value)->member = member;
    nest->values += more;
    return true;
}

void plan_begin(Lower *l, Nest *nest, const Root *root) {
    PlanWalk w = {.l = l, .nest = nest};
    walk_root(&w, root);
    take_values(l, nest, &w);
}

bool plan_may_join(Lower *l, Nest *nest, const Root *root) {
    PlanWalk w = {.l = l, .nest = nest};
    walk_root(&w, root);
    if (w.depends) return false;
    if (root->kind == ROOT_BUFFER && root->op && is_load(root->op) &&
        stores_conflict(l, nest, root))
        return false;
    if (root->kind == ROOT_STORE &&
        (stores_conflict(l, nest, root) || store_disturbs(l, nest, root->op)))
        return false;
    return !loads_conflict(l, nest, &w) && take_values(l, nest, &w);
}

void plan_height(Lower *l, const IrOp *op) {
    uint32_t height = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *x = ir_operand(op, i);
        if (!lower_is_tile(x)) continue;
        const TileState *t = lower_tile(l, x);
        if (t->mode == MODE_INLINE && t->height >= height) height = t->height + 1;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        lower_tile(l, ir_result(op, i))->height = height;
        if (height >= CHAIN_VALUES) plan_buffer(l, ir_result(op, i));
    }
}

void plan_nest(Lower *l, Nest *nest) {
    l->nest_number--;  // the number under which values of this nest are known
    for (size_t i = 0; i < nest->roots.count; i++) {
        PlanWalk w = {.l = l, .nest = nest, .planning = true};
        walk_root(&w, &nest->roots.data[i]);
    }
    l->nest_number++;
}

void plan_inline_use(Lower *l, IrValue *value) {
    PlanWalk w = {.l = l, .planning = true};
    walk_value(&w, value, true);
}

PlanRead plan_reads(Lower *l, const IrValue *value, const IrValue *what) {
    PlanWalk w = {.l = l, .what = what};
    walk_value(&w, (IrValue *)(uintptr_t)value, true);
    return w.read;
}

PlanRead plan_nest_reads(Lower *l, const Nest *nest, const IrValue *what) {
    PlanRead read = PLAN_NO_READ;
    for (size_t i = 0; i < nest->roots.count; i++) {
        PlanWalk w = {.l = l, .what = what};
        walk_root(&w, &nest->roots.data[i]);
        if (w.read > read) read = w.read;
    }
    return read;
}
