// Choosing ops, and the elementwise ones and those of shapes.
#include <string.h>

#include "tests/gen/gen_internal.h"

// ---- elementwise --------------------------------------------------------------------------------

static void gen_cast(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_ANY);
    gen_push(g, ir_cast(&g->b, x, gen_elem(g, DTYPE_CLASS_ANY), dice_chance(&g->dice, 60)));
}

static void gen_bitcast(Gen *g) {
    if (g->f->is_kernel && dice_chance(&g->dice, 15)) {
        // Addresses differ from run to run, so nothing looks at them between.
        IrValue *p = gen_pick(g, IR_CLASS_POINTER);
        const IrType *bits = ir_tile(g->m, DTYPE_U64, p->type->rank, p->type->shape);
        gen_push(g, ir_bitcast(&g->b, ir_bitcast(&g->b, p, bits), p->type));
        return;
    }
    IrValue *x = gen_pick(g, DTYPE_CLASS_NUMBER);
    Dtype to = gen_elem(g, DTYPE_CLASS_NUMBER);
    while (dtype_bits(to) != dtype_bits(x->type->elem)) to = gen_elem(g, DTYPE_CLASS_NUMBER);
    gen_push(g, ir_bitcast(&g->b, gen_no_nan(g, x), ir_with_elem(g->m, x->type, to)));
}

// In a table of few values, or of more than a register has lanes; some indices are outside.
static void gen_lookup(Gen *g) {
    enum { MOST = 70 };
    uint64_t values[MOST];
    IrValue *i = gen_pick(g, DTYPE_CLASS_INT);
    Dtype elem = gen_elem(g, DTYPE_CLASS_ANY);
    uint32_t count = 1 + (uint32_t)dice_below(&g->dice, dice_chance(&g->dice, 50) ? 8 : MOST);
    for (uint32_t k = 0; k < count; k++) values[k] = gen_const_bits(g, elem);
    gen_push(g, ir_lookup(&g->b, i, elem, count, values));
}

static void gen_select(Gen *g) {
    IrValue *a = gen_pick(g, DTYPE_CLASS_ANY | (g->combining ? 0 : IR_CLASS_POINTER));
    IrValue *b = gen_like(g, a->type);
    const IrType *c = ir_tile(g->m, DTYPE_BOOL, a->type->rank, a->type->shape);
    if (dice_chance(&g->dice, 30)) c = ir_scalar(g->m, DTYPE_BOOL);
    gen_push(g, ir_ternary(&g->b, IR_SELECT, gen_like(g, c), a, b));
}

static void gen_shift(Gen *g, IrOpcode code) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_INT);
    const IrType *n = ir_with_elem(g->m, x->type, gen_elem(g, DTYPE_CLASS_INT));
    gen_push(g, ir_binary(&g->b, code, x, gen_like(g, n)));
}

// The parts of index expressions, of which the analyses know much: lane numbers, programs, extents,
// small factors and masks.
static IrValue *index_value(Gen *g, IrValue *x) {
    const IrType *t = x->type;
    int64_t number = (int64_t)dice_below(&g->dice, 12) + 1;
    switch (dice_below(&g->dice, 6)) {
    case 0: return g->combining ? x : gen_iota(g, t, t->elem);
    case 1:
    case 2: {
        IrValue *n = ir_program(&g->b, 0);
        if (g->f->extents.count && dice_chance(&g->dice, 60))
            n = ir_extent(&g->b, g->f->extents.data[0].name);
        if (t->elem != DTYPE_I64) n = ir_cast(&g->b, n, t->elem, true);
        return t->rank ? ir_broadcast(&g->b, n, t->rank, t->shape) : n;
    }
    case 3: return gen_fill(g, t, t->elem, (int64_t)1 << dice_below(&g->dice, 6));
    case 4: return gen_fill(g, t, t->elem, ((int64_t)1 << dice_below(&g->dice, 6)) - 1);
    }
    return gen_fill(g, t, t->elem, number);
}

static void gen_index(Gen *g, IrOpcode code) {
    static const IrOpcode ops[] = {IR_ADD, IR_MUL, IR_AND, IR_OR, IR_REM, IR_DIV, IR_SUB, IR_MIN};
    IrValue *x = gen_pick(g, DTYPE_CLASS_INT), *y = index_value(g, x);
    x = index_value(g, x);
    for (int i = 0; i < 2; i++) {
        IrOpcode inner = ops[dice_below(&g->dice, 8)];
        x = ir_binary(&g->b, inner, x, index_value(g, x));
        if (dice_chance(&g->dice, 50)) gen_push(g, x);
    }
    y = ir_binary(&g->b, IR_MUL, y, index_value(g, y));
    gen_push(g, ir_binary(&g->b, code, x, y));
}

