// gpu_layout: every tile gets a layout, and conversions are inserted where layouts do not fit.
//
// How: values that one op needs in the same layout (elementwise work, carried values, sums of dots)
// form a class. A class first takes the layout of its most important op: the sum of a product, as
// the matrix unit leaves it; then loads and stores, with lanes along neighbours and accesses of up
// to 16 bytes; else the layout that follows through shapes (slices after reductions, reshapes) from
// a class that is known; else the plain one of its shape. Then choose_layouts.c weighs accesses,
// work and conversions against one another by the costs of cost.h, insert_converts.c puts a
// gpu.convert where an op has an operand in another layout than it needs, and rematerialize.c
// replaces conversions of values that are cheaper to recompute.
// Invariants: the function becomes one of the gpu level; its results stay the same, bit for bit.
#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/layout/solver.h"
#include "passes/gpu/tuning.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

static void join(LayoutSolver *s, const IrValue *a, const IrValue *b) {
    if (!ir_value_is_tile(a) || !ir_value_is_tile(b)) return;
    LayoutClass *x = layouts_class(s, a), *y = layouts_class(s, b);
    if (x != y) y->parent = x->parent;
}

// ---- collecting ---------------------------------------------------------------------------------

static void add_value(LayoutSolver *s, IrValue *v) {
    if (!ir_value_is_tile(v)) return;
    vec_push(s->scratch, &s->values, v);
    s->classes[v->id].parent = v->id;
}

static void collect(LayoutSolver *s, IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) add_value(s, block->args[i]);
    IR_EACH_OP(op, block) {
        vec_push(s->scratch, &s->ops, op);
        for (uint32_t i = 0; i < op->result_count; i++) add_value(s, ir_result(op, i));
        // The regions of reductions and scans combine scalars.
        if (ir_op_is(op->code, IR_FAMILY_REDUCTION)) continue;
        for (uint32_t i = 0; i < op->region_count; i++) collect(s, op->regions[i]);
    }
}

static void join_same(LayoutSolver *s, const IrOp *op) {
    const IrValue *first = NULL;
    for (uint32_t i = 0; i < op->operand_count + op->result_count; i++) {
        const IrValue *v =
            i < op->operand_count ? ir_operand(op, i) : ir_result(op, i - op->operand_count);
        if (!ir_value_is_tile(v)) continue;
        if (first) join(s, first, v);
        first = v;
    }
}

static void join_carried(LayoutSolver *s, const IrOp *op) {
    uint32_t first = op->code == IR_FOR ? 3 : 0, skip = op->code == IR_FOR ? 1 : 0;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *r = ir_result(op, i);
        if (op->code != IR_IF) join(s, r, ir_operand(op, first + i));
        for (uint32_t k = 0; k < op->region_count; k++) {
            const IrBlock *block = op->regions[k];
            if (op->code != IR_IF) join(s, r, block->args[skip + i]);
            if (op->code == IR_WHILE && k == 0) continue;
            join(s, r, ir_operand(block->last, i));
        }
    }
}

static void join_all(LayoutSolver *s) {
    for (size_t i = 0; i < s->ops.count; i++) {
        const IrOp *op = s->ops.data[i];
        switch (layout_rule(op)) {
        case LAYOUT_RULE_SAME: join_same(s, op); break;
        case LAYOUT_RULE_DOT:
            if (op->operand_count > 2) join(s, ir_result(op, 0), ir_operand(op, 2));
            break;
        case LAYOUT_RULE_CONTROL: join_carried(s, op); break;
        case LAYOUT_RULE_REDUCE:
            for (uint32_t k = 1; k < op->operand_count; k++)
                join(s, ir_operand(op, 1), ir_operand(op, k));
            if (ir_operand(op, 0)) join(s, ir_operand(op, 1), ir_operand(op, 0));
            break;
        case LAYOUT_RULE_SHAPE:
            if (op->code == IR_JOIN || op->code == IR_CAT)
                join(s, ir_operand(op, 0), ir_operand(op, 1));
            if (op->code == IR_SPLIT) join(s, ir_result(op, 0), ir_result(op, 1));
            break;
        case LAYOUT_RULE_NONE: break;
        }
    }
}

// ---- layouts that classes prefer ----------------------------------------------------------------

const IrValue *layouts_moved(const IrOp *op) {
    if (op->code == IR_STORE || op->code == IR_VIEW_STORE) return ir_operand(op, 1);
    bool loads = op->code == IR_LOAD || op->code == IR_VIEW_LOAD;
    return loads || ir_op_is(op->code, IR_FAMILY_ATOMIC) ? &op->results[0] : NULL;
}

