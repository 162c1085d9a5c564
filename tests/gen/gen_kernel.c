// Whole kernels: functions to call, parameters with facts, requires, grid, body.
#include <stdio.h>

#include "tests/gen/gen_internal.h"
#include "tests/support/any_launch.h"

enum { EXTENTS = 3, OUTPUTS_MAX = 24 };

static Symbol name_of(Gen *g, const char *prefix) {
    char text[32];
    snprintf(text, sizeof text, "%s%u", prefix, g->names++);
    return intern(g->m->names, str(text));
}

// ---- buffers by use: the first letter of the name says it ---------------------------------------

static uint32_t add_buffer(Gen *g, const char *prefix, Dtype elem) {
    ir_func_add_param(g->f, name_of(g, prefix), ir_ptr(g->m, elem, 0, NULL));
    return (uint32_t)g->f->params.count - 1;
}

static uint32_t buffer(Gen *g, const char *prefix, Dtype elem) {
    for (uint32_t i = 0; i < g->f->params.count; i++) {
        const IrParam *p = &g->f->params.data[i];
        bool right = p->value->type->kind == IR_PTR && p->name[0] == prefix[0];
        if (right && p->value->type->elem == elem) return i;
    }
    return add_buffer(g, prefix, elem);
}

uint32_t gen_read_buffer(Gen *g, Dtype elem) { return buffer(g, "r", elem); }
uint32_t gen_write_buffer(Gen *g, Dtype elem) { return buffer(g, "w", elem); }
uint32_t gen_atomic_buffer(Gen *g, Dtype elem) { return buffer(g, "a", elem); }

void gen_store_result(Gen *g, IrValue *value) {
    const IrType *t = value->type;
    if (t->kind == IR_PTR) {
        IrValue *load[] = {value, NULL, NULL};
        const IrType *to = ir_tile(g->m, t->elem, t->rank, t->shape);
        value = ir_result(ir_op(&g->b, IR_LOAD, 3, load, 1, &to, 0, NULL), 0);
        t = to;
    }
    uint32_t output = add_buffer(g, "o", t->elem);
    IrValue *p = g->f->params.data[output].value;
    IrValue *start =
        ir_binary(&g->b, IR_MUL, ir_program(&g->b, 0), gen_int(g, DTYPE_I64, GEN_HALF));
    p = ir_ptr_add(&g->b, p, start);
    if (t->rank > 0) {
        p = ir_broadcast(&g->b, p, t->rank, t->shape);
        p = ir_ptr_add(&g->b, p, gen_iota(g, t, DTYPE_I64));
    }
    IrValue *operands[] = {p, value, NULL};
    ir_op(&g->b, IR_STORE, 3, operands, 0, NULL, 0, NULL);
}

// ---- parameters ---------------------------------------------------------------------------------

static IrDim some_dim(Gen *g, bool last) {
    static const char *const names[EXTENTS] = {"L", "M", "N"};
    uint64_t most = last && dice_chance(&g->dice, 50) ? 24 : 9;
    if (dice_chance(&g->dice, 30)) return (IrDim){.value = (int64_t)dice_below(&g->dice, most) + 1};
    return (IrDim){.extent = intern(g->m->names, str(names[dice_below(&g->dice, EXTENTS)]))};
}

static Dtype view_elem(Gen *g) {
    if (dice_chance(&g->dice, 12)) return dice_chance(&g->dice, 50) ? DTYPE_I4 : DTYPE_U4;
    return gen_elem(g, DTYPE_CLASS_ANY);
}

static void add_view(Gen *g, const char *prefix, bool write) {
    uint32_t rank = (uint32_t)dice_below(&g->dice, 3) + 1;
    Dtype elem = view_elem(g);
    bool packed = dtype_is(elem, DTYPE_CLASS_PACKED);
    if (packed && rank == 1) rank = 2;
    IrParam *p = ir_func_add_param(g->f, name_of(g, prefix), ir_view(g->m, elem, rank));
    p->strided = !packed && dice_chance(&g->dice, 20);
    for (uint32_t d = 0; d < rank; d++) {
        p->dims[d] = some_dim(g, d + 1 == rank);
        if (packed && d + 1 == rank)
            p->dims[d] = (IrDim){.value = (int64_t)dice_below(&g->dice, 4) * 2 + 2};
        if (p->dims[d].extent) ir_func_add_extent(g->f, p->dims[d].extent);
    }
    uint32_t place = (uint32_t)g->f->params.count - 1;
    if (write)
        vec_push(g->m->arena, &g->write_views, place);
    else
        vec_push(g->m->arena, &g->read_views, place);
}

static void add_scalar(Gen *g, Dtype elem) {
    IrParam *p = ir_func_add_param(g->f, name_of(g, "s"), ir_scalar(g->m, elem));
    if (dtype_is(elem, DTYPE_CLASS_SINT) && dice_chance(&g->dice, 50))
        p->facts = (IrFacts){.has_range = true, .min = -4, .max = 4};
    gen_push(g, p->value);
}

