// Statements: lists, let and var, assignment.
#include "frontend/tile/elaborate.h"

Slot *el_active(Elab *e) {
    return tile_of(e)->frame->loop ? &tile_of(e)->frame->loop->active : &tile_of(e)->frame->active;
}

// ---- let and var

static void bind_name(IrValue *v, Symbol name) {
    if (v && !v->name) v->name = name;
}

static void declare_one(Elab *e, const AstDecl *decl, bool is_var, Val v, Span span) {
    Slot *slot = el_slot(e, decl);
    if (!slot) return;
    slot->name = decl->name;
    if (decl->broken) v = el_silent(e);
    if (decl->dims) {
        el_declare_slot(e, slot, el_array(e, decl, v, span));
        return;
    }
    bool kept = !is_var && (v.kind == VAL_TYPE || v.kind == VAL_VIEW || v.kind == VAL_FN ||
                            v.kind == VAL_TUPLE || v.kind == VAL_TABLE);
    if (!kept) v = el_check_operand(e, v, span);
    if (is_var) v = el_ir(el_value(e, v, span));
    if (v.kind == VAL_IR) bind_name(v.ir, decl->name);
    el_declare_slot(e, slot, v);
}

static void declare_tuple(Elab *e, const Ast *ast, uint32_t names, Val v) {
    bool good = v.kind == VAL_TUPLE && v.tuple.count == names;
    if (!good && v.kind != VAL_POISON) {
        el_error(e, ast->a->span, DIAG_TYPE, "expected a tuple of %u values, found %s", names,
                 el_val_text(e, v));
    }
    uint32_t i = 0;
    for (const AstDecl *decl = ast->decl; decl; decl = decl->next, i++)
        declare_one(e, decl, ast->kind == AST_VAR, good ? v.tuple.items[i] : EL_POISON,
                    ast->a->span);
}

static void declare_table(Elab *e, const AstDecl *decl) {
    Slot *slot = el_slot(e, decl);
    if (!slot) return;
    slot->name = decl->name;
    el_declare_slot(e, slot, el_table_declared(e, decl));
}

static void stmt_declare(Elab *e, const Ast *ast) {
    if (ast->decl && ast->decl->kind == DECL_CONST) {
        declare_table(e, ast->decl);
        return;
    }
    Val v = el_expr(e, ast->a);
    if (!ast->decl) return;
    uint32_t names = 0;
    for (const AstDecl *decl = ast->decl; decl; decl = decl->next) names++;
    if (names > 1) {
        declare_tuple(e, ast, names, v);
    } else {
        declare_one(e, ast->decl, ast->kind == AST_VAR, v, ast->a->span);
    }
}

// ---- assignment

// Converts the value for a variable of type t: literals take its type, scalars stretch.
IrValue *el_assigned_value(Elab *e, const IrType *t, Val v, Span span, const char *name) {
    v = el_check_operand(e, v, span);
    if (v.kind == VAL_POISON) return NULL;
    if (el_is_const(v) && t->kind == IR_TILE)
        return el_adopt(e, v, t->elem, t->rank, t->shape, span);
    if (v.kind == VAL_IR) {
        const IrType *from = v.ir->type;
        if (from == t) return v.ir;
        bool same_elem = from->kind == t->kind && from->elem == t->elem;
        if (same_elem && !from->rank) return el_broadcast(e, v.ir, t->rank, t->shape);
        if (from->kind == IR_TILE && t->kind == IR_TILE &&
            (ir_same_shape(from, t) || !from->rank)) {
            el_error(e, span, DIAG_TYPE, "'%s' is %s, found %s", name, el_type_text(e, t),
                     el_type_text(e, from));
            bool truncates =
                dtype_is(t->elem, DTYPE_CLASS_INT) && dtype_is(from->elem, DTYPE_CLASS_ANYFLOAT);
            if (truncates)
                el_help(e, "declare '%s' as a float (0.0), or drop the fraction: %s(…)", name,
                        dtype_name(t->elem));
            else
                el_help(e, "cast it: %s(…)", dtype_name(t->elem));
            return NULL;
        }
        if (same_elem) {
            el_error(e, span, DIAG_SHAPE, "'%s' is %s, found %s", name, el_type_text(e, t),
                     el_type_text(e, from));
            el_help(e, "the shape of a var never changes");
            return NULL;
        }
    }
    el_error(e, span, DIAG_TYPE, "'%s' is %s, found %s", name, el_type_text(e, t),
             el_val_text(e, v));
    return NULL;
}

static void assign_name(Elab *e, const Ast *ast) {
    const AstDecl *decl = ast->a->decl;
    Val v = el_expr(e, ast->b);
    if (!decl || decl->kind != DECL_VAR || ast->c) {
        el_silent(e);  // the resolver or the parser reported it
        return;
    }
    Slot *slot = el_slot(e, decl);
    if (slot && slot->val.kind == VAL_ARRAY) {
        el_error(e, ast->a->span, DIAG_ASSIGN, "an array is assigned tile by tile");
        el_help(e, "write %s[0] = …", decl->name);
    }
    if (!slot || slot->val.kind != VAL_IR) return;
    const IrType *type = slot->val.ir->type;
    if (ast->op != OPERATOR_NONE)
        v = el_binary(e, ast->op, slot->val, v, ast->span, ast->a->span, ast->b->span);
    IrValue *value = el_assigned_value(e, type, v, ast->b->span, decl->name);
    if (!value) return;
    bind_name(value, decl->name);
    el_assign_slot(e, slot, el_ir(value));
}

