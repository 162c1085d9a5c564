// Decides which tile values are stored in memory, by walking over the values that roots compute
// until nothing changes.
//
// A value is stored in memory if an op needs it there; if it is computed outside of the loop that
// uses it; if several nests would compute it and that is expensive; if it is a load that would move
// past a write which may touch its memory; or if a loop body would grow too large.
#include "passes/alias.h"
#include "passes/cpu/plan/planner.h"
#include "passes/cpu/tuning.h"

// BODY_VALUES: about the largest number of values in a body, because LLVM's time grows with the
// square of the body's length. CHAIN_VALUES: the longest chain, because chains are walked
// recursively.
enum { BODY_VALUES = 2048, CHAIN_VALUES = 1024 };

void plan_put_in_memory(Planner *p, const IrValue *value) {
    PlanTile *t = plan_tile(p, value);
    if (t->in_memory) return;
    t->in_memory = true;
    p->changed = true;
}

// ---- walking what a root computes ---------------------------------------------------------------

// A value may be read at the root's element and at other elements as well (x + transpose(x)): the
// second read is walked even if the first one was.
typedef struct SeenValue {
    const IrValue *value;
    bool same_place;  // read only there so far
} SeenValue;

typedef struct PlanWalk {
    Planner *p;
    const PlanNest *nest;
    bool depends;         // on a value that the open nest has yet to define
    bool planning;        // the walk may move values to memory
    const IrValue *what;  // is this value read?
    PlanRead read;
    const IrOp *store;  // a store that wants to join: sets `depends` if it conflicts with a load
    VEC(SeenValue) seen;
    uint32_t values;  // planning: values met, except those that have moved to memory
} PlanWalk;

// The approximate number of ops that recompute an element, up to a limit.
static uint32_t cost_of(const Planner *p, const IrValue *v, uint32_t limit) {
    if (v->type->rank == 0 || !v->def || limit == 0) return 0;
    if (plan_tile(p, v)->in_memory) return 1;
    IrOpcode code = v->def->code;
    if (code == IR_CONST || code == IR_IOTA) return 0;
    uint32_t cost = 1;
    if (code == IR_BROADCAST || code == IR_RESHAPE || code == IR_PERMUTE) cost = 0;
    if (code == IR_DIV || code == IR_REM || code == IR_SQRT) cost = TUNE_SLOW_OP;
    if (code == IR_GATHER || code == IR_LOOKUP) cost = TUNE_SLOW_OP;
    uint32_t first = alias_is_view_access(v->def) ? ir_view_index_start(code) : 0;
    for (uint32_t i = first; i < v->def->operand_count && cost < limit; i++)
        if (ir_operand(v->def, i)) cost += cost_of(p, ir_operand(v->def, i), limit - cost);
    return cost;
}

static bool reads_memory(const IrValue *v, uint32_t depth) {
    if (v->type->rank == 0 || !v->def) return false;
    if (op_is_load(v->def) || depth == 0) return true;
    for (uint32_t i = 0; i < v->def->operand_count; i++)
        if (ir_operand(v->def, i) && reads_memory(ir_operand(v->def, i), depth - 1)) return true;
    return false;
}

// Is the value made of constants, iotas and scalars by few ops? Then it is computed wherever it is
// needed.
static bool is_free(const Planner *p, const IrValue *v) {
    enum { DEPTH = 8 };
    return cost_of(p, v, TUNE_CHEAP_OPS) < TUNE_CHEAP_OPS && !reads_memory(v, DEPTH);
}

static bool seen_before(PlanWalk *w, const IrValue *v, bool same_place) {
    PlanTile *t = plan_tile(w->p, v);
    if (t->seen && t->seen <= w->seen.count && w->seen.data[t->seen - 1].value == v) {
        SeenValue *seen = &w->seen.data[t->seen - 1];
        if (same_place || !seen->same_place) return true;
        seen->same_place = false;
        return false;
    }
    SeenValue seen = {v, same_place};
    vec_push(w->p->scratch, &w->seen, seen);
    t->seen = (uint32_t)w->seen.count;
    w->values++;
    return false;
}