// The sign of a NaN that arithmetic made differs from target to target.
static void gen_copysign(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_ANYFLOAT);
    gen_push(g, ir_binary(&g->b, IR_COPYSIGN, x, gen_no_nan(g, gen_like(g, x->type))));
}

static void gen_binary(Gen *g, IrOpcode code, unsigned classes) {
    bool indices = (classes & DTYPE_CLASS_INT) == DTYPE_CLASS_INT && g->f->is_kernel;
    if (indices && !g->combining && dice_chance(&g->dice, 25)) {
        gen_index(g, code);
        return;
    }
    if (g->combining) classes &= DTYPE_CLASS_ANY;
    IrValue *x = gen_pick(g, classes);
    IrValue *y = dice_chance(&g->dice, 8) ? x : gen_like(g, x->type);
    if (dice_chance(&g->dice, 50))
        gen_push(g, ir_binary(&g->b, code, x, y));
    else
        gen_push(g, ir_binary(&g->b, code, y, x));
}

// ---- shapes -------------------------------------------------------------------------------------

static void gen_broadcast(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER);
    uint32_t shape[IR_MAX_RANK], rank = x->type->rank;
    if (rank == 0) {
        rank = (uint32_t)dice_below(&g->dice, GEN_RANK_MAX + 1);
        gen_shape(g, rank, GEN_COUNT_MAX, shape);
    } else {
        uint32_t count = x->type->count;
        for (uint32_t d = 0; d < rank; d++) {
            shape[d] = x->type->shape[d];
            if (shape[d] == 1 && count * 4 <= GEN_COUNT_MAX && dice_chance(&g->dice, 60))
                shape[d] = 4, count *= 4;
        }
    }
    gen_push(g, ir_broadcast(&g->b, x, rank, shape));
}

static void gen_reshape(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER);
    uint32_t shape[GEN_RANK_MAX], left = x->type->count;
    uint32_t rank = (uint32_t)dice_below(&g->dice, GEN_RANK_MAX + 1);
    if (left > 1 && rank == 0) rank = 1;
    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = left;
        if (d + 1 < rank)
            while (shape[d] > 1 && dice_chance(&g->dice, 50)) shape[d] /= 2;
        left /= shape[d];
    }
    gen_push(g, ir_reshape(&g->b, x, rank, shape));
}

static void gen_permute(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER);
    int64_t perm[IR_MAX_RANK];
    for (uint32_t d = 0; d < x->type->rank; d++) {
        uint64_t at = dice_below(&g->dice, d + 1);
        perm[d] = perm[at];
        perm[at] = d;
    }
    gen_push(g, ir_permute(&g->b, x, perm));
}

static void gen_join(Gen *g) {
    IrValue *a = gen_pick(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER);
    if (a->type->rank == GEN_RANK_MAX || a->type->count > GEN_COUNT_MAX / 2)
        a = gen_scalar(g, gen_elem(g, DTYPE_CLASS_ANY));
    uint32_t shape[IR_MAX_RANK];
    memcpy(shape, a->type->shape, sizeof shape);
    shape[a->type->rank] = 2;
    const IrType *to = ir_with_shape(g->m, a->type, a->type->rank + 1, shape);
    IrValue *operands[] = {a, gen_like(g, a->type)};
    gen_push(g, ir_result(ir_op(&g->b, IR_JOIN, 2, operands, 1, &to, 0, NULL), 0));
}

static void gen_split(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER);
    const IrType *t = x->type;
    if (t->rank == 0 || t->shape[t->rank - 1] != 2) {
        uint32_t shape[2] = {1u << dice_below(&g->dice, 4), 2};
        x = gen_like(g, ir_with_shape(g->m, t, 2, shape));
    }
    t = ir_with_shape(g->m, x->type, x->type->rank - 1, x->type->shape);
    const IrType *halves[] = {t, t};
    IrOp *op = ir_op(&g->b, IR_SPLIT, 1, &x, 2, halves, 0, NULL);
    gen_push(g, ir_result(op, 0));
    gen_push(g, ir_result(op, 1));
}

// ---- out of nothing -----------------------------------------------------------------------------

static void gen_extent(Gen *g) {
    if (!g->f->extents.count) return;
    Symbol name = g->f->extents.data[dice_below(&g->dice, g->f->extents.count)].name;
    gen_push(g, ir_extent(&g->b, name));
}

static void gen_grid_value(Gen *g, IrOpcode code) {
    int dim = (int)dice_below(&g->dice, 3);
    gen_push(g, code == IR_PROGRAM ? ir_program(&g->b, dim) : ir_programs(&g->b, dim));
}

