// Expressions.
//
// Precedence (rule 33), loosest first: || && ; == != ; < <= > >= ; | ; ^ ; & ; << >> ; + - ; * / %
// ; then the unary - ! ~ and last calls, indices and the `or` of a read.
#include <math.h>

#include "frontend/tile/parse.h"

static const struct {
    uint8_t strength;
    uint8_t op;
} binary[TOK_COUNT] = {
    [TOK_LOR] = {1, OPERATOR_LOR},    [TOK_LAND] = {2, OPERATOR_LAND},
    [TOK_EQ] = {3, OPERATOR_EQ},      [TOK_NE] = {3, OPERATOR_NE},
    [TOK_LT] = {4, OPERATOR_LT},      [TOK_LE] = {4, OPERATOR_LE},
    [TOK_GT] = {4, OPERATOR_GT},      [TOK_GE] = {4, OPERATOR_GE},
    [TOK_OR] = {5, OPERATOR_OR},      [TOK_XOR] = {6, OPERATOR_XOR},
    [TOK_AND] = {7, OPERATOR_AND},    [TOK_SHL] = {8, OPERATOR_SHL},
    [TOK_SHR] = {8, OPERATOR_SHR},    [TOK_PLUS] = {9, OPERATOR_ADD},
    [TOK_MINUS] = {9, OPERATOR_SUB},  [TOK_STAR] = {10, OPERATOR_MUL},
    [TOK_SLASH] = {10, OPERATOR_DIV}, [TOK_PERCENT] = {10, OPERATOR_REM},
};

static Ast *parse_operand(Parser *p);
static Ast *parse_any(Parser *p);

static Ast *error_node(Parser *p) { return parse_node(p, AST_ERROR, p->tok.span); }

// Records that `child` is below `node`.
static void attach(Parser *p, Ast *node, const Ast *child) {
    if (child->height >= node->height) node->height = (uint8_t)(child->height + 1);
    if (p->statement_depth + node->height > AST_MAX_DEPTH) parse_too_deep(p, node->span);
}

// Chains of binary operators such as sums may have any length. Code that walks the tree goes down
// their left sides in a loop (ast_chain), so that a chain does not get deeper than its terms.
static void attach_left(Parser *p, Ast *node, const Ast *left) {
    if (!ast_chain(node) || !ast_chain(left)) {
        attach(p, node, left);
    } else if (left->height > node->height) {
        node->height = left->height;
    }
}

// Replaces an expression whose error was reported, so that no second error follows.
static Ast *error_at(Parser *p, Span span) { return parse_node(p, AST_ERROR, span); }

static Ast *not_tuple(Parser *p, Ast *value) {
    if (value->kind != AST_TUPLE) return value;
    if (parse_complain(
            p, value->span, DIAG_SYNTAX,
            "a tuple is allowed only after '=' of a let or var, after 'return', and as an "
            "argument of a call"))
        parse_help(p, "write a 'let' or an operation for each of its values");
    return error_at(p, value->span);
}

static bool begins_operand(TokenKind kind) {
    return kind == TOK_NAME || kind == TOK_TYPE || kind == TOK_INT || kind == TOK_FLOAT ||
           kind == TOK_LPAREN || kind == TOK_TRUE || kind == TOK_FALSE || kind == TOK_INF ||
           kind == TOK_NAN;
}

// ---- casts as in C

bool parse_is_type(const Parser *p, Symbol name) {
    for (AstDecl *d = p->kernel ? p->kernel->params : NULL; d; d = d->next)
        if (d->kind == DECL_TYPE_PARAM && d->name == name) return true;
    return tile_foreign_type(str(name)) || str_equal(str(name), STR("auto"));
}

// The name of the type that (inner) would be a cast to in C, or NULL.
static const char *cast_type(const Parser *p, const Ast *inner) {
    if (inner->kind == AST_TYPE) return dtype_name(inner->dtype);
    if (inner->kind != AST_NAME) return NULL;
    const char *ours = tile_foreign_type(str(inner->name));
    if (ours) return ours;
    return parse_is_type(p, inner->name) ? inner->name : NULL;
}

