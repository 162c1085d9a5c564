// Names in expressions and statements; statements that control never reaches.
#include "frontend/tile/resolve.h"

// ---- names

// For a name whose error was reported the elaborator reports nothing.
static void unbind(Ast *name) {
    name->decl = NULL;
    name->builtin = -1;
}

static void not_callable(Resolver *r, Ast *name, const AstDecl *decl) {
    unbind(name);
    if (decl->kind == DECL_KERNEL) {
        diag_error(r->diags, name->span, DIAG_NOT_CALLABLE, "kernel '%s' cannot be called",
                   name->name);
        diag_help(r->diags, "kernels are launched by the host; put what both need in a fn");
        return;
    }
    diag_error(r->diags, name->span, DIAG_NOT_CALLABLE, "'%s' is %s and cannot be called",
               name->name, decl_phrase(decl));
    diag_note(r->diags, decl->span, "'%s' is declared here", name->name);
    TileBuiltin builtin;
    if (tile_builtin_find(str(name->name), &builtin))
        diag_help(r->diags, "it hides the built-in of this name; give it another name");
}

static void not_value(Resolver *r, Ast *name, const char *what, const char *help) {
    diag_error(r->diags, name->span, DIAG_NOT_A_VALUE, "'%s' is %s, not a value", name->name, what);
    diag_help(r->diags, "%s", help);
    if (name->kind == AST_NAME) unbind(name);
}

static void check_callee(Resolver *r, Ast *name) {
    const AstDecl *decl = name->decl;
    bool may = !decl || decl->kind == DECL_FN || decl->kind == DECL_TYPE_PARAM ||
               decl->kind == DECL_FN_PARAM;  // it may be a fn or a type
    if (!may) {
        not_callable(r, name, decl);
    } else if (name->builtin == TILE_NOALIAS && !r->in_requires) {
        diag_error(r->diags, name->span, DIAG_MISPLACED,
                   "'noalias' is allowed only under 'requires'");
        unbind(name);
    }
}

static void check_value(Resolver *r, Ast *name, NameUse use) {
    const AstDecl *decl = name->decl;
    if (decl && decl->kind == DECL_KERNEL) {
        not_value(r, name, "a kernel", "kernels are launched by the host only");
    } else if (use == USE_ARGUMENT) {
        return;  // it may be a combiner or a type
    } else if (decl && decl->kind == DECL_FN) {
        not_value(r, name, "a fn", "call it with arguments in parentheses");
    } else if (decl && decl->kind == DECL_TYPE_PARAM) {
        not_value(r, name, "a type", "a cast is written as a call");
    } else if (name->builtin >= 0) {
        not_value(r, name, "a built-in function", "call it with arguments in parentheses");
    }
}

// The value of a const sees only the consts before it, so that no value needs itself.
static bool too_early(Resolver *r, const Ast *name) {
    const AstDecl *decl = name->decl, *user = r->value_of;
    if (!decl || !user || decl->kind != user->kind) return false;
    bool early =
        decl->kind == DECL_CONST ? decl->slot >= user->slot : decl->span.begin >= user->span.begin;
    if (!early) return false;
    diag_error(r->diags, name->span, DIAG_UNKNOWN_NAME, "const '%s' is used before it is declared",
               name->name);
    diag_note(r->diags, decl->span, "'%s' is declared here", name->name);
    return true;
}

static void resolve_name(Resolver *r, Ast *name, NameUse use) {
    const Binding *b = scope_find(r, name->name);
    if (!b) {
        scope_unknown(r, use == USE_CALLEE ? "function" : "name", name->name, name->span);
        return;
    }
    name->decl = b->decl;
    name->builtin = b->builtin;
    if (b->decl) resolve_use(r, b->decl, name->span);
    if (too_early(r, name)) {
        unbind(name);
    } else if (use == USE_CALLEE) {
        check_callee(r, name);
    } else {
        check_value(r, name, use);
    }
    if (r->fn && name->decl && name->decl->kind == DECL_FN) {
        FnUse fn_use = {r->fn->id, ((const AstFn *)name->decl->owner)->id, name};
        vec_push(r->arena, &r->uses, fn_use);
    }
}

// ---- calls

// order = relaxed: the word is not a name.
static void resolve_word(Resolver *r, const Ast *argument, const char *const *words) {
    const Ast *value = argument->a;
    if (value->kind == AST_NAME) {
        for (const char *const *w = words; *w; w++)
            if (str_equal(str(*w), str(value->name))) return;
    }
    if (value->kind == AST_ERROR) return;
    StrBuf all = strbuf(r->arena);
    for (const char *const *w = words; *w; w++)
        strbuf_printf(&all, "%s%s", w == words ? "" : w[1] ? ", " : " or ", *w);
    diag_error(r->diags, value->span, DIAG_ARGUMENTS, "expected %.*s for '%s'",
               STR_ARG(strbuf_str(&all)), argument->name);
}