// ---- choosing -----------------------------------------------------------------------------------

void gen_op(Gen *g, IrOpcode code) {
    const IrOpInfo *info = ir_op_info(code);
    switch (info->rule) {
    case IR_RULE_CONST: gen_push(g, gen_const(g, gen_type(g, DTYPE_CLASS_ANY))); return;
    case IR_RULE_SCALAR_I64: gen_grid_value(g, code); return;
    case IR_RULE_EXTENT: gen_extent(g); return;
    case IR_RULE_IOTA: gen_push(g, ir_iota(&g->b, 1u << dice_below(&g->dice, 7))); return;
    case IR_RULE_UNARY: gen_push(g, ir_unary(&g->b, code, gen_pick(g, info->classes))); return;
    case IR_RULE_BINARY:
        if (code == IR_COPYSIGN) {
            gen_copysign(g);
            return;
        }
        gen_binary(g, code, info->classes);
        return;
    case IR_RULE_COMPARE: gen_binary(g, code, info->classes); return;
    case IR_RULE_SHIFT: gen_shift(g, code); return;
    case IR_RULE_TERNARY: {
        IrValue *x = gen_pick(g, info->classes), *y = gen_like(g, x->type);
        gen_push(g, ir_ternary(&g->b, code, x, y, gen_like(g, x->type)));
        return;
    }
    case IR_RULE_SELECT: gen_select(g); return;
    case IR_RULE_CAST: gen_cast(g); return;
    case IR_RULE_LOOKUP: gen_lookup(g); return;
    case IR_RULE_BITCAST: gen_bitcast(g); return;
    case IR_RULE_BROADCAST: gen_broadcast(g); return;
    case IR_RULE_RESHAPE: gen_reshape(g); return;
    case IR_RULE_PERMUTE: gen_permute(g); return;
    case IR_RULE_JOIN: gen_join(g); return;
    case IR_RULE_SPLIT: gen_split(g); return;
    case IR_RULE_CAT:
    case IR_RULE_GATHER:
    case IR_RULE_DOT:
    case IR_RULE_REDUCE:
    case IR_RULE_SCAN:
    case IR_RULE_SORT:
    case IR_RULE_TOPK:
    case IR_RULE_HISTOGRAM:
    case IR_RULE_RANDOM: gen_tile_op(g, code); return;
    case IR_RULE_PTR_ADD:
    case IR_RULE_LOAD:
    case IR_RULE_STORE:
    case IR_RULE_ATOMIC:
    case IR_RULE_ATOMIC_CAS:
    case IR_RULE_VIEW_LOAD:
    case IR_RULE_VIEW_STORE:
    case IR_RULE_VIEW_ATOMIC:
    case IR_RULE_VIEW_CAS:
    case IR_RULE_VIEW_INSIDE: gen_memory_op(g, code); return;
    case IR_RULE_ASSERT:
    case IR_RULE_PRINT:
    case IR_RULE_FOR:
    case IR_RULE_WHILE:
    case IR_RULE_IF:
    case IR_RULE_CALL: gen_control_op(g, code); return;
    case IR_RULE_NOALIAS:  // the kernel's requires have it
    case IR_RULE_UNITS:    // and its grid this
    case IR_RULE_YIELD:    // every block has its end
    case IR_RULE_RETURN:
    case IR_RULE_SCRATCH:  // below tile level
    case IR_RULE_NOTHING:
    case IR_RULE_VEC_DATA:
    case IR_RULE_CPU_DIM:
    case IR_RULE_CPU_SPAN:
    case IR_RULE_CPU_LOAD:
    case IR_RULE_CPU_STORE:
    case IR_RULE_CPU_PREFETCH:
    case IR_RULE_VEC_REDUCE:
    case IR_RULE_VEC_SHUFFLE:
    case IR_RULE_VEC_LANE:
    case IR_RULE_CPU_DOT:
    case IR_RULE_CPU_TILES:
    case IR_RULE_VEC_ASSERT:
    case IR_RULE_VEC_PRINT:
    case IR_RULE_GPU_CONVERT:
    case IR_RULE_GPU_SHARED:
    case IR_RULE_GPU_SLOT:
    case IR_RULE_GPU_COPY:
    case IR_RULE_GPU_MBARRIER:
    case IR_RULE_GPU_MBARRIER_EXPECT:
    case IR_RULE_GPU_MBARRIER_ARRIVE:
    case IR_RULE_GPU_TMA_LOAD:
    case IR_RULE_GPU_MBARRIER_WAIT:
    case IR_RULE_GPU_MBARRIER_END:
    case IR_RULE_GPU_READ:
    case IR_RULE_THREAD_ID:
    case IR_RULE_THREAD_LOAD:
    case IR_RULE_THREAD_STORE:
    case IR_RULE_THREAD_SHUFFLE:
    case IR_RULE_THREAD_PACK:
    case IR_RULE_THREAD_MATRIX_LOAD:
    case IR_RULE_THREAD_MMA:
    case IR_RULE_THREAD_WGMMA:
    case IR_RULE_THREAD_WGMMA_BEGIN:
    case IR_RULE_THREAD_WGMMA_WAIT:
    case IR_RULE_THREAD_COPY:
    case IR_RULE_THREAD_MBARRIER:
    case IR_RULE_THREAD_MBARRIER_WAIT:
    case IR_RULE_THREAD_TMA_LOAD:
    case IR_RULE_THREAD_UPDATE: return;
    }
}

