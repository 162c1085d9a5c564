// cpu_plan: decides which tile values are stored in memory, and which loops compute what together.
//
// The body is walked in order. A tile value is either computed wherever an element of it is needed,
// or stored in memory. Ops with a visible effect or result (stores, reductions, values stored in
// memory) are roots. Neighbouring roots over one shape share a nest of loops, in which each other
// value is computed once for each vector of elements. The walk is repeated until no value changes
// any more. This ends, because values only ever move to memory.
//
// Needs: level cpu_tile; calls and math functions are gone. Keeps: every op. The decisions are
// written on the ops as `nests`: the numbers of the nests that their roots belong to, in the order
// of the roots. An op whose results are computed where they are needed has none; if an op has
// several results, a 0 says the same about one of them. Afterwards the function is of level
// cpu_nest. Invariants: accesses to memory that may overlap happen in program order: a load never
// moves past a write that may touch its memory.
#include <string.h>

#include "passes/cpu/plan/planner.h"
#include "passes/passes.h"

static bool waits(Planner *p, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i) && plan_tile(p, ir_operand(op, i))->pending) return true;
    return false;
}

static bool nest_writes(const Planner *p) {
    for (size_t i = 0; p->nest && i < p->nest->roots.count; i++)
        if (p->nest->roots.data[i].kind == ROOT_STORE) return true;
    return false;
}

static void note_write(Planner *p, const IrOp *op) {
    PlanWrite w = {op, p->time};
    vec_push(p->scratch, &p->writes, w);
}

// ---- nests --------------------------------------------------------------------------------------

static void set_pending(Planner *p, const PlanRoot *root, bool pending) {
    for (uint32_t i = 0; root->kind == ROOT_REDUCE && i < root->op->result_count; i++)
        plan_tile(p, ir_result(root->op, i))->pending = pending;
    if (root->kind == ROOT_BUFFER && root->op) plan_tile(p, root->value)->pending = pending;
}

static void end_nest(Planner *p) {
    PlanNest *nest = p->nest;
    if (!nest) return;
    p->nest = NULL;
    p->stretch++;
    plan_nest(p, nest);
    for (size_t i = 0; i < nest->roots.count; i++) set_pending(p, &nest->roots.data[i], false);
}

static void begin_nest(Planner *p, const PlanRoot *root, const IrType *shape) {
    PlanNest *nest = p->nest = arena_new(p->scratch, PlanNest, 1);
    nest->number = ++p->nests;
    nest->rank = shape->rank;
    nest->axis = -1;
    memcpy(nest->shape, shape->shape, shape->rank * sizeof *shape->shape);
    plan_begin(p, nest, root);
}

static bool has_shape(const PlanNest *nest, const IrType *shape, int axis) {
    return nest->rank == shape->rank &&
           memcmp(nest->shape, shape->shape, shape->rank * sizeof *shape->shape) == 0 &&
           (axis < 0 || nest->axis < 0 || nest->axis == axis);
}

// The nest that takes the root: the open one, or a new one.
static uint32_t add_root(Planner *p, PlanRoot root, const IrType *shape, int axis) {
    root.time = p->time;
    bool fits = p->nest && has_shape(p->nest, shape, axis) && plan_may_join(p, p->nest, &root);
    if (!fits) end_nest(p);
    if (!p->nest) begin_nest(p, &root, shape);
    if (axis >= 0) p->nest->axis = axis;
    vec_push(p->scratch, &p->nest->roots, root);
    set_pending(p, &root, true);
    return p->nest->number;
}

static void choose(Planner *p, IrOp *op, uint32_t nest) {
    PlanChoice choice = {op, nest};
    vec_push(p->scratch, &p->choices, choice);
}

// ---- values in memory ---------------------------------------------------------------------------

// The result gets memory of its own, or that of the carried tile which it replaces.
static void define(Planner *p, const IrValue *value) {
    PlanTile *t = plan_tile(p, value);
    uint32_t home = p->homes[value->id];
    const PlanTile *carried = home ? &p->tiles[home - 1] : NULL;
    t->in_memory = true;
    t->memory = carried && carried->memory ? carried->memory : ++p->memories;
}

static void need_memory(Planner *p, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (op_needs_buffer(op, i) && cpu_is_tile(ir_operand(op, i)))
            plan_put_in_memory(p, ir_operand(op, i));
}

// Adds a root that copies a value to where `op` needs it.
static void copy_for(Planner *p, IrOp *op, IrValue *value, bool moves) {
    PlanRoot root = {.kind = ROOT_BUFFER, .value = value, .moves = moves};
    choose(p, op, add_root(p, root, value->type, -1));
}

// ---- single ops ---------------------------------------------------------------------------------

static void plan_scalar(Planner *p, const IrOp *op) {
    if (op_ends_nest(op, waits(p, op), nest_writes(p))) end_nest(p);
    if (ir_effects(op) & (1u << IR_EFFECT_WRITE)) note_write(p, op);
}

