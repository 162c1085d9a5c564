// Atomics, asserts, prints.
//
// An atomic is executed once for each element, by the first thread and register that hold it; if
// its old value is used, the other holders get it through shared memory or by shuffles. Release and
// acquire apply to the whole program: a barrier separates them from the accesses of other threads.
#include "passes/gpu/lower/access.h"

// ---- atomics ------------------------------------------------------------------------------------

typedef struct EffectAtomic {
    const IrOp *op;
    const Layout *layout;   // NULL: a scalar; thread 0 acts for all
    uint32_t count, *regs;  // registers that act
    bool cas, view;
} EffectAtomic;

static EffectAtomic atomic_of(Threads *t, const IrOp *op) {
    EffectAtomic a = {.op = op, .layout = op->results[0].type->layout};
    uint32_t total = a.layout ? layout_size(a.layout, LAYOUT_REG) : 1;
    a.cas = op->code == IR_ATOMIC_CAS || op->code == IR_VIEW_CAS;
    a.view = ir_operand(op, 0)->type->kind == IR_VIEW;
    a.regs = arena_new(t->scratch, uint32_t, total);
    for (uint32_t r = 0; r < total; r++)
        if (!a.layout || threads_first_holder(a.layout, r) == r) a.regs[a.count++] = r;
    return a;
}

// A scalar, or the acting registers as a vector.
static IrValue *acting(Threads *t, const EffectAtomic *a, IrValue *const *parts) {
    return a->layout ? threads_pack(t, a->count, parts) : parts[0];
}

static IrValue *acting_operand(Threads *t, const EffectAtomic *a, uint32_t i) {
    IrValue *x = threads_operand(t, a->op, i);
    return a->layout ? threads_pick(t, x, a->count, a->regs) : x;
}

// The address of each acting register's element, and whether it is accessed (NULL: always).
static IrValue *where(Threads *t, const EffectAtomic *a, IrValue **mask) {
    IrValue **places = arena_new(t->scratch, IrValue *, a->count);
    IrValue **masks = arena_new(t->scratch, IrValue *, a->count);
    IrValue *own = threads_operand(t, a->op, a->cas ? 3 : 2), *p = threads_operand(t, a->op, 0);
    IrValue *owner = access_owner(t, a->layout);
    Selection s = {0};
    bool masked = false;
    if (a->view) s = access_select(t, a->op, a->layout);
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t reg = a->regs[i];
        places[i] = a->view ? access_pointer(t, &s, reg) : threads_get(t, p, reg);
        masks[i] = access_both(t, a->view ? access_mask(t, &s, reg) : NULL, owner);
        if (own) masks[i] = access_both(t, masks[i], threads_get(t, own, reg));
        masked |= masks[i] != NULL;
    }
    for (uint32_t i = 0; masked && i < a->count; i++)
        if (!masks[i]) masks[i] = ir_const_bool(&t->b, true);
    *mask = masked ? acting(t, a, masks) : NULL;
    return acting(t, a, places);
}

static IrValue *act(Threads *t, const EffectAtomic *a) {
    IrValue *operands[4], *mask;
    uint32_t count = 0;
    operands[count++] = where(t, a, &mask);
    operands[count++] = acting_operand(t, a, 1);
    if (a->cas) operands[count++] = acting_operand(t, a, 2);
    const IrType *type = operands[1]->type;
    operands[count++] = mask;
    IrOp *made =
        ir_op(&t->b, a->cas ? IR_ATOMIC_CAS : IR_ATOMIC, count, operands, 1, &type, 0, NULL);
    if (!a->cas) ir_attr_set_int(made, IR_ATTR_RMW, ir_attr_int(a->op, IR_ATTR_RMW));
    ir_attr_set_int(made, IR_ATTR_ORDER, ir_attr_int(a->op, IR_ATTR_ORDER));
    ir_attr_set_int(made, IR_ATTR_SCOPE, ir_attr_int(a->op, IR_ATTR_SCOPE));
    return ir_result(made, 0);
}

// Passes the owner's value to all warps, through shared memory.
static IrValue *from_other_warps(Threads *t, IrValue *x, uint32_t away) {
    uint32_t thread_total = ir_thread_count(t->func), count = x->type->count;
    IrValue *memory = threads_shared(t, x->type->elem, count * thread_total);
    remark(t->remarks, t->b.span, REASON_ATOMIC_OLD_SHARED, NULL,
           REMARK((int64_t)count * thread_total * ir_elem_size(x->type)));
    IrValue *own = threads_at(t, memory, t->thread);
    IrValue *owner = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, ~(int64_t)away));
    IrValue *theirs = threads_at(t, memory, owner);
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    for (uint32_t i = 0; i < count; i++)
        threads_store(t, threads_at(t, own, threads_i64(t, i * thread_total)), threads_get(t, x, i),
                      0, NULL);
    threads_barrier(t);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = threads_load(t, threads_at(t, theirs, threads_i64(t, i * thread_total)), 1, 0,
                                NULL, NULL);
    threads_barrier(t);
    return x->type->rank ? threads_pack(t, count, parts) : parts[0];
}

