// Expressions: names, literals, unary and binary operators, casts.
#include <string.h>

#include "frontend/tile/elaborate.h"

Slot *el_slot(Elab *e, const AstDecl *decl) {
    if (!decl || !e->frame || decl->slot >= e->frame->slot_count) return NULL;
    return &e->frame->slots[decl->slot];
}

// ---- names

static Val name_const(Elab *e, const AstDecl *decl) {
    uint32_t slot = decl->slot;
    const AstModule *module = &e->file->module;
    if (slot >= module->consts.count || module->consts.data[slot] != decl) {
        Slot *local = el_slot(e, decl);
        return local ? local->val : EL_POISON;
    }
    if (e->const_states[slot] == 2) return e->consts[slot];
    if (e->const_states[slot] == 1)
        return el_error(e, decl->span, DIAG_RECURSION, "'%s' needs its own value", decl->name);
    e->const_states[slot] = 1;
    Val v = el_expr(e, decl->value);
    if (v.kind != VAL_POISON && !el_is_const(v)) {
        v = el_error(e, decl->value->span, DIAG_NOT_CONSTANT,
                     "the value of '%s' must be known at compile time", decl->name);
    }
    e->const_states[slot] = 2;
    return e->consts[slot] = v;
}

static Val name_float(Elab *e, const Ast *ast) {
    if (ast->name && str_equal(str(ast->name), STR("inf")))
        return (Val){.kind = VAL_FLOAT, .real = __builtin_inf()};
    if (ast->name && str_equal(str(ast->name), STR("nan")))
        return (Val){.kind = VAL_FLOAT, .real = __builtin_nan("")};
    return el_silent(e);
}

// A pointer in requires or grid: one complaint for each condition.
static Val name_pointer_early(Elab *e, const Ast *ast) {
    if (e->complained == e->region) return el_silent(e);
    e->complained = e->region;
    return el_error(e, ast->span, e->place == EL_IN_GRID ? DIAG_GRID : DIAG_REQUIRES,
                    "the pointer '%s' can't be asked before the launch", ast->name);
}

static Val name_value(Elab *e, const Ast *ast) {
    const AstDecl *decl = ast->decl;
    if (!decl) {
        if (ast->builtin < 0) return name_float(e, ast);
        el_error(e, ast->span, DIAG_NOT_A_VALUE, "the built-in function '%s' is no value",
                 tile_builtin_name((TileBuiltin)ast->builtin));
        el_help(e, "call it, or name a fn of yours");
        return EL_POISON;
    }
    switch (decl->kind) {
    case DECL_KERNEL:
        return el_error(e, ast->span, DIAG_NOT_A_VALUE, "the kernel '%s' is no value", decl->name);
    case DECL_FN: return (Val){.kind = VAL_FN, .fn = decl->owner};
    case DECL_EXTENT: return el_ir(ir_extent(&e->b, decl->name));  // a const context refuses it
    case DECL_CONST: return name_const(e, decl);
    case DECL_POINTER:
        if (e->place == EL_IN_GRID || e->place == EL_IN_REQUIRES) return name_pointer_early(e, ast);
        break;
    case DECL_TYPE_PARAM:
    case DECL_CONST_PARAM:
    case DECL_SCALAR:
    case DECL_VIEW:
    case DECL_FN_PARAM:
    case DECL_LET:
    case DECL_VAR:
    case DECL_LOOP: break;
    }
    Slot *slot = el_slot(e, decl);
    if (e->place == EL_IN_CONST && (!slot || slot->val.kind == VAL_POISON)) {
        // A parameter that has no value yet, or never has one at compile time.
        if (e->errors) return el_silent(e);
        return el_error(e, ast->span, DIAG_NOT_CONSTANT, "'%s' is not known here at compile time",
                        decl->name);
    }
    return slot ? slot->val : el_silent(e);
}

// ---- operands

Val el_check_operand(Elab *e, Val v, Span span) {
    switch (v.kind) {
    case VAL_POISON:
    case VAL_INT:
    case VAL_FLOAT:
    case VAL_BOOL:
    case VAL_IR: return v;
    case VAL_NONE:
        return el_error(e, span, DIAG_NOT_A_VALUE, "expected a value, but this call gives none");
    case VAL_TYPE:
        el_error(e, span, DIAG_NOT_A_VALUE, "expected a value, found %s", el_val_text(e, v));
        el_help(e, "a cast is written %s(…)", dtype_name(v.type));
        return EL_POISON;
    case VAL_TUPLE:
        el_error(e, span, DIAG_NOT_A_VALUE, "expected one value, found %s", el_val_text(e, v));
        el_help(e, "bind its parts: let (a, b) = …");
        return EL_POISON;
    case VAL_VIEW:
        el_error(e, span, DIAG_NOT_A_VALUE, "expected a value, found %s", el_val_text(e, v));
        el_help(e, "select from it: %s[%s]", v.view->name,
                v.view->rank > 1 ? "i, 0 +: W" : "0 +: W");
        return EL_POISON;
    case VAL_FN:
    case VAL_STRING:
        return el_error(e, span, DIAG_NOT_A_VALUE, "expected a value, found %s", el_val_text(e, v));
    }
    return EL_POISON;
}

