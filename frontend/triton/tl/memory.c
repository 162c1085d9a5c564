// Functions of triton.language: loads, stores, atomics.
#include "frontend/triton/elaborate.h"

static IrValue *pointer_of(Elab *e, const TlCall *c) {
    Val v = c->arg[0];
    if (v.kind == VAL_IR && el_is_ptr(v.ir)) return v.ir;
    if (v.kind == VAL_POISON) return NULL;
    el_error(e, c->at[0], DIAG_TYPE, "tl.%s needs a pointer, found %s", c->tl->name, tr_text(e, v));
    return NULL;
}

static IrCache cache_of(const TlCall *c, uint32_t modifier, uint32_t policy) {
    Str m = tr_call_text(c, modifier), p = tr_call_text(c, policy);
    if (str_equal(p, STR("evict_first"))) return IR_CACHE_FIRST;
    if (str_equal(p, STR("evict_last"))) return IR_CACHE_LAST;
    if (str_equal(m, STR(".cg"))) return IR_CACHE_L2;
    if (str_equal(m, STR(".cs"))) return IR_CACHE_STREAM;
    return IR_CACHE_NORMAL;
}

// The mask and the values, all of the pointer's shape; what is NULL stays so.
static bool shaped(Elab *e, Span span, IrValue **p, IrValue **mask, IrValue **x) {
    IrValue *all[3] = {*p, *mask, *x};
    if (!tr_same_shape(e, span, 3, all)) return false;
    *p = all[0];
    *mask = all[1];
    *x = all[2];
    return true;
}

static const char modifiers[] = ".ca .cg .cs .cv .wb .wt",
                  policies[] = "evict_first evict_last evict_normal";

// Other programs may change the memory at any time. An atomic load is not moved, merged or hoisted.
static bool is_volatile(Elab *e, const TlCall *c) {
    bool truth = false;
    return (tr_given(c, 7) && tr_const_truth(e, c->arg[7], &truth) && truth) ||
           str_equal(tr_call_text(c, 5), STR(".cv"));
}

static Val volatile_load(Elab *e, IrValue *p, IrValue *mask, IrValue *other) {
    AtomicOp a = {.rmw = IR_RMW_LOAD, .scope = IR_SCOPE_DEVICE, .pointer = p};
    const IrType *type = ir_tile(e->module, el_elem(p), p->type->rank, p->type->shape);
    IrValue *unused = ir_const_bits(&e->b, type, 0);
    IrValue *v = el_atomic(e, &a, 1, &unused, mask);
    return el_ir(other ? ir_ternary(&e->b, IR_SELECT, mask, v, other) : v);
}

Val tl_load(Elab *e, const TlCall *c) {
    if (!tr_call_word(e, c, 4, "padding_option", "zero nan") ||
        !tr_call_word(e, c, 5, "cache_modifier", modifiers) ||
        !tr_call_word(e, c, 6, "eviction_policy", policies))
        return EL_POISON;
    if (tr_is(c->arg[0], OBJECT_BLOCK)) return tr_block_load(e, c, tr_object_of(c->arg[0]));
    IrValue *p = pointer_of(e, c), *mask = NULL, *other = NULL;
    if (!p) return EL_POISON;
    if (tr_given(c, 1) && !(mask = tr_truth(e, c->arg[1], c->at[1]))) return EL_POISON;
    if (tr_given(c, 2) && !(other = tr_stored(e, c->arg[2], el_elem(p), c->at[2])))
        return EL_POISON;
    if (!mask) other = NULL;
    if (!shaped(e, c->span, &p, &mask, &other)) return EL_POISON;
    if (is_volatile(e, c)) return volatile_load(e, p, mask, other);
    const IrType *type = ir_tile(e->module, el_elem(p), p->type->rank, p->type->shape);
    IrOp *op = ir_op(&e->b, IR_LOAD, 3, (IrValue *[]){p, mask, other}, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_CACHE, cache_of(c, 5, 6));
    return el_ir(ir_result(op, 0));
}

