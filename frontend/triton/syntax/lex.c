// Characters to tokens: lines and their indentation, names, punctuation. Numbers: lex_number.c.
// Strings: lex_string.c.
#include "frontend/triton/syntax/lex.h"

#include <string.h>

#include "frontend/frontend.h"

enum PyCharClass { OTHER, SPACE, NEWLINE, LETTER, DIGIT, HIGH, QUOTE };

// The class of each byte; HIGH are those of characters beyond ASCII.
#define O OTHER
#define S SPACE
#define N NEWLINE
#define L LETTER
#define D DIGIT
#define H HIGH
#define Q QUOTE
#define HIGHS H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H
static const unsigned char classes[256] = {
    O,     O,     O,     O,     O,     O,     O,     O,
    O,     S,     N,     O,     S,     N,     O,     O,  // NUL …, tab to carriage return
    O,     O,     O,     O,     O,     O,     O,     O,
    O,     O,     O,     O,     O,     O,     O,     O,  //
    S,     O,     Q,     O,     O,     O,     O,     Q,
    O,     O,     O,     O,     O,     O,     O,     O,  //  !"#$%&'()*+,-./
    D,     D,     D,     D,     D,     D,     D,     D,
    D,     D,     O,     O,     O,     O,     O,     O,  // 0123456789:;<=>?
    O,     L,     L,     L,     L,     L,     L,     L,
    L,     L,     L,     L,     L,     L,     L,     L,  // @ABC…
    L,     L,     L,     L,     L,     L,     L,     L,
    L,     L,     L,     O,     O,     O,     O,     L,  // PQR…[\]^_
    O,     L,     L,     L,     L,     L,     L,     L,
    L,     L,     L,     L,     L,     L,     L,     L,  // `abc…
    L,     L,     L,     L,     L,     L,     L,     L,
    L,     L,     L,     O,     O,     O,     O,     O,  // pqr…{|}~
    HIGHS, HIGHS, HIGHS, HIGHS, HIGHS, HIGHS, HIGHS, HIGHS,
};
#undef O
#undef S
#undef N
#undef L
#undef D
#undef H
#undef Q
#undef HIGHS

static enum PyCharClass class_of(char c) { return (enum PyCharClass)classes[(unsigned char)c]; }

static const struct {
    const char *text;
    bool keyword;
} tokens[TOK_COUNT] = {
#define TOKEN(name, text) {text, false},
#define KEYWORD(name, text) {text, true},
#define PUNCT(name, text) {text, false},
#include "frontend/triton/syntax/token.def"
};

const char *py_token_text(PyTokenKind kind) { return tokens[kind].text; }
bool py_token_is_keyword(PyTokenKind kind) { return tokens[kind].keyword; }

// ---- names

// The hash is computed while the name is read.
static uint32_t hash_step(uint32_t hash, char c) { return (hash ^ (unsigned char)c) * 0x01000193U; }
static uint32_t hash_end(uint32_t hash) { return hash ^ (hash >> 15); }

static void table_grow(PyLexer *l) {
    PyLexName *old = l->table;
    uint32_t old_size = l->table_size;
    l->table_size = old_size ? old_size * 2 : 256;
    l->table = arena_new(l->arena, PyLexName, l->table_size);
    for (uint32_t i = 0; i < old_size; i++) {
        if (!old[i].symbol) continue;
        uint32_t place = old[i].hash & (l->table_size - 1);
        while (l->table[place].symbol) place = (place + 1) & (l->table_size - 1);
        l->table[place] = old[i];
    }
}

static PyLexName *name_find(PyLexer *l, const char *text, uint32_t size, uint32_t hash) {
    if (l->table_count * 2 >= l->table_size) table_grow(l);
    uint32_t place = hash & (l->table_size - 1);
    for (;; place = (place + 1) & (l->table_size - 1)) {
        PyLexName *name = &l->table[place];
        if (!name->symbol) {
            *name = (PyLexName){intern(l->names, (Str){text, size}), hash, size, TOK_NAME};
            l->table_count++;
            return name;
        }
        if (name->hash == hash && name->size == size && memcmp(name->symbol, text, size) == 0)
            return name;
    }
}

