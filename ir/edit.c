#include "ir/edit.h"

#include "base/os/os.h"
#include "ir/option.h"

// ---- uses

static void use_drop(IrUse *use) {
    if (!use->value) return;
    *use->link = use->next;
    if (use->next) use->next->link = use->link;
    use->value = NULL;
    use->next = NULL;
    use->link = NULL;
}

static void use_set(IrUse *use, IrValue *value) {
    use_drop(use);
    if (!value) return;
    use->value = value;
    use->next = value->uses;
    use->link = &value->uses;
    if (use->next) use->next->link = &use->next;
    value->uses = use;
}

// Moves a use to another address and keeps its position in the list.
static void use_move(IrUse *to, IrUse *from) {
    *to = *from;
    if (to->value) {
        *to->link = to;
        if (to->next) to->next->link = &to->next;
    }
    *from = (IrUse){.user = from->user};
}

void ir_set_operand(IrOp *op, uint32_t i, IrValue *value) {
    CHECK(i < op->operand_count, "operand %u of %u", i, op->operand_count);
    use_set(&op->operands[i], value);
}

void ir_add_operand(IrOp *op, IrValue *value) {
    CHECK(op->block, "an erased op gains an operand");
    IrUse *operands = arena_new(op->block->func->module->arena, IrUse, op->operand_count + 1u);
    for (uint32_t i = 0; i < op->operand_count; i++) use_move(&operands[i], &op->operands[i]);
    op->operands = operands;
    operands[op->operand_count].user = op;
    use_set(&operands[op->operand_count++], value);
}

void ir_remove_operand(IrOp *op, uint32_t i) {
    CHECK(i < op->operand_count, "operand %u of %u", i, op->operand_count);
    use_drop(&op->operands[i]);
    for (op->operand_count--; i < op->operand_count; i++) {
        use_move(&op->operands[i], &op->operands[i + 1]);
    }
}

void ir_replace_all(IrValue *from, IrValue *to) {
    CHECK(to, "a value is replaced by NULL");
    if (from == to) return;
    while (from->uses) use_set(from->uses, to);
}

bool ir_unused(const IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (op->results[i].uses) return false;
    }
    return true;
}

// ---- erasing and moving

static void op_unlink(IrOp *op) {
    *(op->prev ? &op->prev->next : &op->block->first) = op->next;
    *(op->next ? &op->next->prev : &op->block->last) = op->prev;
    op->prev = op->next = NULL;
}

static void drop_operands(IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) use_drop(&op->operands[i]);
    for (uint32_t i = 0; i < op->region_count; i++) {
        IR_EACH_OP(inner, op->regions[i]) {
            drop_operands(inner);
            inner->block = NULL;
        }
    }
}

void ir_erase(IrOp *op) {
    CHECK(op->block, "op '%s' is erased twice", ir_op_info(op->code)->text);
    CHECK(ir_unused(op), "op '%s' is erased, but its results have uses",
          ir_op_info(op->code)->text);
    op_unlink(op);
    drop_operands(op);
    op->block = NULL;
}

static void op_link(IrOp *op, IrBlock *block, IrOp *next) {
    IrOp *prev = next ? next->prev : block->last;
    op->block = block;
    op->prev = prev;
    op->next = next;
    *(prev ? &prev->next : &block->first) = op;
    *(next ? &next->prev : &block->last) = op;
}

void ir_move_before(IrOp *op, IrOp *place) {
    if (op == place) return;
    op_unlink(op);
    op_link(op, place->block, place);
}

void ir_move_to_end(IrOp *op, IrBlock *block) {
    op_unlink(op);
    op_link(op, block, NULL);
}

void ir_remove_block_arg(IrBlock *block, uint32_t i) {
    CHECK(i < block->arg_count, "argument %u of %u", i, block->arg_count);
    CHECK(!block->args[i]->uses, "block argument %u is removed, but it has uses", i);
    // The capacity stays a power of two at least as large as before, as ir_block_add_arg expects.
    for (block->arg_count--; i < block->arg_count; i++) {
        block->args[i] = block->args[i + 1];
        block->args[i]->index = i;
    }
}

IrOp *ir_remake(IrOp *op, uint32_t operand_count, IrValue *const *operands, uint32_t result_count,
                const IrType *const *results) {
    IrBuilder b = ir_builder_before(op);
    IrOp *made = ir_op(&b, op->code, operand_count, operands, result_count, results,
                       op->region_count, op->regions);
    int attrs = ir_op_info(op->code)->attr_count;
    for (int i = 0; i < attrs; i++) made->attrs[i] = op->attrs[i];
    for (uint32_t i = 0; i < op->operand_count; i++) use_drop(&op->operands[i]);
    op_unlink(op);
    op->region_count = 0;
    op->block = NULL;
    return made;
}

// ---- cloning