static void plan_reduce(Planner *p, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (cpu_is_tile(ir_result(op, i))) define(p, ir_result(op, i));
    PlanRoot root = {.kind = ROOT_REDUCE, .op = op};
    int axis = (int)ir_attr_int(op, IR_ATTR_AXIS);
    choose(p, op, add_root(p, root, ir_operand(op, 1)->type, axis));
}

static void plan_store(Planner *p, IrOp *op) {
    PlanRoot root = {.kind = ROOT_STORE, .op = op};
    choose(p, op, add_root(p, root, op_store_shape(p->func->module, op), -1));
    note_write(p, op);
}

// One element of a view or a tile is computed at once and is a scalar from then on.
static void plan_element(Planner *p, const IrOp *op) {
    bool view = op_is_view_access(op);
    if (!view || waits(p, op) || nest_writes(p)) end_nest(p);
    if (!view) plan_inline_use(p, ir_operand(op, 0));
}

static void plan_values(Planner *p, IrOp *op) {
    bool any = false;
    plan_height(p, op);
    uint32_t *nests = arena_new(p->scratch, uint32_t, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *r = ir_result(op, i);
        plan_tile(p, r)->time = p->time;
        if (!plan_tile(p, r)->in_memory) continue;
        need_memory(p, op);
        define(p, r);
        PlanRoot root = {.kind = ROOT_BUFFER, .op = op, .value = r};
        nests[i] = add_root(p, root, r->type, -1);
        any = true;
    }
    for (uint32_t i = 0; any && i < op->result_count; i++) choose(p, op, nests[i]);
}

// The operands of join and cat are copied to their parts of the result.
static void plan_whole(Planner *p, IrOp *op) {
    end_nest(p);
    // Noted before its operands are planned: the op reads them completely before it writes.
    if (ir_op_info(op->code)->effect == IR_EFFECT_WRITE) note_write(p, op);
    need_memory(p, op);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IrValue *x = ir_operand(op, i);
        if (x && x->type->kind != IR_VIEW) plan_inline_use(p, x);
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        if (cpu_is_tile(ir_result(op, i))) define(p, ir_result(op, i));
    if (op->code == IR_JOIN || op->code == IR_CAT) {
        for (uint32_t i = 0; i < 2; i++) copy_for(p, op, ir_operand(op, i), false);
        end_nest(p);
    }
    p->stretch++;
}

// ---- control flow: carried tiles have one place each --------------------------------------------

static void plan_block(Planner *p, IrBlock *block);

static void carry(Planner *p, const IrValue *value, uint32_t memory) {
    PlanTile *t = plan_tile(p, value);
    t->in_memory = true;
    t->memory = memory;
}

static void put_in(Planner *p, IrOp *op, IrValue *value, uint32_t memory) {
    const PlanTile *t = plan_tile(p, value);
    if (!(t->in_memory && t->memory == memory)) copy_for(p, op, value, false);
}

// The values that a region yields are stored in the memory of the tiles that carry them (`carried`:
// the region's arguments; NULL for an `if`).
typedef struct PlanYields {
    IrOp *yield;
    uint32_t count;
    IrValue *const *carried;
    const uint32_t *memories;
} PlanYields;

// A value that is computed from another carried tile, or from other elements of its own tile, must
// be kept before any of these tiles is overwritten.
static void plan_yield(Planner *p, const PlanYields *y, uint32_t i) {
    const IrValue *value = ir_operand(y->yield, i);
    for (uint32_t k = 0; y->carried && k < y->count; k++) {
        if (!cpu_is_tile(y->carried[k]) || value == y->carried[k]) continue;
        PlanRead read = plan_reads(p, value, y->carried[k]);
        if (read == PLAN_OTHER_PLACE || (read == PLAN_SAME_PLACE && k != i))
            plan_put_in_memory(p, value);
    }
}

// If the value is another carried tile (a swap), it is copied to spare memory first.
static bool set_aside(Planner *p, const PlanYields *y, uint32_t i) {
    IrValue *value = ir_operand(y->yield, i);
    for (uint32_t k = 0; y->carried && k < y->count; k++) {
        if (value != y->carried[k] || k == i) continue;
        p->memories++;
        copy_for(p, y->yield, value, false);
        end_nest(p);
        return true;
    }
    return false;
}

// Ends the open nest if it reads a carried tile at other places than its own: within one nest the
// tile would change while it is read.
static void end_readers(Planner *p, const PlanYields *y) {
    for (uint32_t k = 0; y->carried && p->nest && k < y->count; k++)
        if (cpu_is_tile(y->carried[k]) &&
            plan_nest_reads(p, p->nest, y->carried[k]) == PLAN_OTHER_PLACE)
            end_nest(p);
}

static void plan_yields(Planner *p, const PlanYields *y) {
    p->here = y->yield;
    p->time++;
    bool *aside = arena_new(p->scratch, bool, y->count + 1);
    for (uint32_t i = 0; i < y->count; i++) {
        if (!cpu_is_tile(ir_operand(y->yield, i))) continue;
        plan_yield(p, y, i);
        aside[i] = set_aside(p, y, i);
    }
    end_readers(p, y);
    for (uint32_t i = 0; i < y->count; i++) {
        IrValue *value = ir_operand(y->yield, i);
        if (!cpu_is_tile(value)) continue;
        if (aside[i])
            copy_for(p, y->yield, value, true);
        else
            put_in(p, y->yield, value, y->memories[i]);
    }
    end_nest(p);
}