Val el_operand(Elab *e, const Ast *ast) { return el_check_operand(e, el_expr(e, ast), ast->span); }

IrValue *el_tile(Elab *e, const Ast *ast) { return el_value(e, el_expr(e, ast), ast->span); }

bool el_type_arg(Elab *e, const Ast *ast, Dtype *type) {
    Val v = el_expr(e, ast);
    if (v.kind == VAL_POISON) return false;
    if (v.kind != VAL_TYPE) {
        el_error(e, ast->span, DIAG_TYPE, "expected an element type, found %s", el_val_text(e, v));
        el_help(e, "as in zeros(f32, 16)");
        return false;
    }
    *type = v.type;
    if (!dtype_is(v.type, DTYPE_CLASS_PACKED)) return true;
    el_error(e, ast->span, DIAG_PACKED, "%s is storage of views only, no type of tiles",
             dtype_name(v.type));
    el_help(e, "use %s", v.type == DTYPE_I4 ? "i8" : "u8");
    return false;
}

// ---- binary operators

static IrOpcode binary_opcode(AstOp op) {
    switch (op) {
    case AST_OP_ADD: return IR_ADD;
    case AST_OP_SUB: return IR_SUB;
    case AST_OP_MUL: return IR_MUL;
    case AST_OP_DIV: return IR_DIV;
    case AST_OP_REM: return IR_REM;
    case AST_OP_SHL: return IR_SHL;
    case AST_OP_SHR: return IR_SHR;
    case AST_OP_AND: return IR_AND;
    case AST_OP_OR: return IR_OR;
    case AST_OP_XOR: return IR_XOR;
    case AST_OP_LT: return IR_LT;
    case AST_OP_LE: return IR_LE;
    case AST_OP_GT: return IR_GT;
    case AST_OP_GE: return IR_GE;
    case AST_OP_EQ: return IR_EQ;
    case AST_OP_NE: return IR_NE;
    case AST_OP_LAND: return IR_AND;
    case AST_OP_LOR: return IR_OR;
    case AST_OP_NONE:
    case AST_OP_NEG:
    case AST_OP_NOT:
    case AST_OP_BITNOT: break;
    }
    return IR_ADD;
}

static bool binary_takes(Elab *e, AstOp op, Dtype elem, Span span) {
    if (dtype_is(elem, ir_op_info(binary_opcode(op))->classes)) return true;
    if (elem == DTYPE_BOOL) {
        el_error(e, span, DIAG_TYPE, "'%s' does not take bools", ast_op_text(op));
        el_help(e, "a bool is no number without a cast: i32(…)");
    } else {
        el_error(e, span, DIAG_TYPE, "'%s' needs integers, found %s", ast_op_text(op),
                 dtype_name(elem));
    }
    return false;
}

// p + n, n + p, p - n, p == q, p != q
static Val binary_pointer(Elab *e, AstOp op, Val a, Val b, Span span, const Span *spans) {
    bool left = a.kind == VAL_IR && el_is_ptr(a.ir), right = b.kind == VAL_IR && el_is_ptr(b.ir);
    IrValue *both[2];
    if (op == AST_OP_EQ || op == AST_OP_NE) {
        if (!el_unify(e, span, ast_op_text(op), 2, (Val[]){a, b}, spans, both)) return EL_POISON;
        return el_ir(ir_binary(&e->b, binary_opcode(op), both[0], both[1]));
    }
    if ((left && right) || (op != AST_OP_ADD && (op != AST_OP_SUB || right))) {
        el_error(e, span, DIAG_TYPE, "'%s' does not take %s and %s", ast_op_text(op),
                 el_val_text(e, a), el_val_text(e, b));
        el_help(e, "pointers know p + n, p - n, == and !=");
        return EL_POISON;
    }
    Val p = left ? a : b, n = left ? b : a;
    IrValue *offset = n.kind == VAL_INT ? el_adopt(e, n, DTYPE_I64, 0, NULL, spans[left]) : NULL;
    if (n.kind == VAL_INT && !offset) return EL_POISON;
    if (!offset && (n.kind != VAL_IR || !dtype_is(el_elem(n.ir), DTYPE_CLASS_INT))) {
        return el_error(e, spans[left], DIAG_TYPE, "a pointer moves by an integer, found %s",
                        el_val_text(e, n));
    }
    if (!offset) offset = el_convert(e, n.ir, DTYPE_I64);
    if (op == AST_OP_SUB) offset = ir_unary(&e->b, IR_NEG, offset);
    Shape shape;
    if (!el_common_shape(e, span, 2, (IrValue *[]){p.ir, offset}, &shape)) return EL_POISON;
    IrValue *base = el_broadcast(e, p.ir, shape.rank, shape.dims);
    return el_ir(ir_ptr_add(&e->b, base, el_broadcast(e, offset, shape.rank, shape.dims)));
}

