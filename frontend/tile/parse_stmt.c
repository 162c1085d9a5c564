// Statements.
//
// Each statement recovers by itself. After an error in it the parser continues after its ';',
// before the '}' that closes the enclosing block, or at a word that only a statement begins with.
#include "frontend/tile/parse.h"

static Ast *parse_statement(Parser *p);

static Ast *error_node(Parser *p) { return parse_node(p, AST_ERROR, p->tok.span); }

static bool begins_statement(TokenKind kind) {
    return kind == TOK_LET || kind == TOK_VAR || kind == TOK_IF || kind == TOK_FOR ||
           kind == TOK_WHILE || kind == TOK_BREAK || kind == TOK_CONTINUE || kind == TOK_RETURN;
}

// Does an item begin here that is allowed only at the top of a file? Then a '}' is missing before
// it.
static bool begins_item(Parser *p) {
    if (parse_at(p, TOK_KERNEL) || parse_at(p, TOK_FN)) return true;
    bool word = parse_at_word(p, p->words.tune) || parse_at_word(p, p->words.import);
    if (!word || !p->tok.first) return false;
    TokenKind next = parse_peek(p)->kind;
    return next == TOK_STRING || (next == TOK_NAME && parse_at_word(p, p->words.tune));
}

// Skips to after the next ';' or {…}. A statement's first word on a new line ends the skip, too,
// unless `all`. An unclosed text skips only its own line.
static void skip_statement(Parser *p, bool all) {
    bool text =
        parse_at(p, TOK_BAD) && p->file->text.text[p->tok.span.begin - p->file->base] == '"';
    if (text) parse_advance(p);
    if (text && p->tok.first) return;
    while (!parse_at(p, TOK_RBRACE) && !parse_at(p, TOK_END) && !begins_item(p)) {
        if (begins_statement(p->tok.kind) && p->tok.first && !all) return;
        if (parse_at(p, TOK_LBRACE)) {
            parse_skip_braces(p);
            return;
        }
        if (parse_accept(p, TOK_SEMICOLON)) return;
        parse_advance(p);
    }
}

// `first` is the token that began the current statement.
static void sync_statement(Parser *p, const Token *first) {
    bool stuck = p->tok.span.begin == first->span.begin;
    bool has_else = first->kind == TOK_IF || p->deep;
    skip_statement(p, p->deep || stuck);
    while (has_else && parse_accept(p, TOK_ELSE)) skip_statement(p, true);
    if (parse_at(p, TOK_END)) p->cut = true;
    p->panic = begins_item(p) || parse_at(p, TOK_END);
    p->deep = false;
}

// After an error in the head of an if, for or while: continues with a body in braces, if there is
// one.
static void sync_head(Parser *p) {
    if (!p->panic) return;
    while (!begins_statement(p->tok.kind) && !begins_item(p) && !parse_at(p, TOK_LBRACE) &&
           !parse_at(p, TOK_RBRACE) && !parse_at(p, TOK_SEMICOLON) && !parse_at(p, TOK_END))
        parse_advance(p);
    if (parse_at(p, TOK_LBRACE)) p->panic = false;
}

static void end_statement(Parser *p, const char *where) {
    if (p->panic) return;
    if (parse_accept(p, TOK_SEMICOLON)) return;
    bool next_line = p->tok.first || begins_statement(p->tok.kind) || parse_at(p, TOK_RBRACE);
    if (!next_line || parse_at(p, TOK_END) || parse_at(p, TOK_BAD)) {
        parse_expect(p, TOK_SEMICOLON, where);
        return;
    }
    Span end = {p->previous.end, p->previous.end};
    unsigned mistakes = p->mistakes;
    parse_complain(p, end, DIAG_SYNTAX, "expected ';' %s, found %s", where,
                   parse_found(p, &p->tok));
    p->mistakes = mistakes;  // both statements are complete
}

// ---- blocks

static void close_block(Parser *p, Span open, const char *what) {
    if (parse_accept(p, TOK_RBRACE)) return;
    parse_fail(p, parse_here(p), DIAG_SYNTAX, "expected '}' to close %s, found %s", what,
               parse_found(p, &p->tok));
    if (p->reported) diag_note(p->diags, open, "it was opened here");
}