// After (type): reads the operand of the intended cast.
static Ast *c_cast(Parser *p, Ast *inner, Span span) {
    const char *type = cast_type(p, inner);
    bool operand = begins_operand(p->tok.kind) || parse_at(p, TOK_MINUS);
    if (!type || !operand || (inner->kind == AST_TYPE && parse_at(p, TOK_MINUS) && p->tok.first))
        return inner;
    if (parse_complain(p, span, DIAG_SYNTAX, "a cast is written as a call"))
        parse_help(p, "write '%s(…)'", type);
    if (!parse_enter(p)) return inner;
    parse_operand(p);
    parse_leave(p);
    return parse_node(p, AST_ERROR, span_join(span, p->previous));
}

static Ast *parse_parenthesis(Parser *p) {
    Span open = p->tok.span;
    parse_advance(p);
    if (!parse_enter(p)) return error_node(p);
    Ast *inner = parse_any(p);
    if (parse_at(p, TOK_ASSIGN) &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "'=' is not an operator of an expression")) {
        parse_help(p, "write '==' to compare");
        parse_advance(p);
        parse_any(p);
        inner = error_at(p, inner->span);
    }
    if (parse_at(p, TOK_COMMA) && !p->panic) {
        AstList list;
        list_add(list_begin(&list), not_tuple(p, inner));
        Ast *tuple = parse_node(p, AST_TUPLE, open);
        attach(p, tuple, inner);
        while (!p->panic && parse_accept(p, TOK_COMMA)) {
            Ast *item = parse_expr(p);
            attach(p, tuple, item);
            list_add(&list, item);
        }
        tuple->list = list.first;
        inner = tuple;
    }
    parse_expect(p, TOK_RPAREN, inner->kind == AST_TUPLE ? "after the tuple" : "to close '('");
    parse_leave(p);
    if (p->panic) return inner;
    Span span = span_join(open, p->previous);
    Ast *cast = c_cast(p, inner, span);
    if (cast != inner) return cast;
    inner->span = span;
    return inner;
}

// ---- names, literals

static Ast *literal(Parser *p, AstKind kind) {
    Ast *node = parse_node(p, kind, p->tok.span);
    parse_advance(p);
    return node;
}

static Ast *real_literal(Parser *p, double value) {
    Ast *node = literal(p, AST_FLOAT);
    node->real = value;
    node->text = (Str){p->file->text.text + (node->span.begin - p->file->base),
                       node->span.end - node->span.begin};
    return node;
}

static Ast *string_literal(Parser *p) {
    Str text = p->tok.u.text;
    Ast *node = literal(p, AST_STRING);
    node->text = text;
    return node;
}

static Ast *parse_name_use(Parser *p) {
    Ast *node = parse_node(p, AST_NAME, p->tok.span);
    node->name = p->tok.u.name;
    parse_advance(p);
    bool not_word =
        node->name == p->words.not &&begins_operand(p->tok.kind) && !parse_at(p, TOK_LPAREN);
    if (!not_word || !parse_complain(p, node->span, DIAG_SYNTAX, "there is no operator 'not'"))
        return node;
    parse_help(p, "write '!'");
    if (!parse_enter(p)) return node;
    parse_operand(p);
    parse_leave(p);
    return error_at(p, span_join(node->span, p->previous));
}