// The result has the left operand's type; the count may be any integer.
static Val binary_shift(Elab *e, AstOp op, Val a, Val b, Span span, const Span *spans) {
    Val vals[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        bool integer = vals[i].kind == VAL_INT ||
                       (vals[i].kind == VAL_IR && dtype_is(el_elem(vals[i].ir), DTYPE_CLASS_INT));
        if (integer) continue;
        return el_error(e, spans[i], DIAG_TYPE, "'%s' needs integers, found %s", ast_op_text(op),
                        el_val_text(e, vals[i]));
    }
    Shape shape;
    IrValue *both[2] = {a.kind == VAL_IR ? a.ir : NULL, b.kind == VAL_IR ? b.ir : NULL};
    if (!el_common_shape(e, span, 2, both, &shape)) return EL_POISON;
    for (int i = 0; i < 2; i++) {
        Dtype elem = i == 0 ? el_elem(both[1] ? both[1] : both[0]) : el_default_dtype(b);
        both[i] = both[i] ? el_broadcast(e, both[i], shape.rank, shape.dims)
                          : el_adopt(e, vals[i], elem, shape.rank, shape.dims, spans[i]);
        if (!both[i]) return EL_POISON;
    }
    return el_ir(ir_binary(&e->b, binary_opcode(op), both[0], both[1]));
}

Val el_binary(Elab *e, AstOp op, Val a, Val b, Span span, Span left, Span right) {
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return EL_POISON;
    if (a.kind == VAL_TYPE && b.kind == VAL_TYPE && (op == AST_OP_EQ || op == AST_OP_NE))
        return el_bool((a.type == b.type) == (op == AST_OP_EQ));
    a = el_check_operand(e, a, left);
    b = el_check_operand(e, b, right);
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return EL_POISON;
    if (el_is_const(a) && el_is_const(b)) return el_fold_binary(e, op, a, b, span, right);
    const Span spans[2] = {left, right};
    if ((a.kind == VAL_IR && el_is_ptr(a.ir)) || (b.kind == VAL_IR && el_is_ptr(b.ir)))
        return binary_pointer(e, op, a, b, span, spans);
    if (op == AST_OP_SHL || op == AST_OP_SHR) return binary_shift(e, op, a, b, span, spans);
    IrValue *both[2] = {a.ir, b.ir};
    if (a.kind != VAL_IR || b.kind != VAL_IR || a.ir->type != b.ir->type) {
        if (!el_unify(e, span, ast_op_text(op), 2, (Val[]){a, b}, spans, both)) return EL_POISON;
    }
    if (!binary_takes(e, op, el_elem(both[0]), span)) return EL_POISON;
    return el_ir(ir_binary(&e->b, binary_opcode(op), both[0], both[1]));
}

static Val expr_binary(Elab *e, const Ast *ast) {
    if (ast->op == AST_OP_LAND || ast->op == AST_OP_LOR) return el_logical(e, ast);
    size_t count;
    Ast *const *chain = ast_chain_of(e->scratch, ast, &count);
    Val a = el_expr(e, chain[count - 1]->a);
    for (size_t i = count; i-- > 0;) {
        const Ast *at = chain[i];
        e->b.span = at->span;
        Val b = el_expr(e, at->b);
        a = el_binary(e, at->op, a, b, at->span, at->a->span, at->b->span);
    }
    return a;
}

static Val expr_unary(Elab *e, const Ast *ast) {
    Val v = el_operand(e, ast->a);
    if (v.kind == VAL_POISON) return v;
    if (el_is_const(v)) return el_fold_unary(e, ast->op, v, ast->span);
    IrOpcode code = ast->op == AST_OP_NEG ? IR_NEG : IR_NOT;
    unsigned takes = ast->op == AST_OP_NOT ? DTYPE_CLASS_BOOL : ir_op_info(code)->classes;
    if (!el_is_ptr(v.ir) && dtype_is(el_elem(v.ir), takes))
        return el_ir(ir_unary(&e->b, code, v.ir));
    if (ast->op == AST_OP_NOT) {
        el_error(e, ast->span, DIAG_TYPE, "'!' needs a bool, found %s", el_val_text(e, v));
        el_help(e, "compare with 0, or flip bits with '~'");
        return EL_POISON;
    }
    return el_error(e, ast->span, DIAG_TYPE, "'%s' does not take %s", ast_op_text(ast->op),
                    el_val_text(e, v));
}

