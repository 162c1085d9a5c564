// Numbers: decimal, 0x, 0o, 0b, reals, and the 'j' of imaginary ones; '_' between digits.
#include <string.h>

#include "frontend/triton/syntax/lex.h"

typedef struct PyNumber {
    PyLexer *l;
    const char *begin;
    const char *at;
    unsigned base;
    bool real;
    bool bad;  // already reported
} PyNumber;

static void bad_number(PyNumber *n, const char *from, const char *to, const char *text) {
    if (!n->bad) diag_error(n->l->diags, py_lex_span(n->l, from, to), DIAG_BAD_NUMBER, "%s", text);
    n->bad = true;
}

static unsigned digit_value(char c) {
    if (py_lex_is_digit(c)) return (unsigned)(c - '0');
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (unsigned)((c | 0x20) - 'a' + 10) : 99;
}

// Skips digits and the '_' between them; false when there is no digit. A '_' may come first after
// "0x".
static bool skip_digits(PyNumber *n) {
    const char *begin = n->at, *p = begin;
    while (digit_value(*p) < n->base || (*p == '_' && (p > begin || n->base != 10))) {
        bool misplaced = *p == '_' && digit_value(p[1]) >= n->base;
        if (misplaced) bad_number(n, p, p + 1, "'_' in a number must be before a digit");
        p++;
    }
    n->at = p;
    return p > begin;
}

static void skip_exponent(PyNumber *n) {
    const char *p = n->at;
    if ((*p | 0x20) != 'e') return;
    const char *digits = p + 1;
    if (*digits == '+' || *digits == '-') digits++;
    if (!py_lex_is_digit(*digits)) return;  // "1else"
    n->real = true;
    n->at = digits;
    skip_digits(n);
}

static void skip_decimal(PyNumber *n) {
    skip_digits(n);
    if (*n->at == '.') {
        n->real = true;
        n->at++;
        if (py_lex_is_digit(*n->at)) skip_digits(n);
    }
    skip_exponent(n);
    if (n->real || (*n->at | 0x20) == 'j' || *n->begin != '0') return;
    for (const char *p = n->begin; p < n->at; p++) {
        if (*p == '0' || *p == '_') continue;
        bad_number(n, n->begin, n->at, "a decimal number has no leading zeros");
        while (*p == '0' || *p == '_') p++;
        diag_help(n->l->diags, "an octal number is written '0o%.*s'", (int)(n->at - p), p);
        return;
    }
}

static const struct {
    char letter;
    uint8_t base;
    const char *no_digits;
    const char *bad_digit;
} bases[] = {
    {'x', 16, "a hexadecimal number needs digits after '0x'", NULL},
    {'o', 8, "an octal number needs digits after '0o'", "an octal number has the digits 0 to 7"},
    {'b', 2, "a binary number needs digits after '0b'", "a binary number has the digits 0 and 1"},
};

// "0x…", "0o…", "0b…"; false for another number.
static bool skip_based(PyNumber *n) {
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (*n->begin != '0' || (n->begin[1] | 0x20) != bases[i].letter) continue;
        n->base = bases[i].base;
        n->at = n->begin + 2;
        bool digits = skip_digits(n);
        const char *after = n->at;
        while (py_lex_is_digit(*after)) after++;
        if (after > n->at) {
            bad_number(n, n->at, after, bases[i].bad_digit);
            n->at = after;
        } else if (!digits) {
            bad_number(n, n->begin, n->at, bases[i].no_digits);
        }
        return true;
    }
    return false;
}

// A keyword may follow a number at once: "0if x else 1".
static bool keyword_follows(const char *p) {
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "or", "not"};
    size_t size = 0;
    while (py_lex_is_word(p[size])) size++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && memcmp(words[i], p, size) == 0) return true;
    return false;
}

static void check_suffix(PyNumber *n) {
    const char *p = n->at;
    if (!py_lex_is_word(*p) || keyword_follows(p)) return;
    while (py_lex_is_word(*p)) p++;
    int size = p - n->at > 30 ? 30 : (int)(p - n->at);
    if (!n->bad) {
        diag_error(n->l->diags, py_lex_span(n->l, n->at, p), DIAG_BAD_NUMBER,
                   "unexpected '%.*s' after a number", size, n->at);
        if ((*n->at | 0x20) == 'l' && p == n->at + 1)
            diag_help(n->l->diags, "integers have any size; they need no suffix");
    }
    n->bad = true;
    n->at = p;
}

static void integer_value(const PyNumber *n, PyToken *t) {
    if (n->base == 10 && n->at - n->begin <= 18) {  // the usual case
        int64_t small = 0;
        for (const char *p = n->begin; p < n->at; p++)
            if (*p != '_') small = small * 10 + (*p - '0');
        t->u.integer = small;
        return;
    }
    const PyInt half = (PyInt)1 << 126, most = half - 1 + half;
    PyInt base = (PyInt)n->base, value = 0, limit = most / base;
    for (const char *p = n->begin + (n->base == 10 ? 0 : 2); p < n->at; p++) {
        if (*p == '_') continue;
        PyInt digit = (PyInt)digit_value(*p);
        if (value > limit || value * base > most - digit) {
            t->huge = true;
            t->u.integer = most;
            return;
        }
        value = value * base + digit;
    }
    t->u.integer = value;
}

void py_lex_number(PyLexer *l, PyToken *t) {
    PyNumber n = {.l = l, .begin = l->at, .at = l->at, .base = 10};
    if (!skip_based(&n)) skip_decimal(&n);
    const char *end = n.at;
    if (n.base == 10 && (*end | 0x20) == 'j') {
        t->imaginary = true;
        n.at++;
    }
    check_suffix(&n);
    t->kind = n.real || t->imaginary ? TOK_FLOAT : TOK_INT;
    const char *after = n.at;
    n.at = end;
    if (n.bad) {
        t->u.integer = 0;
        if (t->kind == TOK_FLOAT) t->u.real = 0;
    } else if (t->kind == TOK_INT) {
        integer_value(&n, t);
    } else {
        (void)str_to_double((Str){n.begin, (size_t)(end - n.begin)}, &t->u.real);
    }
    l->at = after;
}