static Ast *parse_primary(Parser *p) {
    Ast *node = NULL;
    switch (p->tok.kind) {
    case TOK_NAME: return parse_name_use(p);
    case TOK_INT: {
        uint64_t value = p->tok.u.integer;
        node = literal(p, AST_INT);
        node->integer = value;
        return node;
    }
    case TOK_TYPE:
        node = parse_node(p, AST_TYPE, p->tok.span);
        node->dtype = p->tok.dtype;
        node->name = p->tok.u.name;
        parse_advance(p);
        return node;
    case TOK_FLOAT: return real_literal(p, p->tok.u.real);
    case TOK_INF: return real_literal(p, (double)INFINITY);
    case TOK_NAN: return real_literal(p, (double)NAN);
    case TOK_TRUE:
    case TOK_FALSE: {
        bool value = parse_at(p, TOK_TRUE);
        node = literal(p, AST_BOOL);
        node->integer = value;
        return node;
    }
    case TOK_STRING:
        parse_complain(p, p->tok.span, DIAG_SYNTAX,
                       "a text is allowed only as an argument of print, assert and static_assert");
        parse_advance(p);
        return error_at(p, p->previous);
    case TOK_LPAREN: return parse_parenthesis(p);
    case TOK_LBRACE:
        parse_expected(p, "an expression");
        parse_help(p,
                   "values in braces are those of a table, const f32 W[2] = {1, 2}, or of a "
                   "tile, tile(f32, {1, 2})");
        return error_node(p);
    default: parse_expected(p, "an expression"); return error_node(p);
    }
}

// ---- values in braces

// After an error: skips to after the brace that closes the list, or before what ends the statement.
static void sync_braces(Parser *p) {
    size_t open = 1;
    while (open && !parse_at(p, TOK_END) && !parse_at(p, TOK_SEMICOLON) &&
           !parse_at(p, TOK_KERNEL)) {
        if (parse_at(p, TOK_LBRACE)) open++;
        if (parse_at(p, TOK_RBRACE)) open--;
        parse_advance(p);
    }
}

Ast *parse_braces(Parser *p) {
    Ast *node = parse_node(p, AST_BRACES, p->tok.span);
    AstList list;
    list_begin(&list);
    parse_advance(p);
    if (!parse_enter(p)) return node;
    while (!p->panic && !parse_at(p, TOK_RBRACE)) {
        Ast *item = parse_at(p, TOK_LBRACE) ? parse_braces(p) : parse_expr(p);
        attach(p, node, item);
        list_add(&list, item);
        if (!parse_accept(p, TOK_COMMA)) break;
    }
    node->list = list.first;
    parse_expect(p, TOK_RBRACE, "after the values");
    parse_leave(p);
    if (p->panic) sync_braces(p);
    node->span = span_join(node->span, p->previous);
    return node;
}

// ---- calls and indices

static Ast *parse_named_argument(Parser *p) {
    Ast *node = parse_node(p, AST_NAMED, p->tok.span);
    node->name = p->tok.u.name;
    parse_advance(p);
    parse_advance(p);
    node->a = not_tuple(p, parse_any(p));
    node->span = span_join(node->span, node->a->span);
    attach(p, node, node->a);
    return node;
}

static Ast *parse_argument(Parser *p, bool *named) {
    if (parse_at(p, TOK_NAME) && parse_peek(p)->kind == TOK_ASSIGN) {
        *named = true;
        return parse_named_argument(p);
    }
    Span span = p->tok.span;
    Ast *value = parse_at(p, TOK_STRING)   ? string_literal(p)
                 : parse_at(p, TOK_LBRACE) ? parse_braces(p)
                                           : parse_any(p);
    if (*named && parse_complain(p, span_join(span, value->span), DIAG_SYNTAX,
                                 "a positional argument after a named one"))
        parse_help(p, "named arguments come last");
    return value;
}

static Ast *parse_call(Parser *p, Ast *callee) {
    Ast *call = parse_node(p, AST_CALL, callee->span);
    call->a = callee;
    attach(p, call, callee);
    if (callee->kind != AST_NAME && callee->kind != AST_TYPE)
        parse_complain(p, callee->span, DIAG_NOT_CALLABLE,
                       "only a function, a type or a built-in can be called");
    parse_advance(p);
    if (!parse_enter(p)) return call;
    AstList list;
    list_begin(&list);
    bool named = false;
    if (!parse_at(p, TOK_RPAREN)) {
        do {
            Ast *argument = parse_argument(p, &named);
            attach(p, call, argument);
            list_add(&list, argument);
        } while (!p->panic && parse_accept(p, TOK_COMMA));
    }
    call->list = list.first;
    parse_expect(p, TOK_RPAREN, "after the arguments");
    parse_leave(p);
    call->span = span_join(call->span, p->previous);
    return call;
}

