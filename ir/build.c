#include "ir/build.h"

#include "base/os/os.h"

// ---- functions and blocks

IrFunc *ir_func_create(IrModule *m, Symbol name, bool is_kernel) {
    IrFunc *f = arena_new(m->arena, IrFunc, 1);
    f->module = m;
    f->name = name;
    f->is_kernel = is_kernel;
    f->level = IR_LEVEL_TILE;
    vec_push(m->arena, &m->funcs, f);
    return f;
}

IrParam *ir_func_add_param(IrFunc *f, Symbol name, const IrType *type) {
    Arena *arena = f->module->arena;
    IrValue *value = arena_new(arena, IrValue, 1);
    value->type = type;
    value->index = (uint32_t)f->params.count;
    value->id = f->value_count++;
    value->name = name;
    IrParam param = {.name = name, .value = value};
    vec_push(arena, &f->params, param);
    return &vec_last(&f->params);
}

void ir_func_add_extent(IrFunc *f, Symbol name) {
    if (ir_extent_find(f, name)) return;
    IrExtent extent = {.name = name};
    vec_push(f->module->arena, &f->extents, extent);
}

IrBlock *ir_block_create(IrFunc *f) {
    IrBlock *block = arena_new(f->module->arena, IrBlock, 1);
    block->func = f;
    return block;
}

IrBlock *ir_func_add_section(IrFunc *f, IrSectionKind kind, Str text, Span span) {
    IrSection section = {.kind = kind, .text = text, .span = span, .block = ir_block_create(f)};
    vec_push(f->module->arena, &f->sections, section);
    return section.block;
}

IrValue *ir_block_add_arg(IrBlock *block, const IrType *type) {
    Arena *arena = block->func->module->arena;
    uint32_t count = block->arg_count;
    if ((count & (count - 1)) == 0) {  // full: the capacity is the next power of two
        IrValue **args = arena_new(arena, IrValue *, count ? 2 * (size_t)count : 1);
        for (uint32_t i = 0; i < count; i++) args[i] = block->args[i];
        block->args = args;
    }
    IrValue *arg = arena_new(arena, IrValue, 1);
    arg->type = type;
    arg->block = block;
    arg->index = count;
    arg->id = block->func->value_count++;
    block->args[block->arg_count++] = arg;
    return arg;
}

IrBuilder ir_builder_at_end(IrBlock *block) {
    return (IrBuilder){.module = block->func->module, .func = block->func, .block = block};
}

IrBuilder ir_builder_before(IrOp *op) {
    IrBuilder b = ir_builder_at_end(op->block);
    b.before = op;
    b.span = op->span;
    return b;
}

// ---- the general form

// One piece of memory: the op, its operands, results, attributes and regions, in this order.
static IrOp *op_allocate(Arena *arena, IrOpcode code, uint32_t operands, uint32_t results,
                         uint32_t regions) {
    int attrs = ir_op_info(code)->attr_count;
    size_t size = sizeof(IrOp) + operands * sizeof(IrUse) + results * sizeof(IrValue) +
                  (size_t)attrs * sizeof(IrAttr) + regions * sizeof(IrBlock *);
    char *place = arena_alloc(arena, size);
    IrOp *op = (IrOp *)(void *)place;
    place += sizeof(IrOp);
    op->operands = (IrUse *)(void *)place;
    place += operands * sizeof(IrUse);
    op->results = (IrValue *)(void *)place;
    place += results * sizeof(IrValue);
    op->attrs = (IrAttr *)(void *)place;
    place += (size_t)attrs * sizeof(IrAttr);
    op->regions = (IrBlock **)(void *)place;
    op->code = code;
    op->operand_count = operands;
    op->result_count = results;
    op->region_count = regions;
    return op;
}
_Static_assert(sizeof(IrOp) % 8 == 0 && sizeof(IrUse) % 8 == 0 && sizeof(IrValue) % 8 == 0 &&
                   sizeof(IrAttr) % 8 == 0,
               "the parts of an op stand one after the other, all aligned to 8");

static void op_link(IrBuilder *b, IrOp *op) {
    IrOp *next = b->before;
    IrOp *prev = next ? next->prev : b->block->last;
    op->block = b->block;
    op->prev = prev;
    op->next = next;
    *(prev ? &prev->next : &b->block->first) = op;
    *(next ? &next->prev : &b->block->last) = op;
}

IrOp *ir_op(IrBuilder *b, IrOpcode code, uint32_t operand_count, IrValue *const *operands,
            uint32_t result_count, const IrType *const *results, uint32_t region_count,
            IrBlock *const *regions) {
    IrOp *op = op_allocate(b->module->arena, code, operand_count, result_count, region_count);
    op->id = b->func->op_count++;
    op->span = b->span;
    for (uint32_t i = 0; i < operand_count; i++) {
        IrUse *use = &op->operands[i];
        IrValue *value = operands[i];
        use->user = op;
        if (!value) continue;
        use->value = value;
        use->next = value->uses;
        use->link = &value->uses;
        if (use->next) use->next->link = &use->next;
        value->uses = use;
    }
    for (uint32_t i = 0; i < result_count; i++) {
        IrValue *value = &op->results[i];
        value->type = results[i];
        value->def = op;
        value->index = i;
        value->id = b->func->value_count++;
    }
    for (uint32_t i = 0; i < region_count; i++) {
        op->regions[i] = regions[i];
        regions[i]->parent = op;
    }
    op_link(b, op);
    return op;
}

