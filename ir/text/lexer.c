#include "ir/text/lexer.h"

#include <string.h>

IrLexer ir_lexer(const SourceFile *file, Diags *diags) {
    return (IrLexer){.file = file, .diags = diags};
}

static Span span_of(const IrLexer *lexer, size_t begin, size_t end) {
    uint32_t base = lexer->file->base;
    return (Span){base + (uint32_t)begin, base + (uint32_t)end};
}

// The byte at an offset; 0 past the end.
static unsigned char byte_at(const IrLexer *lexer, size_t at) {
    return at < lexer->file->text.size ? (unsigned char)lexer->file->text.text[at] : 0;
}

static bool digit(unsigned char c) { return c >= '0' && c <= '9'; }
static bool letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool word(unsigned char c) { return letter(c) || digit(c) || c == '.'; }

// Skips blanks and comments; true if a line ended among them.
static bool skip_blanks(IrLexer *lexer) {
    bool first = lexer->at == 0;
    for (;;) {
        unsigned char c = byte_at(lexer, lexer->at);
        if (c == '\n') {
            first = true;
        } else if (c == '/' && byte_at(lexer, lexer->at + 1) == '/') {
            const char *from = lexer->file->text.text + lexer->at;
            const char *end = memchr(from, '\n', lexer->file->text.size - lexer->at);
            lexer->at = end ? lexer->at + (size_t)(end - from) : lexer->file->text.size;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return first;
        }
        lexer->at++;
    }
}

static size_t word_end(const IrLexer *lexer, size_t at) {
    while (word(byte_at(lexer, at))) at++;
    return at;
}

// Digits, letters and points; a sign only after the exponent's e of a decimal number.
static size_t number_end(const IrLexer *lexer, size_t at) {
    if (byte_at(lexer, at) == '-') at++;
    bool hex = byte_at(lexer, at) == '0' && (byte_at(lexer, at + 1) | 32) == 'x';
    for (;; at++) {
        unsigned char c = byte_at(lexer, at);
        if (word(c)) continue;
        bool sign = c == '-' || c == '+';
        if (!hex && sign && (byte_at(lexer, at - 1) | 32) == 'e') continue;
        return at;
    }
}

// Past the closing quote, or to the end of the line if there is none.
static size_t string_end(const IrLexer *lexer, size_t begin, bool *closed) {
    size_t at = begin + 1;
    *closed = false;
    while (at < lexer->file->text.size) {
        unsigned char c = byte_at(lexer, at);
        if (c == '\n') return at;
        at++;
        if (c == '"') {
            *closed = true;
            return at;
        }
        if (c == '\\' && byte_at(lexer, at) != '\n' && at < lexer->file->text.size) at++;
    }
    return at;
}

static IrTokenKind scan_string(IrLexer *lexer, size_t begin) {
    bool closed;
    lexer->at = string_end(lexer, begin, &closed);
    if (!closed && lexer->diags) {
        diag_error(lexer->diags, span_of(lexer, begin, lexer->at), DIAG_BAD_STRING,
                   "the string is not closed on its line");
    }
    return IR_TOK_STRING;
}

// Skips a run of bytes with which no token begins, and reports it once.
static void bad_bytes(IrLexer *lexer, size_t begin) {
    size_t at = begin + 1;
    while (at < lexer->file->text.size) {
        unsigned char c = byte_at(lexer, at);
        if (word(c) || (c > 0 && c < 127 && strchr(" \t\r\n(){}[],:=*@%\"-/", c))) break;
        at++;
    }
    lexer->at = at;
    if (!lexer->diags) return;
    unsigned char c = byte_at(lexer, begin);
    Span span = span_of(lexer, begin, at);
    if (c > 32 && c < 127) {
        diag_error(lexer->diags, span, DIAG_BAD_CHARACTER, "unexpected character '%c'", c);
    } else {
        diag_error(lexer->diags, span, DIAG_BAD_CHARACTER, "unexpected byte 0x%02x", c);
    }
}

