// Built-ins that touch memory: load, store, atomics; and inside.
#include "frontend/tile/elaborate.h"

static IrValue *pointer_operand(Elab *e, const Args *a) {
    Val v = el_expr(e, a->at[0]);
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_IR && el_is_ptr(v.ir)) return v.ir;
    el_error(e, a->at[0]->span, DIAG_TYPE, "'%s' needs a pointer, found %s", a->name,
             el_val_text(e, v));
    if (v.kind == VAL_VIEW)
        el_help(e, "a view is read as %s[…] and written as %s[…] = v", v.view->name, v.view->name);
    return NULL;
}

static const IrType *pointee(Elab *e, const IrValue *p) {
    return ir_tile(e->module, p->type->elem, p->type->rank, p->type->shape);
}

// The value of masked lanes, converted to the element type and stretched to the pointers' shape.
static IrValue *load_other(Elab *e, const Ast *ast, const IrValue *p) {
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    const IrType *t = p->type;
    if (el_is_const(v)) return el_adopt(e, v, t->elem, t->rank, t->shape, ast->span);
    bool is_bool = !el_is_ptr(v.ir) && el_elem(v.ir) == DTYPE_BOOL;
    if (el_is_ptr(v.ir) || is_bool != (t->elem == DTYPE_BOOL) ||
        !el_stretches(v.ir->type, t->rank, t->shape)) {
        el_error(e, ast->span, DIAG_PAD, "the operand of 'or' must be %s, found %s",
                 el_type_text(e, pointee(e, p)), el_val_text(e, v));
        return NULL;
    }
    return el_broadcast(e, el_convert(e, v.ir, t->elem), t->rank, t->shape);
}

// The hint: `evict` and `cache` are words for one attribute.
static bool memory_hint(Elab *e, const Args *a, IrCache *cache) {
    int64_t evict = IR_CACHE_NORMAL, kept = IR_CACHE_NORMAL;
    const Ast *e_word = a->named[NAMED_EVICT], *c_word = a->named[NAMED_CACHE];
    bool good = el_named_choice(e, a, NAMED_EVICT, IR_KIND_CACHE, "first or last",
                                1u << IR_CACHE_FIRST | 1u << IR_CACHE_LAST, &evict);
    good = el_named_choice(e, a, NAMED_CACHE, IR_KIND_CACHE, "stream or l2",
                           1u << IR_CACHE_STREAM | 1u << IR_CACHE_L2, &kept) &&
           good;
    *cache = (IrCache)(evict ? evict : kept);
    if (!good || !e_word || !c_word) return good;
    el_error(e, c_word->span, DIAG_ARGUMENTS, "'%s' takes 'evict' or 'cache', found both", a->name);
    el_help(e, "keep one of the two hints");
    return false;
}

// A pad inside of the call would be far from the word that it follows.
static bool no_inner_pad(Elab *e, const Args *a) {
    const Ast *index = a->at[0];
    if (!index->b) return true;
    el_error(e, index->b->span, DIAG_PAD, "'or' follows the call of '%s', not the selection in it",
             a->name);
    if (a->which == TILE_LOAD) el_help(e, "write load(x[…], …) or v");
    return false;
}

static Val view_load(Elab *e, const Args *a, IrCache cache) {
    if (!no_inner_pad(e, a)) return EL_POISON;
    if (a->count > 1) {
        el_error(e, a->at[1]->span, DIAG_ARGUMENTS, "the load of a view has no mask");
        el_help(e, "lanes outside of the view read 0; use select(ok, load(x[…]), v)");
        return EL_POISON;
    }
    return el_view_load_as(e, a->at[0], a->call->b, cache);
}

