// Kernels, fns and tune blocks: everything but their bodies.
#include "frontend/tile/parse.h"

static void parse_clauses(Parser *p, AstKernel *k);

// ---- recovery

static bool begins_clause(const Parser *p) {
    return parse_at_word(p, p->words.requires) || parse_at_word(p, p->words.grid) ||
           parse_at_word(p, p->words.math);
}

// Tokens that no bracket of a head can contain.
static bool ends_head(const Parser *p) {
    return parse_at(p, TOK_LBRACE) || parse_at(p, TOK_RBRACE) || parse_at(p, TOK_SEMICOLON) ||
           parse_at(p, TOK_KERNEL) || parse_at(p, TOK_FN) || parse_at(p, TOK_END);
}

// After an error in a list in parentheses: skips to the next ',' or ')'.
static void sync_list(Parser *p) {
    int open = 0;
    if (!p->panic) return;
    for (; !ends_head(p); parse_advance(p)) {
        bool opens = parse_at(p, TOK_LPAREN) || parse_at(p, TOK_LBRACKET);
        bool closes = parse_at(p, TOK_RPAREN) || parse_at(p, TOK_RBRACKET);
        if (open == 0 && (parse_at(p, TOK_COMMA) || parse_at(p, TOK_RPAREN))) {
            p->panic = p->deep = false;
            return;
        }
        if (open == 0 && begins_clause(p)) return;
        open += opens;
        if (closes && open > 0) open--;
    }
}

// After an error in a head: skips to the next clause or to the body.
static void sync_head(Parser *p) {
    if (!p->panic) return;
    while (!ends_head(p) && !begins_clause(p)) parse_advance(p);
    if (parse_at(p, TOK_LBRACE) || begins_clause(p)) p->panic = p->deep = false;
}

// ---- parameters

static AstTypeName parse_type_name(Parser *p) {
    AstTypeName type = {.span = p->tok.span};
    if (parse_at(p, TOK_TYPE)) {
        type.dtype = p->tok.dtype;
        parse_advance(p);
    } else {
        type.param = parse_name(p, "a parameter: a type and a name", &type.span);
    }
    return type;
}

static void parse_extents(Parser *p, AstDecl *view) {
    AstList list;
    list_begin(&list);
    do {
        parse_advance(p);
        if (parse_at(p, TOK_RBRACKET)) {
            parse_fail(p, p->tok.span, DIAG_SYNTAX, "expected an extent, found ']'");
            parse_help(p, "write a name that the launch binds, such as 'N'");
        }
        while (!p->panic) {
            list_add(&list, parse_expr(p));
            if (!parse_accept(p, TOK_COMMA)) break;
        }
        parse_expect(p, TOK_RBRACKET, "after the extents");
        if (parse_at(p, TOK_LBRACKET) &&
            parse_complain(p, p->tok.span, DIAG_SYNTAX,
                           "expected ',' or ')' after the view, found '['"))
            parse_help(p, "all extents are written in one pair of brackets, as in '%s[M, N]'",
                       view->name);
    } while (!p->panic && parse_at(p, TOK_LBRACKET));
    view->dims = list.first;
}

static AstDecl *parse_type_param(Parser *p) {
    Span span;
    parse_advance(p);
    Symbol name = parse_name(p, "the name of a type parameter", &span);
    if (!name) return NULL;
    if (parse_at(p, TOK_ASSIGN)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "a type parameter has no default");
        parse_help(p, "it is inferred from the arguments");
    }
    return parse_decl(p, DECL_TYPE_PARAM, name, span);
}

static AstDecl *parse_const_param(Parser *p) {
    Span span;
    parse_advance(p);
    bool typed =
        parse_at(p, TOK_TYPE) || (parse_at(p, TOK_NAME) && parse_peek(p)->kind == TOK_NAME);
    if (typed && parse_complain(p, p->tok.span, DIAG_SYNTAX, "a const has no type"))
        parse_help(p, "it is an integer known at compile time; write 'const N = 64'");
    if (typed) parse_advance(p);
    Symbol name = parse_name(p, "the name of a const", &span);
    if (!name) return NULL;
    AstDecl *decl = parse_decl(p, DECL_CONST_PARAM, name, span);
    if (parse_accept(p, TOK_ASSIGN)) decl->value = parse_expr(p);
    return decl;
}