// ---- casts

static Val cast_const(Elab *e, Dtype to, Val v, bool saturate) {
    uint64_t bits;
    if (v.kind == VAL_BOOL) {
        bits = dtype_cast(to, DTYPE_BOOL, v.truth, saturate);
    } else if (v.kind == VAL_FLOAT) {
        double real = v.real;
        uint64_t raw;
        memcpy(&raw, &real, sizeof raw);
        bits = dtype_cast(to, DTYPE_F64, raw, saturate);
    } else {
        bool negative = v.integer < 0;
        bits = dtype_cast(to, negative ? DTYPE_I64 : DTYPE_U64,
                          negative ? (uint64_t)(int64_t)v.integer : (uint64_t)v.integer, saturate);
    }
    return el_ir(ir_const_bits(&e->b, ir_scalar(e->module, to), bits));
}

Val el_cast(Elab *e, Dtype to, Val v, bool saturate, Span span) {
    v = el_check_operand(e, v, span);
    if (v.kind == VAL_POISON) return v;
    if (dtype_is(to, DTYPE_CLASS_PACKED)) {
        el_error(e, span, DIAG_PACKED, "%s is storage of views only, no type of tiles",
                 dtype_name(to));
        el_help(e, "use %s", to == DTYPE_I4 ? "i8" : "u8");
        return EL_POISON;
    }
    if (el_is_const(v)) {
        if (to == DTYPE_BOOL)
            return el_bool(v.kind == VAL_BOOL  ? v.truth
                           : v.kind == VAL_INT ? v.integer != 0
                                               : v.real != 0);
        return cast_const(e, to, v, saturate);
    }
    if (el_is_ptr(v.ir)) {
        el_error(e, span, DIAG_TYPE, "a pointer has no cast to %s", dtype_name(to));
        el_help(e, "its address is bitcast(u64, p)");
        return EL_POISON;
    }
    bool fp8 = dtype_is(to, DTYPE_CLASS_FP8);
    // A saturating cast brings infinities down even within one type (rule 22).
    if (el_elem(v.ir) == to && !(saturate && fp8)) return v;
    return el_ir(ir_cast(&e->b, v.ir, to, saturate && fp8));
}

// ---- dispatch

static Val expr_tuple(Elab *e, const Ast *ast) {
    uint32_t count = 0;
    for (const Ast *item = ast->list; item; item = item->next) count++;
    Val *items = arena_new(e->scratch, Val, count);
    uint32_t i = 0;
    for (const Ast *item = ast->list; item; item = item->next) items[i++] = el_operand(e, item);
    return el_tuple(e, count, items);
}

static Val expr_dispatch(Elab *e, const Ast *ast) {
    switch (ast->kind) {
    case AST_INT: return el_int((Wide)ast->integer);
    case AST_FLOAT: return (Val){.kind = VAL_FLOAT, .real = ast->real};
    case AST_BOOL: return el_bool(ast->integer != 0);
    case AST_STRING: return (Val){.kind = VAL_STRING, .text = ast->text};
    case AST_NAME: return name_value(e, ast);
    case AST_UNARY: return expr_unary(e, ast);
    case AST_BINARY: return expr_binary(e, ast);
    case AST_CALL: return el_call(e, ast);
    case AST_INDEX: return el_view_load(e, ast);
    case AST_TYPE: return (Val){.kind = VAL_TYPE, .type = ast->dtype};
    case AST_TUPLE: return expr_tuple(e, ast);
    case AST_NAMED:
    case AST_SELECT: return el_error(e, ast->span, DIAG_MISPLACED, "expected a value here");
    case AST_ERROR:
    case AST_LET:
    case AST_VAR:
    case AST_ASSIGN:
    case AST_EXPR:
    case AST_IF:
    case AST_FOR:
    case AST_WHILE:
    case AST_BREAK:
    case AST_CONTINUE:
    case AST_RETURN:
    case AST_BLOCK: break;
    }
    return el_silent(e);
}

Val el_expr(Elab *e, const Ast *ast) {
    if (!ast || ast->broken) return el_silent(e);
    if (e->depth >= EL_WALK_DEPTH) {
        return el_error(e, ast->span, DIAG_TOO_DEEP, "calls and expressions nest deeper than %d",
                        EL_WALK_DEPTH);
    }
    Span outer = e->b.span;
    e->b.span = ast->span;
    e->depth++;
    Val v = expr_dispatch(e, ast);
    e->depth--;
    e->b.span = outer;
    return v;
}