Val tl_store(Elab *e, const TlCall *c) {
    if (!tr_call_word(e, c, 4, "cache_modifier", modifiers) ||
        !tr_call_word(e, c, 5, "eviction_policy", policies))
        return EL_POISON;
    if (tr_is(c->arg[0], OBJECT_BLOCK)) return tr_block_store(e, c, tr_object_of(c->arg[0]));
    IrValue *p = pointer_of(e, c), *mask = NULL;
    if (!p) return EL_POISON;
    IrValue *x = tr_stored(e, c->arg[1], el_elem(p), c->at[1]);
    if (!x || (tr_given(c, 2) && !(mask = tr_truth(e, c->arg[2], c->at[2])))) return EL_POISON;
    if (!shaped(e, c->span, &p, &mask, &x)) return EL_POISON;
    IrOp *op = ir_op(&e->b, IR_STORE, 3, (IrValue *[]){p, x, mask}, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_CACHE, cache_of(c, 4, 5));
    return tr_none();
}

// ---- atomics

static bool order_of(Elab *e, const TlCall *c, uint32_t at, AtomicOp *a) {
    static const struct {
        const char *name;
        IrOrder order;
    } orders[] = {{"relaxed", IR_ORDER_RELAXED},
                  {"acquire", IR_ORDER_ACQUIRE},
                  {"release", IR_ORDER_RELEASE},
                  {"acq_rel", IR_ORDER_ACQ_REL}};
    static const struct {
        const char *name;
        IrScope scope;
    } scopes[] = {{"cta", IR_SCOPE_PROGRAM}, {"gpu", IR_SCOPE_DEVICE}, {"sys", IR_SCOPE_SYSTEM}};
    a->order = IR_ORDER_ACQ_REL;
    a->scope = IR_SCOPE_DEVICE;
    Str order = tr_call_text(c, at), scope = tr_call_text(c, at + 1);
    bool good = !order.size, fits = !scope.size;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (str_equal(order, str(orders[i].name))) {
            a->order = orders[i].order;
            good = true;
        }
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (str_equal(scope, str(scopes[i].name))) {
            a->scope = scopes[i].scope;
            fits = true;
        }
    if (!good) {
        el_error(e, c->at[at], DIAG_ATOMIC, "sem '%.*s' is unknown", STR_ARG(order));
        el_help(e, "it is 'acquire', 'release', 'acq_rel' or 'relaxed'");
    } else if (!fits) {
        el_error(e, c->at[at + 1], DIAG_ATOMIC, "scope '%.*s' is unknown", STR_ARG(scope));
        el_help(e, "it is 'gpu', 'cta' or 'sys'");
    }
    return good && fits;
}

Val tl_atomic(Elab *e, const TlCall *c) {
    AtomicOp a = {.rmw = (IrRmw)c->tl->which};
    IrValue *p = pointer_of(e, c), *mask = NULL;
    if (!p || !order_of(e, c, 3, &a)) return EL_POISON;
    IrValue *x = tr_stored(e, c->arg[1], el_elem(p), c->at[1]);
    if (!x || (tr_given(c, 2) && !(mask = tr_truth(e, c->arg[2], c->at[2])))) return EL_POISON;
    if (!dtype_is(el_elem(p), ir_rmw_classes(a.rmw)))
        return el_error(e, c->span, DIAG_ATOMIC, "tl.%s does not take %s", c->tl->name,
                        tr_text(e, c->arg[0]));
    if (!shaped(e, c->span, &p, &mask, &x)) return EL_POISON;
    a.pointer = p;
    return el_ir(el_atomic(e, &a, 1, &x, mask));
}

Val tl_atomic_cas(Elab *e, const TlCall *c) {
    AtomicOp a = {.swaps = true};
    IrValue *p = pointer_of(e, c);
    if (!p || !order_of(e, c, 3, &a)) return EL_POISON;
    IrValue *all[3] = {p, tr_stored(e, c->arg[1], el_elem(p), c->at[1]),
                       tr_stored(e, c->arg[2], el_elem(p), c->at[2])};
    if (!all[1] || !all[2] || !tr_same_shape(e, c->span, 3, all)) return EL_POISON;
    a.pointer = all[0];
    return el_ir(el_atomic(e, &a, 2, &all[1], NULL));
}