static void resolve_arguments(Resolver *r, Ast *call, bool builtin) {
    for (Ast *a = call->list; a; a = a->next) {
        if (a->kind != AST_NAMED) {
            resolve_expr(r, a, USE_ARGUMENT);
            continue;
        }
        for (const Ast *b = call->list; b != a; b = b->next) {
            if (b->kind != AST_NAMED || b->name != a->name) continue;
            diag_error(r->diags, a->span, DIAG_ARGUMENTS, "argument '%s' is given twice", a->name);
            diag_note(r->diags, b->span, "the first one is here");
            break;
        }
        const char *const *words = builtin ? tile_argument_words(str(a->name)) : NULL;
        if (words) {
            resolve_word(r, a, words);
        } else {
            resolve_expr(r, a->a, USE_ARGUMENT);
        }
    }
}

static void check_arity(Resolver *r, const Ast *call, const AstDecl *decl) {
    const AstFn *fn = decl->owner;
    size_t wanted = 0, found = 0;
    for (const AstDecl *p = fn->params; p; p = p->next) wanted++;
    for (const Ast *a = call->list; a; a = a->next) {
        found++;
        if (a->kind != AST_NAMED) continue;
        diag_error(r->diags, a->span, DIAG_ARGUMENTS, "fn '%s' takes no named arguments",
                   decl->name);
        diag_help(r->diags, "only built-ins do; give the value in its place");
        return;
    }
    if (wanted == found) return;
    diag_error(r->diags, call->span, DIAG_ARGUMENTS, "fn '%s' takes %zu argument%s, found %zu",
               decl->name, wanted, wanted == 1 ? "" : "s", found);
    diag_note(r->diags, decl->span, "'%s' is declared here", decl->name);
}

static void resolve_call(Resolver *r, Ast *call) {
    Ast *callee = call->a;
    resolve_expr(r, callee, USE_CALLEE);
    bool is_fn = callee->kind == AST_NAME && callee->decl && callee->decl->kind == DECL_FN;
    resolve_arguments(r, call, !is_fn);
    if (is_fn) check_arity(r, call, callee->decl);
    if (call->b) resolve_expr(r, call->b, USE_VALUE);
}

// ---- expressions

// Types can be compared, as in 'if const (T == f16)'; the elaborator knows which operands are
// types.
static void resolve_binary(Resolver *r, Ast *e) {
    size_t count;
    Ast *const *chain = ast_chain_of(r->arena, e, &count);
    for (size_t i = count; i-- > 0;) {
        Operator op = chain[i]->op;
        NameUse use = op == OPERATOR_EQ || op == OPERATOR_NE ? USE_ARGUMENT : USE_VALUE;
        if (i + 1 == count) resolve_expr(r, chain[i]->a, use);
        resolve_expr(r, chain[i]->b, use);
    }
}

void resolve_each(Resolver *r, Ast *list, NameUse use) {
    for (Ast *e = list; e; e = e->next) resolve_expr(r, e, use);
}