// The kind of the token that begins here; moves past it. END if there is none.
static IrTokenKind scan(IrLexer *lexer) {
    size_t begin = lexer->at;
    unsigned char c = byte_at(lexer, begin), next = byte_at(lexer, begin + 1);
    if (letter(c)) {
        lexer->at = word_end(lexer, begin);
        return IR_TOK_NAME;
    }
    if (digit(c) || (c == '-' && word(next))) {
        lexer->at = number_end(lexer, begin);
        return IR_TOK_NUMBER;
    }
    if (c == '%' && word(next)) {
        lexer->at = word_end(lexer, begin + 1);
        return IR_TOK_VALUE;
    }
    if (c == '"') return scan_string(lexer, begin);
    if (c == '-' && next == '>') {
        lexer->at += 2;
        return IR_TOK_ARROW;
    }
    if (c != 0 && strchr("(){}[],:=*@", c)) {
        lexer->at++;
        return IR_TOK_PUNCT;
    }
    return IR_TOK_END;
}

IrToken ir_lexer_next(IrLexer *lexer) {
    bool first = false;
    for (;;) {
        first |= skip_blanks(lexer);
        size_t begin = lexer->at;
        if (begin >= lexer->file->text.size) {
            return (IrToken){
                .kind = IR_TOK_END, .first = true, .span = span_of(lexer, begin, begin)};
        }
        IrTokenKind kind = scan(lexer);
        if (kind == IR_TOK_END) {
            bad_bytes(lexer, begin);
            continue;
        }
        size_t skip = kind == IR_TOK_VALUE ? 1 : 0;
        return (IrToken){
            .kind = kind,
            .punct = kind == IR_TOK_PUNCT ? lexer->file->text.text[begin] : (char)0,
            .first = first,
            .text = {lexer->file->text.text + begin + skip, lexer->at - begin - skip},
            .span = span_of(lexer, begin, lexer->at),
        };
    }
}

// ---- strings ------------------------------------------------------------------------------------

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// `count` hex digits at *at; -1 if there are fewer.
static int hex_digits(Str s, size_t *at, int count) {
    int value = 0;
    for (int i = 0; i < count; i++, ++*at) {
        int d = *at < s.size ? hex_value(s.text[*at]) : -1;
        if (d < 0) return -1;
        value = value * 16 + d;
    }
    return value;
}

static size_t utf8(int code, char *to) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 63));
    to[2] = (char)(0x80 | (code & 63));
    return 3;
}

// Writes the bytes for one escape after its backslash; 0 bytes if it is malformed.
static size_t escape(Str s, size_t *at, char *to) {
    static const char from[] = "nrtbf\"\\/'";
    static const char means[] = "\n\r\t\b\f\"\\/'";
    char c = s.text[(*at)++];
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple) {
        to[0] = means[simple - from];
        return 1;
    }
    if (c == 'x' || c == 'u') {
        int value = hex_digits(s, at, c == 'x' ? 2 : 4);
        if (value < 0) return 0;
        if (c == 'u') return utf8(value, to);
        to[0] = (char)value;
        return 1;
    }
    if (c < '0' || c > '7') return 0;
    int value = c - '0';
    for (int i = 0; i < 2 && *at < s.size && s.text[*at] >= '0' && s.text[*at] <= '7'; i++) {
        value = value * 8 + (s.text[(*at)++] - '0');
    }
    to[0] = (char)(value & 255);
    return 1;
}

bool ir_lexer_string(const IrLexer *lexer, IrToken token, Arena *arena, Str *text) {
    size_t size = token.text.size;
    if (size < 2 || token.text.text[size - 1] != '"')
        return false;  // already reported as not
                       // closed
    Str inner = {token.text.text + 1, size - 2};
    char *bytes = arena_alloc(arena, inner.size + 1);  // no escape is shorter than its meaning
    size_t used = 0;
    for (size_t i = 0; i < inner.size;) {
        if (inner.text[i] != '\\') {
            bytes[used++] = inner.text[i++];
            continue;
        }
        size_t at = i + 1;
        size_t made = at < inner.size ? escape(inner, &at, bytes + used) : 0;
        if (made == 0) {
            if (lexer->diags) {
                uint32_t begin = token.span.begin + 1 + (uint32_t)i;
                diag_error(lexer->diags, (Span){begin, begin + 2}, DIAG_BAD_STRING,
                           "unknown escape in a string");
                diag_help(lexer->diags, "escapes are \\n \\r \\t \\\" \\\\ \\xHH \\uHHHH");
            }
            return false;
        }
        used += made;
        i = at;
    }
    *text = (Str){bytes, used};
    return true;
}