static void add_params(Gen *g) {
    for (uint64_t n = dice_below(&g->dice, 3) + 2; n > 0; n--) add_view(g, "x", false);
    for (uint64_t n = dice_below(&g->dice, 3) + 1; n > 0; n--) add_view(g, "y", true);
    for (uint64_t n = dice_below(&g->dice, 4); n > 0; n--)
        add_scalar(g, gen_elem(g, DTYPE_CLASS_ANY));
    add_scalar(g, DTYPE_I64);
    for (size_t i = 0; i < g->f->extents.count; i++) {
        IrExtent *e = &g->f->extents.data[i];
        int64_t value = any_launch_extent(e->name, g->seed);
        if (dice_chance(&g->dice, 30)) e->facts = (IrFacts){0, true, 1, 9};
        if (dice_chance(&g->dice, 20)) e->facts = (IrFacts){(uint64_t)value, true, value, value};
        if (dice_chance(&g->dice, 20)) e->facts.divisor = (uint64_t)value;
    }
}

// ---- sections -----------------------------------------------------------------------------------

static void add_requires(Gen *g) {
    for (size_t i = 0; i < g->f->extents.count; i++) {
        if (dice_chance(&g->dice, 50)) continue;
        IrBlock *block = ir_func_add_section(g->f, IR_REQUIRES, STR("N >= 1"), (Span){0});
        g->b = ir_builder_at_end(block);
        IrValue *n = ir_extent(&g->b, g->f->extents.data[i].name);
        bool most = dice_chance(&g->dice, 50);
        IrValue *c = ir_binary(&g->b, most ? IR_LE : IR_GE, n, gen_int(g, DTYPE_I64, most ? 9 : 1));
        ir_yield(&g->b, 1, &c);
    }
    if (dice_chance(&g->dice, 70)) return;
    IrBlock *block = ir_func_add_section(g->f, IR_REQUIRES, STR("noalias"), (Span){0});
    g->b = ir_builder_at_end(block);
    IrValue *two[] = {g->f->params.data[g->read_views.data[0]].value,
                      g->f->params.data[g->write_views.data[0]].value};
    const IrType *truth = ir_scalar(g->m, DTYPE_BOOL);
    IrValue *apart = ir_result(ir_op(&g->b, IR_NOALIAS, 2, two, 1, &truth, 0, NULL), 0);
    ir_yield(&g->b, 1, &apart);
}

static void add_grid(Gen *g) {
    g->b = ir_builder_at_end(ir_func_add_section(g->f, IR_GRID, (Str){0}, (Span){0}));
    IrValue *two = gen_int(g, DTYPE_I64, 2);
    // Runs give their own grid, so this one only has to survive the passes.
    if (dice_chance(&g->dice, 30)) two = ir_binary(&g->b, IR_MIN, two, ir_units(&g->b));
    ir_yield(&g->b, 1, &two);
}

// The unused values are the results of chains of ops: they are stored.
static void store_results(Gen *g) {
    uint32_t stored = 0;
    size_t count = g->pool.count;
    for (size_t i = count; i-- > 0 && stored < OUTPUTS_MAX;) {
        IrValue *v = g->pool.data[i];
        if (v->uses && !dice_chance(&g->dice, 10)) continue;
        gen_store_result(g, v);
        stored++;
    }
}

static IrFunc *gen_function(Gen *g, GenSize size) {
    g->f = ir_func_create(g->m, name_of(g, "f"), false);
    g->pool.count = 0;
    for (uint64_t n = dice_below(&g->dice, 3) + 1; n > 0; n--)
        gen_push(g, ir_func_add_param(g->f, name_of(g, "p"), gen_type(g, DTYPE_CLASS_ANY))->value);
    g->b = ir_builder_at_end(ir_func_add_section(g->f, IR_BODY, (Str){0}, (Span){0}));
    gen_statements(g, size.statements / 6 + 2);
    IrValue *results[3];
    uint32_t count = (uint32_t)dice_below(&g->dice, 3) + 1;
    for (uint32_t i = 0; i < count; i++) {
        results[i] = gen_pick(g, DTYPE_CLASS_ANY);
        vec_push(g->m->arena, &g->f->results, results[i]->type);
    }
    ir_return(&g->b, count, results);
    return g->f;
}

IrFunc *gen_kernel(IrModule *m, uint64_t seed, GenSize size) {
    Gen g = {.dice = dice_roll(seed),
             .seed = seed,
             .m = m,
             .depth_max = size.depth,
             .apart = size.apart};
    g.repeats = 1, g.repeats_max = GEN_CALLED_REPEATS;
    for (uint64_t n = dice_below(&g.dice, 3); n > 0; n--) {
        IrFunc *callee = gen_function(&g, size);
        vec_push(m->arena, &g.callees, callee);
    }
    g.repeats_max = GEN_REPEATS;
    g.f = ir_func_create(m, intern(m->names, STR("k")), true);
    g.pool.count = g.places.count = g.accesses.count = 0;
    add_params(&g);
    add_requires(&g);
    add_grid(&g);
    g.b = ir_builder_at_end(ir_func_add_section(g.f, IR_BODY, (Str){0}, (Span){0}));
    gen_statements(&g, size.statements);
    store_results(&g);
    ir_return(&g.b, 0, NULL);
    return g.f;
}

static void count_block(const IrBlock *block, uint64_t *counts) {
    IR_EACH_OP(op, block) {
        counts[op->code]++;
        for (uint32_t i = 0; i < op->region_count; i++) count_block(op->regions[i], counts);
    }
}

void gen_count(const IrModule *m, uint64_t counts[IR_OPCODES]) {
    for (size_t i = 0; i < m->funcs.count; i++) {
        const IrFunc *f = m->funcs.data[i];
        for (size_t k = 0; k < f->sections.count; k++)
            count_block(f->sections.data[k].block, counts);
    }
}