// How likely one op of a rule is, against others; 0: never by itself.
static const unsigned char weights[] = {
    [IR_RULE_CONST] = 2,       [IR_RULE_SCALAR_I64] = 2,  [IR_RULE_EXTENT] = 3,
    [IR_RULE_IOTA] = 3,        [IR_RULE_UNARY] = 1,       [IR_RULE_BINARY] = 2,
    [IR_RULE_SHIFT] = 3,       [IR_RULE_COMPARE] = 2,     [IR_RULE_TERNARY] = 3,
    [IR_RULE_SELECT] = 3,      [IR_RULE_CAST] = 3,        [IR_RULE_LOOKUP] = 3,
    [IR_RULE_BITCAST] = 3,     [IR_RULE_BROADCAST] = 3,   [IR_RULE_RESHAPE] = 3,
    [IR_RULE_PERMUTE] = 3,     [IR_RULE_JOIN] = 3,        [IR_RULE_SPLIT] = 3,
    [IR_RULE_CAT] = 3,         [IR_RULE_GATHER] = 3,      [IR_RULE_DOT] = 3,
    [IR_RULE_REDUCE] = 6,      [IR_RULE_SCAN] = 6,        [IR_RULE_SORT] = 3,
    [IR_RULE_TOPK] = 3,        [IR_RULE_HISTOGRAM] = 3,   [IR_RULE_RANDOM] = 3,
    [IR_RULE_PTR_ADD] = 3,     [IR_RULE_LOAD] = 3,        [IR_RULE_STORE] = 3,
    [IR_RULE_ATOMIC] = 3,      [IR_RULE_ATOMIC_CAS] = 3,  [IR_RULE_VIEW_LOAD] = 8,
    [IR_RULE_VIEW_STORE] = 6,  [IR_RULE_VIEW_ATOMIC] = 3, [IR_RULE_VIEW_CAS] = 3,
    [IR_RULE_VIEW_INSIDE] = 3, [IR_RULE_ASSERT] = 3,      [IR_RULE_PRINT] = 3,
    [IR_RULE_NOALIAS] = 0,     [IR_RULE_UNITS] = 0,       [IR_RULE_FOR] = 6,
    [IR_RULE_WHILE] = 6,       [IR_RULE_IF] = 6,          [IR_RULE_YIELD] = 0,
    [IR_RULE_RETURN] = 0,      [IR_RULE_CALL] = 3,        [IR_RULE_SCRATCH] = 0,
    [IR_RULE_NOTHING] = 0,
};

static bool is_memory(IrRule rule) {
    return rule >= IR_RULE_PTR_ADD && rule <= IR_RULE_VIEW_INSIDE;
}

static bool is_control(IrRule rule) { return rule >= IR_RULE_FOR && rule <= IR_RULE_IF; }

// 0 where it cannot stand.
static unsigned weight(const Gen *g, IrOpcode code) {
    const IrOpInfo *info = ir_op_info(code);
    if (info->level != IR_LEVEL_TILE && info->level != IR_LEVEL_ANY) return 0;
    if (!g->f->is_kernel && (is_memory(info->rule) || info->rule == IR_RULE_CALL)) return 0;
    if (is_control(info->rule) && g->depth >= g->depth_max) return 0;
    if (info->rule == IR_RULE_CALL && !g->callees.count) return 0;
    return weights[info->rule];
}

void gen_statements(Gen *g, uint32_t count) {
    unsigned total = 0;
    for (int code = 0; code < IR_OPCODES; code++) total += weight(g, (IrOpcode)code);
    for (uint32_t i = 0; i < count; i++) {
        unsigned at = (unsigned)dice_below(&g->dice, total);
        int code = 0;
        while (at >= weight(g, (IrOpcode)code)) at -= weight(g, (IrOpcode)code++);
        gen_op(g, (IrOpcode)code);
    }
}