static PyLexName *name_of(PyLexer *l, const char *text) {
    uint32_t hash = 0;
    const char *p = text;
    while (*p) hash = hash_step(hash, *p++);
    return name_find(l, text, (uint32_t)(p - text), hash_end(hash));
}

// Characters that are not a part of names: spaces, punctuation, symbols and private ones.
static const uint32_t not_in_names[][2] = {
    {0x80, 0xA9},       {0xAB, 0xB4},     {0xB6, 0xB6},     {0xB8, 0xB9},     {0xBB, 0xBF},
    {0xD7, 0xD7},       {0xF7, 0xF7},     {0x2000, 0x203E}, {0x2041, 0x2053}, {0x2055, 0x2070},
    {0x20A0, 0x20CF},   {0x2190, 0x2BFF}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xD800, 0xF8FF},
    {0xFE10, 0xFE19},   {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFFF0, 0xFFFF},
    {0x1F000, 0x1FBEF},
};

// The size of the character at p if it can be a part of a name, or 0.
static size_t letter_size(const PyLexer *l, const char *p, uint32_t *point) {
    *point = 0;
    size_t size = str_utf8((Str){p, (size_t)(l->end - p)}, point);
    if (!size) return 0;
    for (size_t i = 0; i < sizeof not_in_names / sizeof *not_in_names; i++)
        if (*point >= not_in_names[i][0] && *point <= not_in_names[i][1]) return 0;
    return size;
}

static bool is_prefix(const char *p, size_t size) {
    char a = (char)(p[0] | 0x20), b = size > 1 ? (char)(p[1] | 0x20) : 0;
    if (size == 1) return a == 'r' || a == 'b' || a == 'f' || a == 'u';
    return size == 2 &&
           ((a == 'r' && (b == 'b' || b == 'f')) || (b == 'r' && (a == 'b' || a == 'f')));
}

// A name, a keyword, or a string with a prefix; false when no letter is at l->at.
static bool lex_name(PyLexer *l, PyToken *t) {
    const char *begin = l->at, *p = begin;
    uint32_t hash = 0, point;
    for (;;) {
        while (class_of(*p) == LETTER || class_of(*p) == DIGIT) hash = hash_step(hash, *p++);
        if (class_of(*p) != HIGH) break;
        size_t size = letter_size(l, p, &point);
        if (!size) break;
        for (; size; size--) hash = hash_step(hash, *p++);
    }
    if (p == begin) return false;
    if ((*p == '"' || *p == '\'') && is_prefix(begin, (size_t)(p - begin))) {
        py_lex_string(l, p, t);
        return true;
    }
    if (p - begin > FRONT_NAME_MAX)
        diag_error(l->diags, py_lex_span(l, begin, p), DIAG_TOO_LARGE,
                   "a name has at most %d bytes, found %td", FRONT_NAME_MAX, p - begin);
    const PyLexName *name = name_find(l, begin, (uint32_t)(p - begin), hash_end(hash));
    l->at = p;
    t->kind = name->kind;
    t->u.name = name->symbol;
    return true;
}

void py_lex_begin(PyLexer *l, Arena *arena, Interner *names, Diags *diags, const SourceFile *file) {
    *l = (PyLexer){.start = file->text.text,
                   .at = file->text.text,
                   .end = file->text.text + file->text.size,
                   .base = file->base,
                   .arena = arena,
                   .names = names,
                   .diags = diags,
                   .line_begins = true};
    for (int kind = TOK_COUNT - 1; kind >= 0; kind--) {
        if (tokens[kind].keyword) name_of(l, tokens[kind].text)->kind = (PyTokenKind)kind;
        if (kind >= TOK_LPAREN) l->punctuation[(unsigned char)*tokens[kind].text] = (uint8_t)kind;
    }
    vec_push(arena, &l->indents, (PyIndent){0});
    if (str_starts(file->text, STR("\xEF\xBB\xBF"))) l->at += 3;  // a byte order mark
}