static void walk_value(PlanWalk *w, IrValue *v, bool same_place);

static void walk_operands(PlanWalk *w, const IrOp *op, bool same_place) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IrValue *x = ir_operand(op, i);
        if (x && x->type->kind != IR_VIEW) walk_value(w, x, same_place && op_keeps_place(op));
    }
}

// Would the load happen after a write that may touch its memory?
static bool moves_past_write(const PlanWalk *w, const IrOp *load, uint32_t time, bool same_place) {
    const Planner *p = w->p;
    for (size_t i = p->writes.count; i-- > 0;) {
        const PlanWrite *write = &p->writes.data[i];
        if (write->time < time) break;
        if (!alias_conflict(p->func, p->facts, load, write->op)) continue;
        bool in_nest = false;
        for (size_t k = 0; w->nest && k < w->nest->roots.count; k++)
            in_nest = in_nest || w->nest->roots.data[k].op == write->op;
        if (!(in_nest && same_place && alias_same_elements(p->facts, load, write->op))) return true;
    }
    return false;
}

static void plan_value(PlanWalk *w, IrValue *v, bool same_place) {
    Planner *p = w->p;
    PlanTile *t = plan_tile(p, v);
    if (op_is_load(v->def) && moves_past_write(w, v->def, t->time, same_place))
        plan_put_in_memory(p, v);
    if (is_free(p, v)) return;
    if (v->def->block != p->here->block) plan_put_in_memory(p, v);
    bool again = t->nest != 0 && t->nest != p->stretch + 1;
    if (again && cost_of(p, v, TUNE_EXPENSIVE_OPS) >= TUNE_EXPENSIVE_OPS) plan_put_in_memory(p, v);
    plan_tile(p, v)->nest = p->stretch + 1;
}

static void meet_store(PlanWalk *w, const IrOp *load, bool same_place) {
    if (!alias_conflict(w->p->func, w->p->facts, load, w->store)) return;
    if (!(same_place && alias_same_elements(w->p->facts, load, w->store))) w->depends = true;
}

static void walk_value(PlanWalk *w, IrValue *v, bool same_place) {
    Planner *p = w->p;
    PlanTile *t = plan_tile(p, v);
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
    if (t->in_memory && !t->pending) return;
    if (w->store && op_is_load(v->def)) meet_store(w, v->def, same_place);
    if (seen_before(w, v, same_place)) return;
    if (w->planning && !t->pending) {
        plan_value(w, v, same_place);
        if (plan_tile(p, v)->in_memory) return;
    }
    for (uint32_t i = 0; w->planning && i < v->def->operand_count; i++)
        if (op_needs_buffer(v->def, i) && cpu_is_tile(ir_operand(v->def, i)))
            plan_put_in_memory(p, ir_operand(v->def, i));
    walk_operands(w, v->def, same_place);
    if (!w->planning) return;
    bool other = plan_tile(p, v)->pending;  // of another root, whose walk cuts it
    if (!other && w->values - before < BODY_VALUES) return;
    if (!other) plan_put_in_memory(p, v);
    w->values = before + 1;
}

