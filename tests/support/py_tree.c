#include "tests/support/py_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct Writer {
    StrBuf *out;
    const SourceFile *places;  // write spans as places in this file; or NULL
} Writer;

static void write_node(const Writer *w, const Py *n);

// ---- parts

static void write_span(const Writer *w, Span span) {
    if (w->places)
        strbuf_printf(w->out, "@%u-%u", span.begin - w->places->base, span.end - w->places->base);
}

static void head(const Writer *w, const char *word, const Py *n) {
    strbuf_printf(w->out, "(%s", word);
    write_span(w, n->span);
}

static void tail(const Writer *w) { strbuf_char(w->out, ')'); }

static void word(const Writer *w, const char *text) { strbuf_printf(w->out, " %s", text); }

// A part; a missing one is "-".
static void part(const Writer *w, const Py *n) {
    strbuf_char(w->out, ' ');
    if (n) {
        write_node(w, n);
    } else {
        strbuf_char(w->out, '-');
    }
}

static void parts(const Writer *w, const Py *list) {
    for (; list; list = list->next) part(w, list);
}

static void form(const Writer *w, const char *text, const Py *n, const Py *a, const Py *b) {
    head(w, text, n);
    if (a) part(w, a);
    if (b) part(w, b);
    tail(w);
}

static void form_list(const Writer *w, const char *text, const Py *n) {
    head(w, text, n);
    parts(w, n->list);
    tail(w);
}

static void write_text(const Writer *w, Str s, bool bytes) {
    strbuf_printf(w->out, bytes ? "b\"" : "\"");
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.text[i];
        if (c < 32 || c >= 127 || c == '"' || c == '\\') {
            strbuf_printf(w->out, "\\x%02x", c);
        } else {
            strbuf_char(w->out, (char)c);
        }
    }
    strbuf_char(w->out, '"');
}

