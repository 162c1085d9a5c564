#include "passes/cpu/op_kind.h"

#include "base/os/os.h"
#include "ir/edit.h"

static bool touches_tiles(const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (cpu_is_tile(ir_operand(op, i))) return true;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (cpu_is_tile(ir_result(op, i))) return true;
    return false;
}

bool op_is_view_access(const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    return rule >= IR_RULE_VIEW_LOAD && rule <= IR_RULE_VIEW_INSIDE;
}

bool op_is_load(const IrOp *op) { return op->code == IR_VIEW_LOAD || op->code == IR_LOAD; }

bool op_is_scalar(const IrOp *op) {
    bool kept = ir_op_info(op->code)->level != IR_LEVEL_TILE && op->code != IR_PRINT;
    return kept && !touches_tiles(op) && !op_is_view_access(op);
}

bool op_is_whole(const IrOp *op) {
    switch (op->code) {
    case IR_DOT:
    case IR_SCAN:
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM:
    case IR_PRINT:
    case IR_JOIN:
    case IR_CAT:
    case IR_ATOMIC:
    case IR_ATOMIC_CAS:
    case IR_VIEW_ATOMIC:
    case IR_VIEW_CAS: return true;
    default: return false;
    }
}

bool op_needs_buffer(const IrOp *op, uint32_t operand) {
    switch (op->code) {
    case IR_GATHER: return operand == 0;
    case IR_DOT: return operand == 2;
    case IR_RESHAPE: return !op_reshapes_plainly(ir_operand(op, 0)->type, op->results[0].type);
    case IR_SCAN:
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM:
    case IR_PRINT: return true;
    default: return false;
    }
}

bool op_keeps_place(const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    return rule == IR_RULE_UNARY || rule == IR_RULE_BINARY || rule == IR_RULE_TERNARY ||
           rule == IR_RULE_SHIFT || rule == IR_RULE_COMPARE || rule == IR_RULE_SELECT ||
           rule == IR_RULE_CAST || rule == IR_RULE_BITCAST || rule == IR_RULE_PTR_ADD ||
           rule == IR_RULE_LOAD;
}

bool op_reshapes_plainly(const IrType *from, const IrType *to) {
    uint32_t i = 0;
    for (uint32_t d = 0; d < from->rank; d++) {
        if (from->shape[d] == 1) continue;
        while (i < to->rank && to->shape[i] == 1) i++;
        if (i == to->rank || to->shape[i] != from->shape[d]) return false;
        i++;
    }
    return true;
}

bool op_ends_nest(const IrOp *op, bool waits, bool writes) {
    unsigned effects = ir_effects(op);
    bool acts = effects & (1u << IR_EFFECT_WRITE | 1u << IR_EFFECT_KEEP);
    bool reads = effects & (1u << IR_EFFECT_READ);
    return waits || acts || (reads && writes);
}

const IrType *op_store_shape(IrModule *module, const IrOp *op) {
    if (op->code == IR_STORE) {
        const IrType *p = ir_operand(op, 0)->type;
        return ir_tile(module, DTYPE_BOOL, p->rank, p->shape);
    }
    uint32_t rank, shape[IR_MAX_RANK];
    CHECK(ir_selection_shape(op, &rank, shape), "a selection without a shape");
    return ir_tile(module, DTYPE_BOOL, rank, shape);
}

// ---- homes --------------------------------------------------------------------------------------

static IrOp *only_user(const IrValue *v, uint32_t *operand) {
    if (!v->uses || v->uses->next) return NULL;
    IrOp *user = v->uses->user;
    for (uint32_t i = 0; i < user->operand_count; i++)
        if (ir_operand(user, i) == v) *operand = i;
    return user;
}

static bool replaces(const IrOp *op, uint32_t operand, const IrValue *v) {
    IrRule rule = ir_op_info(op->code)->rule;
    bool elementwise = rule == IR_RULE_UNARY || rule == IR_RULE_BINARY || rule == IR_RULE_TERNARY ||
                       (rule == IR_RULE_SELECT && operand > 0);
    return (elementwise || (op->code == IR_DOT && operand == 2)) && op->result_count == 1 &&
           op->results[0].type == v->type;
}

static void find_home(Arena *scratch, uint32_t *homes, const IrOp *loop, uint32_t i) {
    const IrBlock *body = loop->regions[0];
    uint32_t operand = 0;
    const IrValue *arg = body->args[1 + i], *v = arg;
    VEC(const IrValue *) way = {0};
    for (;;) {
        const IrOp *user = only_user(v, &operand);
        if (!user) return;
        if (user == body->last) break;
        if (user->block != body || !replaces(user, operand, v)) return;
        v = &user->results[0];
        vec_push(scratch, &way, v);
    }
    if (operand != i) return;
    for (size_t k = 0; k < way.count; k++) homes[way.data[k]->id] = arg->id + 1;
}

static void find_homes(Arena *scratch, uint32_t *homes, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) find_homes(scratch, homes, op->regions[i]);
        if (op->code != IR_FOR) continue;
        for (uint32_t i = 0; i < op->result_count; i++)
            if (cpu_is_tile(ir_result(op, i))) find_home(scratch, homes, op, i);
    }
}

const uint32_t *op_find_homes(Arena *scratch, const IrFunc *f) {
    uint32_t *homes = arena_new(scratch, uint32_t, f->value_count);
    find_homes(scratch, homes, ir_body(f));
    return homes;
}