static AstDecl *untyped_param(Parser *p) {
    AstDecl *decl = parse_decl(p, DECL_SCALAR, p->tok.u.name, p->tok.span);
    decl->type.dtype = DTYPE_F32;
    decl->type.span = p->tok.span;
    Symbol name = p->tok.u.name;
    if (parse_complain(p, p->tok.span, DIAG_SYNTAX, "parameter '%s' has no type", name))
        parse_help(p,
                   "write 'f32 %s' (a number), '*f32 %s' (a pointer), 'f32 %s[N]' (a view) or "
                   "'const %s'",
                   name, name, name, name);
    parse_advance(p);
    return decl;
}

// After the type: reads the name, and the brackets that make it a view.
static AstDecl *parse_typed_param(Parser *p, AstTypeName type, AstDeclKind kind, Span strided) {
    Span span;
    if (parse_at(p, TOK_STAR) && !p->panic) {
        if (parse_complain(p, p->tok.span, DIAG_SYNTAX,
                           "the '*' of a pointer stands before its type"))
            parse_help(p, "write '*%s p'", type.param ? type.param : dtype_name(type.dtype));
        kind = DECL_POINTER;
        parse_advance(p);
    }
    Symbol name = parse_name(p, "the name of a parameter", &span);
    if (!name) return NULL;
    bool view = parse_at(p, TOK_LBRACKET);
    AstDecl *decl = parse_decl(p, view ? DECL_VIEW : kind, name, span);
    decl->type = type;
    decl->strided = span_known(strided);
    if (view && kind == DECL_POINTER &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "a pointer has no extents"))
        parse_help(p, "leave out the '*' for a view, or the brackets for a pointer");
    if (!view && decl->strided)
        parse_complain(p, strided, DIAG_SYNTAX, "only a view can be strided");
    if (view) parse_extents(p, decl);
    return decl;
}

static bool starts_type(TokenKind kind) { return kind == TOK_TYPE || kind == TOK_NAME; }

static AstDecl *parse_param(Parser *p) {
    if (parse_at(p, TOK_CONST)) return parse_const_param(p);
    if (parse_at_word(p, p->words.type) && starts_type(parse_peek(p)->kind))
        return parse_type_param(p);
    Span strided = {0, 0};
    if (parse_at_word(p, p->words.strided) && starts_type(parse_peek(p)->kind)) {
        strided = p->tok.span;
        parse_advance(p);
    }
    AstDeclKind kind = parse_accept(p, TOK_STAR) ? DECL_POINTER : DECL_SCALAR;
    TokenKind next = parse_peek(p)->kind;
    if (kind == DECL_SCALAR && parse_at(p, TOK_NAME) && (next == TOK_COMMA || next == TOK_RPAREN))
        return untyped_param(p);
    AstTypeName type = parse_type_name(p);
    AstDecl *decl = parse_typed_param(p, type, kind, strided);
    if (decl && parse_at(p, TOK_ASSIGN)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "only a const has a default");
        parse_help(p, "write 'const %s = …' for a value known at compile time", decl->name);
    }
    return decl;
}

// After a parameter without ',' or ')': true when another one follows, so that only a ',' is
// missing.
static bool next_param(Parser *p) {
    if (p->panic || parse_at(p, TOK_COMMA) || parse_at(p, TOK_RPAREN)) return false;
    bool begins = parse_at(p, TOK_TYPE) || parse_at(p, TOK_STAR) || parse_at(p, TOK_CONST) ||
                  (parse_at(p, TOK_NAME) && starts_type(parse_peek(p)->kind));
    if (!begins) {
        parse_expected(p, "',' or ')' after the parameter");
        return false;
    }
    Span end = {p->previous.end, p->previous.end};
    parse_complain(p, end, DIAG_SYNTAX, "expected ',' or ')' after the parameter, found %s",
                   parse_found(p, &p->tok));
    return true;
}