static Val memory_load(Elab *e, const Args *a) {
    IrCache cache;
    if (!memory_hint(e, a, &cache)) return EL_POISON;
    if (el_selects_view(e, a->at[0])) return view_load(e, a, cache);
    IrValue *p = pointer_operand(e, a), *mask = NULL, *other = NULL;
    if (!p) {
        if (a->count > 1) el_operand(e, a->at[1]);
        return EL_POISON;
    }
    Shape shape = el_shape_of(p->type);
    bool good = true;
    if (a->count > 1) good = (mask = el_mask(e, a->at[1], &shape)) != NULL;
    if (a->call->b && a->count < 2) {
        el_error(e, a->call->b->span, DIAG_PAD,
                 "'or' needs a mask: without one every lane is read");
        el_help(e, "as in load(p, ok) or 0");
        return EL_POISON;
    }
    if (a->call->b) good = (other = load_other(e, a->call->b, p)) && good;
    if (!good) return EL_POISON;
    IrValue *v = el_op1(e, IR_LOAD, 3, (IrValue *[]){p, mask, other}, pointee(e, p));
    ir_attr_set_int(v->def, IR_ATTR_CACHE, cache);
    return el_ir(v);
}

static Val view_store(Elab *e, const Args *a, IrCache cache) {
    Val v = el_operand(e, a->at[1]);
    if (no_inner_pad(e, a))
        el_view_store(e, a->at[0], v, a->at[1]->span, a->count > 2 ? a->at[2] : NULL, cache);
    return EL_NONE;
}

static Val memory_store(Elab *e, const Args *a) {
    IrCache cache;
    if (!memory_hint(e, a, &cache)) return EL_POISON;
    if (el_selects_view(e, a->at[0])) return view_store(e, a, cache);
    IrValue *p = pointer_operand(e, a), *mask = NULL;
    Val v = el_operand(e, a->at[1]);
    if (!p) {
        if (a->count > 2) el_operand(e, a->at[2]);
        return EL_NONE;
    }
    Shape shape = el_shape_of(p->type);
    IrValue *value = el_stored(e, v, p->type->elem, &shape, a->at[1]->span, NULL);
    if (a->count > 2) mask = el_mask(e, a->at[2], &shape);
    if (!value || (a->count > 2 && !mask)) return EL_NONE;
    IrOp *op = ir_op(&e->b, IR_STORE, 3, (IrValue *[]){p, value, mask}, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_CACHE, cache);
    return EL_NONE;
}

// ---- atomics

static const struct {
    TileBuiltin builtin;
    IrRmw rmw;
} atomics[] = {
    {TILE_ATOMIC_ADD, IR_RMW_ADD},    {TILE_ATOMIC_SUB, IR_RMW_SUB},
    {TILE_ATOMIC_AND, IR_RMW_AND},    {TILE_ATOMIC_OR, IR_RMW_OR},
    {TILE_ATOMIC_XOR, IR_RMW_XOR},    {TILE_ATOMIC_MIN, IR_RMW_MIN},
    {TILE_ATOMIC_MAX, IR_RMW_MAX},    {TILE_ATOMIC_XCHG, IR_RMW_XCHG},
    {TILE_ATOMIC_CAS, IR_RMW_XCHG},   {TILE_ATOMIC_LOAD, IR_RMW_LOAD},
    {TILE_ATOMIC_STORE, IR_RMW_XCHG},
};

typedef struct AtomicTarget {
    bool is_view;
    Access access;
    IrValue *pointer;
    Dtype elem;
    Shape shape;
} AtomicTarget;

static bool atomic_target(Elab *e, const Args *a, AtomicTarget *t) {
    *t = (AtomicTarget){.is_view = a->at[0]->kind == AST_INDEX};
    if (!t->is_view) {
        t->pointer = pointer_operand(e, a);
        if (!t->pointer) return false;
        t->elem = t->pointer->type->elem;
        t->shape = el_shape_of(t->pointer->type);
        return true;
    }
    if (a->at[0]->b) {
        el_error(e, a->at[0]->b->span, DIAG_PAD, "'or' belongs to a read, not to an atomic");
        return false;
    }
    TRY(el_access(e, a->at[0], &t->access));
    t->elem = t->access.view->elem;
    t->shape = t->access.shape;
    if (!dtype_is(t->elem, DTYPE_CLASS_PACKED)) return true;
    el_error(e, a->at[0]->span, DIAG_PACKED, "%s data has no atomics", dtype_name(t->elem));
    return false;
}