static void plan_loop(Planner *p, IrOp *op) {
    bool counted = op->code == IR_FOR;
    uint32_t first = counted ? 3 : 0, count = op->operand_count - first;
    IrBlock *body = op->regions[counted ? 0 : 1];
    IrValue *const *args = body->args + (counted ? 1 : 0);
    uint32_t *memories = arena_new(p->scratch, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        IrValue *init = ir_operand(op, first + i);
        if (!cpu_is_tile(init)) continue;
        define(p, args[i]);
        memories[i] = plan_tile(p, args[i])->memory;
        put_in(p, op, init, memories[i]);
    }
    end_nest(p);
    for (uint32_t i = 0; i < count; i++) {
        if (!memories[i]) continue;
        carry(p, ir_result(op, i), memories[i]);
        if (!counted) carry(p, op->regions[0]->args[i], memories[i]);
    }
    if (!counted) {
        plan_block(p, op->regions[0]);
        p->here = op->regions[0]->last;
        end_nest(p);
    }
    plan_block(p, body);
    plan_yields(p, &(PlanYields){body->last, count, args, memories});
}

static void plan_if(Planner *p, IrOp *op) {
    uint32_t *memories = arena_new(p->scratch, uint32_t, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!cpu_is_tile(ir_result(op, i))) continue;
        define(p, ir_result(op, i));
        memories[i] = plan_tile(p, ir_result(op, i))->memory;
    }
    for (uint32_t i = 0; i < op->region_count; i++) {
        plan_block(p, op->regions[i]);
        plan_yields(p, &(PlanYields){op->regions[i]->last, op->result_count, NULL, memories});
    }
}

static void plan_control(Planner *p, IrOp *op) {
    end_nest(p);
    if (op->code == IR_IF)
        plan_if(p, op);
    else
        plan_loop(p, op);
    p->time++;
}

// ---- the walk -----------------------------------------------------------------------------------

static void plan_op(Planner *p, IrOp *op) {
    if (op->region_count && op->code != IR_REDUCE && op->code != IR_SCAN)
        plan_control(p, op);
    else if (op_is_scalar(op))
        plan_scalar(p, op);
    else if (op_is_whole(op))
        plan_whole(p, op);
    else if (op->code == IR_REDUCE)
        plan_reduce(p, op);
    else if (op->code == IR_VIEW_STORE || op->code == IR_STORE)
        plan_store(p, op);
    else if (op->result_count && op->results[0].type->rank == 0)
        plan_element(p, op);
    else
        plan_values(p, op);
}

static void plan_block(Planner *p, IrBlock *block) {
    IR_EACH_OP(op, block) {
        p->here = op;
        p->time++;
        if (op == block->last) break;
        plan_op(p, op);
    }
    p->here = block->last;
}

static void walk(Planner *p, IrBlock *body) {
    p->nest = NULL;
    p->stretch = p->nests = p->memories = p->time = 0;
    p->writes.count = p->choices.count = 0;
    p->changed = false;
    for (uint32_t i = 0; i < p->func->value_count; i++)
        p->tiles[i] = (PlanTile){.in_memory = p->tiles[i].in_memory};
    p->here = body->first;
    plan_block(p, body);
    end_nest(p);
}

// ---- writing the decisions ----------------------------------------------------------------------

// The choices of one op are adjacent.
static void write_nests(const Planner *p) {
    for (size_t i = 0, next; i < p->choices.count; i = next) {
        IrOp *op = p->choices.data[i].op;
        VEC(int64_t) nests = {0};
        for (next = i; next < p->choices.count && p->choices.data[next].op == op; next++) {
            int64_t nest = p->choices.data[next].nest;
            vec_push(p->scratch, &nests, nest);
        }
        ir_set_nests(op, (uint32_t)nests.count, nests.data);
    }
}

static void remark_buffers(Planner *p, Remarks *remarks, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->region_count; r++) remark_buffers(p, remarks, op->regions[r]);
        for (uint32_t i = 0; i < op->result_count; i++) {
            const IrValue *v = ir_result(op, i);
            if (!cpu_is_tile(v) || !plan_tile(p, v)->in_memory) continue;
            remark(remarks, op->span, REASON_TILE_IN_MEMORY, ir_op_info(op->code)->text,
                   REMARK((int64_t)v->type->count * ir_elem_size(v->type)));
        }
    }
}

bool pass_cpu_plan(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_CPU_TILE) return false;
    Planner p = {.func = f,
                 .scratch = context->scratch,
                 .facts = context->facts,
                 .tiles = arena_new(context->scratch, PlanTile, f->value_count),
                 .homes = op_find_homes(context->scratch, f)};
    do walk(&p, body);
    while (p.changed);
    f->level = IR_LEVEL_CPU_NEST;
    write_nests(&p);
    if (context->remarks) remark_buffers(&p, context->remarks, body);
    return true;
}