Ast *parse_block(Parser *p, const char *what) {
    Ast *block = parse_node(p, AST_BLOCK, p->tok.span);
    Span open = p->tok.span;
    if (!parse_expect(p, TOK_LBRACE, "to open a block")) {
        p->lost = true;
        return block;
    }
    AstList list;
    list_begin(&list);
    while (!p->panic && !parse_at(p, TOK_RBRACE) && !parse_at(p, TOK_END) && !begins_item(p)) {
        if (parse_accept(p, TOK_SEMICOLON) || parse_accept(p, TOK_BAD)) continue;
        list_add(&list, parse_statement(p));
    }
    block->list = list.first;
    close_block(p, open, what);
    block->span = span_join(open, p->previous);
    return block;
}

static Ast *parse_body(Parser *p) {
    if (p->panic) return parse_node(p, AST_BLOCK, p->tok.span);
    while (parse_accept(p, TOK_BAD)) continue;
    if (parse_at(p, TOK_SEMICOLON)) {  // an empty statement
        Ast *empty = parse_node(p, AST_BLOCK, p->tok.span);
        parse_advance(p);
        return empty;
    }
    if (parse_at(p, TOK_RBRACE) || parse_at(p, TOK_END) || begins_item(p)) {
        parse_expected(p, "a statement");
        return parse_node(p, AST_BLOCK, p->tok.span);
    }
    return parse_statement(p);
}

// ---- declarations

static AstDecl *parse_let_names(Parser *p, AstDeclKind kind) {
    AstDecl *first = NULL, **end = &first;
    Span span, open = p->tok.span;
    // Skips characters that cannot be part of a name, before a name: `let $x = 1;`. If no name
    // follows, the error about the character is the one that counts.
    while (!p->panic && parse_at(p, TOK_BAD)) {
        TokenKind next = parse_peek(p)->kind;
        if (next != TOK_BAD && next != TOK_NAME && next != TOK_LPAREN) break;
        parse_advance(p);
    }
    bool tuple = parse_accept(p, TOK_LPAREN);
    do {
        Symbol name = parse_name(p, "the name of a variable", &span);
        if (!name) p->lost = true;
        if (!name) return first;
        *end = parse_decl(p, kind, name, span);
        end = &(*end)->next;
    } while (tuple && parse_accept(p, TOK_COMMA));
    if (tuple && parse_expect(p, TOK_RPAREN, "after the names") && !first->next &&
        parse_complain(p, span_join(open, p->previous), DIAG_SYNTAX,
                       "a tuple has two names or more"))
        parse_help(p, "write the name without parentheses");
    return first;
}

// Skips a type before or after the name, as other languages write it, with an error. Returns true
// when there was one.
static bool foreign_annotation(Parser *p, const char *word) {
    if (p->panic) return false;
    bool before = (parse_at(p, TOK_TYPE) || parse_at(p, TOK_NAME)) && !p->tok.first &&
                  parse_peek(p)->kind == TOK_NAME && !p->ahead.first;
    bool after = parse_at(p, TOK_COLON);
    if (!before && !after) return false;
    if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "a variable is declared without a type"))
        parse_help(p, "its value determines the type; write '%s x = f32(…);' for a cast", word);
    parse_advance(p);
    if (after && (parse_at(p, TOK_TYPE) || parse_at(p, TOK_NAME))) parse_advance(p);
    return true;
}

// var a: [4] = …
static void parse_array(Parser *p, AstDecl *decl) {
    parse_advance(p);
    parse_advance(p);
    Ast *count = parse_expr(p);
    parse_expect(p, TOK_RBRACKET, "after the number of tiles");
    if (!decl) return;
    decl->dims = count;
    if (decl->next && parse_complain(p, count->span, DIAG_SYNTAX, "an array has one name"))
        parse_help(p, "write a 'var' for each array");
}

