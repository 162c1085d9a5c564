// gpu_layout: every tile gets a layout, and what does not fit is converted.
//
// How: values that one op wants alike (elementwise work, carried values, sums of dots) are of one
// class. A class takes the layout of what matters most in it: the sum of a product, spread as the
// matrix unit leaves it; then loads and stores, spread so that lanes touch neighbours and each
// access is of up to 16 bytes; else what follows through shapes (slices after reductions, reshapes)
// from a class that is known; else the plain one of its shape. Where an op then finds an operand in
// another layout than it must have, a gpu.convert stands before it.
// Invariants: the function becomes one of the gpu level; what it computes stays, bit for bit.
#include "passes/gpu/gpu.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct Class {
    uint32_t parent;  // by value id; itself: a root
    uint32_t bytes;   // of the narrowest element that is loaded or stored in it; 0: none
    uint32_t depth;   // of what a lane loads, gpu_blocked_deep; 0: 1
    bool known, dot;
    Layout layout;
} Class;

typedef struct Spread {
    IrFunc *func;
    Arena *scratch;
    uint32_t warps;
    const Machine *machine;
    Class *classes;  // by value id
    uint32_t known;  // values with higher numbers are converts, made here
    VEC(IrOp *) ops;
    VEC(IrValue *) values;  // tiles
} Spread;

static Class *class_of(Spread *s, const IrValue *v) {
    while (v->id >= s->known) v = ir_operand(v->def, 0);
    uint32_t id = v->id;
    while (s->classes[id].parent != id) id = s->classes[id].parent;
    s->classes[v->id].parent = id;
    return &s->classes[id];
}

static void join(Spread *s, const IrValue *a, const IrValue *b) {
    if (!spread_is_tile(a) || !spread_is_tile(b)) return;
    Class *x = class_of(s, a), *y = class_of(s, b);
    if (x != y) y->parent = x->parent;
}

// ---- collecting ---------------------------------------------------------------------------------

static void meet(Spread *s, IrValue *v) {
    if (!spread_is_tile(v)) return;
    vec_push(s->scratch, &s->values, v);
    s->classes[v->id].parent = v->id;
}

static void collect(Spread *s, IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) meet(s, block->args[i]);
    IR_EACH_OP(op, block) {
        vec_push(s->scratch, &s->ops, op);
        for (uint32_t i = 0; i < op->result_count; i++) meet(s, ir_result(op, i));
        // The regions of reductions and scans combine scalars.
        if (ir_op_info(op->code)->rule == IR_RULE_REDUCE || op->code == IR_SCAN) continue;
        for (uint32_t i = 0; i < op->region_count; i++) collect(s, op->regions[i]);
    }
}

static void join_same(Spread *s, const IrOp *op) {
    const IrValue *first = NULL;
    for (uint32_t i = 0; i < op->operand_count + op->result_count; i++) {
        const IrValue *v =
            i < op->operand_count ? ir_operand(op, i) : ir_result(op, i - op->operand_count);
        if (!spread_is_tile(v)) continue;
        if (first) join(s, first, v);
        first = v;
    }
}

