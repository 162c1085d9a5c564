// Expressions: names, literals, unary and binary operators, casts.
#include "frontend/tile/elaborate.h"

Slot *el_slot(Elab *e, const AstDecl *decl) {
    if (!decl || !tile_of(e)->frame || decl->slot >= tile_of(e)->frame->slot_count) return NULL;
    return &tile_of(e)->frame->slots[decl->slot];
}

// ---- names

static Val name_const(Elab *e, const AstDecl *decl) {
    uint32_t slot = decl->slot;
    const AstModule *module = &tile_of(e)->file->module;
    if (slot >= module->consts.count || module->consts.data[slot] != decl) {
        Slot *local = el_slot(e, decl);
        return local ? local->val : EL_POISON;
    }
    if (tile_of(e)->const_states[slot] == 2) return tile_of(e)->consts[slot];
    if (tile_of(e)->const_states[slot] == 1)
        return el_error(e, decl->span, DIAG_RECURSION, "'%s' needs its own value", decl->name);
    tile_of(e)->const_states[slot] = 1;
    Val v = decl->dims ? el_table_declared(e, decl) : el_const_expr(e, decl->value);
    if (v.kind != VAL_POISON && v.kind != VAL_TABLE && !el_is_const(v)) {
        v = el_error(e, decl->value->span, DIAG_NOT_CONSTANT,
                     "the value of '%s' must be known at compile time", decl->name);
    }
    tile_of(e)->const_states[slot] = 2;
    return tile_of(e)->consts[slot] = v;
}

static Val name_float(Elab *e, const Ast *ast) {
    if (ast->name && str_equal(str(ast->name), STR("inf")))
        return (Val){.kind = VAL_FLOAT, .real = __builtin_inf()};
    if (ast->name && str_equal(str(ast->name), STR("nan")))
        return (Val){.kind = VAL_FLOAT, .real = __builtin_nan("")};
    return el_silent(e);
}

// Reports a pointer in requires or grid, once for each condition.
static Val name_pointer_early(Elab *e, const Ast *ast) {
    if (tile_of(e)->reported_region == e->region) return el_silent(e);
    tile_of(e)->reported_region = e->region;
    return el_error(e, ast->span, tile_of(e)->place == EL_IN_GRID ? DIAG_GRID : DIAG_REQUIRES,
                    "the pointer '%s' can't be evaluated before the launch", ast->name);
}

static Val name_value(Elab *e, const Ast *ast) {
    const AstDecl *decl = ast->decl;
    if (!decl) {
        if (ast->builtin < 0) return name_float(e, ast);
        el_error(e, ast->span, DIAG_NOT_A_VALUE, "the built-in function '%s' is not a value",
                 tile_builtin_name((TileBuiltin)ast->builtin));
        el_help(e, "call it, or name a fn of yours");
        return EL_POISON;
    }
    switch (decl->kind) {
    case DECL_KERNEL:
        return el_error(e, ast->span, DIAG_NOT_A_VALUE, "the kernel '%s' is not a value",
                        decl->name);
    case DECL_FN: return (Val){.kind = VAL_FN, .fn = {decl->owner, decl->name}};
    case DECL_EXTENT: return el_ir(ir_extent(&e->b, decl->name));  // a const context rejects it
    case DECL_CONST: return name_const(e, decl);
    case DECL_POINTER:
        if (tile_of(e)->place == EL_IN_GRID || tile_of(e)->place == EL_IN_REQUIRES)
            return name_pointer_early(e, ast);
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
    if (tile_of(e)->place == EL_IN_CONST && (!slot || slot->val.kind == VAL_POISON)) {
        // Reports a parameter that has no value yet, or never has one at compile time.
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
    case VAL_ARRAY:
        el_error(e, span, DIAG_NOT_A_VALUE, "expected a value, found %s", el_val_text(e, v));
        el_help(e, "name one of its tiles: %s[0]", v.array->name);
        return EL_POISON;
    case VAL_TABLE: return el_ir(el_table_tile(e, v.table, span));
    case VAL_FN:
    case VAL_STRING:
        return el_error(e, span, DIAG_NOT_A_VALUE, "expected a value, found %s", el_val_text(e, v));
    }
    return EL_POISON;
}

Val el_operand(Elab *e, const Ast *ast) { return el_check_operand(e, el_expr(e, ast), ast->span); }

IrValue *el_value(Elab *e, Val v, Span span) {
    v = el_check_operand(e, v, span);
    if (v.kind == VAL_IR) return v.ir;
    if (v.kind == VAL_POISON) return NULL;
    return el_adopt(e, v, el_default_dtype(v), 0, NULL, span);
}

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
    el_error(e, ast->span, DIAG_PACKED, "%s is a storage type of views only, not a type of tiles",
             dtype_name(v.type));
    el_help(e, "use %s", v.type == DTYPE_I4 ? "i8" : "u8");
    return false;
}

