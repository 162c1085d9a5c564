#include <string.h>

#include "sim/ptx/parse.h"

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
           c == '.';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char peek(const PtxLexer *x, size_t ahead) {
    return x->at + ahead < x->file->text.size ? x->file->text.text[x->at + ahead] : 0;
}

static void skip_blank(PtxLexer *x) {
    for (;;) {
        char c = peek(x, 0);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            x->at++;
        } else if (c == '/' && peek(x, 1) == '/') {
            while (x->at < x->file->text.size && peek(x, 0) != '\n') x->at++;
        } else if (c == '/' && peek(x, 1) == '*') {
            x->at += 2;
            while (x->at < x->file->text.size && !(peek(x, 0) == '*' && peek(x, 1) == '/')) x->at++;
            x->at = x->at + 2 < x->file->text.size ? x->at + 2 : x->file->text.size;
        } else {
            return;
        }
    }
}

static PtxToken token(const PtxLexer *x, PtxTokenKind kind, size_t begin) {
    return (PtxToken){.kind = kind,
                      .text = {x->file->text.text + begin, x->at - begin},
                      .span = {x->file->base + (uint32_t)begin, x->file->base + (uint32_t)x->at}};
}

static void word(PtxLexer *x) {
    for (;;) {
        char c = peek(x, 0);
        if (is_letter(c) || is_digit(c))
            x->at++;
        else if (c == ':' && peek(x, 1) == ':' && (is_letter(peek(x, 2)) || is_digit(peek(x, 2))))
            x->at += 2;
        else
            return;
    }
}

static PtxToken bad_number(PtxLexer *x, PtxToken t) {
    x->failed = true;
    diag_error(x->diags, t.span, DIAG_BAD_NUMBER, "'%.*s' is not a number", STR_ARG(t.text));
    return t;
}

static bool hex_digits(Str s, size_t count, uint64_t *bits) {
    if (s.size != count) return false;
    *bits = 0;
    for (size_t i = 0; i < s.size; i++) {
        char c = s.text[i];
        int v = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0) return false;
        *bits = *bits << 4 | (unsigned)v;
    }
    return true;
}

static bool octal(Str s, uint64_t *bits) {
    *bits = 0;
    for (size_t i = 0; i < s.size; i++) {
        if (s.text[i] < '0' || s.text[i] > '7') return false;
        *bits = *bits << 3 | (unsigned)(s.text[i] - '0');
    }
    return true;
}

static PtxToken lex_number(PtxLexer *x, size_t begin) {
    while (is_letter(peek(x, 0)) || is_digit(peek(x, 0)) ||
           ((peek(x, 0) == '-' || peek(x, 0) == '+') && (peek(x, -(size_t)1) | 32) == 'e' &&
            memchr(x->file->text.text + begin, '.', x->at - begin)))
        x->at++;
    PtxToken t = token(x, PTX_INTEGER, begin);
    Str s = t.text, digits = {s.text + 2, s.size < 2 ? 0 : s.size - 2};
    if (s.size > 1 && s.text[0] == '0' && (s.text[1] | 32) == 'f') {
        t.kind = PTX_F32;
        return hex_digits(digits, 8, &t.bits) ? t : bad_number(x, t);
    }
    if (s.size > 1 && s.text[0] == '0' && (s.text[1] | 32) == 'd') {
        t.kind = PTX_F64;
        return hex_digits(digits, 16, &t.bits) ? t : bad_number(x, t);
    }
    if (memchr(s.text, '.', s.size)) {
        double value;
        t.kind = PTX_F64;
        if (!str_to_double(s, &value)) return bad_number(x, t);
        memcpy(&t.bits, &value, sizeof value);
        return t;
    }
    if (s.text[s.size - 1] == 'U') s.size--;
    if (s.size > 1 && s.text[0] == '0' && is_digit(s.text[1]))
        return octal(s, &t.bits) ? t : bad_number(x, t);
    bool overflow = false;
    return str_to_u64(s, &t.bits, &overflow) && !overflow ? t : bad_number(x, t);
}

PtxToken ptx_lex(PtxLexer *x) {
    skip_blank(x);
    size_t begin = x->at;
    if (begin >= x->file->text.size) return token(x, PTX_END, begin);
    char c = peek(x, 0);
    if (is_digit(c)) return lex_number(x, begin);
    if (is_letter(c)) {
        word(x);
        return token(x, PTX_WORD, begin);
    }
    x->at++;
    if (c == '"') {
        while (x->at < x->file->text.size && peek(x, 0) != '"' && peek(x, 0) != '\n') x->at++;
        PtxToken t = token(x, PTX_STRING, begin + 1);
        if (peek(x, 0) == '"') x->at++;
        return t;
    }
    return token(x, PTX_PUNCT, begin);
}