// The list of a kernel or fn, after its '('; `parse_one` may return NULL after an error.
static void parse_params(Parser *p, AstDecl **end, AstDecl *(*parse_one)(Parser *p)) {
    while (!parse_at(p, TOK_RPAREN)) {
        unsigned mistakes = p->mistakes;
        AstDecl *decl = parse_one(p);
        if (decl) {
            decl->broken = p->mistakes != mistakes;
            *end = decl;
            end = &decl->next;
        }
        if (!decl) p->lost = true;
        if (next_param(p)) continue;
        sync_list(p);
        if (p->panic && !begins_clause(p)) p->lost = true;
        if (p->panic || !parse_accept(p, TOK_COMMA)) break;
        if (parse_at(p, TOK_RPAREN)) parse_expected(p, "a parameter after ','");
    }
    if (parse_accept(p, TOK_RPAREN)) p->panic = false;
}

// ---- clauses

static bool first_time(Parser *p, Span *seen) {
    bool first = !span_known(*seen);
    if (!first &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "a second '%s' on one kernel", p->tok.u.name))
        diag_note(p->diags, *seen, "the first one is here");
    if (first) *seen = p->tok.span;
    return first;
}

static void parse_requires(Parser *p, AstKernel *k, Span *seen) {
    bool first = first_time(p, seen);
    parse_advance(p);
    Ast *list = parse_list(p);
    if (first) k->requires = list;
}

static void parse_grid(Parser *p, AstKernel *k, Span *seen) {
    Span span = p->tok.span;
    bool first = first_time(p, seen);
    parse_advance(p);
    if (!parse_expect(p, TOK_LPAREN, "after 'grid'")) return;
    if (parse_at(p, TOK_RPAREN)) {
        parse_fail(p, p->tok.span, DIAG_GRID, "a grid has 1 to 3 extents, found none");
        parse_help(p, "write 'grid(1)' for one program");
        return;
    }
    Ast *list = parse_list(p);
    parse_expect(p, TOK_RPAREN, "after the grid");
    size_t count = 0;
    for (const Ast *e = list; e; e = e->next) count++;
    if (count > 3)
        parse_complain(p, span_join(span, p->previous), DIAG_GRID,
                       "a grid has 1 to 3 extents, found %zu", count);
    if (first) k->grid = list;
}

static void parse_math(Parser *p, AstKernel *k, Span *seen) {
    Span span;
    first_time(p, seen);
    parse_advance(p);
    if (!parse_expect(p, TOK_LPAREN, "after 'math'")) return;
    do {
        Symbol word = parse_name(p, "'contract' or 'approx'", &span);
        if (!word) return;
        unsigned bit = word == p->words.contract ? IR_MATH_CONTRACT
                       : word == p->words.approx ? IR_MATH_APPROX
                                                 : 0;
        if (!bit && parse_complain(p, span, DIAG_SYNTAX, "unknown freedom '%s'", word))
            parse_help(p, "there are math(contract) and math(approx)");
        k->math |= bit;
    } while (parse_accept(p, TOK_COMMA));
    parse_expect(p, TOK_RPAREN, "after the freedoms");
}

static void parse_clauses(Parser *p, AstKernel *k) {
    Span requires = {0, 0}, grid = {0, 0}, math = {0, 0};
    for (;;) {
        if (parse_at_word(p, p->words.requires)) {
            parse_requires(p, k, &requires);
        } else if (parse_at_word(p, p->words.grid)) {
            parse_grid(p, k, &grid);
        } else if (parse_at_word(p, p->words.math)) {
            parse_math(p, k, &math);
        } else if (parse_at(p, TOK_LBRACE)) {
            break;
        } else {
            parse_expected(p, "'requires', 'grid', 'math' or '{'");
            if (parse_at(p, TOK_ARROW))
                parse_help(p, "a kernel returns nothing; it writes to views");
        }
        sync_head(p);
        if (p->panic) break;
    }
    if (span_known(grid) || p->panic) return;
    if (parse_complain(p, k->decl->span, DIAG_GRID, "kernel '%s' has no grid", k->decl->name))
        parse_help(p,
                   "write how many programs there are after the parameters, such as "
                   "'grid(cdiv(N, B))'");
}

