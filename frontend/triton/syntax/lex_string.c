// Strings and the texts of f-strings: where they end, and the characters that they stand for.
//
// A text without escapes points into the source. Unknown escapes keep their '\'; \N{…} becomes
// U+FFFD, since the names of characters need a table.
#include <string.h>

#include "frontend/triton/syntax/lex.h"

// How the characters of a text are written.
typedef struct PyTextForm {
    bool raw;
    bool bytes;
    bool braces;  // '{{' is '{', '}}' is '}'
} PyTextForm;

// ---- escapes

static int hex_digit(char c) {
    if (py_lex_is_digit(c)) return c - '0';
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

// Writes a code point in UTF-8; surrogates, too, which a string may have.
static char *put_point(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

static char *put(char *out, uint32_t c, bool bytes) {
    if (!bytes) return put_point(out, c);
    *out = (char)(c & 0xFF);
    return out + 1;
}

static void bad_escape(PyLexer *l, const char *from, const char *to, const char *text) {
    diag_error(l->diags, py_lex_span(l, from, to), DIAG_BAD_STRING, "%s", text);
}

// \x, \u or \U with `digits` digits, at p.
static const char *decode_hex(PyLexer *l, const char *p, const char *end, int digits, bool bytes,
                              char **out) {
    uint32_t value = 0;
    const char *q = p + 2;
    for (int i = 0; i < digits; i++, q++) {
        int digit = q < end ? hex_digit(*q) : -1;
        if (digit < 0) {
            bad_escape(l, p, q,
                       digits == 2   ? "'\\x' needs two hexadecimal digits"
                       : digits == 4 ? "'\\u' needs four hexadecimal digits"
                                     : "'\\U' needs eight hexadecimal digits");
            return q;
        }
        value = value << 4 | (uint32_t)digit;
    }
    if (value > 0x10FFFF) {
        bad_escape(l, p, q, "the largest character is '\\U0010ffff'");
        return q;
    }
    *out = put(*out, value, bytes);
    return q;
}

static const char *decode_named(PyLexer *l, const char *p, const char *end, char **out) {
    const char *close = p[2] == '{' ? memchr(p, '}', (size_t)(end - p)) : NULL;
    if (!close) {
        bad_escape(l, p, p + 2, "'\\N' needs the name of a character in '{…}'");
        return p + 2;
    }
    *out = put_point(*out, 0xFFFD);
    return close + 1;
}

static const char *decode_octal(const char *p, const char *end, bool bytes, char **out) {
    uint32_t value = 0;
    const char *q = p + 1;
    while (q < end && q < p + 4 && *q >= '0' && *q <= '7')
        value = value * 8 + (uint32_t)(*q++ - '0');
    *out = put(*out, value, bytes);
    return q;
}

// The escape at p, which is before `end`.
static const char *decode_escape(PyLexer *l, const char *p, const char *end, PyTextForm form,
                                 char **out) {
    static const char from[] = "ntr\"'\\abfv", to[] = "\n\t\r\"'\\\a\b\f\v";
    char c = p[1];
    if (py_lex_is_newline(c)) return py_lex_after_newline(p + 1);
    const char *found = c ? memchr(from, c, sizeof from - 1) : NULL;
    if (found) {
        *(*out)++ = to[found - from];
        return p + 2;
    }
    if (c >= '0' && c <= '7') return decode_octal(p, end, form.bytes, out);
    if (c == 'x') return decode_hex(l, p, end, 2, form.bytes, out);
    if (c == 'u' && !form.bytes) return decode_hex(l, p, end, 4, false, out);
    if (c == 'U' && !form.bytes) return decode_hex(l, p, end, 8, false, out);
    if (c == 'N' && !form.bytes) return decode_named(l, p, end, out);
    *(*out)++ = '\\';
    return p + 1;
}

// The characters that the source from p to `end` stands for, which are never more bytes.
static Str decode(PyLexer *l, const char *p, const char *end, PyTextForm form) {
    char *text = arena_alloc(l->arena, (size_t)(end - p) + 1), *out = text;
    while (p < end) {
        if (*p == '\\' && !form.raw && p + 1 < end) {
            p = decode_escape(l, p, end, form, &out);
        } else if (*p == '\r') {
            *out++ = '\n';
            p = py_lex_after_newline(p);
        } else {
            bool twice = form.braces && (*p == '{' || *p == '}') && p + 1 < end && p[1] == *p;
            *out++ = *p;
            p += twice ? 2 : 1;
        }
    }
    return (Str){text, (size_t)(out - text)};
}

// ---- strings

static bool ends_here(const char *p, char quote, size_t size) {
    return *p == quote && (size == 1 || (p[1] == quote && p[2] == quote));
}

// Is `quote` also the one of the f-string around this place?
static bool quote_of_fstring(const PyLexer *l, char quote) {
    for (size_t i = l->open.count; i > 0; i--)
        if (l->open.data[i - 1].kind == OPEN_FSTRING) return l->open.data[i - 1].quote == quote;
    return false;
}

static void open_string(PyLexer *l, const char *begin, const char *to, char quote, size_t size,
                        bool fstring) {
    Span span = py_lex_span(l, begin, to);
    if (size == 3) {
        diag_error(l->diags, span, DIAG_BAD_STRING,
                   "this string is not closed before the end of the file");
        diag_help(l->diags, "end it with %c%c%c", quote, quote, quote);
    } else if (!fstring && quote_of_fstring(l, quote)) {
        diag_error(l->diags, span, DIAG_BAD_STRING, "expected '}' before the end of the f-string");
        diag_help(l->diags, "a '{' in the text of an f-string is written '{{'");
    } else {
        diag_error(l->diags, span, DIAG_BAD_STRING, "this string is not closed on its line");
        diag_help(l->diags, "end it with %c; a string of several lines is in three quotes", quote);
    }
}

// The end of the text at p: its quotes, the end of its line, or of the file.
static const char *string_end(const PyLexer *l, const char *p, char quote, size_t size,
                              bool *plain) {
    for (; p < l->end; p++) {
        if (*p == quote && ends_here(p, quote, size)) return p;
        if (*p == '\\') {
            *plain = false;
            if (p + 1 < l->end) p++;
            if (*p == '\r' && p[1] == '\n') p++;
        } else if (py_lex_is_newline(*p)) {
            if (size == 1) return p;
            if (*p == '\r') *plain = false;
        }
    }
    return l->end;
}

static void check_bytes(PyLexer *l, const char *p, const char *end) {
    for (; p < end; p++) {
        if ((unsigned char)*p < 128) continue;
        diag_error(l->diags, py_lex_span(l, p, p + 1), DIAG_BAD_STRING,
                   "bytes are written with ASCII characters only");
        diag_help(l->diags, "write '\\x%02x' for this byte", (unsigned)(unsigned char)*p);
        return;
    }
}

static void begin_fstring(PyLexer *l, const char *begin, const char *text, PyOpen how, PyToken *t) {
    how.kind = OPEN_FSTRING;
    how.span = py_lex_span(l, begin, text);
    vec_push(l->arena, &l->open, how);
    t->kind = TOK_FSTRING_BEGIN;
    l->at = text;
}

void py_lex_string(PyLexer *l, const char *quote, PyToken *t) {
    const char *begin = l->at;
    PyOpen how = {.quote = *quote, .quote_size = ends_here(quote, *quote, 3) ? 3 : 1};
    PyTextForm form = {0};
    bool fstring = false, plain = true;
    for (const char *p = begin; p < quote; p++) {
        how.raw = how.raw || (*p | 0x20) == 'r';
        form.bytes = form.bytes || (*p | 0x20) == 'b';
        fstring = fstring || (*p | 0x20) == 'f';
    }
    form.raw = how.raw;
    const char *text = quote + how.quote_size;
    if (fstring) {
        begin_fstring(l, begin, text, how, t);
        return;
    }
    const char *end = string_end(l, text, how.quote, how.quote_size, &plain);
    if (end >= l->end || *end != how.quote) {
        open_string(l, begin, how.quote_size == 3 ? text : end, how.quote, how.quote_size, false);
        t->kind = TOK_BAD;
        l->at = end;
        return;
    }
    if (form.bytes) check_bytes(l, text, end);
    t->kind = TOK_STRING;
    t->bytes = form.bytes;
    t->u.text = plain ? (Str){text, (size_t)(end - text)} : decode(l, text, end, form);
    l->at = end + how.quote_size;
}

// ---- f-strings

// The end of the text at p: a '{' or '}' alone, the end of the f-string, of its line, or of the
// file.
static const char *fstring_text_end(const PyLexer *l, const char *p, const PyOpen *top,
                                    bool *plain) {
    bool spec = top->kind == OPEN_SPEC;
    for (; p < l->end; p++) {
        if (*p == top->quote && ends_here(p, top->quote, top->quote_size)) return p;
        if (*p == '{' || *p == '}') {
            if (spec || p[1] != *p) return p;
            *plain = false;
            p++;
        } else if (py_lex_is_newline(*p)) {
            if (spec || top->quote_size == 1) return p;
            if (*p == '\r') *plain = false;
        } else if (*p == '\\') {
            *plain = false;
            if (!top->raw && p[1] == 'N' && p[2] == '{') {
                const char *close = memchr(p, '}', (size_t)(l->end - p));
                if (close) p = close;
            } else if (p + 1 < l->end && p[1] != '{' && p[1] != '}') {
                p++;
                if (*p == '\r' && p[1] == '\n') p++;
            }
        }
    }
    return l->end;
}

// Closes the f-string, and what is open in it.
static void close_fstring(PyLexer *l) {
    while (l->open.count && vec_pop(&l->open).kind != OPEN_FSTRING) continue;
}

static void fstring_broken(PyLexer *l, PyToken *t) {
    const PyOpen *top = py_lex_top(l);
    size_t i = l->open.count;
    while (l->open.data[i - 1].kind != OPEN_FSTRING) i--;
    const char *begin = l->start + (l->open.data[i - 1].span.begin - l->base);
    const char *to = l->start + (l->open.data[i - 1].span.end - l->base);
    open_string(l, begin, top->quote_size == 3 ? to : l->at, top->quote, top->quote_size, true);
    t->kind = TOK_BAD;
    close_fstring(l);
}

// One character in an f-string that is not text.
static void fstring_mark(PyLexer *l, PyToken *t) {
    PyOpen top = vec_last(&l->open);
    char c = *l->at;
    if (l->at >= l->end) {
        fstring_broken(l, t);
    } else if (ends_here(l->at, top.quote, top.quote_size)) {
        l->at += top.quote_size;
        t->kind = TOK_FSTRING_END;
        close_fstring(l);
    } else if (c == '{') {
        top.kind = OPEN_FIELD;
        top.span = py_lex_span(l, l->at, l->at + 1);
        vec_push(l->arena, &l->open, top);
        l->at++;
        t->kind = TOK_LBRACE;
    } else if (c == '}' && top.kind == OPEN_SPEC) {
        l->open.count -= 2;  // the field, too
        l->at++;
        t->kind = TOK_RBRACE;
    } else if (c == '}') {
        t->kind = TOK_BAD;
        diag_error(l->diags, py_lex_span(l, l->at, l->at + 1), DIAG_SYNTAX,
                   "unexpected '}' in an f-string");
        diag_help(l->diags, "a '}' in its text is written '}}'");
        l->at++;
    } else if (top.kind == OPEN_SPEC) {  // the end of the line
        (void)vec_pop(&l->open);
        l->at = py_lex_after_newline(l->at);
        t->kind = TOK_FSTRING_TEXT;
        t->u.text = STR("");
    } else {
        fstring_broken(l, t);
    }
}

void py_lex_fstring(PyLexer *l, PyToken *t) {
    const PyOpen *top = py_lex_top(l);
    const char *begin = l->at;
    bool plain = true;
    const char *end = fstring_text_end(l, begin, top, &plain);
    if (end > begin) {
        PyTextForm form = {.raw = top->raw, .braces = top->kind == OPEN_FSTRING};
        l->at = end;
        t->kind = TOK_FSTRING_TEXT;
        t->u.text = plain ? (Str){begin, (size_t)(end - begin)} : decode(l, begin, end, form);
    } else {
        fstring_mark(l, t);
    }
    t->span = py_lex_span(l, begin, l->at);
}
