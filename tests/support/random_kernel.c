#include "tests/support/random_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/build.h"

enum { OPS = 14, LANES = 8, DEPTH_MAX = 3 };

uint64_t random_below(uint64_t *state, uint64_t below) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % below;
}

typedef struct Maker {
    bool prints;
    PassWorld *w;
    IrModule *m;
    IrFunc *f;
    IrBuilder b;
    uint64_t state;
    VEC(IrValue *) ints;   // in scope
    VEC(IrValue *) bools;  // scalars in scope
} Maker;

static uint64_t roll(Maker *k, uint64_t below) { return random_below(&k->state, below); }

static int64_t small_number(Maker *k) {
    static const int64_t numbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 64, -1, -2, -8, 100};
    return numbers[roll(k, sizeof numbers / sizeof numbers[0])];
}

static int64_t number(Maker *k, Dtype t) {
    uint64_t kind = roll(k, 12);
    if (kind == 0) return dtype_int_min(t);
    if (kind == 1) return (int64_t)dtype_int_max(t);
    return small_number(k);
}

static IrValue *keep(Maker *k, IrValue *value) {
    vec_push(k->w->arena, &k->ints, value);
    return value;
}

static IrValue *constant(Maker *k, const IrType *type) {
    return ir_const_bits(&k->b, type, dtype_wrap(type->elem, (uint64_t)number(k, type->elem)));
}

static IrValue *any_int(Maker *k) { return k->ints.data[roll(k, k->ints.count)]; }

// One of this type: the nearest of some tries, or a constant.
static IrValue *one_of(Maker *k, const IrType *type) {
    for (int i = 0; i < 6; i++) {
        IrValue *value = any_int(k);
        if (value->type == type) return value;
    }
    return constant(k, type);
}

static IrValue *scalar_i64(Maker *k) { return one_of(k, ir_scalar(k->m, DTYPE_I64)); }

static IrValue *compare(Maker *k, IrValue *a, IrValue *b) {
    static const IrOpcode codes[] = {IR_EQ, IR_NE, IR_LT, IR_LE, IR_GT, IR_GE};
    return ir_binary(&k->b, codes[roll(k, 6)], a, b);
}

static IrValue *condition(Maker *k) {
    if (k->bools.count && roll(k, 4) == 0) return k->bools.data[roll(k, k->bools.count)];
    IrValue *a = any_int(k);
    for (int i = 0; i < 8 && a->type->rank; i++) a = any_int(k);
    if (a->type->rank) a = constant(k, ir_scalar(k->m, DTYPE_I64));
    IrValue *made = compare(k, a, one_of(k, a->type));
    if (roll(k, 3) == 0 && k->bools.count) {
        IrValue *other = k->bools.data[roll(k, k->bools.count)];
        made = ir_binary(&k->b, roll(k, 2) ? IR_AND : IR_OR, made, other);
    }
    if (roll(k, 6) == 0) made = ir_unary(&k->b, IR_NOT, made);
    vec_push(k->w->arena, &k->bools, made);
    return made;
}

static void make_binary(Maker *k) {
    static const IrOpcode codes[] = {IR_ADD, IR_ADD, IR_ADD, IR_SUB, IR_MUL, IR_MUL, IR_DIV, IR_REM,
                                     IR_MIN, IR_MAX, IR_AND, IR_OR,  IR_XOR, IR_SHL, IR_SHR};
    IrValue *a = any_int(k);
    IrValue *b = roll(k, 2) ? constant(k, a->type) : one_of(k, a->type);
    keep(k, ir_binary(&k->b, codes[roll(k, 15)], a, b));
}

static void make_cast(Maker *k) {
    static const Dtype to[] = {DTYPE_I8, DTYPE_I16, DTYPE_I32, DTYPE_I64, DTYPE_I64,
                               DTYPE_U8, DTYPE_U16, DTYPE_U32, DTYPE_U64};
    keep(k, ir_cast(&k->b, any_int(k), to[roll(k, 9)], true));
}