// ---- bad characters

static void lex_bad_character(PyLexer *l, const char *begin, size_t size, uint32_t point) {
    Span span = py_lex_span(l, begin, begin + size);
    diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected character '%.*s' (U+%04X)",
               (int)size, begin, (unsigned)point);
    if (point == 0x201C || point == 0x201D || point == 0x2018 || point == 0x2019)
        diag_help(l->diags, "strings are written with the quotes ' and \"");
    else if (point == 0xA0 || (point >= 0x2000 && point <= 0x200F) || point == 0xFEFF)
        diag_help(l->diags, "it looks like a space, or like nothing; write a space or remove it");
    else if (point == 0x2212 || point == 0x2013 || point == 0x2014)
        diag_help(l->diags, "write '-'");
    else if (point == 0xD7)
        diag_help(l->diags, "write '*'");
}

static void lex_bad(PyLexer *l, PyToken *t) {
    const char *begin = l->at;
    uint32_t point = 0;
    size_t size = str_utf8((Str){begin, (size_t)(l->end - begin)}, &point);
    t->kind = TOK_BAD;
    l->at += size ? size : 1;
    Span span = py_lex_span(l, begin, l->at);
    if (point >= 128) {
        lex_bad_character(l, begin, size, point);
    } else if (*begin > ' ' && *begin < 127) {
        diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected character '%c'", *begin);
        if (*begin == '?') diag_help(l->diags, "a choice is written 'a if condition else b'");
        if (*begin == '$') diag_help(l->diags, "names are made of letters, digits and '_'");
        if (*begin == '`') diag_help(l->diags, "write 'repr(…)' for the text of a value");
    } else {
        diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected byte 0x%02x",
                   (unsigned)(unsigned char)*begin);
    }
    // The rest of a run of bad bytes gives no further error.
    while (l->at < l->end && !size && (unsigned char)*l->at >= 128) l->at++;
}

// ---- lines

static const char *skip_comment(const PyLexer *l, const char *p) {
    while (p < l->end && !py_lex_is_newline(*p)) p++;
    return p;
}

// Is this a '\\' at the end of a line that is not the last?
static bool joins_line(const PyLexer *l, const char *p) {
    return *p == '\\' && p + 1 < l->end && py_lex_is_newline(p[1]) &&
           py_lex_after_newline(p + 1) < l->end;
}

// The white space at the begin of a line; a '\' at the end of a line joins the next one, and the
// indentation before it counts.
static const char *read_indent(const PyLexer *l, const char *p, PyIndent *indent) {
    PyIndent here = {0}, joined = {0};
    for (;; p++) {
        if (*p == ' ') {
            here.column++;
            here.narrow++;
        } else if (*p == '\t') {
            here.column = (here.column / 8 + 1) * 8;
            here.narrow++;
        } else if (*p == '\f') {
            here = (PyIndent){0};
        } else if (joins_line(l, p)) {
            if (!joined.column) joined = here;
            p = py_lex_after_newline(p + 1) - 1;
        } else {
            break;
        }
    }
    *indent = joined.column ? joined : here;
    return p;
}

static void bad_indent(PyLexer *l, const char *line, const char *p) {
    diag_error(l->diags, py_lex_span(l, line, p), DIAG_SYNTAX,
               "the indentation mixes tabs and spaces, so that it depends on the size of a tab");
    diag_help(l->diags, "use spaces only");
}