// ---- kernels and fns

static Str comment_line(Str line) {
    line = str_trim(line);
    if (str_starts(line, STR("//")) || str_starts(line, STR("/*"))) {
        while (line.size && (*line.text == '/' || *line.text == '*')) line.text++, line.size--;
    } else if (str_starts(line, STR("*")) && !str_starts(line, STR("*/"))) {
        line.text++, line.size--;
    }
    if (str_ends(line, STR("*/"))) line.size -= 2;
    return str_trim(line);
}

// The comment's text without its marks.
static Str comment_text(Parser *p, Str raw) {
    StrBuf text = strbuf(p->arena);
    for (Str rest = raw; rest.size;) {
        Str line = comment_line(str_cut(rest, '\n', &rest));
        if (line.size && text.size) strbuf_char(&text, '\n');
        strbuf_add(&text, line);
    }
    return strbuf_str(&text);
}

// The name of a kernel or fn and its '('; false when there is no list of parameters.
static bool parse_head_name(Parser *p, const char *what, const char *where, AstDecl *decl) {
    Symbol name = parse_name(p, what, &decl->span);
    decl->name = name ? name : intern(p->t->names, STR(""));
    if (name) {
        tile_global_add(p->t, decl);
    } else {
        if (!parse_at(p, TOK_LPAREN) && parse_peek(p)->kind == TOK_LPAREN) parse_advance(p);
        if (parse_at(p, TOK_LPAREN)) p->panic = false;
    }
    p->lost = !parse_expect(p, TOK_LPAREN, where);
    return !p->lost;
}

static bool own_file(const Parser *p) { return p->file == p->t->main; }

void parse_kernel(Parser *p) {
    AstKernel *k = arena_new(p->arena, AstKernel, 1);
    if (p->lex.kernel_comment.size) k->comment = comment_text(p, p->lex.kernel_comment);
    parse_advance(p);
    k->decl = parse_decl(p, DECL_KERNEL, NULL, p->tok.span);
    k->decl->owner = k;
    k->file = p->file;
    p->kernel = k;
    if (parse_head_name(p, "the name of a kernel", "after the name of the kernel", k->decl))
        parse_params(p, &k->params, parse_param);
    sync_head(p);
    if (!p->panic) parse_clauses(p, k);
    k->body = parse_block(p, "the body of the kernel");
    k->broken = p->lost;
    p->kernel = NULL;
    if (own_file(p)) {
        vec_push(p->arena, &p->t->module.kernels, k);
    } else {
        vec_push(p->arena, &p->t->imported_kernels, k);
    }
}

static AstDecl *parse_fn_param(Parser *p) {
    Span span;
    bool pointer = parse_at(p, TOK_STAR);
    bool typed = pointer || parse_at(p, TOK_TYPE) || parse_at(p, TOK_CONST) ||
                 (parse_at(p, TOK_NAME) && parse_peek(p)->kind == TOK_NAME);
    if (typed &&
        parse_complain(p, p->tok.span, DIAG_SYNTAX, "the parameters of a fn have no types"))
        parse_help(p, "a fn is checked for the arguments of each call; write the name only");
    if (pointer) parse_advance(p);
    if (typed) parse_advance(p);
    Symbol name = parse_name(p, "the name of a parameter", &span);
    if (!name) {  // it still counts as a parameter
        p->lost = true;
        name = intern(p->t->names, STR("_"));
    }
    if (parse_at(p, TOK_ASSIGN)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "the parameters of a fn have no defaults");
    } else if (parse_at(p, TOK_COLON)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "the parameters of a fn have no types");
        parse_help(p, "a fn is checked for the arguments of each call; write the name only");
    }
    return parse_decl(p, DECL_FN_PARAM, name, span);
}

