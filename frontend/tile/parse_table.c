// Tables: const f32 W[3] = { … };
#include "frontend/tile/parse.h"

bool parse_typed_name(Parser *p, AstTypeName *type) {
    bool typed = parse_at(p, TOK_TYPE) || parse_at(p, TOK_NAME);
    if (!typed || parse_peek(p)->kind != TOK_NAME) return false;
    *type = (AstTypeName){.span = p->tok.span};
    if (parse_at(p, TOK_TYPE))
        type->dtype = p->tok.dtype;
    else
        type->param = p->tok.u.name;
    parse_advance(p);
    return true;
}

bool parse_at_table(Parser *p) {
    return parse_at(p, TOK_NAME) && parse_peek(p)->kind == TOK_LBRACKET;
}

static void parse_extents(Parser *p, AstDecl *table) {
    AstList list;
    list_begin(&list);
    parse_advance(p);
    if (parse_at(p, TOK_RBRACKET)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "expected the number of values, found ']'");
        parse_help(p, "a table says how many values it has");
    }
    while (!p->panic) {
        list_add(&list, parse_expr(p));
        if (!parse_accept(p, TOK_COMMA)) break;
    }
    parse_expect(p, TOK_RBRACKET, "after the extents");
    if (parse_at(p, TOK_LBRACKET)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "expected '=' after the extents, found '['");
        parse_help(p, "all extents are written in one pair of brackets, as in '%s[M, N]'",
                   table->name);
    }
    if (!list.first) list_add(&list, parse_node(p, AST_ERROR, table->span));
    table->dims = list.first;
}

static void foreign_type(Parser *p, const AstTypeName *type) {
    bool top = !p->kernel && !p->depth;
    if (!type->param || (!top && !tile_foreign_type(str(type->param)))) return;
    const char *own = tile_foreign_type(str(type->param));
    if (!parse_complain(p, type->span, DIAG_UNKNOWN_NAME, "unknown type '%s'", type->param)) return;
    if (own)
        parse_help(p, "this type is called '%s'", own);
    else
        parse_help(p, "at the top of a file a table has a type such as f32");
}

AstDecl *parse_table(Parser *p, const AstTypeName *type) {
    unsigned mistakes = p->mistakes;
    AstDecl *decl = parse_decl(p, DECL_CONST, p->tok.u.name, p->tok.span);
    if (type) {
        decl->type = *type;
        foreign_type(p, type);
    } else if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "the table '%s' has no type",
                              decl->name)) {
        parse_help(p, "write 'const f32 %s[…] = …'", decl->name);
    }
    parse_advance(p);
    parse_extents(p, decl);
    bool value = parse_expect(p, TOK_ASSIGN, "and the values of the table");
    if (value && !parse_at(p, TOK_LBRACE)) {
        parse_expected(p, "'{' before the values of a table");
        value = false;
    }
    decl->value = value ? parse_braces(p) : parse_node(p, AST_ERROR, p->tok.span);
    decl->broken = p->mistakes != mistakes;
    return decl;
}