static Ast *parse_one_let(Parser *p, AstKind kind, Span span) {
    const char *word = kind == AST_LET ? "let" : "var";
    Ast *let = parse_node(p, kind, span);
    bool typed = foreign_annotation(p, word);
    let->decl = parse_let_names(p, kind == AST_LET ? DECL_LET : DECL_VAR);
    if (kind == AST_VAR && parse_at(p, TOK_COLON) && parse_peek(p)->kind == TOK_LBRACKET)
        parse_array(p, let->decl);
    typed |= foreign_annotation(p, word);
    if (parse_at(p, TOK_SEMICOLON) && !p->panic) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "expected '=' and a value, found ';'");
        parse_help(p, "a variable has a value from the start, such as 'var x = 0.0;'");
    }
    bool value = parse_expect(p, TOK_ASSIGN, "and a value after the name");
    let->a = value ? parse_returned(p) : error_node(p);
    if (typed) let->a = error_node(p);  // the name was meant to have another type
    let->span = span_join(span, p->previous);
    return let;
}

static Ast *parse_let(Parser *p, AstKind kind) {
    const char *word = kind == AST_LET ? "let" : "var";
    Span span = p->tok.span;
    parse_advance(p);
    AstList list;
    list_add(list_begin(&list), parse_one_let(p, kind, span));
    while (
        parse_at(p, TOK_COMMA) && parse_peek(p)->kind == TOK_NAME &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "expected ';' after the %s, found ','", word)) {
        parse_help(p, "write a '%s' for each name", word);
        parse_advance(p);
        list_add(&list, parse_one_let(p, kind, p->tok.span));
    }
    end_statement(p, kind == AST_LET ? "after the let" : "after the var");
    return list.first;
}

// Words with which C's dialects for GPUs place a variable in memory.
static bool is_memory_word(Str word) {
    static const char *const words[] = {"__shared__", "__constant__", "__device__",  "__managed__",
                                        "__local",    "__global",     "threadgroup", "groupshared",
                                        "shared",     "volatile",     "static",      "register",
                                        "extern"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal(word, str(words[i]))) return true;
    return false;
}

// A declaration of another language, for which we assume a let: 'f32 x = 1;', 'auto x = 1;',
// '__shared__ f32 s[4];'.
static bool begins_foreign_let(Parser *p) {
    if (!parse_at(p, TOK_TYPE) && !parse_at(p, TOK_NAME)) return false;
    const Token *next = parse_peek(p);
    if (next->first) return false;
    return next->kind == TOK_NAME ||
           (next->kind == TOK_TYPE && parse_at(p, TOK_NAME) && is_memory_word(str(p->tok.u.name)));
}

static Ast *foreign_let(Parser *p, Ast *let) {
    let->decl = parse_let_names(p, DECL_VAR);
    if (p->panic) return let;
    if (parse_accept(p, TOK_ASSIGN)) parse_expr(p);
    let->a = error_node(p);  // the name was meant to have another type
    end_statement(p, "after the declaration");
    return let;
}

// A table. 'const N = 4;' belongs at the top of a file.
static Ast *parse_local_const(Parser *p) {
    Span span = p->tok.span;
    AstTypeName type;
    parse_advance(p);
    bool typed = parse_typed_name(p, &type);
    while (parse_at(p, TOK_NAME) && parse_peek(p)->kind == TOK_NAME) parse_advance(p);
    Ast *let = parse_node(p, AST_LET, span);
    if (parse_at_table(p)) {
        let->decl = parse_table(p, typed ? &type : NULL);
        let->a = let->decl->value;
        let->span = span_join(span, p->previous);
        end_statement(p, "after the table");
        return let;
    }
    if (parse_complain(p, span, DIAG_SYNTAX, "a 'const' belongs at the top of a file"))
        parse_help(p, "in a body write 'let'");
    if (parse_at(p, TOK_TYPE)) parse_advance(p);
    return foreign_let(p, parse_node(p, AST_VAR, span));
}