static Ast *parse_selector(Parser *p) {
    if (parse_at(p, TOK_COLON)) {
        Ast *whole = parse_node(p, AST_SELECT, p->tok.span);
        parse_advance(p);
        return whole;
    }
    Ast *start = parse_expr(p);
    if (p->panic || !parse_at(p, TOK_SELECT)) return start;
    parse_advance(p);
    Ast *select = parse_node(p, AST_SELECT, start->span);
    select->a = start;
    select->b = parse_expr(p);
    attach(p, select, start);
    attach(p, select, select->b);
    select->span = span_join(start->span, select->b->span);
    return select;
}

static Ast *parse_index(Parser *p, Ast *target) {
    Ast *index = parse_node(p, AST_INDEX, target->span);
    index->a = target;
    attach(p, index, target);
    parse_advance(p);
    if (!parse_enter(p)) return index;
    AstList list;
    list_begin(&list);
    do {
        Ast *selector = parse_selector(p);
        attach(p, index, selector);
        list_add(&list, selector);
    } while (!p->panic && parse_accept(p, TOK_COMMA));
    index->list = list.first;
    if (parse_at(p, TOK_COLON)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "expected ']' or ',' in the selection, found ':'");
        parse_help(p, "a part of W elements from i on is written 'x[i +: W]'");
    }
    parse_expect(p, TOK_RBRACKET, "to close the selection");
    parse_leave(p);
    index->span = span_join(index->span, p->previous);
    return index;
}

static Ast *parse_pad(Parser *p, Ast *read) {
    bool is_load = read->kind == AST_CALL && read->a->kind == AST_NAME &&
                   str_equal(str(read->a->name), STR("load"));
    bool is_read = read->kind == AST_INDEX || is_load;
    if (!is_read && parse_complain(p, p->tok.span, DIAG_SYNTAX,
                                   "'or' follows only the read of a view or load(…)"))
        parse_help(
            p, "it gives the value of elements outside; the operator is '||', or '|' for tiles");
    parse_advance(p);
    if (!parse_enter(p)) return read;
    Ast *pad = not_tuple(p, parse_operand(p));
    parse_leave(p);
    if (!is_read) return error_at(p, span_join(read->span, p->previous));
    read->b = pad;
    attach(p, read, pad);
    read->span = span_join(read->span, pad->span);
    return read;
}

static void parse_member(Parser *p) {
    parse_fail(p, p->tok.span, DIAG_SYNTAX, "values have no members, found '%s'",
               token_text(p->tok.kind));
    const Token *name = parse_peek(p);
    TileBuiltin builtin;
    if (name->kind == TOK_NAME && tile_builtin_find(str(name->u.name), &builtin))
        parse_help(p, "write '%s(…)'", name->u.name);
    else
        parse_help(p, "the extents of a view have names of their own, as R and C of x[R, C]");
}

static Ast *parse_postfix(Parser *p) {
    Ast *node = parse_primary(p);
    while (!p->panic) {
        if (parse_at(p, TOK_LPAREN)) {
            node = parse_call(p, not_tuple(p, node));
        } else if (parse_at(p, TOK_LBRACKET)) {
            node = parse_index(p, not_tuple(p, node));
        } else if (parse_at(p, TOK_OR_ELSE)) {
            node = parse_pad(p, node);
            break;
        } else if (parse_at(p, TOK_DOT) || parse_at(p, TOK_ARROW)) {
            parse_member(p);
        } else {
            break;
        }
    }
    return node;
}

// ---- operators

