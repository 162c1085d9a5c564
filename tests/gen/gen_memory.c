// Memory: through pointers, always in bounds; through views, at any offset.
#include <string.h>

#include "tests/gen/gen_internal.h"

// ---- pointers -----------------------------------------------------------------------------------

static const IrType *some_pointers(Gen *g, Dtype elem) {
    const IrType *t = gen_type(g, DTYPE_CLASS_ANY);
    return ir_ptr(g->m, elem, t->rank, t->shape);
}

static void gen_ptr_add(Gen *g) {
    const IrType *t = some_pointers(g, gen_elem(g, DTYPE_CLASS_ANY));
    IrValue *p = gen_places(g, gen_read_buffer(g, t->elem), t, false, false);
    if (dice_chance(&g->dice, 30)) {
        int64_t away = (int64_t)dice_below(&g->dice, 1000) - 500;
        p = ir_ptr_add(&g->b, p, gen_fill(g, t, DTYPE_I64, away));
        p = ir_ptr_add(&g->b, p, gen_fill(g, t, DTYPE_I64, -away));
    }
    gen_push(g, p);
}

// A place that was written, or may be: passes may confuse loads and stores of one place.
static IrValue *known_place(Gen *g) {
    if (!g->places.count || dice_chance(&g->dice, 30)) return NULL;
    return g->places.data[dice_below(&g->dice, g->places.count)];
}

static void some_hint(Gen *g, IrOp *op) {
    if (dice_chance(&g->dice, 20))
        ir_attr_set_int(op, IR_ATTR_CACHE, (int64_t)dice_below(&g->dice, IR_CACHE_L2 + 1));
}

static void gen_load(Gen *g) {
    IrValue *p = dice_chance(&g->dice, 50) ? known_place(g) : NULL;
    if (p) {
        // as it is
    } else if (dice_chance(&g->dice, 40)) {
        const IrType *t = some_pointers(g, gen_elem(g, DTYPE_CLASS_ANY));
        p = gen_places(g, gen_write_buffer(g, t->elem), t, true, dice_chance(&g->dice, 50));
    } else {
        p = gen_pick(g, IR_CLASS_POINTER);
    }
    const IrType *t = ir_tile(g->m, p->type->elem, p->type->rank, p->type->shape);
    IrValue *operands[] = {p, gen_mask(g, t), NULL};
    if (dice_chance(&g->dice, 50)) operands[2] = gen_like(g, t);
    IrOp *op = ir_op(&g->b, IR_LOAD, 3, operands, 1, &t, 0, NULL);
    some_hint(g, op);
    gen_push(g, ir_result(op, 0));
}

static void gen_store(Gen *g) {
    IrValue *p = known_place(g), *x;
    if (p) {
        x = gen_like(g, ir_tile(g->m, p->type->elem, p->type->rank, p->type->shape));
    } else {
        x = gen_pick(g, DTYPE_CLASS_ANY);
        const IrType *t = ir_ptr(g->m, x->type->elem, x->type->rank, x->type->shape);
        p = gen_places(g, gen_write_buffer(g, x->type->elem), t, true, true);
        vec_push(g->m->arena, &g->places, p);
    }
    IrValue *operands[] = {p, x, gen_mask(g, x->type)};
    some_hint(g, ir_op(&g->b, IR_STORE, 3, operands, 0, NULL, 0, NULL));
}

// ---- atomics ------------------------------------------------------------------------------------

static IrRmw some_rmw(Gen *g, Dtype elem) {
    static const IrRmw bools[] = {IR_RMW_AND, IR_RMW_OR, IR_RMW_XOR, IR_RMW_XCHG, IR_RMW_LOAD};
    static const IrRmw floats[] = {IR_RMW_ADD, IR_RMW_SUB,  IR_RMW_MIN,
                                   IR_RMW_MAX, IR_RMW_XCHG, IR_RMW_LOAD};
    if (elem == DTYPE_BOOL) return bools[dice_below(&g->dice, 5)];
    if (dtype_is(elem, DTYPE_CLASS_ANYFLOAT)) return floats[dice_below(&g->dice, 6)];
    return (IrRmw)dice_below(&g->dice, IR_RMWS);
}

static void order_and_scope(Gen *g, IrOp *op) {
    ir_attr_set_int(op, IR_ATTR_ORDER, (int64_t)dice_below(&g->dice, IR_ORDER_ACQ_REL + 1));
    ir_attr_set_int(op, IR_ATTR_SCOPE, (int64_t)dice_below(&g->dice, IR_SCOPE_SYSTEM + 1));
}