static void make_shape(Maker *k) {
    static const uint32_t lanes[] = {LANES}, square[] = {2, 4};
    IrValue *a = any_int(k);
    if (a->type->rank == 0) {
        keep(k, ir_broadcast(&k->b, a, 1, lanes));
    } else if (a->type->rank == 1) {
        keep(k, ir_reshape(&k->b, a, 2, square));
    } else if (roll(k, 2) || a->type->shape[0] != 2) {
        keep(k, ir_permute(&k->b, a, (int64_t[]){1, 0}));
    } else {
        keep(k, ir_reshape(&k->b, a, 1, lanes));
    }
}

static void make_reduction(Maker *k) {
    static const IrReduce kinds[] = {IR_REDUCE_SUM, IR_REDUCE_MIN, IR_REDUCE_MAX, IR_REDUCE_ARGMAX};
    IrValue *a = any_int(k);
    if (a->type->rank != 1) return;
    IrReduce kind = kinds[roll(k, 4)];
    const IrType *type = ir_scalar(k->m, kind == IR_REDUCE_ARGMAX ? DTYPE_I32 : a->type->elem);
    IrOp *op = ir_op(&k->b, IR_REDUCE, 2, (IrValue *[]){NULL, a}, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    keep(k, ir_result(op, 0));
}

static void make_select(Maker *k) {
    IrValue *a = any_int(k), *b = one_of(k, a->type);
    if (a->type->rank && roll(k, 2)) {  // lanes choose between two runs
        b = ir_binary(&k->b, IR_ADD, a, constant(k, a->type));
        IrValue *way = compare(k, one_of(k, a->type), constant(k, a->type));
        keep(k, ir_ternary(&k->b, IR_SELECT, way, a, b));
        return;
    }
    IrValue *c = roll(k, 2) ? condition(k) : compare(k, a, b);
    if (c->type->rank != 0 && !ir_same_shape(c->type, a->type)) return;
    keep(k, ir_ternary(&k->b, IR_SELECT, c, a, b));
}

static void make_access(Maker *k) {
    IrValue *index = roll(k, 4) ? scalar_i64(k) : any_int(k);
    int64_t select = index->type->rank == 0 && roll(k, 2) ? 1 << roll(k, 6) : 0;
    uint32_t width = (uint32_t)select;
    const IrType *type = select ? ir_tile(k->m, DTYPE_F32, 1, &width)
                                : ir_tile(k->m, DTYPE_F32, index->type->rank, index->type->shape);
    IrValue *view = k->f->params.data[0].value;
    IrOp *op = ir_op(&k->b, IR_VIEW_LOAD, 3, (IrValue *[]){view, NULL, index}, 1, &type, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_SELECT, 1, &select);
    ir_attr_set_ints(op, IR_ATTR_INSIDE, 1, (int64_t[]){0});
}

static void make_block(Maker *k, int depth);

typedef struct Scope {
    IrBuilder b;
    size_t ints, bools;
} Scope;

static Scope enter(Maker *k, IrBlock *block) {
    Scope s = {k->b, k->ints.count, k->bools.count};
    k->b = ir_builder_at_end(block);
    return s;
}

static void leave(Maker *k, Scope s) {
    k->b = s.b;
    k->ints.count = s.ints;
    k->bools.count = s.bools;
}

static void make_if(Maker *k, int depth) {
    IrValue *c = condition(k);
    const IrType *type = any_int(k)->type;
    IrBlock *regions[2];
    for (int i = 0; i < 2; i++) {
        regions[i] = ir_block_create(k->f);
        Scope s = enter(k, regions[i]);
        make_block(k, depth + 1);
        IrValue *value = one_of(k, type);
        ir_yield(&k->b, 1, &value);
        leave(k, s);
    }
    keep(k, ir_result(ir_op(&k->b, IR_IF, 1, &c, 1, &type, 2, regions), 0));
}

static void make_for(Maker *k, int depth) {
    IrValue *init = any_int(k);
    const IrType *i64 = ir_scalar(k->m, DTYPE_I64), *type = init->type;
    bool down = roll(k, 4) == 0;
    int64_t stride = (int64_t[]){1, 2, 8, 32}[roll(k, 4)];
    IrValue *lo = roll(k, 2) ? ir_const_int(&k->b, DTYPE_I64, 0) : scalar_i64(k);
    IrValue *hi = scalar_i64(k), *step = ir_const_int(&k->b, DTYPE_I64, down ? -stride : stride);
    IrBlock *body = ir_block_create(k->f);
    IrValue *i = ir_block_add_arg(body, i64), *x = ir_block_add_arg(body, type);
    Scope s = enter(k, body);
    keep(k, i);
    keep(k, x);
    make_block(k, depth + 1);
    IrValue *next = roll(k, 3) ? ir_binary(&k->b, IR_ADD, x, constant(k, type)) : one_of(k, type);
    ir_yield(&k->b, 1, &next);
    leave(k, s);
    IrOp *op = ir_op(&k->b, IR_FOR, 4, (IrValue *[]){lo, hi, step, init}, 1, &type, 1, &body);
    ir_attr_set_int(op, IR_ATTR_DOWN, down);
    keep(k, ir_result(op, 0));
}

static void make_while(Maker *k, int depth) {
    IrValue *init = scalar_i64(k);
    const IrType *type = init->type;
    IrBlock *test = ir_block_create(k->f), *body = ir_block_create(k->f);
    IrValue *x = ir_block_add_arg(test, type), *y = ir_block_add_arg(body, type);
    Scope s = enter(k, test);
    keep(k, x);
    IrValue *c = compare(k, x, scalar_i64(k));
    ir_yield(&k->b, 1, &c);
    leave(k, s);
    s = enter(k, body);
    keep(k, y);
    make_block(k, depth + 1);
    IrValue *next = ir_binary(&k->b, IR_ADD, y, ir_const_int(&k->b, DTYPE_I64, small_number(k)));
    ir_yield(&k->b, 1, &next);
    leave(k, s);
    keep(k, ir_result(ir_op(&k->b, IR_WHILE, 1, &init, 1, &type, 2, (IrBlock *[]){test, body}), 0));
}

static void make_op(Maker *k, int depth) {
    switch (roll(k, 20)) {
    case 0: keep(k, constant(k, ir_scalar(k->m, DTYPE_I64))); break;
    case 1: keep(k, ir_extent(&k->b, k->f->extents.data[0].name)); break;
    case 2: keep(k, roll(k, 2) ? ir_program(&k->b, 0) : ir_programs(&k->b, 0)); break;
    case 3: keep(k, ir_iota(&k->b, LANES)); break;
    case 4:
    case 5: make_cast(k); break;
    case 6: make_shape(k); break;
    case 7: make_reduction(k); break;
    case 8: make_select(k); break;
    case 9: {
        IrOpcode code = (IrOpcode[]){IR_NEG, IR_ABS, IR_NOT}[roll(k, 3)];
        keep(k, ir_unary(&k->b, code, any_int(k)));
        break;
    }
    case 10:
    case 11:
    case 12: make_access(k); break;
    case 13:
        if (depth < DEPTH_MAX) make_while(k, depth);
        break;
    case 14:
        if (depth < DEPTH_MAX) make_for(k, depth);
        break;
    case 15:
        if (depth < DEPTH_MAX) make_if(k, depth);
        break;
    default: make_binary(k); break;
    }
}

// Prints results of a block, so that runs can be compared.
static void print_some(Maker *k, size_t from) {
    for (size_t i = from; i < k->ints.count; i++) {
        IrValue *value = k->ints.data[i];
        if (roll(k, 2)) continue;
        IrOp *op = ir_op(&k->b, IR_PRINT, 1, &value, 0, NULL, 0, NULL);
        ir_attr_set_texts(op, IR_ATTR_TEXTS, 2, (Str[]){STR(""), STR("")});
    }
}

static void make_block(Maker *k, int depth) {
    size_t known = k->ints.count;
    for (uint64_t i = roll(k, OPS) + 3; i-- > 0;) make_op(k, depth);
    if (k->prints) print_some(k, known);
}

static void make_requires(Maker *k) {
    IrBlock *block = ir_func_add_section(k->f, IR_REQUIRES, STR("it"), (Span){0});
    k->b = ir_builder_at_end(block);
    IrValue *x =
        roll(k, 2) ? ir_extent(&k->b, k->f->extents.data[0].name) : k->f->params.data[1].value;
    IrValue *c = ir_const_int(&k->b, DTYPE_I64, 1 << roll(k, 6)), *made;
    if (roll(k, 2)) {
        IrValue *rest = ir_binary(&k->b, IR_REM, x, c);
        made = ir_binary(&k->b, IR_EQ, rest, ir_const_int(&k->b, DTYPE_I64, 0));
    } else {
        made = ir_binary(&k->b, roll(k, 2) ? IR_LE : IR_GE, x,
                         roll(k, 2) ? c : k->f->params.data[1].value);
    }
    ir_yield(&k->b, 1, &made);
}

IrFunc *random_kernel(PassWorld *w, uint64_t seed, bool prints) {
    Maker k = {.w = w, .state = seed, .prints = prints};
    k.m = ir_module_create(w->arena, w->sources, w->names);
    Symbol name = intern(w->names, STR("k")), m = intern(w->names, STR("M"));
    k.f = ir_func_create(k.m, name, true);
    IrParam *view = ir_func_add_param(k.f, intern(w->names, STR("x")), ir_view(k.m, DTYPE_F32, 1));
    view->dims[0].extent = m;
    ir_func_add_extent(k.f, m);
    ir_func_add_param(k.f, intern(w->names, STR("n")), ir_scalar(k.m, DTYPE_I64));
    ir_func_add_param(k.f, intern(w->names, STR("c")), ir_scalar(k.m, DTYPE_I32));
    for (uint64_t i = roll(&k, 3); i-- > 0;) make_requires(&k);
    k.b = ir_builder_at_end(ir_func_add_section(k.f, IR_BODY, (Str){0}, (Span){0}));
    keep(&k, k.f->params.data[1].value);
    keep(&k, k.f->params.data[2].value);
    keep(&k, ir_extent(&k.b, m));
    keep(&k, ir_iota(&k.b, LANES));
    make_block(&k, 0);
    make_block(&k, 0);
    ir_return(&k.b, 0, NULL);
    return k.f;
}

// ---- launches -----------------------------------------------------------------------------------

static const int64_t extents[] = {0, 1, 7, 8, 16, 31, 32, 64, 96, 100};
static const int64_t scalars[] = {0,  1,  2,   8,  16,  31,        32,
                                  33, 64, 100, -1, -32, INT64_MAX, INT64_MIN};

void random_arguments(uint64_t *state, float *data, IrArg *args) {
    for (int i = 0; i < RANDOM_ARGS; i++) args[i] = (IrArg){.data = NULL};
    args[0].data = data;
    args[0].stride[0] = 1;
    args[0].extent[0] = extents[random_below(state, sizeof extents / sizeof extents[0])];
    args[1].bits = (uint64_t)scalars[random_below(state, sizeof scalars / sizeof scalars[0])];
    uint64_t any = random_below(state, UINT64_MAX);
    args[2].bits = dtype_wrap(DTYPE_I32, random_below(state, 3) ? any % 40 : any);
}

bool random_satisfied(IrInterp *interp, const IrFunc *f, const IrLaunch *launch) {
    for (size_t i = 0; i < f->sections.count; i++) {
        uint64_t holds = 0;
        if (f->sections.data[i].kind != IR_REQUIRES) continue;
        assert_true(ir_interp_section(interp, &f->sections.data[i], launch, 1, &holds));
        if (!holds) return false;
    }
    return true;
}