static Ast *parse_foreign_let(Parser *p) {
    const char *word = p->tok.u.name;
    bool is_type = parse_at(p, TOK_TYPE) || parse_is_type(p, word);
    Span span = p->tok.span;
    parse_advance(p);
    while (is_type && parse_at(p, TOK_NAME) && parse_peek(p)->kind == TOK_NAME) parse_advance(p);
    if (!is_type && is_memory_word(str(word))) {
        parse_fail(p, span, DIAG_SYNTAX, "there is no '%s': memory is not declared", word);
        parse_help(p,
                   "values are tiles, 'var t = zeros(f32, 64, 64);'; the compiler puts them into "
                   "registers or shared memory itself, and places the barriers");
        return error_node(p);
    }
    if (!is_type) {
        parse_expected(p, "'=', '[', '(' or an operator");
        return error_node(p);
    }
    if (parse_complain(p, span, DIAG_SYNTAX,
                       "a variable is declared with 'let' or 'var', found '%s'", word))
        parse_help(p, "write 'let %s = …;' (or 'var', when it is assigned later)", p->tok.u.name);
    return foreign_let(p, parse_node(p, AST_VAR, span));
}

// ---- if, for, while

static Ast *parse_condition(Parser *p) {
    unsigned mistakes = p->mistakes;
    Ast *condition = parse_expr(p);
    if (parse_at(p, TOK_ASSIGN) &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "'=' is not an operator of an expression")) {
        parse_help(p, "write '==' to compare");
        parse_advance(p);
        parse_expr(p);
        condition = error_node(p);
    }
    condition->broken = p->mistakes != mistakes;
    sync_head(p);
    return condition;
}

// A chain of else-if is parsed in a loop, but is a chain in the tree: each link counts as a level.
static Ast *parse_if(Parser *p) {
    Ast *first = NULL, **place = &first;
    int depth = p->depth, statement_depth = p->statement_depth;
    while (parse_at(p, TOK_IF)) {
        Ast *node = *place = parse_node(p, AST_IF, p->tok.span);
        parse_advance(p);
        node->is_const = parse_accept(p, TOK_CONST);
        node->a = parse_condition(p);
        node->b = parse_body(p);
        node->span = span_join(node->span, p->previous);
        if (p->panic || !parse_accept(p, TOK_ELSE)) break;
        place = &node->c;
        if (!parse_at(p, TOK_IF)) {  // an `if` after this branch is a statement of its own
            *place = parse_body(p);
            node->span = span_join(node->span, p->previous);
            break;
        }
        if (!parse_enter(p)) break;
        p->statement_depth = p->depth;
    }
    p->depth = depth;
    p->statement_depth = statement_depth;
    return first;
}

// 'for (int i = 0; i < n; i++)': takes the variable's name and skips the rest.
static void foreign_for(Parser *p, Ast *loop) {
    if (parse_complain(p, p->tok.span, DIAG_SYNTAX,
                       "expected the name of a variable after 'for', found "
                       "'('"))
        parse_help(p, "a loop is written 'for i in 0 .. n' or 'for i in a .. b step s'");
    size_t open = 0;
    do {
        if (parse_at(p, TOK_LPAREN)) open++;
        if (parse_at(p, TOK_RPAREN)) open--;
        if (!loop->decl && parse_at(p, TOK_NAME) &&
            (parse_peek(p)->kind == TOK_ASSIGN || p->ahead.kind == TOK_IN))
            loop->decl = parse_decl(p, DECL_VAR, p->tok.u.name, p->tok.span);
        parse_advance(p);
    } while (open > 0 && !parse_at(p, TOK_LBRACE) && !parse_at(p, TOK_RBRACE) &&
             !parse_at(p, TOK_END));
}

static void parse_for_range(Parser *p, Ast *loop) {
    Span span;
    Symbol name = parse_name(p, "the name of a variable after 'for'", &span);
    if (!name) return;
    loop->decl = parse_decl(p, DECL_LOOP, name, span);
    if (!parse_at(p, TOK_IN)) {
        parse_expected(p, "'in' after the variable");
        parse_help(p, "a loop is written 'for %s in 0 .. n' or 'for %s in a .. b step s'", name,
                   name);
        return;
    }
    parse_advance(p);
    loop->a = parse_expr(p);
    if (!parse_expect(p, TOK_RANGE, "in the range of 'for'")) {
        parse_help(p, "a loop is written 'for %s in 0 .. n' or 'for %s in a .. b step s'", name,
                   name);
        loop->a = error_node(p);
        return;
    }
    loop->b = parse_expr(p);
    if (p->panic || !parse_at_word(p, p->words.step)) return;
    parse_advance(p);
    loop->c = parse_expr(p);
}