static void gen_atomic(Gen *g) {
    IrValue *x = gen_no_nan(g, gen_pick(g, DTYPE_CLASS_ANY));
    const IrType *t = x->type;
    const IrType *to = ir_ptr(g->m, t->elem, t->rank, t->shape);
    IrValue *p = gen_places(g, gen_atomic_buffer(g, t->elem), to, true, true);
    IrValue *operands[] = {p, x, gen_mask(g, t)};
    IrOp *op = ir_op(&g->b, IR_ATOMIC, 3, operands, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_RMW, some_rmw(g, t->elem));
    order_and_scope(g, op);
    gen_push(g, ir_result(op, 0));
}

static void gen_atomic_cas(Gen *g) {
    IrValue *x = gen_no_nan(g, gen_pick(g, DTYPE_CLASS_ANY));
    const IrType *t = x->type;
    const IrType *to = ir_ptr(g->m, t->elem, t->rank, t->shape);
    IrValue *p = gen_places(g, gen_atomic_buffer(g, t->elem), to, true, true);
    IrValue *now[] = {p, NULL, NULL}, *expected = gen_no_nan(g, gen_like(g, t));
    // The current value as the expected one, so that the exchange takes place.
    if (dice_chance(&g->dice, 60))
        expected = ir_result(ir_op(&g->b, IR_LOAD, 3, now, 1, &t, 0, NULL), 0);
    IrValue *operands[] = {p, expected, x, gen_mask(g, t)};
    IrOp *op = ir_op(&g->b, IR_ATOMIC_CAS, 4, operands, 1, &t, 0, NULL);
    order_and_scope(g, op);
    gen_push(g, ir_result(op, 0));
}

// ---- selections of views ------------------------------------------------------------------------

typedef struct Selection {
    IrValue *view;
    uint32_t rank;
    int64_t select[IR_MAX_VIEW_RANK];
    IrValue *index[IR_MAX_VIEW_RANK];
    uint32_t tile_rank, tile_shape[2];  // of tile indices
    uint32_t count;                     // elements selected so far
    bool own, distinct;
    int distinct_dim;  // the dimension whose tile index keeps lanes apart; -1: none needs to
} Selection;

static IrValue *odd_offset(Gen *g) {
    static const int64_t far[] = {INT64_MIN, INT64_MAX, (int64_t)1 << 40, -((int64_t)1 << 40)};
    switch (dice_below(&g->dice, 8)) {
    case 0: return gen_int(g, DTYPE_I64, far[dice_below(&g->dice, 4)]);
    case 1: return gen_scalar(g, gen_elem(g, DTYPE_CLASS_INT));
    case 2:
    case 3: {
        IrValue *x = gen_scalar(g, DTYPE_I64);
        return ir_binary(&g->b, IR_AND, x, gen_int(g, DTYPE_I64, 7));
    }
    case 4: return ir_binary(&g->b, IR_MUL, ir_program(&g->b, 0), gen_int(g, DTYPE_I64, 3));
    }
    return gen_int(g, dice_chance(&g->dice, 50) ? DTYPE_I64 : DTYPE_I32,
                   (int64_t)dice_below(&g->dice, 16) - 5);
}

// Row p, p + 2, p - 2 …: no other program's, where there are two programs.
static IrValue *own_row(Gen *g) {
    int64_t step = ((int64_t)dice_below(&g->dice, 5) - 1) * 2;
    return ir_binary(&g->b, IR_ADD, ir_program(&g->b, 0), gen_int(g, DTYPE_I64, step));
}

static void index_tile(Gen *g, Selection *s, uint32_t d) {
    if (s->tile_rank == 0) {
        s->tile_rank = (uint32_t)dice_below(&g->dice, 2) + 1;
        s->count *= gen_shape(g, s->tile_rank, GEN_COUNT_MAX / s->count, s->tile_shape);
    }
    Dtype elem = dice_chance(&g->dice, 50) ? DTYPE_I32 : DTYPE_I64;
    const IrType *t = ir_tile(g->m, elem, s->tile_rank, s->tile_shape);
    if (!s->distinct) {
        s->index[d] = gen_like(g, t);
        if (dice_chance(&g->dice, 60))
            s->index[d] = ir_binary(&g->b, IR_AND, s->index[d], gen_fill(g, t, elem, 7));
        return;
    }
    s->index[d] = gen_like(g, t);
    if (s->distinct_dim >= 0) return;  // others may be anything
    s->distinct_dim = (int)d;
    int64_t odd = (int64_t)dice_below(&g->dice, 2) * 2 + 1;
    IrValue *n = ir_binary(&g->b, IR_MUL, gen_iota(g, t, elem), gen_fill(g, t, elem, odd));
    int64_t start = (int64_t)dice_below(&g->dice, 9) - 4;
    s->index[d] = ir_binary(&g->b, IR_ADD, n, gen_fill(g, t, elem, start));
}

