// Conditions, `&&` and `||`, `if`.
#include "frontend/tile/elaborate.h"

typedef struct BlockRest {
    const Ast *list;
} BlockRest;
static void run_list(Elab *e, void *user) { el_list(e, ((const BlockRest *)user)->list); }

void el_guarded_list(Elab *e, const Ast *rest) {
    BlockRest r = {rest};
    el_guarded(e, el_active(e), run_list, &r, rest->span);
}

// ---- conditions

IrValue *el_condition(Elab *e, const Ast *ast, const char *what) {
    if (tile_of(e)->blamed_count && el_blamed(e, ast->span)) return NULL;
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_BOOL) return ir_const_bool(&e->b, v.truth);
    bool is_bool = v.kind == VAL_IR && !el_is_ptr(v.ir) && el_elem(v.ir) == DTYPE_BOOL;
    if (is_bool && !v.ir->type->rank) return v.ir;
    el_error(e, ast->span, DIAG_CONDITION, "%s must be a scalar bool, found %s", what,
             el_val_text(e, v));
    if (is_bool)
        el_help(e, "for a tile use any(c), all(c) or select(c, a, b)");
    else
        el_help(e, "compare with 0");
    return NULL;
}

// An operand of && or ||. If it is compile-time, the result is NULL and *known is its value.
static bool logical_operand(Elab *e, const Ast *ast, Operator op, Val *v) {
    *v = el_operand(e, ast);
    if (v->kind == VAL_POISON) return false;
    if (v->kind == VAL_BOOL) return true;
    bool is_bool = v->kind == VAL_IR && !el_is_ptr(v->ir) && el_elem(v->ir) == DTYPE_BOOL;
    if (is_bool && !v->ir->type->rank) return true;
    el_error(e, ast->span, DIAG_CONDITION, "'%s' needs scalar bools, found %s", ast_op_text(op),
             el_val_text(e, *v));
    if (is_bool)
        el_help(e, "for tiles use '%s'", op == OPERATOR_LAND ? "&" : "|");
    else
        el_help(e, "compare with 0");
    return false;
}

Val el_logical(Elab *e, const Ast *ast) {
    bool is_and = ast->op == OPERATOR_LAND;
    Val left, right;
    bool good = logical_operand(e, ast->a, ast->op, &left);
    if (good && left.kind == VAL_BOOL) {
        if (left.truth != is_and) return left;  // the left side decides: the right side never runs
        return logical_operand(e, ast->b, ast->op, &right) ? right : EL_POISON;
    }
    Region region;
    IrBlock *block = ir_block_create(e->func);
    if (!el_region_begin(e, &region, block, ast->span)) return EL_POISON;
    good = logical_operand(e, ast->b, ast->op, &right) && good;
    if (good && right.kind == VAL_BOOL) right = el_ir(ir_const_bool(&e->b, right.truth));
    el_region_end(e, &region);
    return good ? el_ir(el_join_conditions(e, is_and, left.ir, block, right.ir)) : EL_POISON;
}

// ---- if

static bool active_stopped(const Slot *active) {
    return active->val.kind == VAL_BOOL && !active->val.truth;
}

static void if_const(Elab *e, const Ast *ast) {
    bool truth;
    if (el_blamed(e, ast->a->span) ||
        !el_const_bool(e, ast->a, "the condition of 'if const'", &truth))
        return;
    el_body(e, truth ? ast->b : ast->c);
}

bool el_if(Elab *e, const Ast *ast, const Ast *rest, bool tail) {
    if (ast->is_const) {
        if_const(e, ast);
        return false;
    }
    Slot *active = el_active(e);
    IrValue *cond = el_condition(e, ast->a, "the condition of 'if'");
    if (!cond) cond = ir_const_bool(&e->b, false);
    Region then_arm, else_arm;
    if (!el_region_begin(e, &then_arm, ir_block_create(e->func), ast->span)) return true;
    el_body(e, ast->b);
    // `if (c) { …; return; } rest`: the rest becomes the other branch, so no flag is needed.
    bool takes_rest = rest && active_stopped(active);
    el_region_end(e, &then_arm);
    if (!el_region_begin(e, &else_arm, ir_block_create(e->func), ast->span)) return true;
    el_body(e, ast->c);
    if (takes_rest) {
        active->tail = tail;
        if (active->val.kind == VAL_IR)
            el_guarded_list(e, rest);
        else if (!active_stopped(active))
            el_list(e, rest);
    }
    el_region_end(e, &else_arm);
    el_merge(e, cond, &then_arm, &else_arm, ast->span);
    return takes_rest;
}
