// Characters to tokens: white space, comments, names, texts, punctuation. Numbers: lex_number.c.
#include "frontend/tile/lex.h"

#include <string.h>

#include "frontend/frontend.h"

enum CharClass { BAD, SPACE, WORD, DIGIT, PUNCTUATION, QUOTE };

// The class of each byte of ASCII; all bytes from 128 on are BAD outside of comments and texts.
#define B BAD
#define S SPACE
#define W WORD
#define D DIGIT
#define P PUNCTUATION
#define Q QUOTE
static const unsigned char classes[256] = {
    B, B, B, B, B, B, B, B, B, S, S, S, S, S, B, B,  // NUL …, tab to carriage return
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,  //
    S, P, Q, B, B, P, P, B, P, P, P, P, P, P, P, P,  //  !"#$%&'()*+,-./
    D, D, D, D, D, D, D, D, D, D, P, P, P, P, P, P,  // 0123456789:;<=>?
    B, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,  // @ABC…
    W, W, W, W, W, W, W, W, W, W, W, P, B, P, P, W,  // PQR…[\]^_
    B, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,  // `abc…
    W, W, W, W, W, W, W, W, W, W, W, P, P, P, P, B,  // pqr…{|}~
};
#undef B
#undef S
#undef W
#undef D
#undef P
#undef Q

static enum CharClass class_of(char c) { return (enum CharClass)classes[(unsigned char)c]; }

static const struct {
    const char *text;
    bool keyword;
} tokens[TOK_COUNT] = {
#define TOKEN(name, text) {text, false},
#define KEYWORD(name, text) {text, true},
#define PUNCT(name, text) {text, false},
#include "frontend/tile/token.def"
};

const char *token_text(TokenKind kind) { return tokens[kind].text; }
bool token_is_keyword(TokenKind kind) { return tokens[kind].keyword; }

// ---- names

// The hash is computed while the name is read.
static uint32_t hash_step(uint32_t hash, char c) { return (hash ^ (unsigned char)c) * 0x01000193U; }
static uint32_t hash_end(uint32_t hash) { return hash ^ (hash >> 15); }

static void table_grow(Lexer *l) {
    LexName *old = l->table;
    uint32_t old_size = l->table_size;
    l->table_size = old_size ? old_size * 2 : 256;
    l->table = arena_new(l->arena, LexName, l->table_size);
    for (uint32_t i = 0; i < old_size; i++) {
        if (!old[i].symbol) continue;
        uint32_t place = old[i].hash & (l->table_size - 1);
        while (l->table[place].symbol) place = (place + 1) & (l->table_size - 1);
        l->table[place] = old[i];
    }
}

static LexName *name_find(Lexer *l, const char *text, uint32_t size, uint32_t hash) {
    if (l->table_count * 2 >= l->table_size) table_grow(l);
    uint32_t place = hash & (l->table_size - 1);
    for (;; place = (place + 1) & (l->table_size - 1)) {
        LexName *name = &l->table[place];
        if (!name->symbol) {
            *name = (LexName){intern(l->names, (Str){text, size}), hash, size, TOK_NAME, DTYPES};
            l->table_count++;
            return name;
        }
        if (name->hash == hash && name->size == size && memcmp(name->symbol, text, size) == 0)
            return name;
    }
}

static LexName *name_of(Lexer *l, const char *text) {
    uint32_t hash = 0;
    const char *p = text;
    while (*p) hash = hash_step(hash, *p++);
    return name_find(l, text, (uint32_t)(p - text), hash_end(hash));
}

static void lex_name(Lexer *l, Token *t) {
    const char *begin = l->at, *p = begin;
    uint32_t hash = 0;
    while (class_of(*p) == WORD || class_of(*p) == DIGIT) hash = hash_step(hash, *p++);
    if (p - begin > FRONT_NAME_MAX)
        diag_error(l->diags, lex_span(l, begin, p), DIAG_TOO_LARGE,
                   "a name has at most %d characters, found %td", FRONT_NAME_MAX, p - begin);
    const LexName *name = name_find(l, begin, (uint32_t)(p - begin), hash_end(hash));
    l->at = p;
    t->kind = name->kind;
    t->dtype = name->dtype;
    t->u.name = name->symbol;
}