static void select_dim(Gen *g, Selection *s, uint32_t d) {
    bool packed = dtype_is(s->view->type->elem, DTYPE_CLASS_PACKED);
    bool whole_bytes = packed && s->own && d + 1 == s->rank;
    s->select[d] = 0;
    if (s->own && d == 0) {
        s->index[d] = own_row(g);
        s->select[d] = dice_chance(&g->dice, 30);
        return;
    }
    uint64_t way = dice_below(&g->dice, 3), room = packed ? GEN_COUNT_MAX / 2 : GEN_COUNT_MAX;
    if (way == 0 || whole_bytes) {
        int64_t width = (int64_t)1 << (dice_below(&g->dice, 6) + (whole_bytes ? 1 : 0));
        while (width > (whole_bytes ? 2 : 1) && s->count * (uint64_t)width > room) width /= 2;
        s->select[d] = width;
        s->count *= (uint32_t)width;
        s->index[d] = whole_bytes ? gen_int(g, DTYPE_I64, (int64_t)dice_below(&g->dice, 8) * 2 - 4)
                                  : odd_offset(g);
    } else if (way == 1 && !(packed && s->own)) {
        index_tile(g, s, d);
    } else {
        s->index[d] = odd_offset(g);
    }
}

// A whole row whose length is known, and elements after it.
static bool known_row(Gen *g, Selection *s, const IrDim *dim) {
    uint32_t width = 8;
    while (width < dim->value) width *= 2;
    if (!dim->value || s->count * width > GEN_COUNT_MAX || dice_chance(&g->dice, 50)) return false;
    if (s->count * width * 2 <= GEN_COUNT_MAX && dice_chance(&g->dice, 50)) width *= 2;
    s->count *= width;
    s->select[s->rank - 1] = width;
    s->index[s->rank - 1] = gen_int(g, DTYPE_I64, 0);
    return true;
}

static Selection gen_selection(Gen *g, uint32_t param, bool own, bool distinct) {
    Selection s = {.view = g->f->params.data[param].value, .own = own, .distinct = distinct};
    s.rank = s.view->type->rank;
    s.count = 1;
    s.distinct_dim = -1;
    const IrDim *last = &g->f->params.data[param].dims[s.rank - 1];
    for (uint32_t d = 0; d < s.rank; d++)
        if (d == 0 || d + 1 < s.rank || !known_row(g, &s, last)) select_dim(g, &s, d);
    return s;
}

// A selection that an earlier store had.
static bool known_selection(Gen *g, Selection *s) {
    if (!g->accesses.count || dice_chance(&g->dice, 50)) return false;
    const IrOp *op = g->accesses.data[dice_below(&g->dice, g->accesses.count)];
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    *s = (Selection){.view = ir_operand(op, 0), .rank = select->u.ints.count, .own = true};
    for (uint32_t d = 0; d < s->rank; d++) {
        s->select[d] = select->u.ints.items[d];
        s->index[d] = ir_operand(op, ir_view_index_start(op->code) + d);
        const IrType *t = s->index[d]->type;
        if (t->rank == 0) continue;
        s->tile_rank = t->rank;
        memcpy(s->tile_shape, t->shape, sizeof s->tile_shape);
    }
    return true;
}

static const IrType *selection_type(Gen *g, const Selection *s) {
    uint32_t shape[IR_MAX_RANK], rank = 0;
    bool tiles = false;
    for (uint32_t d = 0; d < s->rank; d++) {
        if (s->select[d]) shape[rank++] = (uint32_t)s->select[d];
        if (s->select[d] || s->index[d]->type->rank == 0 || tiles) continue;
        tiles = true;
        for (uint32_t k = 0; k < s->tile_rank; k++) shape[rank++] = s->tile_shape[k];
    }
    Dtype elem = s->view->type->elem;
    if (elem == DTYPE_I4) elem = DTYPE_I8;
    if (elem == DTYPE_U4) elem = DTYPE_U8;
    return ir_tile(g->m, elem, rank, shape);
}

// `first`: what stands between the view and the indices.
static IrOp *view_op(Gen *g, IrOpcode code, const Selection *s, uint32_t count,
                     IrValue *const *first, const IrType *result) {
    static const int64_t none[IR_MAX_VIEW_RANK] = {0};
    IrValue *operands[4 + IR_MAX_VIEW_RANK] = {s->view};
    for (uint32_t i = 0; i < count; i++) operands[1 + i] = first[i];
    for (uint32_t d = 0; d < s->rank; d++) operands[1 + count + d] = s->index[d];
    IrOp *op = ir_op(&g->b, code, 1 + count + s->rank, operands, result != NULL, &result, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_SELECT, s->rank, s->select);
    if (code != IR_VIEW_INSIDE) ir_attr_set_ints(op, IR_ATTR_INSIDE, s->rank, none);
    return op;
}

static uint32_t some_view(Gen *g, bool write) {
    const uint32_t *list = write ? g->write_views.data : g->read_views.data;
    return list[dice_below(&g->dice, write ? g->write_views.count : g->read_views.count)];
}

