// Strings: those that follow each other are one, and f-strings.
#include "frontend/triton/syntax/parser.h"

// The parts of an f-string; text that follows text is joined.
typedef struct PyParts {
    PyNodes list;
    StrBuf text;
    uint32_t begin, end;  // of the text, which begins nowhere if there is none
    bool any;
} PyParts;

static PyParts parts_begin(PyParser *p) { return (PyParts){.text = strbuf(p->arena)}; }

static void add_text(PyParts *parts, Str text, Span span) {
    if (!parts->any) parts->begin = span.begin;
    parts->any = true;
    parts->end = span.end;
    strbuf_add(&parts->text, text);
}

// Makes a PY_STRING of the text that was added.
static void end_text(PyParser *p, PyParts *parts) {
    if (!parts->any || !parts->text.size) {
        parts->any = false;
        return;
    }
    Py *node = py_node(p, PY_STRING, parts->begin);
    node->span.end = parts->end;
    node->text = strbuf_str(&parts->text);
    py_list_add(&parts->list, node);
    parts->text = strbuf(p->arena);
    parts->any = false;
}

static void field(PyParser *p, PyParts *parts);

// The format after a ':', up to the '}'.
static Py *format_spec(PyParser *p) {
    Py *node = py_node(p, PY_FSTRING, p->tok.span.begin);
    py_advance(p);
    PyParts parts = parts_begin(p);
    py_list_begin(&parts.list);
    while (py_at(p, TOK_FSTRING_TEXT) || py_at(p, TOK_LBRACE)) {
        if (py_at(p, TOK_LBRACE)) {
            field(p, &parts);
        } else {
            add_text(&parts, p->tok.u.text, p->tok.span);
            py_advance(p);
        }
    }
    end_text(p, &parts);
    node->list = parts.list.first;
    return py_close(p, node);
}

static Symbol conversion(PyParser *p) {
    Span span;
    Symbol name = py_name(p, "'r', 's' or 'a' after '!' in an f-string", &span);
    if (name && (name[0] == 0 || name[1] != 0 || (*name != 'r' && *name != 's' && *name != 'a')))
        py_complain(p, span, DIAG_SYNTAX, "expected 'r', 's' or 'a' after '!', found '%s'", name);
    return name;
}

static Py *debug_text(PyParser *p, uint32_t begin) {
    Py *node = py_node(p, PY_STRING, begin);
    node->span = (Span){begin, p->tok.span.begin};
    const char *text = p->file->text.text + (begin - p->file->base);
    node->text = (Str){text, node->span.end - begin};
    return node;
}

// {value = !r :format}
static Py *field_inside(PyParser *p, Span open) {
    Py *node = py_node(p, PY_FORMAT, open.begin);
    py_advance(p);
    uint32_t begin = open.end;
    if (py_at(p, TOK_RBRACE) || py_at(p, TOK_COLON) || py_at(p, TOK_BANG) || py_at(p, TOK_ASSIGN))
        py_expected(p, "an expression after '{' in an f-string");
    node->a = py_value(p);
    if (py_accept(p, TOK_ASSIGN)) {
        node->debug = true;
        node->c = debug_text(p, begin);
    }
    if (py_accept(p, TOK_BANG)) node->name = conversion(p);
    if (py_at(p, TOK_COLON)) node->b = format_spec(p);
    if (node->debug && !node->name && !node->b) node->name = intern(p->names, STR("r"));
    if (!py_accept(p, TOK_RBRACE)) {
        py_expected(p, "'}' after the value in an f-string");
        py_note(p, open, "the '{' is here");
    }
    return py_close(p, node);
}

static void field(PyParser *p, PyParts *parts) {
    end_text(p, parts);
    if (!py_enter(p)) return;
    py_list_add(&parts->list, field_inside(p, p->tok.span));
    py_leave(p);
}

static void fstring(PyParser *p, PyParts *parts) {
    Span open = p->tok.span;
    py_advance(p);
    while (py_at(p, TOK_FSTRING_TEXT) || py_at(p, TOK_LBRACE)) {
        if (py_at(p, TOK_LBRACE)) {
            field(p, parts);
        } else {
            add_text(parts, p->tok.u.text, p->tok.span);
            py_advance(p);
        }
    }
    if (!py_accept(p, TOK_FSTRING_END)) {
        py_expected(p, "the end of the f-string");
        py_note(p, open, "the f-string begins here");
    }
}

// One string, the usual case, is not copied.
static Py *single(PyParser *p) {
    Py *node = py_node(p, PY_STRING, p->tok.span.begin);
    node->bytes = p->tok.bytes;
    node->text = p->tok.u.text;
    py_advance(p);
    return node;
}

// A string and one more.
static void join(PyParser *p, Py *node) {
    PyParts parts = parts_begin(p);
    py_list_begin(&parts.list);
    bool formatted = false;
    if (node->kind == PY_STRING && node->text.text) add_text(&parts, node->text, node->span);
    for (;;) {
        if (py_at(p, TOK_FSTRING_BEGIN)) {
            if (node->bytes)
                py_complain(p, p->tok.span, DIAG_SYNTAX, "bytes and strings cannot be joined");
            formatted = true;
            fstring(p, &parts);
        } else if (py_at(p, TOK_STRING)) {
            if (p->tok.bytes != node->bytes)
                py_complain(p, p->tok.span, DIAG_SYNTAX, "bytes and strings cannot be joined");
            add_text(&parts, p->tok.u.text, p->tok.span);
            py_advance(p);
        } else {
            break;
        }
    }
    if (formatted) {
        end_text(p, &parts);
        node->kind = PY_FSTRING;
        node->text = (Str){0};
        node->list = parts.list.first;
    } else {
        node->text = strbuf_str(&parts.text);
    }
}

Py *py_strings(PyParser *p) {
    Py *node = py_at(p, TOK_STRING) ? single(p) : py_node(p, PY_STRING, p->tok.span.begin);
    if (py_at(p, TOK_STRING) || py_at(p, TOK_FSTRING_BEGIN)) join(p, node);
    return py_close(p, node);
}
