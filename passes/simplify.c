// Simplification: the driver, a worklist over rules.def.
#include "passes/simplify.h"

#include "passes/passes.h"

typedef struct Rule {
    IrOpcode code;
    IrValue *(*rule)(Simplify *s, IrOp *op);
    bool (*edit)(Simplify *s, IrOp *op);
} Rule;

static const Rule rules[] = {
#define RULE(code, function, requires) {IR_##code, rule_##function, NULL},
#define EDIT(code, function, requires) {IR_##code, NULL, edit_##function},
#include "passes/rules.def"
#undef RULE
#undef EDIT
};
enum { RULES = sizeof rules / sizeof rules[0] };

// The rules of one opcode: a chain of indices into `rules`, + 1.
typedef struct RuleIndex {
    uint16_t first[IR_OPCODES];
    uint16_t next[RULES];
} RuleIndex;

static void index_rules(RuleIndex *index) {
    for (uint16_t i = RULES; i-- > 0;) {
        index->next[i] = index->first[rules[i].code];
        index->first[rules[i].code] = (uint16_t)(i + 1);
    }
}

// Pushed last to first, so that operands come off the list before their users.
static void queue_block(Simplify *s, const IrBlock *block) {
    for (IrOp *op = block->last; op; op = op->prev) {
        for (uint32_t i = op->region_count; i-- > 0;) queue_block(s, op->regions[i]);
        simplify_requeue(s, op);
    }
}

static void queue_built(Simplify *s, const IrBlock *block, IrOp *before, IrOp *op) {
    for (IrOp *made = before ? before->next : block->first; made && made != op; made = made->next) {
        simplify_requeue(s, made);
    }
}

static void replace(Simplify *s, IrOp *op, IrValue *value) {
    simplify_requeue_users(s, ir_result(op, 0));
    if (value->def) simplify_requeue(s, value->def);
    if (!value->name) value->name = ir_result(op, 0)->name;
    rewrite_replace_op(op, &value);
}

static IrValue *value_in_place(Simplify *s, const RuleIndex *index, IrOp *op, bool *edited) {
    if (op->result_count == 1) {
        IrValue *value = fold_constants(s, op);
        if (!value) value = sink_broadcast(s, op);
        if (value) return value;
    }
    for (uint16_t at = index->first[op->code]; at; at = index->next[at - 1]) {
        const Rule *rule = &rules[at - 1];
        if (rule->edit) {
            *edited = rule->edit(s, op);
            if (*edited) return NULL;
        } else if (op->result_count == 1) {
            IrValue *value = rule->rule(s, op);
            if (value) return value;
        }
    }
    return NULL;
}

static void simplify_op(Simplify *s, const RuleIndex *index, IrOp *op) {
    IrBlock *block = op->block;
    IrOp *before = op->prev;
    s->b = ir_builder_before(op);
    bool edited = false;
    IrValue *value = value_in_place(s, index, op, &edited);
    if (!value && !edited) return;
    s->changed = true;
    if (value) {
        queue_built(s, block, before, op);
        replace(s, op, value);
    } else if (op->block) {
        simplify_requeue(s, op);
    }
}

bool simplify_block(IrBlock *block, Arena *scratch) {
    Simplify s = {.module = block->func->module, .scratch = scratch};
    RuleIndex *index = arena_new(scratch, RuleIndex, 1);
    index_rules(index);
    queue_block(&s, block);
    while (s.work.count) {
        IrOp *op = vec_pop(&s.work);
        s.queued.data[op->id] = false;
        if (op->block) simplify_op(&s, index, op);
    }
    return s.changed;
}

bool pass_simplify(IrFunc *f, PassContext *context) {
    bool changed = false;
    for (size_t i = 0; i < f->sections.count; i++) {
        changed |= simplify_block(f->sections.data[i].block, context->scratch);
    }
    return changed;
}