// Reports an operator of C that the language does not have, before an operand, and reads the
// operand.
static Ast *foreign_unary(Parser *p) {
    TokenKind kind = p->tok.kind;
    if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "there is no operator '%s' before a value",
                       token_text(kind))) {
        if (kind == TOK_STAR)
            parse_help(p, "'load(p)' reads through a pointer; pow(a, b) is a power");
        if (kind == TOK_AND)
            parse_help(p, "a pointer is a parameter '*f32 p'; values have no address");
        if (kind == TOK_INCREMENT) parse_help(p, "write 'x += 1;' as a statement");
        if (kind == TOK_DECREMENT) parse_help(p, "write 'x -= 1;' as a statement, or '-(-x)'");
        if (kind == TOK_PLUS) parse_help(p, "leave it out");
    }
    parse_advance(p);
    if (!parse_enter(p)) return error_node(p);
    Ast *operand = parse_operand(p);
    parse_leave(p);
    return kind == TOK_PLUS ? operand : error_at(p, operand->span);
}

static Ast *parse_unary(Parser *p, Operator op) {
    Ast *node = parse_node(p, AST_UNARY, p->tok.span);
    node->op = op;
    parse_advance(p);
    if (!parse_enter(p)) {
        node->a = error_node(p);
        return node;
    }
    node->a = not_tuple(p, parse_operand(p));
    parse_leave(p);
    node->span = span_join(node->span, node->a->span);
    attach(p, node, node->a);
    return node;
}

static Ast *parse_operand(Parser *p) {
    switch (p->tok.kind) {
    case TOK_MINUS: return parse_unary(p, OPERATOR_NEG);
    case TOK_NOT: return parse_unary(p, OPERATOR_NOT);
    case TOK_BITNOT: return parse_unary(p, OPERATOR_BITNOT);
    case TOK_PLUS:
    case TOK_STAR:
    case TOK_AND:
    case TOK_INCREMENT:
    case TOK_DECREMENT: return foreign_unary(p);
    default: return parse_postfix(p);
    }
}

// Reports 'and' between two operands, which then counts as '&&'.
static bool foreign_and(Parser *p) {
    if (!parse_at_word(p, p->words.and) || !begins_operand(parse_peek(p)->kind)) return false;
    if (!parse_complain(p, p->tok.span, DIAG_SYNTAX, "there is no operator 'and'")) return false;
    parse_help(p, "write '&&', or '&' for tiles");
    p->tok.kind = TOK_LAND;
    return true;
}

static Ast *parse_binary(Parser *p, unsigned least) {
    Ast *left = parse_operand(p);
    for (;;) {
        if (parse_at(p, TOK_NAME) && !foreign_and(p)) break;
        unsigned strength = binary[p->tok.kind].strength;
        if (strength < least || p->panic || !strength) break;
        Ast *node = parse_node(p, AST_BINARY, left->span);
        node->op = (Operator)binary[p->tok.kind].op;
        parse_advance(p);
        node->a = not_tuple(p, left);
        node->b = not_tuple(p, parse_binary(p, strength + 1));
        node->span = span_join(left->span, node->b->span);
        attach_left(p, node, node->a);
        attach(p, node, node->b);
        left = node;
    }
    return left;
}

// After the condition of a '?:': reads the rest of it.
static Ast *foreign_choice(Parser *p, Ast *condition) {
    if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "there is no operator '?:'"))
        parse_help(p, "write 'select(condition, a, b)'");
    parse_advance(p);
    if (!parse_enter(p)) return condition;
    parse_any(p);
    if (parse_expect(p, TOK_COLON, "in '?:'")) parse_any(p);
    parse_leave(p);
    return parse_node(p, AST_ERROR, span_join(condition->span, p->previous));
}

static Ast *parse_any(Parser *p) {
    Ast *value = parse_binary(p, 1);
    if (p->panic) return error_at(p, value->span);
    if (parse_at(p, TOK_QUESTION)) return foreign_choice(p, value);
    return value;
}

Ast *parse_expr(Parser *p) { return not_tuple(p, parse_any(p)); }

Ast *parse_returned(Parser *p) { return parse_any(p); }

Ast *parse_list(Parser *p) {
    AstList list;
    list_begin(&list);
    do {
        list_add(&list, parse_expr(p));
    } while (!p->panic && parse_accept(p, TOK_COMMA));
    return list.first;
}
