// Slots, regions, the merge of the changes made in regions, and conditions that skip one side.
//
// A region logs the slots it assigns. When it ends, the slots get their old values back and the
// changes are handed to the merge, which makes them results of the region's op.
#include "frontend/common/control.h"
#include "ir/edit.h"

// ---- slots

void el_declare_slot(Elab *e, Slot *slot, Val v) {
    slot->val = v;
    slot->kind = SLOT_NAME;
    slot->region = e->region;
}

void el_assign_slot(Elab *e, Slot *slot, Val v) {
    if (slot->region != e->region) {
        LogEntry entry = {.slot = slot, .old = slot->val, .old_region = slot->region};
        vec_push(e->scratch, &e->log, entry);
        slot->region = e->region;
    }
    slot->val = v;
}

// ---- regions

bool el_region_begin(Elab *e, Region *r, IrBlock *block, Span span) {
    if (e->nesting >= EL_NEST_DEPTH) {
        el_error(e, span, DIAG_TOO_DEEP, "branches, loops and early exits nest deeper than %d",
                 EL_NEST_DEPTH);
        return false;
    }
    *r = (Region){.block = block,
                  .outer_block = e->b.block,
                  .outer_before = e->b.before,
                  .outer_region = e->region,
                  .log_start = e->log.count};
    e->nesting++;
    e->region = ++e->regions;
    e->b.block = block;
    e->b.before = NULL;
    return true;
}

void el_region_end(Elab *e, Region *r) {
    r->count = (uint32_t)(e->log.count - r->log_start);
    r->changes = arena_new(e->scratch, Change, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        LogEntry *entry = &e->log.data[r->log_start + i];
        r->changes[i] = (Change){.slot = entry->slot, .val = entry->slot->val};
        entry->slot->val = entry->old;
        entry->slot->region = entry->old_region;
    }
    e->log.count = r->log_start;
    e->nesting--;
    e->region = r->outer_region;
    e->b.block = r->outer_block;
    e->b.before = r->outer_before;
}

// ---- two values of one slot

bool el_same(Val a, Val b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case VAL_POISON:
    case VAL_NONE: return true;
    case VAL_INT: return a.integer == b.integer;
    case VAL_FLOAT:
        return a.real == b.real && __builtin_signbit(a.real) == __builtin_signbit(b.real);
    case VAL_BOOL: return a.truth == b.truth;
    case VAL_IR: return a.ir == b.ir;
    case VAL_TYPE: return a.type == b.type;
    case VAL_VIEW: return a.view == b.view;
    case VAL_FN: return a.fn.own == b.fn.own;
    case VAL_ARRAY: return a.array == b.array;
    case VAL_TABLE: return a.table == b.table;
    case VAL_TUPLE:
    case VAL_STRING: return false;
    }
    return false;
}

static const IrType *no_common_type(Elab *e, const Slot *slot, Val a, Val b, Span span,
                                    bool *wrong) {
    *wrong = true;
    if (slot->kind == SLOT_NAME && slot->name)
        el_error(e, span, DIAG_TYPE, "'%s' is %s on one path, and %s on another", slot->name,
                 el_val_text(e, a), el_val_text(e, b));
    else
        el_error(e, span, DIAG_TYPE, "one path gives %s here, another %s", el_val_text(e, a),
                 el_val_text(e, b));
    return NULL;
}

const IrType *el_common_type(Elab *e, const Slot *slot, Val a, Val b, Span span, bool *wrong) {
    *wrong = false;
    if (el_same(a, b)) return NULL;
    if (a.kind == VAL_NONE && b.kind != VAL_IR) return NULL;
    if (b.kind == VAL_NONE && a.kind != VAL_IR) return NULL;
    if (a.kind != VAL_IR && b.kind != VAL_IR) {
        Dtype common;
        if (!el_is_const(a) || !el_is_const(b) ||
            !el_promote(el_default_dtype(a), el_default_dtype(b), &common))
            return no_common_type(e, slot, a, b, span, wrong);
        return ir_scalar(e->module, common);
    }
    const IrType *type = a.kind == VAL_IR ? a.ir->type : b.ir->type;
    Val other = a.kind == VAL_IR ? b : a;
    if (other.kind == VAL_NONE || (el_is_const(other) && type->kind == IR_TILE)) return type;
    if (other.kind == VAL_IR && other.ir->type == type) return type;
    return no_common_type(e, slot, a, b, span, wrong);
}

IrValue *el_materialize(Elab *e, Val v, const IrType *type, Span span) {
    if (v.kind == VAL_IR) return v.ir;
    if (el_is_const(v)) {
        IrValue *made = el_adopt(e, v, type->elem, type->rank, type->shape, span);
        if (made) return made;
    }
    if (type->kind == IR_TILE) return ir_const_bits(&e->b, type, 0);
    IrValue *zero = ir_const_bits(&e->b, ir_tile(e->module, DTYPE_I64, type->rank, type->shape), 0);
    return ir_bitcast(&e->b, zero, type);
}

// ---- merging two arms

typedef struct BranchMerge {
    Slot *slot;
    Val arms[2];
    const IrType *type;
    Val out;
} BranchMerge;

static uint32_t merge_collect(Elab *e, const Region *arms[2], BranchMerge *merges) {
    uint32_t mark = ++e->marks, count = 0;
    for (uint32_t arm = 0; arm < 2; arm++) {
        for (uint32_t i = 0; i < arms[arm]->count; i++) {
            Change *change = &arms[arm]->changes[i];
            Slot *slot = change->slot;
            if (slot->mark != mark) {
                slot->mark = mark;
                slot->place = count;
                merges[count++] = (BranchMerge){.slot = slot, .arms = {slot->val, slot->val}};
            }
            merges[slot->place].arms[arm] = change->val;
        }
    }
    return count;
}