static void find_preferences(LayoutSolver *s) {
    for (size_t i = 0; i < s->ops.count; i++) {
        IrOp *op = s->ops.data[i];
        const IrValue *v = layouts_moved(op);
        if (ir_value_is_tile(v)) {
            LayoutClass *c = layouts_class(s, v);
            uint32_t bytes = (uint32_t)dtype_size(v->type->elem);
            if (!c->bytes || bytes < c->bytes) c->bytes = bytes;
        }
        if (op->code == IR_DOT) {
            LayoutClass *c = layouts_class(s, ir_result(op, 0));
            c->known = c->dot = true;
            gpu_dot_plan(op, s->machine);
            c->layout = gpu_dot_layout(op);
            layouts_class(s, ir_operand(op, 1))->depth = gpu_dot_depth(op, s->machine);
        }
    }
    for (size_t i = 0; i < s->values.count; i++) {
        const IrValue *v = s->values.data[i];
        LayoutClass *c = layouts_class(s, v);
        if (c->known || !c->bytes) continue;
        c->known = true;
        c->layout = gpu_blocked_deep(v->type, s->threads, c->bytes, c->depth);
    }
}

// ---- ties between classes -----------------------------------------------------------------------

static void add_tie(LayoutSolver *s, LayoutTie tie) {
    if (!ir_value_is_tile(tie.a) || !ir_value_is_tile(tie.b)) return;
    LayoutTie *t = arena_new(s->scratch, LayoutTie, 1);
    LayoutClass *a = layouts_class(s, tie.a), *b = layouts_class(s, tie.b);
    *t = tie;
    vec_push(s->scratch, &a->ties, t);
    if (b != a) vec_push(s->scratch, &b->ties, t);
}

// An index tile that does not change in a loop is converted before it.
static uint64_t index_times(const IrOp *op, const IrValue *index) {
    return layouts_times(index->def ? index->def : op);
}

static void tie_view(LayoutSolver *s, IrOp *op, const IrValue *moved) {
    LayoutTie tie = {.op = op, .a = moved, .times = layouts_times(op)};
    for (uint32_t i = 1; i < op->operand_count; i++) {
        bool is_index = i >= ir_view_index_start(op->code);
        tie.at = i;
        tie.b = ir_operand(op, i);
        if (!ir_value_is_tile(tie.b) || tie.b == moved) continue;
        tie.kind = is_index ? LAYOUT_TIE_INDEX : LAYOUT_TIE_SAME;
        if (is_index) tie.times = index_times(op, tie.b);
        add_tie(s, tie);
    }
}

static void tie_op(LayoutSolver *s, IrOp *op) {
    LayoutTie tie = {.op = op, .times = layouts_times(op)};
    const IrValue *moved = layouts_moved(op);
    if (op->operand_count && ir_operand(op, 0) && ir_operand(op, 0)->type->kind == IR_VIEW)
        tie_view(s, op, op->code == IR_VIEW_INSIDE ? ir_result(op, 0) : moved);
    for (uint32_t i = 0; i < op->result_count; i++) {
        tie.at = i;
        tie.b = ir_result(op, i);
        if (layout_rule(op) == LAYOUT_RULE_SHAPE || op->code == IR_REDUCE) {
            tie.kind = op->code == IR_REDUCE ? LAYOUT_TIE_REDUCE : LAYOUT_TIE_SHAPE;
            tie.a = ir_operand(op, op->code == IR_REDUCE ? 1 : 0);
            add_tie(s, tie);
        }
        if (op->code == IR_SCAN) {
            tie.kind = LAYOUT_TIE_SCAN;
            tie.a = ir_operand(op, i);
            tie.inside =
                gpu_scan_layout(tie.a->type, (uint32_t)ir_attr_int(op, IR_ATTR_AXIS), s->threads);
            add_tie(s, tie);
        }
    }
    if (op->code == IR_GATHER)
        add_tie(s, (LayoutTie){.kind = LAYOUT_TIE_SAME,
                               .op = op,
                               .at = 1,
                               .a = ir_result(op, 0),
                               .b = ir_operand(op, 1),
                               .times = tie.times});
}

