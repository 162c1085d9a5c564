// Dead code: removes ops that no effect and no result needs.
//
// Needs: verified IR. Keeps: every effect in its order, every value that is used. Roots are ops
// that write or that the table says to keep, the ends of sections, and every `while`: it may not
// end, and removing an endless loop would change the program. A `for` always ends, so one without
// effects is removed. Loads are not effects: a load whose value is not used is removed, and with it
// the report that --sanitize would make about its address; to get such reports, interp is given the
// IR before passes. A loop's carried value is live only if something outside of its own cycle needs
// it.
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct Dce {
    Arena *scratch;
    bool *op_live;
    bool *value_live;
    VEC(IrOp *) ops;        // live ops whose operands are not marked yet
    VEC(IrValue *) values;  // live values, likewise
    bool changed;
} Dce;

static void mark_op(Dce *d, IrOp *op) {
    if (d->op_live[op->id]) return;
    d->op_live[op->id] = true;
    vec_push(d->scratch, &d->ops, op);
}

static void mark_value(Dce *d, IrValue *value) {
    if (!value || d->value_live[value->id]) return;
    d->value_live[value->id] = true;
    vec_push(d->scratch, &d->values, value);
}

static void mark_operands(Dce *d, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) mark_value(d, ir_operand(op, i));
}

static bool is_root(const IrOp *op) {
    if (op->code == IR_WHILE) return true;
    // It matters under sanitize only, where no pass runs.
    if (op->code == IR_ASSUME && ir_attr_int(op, IR_ATTR_BOUNDS)) return false;
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_WRITE:
    case IR_EFFECT_KEEP: return true;
    case IR_EFFECT_END: return op->block->parent == NULL;
    case IR_EFFECT_PURE:
    case IR_EFFECT_READ:
    case IR_EFFECT_NEST: return false;
    }
    return true;
}

static void mark_roots(Dce *d, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (is_root(op)) mark_op(d, op);
        for (uint32_t i = 0; i < op->region_count; i++) mark_roots(d, op->regions[i]);
    }
}

// ---- needs of a live op -------------------------------------------------------------------------

static bool prunes_results(const IrOp *op) {
    return op->code == IR_FOR || op->code == IR_WHILE || op->code == IR_IF;
}

static uint32_t first_carried(const IrOp *op) { return op->code == IR_FOR ? 1 : 0; }

// Carried value `i` of a loop: marks the values that flow into it.
static void mark_carried(Dce *d, IrOp *loop, uint32_t i) {
    uint32_t init = loop->operand_count - loop->result_count + i;
    mark_value(d, ir_operand(loop, init));
    IrBlock *body = loop->regions[loop->region_count - 1];
    mark_value(d, ir_operand(rewrite_terminator(body), i));
    // All values of one carried position are live together, or pruning would separate them.
    mark_value(d, ir_result(loop, i));
    for (uint32_t k = 0; k < loop->region_count; k++) {
        mark_value(d, loop->regions[k]->args[first_carried(loop) + i]);
    }
}

static void mark_needs_of_op(Dce *d, IrOp *op) {
    if (op->block->parent) mark_op(d, op->block->parent);
    if (!prunes_results(op)) {
        mark_operands(d, op);
        for (uint32_t i = 0; i < op->region_count; i++) {  // combiners: all of them are live
            mark_op(d, rewrite_terminator(op->regions[i]));
        }
        return;
    }
    if (op->code == IR_IF) mark_value(d, ir_operand(op, 0));
    if (op->code == IR_WHILE) mark_operands(d, rewrite_terminator(op->regions[0]));
    if (op->code == IR_FOR) {
        for (uint32_t i = 0; i < 3; i++) mark_value(d, ir_operand(op, i));
        if (ir_attr_int(op, IR_ATTR_EXIT)) mark_carried(d, op, 0);
    }
}