static void join_carried(Spread *s, const IrOp *op) {
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

static void join_all(Spread *s) {
    for (size_t i = 0; i < s->ops.count; i++) {
        const IrOp *op = s->ops.data[i];
        switch (spread_rule(op)) {
        case SPREAD_SAME: join_same(s, op); break;
        case SPREAD_DOT:
            if (op->operand_count > 2) join(s, ir_result(op, 0), ir_operand(op, 2));
            break;
        case SPREAD_CONTROL: join_carried(s, op); break;
        case SPREAD_REDUCE:
            for (uint32_t k = 1; k < op->operand_count; k++)
                join(s, ir_operand(op, 1), ir_operand(op, k));
            if (ir_operand(op, 0)) join(s, ir_operand(op, 1), ir_operand(op, 0));
            break;
        case SPREAD_SHAPE:
            if (op->code == IR_JOIN || op->code == IR_CAT)
                join(s, ir_operand(op, 0), ir_operand(op, 1));
            if (op->code == IR_SPLIT) join(s, ir_result(op, 0), ir_result(op, 1));
            break;
        case SPREAD_NONE: break;
        }
    }
}

// ---- what classes want --------------------------------------------------------------------------

// The value that an access moves: what is loaded, stored or exchanged; NULL for other ops.
static const IrValue *moved_value(const IrOp *op) {
    switch ((unsigned)ir_op_info(op->code)->rule) {
    case IR_RULE_LOAD:
    case IR_RULE_VIEW_LOAD:
    case IR_RULE_ATOMIC:
    case IR_RULE_ATOMIC_CAS:
    case IR_RULE_VIEW_ATOMIC:
    case IR_RULE_VIEW_CAS: return &op->results[0];
    case IR_RULE_STORE:
    case IR_RULE_VIEW_STORE: return ir_operand(op, 1);
    }
    return NULL;
}

static void find_wishes(Spread *s) {
    for (size_t i = 0; i < s->ops.count; i++) {
        const IrOp *op = s->ops.data[i];
        const IrValue *v = moved_value(op);
        if (spread_is_tile(v)) {
            Class *c = class_of(s, v);
            uint32_t bytes = (uint32_t)dtype_size(v->type->elem);
            if (!c->bytes || bytes < c->bytes) c->bytes = bytes;
        }
        if (op->code == IR_DOT) {
            Class *c = class_of(s, ir_result(op, 0));
            c->known = c->dot = true;
            c->layout = gpu_dot_layout(op, s->warps, s->machine);
            class_of(s, ir_operand(op, 1))->depth = gpu_dot_depth(op, s->warps, s->machine);
        }
    }
    for (size_t i = 0; i < s->values.count; i++) {
        const IrValue *v = s->values.data[i];
        Class *c = class_of(s, v);
        if (c->known || !c->bytes) continue;
        c->known = true;
        c->layout = gpu_blocked_deep(v->type, s->warps, c->bytes, c->depth ? c->depth : 1);
    }
}

// Through one op, if one side is known and the other is not.
static bool follow(Spread *s, const IrOp *op) {
    bool reduces = spread_rule(op) == SPREAD_REDUCE;
    if (!reduces && spread_rule(op) != SPREAD_SHAPE) return false;
    const IrValue *x = ir_operand(op, reduces ? 1 : 0), *r = ir_result(op, 0);
    if (!spread_is_tile(x) || !spread_is_tile(r)) return false;
    Class *from = class_of(s, x), *to = class_of(s, r);
    if (from->known && !to->known)
        return to->known = spread_forward(op, 0, &from->layout, &to->layout);
    if (to->known && !from->known)
        return from->known = spread_backward(op, &to->layout, &from->layout);
    return false;
}

static void settle(Spread *s) {
    bool changed = true;
    for (size_t at = 0; at <= s->values.count;) {
        for (changed = true; changed;) {
            changed = false;
            for (size_t i = 0; i < s->ops.count; i++) changed |= follow(s, s->ops.data[i]);
        }
        // Nothing follows any more: the next that is unknown takes the plain layout.
        while (at < s->values.count && class_of(s, s->values.data[at])->known) at++;
        if (at == s->values.count) return;
        const IrValue *v = s->values.data[at];
        Class *c = class_of(s, v);
        c->known = true;
        c->layout = gpu_blocked(v->type, s->warps, ir_elem_size(v->type));
    }
}

// ---- giving -------------------------------------------------------------------------------------

static void give_types(Spread *s) {
    for (size_t i = 0; i < s->values.count; i++) {
        IrValue *v = s->values.data[i];
        v->type = ir_with_layout(s->func->module, v->type, &class_of(s, v)->layout);
    }
}

static IrValue *converted(IrBuilder *b, IrValue *v, const Layout *wanted) {
    if (!spread_is_tile(v) || layout_equal(v->type->layout, wanted)) return v;
    const IrType *t = ir_with_layout(b->module, v->type, wanted);
    return ir_result(ir_op(b, IR_GPU_CONVERT, 1, &v, 1, &t, 0, NULL), 0);
}

static void convert_operand(IrOp *op, uint32_t i, const Layout *wanted) {
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    IrValue *v = ir_operand(op, i), *made = v ? converted(&b, v, wanted) : NULL;
    if (made != v) ir_set_operand(op, i, made);
}

// The result comes as it follows from the operands; who wants it otherwise gets it converted.
static void convert_results(Spread *s, IrOp *op, const Layout *operand) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *r = ir_result(op, i);
        Layout natural, wanted = {0};
        if (!spread_is_tile(r) || !spread_forward(op, i, operand, &natural)) continue;
        wanted = *r->type->layout;
        if (layout_equal(&natural, &wanted)) continue;
        r->type = ir_with_layout(s->func->module, r->type, &natural);
        IrBuilder b = ir_builder_at_end(op->block);
        b.before = op->next;
        b.span = op->span;
        const IrType *t = ir_with_layout(b.module, r->type, &wanted);
        IrValue *none = NULL;
        IrOp *convert = ir_op(&b, IR_GPU_CONVERT, 1, &none, 1, &t, 0, NULL);
        ir_replace_all(r, ir_result(convert, 0));
        ir_set_operand(convert, 0, r);
    }
}