static Ast *parse_for(Parser *p) {
    Ast *loop = parse_node(p, AST_FOR, p->tok.span);
    unsigned mistakes = p->mistakes;
    parse_advance(p);
    loop->is_const = parse_accept(p, TOK_CONST);
    if (parse_at(p, TOK_LPAREN)) {
        foreign_for(p, loop);
    } else {
        parse_for_range(p, loop);
    }
    sync_head(p);
    if (!loop->decl)
        loop->decl = parse_decl(p, DECL_LOOP, intern(p->t->names, STR("_")), loop->span);
    if (!loop->a) loop->a = error_node(p);
    if (!loop->b) loop->b = error_node(p);
    loop->a->broken = loop->b->broken = p->mistakes != mistakes;
    if (loop->c) loop->c->broken = loop->a->broken;
    loop->d = parse_body(p);
    loop->span = span_join(loop->span, p->previous);
    return loop;
}

static Ast *parse_while(Parser *p) {
    Ast *loop = parse_node(p, AST_WHILE, p->tok.span);
    parse_advance(p);
    loop->a = parse_condition(p);
    loop->b = parse_body(p);
    loop->span = span_join(loop->span, p->previous);
    return loop;
}

// ---- the others

static Ast *parse_return(Parser *p) {
    Ast *node = parse_node(p, AST_RETURN, p->tok.span);
    parse_advance(p);
    bool empty = parse_at(p, TOK_SEMICOLON) || parse_at(p, TOK_RBRACE) ||
                 (p->tok.first && begins_statement(p->tok.kind));
    if (!empty) node->a = parse_returned(p);
    node->span = span_join(node->span, p->previous);
    if (parse_at(p, TOK_COMMA)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "expected ';' after the return, found ','");
        parse_help(p, "several values are returned as 'return (a, b);'");
    }
    end_statement(p, "after the return");
    return node;
}

static Ast *parse_jump(Parser *p, AstKind kind, const char *where) {
    Ast *node = parse_node(p, kind, p->tok.span);
    parse_advance(p);
    end_statement(p, where);
    return node;
}

static Operator compound_op(TokenKind kind) {
    switch (kind) {
    case TOK_ADD_ASSIGN: return OPERATOR_ADD;
    case TOK_SUB_ASSIGN: return OPERATOR_SUB;
    case TOK_MUL_ASSIGN: return OPERATOR_MUL;
    case TOK_DIV_ASSIGN: return OPERATOR_DIV;
    case TOK_REM_ASSIGN: return OPERATOR_REM;
    case TOK_AND_ASSIGN: return OPERATOR_AND;
    case TOK_OR_ASSIGN: return OPERATOR_OR;
    case TOK_XOR_ASSIGN: return OPERATOR_XOR;
    case TOK_SHL_ASSIGN: return OPERATOR_SHL;
    case TOK_SHR_ASSIGN: return OPERATOR_SHR;
    default: return OPERATOR_NONE;
    }
}

static Ast *parse_assign(Parser *p, Ast *target) {
    Ast *node = parse_node(p, AST_ASSIGN, target->span);
    node->op = compound_op(p->tok.kind);
    node->a = target;
    bool padded = target->kind == AST_INDEX && target->b;
    if (padded ||
        (target->kind != AST_NAME && target->kind != AST_INDEX && target->kind != AST_ERROR)) {
        if (parse_complain(p, target->span, DIAG_ASSIGN,
                           padded ? "a write has no 'or'" : "this cannot be assigned"))
            parse_help(p, padded ? "elements outside of the view are not written; 'if mask' at the "
                                   "end leaves out more"
                                 : "a target is a variable or a selection 'x[…]' of a view");
        node->a = parse_node(p, AST_ERROR, target->span);
    }
    parse_advance(p);
    node->b = parse_expr(p);
    bool mask = parse_at(p, TOK_IF) && (node->a->kind == AST_INDEX || !p->tok.first);
    if (!p->panic && mask) {
        if (node->a->kind == AST_NAME &&
            parse_complain(p, p->tok.span, DIAG_SYNTAX, "only writes to a view take 'if'"))
            parse_help(p, "write 'if (condition) %s = …;' or '%s = select(condition, …, %s);'",
                       target->name, target->name, target->name);
        parse_advance(p);
        Ast *wanted = parse_expr(p);
        if (node->a->kind == AST_INDEX) node->c = wanted;
    }
    node->span = span_join(target->span, p->previous);
    end_statement(p, "after the assignment");
    return node;
}