static IrValue *one(IrBuilder *b, IrOpcode code, const IrType *type, uint32_t count,
                    IrValue *const *operands) {
    return ir_result(ir_op(b, code, count, operands, 1, &type, 0, NULL), 0);
}

// ---- common ops

IrValue *ir_const_bits(IrBuilder *b, const IrType *type, uint64_t bits) {
    IrValue *made = one(b, IR_CONST, type, 0, NULL);
    made->def->attrs[0].u.bits = bits;
    return made;
}

IrValue *ir_const_int(IrBuilder *b, Dtype elem, int64_t value) {
    uint64_t bits = dtype_is(elem, DTYPE_CLASS_INT)
                        ? dtype_wrap(elem, (uint64_t)value)
                        : dtype_cast(elem, DTYPE_I64, (uint64_t)value, true);
    return ir_const_bits(b, ir_scalar(b->module, elem), bits);
}

IrValue *ir_const_float(IrBuilder *b, Dtype elem, double value) {
    return ir_const_bits(b, ir_scalar(b->module, elem), dtype_from_double(elem, value, true));
}

IrValue *ir_const_bool(IrBuilder *b, bool value) {
    return ir_const_bits(b, ir_scalar(b->module, DTYPE_BOOL), value);
}

static IrValue *grid_value(IrBuilder *b, IrOpcode code, int dim) {
    IrValue *made = one(b, code, ir_scalar(b->module, DTYPE_I64), 0, NULL);
    made->def->attrs[0].u.i = dim;
    return made;
}

IrValue *ir_program(IrBuilder *b, int dim) { return grid_value(b, IR_PROGRAM, dim); }

IrValue *ir_programs(IrBuilder *b, int dim) { return grid_value(b, IR_PROGRAMS, dim); }

IrValue *ir_units(IrBuilder *b) {
    return one(b, IR_UNITS, ir_scalar(b->module, DTYPE_I64), 0, NULL);
}

IrValue *ir_extent(IrBuilder *b, Symbol name) {
    IrValue *made = one(b, IR_EXTENT, ir_scalar(b->module, DTYPE_I64), 0, NULL);
    made->def->attrs[0].u.name = name;
    return made;
}

IrValue *ir_iota(IrBuilder *b, uint32_t count) {
    return one(b, IR_IOTA, ir_tile(b->module, DTYPE_I32, 1, &count), 0, NULL);
}

IrValue *ir_unary(IrBuilder *b, IrOpcode code, IrValue *x) { return one(b, code, x->type, 1, &x); }

IrValue *ir_binary(IrBuilder *b, IrOpcode code, IrValue *x, IrValue *y) {
    IrValue *operands[] = {x, y};
    const IrType *type = x->type;
    if (ir_op_is(code, IR_FAMILY_COMPARE)) {
        type = ir_tile(b->module, DTYPE_BOOL, type->rank, type->shape);
    }
    return one(b, code, type, 2, operands);
}

IrValue *ir_ternary(IrBuilder *b, IrOpcode code, IrValue *x, IrValue *y, IrValue *z) {
    IrValue *operands[] = {x, y, z};
    return one(b, code, code == IR_SELECT ? y->type : x->type, 3, operands);
}

IrValue *ir_cast(IrBuilder *b, IrValue *x, Dtype to, bool saturate) {
    IrValue *made = one(b, IR_CAST, ir_with_elem(b->module, x->type, to), 1, &x);
    made->def->attrs[0].u.i = saturate;
    return made;
}

IrValue *ir_lookup(IrBuilder *b, IrValue *i, Dtype elem, uint32_t count, const uint64_t *values) {
    IrValue *made = one(b, IR_LOOKUP, ir_with_elem(b->module, i->type, elem), 1, &i);
    ir_attr_set_consts(made->def, IR_ATTR_VALUES, count, values);
    return made;
}

IrValue *ir_bitcast(IrBuilder *b, IrValue *x, const IrType *to) {
    return one(b, IR_BITCAST, to, 1, &x);
}

IrValue *ir_broadcast(IrBuilder *b, IrValue *x, uint32_t rank, const uint32_t *shape) {
    return one(b, IR_BROADCAST, ir_with_shape(b->module, x->type, rank, shape), 1, &x);
}

IrValue *ir_reshape(IrBuilder *b, IrValue *x, uint32_t rank, const uint32_t *shape) {
    return one(b, IR_RESHAPE, ir_with_shape(b->module, x->type, rank, shape), 1, &x);
}

IrValue *ir_permute(IrBuilder *b, IrValue *x, const int64_t *perm) {
    uint32_t rank = x->type->rank, shape[IR_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        CHECK(perm[i] >= 0 && perm[i] < rank, "a permutation names dimension %lld of %u",
              (long long)perm[i], rank);
        shape[i] = x->type->shape[perm[i]];
    }
    IrValue *made = one(b, IR_PERMUTE, ir_with_shape(b->module, x->type, rank, shape), 1, &x);
    ir_attr_set_ints(made->def, IR_ATTR_PERM, rank, perm);
    return made;
}

IrValue *ir_ptr_add(IrBuilder *b, IrValue *p, IrValue *n) {
    return one(b, IR_PTR_ADD, p->type, 2, (IrValue *[]){p, n});
}

IrOp *ir_yield(IrBuilder *b, uint32_t count, IrValue *const *values) {
    return ir_op(b, IR_YIELD, count, values, 0, NULL, 0, NULL);
}

IrOp *ir_return(IrBuilder *b, uint32_t count, IrValue *const *values) {
    return ir_op(b, IR_RETURN, count, values, 0, NULL, 0, NULL);
}
