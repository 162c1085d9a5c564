// Numbers in text (str.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/str.h"

// The digit's value, or 99.
static unsigned digit_value(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 99;
}

// Removes a leading "0x" or "0b".
static unsigned take_base(Str *s, bool binary) {
    if (s->size < 2 || s->text[0] != '0') return 10;
    char letter = s->text[1];
    bool hex = letter == 'x' || letter == 'X';
    bool bin = binary && (letter == 'b' || letter == 'B');
    if (!hex && !bin) return 10;
    *s = (Str){s->text + 2, s->size - 2};
    return hex ? 16 : 2;
}

bool str_to_u64(Str s, uint64_t *value, bool *overflow) {
    unsigned base = take_base(&s, true);
    uint64_t result = 0;
    bool over = false;
    bool after_digit = false;
    for (size_t i = 0; i < s.size; i++) {
        if (s.text[i] == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        unsigned digit = digit_value(s.text[i]);
        if (digit >= base) return false;
        after_digit = true;
        over = over || result > (UINT64_MAX - digit) / base;
        result = result * base + digit;
    }
    if (!after_digit) return false;
    if (overflow) *overflow = over;
    *value = over ? UINT64_MAX : result;
    return true;
}

bool str_to_i64(Str s, int64_t *value) {
    bool negative = s.size && s.text[0] == '-', overflow = false;
    if (negative) s.text++, s.size--;
    uint64_t magnitude;
    if (!str_to_u64(s, &magnitude, &overflow) || overflow || magnitude > INT64_MAX) return false;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

// A decimal or hexadecimal floating-point text, split into parts while it is checked.
typedef struct NumberScan {
    Str left;
    uint64_t mantissa;  // of decimal digits, while there are at most 19
    unsigned digits;    // digits that count, leading zeros excluded
    int point;          // digits after the point
} NumberScan;

// Scans a run of digits with '_' between them; returns their count, or -1 when a '_' is misplaced.
static long scan_digits(NumberScan *scan, unsigned base, bool fraction) {
    long count = 0;
    bool after_digit = false;
    while (scan->left.size) {
        char c = scan->left.text[0];
        unsigned digit = digit_value(c);
        if (c == '_' ? !after_digit : digit >= base) break;
        after_digit = c != '_';
        if (after_digit) {
            count++;
            if (scan->digits || digit) scan->digits++;
            if (scan->digits <= 19) scan->mantissa = scan->mantissa * base + digit;
            if (fraction && scan->point < 1000) scan->point++;
        }
        scan->left = (Str){scan->left.text + 1, scan->left.size - 1};
    }
    return count && !after_digit ? -1 : count;
}

static bool take(NumberScan *scan, char lower, char upper) {
    if (!scan->left.size || (scan->left.text[0] != lower && scan->left.text[0] != upper)) {
        return false;
    }
    scan->left = (Str){scan->left.text + 1, scan->left.size - 1};
    return true;
}

// True if the whole text is a number; *exponent is the number after the 'e', clamped to ±100000.
static bool scan_number(NumberScan *scan, unsigned base, int *exponent) {
    long whole = scan_digits(scan, base, false);
    long part = take(scan, '.', '.') ? scan_digits(scan, base, true) : 0;
    if (whole < 0 || part < 0 || whole + part == 0) return false;
    if (base == 16 ? take(scan, 'p', 'P') : take(scan, 'e', 'E')) {
        bool negative = take(scan, '-', '-');
        if (!negative) (void)take(scan, '+', '+');
        NumberScan power = {.left = scan->left};
        if (scan_digits(&power, 10, false) <= 0) return false;
        scan->left = power.left;
        int size = power.digits > 5 ? 100000 : (int)power.mantissa;
        *exponent = negative ? -size : size;
    }
    return scan->left.size == 0;
}

// One exact multiplication or division: both operands are exact doubles (Clinger's fast path).
static bool quick_double(const NumberScan *scan, int exponent, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int power = exponent - scan->point;
    if (scan->digits > 15 || power < -22 || power > 22) return false;
    double mantissa = (double)scan->mantissa;
    *value = power < 0 ? mantissa / powers[-power] : mantissa * powers[power];
    return true;
}

// The C library's conversion, on a copy that ends in NUL and has no '_'.
static double slow_double(Str s) {
    char small[256];
    char *copy = s.size < sizeof small ? small : recover_new(s.size + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.size; i++) {
        if (s.text[i] != '_') copy[n++] = s.text[i];
    }
    copy[n] = 0;
    double value = os_text_to_double(copy, NULL);
    if (copy != small) recover_free(copy);
    return value;
}

static bool unsigned_double(Str s, double *value) {
    if (str_equal(s, STR("inf"))) {
        *value = (double)INFINITY;
        return true;
    }
    if (str_equal(s, STR("nan"))) {
        *value = (double)NAN;
        return true;
    }
    Str digits = s;
    unsigned base = take_base(&digits, false);
    NumberScan scan = {.left = digits};
    int exponent = 0;
    if (!scan_number(&scan, base, &exponent)) return false;
    if (base == 10 && quick_double(&scan, exponent, value)) return true;
    *value = slow_double(s);
    return true;
}

bool str_to_double(Str s, double *value) {
    bool negative = s.size && s.text[0] == '-';
    if (negative || (s.size && s.text[0] == '+')) s = (Str){s.text + 1, s.size - 1};
    double magnitude = 0;
    if (!unsigned_double(s, &magnitude)) return false;
    *value = negative ? -magnitude : magnitude;
    return true;
}