static IrValue *mapped(const Map *map, IrValue *value) {
    if (!value) return NULL;
    const uint64_t *found = map_find(map, map_key(value));
    return found ? (IrValue *)(uintptr_t)*found : value;
}

static void learn(Arena *scratch, Map *map, const IrValue *from, IrValue *to) {
    to->name = from->name;
    map_put(scratch, map, map_key(from), map_key(to));
}

static void clone_ops(IrBuilder *b, const IrBlock *block, Map *map, Arena *scratch,
                      const IrOp *stop) {
    for (const IrOp *op = block->first; op != stop; op = op->next) ir_clone(b, op, map, scratch);
}

static IrBlock *clone_region(IrBuilder *b, const IrBlock *block, Map *map, Arena *scratch) {
    IrBlock *made = ir_block_create(b->func);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        learn(scratch, map, block->args[i], ir_block_add_arg(made, block->args[i]->type));
    }
    IrBuilder inner = ir_builder_at_end(made);
    clone_ops(&inner, block, map, scratch, NULL);
    return made;
}

IrOp *ir_clone(IrBuilder *b, const IrOp *op, Map *map, Arena *scratch) {
    IrValue **operands = arena_new(scratch, IrValue *, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = mapped(map, ir_operand(op, i));
    }
    const IrType **results = arena_new(scratch, const IrType *, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) results[i] = op->results[i].type;
    IrBlock **regions = arena_new(scratch, IrBlock *, op->region_count);
    for (uint32_t i = 0; i < op->region_count; i++) {
        regions[i] = clone_region(b, op->regions[i], map, scratch);
    }
    Span span = b->span;
    b->span = op->span;
    IrOp *made = ir_op(b, op->code, op->operand_count, operands, op->result_count, results,
                       op->region_count, regions);
    b->span = span;
    int attrs = ir_op_info(op->code)->attr_count;
    for (int i = 0; i < attrs; i++)
        made->attrs[i] = op->attrs[i];  // shared: attributes are never
                                        // written in place
    for (uint32_t i = 0; i < op->result_count; i++) {
        learn(scratch, map, &op->results[i], &made->results[i]);
    }
    return made;
}

void ir_clone_block(IrBuilder *b, const IrBlock *block, Map *map, Arena *scratch) {
    clone_ops(b, block, map, scratch, block->last);
}

static void clone_facts(IrFunc *made, const IrFunc *f) {
    Arena *arena = f->module->arena;
    made->level = f->level;
    made->span = f->span;
    made->math = f->math;
    for (size_t i = 0; i < IR_OPTIONS; i++)
        *ir_option_of(made, &ir_options[i]) = ir_option_value(f, &ir_options[i]);
    made->lanes = f->lanes;
    made->group = f->group;
    for (size_t i = 0; i < f->extents.count; i++) {
        vec_push(arena, &made->extents, f->extents.data[i]);
    }
    for (size_t i = 0; i < f->bindings.count; i++) {
        vec_push(arena, &made->bindings, f->bindings.data[i]);
    }
    for (size_t i = 0; i < f->results.count; i++) {
        vec_push(arena, &made->results, f->results.data[i]);
    }
    for (size_t i = 0; i < f->maps.count; i++) vec_push(arena, &made->maps, f->maps.data[i]);
}

IrFunc *ir_func_clone(const IrFunc *f, Symbol name) {
    IrFunc *made = ir_func_create(f->module, name, f->is_kernel);
    clone_facts(made, f);
    Arena *scratch = arena_create();
    Map map = {0};
    for (size_t i = 0; i < f->params.count; i++) {
        const IrParam *from = &f->params.data[i];
        IrParam *to = ir_func_add_param(made, from->name, from->value->type);
        IrValue *value = to->value;
        *to = *from;
        to->value = value;
        learn(scratch, &map, from->value, value);
    }
    for (size_t i = 0; i < f->sections.count; i++) {
        const IrSection *from = &f->sections.data[i];
        IrBuilder b =
            ir_builder_at_end(ir_func_add_section(made, from->kind, from->text, from->span));
        clone_ops(&b, from->block, &map, scratch, NULL);
    }
    arena_destroy(scratch);
    return made;
}

// ---- order

// Does a come before b in their block? Walks in both directions from both ops in step, so it costs
// the shortest distance to the other op or to an end of the block.
static bool stands_before(const IrOp *a, const IrOp *b) {
    const IrOp *before_a = a->prev, *after_a = a->next, *before_b = b->prev, *after_b = b->next;
    for (;;) {
        if (after_a == b || before_b == a || !before_a || !after_b) return true;
        if (before_a == b || after_b == a || !after_a || !before_b) return false;
        before_a = before_a->prev, after_a = after_a->next;
        before_b = before_b->prev, after_b = after_b->next;
    }
}

bool ir_dominates(const IrOp *a, const IrOp *b) {
    while (b && b->block != a->block) b = b->block ? b->block->parent : NULL;
    return b && a != b && stands_before(a, b);
}