static void mark_needs_of_value(Dce *d, IrValue *value) {
    if (value->block) {
        IrOp *parent = value->block->parent;
        mark_op(d, parent);
        if (prunes_results(parent) && value->index >= first_carried(parent)) {
            mark_carried(d, parent, value->index - first_carried(parent));
        }
        return;
    }
    if (!value->def) return;
    mark_op(d, value->def);
    if (value->def->code == IR_IF) {
        for (uint32_t i = 0; i < 2; i++) {
            mark_value(d, ir_operand(rewrite_terminator(value->def->regions[i]), value->index));
        }
    } else if (prunes_results(value->def)) {
        mark_carried(d, value->def, value->index);
    }
}

static void mark_all(Dce *d) {
    while (d->ops.count || d->values.count) {
        if (d->ops.count) {
            mark_needs_of_op(d, vec_pop(&d->ops));
        } else {
            mark_needs_of_value(d, vec_pop(&d->values));
        }
    }
}

// ---- sweeping -----------------------------------------------------------------------------------

static bool terminates(const IrOp *op) { return ir_op_info(op->code)->effect == IR_EFFECT_END; }

// Dead yields are cut first: they are the only uses of dead values that come before the values'
// ops.
static void cut_yields(Dce *d, IrOp *op) {
    uint32_t first = op->code == IR_WHILE ? 1 : 0;
    for (uint32_t k = first; k < op->region_count; k++) {
        IrOp *end = rewrite_terminator(op->regions[k]);
        for (uint32_t i = op->result_count; i-- > 0;) {
            if (!d->value_live[ir_result(op, i)->id]) ir_remove_operand(end, i);
        }
    }
}

static void cut_block(Dce *d, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (!d->op_live[op->id]) continue;
        if (prunes_results(op)) cut_yields(d, op);
        for (uint32_t i = 0; i < op->region_count; i++) cut_block(d, op->regions[i]);
    }
}

// The op without its dead results, whose uses are removed already.
static void remake_pruned(Dce *d, IrOp *op) {
    uint32_t operands = 0, results = 0;
    IrValue **kept = arena_new(d->scratch, IrValue *, op->operand_count);
    const IrType **types = arena_new(d->scratch, const IrType *, op->result_count);
    uint32_t fixed = op->code == IR_FOR ? 3 : op->code == IR_IF ? 1 : 0;
    for (uint32_t i = 0; i < fixed; i++) kept[operands++] = ir_operand(op, i);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!d->value_live[ir_result(op, i)->id]) continue;
        if (op->code != IR_IF) kept[operands++] = ir_operand(op, fixed + i);
        types[results++] = ir_result(op, i)->type;
    }
    if (results == op->result_count) return;
    d->changed = true;
    for (uint32_t k = 0; op->code != IR_IF && k < op->region_count; k++) {
        for (uint32_t i = op->result_count; i-- > 0;) {
            if (d->value_live[ir_result(op, i)->id]) continue;
            ir_remove_block_arg(op->regions[k], first_carried(op) + i);
        }
    }
    IrOp *made = ir_remake(op, operands, kept, results, types);
    for (uint32_t i = 0, k = 0; i < op->result_count; i++) {
        if (!d->value_live[ir_result(op, i)->id]) continue;
        ir_result(made, k)->name = ir_result(op, i)->name;
        ir_replace_all(ir_result(op, i), ir_result(made, k++));
    }
}

static void sweep(Dce *d, const IrBlock *block) {
    for (IrOp *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        if (!d->op_live[op->id] && !terminates(op)) {
            ir_erase(op);
            d->changed = true;
            continue;
        }
        for (uint32_t i = 0; i < op->region_count; i++) sweep(d, op->regions[i]);
        if (prunes_results(op)) remake_pruned(d, op);
    }
}

bool pass_dce(IrFunc *f, PassContext *context) {
    Dce d = {.scratch = context->scratch};
    d.op_live = arena_new(d.scratch, bool, f->op_count);
    d.value_live = arena_new(d.scratch, bool, f->value_count);
    for (size_t i = 0; i < f->sections.count; i++) mark_roots(&d, f->sections.data[i].block);
    mark_all(&d);
    for (size_t i = 0; i < f->sections.count; i++) {
        cut_block(&d, f->sections.data[i].block);
        sweep(&d, f->sections.data[i].block);
    }
    return d.changed;
}