void resolve_expr(Resolver *r, Ast *e, NameUse use) {
    switch (e->kind) {
    case AST_NAME: resolve_name(r, e, use); break;
    case AST_UNARY: resolve_expr(r, e->a, USE_VALUE); break;
    case AST_BINARY: resolve_binary(r, e); break;
    case AST_SELECT:
        if (e->a) resolve_expr(r, e->a, USE_VALUE);
        if (e->b) resolve_expr(r, e->b, USE_VALUE);
        break;
    case AST_CALL: resolve_call(r, e); break;
    case AST_NAMED: resolve_expr(r, e->a, use); break;
    case AST_INDEX:
        resolve_expr(r, e->a, USE_VALUE);
        resolve_each(r, e->list, USE_VALUE);
        if (e->b) resolve_expr(r, e->b, USE_VALUE);
        break;
    case AST_TUPLE: resolve_each(r, e->list, use); break;
    case AST_BRACES: resolve_each(r, e->list, USE_VALUE); break;
    case AST_TYPE:
        if (use == USE_VALUE) not_value(r, e, "a type", "a cast is written as a call");
        break;
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL:
    case AST_STRING:
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
}

// ---- assignments

static void assign_help(Resolver *r, const AstDecl *decl) {
    switch (decl->kind) {
    case DECL_LET: diag_help(r->diags, "declare it with 'var'"); break;
    case DECL_VIEW:
        diag_help(r->diags, "a view is written through a selection, '%s[…] = …'", decl->name);
        break;
    case DECL_POINTER:
        diag_help(r->diags, "write 'store(%s, value)' to write where it points", decl->name);
        break;
    case DECL_SCALAR:
    case DECL_FN_PARAM:
    case DECL_LOOP:
        diag_help(r->diags, "write 'var %s2 = %s;' for a variable of its own", decl->name,
                  decl->name);
        break;
    case DECL_KERNEL:
    case DECL_FN:
    case DECL_TYPE_PARAM:
    case DECL_CONST_PARAM:
    case DECL_EXTENT:
    case DECL_VAR:
    case DECL_CONST: break;
    }
}

static void resolve_target(Resolver *r, Ast *target) {
    if (target->kind != AST_NAME) {
        resolve_expr(r, target, USE_VALUE);
        return;
    }
    const Binding *b = scope_find(r, target->name);
    if (!b) {
        scope_unknown_target(r, target->name, target->span);
        return;
    }
    if (b->decl && b->decl->kind == DECL_VAR) {
        target->decl = b->decl;
        b->decl->assigned = true;
        return;
    }
    diag_error(r->diags, target->span, DIAG_ASSIGN, "'%s' is %s and cannot be assigned",
               target->name, b->decl ? decl_phrase(b->decl) : "a built-in");
    if (!b->decl) return;
    b->decl->used = true;
    diag_note(r->diags, b->decl->span, "'%s' is declared here", target->name);
    assign_help(r, b->decl);
}

static void resolve_assign(Resolver *r, Ast *s) {
    resolve_target(r, s->a);
    resolve_expr(r, s->b, USE_VALUE);
    if (s->c) resolve_expr(r, s->c, USE_VALUE);
}

// ---- statements: each tells whether control never passes its end

static bool resolve_statement(Resolver *r, Ast *s);

bool resolve_statements(Resolver *r, Ast *list) {
    bool ended = false, warned = false;
    for (Ast *s = list; s; s = s->next) {
        if (ended && !warned && r->warns) {
            diag_warning(r->diags, s->span, DIAG_UNREACHABLE, "this is never reached");
            warned = true;
        }
        ended |= resolve_statement(r, s);
    }
    return ended;
}

// A statement with a scope of its own.
static bool resolve_scoped(Resolver *r, Ast *s) {
    size_t mark = scope_open(r);
    bool ended = s->kind == AST_BLOCK ? resolve_statements(r, s->list) : resolve_statement(r, s);
    scope_close(r, mark);
    return ended;
}

static void resolve_let(Resolver *r, Ast *s) {
    if (s->decl && !s->decl->broken) resolve_type_name(r, &s->decl->type);
    if (s->decl) resolve_each(r, s->decl->dims, USE_VALUE);
    if (s->a) resolve_expr(r, s->a, USE_VALUE);  // resolved before the names, so it sees outer ones
    for (AstDecl *d = s->decl; d; d = d->next) scope_declare(r, d);
}

// True when control leaves the loop only by its condition, never by a break.
static bool resolve_loop_body(Resolver *r, Ast *body) {
    bool outer = r->breaks;
    r->loops++;
    r->breaks = false;
    resolve_scoped(r, body);
    bool closed = !r->breaks;
    r->breaks = outer;
    r->loops--;
    return closed;
}

static void resolve_for(Resolver *r, Ast *s) {
    resolve_expr(r, s->a, USE_VALUE);
    resolve_expr(r, s->b, USE_VALUE);
    if (s->c) resolve_expr(r, s->c, USE_VALUE);
    size_t mark = scope_open(r);
    scope_declare(r, s->decl);
    resolve_loop_body(r, s->d);
    scope_close(r, mark);
}

static bool resolve_if(Resolver *r, Ast *s) {
    resolve_expr(r, s->a, USE_VALUE);
    bool then = resolve_scoped(r, s->b);
    bool otherwise = s->c && resolve_scoped(r, s->c);
    return then && otherwise;
}

static void resolve_return(Resolver *r, Ast *s) {
    if (s->a) resolve_expr(r, s->a, USE_VALUE);
    if (!r->kernel || !s->a || s->a->kind == AST_ERROR) return;
    diag_error(r->diags, s->a->span, DIAG_MISPLACED, "a kernel returns no value");
    diag_help(r->diags, "write it to a view; 'return;' ends the program");
}

static bool resolve_jump(Resolver *r, const Ast *s, const char *word) {
    if (r->loops == 0) diag_error(r->diags, s->span, DIAG_MISPLACED, "'%s' is not in a loop", word);
    if (s->kind == AST_BREAK) r->breaks = true;
    return r->loops > 0;
}

static bool resolve_statement(Resolver *r, Ast *s) {
    switch (s->kind) {
    case AST_LET:
    case AST_VAR: resolve_let(r, s); return false;
    case AST_ASSIGN: resolve_assign(r, s); return false;
    case AST_EXPR: resolve_expr(r, s->a, USE_VALUE); return false;
    case AST_IF: return resolve_if(r, s);
    case AST_FOR: resolve_for(r, s); return false;
    case AST_WHILE: {
        resolve_expr(r, s->a, USE_VALUE);
        bool closed = resolve_loop_body(r, s->b);
        return closed && s->a->kind == AST_BOOL && s->a->integer;
    }
    case AST_BREAK: return resolve_jump(r, s, "break");
    case AST_CONTINUE: return resolve_jump(r, s, "continue");
    case AST_RETURN: resolve_return(r, s); return true;
    case AST_BLOCK: return resolve_scoped(r, s);
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
    case AST_ERROR: return false;
    }
    return false;
}
