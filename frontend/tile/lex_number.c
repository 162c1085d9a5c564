// Numbers: decimal, 0x, 0b, fractions with digits on both sides of the point, exponents, hex
// floats.
#include <math.h>

#include "frontend/tile/lex.h"

typedef struct Number {
    Lexer *l;
    const char *begin;
    bool hex;
    bool binary;
    bool fraction;
    bool exponent;
    bool bad;  // already reported
} Number;

static void bad_number(Number *n, const char *from, const char *to, const char *text) {
    if (!n->bad) diag_error(n->l->diags, lex_span(n->l, from, to), DIAG_BAD_NUMBER, "%s", text);
    n->bad = true;
}

static unsigned digit_value(char c) {
    if (lex_is_digit(c)) return (unsigned)(c - '0');
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (unsigned)((c | 0x20) - 'a' + 10) : 99;
}

// Skips digits and the '_' between them; false when there is no digit.
static bool skip_digits(Number *n, const char **at, unsigned base) {
    const char *p = *at, *begin = p;
    while (digit_value(*p) < base || (*p == '_' && p > begin)) {
        bool misplaced = *p == '_' && (p[-1] == '_' || !lex_is_word(p[1]));
        if (misplaced) bad_number(n, p, p + 1, "'_' in a number must be between two digits");
        p++;
    }
    *at = p;
    return p > begin;
}

static void skip_fraction(Number *n, const char **at) {
    const char *p = *at;
    if (*p != '.' || p[1] == '.') return;
    n->fraction = true;
    p++;
    if (!skip_digits(n, &p, n->hex ? 16 : 10)) {
        bad_number(n, n->begin, p, "a fraction has a digit on both sides of the point");
        diag_help(n->l->diags, "write '%.*s0'", (int)(p - n->begin), n->begin);
    }
    *at = p;
}

static void skip_exponent(Number *n, const char **at) {
    const char *p = *at;
    char letter = n->hex ? 'p' : 'e';
    if ((*p | 0x20) != letter) {
        if (n->hex && n->fraction && !n->bad) {
            bad_number(n, n->begin, p, "a hexadecimal fraction needs an exponent of two");
            diag_help(n->l->diags, "write '%.*sp0'", (int)(p - n->begin), n->begin);
        }
        return;
    }
    n->exponent = true;
    p++;
    if (*p == '+' || *p == '-') p++;
    if (!skip_digits(n, &p, 10)) bad_number(n, n->begin, p, "an exponent needs digits");
    *at = p;
}

static void check_suffix(Number *n, const char **at) {
    const char *p = *at;
    if (!lex_is_word(*p)) return;
    while (lex_is_word(*p)) p++;
    if (n->binary && lex_is_digit(**at)) {
        bad_number(n, *at, p, "a binary number has the digits 0 and 1 only");
    } else if (!n->bad) {
        diag_error(n->l->diags, lex_span(n->l, *at, p), DIAG_BAD_NUMBER,
                   "a number has no suffix, found '%.*s'", p - *at > 30 ? 30 : (int)(p - *at), *at);
        diag_help(n->l->diags,
                  "a number takes the type of the other operand; elsewhere write a cast "
                  "such as 'f32(1.0)'");
        n->bad = true;
    }
    *at = p;
}

static uint64_t integer_value(Number *n, const char *end) {
    uint64_t base = n->hex ? 16 : n->binary ? 2 : 10, value = 0;
    for (const char *p = n->begin + (base == 10 ? 0 : 2); p < end; p++) {
        if (*p == '_') continue;
        unsigned digit = digit_value(*p);
        if (value > (UINT64_MAX - digit) / base) {
            diag_error(n->l->diags, lex_span(n->l, n->begin, end), DIAG_LITERAL_RANGE,
                       "this number is larger than the greatest integer, 18446744073709551615");
            return 0;
        }
        value = value * base + digit;
    }
    return value;
}

static double real_value(Number *n, const char *end) {
    double value = 0;
    Str text = {n->begin, (size_t)(end - n->begin)};
    if (!str_to_double(text, &value) || isinf(value)) {
        diag_error(n->l->diags, lex_span(n->l, n->begin, end), DIAG_LITERAL_RANGE,
                   "this number is larger than the greatest f64");
        return 0;
    }
    return value;
}

static const char *skip_number(Number *n) {
    const char *p = n->begin;
    char second = (char)(p[1] | 0x20);
    n->hex = *p == '0' && second == 'x';
    n->binary = *p == '0' && second == 'b';
    if (n->hex || n->binary) {
        p += 2;
        if (!skip_digits(n, &p, n->hex ? 16 : 2) && !lex_is_digit(*p))
            bad_number(n, n->begin, p,
                       n->hex ? "a hexadecimal number needs digits after '0x'"
                              : "a binary number needs digits after '0b'");
    } else {
        skip_digits(n, &p, 10);
        if (*n->begin == '0' && p > n->begin + 1)
            bad_number(n, n->begin, p, "a number has no leading zeros; there are no octal numbers");
    }
    if (!n->binary) {
        skip_fraction(n, &p);
        skip_exponent(n, &p);
    }
    return p;
}

void lex_number(Lexer *l, Token *t) {
    Number n = {.l = l, .begin = l->at};
    const char *end = skip_number(&n);
    const char *after = end;
    check_suffix(&n, &after);
    t->kind = n.fraction || n.exponent ? TOK_FLOAT : TOK_INT;
    if (t->kind == TOK_INT) {
        t->u.integer = n.bad ? 1 : integer_value(&n, end);
    } else {
        t->u.real = n.bad ? 1 : real_value(&n, end);
    }
    l->at = after;
}