static void useless_statement(Parser *p, const Ast *value) {
    if (value->kind == AST_CALL || value->kind == AST_ERROR || p->panic) return;
    if (!parse_complain(p, value->span, DIAG_SYNTAX, "this statement does nothing")) return;
    if (value->kind == AST_BINARY && value->op == OPERATOR_EQ) {
        parse_help(p, "write '=' to assign");
    } else {
        parse_help(p, "a statement is a declaration, an assignment, a call or a block");
    }
}

static Ast *parse_simple(Parser *p) {
    if (parse_at(p, TOK_LPAREN) &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "no statement begins with '('"))
        parse_help(p, "tuples are bound by 'let (a, b) = …;' and 'var (a, b) = …;' only");
    bool reported =
        parse_at(p, TOK_LPAREN) || parse_at(p, TOK_INCREMENT) || parse_at(p, TOK_DECREMENT);
    Ast *value = reported ? parse_returned(p) : parse_expr(p);
    if (!p->panic && reported && parse_accept(p, TOK_ASSIGN)) parse_returned(p);
    if (p->panic || reported) {
        end_statement(p, "after the statement");
        return error_node(p);
    }
    if (parse_at(p, TOK_ASSIGN) || compound_op(p->tok.kind) != OPERATOR_NONE)
        return parse_assign(p, value);
    if (parse_at(p, TOK_INCREMENT) || parse_at(p, TOK_DECREMENT)) {
        bool up = parse_at(p, TOK_INCREMENT);
        if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "there is no operator '%s'",
                           up ? "++" : "--"))
            parse_help(p, "write '%s= 1'", up ? "+" : "-");
        parse_advance(p);
        value = error_node(p);
    }
    Ast *node = parse_node(p, AST_EXPR, value->span);
    node->a = value;
    end_statement(p, "after the statement");
    useless_statement(p, value);
    if (p->panic && value->kind == AST_TYPE) return error_node(p);  // no name follows
    return node;
}

static Ast *parse_kind(Parser *p) {
    switch (p->tok.kind) {
    case TOK_LET: return parse_let(p, AST_LET);
    case TOK_VAR: return parse_let(p, AST_VAR);
    case TOK_IF: return parse_if(p);
    case TOK_FOR: return parse_for(p);
    case TOK_WHILE: return parse_while(p);
    case TOK_RETURN: return parse_return(p);
    case TOK_BREAK: return parse_jump(p, AST_BREAK, "after 'break'");
    case TOK_CONTINUE: return parse_jump(p, AST_CONTINUE, "after 'continue'");
    case TOK_LBRACE: return parse_block(p, "the block");
    case TOK_CONST: return parse_local_const(p);
    case TOK_ELSE:
        if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "this 'else' belongs to no 'if'"))
            parse_help(p, "an 'if' with several statements before its 'else' needs braces");
        parse_advance(p);
        return parse_body(p);
    default:
        if (begins_foreign_let(p)) return parse_foreign_let(p);
        return parse_simple(p);
    }
}

// A mistake in a simple statement: the elaborator skips it, or its value.
static void mark_broken(Ast *node) {
    bool simple = node->kind == AST_LET || node->kind == AST_VAR || node->kind == AST_ASSIGN ||
                  node->kind == AST_EXPR || node->kind == AST_RETURN;
    for (; node && simple; node = node->next) {
        node->broken = true;
        if (node->a) node->a->broken = true;
    }
}

static Ast *parse_statement(Parser *p) {
    Token first = p->tok;
    int outer = p->statement_depth;
    unsigned mistakes = p->mistakes;
    Ast *node = NULL;
    if (parse_enter(p)) {
        p->statement_depth = p->depth;
        node = parse_kind(p);
        parse_leave(p);
    } else {
        node = error_node(p);
    }
    p->statement_depth = outer;
    if (p->mistakes != mistakes) mark_broken(node);
    if (p->panic) sync_statement(p, &first);
    return node;
}