static bool left(const Region *arm) {
    for (uint32_t i = 0; i < arm->count; i++) {
        const Change *c = &arm->changes[i];
        if (c->slot->kind == SLOT_ACTIVE && c->slot->whole && c->val.kind == VAL_BOOL &&
            !c->val.truth)
            return true;
    }
    return false;
}

static bool same_type(Val a, Val b) {
    return a.kind == b.kind && (a.kind != VAL_IR || a.ir->type == b.ir->type);
}

// An arm that left the body does not decide the type of a name, which is not read there again.
static void forget_left(const Region *const arms[2], BranchMerge *m) {
    bool gone[2] = {left(arms[0]), left(arms[1])};
    if (m->slot->kind != SLOT_NAME || gone[0] == gone[1] || same_type(m->arms[0], m->arms[1]))
        return;
    m->arms[gone[0] ? 0 : 1] = EL_NONE;
}

static void merge_decide(Elab *e, BranchMerge *m, Span span) {
    Val a = m->arms[0], b = m->arms[1];
    bool wrong = false;
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) {
        m->out = EL_POISON;
    } else if (m->slot->kind == SLOT_ACTIVE && m->slot->tail && !el_same(a, b)) {
        m->out = EL_NONE;  // the flag is not read
    } else {
        m->type = el_common_type(e, m->slot, a, b, span, &wrong);
        m->out = wrong ? EL_POISON : a.kind == VAL_NONE ? b : a;
    }
}

static void merge_yield(Elab *e, IrBlock *block, BranchMerge *merges, uint32_t count, uint32_t arm,
                        Span span) {
    IrBlock *outer = e->b.block;
    IrOp *before = e->b.before;
    e->b.block = block;
    e->b.before = NULL;
    IrValue **values = arena_new(e->scratch, IrValue *, count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (merges[i].type)
            values[n++] = el_materialize(e, merges[i].arms[arm], merges[i].type, span);
    ir_yield(&e->b, n, values);
    e->b.block = outer;
    e->b.before = before;
}

void el_merge(Elab *e, IrValue *cond, Region *then_arm, Region *else_arm, Span span) {
    const Region *arms[2] = {then_arm, else_arm};
    BranchMerge *merges = arena_new(e->scratch, BranchMerge, then_arm->count + else_arm->count);
    uint32_t count = merge_collect(e, arms, merges), n = 0;
    const IrType **types = arena_new(e->scratch, const IrType *, count);
    for (uint32_t i = 0; i < count; i++) {
        forget_left(arms, &merges[i]);
        merge_decide(e, &merges[i], span);
        if (merges[i].type) types[n++] = merges[i].type;
    }
    for (uint32_t arm = 0; arm < 2; arm++)
        merge_yield(e, arms[arm]->block, merges, count, arm, span);
    Span outer = e->b.span;
    e->b.span = span;
    IrOp *op =
        ir_op(&e->b, IR_IF, 1, &cond, n, types, 2, (IrBlock *[]){then_arm->block, else_arm->block});
    e->b.span = outer;
    n = 0;
    for (uint32_t i = 0; i < count; i++) {
        Slot *slot = merges[i].slot;
        if (merges[i].type) {
            IrValue *result = ir_result(op, n++);
            result->name = slot->name;
            merges[i].out = el_ir(result);
        }
        el_assign_slot(e, slot, merges[i].out);
    }
}

// Runs `run` under `if (flag)`. The flag is true inside; afterwards it has the value that `run`
// gave it.
void el_guarded(Elab *e, Slot *flag, void (*run)(Elab *e, void *user), void *user, Span span) {
    IrValue *cond = flag->val.ir;
    Region then_arm, else_arm;
    if (!el_region_begin(e, &then_arm, ir_block_create(e->func), span)) return;
    el_assign_slot(e, flag, el_bool(true));
    run(e, user);
    bool flows = flag->val.kind == VAL_BOOL && flag->val.truth;
    if (flows) el_assign_slot(e, flag, el_ir(cond));
    el_region_end(e, &then_arm);
    if (!el_region_begin(e, &else_arm, ir_block_create(e->func), span)) return;
    if (!flows) el_assign_slot(e, flag, el_bool(false));
    el_region_end(e, &else_arm);
    el_merge(e, cond, &then_arm, &else_arm, span);
}

// ---- conditions

static bool block_is_plain(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next)
        if (op->region_count || ir_op_info(op->code)->effect != IR_EFFECT_PURE) return false;
    return true;
}

IrValue *el_join_conditions(Elab *e, bool is_and, IrValue *left, IrBlock *block, IrValue *right) {
    if (block_is_plain(block)) {
        while (block->first) ir_move_to_end(block->first, e->b.block);
        return ir_binary(&e->b, is_and ? IR_AND : IR_OR, left, right);
    }
    IrBlock *other = ir_block_create(e->func);
    IrBuilder inner = ir_builder_at_end(block), outer = ir_builder_at_end(other);
    inner.span = outer.span = e->b.span;
    ir_yield(&inner, 1, &right);
    IrValue *decided = ir_const_bool(&outer, !is_and);
    ir_yield(&outer, 1, &decided);
    const IrType *type = right->type;
    IrBlock *blocks[2] = {is_and ? block : other, is_and ? other : block};
    return ir_result(ir_op(&e->b, IR_IF, 1, &left, 1, &type, 2, blocks), 0);
}