// The old values, as every holder of an element must have them.
static IrValue *for_all(Threads *t, const EffectAtomic *a, IrValue *old) {
    GpuThreads threads = gpu_threads(t->func);
    uint32_t lanes = threads.lanes - 1, warps = threads.warps - 1;
    if (a->layout) {
        lanes = layout_free_bits(a->layout, LAYOUT_LANE);
        warps = layout_free_bits(a->layout, LAYOUT_WARP);
    }
    if (warps) {
        old = from_other_warps(t, old, lanes | warps * threads.lanes);
    } else if (lanes) {
        int64_t kept = (threads.lanes - 1) & ~lanes;
        IrValue *owner = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, kept));
        old = threads_from_lane(t, old, owner);
    }
    if (!a->layout) return old;
    uint32_t total = layout_size(a->layout, LAYOUT_REG), at = 0;
    uint32_t *from = arena_new(t->scratch, uint32_t, total);
    for (uint32_t i = 0; i < a->count; i++) from[a->regs[i]] = at++;
    for (uint32_t r = 0; r < total; r++) from[r] = from[threads_first_holder(a->layout, r)];
    return threads_pick(t, old, total, from);
}

static void barrier_of_all_memory(Threads *t) {
    IrOp *barrier = ir_op(&t->b, IR_THREAD_BARRIER, 0, NULL, 0, NULL, 0, NULL);
    ir_attr_set_int(barrier, IR_ATTR_GLOBAL, true);
}

static void atomic(Threads *t, const IrOp *op) {
    EffectAtomic a = atomic_of(t, op);
    IrOrder order = (IrOrder)ir_attr_int(op, IR_ATTR_ORDER);
    if (order == IR_ORDER_RELEASE || order == IR_ORDER_ACQ_REL) barrier_of_all_memory(t);
    IrValue *old = act(t, &a);
    if (order == IR_ORDER_ACQUIRE || order == IR_ORDER_ACQ_REL) barrier_of_all_memory(t);
    if (ir_result(op, 0)->uses) threads_define(t, op, 0, for_all(t, &a, old));
}

// ---- asserts ------------------------------------------------------------------------------------

IrValue *threads_minimum(Threads *t, IrValue *x) {
    uint32_t lanes = ir_lane_count(t->func);
    for (uint32_t by = 1; by < lanes; by *= 2)
        x = ir_binary(&t->b, IR_MIN, x, threads_xor_lane(t, x, by));
    uint32_t warps = (uint32_t)t->func->warps;
    if (warps == 1) return x;
    IrValue *memory = threads_shared(t, x->type->elem, warps);
    IrValue *warp = ir_binary(&t->b, IR_SHR, t->thread, threads_i32(t, __builtin_ctz(lanes)));
    IrValue *lane = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, lanes - 1));
    IrValue *first = ir_binary(&t->b, IR_EQ, lane, threads_i32(t, 0));
    threads_store(t, threads_at(t, memory, warp), x, 0, first);
    threads_barrier(t);
    for (uint32_t w = 0; w < warps; w++) {
        IrValue *p = threads_at(t, memory, threads_i64(t, w));
        IrValue *theirs = threads_load(t, p, 1, 0, NULL, NULL);
        x = w ? ir_binary(&t->b, IR_MIN, x, theirs) : theirs;
    }
    threads_barrier(t);
    return x;
}

// The number, row-major, of the first element that is false; INT32_MAX if there is none.
static IrValue *first_false(Threads *t, IrValue *c, const Layout *l) {
    uint32_t lanes[32], warps[32], lane_bits = l->dim_bits[LAYOUT_LANE];
    uint32_t warp_bits = l->dim_bits[LAYOUT_WARP];
    for (uint32_t i = 0; i < lane_bits; i++) lanes[i] = layout_basis(l, LAYOUT_LANE, i);
    for (uint32_t i = 0; i < warp_bits; i++) warps[i] = layout_basis(l, LAYOUT_WARP, i);
    IrValue *base = threads_linear(t, lanes, lane_bits, warps, warp_bits);
    IrValue *fine = threads_i32(t, INT32_MAX), *least = NULL;
    for (uint32_t r = 0; r < layout_size(l, LAYOUT_REG); r++) {
        if (threads_first_holder(l, r) != r) continue;
        IrValue *offset = threads_i32(t, layout_apply(l, layout_at(r, 0, 0)));
        IrValue *number = ir_binary(&t->b, IR_XOR, base, offset);
        number = ir_ternary(&t->b, IR_SELECT, threads_get(t, c, r), fine, number);
        least = least ? ir_binary(&t->b, IR_MIN, least, number) : number;
    }
    return threads_minimum(t, least);
}

static void assert_all(Threads *t, const IrOp *op) {
    IrValue *c = threads_operand(t, op, 0), *none = threads_i64(t, -1), *lane;
    const Layout *l = ir_operand(op, 0)->type->layout;
    if (c->type->rank) {
        IrValue *least = first_false(t, c, l);
        IrValue *held = ir_binary(&t->b, IR_EQ, least, threads_i32(t, INT32_MAX));
        lane = ir_ternary(&t->b, IR_SELECT, held, none, ir_cast(&t->b, least, DTYPE_I64, false));
    } else {
        lane = ir_ternary(&t->b, IR_SELECT, c, none, threads_i64(t, 0));
    }
    IrOp *made = ir_op(&t->b, IR_VEC_ASSERT, 1, &lane, 0, NULL, 0, NULL);
    ir_attr_set_text(made, IR_ATTR_TEXT, ir_attr(op, IR_ATTR_TEXT)->u.text);
    ir_attr_set_int(made, IR_ATTR_SITE, t->sites++);
}

void threads_effect(Threads *t, const IrOp *op) {
    switch (op->code) {
    case IR_ASSERT: assert_all(t, op); return;
    case IR_ASSUME: return;  // it states a fact for proofs only
    case IR_PRINT: threads_print(t, op); return;
    default: atomic(t, op);
    }
}