// Compares the line's indentation with that of the open blocks.
static bool change_indent(PyLexer *l, PyIndent now, const char *line, PyToken *t) {
    PyIndent *top = &vec_last(&l->indents);
    if (now.column == top->column) {
        if (now.narrow != top->narrow) bad_indent(l, line, l->at);
        return false;
    }
    if (now.column > top->column) {
        if (now.narrow <= top->narrow) {
            bad_indent(l, line, l->at);
            now.narrow = top->narrow + 1;
            t->refused = true;
        }
        vec_push(l->arena, &l->indents, now);
        t->kind = TOK_INDENT;
        return true;
    }
    PyIndent inner = *top;
    while (vec_last(&l->indents).column > now.column) {
        inner = vec_pop(&l->indents);
        l->dedents++;
    }
    top = &vec_last(&l->indents);
    if (now.column != top->column) {
        // The line stays in the innermost block that is indented more than it.
        diag_error(l->diags, py_lex_span(l, line, l->at), DIAG_SYNTAX,
                   "this indentation of %u matches no outer block", (unsigned)now.column);
        diag_help(l->diags, "the blocks around it are indented by %u and %u", (unsigned)top->column,
                  (unsigned)inner.column);
        vec_push(l->arena, &l->indents, now);
        l->dedents--;
    } else if (now.narrow != top->narrow) {
        bad_indent(l, line, l->at);
    }
    return false;
}

// Goes to the first token of a logical line. True when the line begins a block: *t is INDENT.
static bool begin_line(PyLexer *l, PyToken *t) {
    for (;;) {
        const char *line = l->at;
        PyIndent indent;
        const char *p = read_indent(l, line, &indent);
        if (*p == '#') p = skip_comment(l, p);
        l->at = p;
        if (p < l->end && py_lex_is_newline(*p)) {
            l->at = py_lex_after_newline(p);
            continue;
        }
        l->line_begins = p >= l->end;
        l->first = true;
        if (p >= l->end) indent = (PyIndent){0};
        return change_indent(l, indent, line, t);
    }
}

// Skips white space; true when a line ends that is in brackets.
static bool skip_space(PyLexer *l) {
    bool first = false;
    const char *p = l->at;
    for (;; p++) {
        while (*p == ' ') p++;
        if (*p == '\t' || *p == '\f') continue;
        if (*p == '#') p = skip_comment(l, p);
        if (joins_line(l, p)) {
            p = py_lex_after_newline(p + 1) - 1;
        } else if (l->open.count && py_lex_is_newline(*p)) {
            first = true;
        } else {
            break;
        }
    }
    l->at = p;
    return first;
}

uint32_t py_lex_column(const PyLexer *l, uint32_t position) {
    const char *p = l->start + (position - l->base);
    while (p > l->start && !py_lex_is_newline(p[-1])) p--;
    PyIndent indent;
    read_indent(l, p, &indent);
    return indent.column;
}

void py_lex_resume(PyLexer *l, uint32_t position) {
    l->at = l->start + (position - l->base);
    while (l->at > l->start && !py_lex_is_newline(l->at[-1])) l->at--;
    l->open.count = 0;
    l->dedents = 0;
    l->line_begins = true;
}

// ---- punctuation

static void open(PyLexer *l, PyOpenKind kind) {
    PyOpen bracket = {.kind = kind, .span = py_lex_span(l, l->at, l->at + 1)};
    vec_push(l->arena, &l->open, bracket);
}

// Closes the innermost bracket of this kind. Those in it were not closed, which the parser reports.
static void close(PyLexer *l, PyOpenKind kind) {
    size_t least = l->open.count > PY_MAX_DEPTH ? l->open.count - PY_MAX_DEPTH : 0;
    for (size_t i = l->open.count; i > least; i--) {
        PyOpenKind found = l->open.data[i - 1].kind;
        bool field = found == OPEN_FIELD;
        if (found == kind || (kind == OPEN_BRACE && field)) {
            l->open.count = i - 1;
            return;
        }
        if (field) return;
    }
}

// In a field of an f-string, a ':' that is in no bracket begins the format.
static bool lex_format_colon(PyLexer *l, PyToken *t) {
    const PyOpen *top = py_lex_top(l);
    if (!top || top->kind != OPEN_FIELD) return false;
    PyOpen spec = *top;
    spec.kind = OPEN_SPEC;
    spec.span = py_lex_span(l, l->at, l->at + 1);
    vec_push(l->arena, &l->open, spec);
    l->at++;
    t->kind = TOK_COLON;
    return true;
}