static bool atomic_row(Elab *e, const Args *a, Dtype elem, IrRmw *rmw) {
    size_t row = 0;
    while (atomics[row].builtin != a->which) row++;
    *rmw = atomics[row].rmw;
    if (dtype_is(elem, ir_rmw_classes(*rmw))) return true;
    el_error(e, a->at[0]->span, DIAG_ATOMIC, "'%s' does not take %s", a->name, dtype_name(elem));
    return false;
}

static bool atomic_words(Elab *e, const Args *a, int64_t *order, int64_t *scope) {
    *order = IR_ORDER_RELAXED;
    *scope = IR_SCOPE_DEVICE;
    bool good;
    if (a->which == TILE_ATOMIC_LOAD)
        good = el_named_choice(e, a, NAMED_ORDER, IR_KIND_ORDER, "relaxed or acquire",
                               1u << IR_ORDER_RELAXED | 1u << IR_ORDER_ACQUIRE, order);
    else if (a->which == TILE_ATOMIC_STORE)
        good = el_named_choice(e, a, NAMED_ORDER, IR_KIND_ORDER, "relaxed or release",
                               1u << IR_ORDER_RELAXED | 1u << IR_ORDER_RELEASE, order);
    else
        good = el_named_word(e, a, NAMED_ORDER, IR_KIND_ORDER,
                             "relaxed, acquire, release or acq_rel", order);
    return el_named_word(e, a, NAMED_SCOPE, IR_KIND_SCOPE, "program, device or system", scope) &&
           good;
}

static Val memory_atomic(Elab *e, const Args *a) {
    AtomicTarget t;
    AtomicOp op = {.swaps = a->which == TILE_ATOMIC_CAS};
    bool loads = a->which == TILE_ATOMIC_LOAD;
    uint32_t n = op.swaps ? 3 : loads ? 1 : 2;  // the position of the mask
    bool good = atomic_words(e, a, &op.order, &op.scope);
    if (!atomic_target(e, a, &t)) {
        for (uint32_t i = 1; i < a->count; i++) el_operand(e, a->at[i]);
        return EL_POISON;
    }
    good = atomic_row(e, a, t.elem, &op.rmw) && good;
    IrValue *values[2] = {NULL};
    for (uint32_t i = 1; i < n; i++) {
        values[i - 1] = el_stored(e, el_operand(e, a->at[i]), t.elem, &t.shape, a->at[i]->span,
                                  t.is_view ? t.access.view->name : NULL);
        good = good && values[i - 1];
    }
    IrValue *mask = a->count > n ? el_mask(e, a->at[n], &t.shape) : NULL;
    if (!good || (a->count > n && !mask)) return EL_POISON;
    op.access = t.is_view ? &t.access : NULL;
    op.pointer = t.pointer;
    if (loads) {  // the op has an operand, which it does not use
        const IrType *type = ir_tile(e->module, t.elem, t.shape.rank, t.shape.dims);
        values[0] = ir_const_bits(&e->b, type, 0);
    }
    Val old = el_ir(el_atomic(e, &op, op.swaps ? 2 : 1, values, mask));
    return a->which == TILE_ATOMIC_STORE ? EL_NONE : old;
}

static Val memory_inside(Elab *e, const Args *a) {
    const Ast *index = a->at[0];
    if (index->kind != AST_INDEX || index->b) {
        el_error(e, index->span, DIAG_ARGUMENTS, "'inside' takes a selection of a view");
        el_help(e, "as in inside(x[r, 0 +: W])");
        return EL_POISON;
    }
    return el_view_inside(e, index);
}

Val el_builtin_memory(Elab *e, const Args *a) {
    if (a->which == TILE_LOAD) return memory_load(e, a);
    if (a->which == TILE_STORE) return memory_store(e, a);
    if (a->which == TILE_INSIDE) return memory_inside(e, a);
    return memory_atomic(e, a);
}