static void fit_shape(Spread *s, IrOp *op) {
    IrValue *x = ir_operand(op, 0), *r = ir_result(op, 0);
    if (!spread_is_tile(x)) return;
    Layout backward, again;
    // Better a small operand moved than a large result.
    if (spread_is_tile(r) && spread_backward(op, r->type->layout, &backward) &&
        spread_forward(op, 0, &backward, &again) && layout_equal(&again, r->type->layout)) {
        for (uint32_t i = 0; i < op->operand_count; i++) convert_operand(op, i, &backward);
        return;
    }
    if (op->code == IR_SPLIT) {  // the halves in one register pair
        Layout half = gpu_blocked(r->type, s->warps, ir_elem_size(r->type));
        Layout pair = layout_join(&half);
        if (!layout_split(x->type->layout, &half, &(uint32_t){0})) convert_operand(op, 0, &pair);
    }
    convert_results(s, op, ir_operand(op, 0)->type->layout);
}

static void fit_view(IrOp *op) {
    const IrValue *v = moved_value(op);
    if (op->code == IR_VIEW_INSIDE) v = ir_result(op, 0);
    if (!spread_is_tile(v)) return;
    const Layout *wanted = v->type->layout;
    for (uint32_t i = 1; i < op->operand_count; i++) {
        Layout index;
        bool is_index = i >= ir_view_index_start(op->code);
        if (!is_index)
            convert_operand(op, i, wanted);
        else if (spread_index(op, i, wanted, &index))
            convert_operand(op, i, &index);
    }
}

static void fit_store(Spread *s, IrOp *op) {
    if (op->code != IR_VIEW_STORE || !spread_is_tile(ir_operand(op, 1))) return;
    IrValue *v = ir_operand(op, 1);
    // What a matrix unit leaves is scattered in small pieces.
    if (class_of(s, v)->dot) {
        Layout wide = gpu_blocked(v->type, s->warps, ir_elem_size(v->type));
        convert_operand(op, 1, &wide);
    }
}

static void fit(Spread *s, IrOp *op) {
    switch (spread_rule(op)) {
    case SPREAD_SHAPE: fit_shape(s, op); return;
    case SPREAD_REDUCE:
        if (spread_is_tile(ir_operand(op, 1)))
            convert_results(s, op, ir_operand(op, 1)->type->layout);
        return;
    case SPREAD_DOT: gpu_fit_dot(op, s->warps, s->machine); return;
    case SPREAD_NONE:
        fit_store(s, op);
        if (op->operand_count && ir_operand(op, 0) && ir_operand(op, 0)->type->kind == IR_VIEW)
            fit_view(op);
        return;
    case SPREAD_SAME:
    case SPREAD_CONTROL: return;
    }
}

enum { WARPS = 4, WARPS_MAX = 32 };  // what a program gets that asks for none; the most there are

static bool warps_fit(IrFunc *f, Diags *diags) {
    if (f->warps <= 0) f->warps = WARPS;
    if (f->warps <= WARPS_MAX && (f->warps & (f->warps - 1)) == 0) return true;
    diag_error(diags, f->span, DIAG_UNSUPPORTED,
               "kernel '%s' asks for %d warps; programs on GPUs have 1, 2, 4, 8, 16 or 32", f->name,
               f->warps);
    diag_help(diags, "set the option warps: in the kernel's `tune` line, or --set warps=8");
    return false;
}

bool pass_gpu_layout(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE) return false;
    if (!warps_fit(f, context->diags)) return false;
    Spread s = {.func = f,
                .scratch = context->scratch,
                .warps = (uint32_t)f->warps,
                .machine = context->machine};
    s.known = f->value_count;
    s.classes = arena_new(s.scratch, Class, f->value_count + 1);
    collect(&s, body);
    join_all(&s);
    find_wishes(&s);
    settle(&s);
    give_types(&s);
    f->level = IR_LEVEL_GPU;
    for (size_t i = 0; i < s.ops.count; i++) fit(&s, s.ops.data[i]);
    return true;
}