// The op itself reads its operands at its own element; indices have shapes of their own.
static void walk_root(PlanWalk *w, const PlanRoot *root) {
    if (root->moves) return;
    if (root->kind == ROOT_BUFFER) {
        if (root->op && root->value->def == root->op) {
            if (w->store && op_is_load(root->op)) meet_store(w, root->op, true);
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

static bool stores_conflict(const Planner *p, const PlanNest *nest, const PlanRoot *root) {
    for (size_t i = 0; i < nest->roots.count; i++) {
        const PlanRoot *other = &nest->roots.data[i];
        if (other->kind == ROOT_STORE && alias_conflict(p->func, p->facts, other->op, root->op))
            return true;
    }
    return false;
}

// Does the root read loads that were met after a conflicting store of the nest?
static bool loads_conflict(Planner *p, const PlanNest *nest, const PlanWalk *w) {
    for (size_t i = 0; i < w->seen.count; i++) {
        const IrValue *v = w->seen.data[i].value;
        if (!op_is_load(v->def)) continue;
        for (size_t k = 0; k < nest->roots.count; k++) {
            const PlanRoot *store = &nest->roots.data[k];
            if (store->kind == ROOT_STORE && store->time < plan_tile(p, v)->time &&
                alias_conflict(p->func, p->facts, v->def, store->op))
                return true;
        }
    }
    return false;
}

// Would a load of the nest see the store's data too early?
static bool store_disturbs(Planner *p, const PlanNest *nest, const IrOp *store) {
    for (size_t i = 0; i < nest->roots.count; i++) {
        PlanWalk w = {.p = p, .nest = nest, .store = store};
        // Values that earlier roots leave pending do not matter here.
        walk_root(&w, &nest->roots.data[i]);
        if (w.depends) return true;
    }
    return false;
}

// Counts the values that the root adds to the nest; false: there are too many.
static bool take_values(Planner *p, PlanNest *nest, const PlanWalk *w) {
    uint32_t member = p->stretch + 1, more = 1;
    for (size_t i = 0; i < w->seen.count; i++)
        more += plan_tile(p, w->seen.data[i].value)->member != member;
    if (nest->values && nest->values + more > BODY_VALUES) return false;
    for (size_t i = 0; i < w->seen.count; i++) plan_tile(p, w->seen.data[i].value)->member = member;
    nest->values += more;
    return true;
}

void plan_begin(Planner *p, PlanNest *nest, const PlanRoot *root) {
    PlanWalk w = {.p = p, .nest = nest};
    walk_root(&w, root);
    take_values(p, nest, &w);
}

bool plan_may_join(Planner *p, PlanNest *nest, const PlanRoot *root) {
    PlanWalk w = {.p = p, .nest = nest};
    walk_root(&w, root);
    if (w.depends) return false;
    if (root->kind == ROOT_BUFFER && root->op && op_is_load(root->op) &&
        stores_conflict(p, nest, root))
        return false;
    if (root->kind == ROOT_STORE &&
        (stores_conflict(p, nest, root) || store_disturbs(p, nest, root->op)))
        return false;
    return !loads_conflict(p, nest, &w) && take_values(p, nest, &w);
}

void plan_height(Planner *p, const IrOp *op) {
    uint32_t height = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *x = ir_operand(op, i);
        if (!cpu_is_tile(x)) continue;
        const PlanTile *t = plan_tile(p, x);
        if (!t->in_memory && t->height >= height) height = t->height + 1;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        plan_tile(p, ir_result(op, i))->height = height;
        if (height >= CHAIN_VALUES) plan_put_in_memory(p, ir_result(op, i));
    }
}

void plan_nest(Planner *p, PlanNest *nest) {
    p->stretch--;  // the number that identifies values of this nest
    for (size_t i = 0; i < nest->roots.count; i++) {
        PlanWalk w = {.p = p, .nest = nest, .planning = true};
        walk_root(&w, &nest->roots.data[i]);
    }
    p->stretch++;
}

void plan_inline_use(Planner *p, IrValue *value) {
    PlanWalk w = {.p = p, .planning = true};
    walk_value(&w, value, true);
}

PlanRead plan_reads(Planner *p, const IrValue *value, const IrValue *what) {
    PlanWalk w = {.p = p, .what = what};
    walk_value(&w, (IrValue *)(uintptr_t)value, true);
    return w.read;
}

PlanRead plan_nest_reads(Planner *p, const PlanNest *nest, const IrValue *what) {
    PlanRead read = PLAN_NO_READ;
    for (size_t i = 0; i < nest->roots.count; i++) {
        PlanWalk w = {.p = p, .what = what};
        walk_root(&w, &nest->roots.data[i]);
        if (w.read > read) read = w.read;
    }
    return read;
}