void parse_fn(Parser *p) {
    AstFn *fn = arena_new(p->arena, AstFn, 1);
    parse_advance(p);
    fn->decl = parse_decl(p, DECL_FN, NULL, p->tok.span);
    fn->decl->owner = fn;
    fn->file = p->file;
    if (parse_head_name(p, "the name of a fn", "after the name of the fn", fn->decl))
        parse_params(p, &fn->params, parse_fn_param);
    if (parse_at(p, TOK_ARROW) || parse_at(p, TOK_COLON)) {
        parse_fail(p, p->tok.span, DIAG_SYNTAX, "a fn states no type of its result");
        parse_help(p, "it is the type of what it returns");
    }
    sync_head(p);
    fn->body = parse_block(p, "the body of the fn");
    fn->broken = p->lost;
    fn->id = (uint32_t)p->t->module.fns.count;
    vec_push(p->arena, &p->t->module.fns, fn);
}

// ---- tune

static void sync_entry(Parser *p) {
    if (!p->panic) return;
    while (!ends_head(p)) parse_advance(p);
    if (parse_accept(p, TOK_SEMICOLON) || parse_at(p, TOK_RBRACE)) p->panic = p->deep = false;
}

static void parse_tune_entry(Parser *p, AstTune *tune) {
    AstTuneEntry entry = {0};
    entry.name = parse_name(p, "the name of a const or of an option", &entry.span);
    if (parse_at(p, TOK_ASSIGN)) {
        parse_expected(p, "':' after the name");
    } else if (entry.name && parse_expect(p, TOK_COLON, "after the name")) {
        do {
            Ast *value = parse_expr(p);
            vec_push(p->arena, &entry.values, value);
        } while (!p->panic && parse_accept(p, TOK_COMMA));
        vec_push(p->arena, &tune->entries, entry);
        if (!p->panic && !parse_accept(p, TOK_SEMICOLON)) {
            Span end = {p->previous.end, p->previous.end};
            bool next_line = p->tok.first || parse_at(p, TOK_RBRACE);
            if (next_line && !parse_at(p, TOK_END)) {
                parse_complain(p, end, DIAG_SYNTAX, "expected ';' after the values, found %s",
                               parse_found(p, &p->tok));
            } else {
                parse_expect(p, TOK_SEMICOLON, "after the values");
            }
        }
    }
    sync_entry(p);
}

static void parse_tune_target(Parser *p, AstTune *tune) {
    if (!parse_accept(p, TOK_FOR)) return;
    if (parse_at(p, TOK_NAME)) {
        tune->target = str(p->tok.u.name);
    } else if (parse_at(p, TOK_STRING)) {
        tune->target = p->tok.u.text;
    } else {
        parse_expected(p, "the name of a target");
        return;
    }
    Span name = p->tok.span;
    parse_advance(p);
    if (!parse_at(p, TOK_MINUS) && !parse_at(p, TOK_PLUS)) {
        tune->target_span = name;
        return;
    }
    parse_fail(p, name, DIAG_SYNTAX,
               "a target's name that is not an identifier is written in double quotes");
    parse_help(p, "write '\"x86-64-v4\"'");
}

void parse_tune(Parser *p) {
    AstTune *tune = arena_new(p->arena, AstTune, 1);
    parse_advance(p);
    tune->kernel = parse_name(p, "the name of a kernel", &tune->span);
    parse_tune_target(p, tune);
    sync_head(p);
    Span open = p->tok.span;
    if (!parse_expect(p, TOK_LBRACE, "to open the list")) return;
    while (!p->panic && !ends_head(p)) parse_tune_entry(p, tune);
    if (!parse_accept(p, TOK_RBRACE)) {
        parse_expected(p, "'}' to close 'tune'");
        if (p->reported) diag_note(p->diags, open, "it was opened here");
    }
    if (!tune->kernel) return;
    if (own_file(p)) {
        vec_push(p->arena, &p->t->module.tunes, tune);
    } else {
        vec_push(p->arena, &p->t->imported_tunes, tune);
    }
}