static bool lex_punctuation(PyLexer *l, PyToken *t) {
    unsigned char c = (unsigned char)*l->at;
    if (!l->punctuation[c]) return false;
    if (c == ':' && lex_format_colon(l, t)) return true;
    for (unsigned kind = l->punctuation[c]; kind < TOK_COUNT; kind++) {
        const char *text = tokens[kind].text;
        if (*text != (char)c) return false;
        size_t size = 1;
        while (text[size] && text[size] == l->at[size]) size++;
        if (text[size]) continue;
        t->kind = (PyTokenKind)kind;
        switch (c) {
        case '(': open(l, OPEN_PAREN); break;
        case '[': open(l, OPEN_BRACKET); break;
        case '{': open(l, OPEN_BRACE); break;
        case ')': close(l, OPEN_PAREN); break;
        case ']': close(l, OPEN_BRACKET); break;
        case '}': close(l, OPEN_BRACE); break;
        default: break;
        }
        l->at += size;
        return true;
    }
    return false;
}

// ---- tokens

static void lex_backslash(PyLexer *l, PyToken *t) {
    const char *begin = l->at++;
    t->kind = TOK_BAD;
    bool last = l->at >= l->end || py_lex_after_newline(l->at) >= l->end;
    diag_error(
        l->diags, py_lex_span(l, begin, l->at), DIAG_BAD_CHARACTER,
        last ? "a '\\' joins the next line, but the file ends" : "unexpected character after '\\'");
    diag_help(l->diags, "a '\\' that joins two lines is the last character of the first");
}

// At the end of the text.
static void lex_end(PyLexer *l, PyToken *t) {
    bool inside = !l->open.count && !l->line_begins;  // the last line has no end
    t->kind = inside ? TOK_NEWLINE : TOK_END;
    l->line_begins = true;
}

// '.' before a digit, '\', punctuation, and bytes that begin no token.
static void lex_other(PyLexer *l, PyToken *t) {
    if (l->at >= l->end) {
        lex_end(l, t);
    } else if (*l->at == '.' && py_lex_is_digit(l->at[1])) {
        py_lex_number(l, t);
    } else if (*l->at == '\\') {
        lex_backslash(l, t);
    } else if (!lex_punctuation(l, t)) {
        lex_bad(l, t);
    }
}

static void lex_token(PyLexer *l, PyToken *t) {
    switch (class_of(*l->at)) {
    case LETTER: lex_name(l, t); break;
    case HIGH:
        if (!lex_name(l, t)) lex_bad(l, t);
        break;
    case DIGIT: py_lex_number(l, t); break;
    case QUOTE: py_lex_string(l, l->at, t); break;
    case NEWLINE:
        l->at = py_lex_after_newline(l->at);
        l->line_begins = true;
        t->kind = TOK_NEWLINE;
        break;
    case SPACE:  // cannot occur: white space was skipped
    case OTHER: lex_other(l, t); break;
    }
}

PyToken py_lex(PyLexer *l) {
    PyToken t = {.kind = TOK_DEDENT};
    const PyOpen *top = py_lex_top(l);
    if (top && (top->kind == OPEN_FSTRING || top->kind == OPEN_SPEC)) {
        py_lex_fstring(l, &t);
        return t;
    }
    if (l->line_begins && begin_line(l, &t)) {
        t.span = py_lex_span(l, l->at, l->at);
        return t;
    }
    if (l->dedents) {
        l->dedents--;
        t.span = py_lex_span(l, l->at, l->at);
        return t;
    }
    t.first = skip_space(l) || l->first;
    l->first = false;
    const char *begin = l->at;
    lex_token(l, &t);
    t.span = py_lex_span(l, begin, l->at);
    return t;
}
