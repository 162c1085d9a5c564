// Str: a piece of text that need not end in NUL; StrBuf: text that grows; Interner: one copy of
// each.
//
// Invariants: Str never owns its bytes. Interned names (Symbol) of one Interner are equal exactly
// when their pointers are equal, and are NUL-terminated. A StrBuf is always NUL-terminated.
// Ownership: bytes belong to an arena, or to the source that the Str points into.
//
//     StrBuf b = strbuf(arena);
//     strbuf_printf(&b, "%d lanes", 32);
//     Symbol s = intern(names, str("softmax"));
#ifndef TILEC_BASE_STR_H
#define TILEC_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct Str {
    const char *text;
    size_t size;
} Str;

#define STR(literal) ((Str){"" literal, sizeof(literal) - 1})
// For printf's "%.*s".
#define STR_ARG(s) (int)(s).size, (s).text

Str str(const char *text);
bool str_equal(Str a, Str b);
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
int str_compare(Str a, Str b);
Str str_trim(Str s);
// Is it a character of a word: a letter, a digit or '_'?
bool str_word_char(char c);
bool str_is_identifier(Str s);
// Does `text` contain `word` as a whole word?
bool str_has_word(Str text, Str word);
// The part of a path after the last '/'.
Str str_file_name(Str path);
// The part before `separator`; *rest is what follows it (empty when there is none).
Str str_cut(Str s, char separator, Str *rest);
// Takes the next item of a comma-separated list; an empty list has one item, which is empty:
//     for (Str item; str_item(&list, &item);) …
bool str_item(Str *list, Str *item);
uint64_t str_hash(Str s);
// Lower case for A to Z of ASCII.
Str str_lower(Arena *arena, Str s);
// Edit distance (insert, delete, replace, swap of neighbours), for "did you mean"; never above
// `limit`.
size_t str_distance(Str a, Str b, size_t limit);
// The candidate nearest to `name` within a third of its length (the first of equals), or an empty
// Str.
Str str_nearest(Str name, const Str *candidates, size_t count);

typedef struct StrBuf {
    Arena *arena;
    char *text;
    size_t size;
    size_t capacity;
} StrBuf;

StrBuf strbuf(Arena *arena);
void strbuf_add(StrBuf *b, Str s);
void strbuf_char(StrBuf *b, char c);
void strbuf_printf(StrBuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(StrBuf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
// The shortest decimal text that reads back as the same value (as a float if `single`). "inf",
// "-inf", "nan"; finite values always have a point or an exponent.
void strbuf_double(StrBuf *b, double value, bool single);
// The same with a fixed count of significant digits, 1 to 17.
void strbuf_digits(StrBuf *b, double value, int digits);
// Adds quoted text with the escapes that C and JSON share. Well-formed UTF-8 is copied; control
// characters and stray bytes become \u00XX, which the IR's parser reads back as that byte.
void strbuf_quoted(StrBuf *b, Str s);
Str strbuf_str(const StrBuf *b);

// The size of the well-formed UTF-8 character at the beginning of `s`, or 0 if there is none;
// *point is its code point.
size_t str_utf8(Str s, uint32_t *point);

// Integers that hold every product, and sums of several products, of 64-bit numbers.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

// Numbers in text, in any locale. False when the text as a whole is not a number of that kind. A
// number over 2^64-1 sets *overflow (may be NULL) and gives that value.
bool str_to_u64(Str s, uint64_t *value, bool *overflow);  // decimal, 0x, 0b, '_' between digits
// the same with an optional '-'; INT64_MIN is refused
bool str_to_i64(Str s, int64_t *value);
bool str_to_double(Str s, double *value);  // sign, decimal, 0x…p…, inf, nan; '_' as above

typedef const char *Symbol;
typedef struct Interner Interner;
Interner *interner_create(Arena *arena);
Symbol intern(Interner *names, Str s);
size_t symbol_size(Symbol s);

#endif