// Each element of what was loaded against each: in one nest, along rows and along lanes.
static void gen_pairs(Gen *g, IrValue *x) {
    uint32_t n = x->type->count, rows[] = {n, 1}, lanes[] = {1, n}, all[] = {n, n};
    IrValue *a = ir_broadcast(&g->b, ir_reshape(&g->b, x, 2, rows), 2, all);
    IrValue *b = ir_broadcast(&g->b, ir_reshape(&g->b, x, 2, lanes), 2, all);
    IrOpcode code = IR_LT;
    if (dtype_is(x->type->elem, DTYPE_CLASS_INT)) code = IR_SUB;
    if (x->type->elem == DTYPE_BOOL) code = IR_XOR;
    IrValue *pairs = ir_binary(&g->b, code, a, b);
    gen_push(g, pairs);
    if (g->f->is_kernel && g->depth == 0) gen_store_result(g, pairs);
}

static void gen_view_load(Gen *g) {
    bool own = dice_chance(&g->dice, 40);
    Selection s;
    if (!own || !known_selection(g, &s)) s = gen_selection(g, some_view(g, own), own, false);
    const IrType *t = selection_type(g, &s);
    IrValue *pad = dice_chance(&g->dice, 50) ? gen_scalar(g, t->elem) : NULL;
    IrOp *op = view_op(g, IR_VIEW_LOAD, &s, 1, &pad, t);
    IrValue *x = ir_result(op, 0);
    some_hint(g, op);
    gen_push(g, x);
    if (t->rank == 1 && t->count * t->count <= GEN_COUNT_MAX && dice_chance(&g->dice, 20))
        gen_pairs(g, x);
}

static void gen_view_store(Gen *g) {
    Selection s;
    if (!known_selection(g, &s)) s = gen_selection(g, some_view(g, true), true, true);
    const IrType *t = selection_type(g, &s);
    bool packed = dtype_is(s.view->type->elem, DTYPE_CLASS_PACKED);
    IrValue *first[] = {gen_like(g, t), packed ? NULL : gen_mask(g, t)};
    IrOp *op = view_op(g, IR_VIEW_STORE, &s, 2, first, NULL);
    some_hint(g, op);
    vec_push(g->m->arena, &g->accesses, op);
}

static void gen_view_atomic(Gen *g, IrOpcode code) {
    uint32_t view = some_view(g, true);
    Dtype elem = g->f->params.data[view].value->type->elem;
    if (dtype_is(elem, DTYPE_CLASS_PACKED) || (g->apart && dtype_size(elem) < 4)) return;
    Selection s = gen_selection(g, view, true, true);
    const IrType *t = selection_type(g, &s);
    bool is_float = dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT);
    // Stores may have left a NaN in a view, whose bits nothing may compare.
    if (code == IR_VIEW_CAS && is_float) return;
    IrValue *mask = gen_mask(g, t), *x = gen_like(g, t);
    if (code == IR_VIEW_CAS) {
        IrValue *first[] = {gen_like(g, t), x, mask};
        IrOp *op = view_op(g, code, &s, 3, first, t);
        order_and_scope(g, op);
        gen_push(g, ir_result(op, 0));
        return;
    }
    IrValue *first[] = {x, mask};
    IrOp *op = view_op(g, code, &s, 2, first, t);
    ir_attr_set_int(op, IR_ATTR_RMW, some_rmw(g, t->elem));
    order_and_scope(g, op);
    gen_push(g, ir_result(op, 0));
}

static void gen_view_inside(Gen *g) {
    Selection s = gen_selection(g, some_view(g, dice_chance(&g->dice, 50)), false, false);
    const IrType *t = ir_with_elem(g->m, selection_type(g, &s), DTYPE_BOOL);
    gen_push(g, ir_result(view_op(g, IR_VIEW_INSIDE, &s, 0, NULL, t), 0));
}

void gen_memory_op(Gen *g, IrOpcode code) {
    IrRule rule = ir_op_info(code)->rule;
    if (rule == IR_RULE_PTR_ADD) gen_ptr_add(g);
    if (rule == IR_RULE_LOAD) gen_load(g);
    if (rule == IR_RULE_STORE) gen_store(g);
    if (rule == IR_RULE_ATOMIC) gen_atomic(g);
    if (rule == IR_RULE_ATOMIC_CAS) gen_atomic_cas(g);
    if (rule == IR_RULE_VIEW_LOAD) gen_view_load(g);
    if (rule == IR_RULE_VIEW_STORE) gen_view_store(g);
    if (rule == IR_RULE_VIEW_ATOMIC || rule == IR_RULE_VIEW_CAS) gen_view_atomic(g, code);
    if (rule == IR_RULE_VIEW_INSIDE) gen_view_inside(g);
}