void lex_begin(Lexer *l, Arena *arena, Interner *names, Diags *diags, const SourceFile *file) {
    *l = (Lexer){.start = file->text.text,
                 .at = file->text.text,
                 .end = file->text.text + file->text.size,
                 .base = file->base,
                 .arena = arena,
                 .names = names,
                 .diags = diags};
    for (int kind = 0; kind < TOK_COUNT; kind++)
        if (tokens[kind].keyword) name_of(l, tokens[kind].text)->kind = (TokenKind)kind;
    for (int t = 0; t < DTYPES; t++) {
        LexName *name = name_of(l, dtype_name((Dtype)t));
        name->kind = TOK_TYPE;
        name->dtype = (Dtype)t;
    }
    if (str_starts(file->text, STR("\xEF\xBB\xBF"))) l->at += 3;  // a byte order mark
}

// ---- white space and comments

static const char *skip_line(const Lexer *l, const char *p) {
    const char *end = memchr(p, '\n', (size_t)(l->end - p));
    return end ? end : l->end;
}

static const char *skip_comment(Lexer *l, const char *p) {
    if (p[1] == '/') return skip_line(l, p);
    for (const char *q = p + 2; q < l->end; q++)
        if (*q == '*' && q[1] == '/') return q + 2;
    diag_error(l->diags, lex_span(l, p, p + 2), DIAG_OPEN_COMMENT,
               "this comment is not closed before the end of the file");
    diag_help(l->diags, "end it with '*/'");
    l->open_comment = true;
    return l->end;
}

// Returns true when the token that follows is the first on its line.
static bool skip_space(Lexer *l) {
    const char *p = l->at;
    bool first = p == l->start;
    int newlines = 0;
    l->comment_begin = l->comment_end = NULL;
    for (;; p++) {
        while (*p == ' ') p++;
        if (*p == '\n') {
            first = true;
            newlines++;
        } else if (*p == '/' && (p[1] == '/' || p[1] == '*')) {
            if (first && (!l->comment_begin || newlines > 1)) l->comment_begin = p;
            p = skip_comment(l, p);
            l->comment_end = p;
            newlines = 0;
            p--;  // the loop's step
        } else if (class_of(*p) != SPACE) {
            break;
        }
    }
    if (newlines > 1) l->comment_begin = l->comment_end = NULL;
    l->at = p;
    return first;
}

// ---- texts