static void write_integer(const Writer *w, PyInt value) {
    char digits[64], *p = digits + sizeof digits;
    *--p = 0;
    do {
        *--p = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    strbuf_printf(w->out, "%s", p);
}

static void write_real(const Writer *w, double value) {
    if (!w->places) {
        strbuf_double(w->out, value, false);
        return;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    strbuf_printf(w->out, "0x%016llx", (unsigned long long)bits);
}

static void write_number(const Writer *w, const Py *n) {
    if (n->imaginary) strbuf_char(w->out, 'j');
    if (n->kind == PY_FLOAT) {
        write_real(w, n->real);
    } else if (n->huge) {
        strbuf_printf(w->out, "huge");
    } else {
        write_integer(w, n->integer);
    }
    write_span(w, n->span);
}

// ---- f-strings

static void write_fparts(const Writer *w, const Py *list);

static void write_format(const Writer *w, const Py *n) {
    head(w, "format", n);
    part(w, n->a);
    if (n->name) strbuf_printf(w->out, " !%s", n->name);
    if (n->b) {
        strbuf_printf(w->out, " (f");
        write_fparts(w, n->b->list);
        tail(w);
    }
    tail(w);
}

// The text of {a=} is a part of the text before it.
static void write_fparts(const Writer *w, const Py *list) {
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    for (; list; list = list->next) {
        if (list->kind == PY_STRING) strbuf_add(&text, list->text);
        if (list->kind == PY_FORMAT && list->debug) strbuf_add(&text, list->c->text);
        if ((list->kind == PY_FORMAT || !list->next) && text.size) {
            strbuf_char(w->out, ' ');
            write_text(w, strbuf_str(&text), false);
            text = strbuf(arena);
        }
        if (list->kind == PY_FORMAT) {
            strbuf_char(w->out, ' ');
            write_format(w, list);
        }
    }
    arena_destroy(arena);
}

// ---- functions

static void write_params(const Writer *w, const PyFunc *f) {
    static const char *const kinds[] = {"/", "", "*", "=", "**"};
    strbuf_printf(w->out, " (");
    for (const PyParam *a = f->params; a; a = a->next) {
        strbuf_printf(w->out, "%s%s%s", a == f->params ? "" : " ", kinds[a->kind], a->name);
        if (w->places) strbuf_printf(w->out, "@%u", a->span.begin - w->places->base);
        if (a->annotation) {
            strbuf_printf(w->out, ":");
            part(w, a->annotation);
        }
        if (a->value) {
            strbuf_printf(w->out, "=");
            part(w, a->value);
        }
    }
    tail(w);
}

static void write_group(const Writer *w, const char *text, const Py *list) {
    if (!list) return;
    strbuf_printf(w->out, " (%s", text);
    parts(w, list);
    tail(w);
}

static void write_def(const Writer *w, const Py *n) {
    const PyFunc *f = n->func;
    head(w, n->is_async ? "async-def" : "def", n);
    word(w, f->name ? f->name : "?");
    write_group(w, "types", f->type_params);
    write_params(w, f);
    if (f->returns) {
        word(w, "->");
        part(w, f->returns);
    }
    write_group(w, "decorators", f->decorators);
    part(w, f->body);
    tail(w);
}

static void write_lambda(const Writer *w, const Py *n) {
    head(w, "lambda", n);
    write_params(w, n->func);
    part(w, n->func->body->list->a);
    tail(w);
}

static void write_class(const Writer *w, const Py *n) {
    head(w, "class", n);
    word(w, n->name ? n->name : "?");
    write_group(w, "types", n->d);
    write_group(w, "bases", n->list);
    write_group(w, "decorators", n->c);
    part(w, n->b);
    tail(w);
}

// ---- patterns

static void write_pattern(const Writer *w, const Py *n);

static void pattern_list(const Writer *w, const char *text, const Py *n) {
    head(w, text, n);
    for (const Py *e = n->list; e; e = e->next) {
        strbuf_char(w->out, ' ');
        write_pattern(w, e);
    }
    tail(w);
}

// CPython keeps the alternatives in one list.
static void pattern_or(const Writer *w, const Py *n) {
    if (n->kind == PY_BINARY && n->op == PY_BIT_OR && !n->parenthesized) {
        pattern_or(w, n->a);
        strbuf_char(w->out, ' ');
        write_pattern(w, n->b);
    } else {
        write_pattern(w, n);
    }
}

static void pattern_class(const Writer *w, const Py *n) {
    head(w, "class", n);
    part(w, n->a);
    for (const Py *e = n->list; e; e = e->next) {
        strbuf_char(w->out, ' ');
        if (e->kind == PY_KEYWORD) strbuf_printf(w->out, "%s=", e->name);
        write_pattern(w, e->kind == PY_KEYWORD ? e->a : e);
    }
    tail(w);
}

static void pattern_mapping(const Writer *w, const Py *n) {
    head(w, "map", n);
    for (const Py *e = n->list; e; e = e->next) {
        if (e->a) {
            part(w, e->a);
            strbuf_printf(w->out, ": ");
            write_pattern(w, e->b);
        } else {
            strbuf_printf(w->out, " **%s", e->b->name);
        }
    }
    tail(w);
}

static void write_pattern(const Writer *w, const Py *n) {
    switch (n->kind) {
    case PY_NAME:
        strbuf_printf(w->out, "%s", n->name);
        write_span(w, n->span);
        break;
    case PY_TUPLE:
    case PY_LIST: pattern_list(w, "seq", n); break;
    case PY_STARRED:
        head(w, "star", n);
        word(w, n->a->name);
        tail(w);
        break;
    case PY_WITH_ITEM:
        head(w, "as", n);
        strbuf_char(w->out, ' ');
        write_pattern(w, n->a);
        word(w, n->b->name);
        tail(w);
        break;
    case PY_BINARY:
        if (n->op == PY_BIT_OR) {
            head(w, "or", n);
            strbuf_char(w->out, ' ');
            pattern_or(w, n->a);
            strbuf_char(w->out, ' ');
            write_pattern(w, n->b);
            tail(w);
            break;
        }
        write_node(w, n);
        break;
    case PY_CALL: pattern_class(w, n); break;
    case PY_DICT: pattern_mapping(w, n); break;
    default: write_node(w, n); break;
    }
}

static void write_case(const Writer *w, const Py *n) {
    strbuf_printf(w->out, "(case ");
    write_pattern(w, n->b);
    part(w, n->a);
    part(w, n->c);
    tail(w);
}

// ---- nodes

static const char *operator_word(PyOp op) {
    switch (op) {
    case PY_NEG: return "neg";
    case PY_POS: return "pos";
    case PY_INVERT: return "inv";
    default: return py_op_text(op);
    }
}

static void write_compare(const Writer *w, const Py *n) {
    head(w, "cmp", n);
    part(w, n->a);
    for (const Py *step = n->list; step; step = step->next) {
        word(w, py_op_text(step->op));
        part(w, step->a);
    }
    tail(w);
}

static void write_comprehension(const Writer *w, const char *text, const Py *n) {
    head(w, text, n);
    part(w, n->a);
    if (n->kind == PY_DICT_COMP) part(w, n->b);
    parts(w, n->list);
    tail(w);
}

static void write_clause(const Writer *w, const Py *n) {
    strbuf_printf(w->out, n->is_async ? "(async-for" : "(for");
    part(w, n->a);
    part(w, n->b);
    parts(w, n->list);
    tail(w);
}

static void write_keyword(const Writer *w, const Py *n) {
    head(w, n->name ? "=" : "**", n);
    if (n->name) word(w, n->name);
    part(w, n->a);
    tail(w);
}

static void write_attribute(const Writer *w, const Py *n) {
    head(w, ".", n);
    part(w, n->a);
    word(w, n->name ? n->name : "?");
    tail(w);
}

static void write_slice(const Writer *w, const Py *n) {
    head(w, "slice", n);
    part(w, n->a);
    part(w, n->b);
    part(w, n->c);
    tail(w);
}

static void write_ternary(const Writer *w, const Py *n) {
    head(w, "choose", n);
    part(w, n->a);
    part(w, n->b);
    part(w, n->c);
    tail(w);
}

static void write_call(const Writer *w, const Py *n) {
    head(w, "call", n);
    part(w, n->a);
    parts(w, n->list);
    tail(w);
}

static void write_pair(const Writer *w, const Py *n) {
    strbuf_printf(w->out, n->a ? "(:" : "(**");
    if (n->a) part(w, n->a);
    part(w, n->b);
    tail(w);
}

static void write_atom(const Writer *w, const char *text, const Py *n) {
    strbuf_printf(w->out, "%s", text);
    write_span(w, n->span);
}

static void write_string(const Writer *w, const Py *n) {
    if (n->kind == PY_STRING) {
        write_text(w, n->text, n->bytes);
        write_span(w, n->span);
        return;
    }
    head(w, "f", n);
    write_fparts(w, n->list);
    tail(w);
}

static void write_assign(const Writer *w, const Py *n) {
    head(w, "assign", n);
    parts(w, n->list);
    word(w, "=");
    part(w, n->a);
    tail(w);
}

static void write_alias(const Writer *w, const Py *n) {
    strbuf_printf(w->out, "(%.*s", STR_ARG(n->text));
    write_span(w, n->span);
    if (n->name) word(w, n->name);
    tail(w);
}

static void write_from(const Writer *w, const Py *n) {
    head(w, "from", n);
    strbuf_printf(w->out, " %u:%.*s", n->dots, STR_ARG(n->text));
    parts(w, n->list);
    if (!n->list) word(w, "*");
    tail(w);
}

// A statement with blocks, each of which may be missing.
static void write_blocks(const Writer *w, const char *text, const Py *n) {
    head(w, n->is_async ? "async-" : "", n);
    strbuf_printf(w->out, "%s", text);
    parts(w, n->list);
    const Py *all[] = {n->a, n->b, n->c, n->d};
    for (size_t i = 0; i < 4; i++)
        if (all[i]) part(w, all[i]);
    tail(w);
}

static void write_try(const Writer *w, const Py *n) {
    head(w, n->op == PY_MUL ? "try*" : "try", n);
    part(w, n->a);
    parts(w, n->list);
    part(w, n->b);
    part(w, n->c);
    tail(w);
}

static void write_except(const Writer *w, const Py *n) {
    head(w, "except", n);
    part(w, n->a);
    word(w, n->name ? n->name : "-");
    part(w, n->b);
    tail(w);
}

static void write_type(const Writer *w, const Py *n) {
    head(w, "type", n);
    word(w, n->name ? n->name : "?");
    write_group(w, "types", n->b);
    part(w, n->a);
    tail(w);
}

static void write_type_param(const Writer *w, const Py *n) {
    head(w, n->op == PY_MUL ? "*" : n->op == PY_POW ? "**" : "T", n);
    word(w, n->name ? n->name : "?");
    part(w, n->a);
    part(w, n->b);
    tail(w);
}

static void write_block(const Writer *w, const Py *n) {
    strbuf_printf(w->out, "(do");
    parts(w, n->list);
    tail(w);
}

static void write_with_item(const Writer *w, const Py *n) {
    strbuf_printf(w->out, "(item");
    part(w, n->a);
    if (n->b) part(w, n->b);
    tail(w);
}

static void write_augmented(const Writer *w, const Py *n) {
    head(w, "", n);
    strbuf_printf(w->out, "%s=", py_op_text(n->op));
    part(w, n->a);
    part(w, n->b);
    tail(w);
}

static void write_annotated(const Writer *w, const Py *n) {
    head(w, "ann", n);
    part(w, n->a);
    part(w, n->b);
    if (n->c) part(w, n->c);
    tail(w);
}

static void write_match(const Writer *w, const Py *n) {
    head(w, "match", n);
    part(w, n->a);
    parts(w, n->list);
    tail(w);
}

// CPython keeps no places of these names.
static void write_names(const Writer *w, const char *text, const Py *n) {
    head(w, text, n);
    for (const Py *e = n->list; e; e = e->next) word(w, e->name ? e->name : "?");
    tail(w);
}

static void write_statement(const Writer *w, const Py *n) {
    switch (n->kind) {
    case PY_EXPR: form(w, "expr", n, n->a, NULL); break;
    case PY_ASSIGN: write_assign(w, n); break;
    case PY_ANNOTATED: write_annotated(w, n); break;
    case PY_AUGMENTED: write_augmented(w, n); break;
    case PY_RETURN: form(w, "return", n, n->a, NULL); break;
    case PY_PASS: form(w, "pass", n, NULL, NULL); break;
    case PY_BREAK: form(w, "break", n, NULL, NULL); break;
    case PY_CONTINUE: form(w, "continue", n, NULL, NULL); break;
    case PY_IF: write_blocks(w, "if", n); break;
    case PY_FOR: write_blocks(w, "for", n); break;
    case PY_WHILE: write_blocks(w, "while", n); break;
    case PY_WITH: write_blocks(w, "with", n); break;
    case PY_WITH_ITEM: write_with_item(w, n); break;
    case PY_TRY: write_try(w, n); break;
    case PY_EXCEPT: write_except(w, n); break;
    case PY_RAISE: form(w, "raise", n, n->a, n->b); break;
    case PY_ASSERT: form(w, "assert", n, n->a, n->b); break;
    case PY_DEL: form_list(w, "del", n); break;
    case PY_GLOBAL: write_names(w, "global", n); break;
    case PY_NONLOCAL: write_names(w, "nonlocal", n); break;
    case PY_IMPORT: form_list(w, "import", n); break;
    case PY_FROM: write_from(w, n); break;
    case PY_ALIAS: write_alias(w, n); break;
    case PY_DEF: write_def(w, n); break;
    case PY_CLASS: write_class(w, n); break;
    case PY_MATCH: write_match(w, n); break;
    case PY_CASE: write_case(w, n); break;
    case PY_TYPE_ALIAS: write_type(w, n); break;
    case PY_TYPE_PARAM: write_type_param(w, n); break;
    case PY_BLOCK: write_block(w, n); break;
    default: strbuf_printf(w->out, "ERROR"); break;
    }
}

static void write_node(const Writer *w, const Py *n) {
    switch (n->kind) {
    case PY_INT:
    case PY_FLOAT: write_number(w, n); break;
    case PY_STRING:
    case PY_FSTRING: write_string(w, n); break;
    case PY_FORMAT: write_format(w, n); break;
    case PY_NAME: write_atom(w, n->name ? n->name : "?", n); break;
    case PY_TRUE: write_atom(w, "True", n); break;
    case PY_FALSE: write_atom(w, "False", n); break;
    case PY_NONE: write_atom(w, "None", n); break;
    case PY_ELLIPSIS: write_atom(w, "...", n); break;
    case PY_UNARY: form(w, operator_word(n->op), n, n->a, NULL); break;
    case PY_BINARY: form(w, py_op_text(n->op), n, n->a, n->b); break;
    case PY_BOOL_OP: form_list(w, py_op_text(n->op), n); break;
    case PY_COMPARE: write_compare(w, n); break;
    case PY_TERNARY: write_ternary(w, n); break;
    case PY_CALL: write_call(w, n); break;
    case PY_KEYWORD: write_keyword(w, n); break;
    case PY_STARRED: form(w, "star", n, n->a, NULL); break;
    case PY_ATTRIBUTE: write_attribute(w, n); break;
    case PY_SUBSCRIPT: form(w, "at", n, n->a, n->b); break;
    case PY_SLICE: write_slice(w, n); break;
    case PY_TUPLE: form_list(w, "tuple", n); break;
    case PY_LIST: form_list(w, "list", n); break;
    case PY_SET: form_list(w, "set", n); break;
    case PY_DICT: form_list(w, "dict", n); break;
    case PY_PAIR: write_pair(w, n); break;
    case PY_LAMBDA: write_lambda(w, n); break;
    case PY_LIST_COMP: write_comprehension(w, "list-comp", n); break;
    case PY_SET_COMP: write_comprehension(w, "set-comp", n); break;
    case PY_DICT_COMP: write_comprehension(w, "dict-comp", n); break;
    case PY_GENERATOR: write_comprehension(w, "generator", n); break;
    case PY_CLAUSE: write_clause(w, n); break;
    case PY_WALRUS: form(w, ":=", n, n->a, n->b); break;
    case PY_AWAIT: form(w, "await", n, n->a, NULL); break;
    case PY_YIELD: form(w, n->from ? "yield-from" : "yield", n, n->a, NULL); break;
    default: write_statement(w, n); break;
    }
}

void py_tree_write(StrBuf *out, const Py *node, const SourceFile *places) {
    write_node(&(Writer){out, places}, node);
}

// ---- sources

static PyText begin(Str text) {
    PyText t = {.arena = arena_create()};
    t.sources = sources_create(t.arena);
    t.names = interner_create(t.arena);
    t.diags = diags_create(t.arena, t.sources);
    t.source = source_add(t.sources, STR("test.py"), text);
    return t;
}

PyText py_text_bytes(Str text) {
    PyText t = begin(text);
    t.tree = py_parse(t.arena, t.names, t.diags, t.source);
    return t;
}

PyText py_text(const char *text) { return py_text_bytes(str(text)); }

PyText py_text_expression(const char *text) {
    PyText t = begin(str(text));
    t.tree = py_parse_expression(t.arena, t.names, t.diags, t.source);
    return t;
}

void py_text_free(PyText *t) { arena_destroy(t->arena); }

static const char *finished(const PyText *t, const StrBuf *out) {
    return arena_text(t->arena, out->size ? out->text : "", out->size);
}

const char *py_text_diags(const PyText *t) {
    StrBuf out = strbuf(t->arena);
    diags_sort(t->diags);
    for (size_t i = 0; i < diags_count(t->diags); i++) {
        const Diag *d = diags_get(t->diags, i);
        SourceLine at = source_line(t->sources, d->span.begin);
        strbuf_printf(&out, "%s%u:%u: %.*s [%s]", i ? "\n" : "", at.line, at.column,
                      STR_ARG(d->text), diag_slug(d->code));
        for (const DiagNote *n = d->notes; n; n = n->next) {
            at = source_line(t->sources, n->span.begin);
            strbuf_printf(&out, "\n  note %u:%u: %.*s", at.line, at.column, STR_ARG(n->text));
        }
        if (d->help.size) strbuf_printf(&out, "\n  help: %.*s", STR_ARG(d->help));
    }
    return finished(t, &out);
}

const char *py_text_tree(const PyText *t) {
    StrBuf out = strbuf(t->arena);
    if (t->tree->kind != PY_BLOCK) {
        py_tree_write(&out, t->tree, NULL);
        return finished(t, &out);
    }
    for (const Py *s = t->tree->list; s; s = s->next) {
        if (s != t->tree->list) strbuf_char(&out, '\n');
        py_tree_write(&out, s, NULL);
    }
    return finished(t, &out);
}

// ---- cases

void py_text_check_trees(const PyCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        PyText t = py_text(cases[i].text);
        assert_string_equal(py_text_diags(&t), "");
        assert_string_equal(py_text_tree(&t), cases[i].expected);
        py_text_free(&t);
    }
}

void py_text_check_errors(const PyCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        PyText t = py_text(cases[i].text);
        assert_string_equal(py_text_diags(&t), cases[i].expected);
        py_text_free(&t);
    }
}