// Elementwise work, except loads and stores: constants are part of the instructions that use them.
static void note_work(LayoutSolver *s, IrOp *op) {
    const IrValue *moved = layouts_moved(op);
    const IrValue *x = op->code == IR_REDUCE ? ir_operand(op, 1) : moved;
    if (ir_value_is_tile(x)) {
        LayoutClass *c = layouts_class(s, x);
        vec_push(s->scratch, &c->accesses, op);
        return;
    }
    if (moved || layout_rule(op) != LAYOUT_RULE_SAME || op->code == IR_CONST || !op->result_count)
        return;
    if (ir_value_is_tile(ir_result(op, 0)))
        layouts_class(s, ir_result(op, 0))->work += layouts_times(op);
}

static void tie_all(LayoutSolver *s) {
    for (size_t i = 0; i < s->ops.count; i++) {
        tie_op(s, s->ops.data[i]);
        note_work(s, s->ops.data[i]);
    }
}

// ---- the pass -----------------------------------------------------------------------------------

static void give_types(LayoutSolver *s) {
    for (size_t i = 0; i < s->values.count; i++) {
        IrValue *v = s->values.data[i];
        v->type = ir_with_layout(s->func->module, v->type, &layouts_class(s, v)->layout);
    }
}

enum { THREADS_MAX = 1024 };  // that a program may have

static bool warps_fit(IrFunc *f, Diags *diags) {
    uint32_t lanes = ir_lane_count(f);
    if (f->warps <= 0) f->warps = TUNE_WARPS;
    int most = THREADS_MAX / (int)lanes;
    if (f->warps <= most && (f->warps & (f->warps - 1)) == 0) return true;
    diag_error(diags, f->span, DIAG_LIMIT,
               "kernel '%s' asks for %d warps of %u threads; there may be 1, 2, 4, 8%s %d", f->name,
               f->warps, lanes, most > 16 ? ", 16 or" : " or", most);
    diag_help(diags, "set the option warps: in the kernel's `tune` line, or --set warps=8");
    return false;
}

// A thread has 255 registers, or 512 if accumulators have their own. A tile that takes many times
// as many would spill from the first line to the last, and each register is an instruction in every
// op.
enum { TILE_REGISTERS_MAX = 1024 };

static uint64_t registers_of(const IrFunc *f, const IrType *t) {
    uint64_t bits = t->kind == IR_PTR ? 64 : dtype_bits(t->elem);
    uint64_t share =
        (t->count + gpu_thread_count(gpu_threads(f)) - 1) / gpu_thread_count(gpu_threads(f));
    return (share * bits + 31) / 32;
}

// The first value, in order, that takes too many registers of each thread; NULL: there is none.
static const IrValue *oversized(const IrFunc *f, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            const IrValue *v = &op->results[i];
            if (ir_value_is_tile(v) && registers_of(f, v->type) > TILE_REGISTERS_MAX) return v;
        }
        for (uint32_t i = 0; i < op->region_count; i++) {
            const IrValue *v = oversized(f, op->regions[i]);
            if (v) return v;
        }
    }
    return NULL;
}

static bool tiles_fit(const IrFunc *f, const PassContext *context) {
    const IrValue *v = oversized(f, ir_body(f));
    if (!v) return true;
    char name[GPU_NAME_MAX];
    StrBuf type = strbuf(context->scratch);
    ir_type_text(v->type, &type);
    diag_error(context->diags, v->def->span, DIAG_LIMIT,
               "kernel '%s' has a tile of %s here: on %s it takes %llu registers of each of its %u "
               "threads, and the most for one tile is %d",
               f->name, type.text, gpu_target_name(context->machine->gpu, name),
               (unsigned long long)registers_of(f, v->type), gpu_thread_count(gpu_threads(f)),
               TILE_REGISTERS_MAX);
    diag_help(context->diags,
              "go through the array in a loop over smaller tiles, or over more programs; more "
              "`warps` share one tile among more threads");
    return false;
}

bool pass_gpu_layout(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE) return false;
    if (context->machine->warp != ir_lane_count(f)) f->lanes = (int)context->machine->warp;
    if (!warps_fit(f, context->diags) || !tiles_fit(f, context)) return false;
    LayoutSolver s = {.func = f,
                      .scratch = context->scratch,
                      .threads = gpu_threads(f),
                      .machine = context->machine};
    s.known = f->value_count;
    s.classes = arena_new(s.scratch, LayoutClass, f->value_count + 1);
    collect(&s, body);
    join_all(&s);
    s.facts = (GpuFuncFacts){f, pass_ranges(context, f), context->facts};
    find_preferences(&s);
    layouts_propagate(&s);
    tie_all(&s);
    layouts_relax(&s);
    give_types(&s);
    f->level = IR_LEVEL_GPU;
    layouts_insert_converts(&s);
    layouts_rematerialize(&s);
    return true;
}