static int hex_digit(char c) {
    if (lex_is_digit(c)) return c - '0';
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static const char *lex_escape(Lexer *l, const char *p, StrBuf *out) {
    static const char from[] = "ntr0\"'\\abfv", to[] = "\n\t\r\0\"'\\\a\b\f\v";
    const char *found = p[1] ? memchr(from, p[1], sizeof from - 1) : NULL;
    if (found) {
        strbuf_char(out, to[found - from]);
        return p + 2;
    }
    if (p[1] == 'x' && hex_digit(p[2]) >= 0 && hex_digit(p[3]) >= 0) {
        strbuf_char(out, (char)(hex_digit(p[2]) * 16 + hex_digit(p[3])));
        return p + 4;
    }
    diag_error(l->diags, lex_span(l, p, p + 2), DIAG_BAD_STRING, "unknown escape '\\%c' in a text",
               p[1] > ' ' && p[1] < 127 ? p[1] : '?');
    diag_help(l->diags,
              "there are \\n \\t \\r \\a \\b \\f \\v \\0 \\\\ \\\" \\' and \\x with two digits");
    return p + 2;
}

static void lex_string(Lexer *l, Token *t) {
    const char *begin = l->at, *p = begin + 1;
    StrBuf text = strbuf(l->arena);
    while (p < l->end && *p != '"' && *p != '\n') {
        if (*p == '\\' && p + 1 < l->end && p[1] != '\n') {
            p = lex_escape(l, p, &text);
        } else {
            strbuf_char(&text, *p++);
        }
    }
    t->kind = TOK_STRING;
    if (p < l->end && *p == '"') {
        p++;
    } else {
        t->kind = TOK_BAD;
        diag_error(l->diags, lex_span(l, begin, p), DIAG_BAD_STRING,
                   "this text is not closed on its line");
        diag_help(l->diags, "end it with '\"'; '\\n' makes a new line");
    }
    t->u.text = strbuf_str(&text);
    l->at = p;
}

// ---- bad characters

// The character at p in UTF-8 and its size; 0 when the bytes are not a character.
static size_t utf8_size(const char *p, const char *end, uint32_t *character) {
    unsigned char c = (unsigned char)*p;
    size_t size = c >= 0xF0 && c < 0xF5   ? 4
                  : c >= 0xE0 && c < 0xF0 ? 3
                  : c >= 0xC2 && c < 0xE0 ? 2
                                          : 0;
    if (!size || (size_t)(end - p) < size) return 0;
    uint32_t value = c & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)p[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | ((unsigned char)p[i] & 0x3F);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[size] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
    *character = value;
    return size;
}

// A token in single quotes, which would be a character in C.
static const char *skip_character(const Lexer *l, const char *p) {
    enum { LONGEST = 6 };
    for (const char *q = p + 1; q < l->end && q <= p + LONGEST && *q != '\n'; q++)
        if (*q == '\'') return q + 1;
    return p + 1;
}

static void lex_bad(Lexer *l, Token *t) {
    const char *begin = l->at, *p = begin;
    while (p < l->end && class_of(*p) == BAD) p++;
    uint32_t character = 0;
    Span span = lex_span(l, begin, p);
    if (*begin == '#') {
        p = skip_line(l, p);
        diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected character '#'");
        diag_help(l->diags,
                  "there is no preprocessor; write 'import \"file.tile\";' or 'const N = 4;'");
    } else if (*begin == '\'') {
        p = skip_character(l, begin);
        span = lex_span(l, begin, p);
        diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected single quote");
        diag_help(l->diags, "texts are written with double quotes");
    } else if (*begin > ' ' && *begin < 127) {
        diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected character '%c'", *begin);
    } else if (utf8_size(begin, l->end, &character)) {
        diag_error(l->diags, span, DIAG_BAD_CHARACTER,
                   "unexpected character '%.*s' (U+%04X) outside of comments and texts",
                   (int)utf8_size(begin, l->end, &character), begin, (unsigned)character);
        diag_help(l->diags, "names are made of ASCII letters, digits and '_'");
    } else {
        diag_error(l->diags, span, DIAG_BAD_CHARACTER, "unexpected byte 0x%02x",
                   (unsigned)(unsigned char)*begin);
    }
    t->kind = TOK_BAD;
    l->at = p;
}

// ---- punctuation

static TokenKind with_assign(const char *p, size_t size, TokenKind plain, TokenKind assign,
                             size_t *n) {
    *n = p[size] == '=' ? size + 1 : size;
    return p[size] == '=' ? assign : plain;
}

static TokenKind plus_or_minus(const char *p, size_t *n) {
    *n = 2;
    if (p[0] == '+') {
        if (p[1] == '+') return TOK_INCREMENT;
        if (p[1] == ':') return TOK_SELECT;
        return with_assign(p, 1, TOK_PLUS, TOK_ADD_ASSIGN, n);
    }
    if (p[1] == '-') return TOK_DECREMENT;
    if (p[1] == '>') return TOK_ARROW;
    return with_assign(p, 1, TOK_MINUS, TOK_SUB_ASSIGN, n);
}

static TokenKind less_or_greater(const char *p, size_t *n) {
    bool less = *p == '<';
    if (p[1] == *p)
        return with_assign(p, 2, less ? TOK_SHL : TOK_SHR, less ? TOK_SHL_ASSIGN : TOK_SHR_ASSIGN,
                           n);
    return with_assign(p, 1, less ? TOK_LT : TOK_GT, less ? TOK_LE : TOK_GE, n);
}

static TokenKind and_or_or(const char *p, size_t *n) {
    bool is_and = *p == '&';
    *n = 2;
    if (p[1] == *p) return is_and ? TOK_LAND : TOK_LOR;
    return with_assign(p, 1, is_and ? TOK_AND : TOK_OR, is_and ? TOK_AND_ASSIGN : TOK_OR_ASSIGN, n);
}

static TokenKind punctuation(const char *p, size_t *n) {
    *n = 1;
    switch (*p) {
    case '(': return TOK_LPAREN;
    case ')': return TOK_RPAREN;
    case '[': return TOK_LBRACKET;
    case ']': return TOK_RBRACKET;
    case '{': return TOK_LBRACE;
    case '}': return TOK_RBRACE;
    case ',': return TOK_COMMA;
    case ';': return TOK_SEMICOLON;
    case ':': return TOK_COLON;
    case '?': return TOK_QUESTION;
    case '~': return TOK_BITNOT;
    case '.': *n = p[1] == '.' ? 2 : 1; return p[1] == '.' ? TOK_RANGE : TOK_DOT;
    case '+':
    case '-': return plus_or_minus(p, n);
    case '<':
    case '>': return less_or_greater(p, n);
    case '&':
    case '|': return and_or_or(p, n);
    case '*': return with_assign(p, 1, TOK_STAR, TOK_MUL_ASSIGN, n);
    case '/': return with_assign(p, 1, TOK_SLASH, TOK_DIV_ASSIGN, n);
    case '%': return with_assign(p, 1, TOK_PERCENT, TOK_REM_ASSIGN, n);
    case '^': return with_assign(p, 1, TOK_XOR, TOK_XOR_ASSIGN, n);
    case '=': return with_assign(p, 1, TOK_ASSIGN, TOK_EQ, n);
    default: return with_assign(p, 1, TOK_NOT, TOK_NE, n);  // '!', as the table of classes says
    }
}

// '.5' is not a number, but the meaning is clear.
static void lex_bare_fraction(Lexer *l, Token *t) {
    const char *begin = l->at++;
    while (lex_is_word(*l->at)) l->at++;
    diag_error(l->diags, lex_span(l, begin, l->at), DIAG_BAD_NUMBER,
               "a fraction has a digit on both sides of the point");
    diag_help(l->diags, "write '0%.*s'", l->at - begin > 30 ? 30 : (int)(l->at - begin), begin);
    t->kind = TOK_FLOAT;
    t->u.real = 1;
}

static void lex_punctuation(Lexer *l, Token *t) {
    if (*l->at == '.' && lex_is_digit(l->at[1])) {
        lex_bare_fraction(l, t);
        return;
    }
    size_t size = 1;
    t->kind = punctuation(l->at, &size);
    l->at += size;
}

Token lex_next(Lexer *l) {
    Token t = {.first = skip_space(l)};
    const char *begin = l->at;
    switch (class_of(*begin)) {
    case WORD:
        lex_name(l, &t);
        if (t.kind == TOK_KERNEL)
            l->kernel_comment =
                l->comment_begin
                    ? (Str){l->comment_begin, (size_t)(l->comment_end - l->comment_begin)}
                    : (Str){"", 0};
        break;
    case DIGIT: lex_number(l, &t); break;
    case PUNCTUATION: lex_punctuation(l, &t); break;
    case QUOTE: lex_string(l, &t); break;
    case BAD:
    case SPACE:  // cannot occur: white space was skipped
        if (begin < l->end) {
            lex_bad(l, &t);
        } else {
            t.kind = TOK_END;
        }
        break;
    }
    t.span = lex_span(l, begin, l->at);
    return t;
}
