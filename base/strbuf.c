// StrBuf: growing text, and how numbers and quoted texts are written.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/str.h"

enum { STRBUF_FIRST = 64 };

StrBuf strbuf(Arena *arena) {
    return (StrBuf){
        .arena = arena, .text = arena_alloc(arena, STRBUF_FIRST), .capacity = STRBUF_FIRST};
}

// Makes room for `more` characters and the NUL.
static void reserve(StrBuf *b, size_t more) {
    if (more > SIZE_MAX / 4 - b->size) os_out_of_memory();
    size_t need = b->size + more + 1;
    if (need <= b->capacity) return;
    size_t capacity = b->capacity < STRBUF_FIRST ? STRBUF_FIRST : b->capacity * 2;
    while (capacity < need) capacity *= 2;
    if (!arena_extend(b->arena, b->text, b->capacity, capacity)) {
        char *text = arena_alloc(b->arena, capacity);
        if (b->size) memcpy(text, b->text, b->size);
        b->text = text;
    }
    b->capacity = capacity;
}

void strbuf_add(StrBuf *b, Str s) {
    if (!s.size) return;
    reserve(b, s.size);
    memcpy(b->text + b->size, s.text, s.size);
    b->size += s.size;
    b->text[b->size] = 0;
}

void strbuf_char(StrBuf *b, char c) {
    reserve(b, 1);
    b->text[b->size++] = c;
    b->text[b->size] = 0;
}

void strbuf_vprintf(StrBuf *b, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    reserve(b, 0);
    int size = vsnprintf(b->text + b->size, b->capacity - b->size, format, args);
    CHECK(size >= 0, "a format that vsnprintf refuses: %s", format);
    if ((size_t)size >= b->capacity - b->size) {
        reserve(b, (size_t)size);
        vsnprintf(b->text + b->size, b->capacity - b->size, format, again);
    }
    va_end(again);
    b->size += (size_t)size;
}

void strbuf_printf(StrBuf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    strbuf_vprintf(b, format, args);
    va_end(args);
}

Str strbuf_str(const StrBuf *b) { return (Str){b->text, b->size}; }

// printf writes the decimal point of the process's locale, which may be any text. So any text that
// cannot be part of a number is the point.
static void add_printed(StrBuf *b, const char *printed) {
    bool whole = true;
    for (const char *p = printed; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+';
        if (plain) {
            strbuf_char(b, *p);
        } else if (*p == 'e' || b->text[b->size - 1] != '.') {
            strbuf_char(b, *p == 'e' ? 'e' : '.');
            whole = false;
        }
    }
    if (whole) strbuf_add(b, STR(".0"));
}

static bool add_special(StrBuf *b, double value) {
    if (isfinite(value)) return false;
    strbuf_add(b, isnan(value) ? STR("nan") : value < 0 ? STR("-inf") : STR("inf"));
    return true;
}

void strbuf_digits(StrBuf *b, double value, int digits) {
    char printed[64];
    if (add_special(b, value)) return;
    snprintf(printed, sizeof printed, "%.*g", digits, value);
    add_printed(b, printed);
}

void strbuf_double(StrBuf *b, double value, bool single) {
    char printed[64];
    if (add_special(b, value)) return;
    // Whole numbers of this size are printed in full: "100.0" reads better than "1e+02".
    if (fabs(value) < (single ? 0x1p24 : 0x1p53) && value == floor(value)) {
        snprintf(printed, sizeof printed, "%.0f", value);
        add_printed(b, printed);
        return;
    }
    size_t start = b->size;
    for (int digits = 1; digits <= 17; digits++) {
        b->size = start;
        strbuf_digits(b, value, digits);
        double back = os_text_to_double(b->text + start, NULL);
        if (single ? (float)back == (float)value : back == value) return;
    }
}

static void add_escaped(StrBuf *b, unsigned char c) {
    switch (c) {
    case '"': strbuf_add(b, STR("\\\"")); break;
    case '\\': strbuf_add(b, STR("\\\\")); break;
    case '\n': strbuf_add(b, STR("\\n")); break;
    case '\t': strbuf_add(b, STR("\\t")); break;
    case '\r': strbuf_add(b, STR("\\r")); break;
    default: strbuf_printf(b, "\\u%04x", c); break;
    }
}

static bool needs_escape(uint32_t point) {
    return point < 0x20 || point == 0x7F || point == '"' || point == '\\';
}

void strbuf_quoted(StrBuf *b, Str s) {
    strbuf_char(b, '"');
    for (size_t i = 0; i < s.size;) {
        uint32_t point = 0;
        size_t size = str_utf8((Str){s.text + i, s.size - i}, &point);
        if (size == 0 || needs_escape(point)) {
            add_escaped(b, (unsigned char)s.text[i++]);
            continue;
        }
        strbuf_add(b, (Str){s.text + i, size});
        i += size;
    }
    strbuf_char(b, '"');
}