static void stmt_assign(Elab *e, const Ast *ast) {
    if (ast->broken) {
        el_silent(e);
    } else if (ast->a->kind == AST_NAME) {
        assign_name(e, ast);
    } else if (ast->a->kind == AST_INDEX) {
        Slot *slot;
        Val table = el_table_named(e, ast->a->a);
        if (table.kind == VAL_TABLE) {
            el_error(e, ast->a->span, DIAG_ASSIGN, "%s cannot be assigned", el_val_text(e, table));
            el_help(e, "copy it: var t = …; t[i] = …");
        } else if (ast->a->a->kind == AST_INDEX) {
            el_error(e, ast->a->span, DIAG_INDEX, "a write has one pair of brackets");
            el_help(e, "write all indices in it, x[i, j] = …");
        } else if (el_is_element(e, ast->a, &slot))
            el_element_assign(e, ast, slot);
        else
            el_view_assign(e, ast);
    } else {
        el_silent(e);  // the parser reported that this cannot be assigned
    }
}

// ---- break, continue

static void stmt_jump(Elab *e, const Ast *ast) {
    Loop *loop = tile_of(e)->frame->loop;
    if (!loop) {
        el_silent(e);  // the resolver reported that it is outside of a loop
        return;
    }
    el_assign_slot(e, &loop->active, el_bool(false));
    if (ast->kind == AST_BREAK) el_assign_slot(e, &loop->going, el_bool(false));
}

// ---- lists

// A simple statement with a mistake that was already reported: its names have no value.
static void stmt_skip(Elab *e, const Ast *ast) {
    bool declares = ast->kind == AST_LET || ast->kind == AST_VAR;
    for (const AstDecl *decl = declares ? ast->decl : NULL; decl; decl = decl->next) {
        Slot *slot = el_slot(e, decl);
        if (slot) el_declare_slot(e, slot, EL_POISON);
    }
    if (ast->kind == AST_RETURN) el_return_poison(e);
    if (ast->kind == AST_BREAK || ast->kind == AST_CONTINUE)
        el_assign_slot(e, el_active(e), el_bool(false));
}

static bool stmt_is_simple(const Ast *ast) {
    return ast->kind == AST_LET || ast->kind == AST_VAR || ast->kind == AST_ASSIGN ||
           ast->kind == AST_EXPR || ast->kind == AST_RETURN || ast->kind == AST_BREAK ||
           ast->kind == AST_CONTINUE;
}

static void stmt_dispatch(Elab *e, const Ast *ast) {
    if (tile_of(e)->blamed_count && stmt_is_simple(ast) && el_blamed(e, ast->span)) {
        stmt_skip(e, ast);
        return;
    }
    switch (ast->kind) {
    case AST_LET:
    case AST_VAR: stmt_declare(e, ast); break;
    case AST_ASSIGN: stmt_assign(e, ast); break;
    case AST_EXPR: {
        Val v = el_expr(e, ast->a);
        if (v.kind == VAL_VIEW || v.kind == VAL_TYPE || v.kind == VAL_FN)
            el_check_operand(e, v, ast->a->span);
        break;
    }
    case AST_IF: el_if(e, ast, NULL, el_active(e)->tail); break;
    case AST_FOR: el_for(e, ast); break;
    case AST_WHILE: el_while(e, ast); break;
    case AST_BREAK:
    case AST_CONTINUE: stmt_jump(e, ast); break;
    case AST_RETURN: el_return(e, ast); break;
    case AST_BLOCK: el_list(e, ast->list); break;
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL:
    case AST_STRING:
    case AST_NAME:
    case AST_UNARY:
    case AST_BINARY:
    case AST_CALL:
    case AST_NAMED:
    case AST_INDEX:
    case AST_SELECT:
    case AST_TYPE:
    case AST_TUPLE:
    case AST_BRACES:
    case AST_ERROR: el_silent(e); break;
    }
}

// Elaborates statements until one certainly leaves. A statement that leaves on some paths makes the
// flag `active` an IR value; the statements after it are then guarded.
void el_list(Elab *e, const Ast *first) {
    Slot *active = el_active(e);
    bool tail = active->tail;
    for (const Ast *ast = first; ast; ast = ast->next) {
        active->tail = tail && !ast->next;
        Span outer = e->b.span;
        e->b.span = ast->span;
        bool took_rest = false;
        if (tile_of(e)->depth >= EL_WALK_DEPTH) {
            el_error(e, ast->span, DIAG_TOO_DEEP, "calls and statements nest deeper than %d",
                     EL_WALK_DEPTH);
            took_rest = true;
        } else {
            tile_of(e)->depth++;
            if (ast->kind == AST_IF && ast->next && !ast->is_const) {
                took_rest = el_if(e, ast, ast->next, tail);
            } else {
                stmt_dispatch(e, ast);
            }
            tile_of(e)->depth--;
        }
        e->b.span = outer;
        active->tail = tail;
        if (took_rest) break;
        if (active->val.kind == VAL_BOOL && active->val.truth) continue;
        if (active->val.kind == VAL_IR && ast->next) el_guarded_list(e, ast->next);
        break;
    }
}

void el_body(Elab *e, const Ast *body) {
    if (!body) return;
    if (body->kind == AST_BLOCK) {
        el_list(e, body->list);
    } else {
        Slot *active = el_active(e);
        bool tail = active->tail;
        Span outer = e->b.span;
        e->b.span = body->span;
        if (tile_of(e)->depth < EL_WALK_DEPTH) {
            tile_of(e)->depth++;
            stmt_dispatch(e, body);
            tile_of(e)->depth--;
        }
        e->b.span = outer;
        active->tail = tail;
    }
}