// ---- operators

Val el_binary(Elab *e, Operator op, Val a, Val b, Span span, Span left, Span right) {
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return EL_POISON;
    if (a.kind == VAL_TYPE && b.kind == VAL_TYPE && (op == OPERATOR_EQ || op == OPERATOR_NE))
        return el_bool((a.type == b.type) == (op == OPERATOR_EQ));
    a = el_check_operand(e, a, left);
    b = el_check_operand(e, b, right);
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return EL_POISON;
    return el_operate(e, op, a, b, span, (Span[]){left, right});
}

static Val expr_binary(Elab *e, const Ast *ast) {
    if (ast->op == OPERATOR_LAND || ast->op == OPERATOR_LOR) return el_logical(e, ast);
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
    return v.kind == VAL_POISON ? v : el_operate_unary(e, ast->op, v, ast->span);
}

// ---- casts

Val el_cast(Elab *e, Dtype to, Val v, bool saturate, Span span) {
    v = el_check_operand(e, v, span);
    if (v.kind == VAL_POISON) return v;
    if (dtype_is(to, DTYPE_CLASS_PACKED)) {
        el_error(e, span, DIAG_PACKED, "%s is a storage type of views only, not a type of tiles",
                 dtype_name(to));
        el_help(e, "use %s", to == DTYPE_I4 ? "i8" : "u8");
        return EL_POISON;
    }
    if (v.kind == VAL_IR && el_is_ptr(v.ir)) {
        el_error(e, span, DIAG_TYPE, "a pointer has no cast to %s", dtype_name(to));
        el_help(e, "its address is bitcast(u64, p)");
        return EL_POISON;
    }
    return el_cast_value(e, to, v, saturate);
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
    case AST_INT: return el_int((Int128)ast->integer);
    case AST_FLOAT: return (Val){.kind = VAL_FLOAT, .real = ast->real};
    case AST_BOOL: return el_bool(ast->integer != 0);
    case AST_STRING: return (Val){.kind = VAL_STRING, .text = ast->text};
    case AST_NAME: return name_value(e, ast);
    case AST_UNARY: return expr_unary(e, ast);
    case AST_BINARY: return expr_binary(e, ast);
    case AST_CALL: return el_call(e, ast);
    case AST_INDEX: return el_index(e, ast);
    case AST_TYPE: return (Val){.kind = VAL_TYPE, .type = ast->dtype};
    case AST_TUPLE: return expr_tuple(e, ast);
    case AST_BRACES:
        return el_error(e, ast->span, DIAG_MISPLACED,
                        "values in braces are those of a table or of tile(T, { … })");
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
    if (tile_of(e)->depth >= EL_WALK_DEPTH) {
        return el_error(e, ast->span, DIAG_TOO_DEEP, "calls and expressions nest deeper than %d",
                        EL_WALK_DEPTH);
    }
    Span outer = e->b.span;
    e->b.span = ast->span;
    tile_of(e)->depth++;
    Val v = expr_dispatch(e, ast);
    tile_of(e)->depth--;
    e->b.span = outer;
    return v;
}
