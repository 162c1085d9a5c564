#include "base/str.h"

#include <string.h>

#include "base/os/os.h"

Str str(const char *text) { return (Str){text, text ? strlen(text) : 0}; }

bool str_equal(Str a, Str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.text, b.text, a.size) == 0);
}

bool str_starts(Str s, Str prefix) {
    return s.size >= prefix.size && str_equal((Str){s.text, prefix.size}, prefix);
}

bool str_ends(Str s, Str suffix) {
    return s.size >= suffix.size && (suffix.size == 0 || memcmp(s.text + (s.size - suffix.size),
                                                                suffix.text, suffix.size) == 0);
}

int str_compare(Str a, Str b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.text, b.text, common) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

Str str_trim(Str s) {
    while (s.size && is_space(s.text[0])) {
        s.text++;
        s.size--;
    }
    while (s.size && is_space(s.text[s.size - 1])) s.size--;
    return s;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool str_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

bool str_is_identifier(Str s) {
    for (size_t i = 0; i < s.size; i++)
        if (!str_word_char(s.text[i])) return false;
    return s.size && !is_digit(s.text[0]);
}

bool str_has_word(Str text, Str word) {
    for (size_t i = 0; i + word.size <= text.size; i++) {
        size_t end = i + word.size;
        bool begins = i == 0 || !str_word_char(text.text[i - 1]);
        bool ends = end == text.size || !str_word_char(text.text[end]);
        if (begins && ends && str_equal((Str){text.text + i, word.size}, word)) return true;
    }
    return false;
}

Str str_file_name(Str path) {
    size_t begin = path.size;
    while (begin && path.text[begin - 1] != '/') begin--;
    return (Str){path.text + begin, path.size - begin};
}

Str str_cut(Str s, char separator, Str *rest) {
    const char *at = s.size ? memchr(s.text, separator, s.size) : NULL;
    size_t before = at ? (size_t)(at - s.text) : s.size;
    *rest = at ? (Str){at + 1, s.size - before - 1} : (Str){"", 0};
    return (Str){s.text, before};
}

bool str_item(Str *list, Str *item) {
    if (!list->text) return false;
    Str rest, whole = *list;
    *item = str_cut(whole, ',', &rest);
    *list = item->size < whole.size ? rest : (Str){0};
    return true;
}

// Folds both halves of the product into one, so that every input bit affects every output bit.
static uint64_t fold(uint64_t a, uint64_t b) {
    Uint128 product = (Uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t str_hash(Str s) {
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = odd ^ s.size;
    const char *p = s.text;
    size_t left = s.size;
    uint64_t word = 0;
    for (; left >= sizeof word; left -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = fold(hash ^ word, odd);
    }
    word = 0;
    if (left) memcpy(&word, p, left);
    return fold(hash ^ word, UINT64_C(0xD6E8FEB86659FD93));
}

enum { DISTANCE_MAX = 128 };  // longer names are not misspellings of each other

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t str_distance(Str a, Str b, size_t limit) {
    size_t gap = a.size > b.size ? a.size - b.size : b.size - a.size;
    if (gap >= limit || a.size > DISTANCE_MAX || b.size > DISTANCE_MAX) {
        return str_equal(a, b) ? 0 : limit;
    }
    size_t rows[3][DISTANCE_MAX + 1];  // of the last two prefixes of a, and of this one
    for (size_t j = 0; j <= b.size; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *second = rows[(i + 1) % 3];
        size_t best = row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            bool same = a.text[i - 1] == b.text[j - 1];
            size_t cost = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
            bool swapped =
                i > 1 && j > 1 && a.text[i - 1] == b.text[j - 2] && a.text[i - 2] == b.text[j - 1];
            if (swapped) cost = least(cost, second[j - 2] + 1);
            row[j] = cost;
            best = least(best, cost);
        }
        if (best > limit) return limit;
    }
    return least(rows[a.size % 3][b.size], limit);
}

Str str_lower(Arena *arena, Str s) {
    char *text = arena_new(arena, char, s.size + 1);
    for (size_t i = 0; i < s.size; i++) {
        char c = s.text[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (Str){text, s.size};
}

Str str_nearest(Str name, const Str *candidates, size_t count) {
    size_t limit = name.size / 3 + 1;
    Str nearest = {"", 0};
    for (size_t i = 0; i < count && limit; i++) {
        size_t distance = str_distance(name, candidates[i], limit);
        if (distance >= limit) continue;
        nearest = candidates[i];
        limit = distance;
    }
    return nearest;
}

size_t str_utf8(Str s, uint32_t *point) {
    static const uint32_t least_of[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!s.size) return 0;
    unsigned char first = (unsigned char)s.text[0];
    size_t size = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (size == 0 || size > s.size || first >= 0xF8) return 0;
    uint32_t value = size == 1 ? first : first & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        unsigned char next = (unsigned char)s.text[i];
        if ((next & 0xC0) != 0x80) return 0;
        value = value << 6 | (next & 0x3F);
    }
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least_of[size] || value > 0x10FFFF || surrogate) return 0;
    *point = value;
    return size;
}

// ---- Interning ----

typedef struct StrName {
    size_t size;
    char text[];
} StrName;

typedef struct InternSlot {
    uint64_t hash;
    StrName *name;
} InternSlot;

struct Interner {
    Arena *arena;
    InternSlot *slots;  // open addressing, at most half full
    size_t slot_count;  // a power of two
    size_t count;
};

enum { INTERN_FIRST = 256 };

Interner *interner_create(Arena *arena) {
    Interner *names = arena_new(arena, Interner, 1);
    names->arena = arena;
    names->slot_count = INTERN_FIRST;
    names->slots = arena_new(arena, InternSlot, names->slot_count);
    return names;
}

static void intern_grow(Interner *names) {
    InternSlot *old = names->slots;
    size_t old_count = names->slot_count;
    names->slots = arena_new(names->arena, InternSlot, old_count * 2);
    names->slot_count = old_count * 2;  // updated together with the memory, so that the table stays
                                        // intact if allocation fails
    for (size_t i = 0; i < old_count; i++) {
        if (!old[i].name) continue;
        size_t at = old[i].hash & (names->slot_count - 1);
        while (names->slots[at].name) at = (at + 1) & (names->slot_count - 1);
        names->slots[at] = old[i];
    }
}

Symbol intern(Interner *names, Str s) {
    uint64_t hash = str_hash(s);
    size_t mask = names->slot_count - 1;
    size_t at = hash & mask;
    for (; names->slots[at].name; at = (at + 1) & mask) {
        StrName *name = names->slots[at].name;
        if (names->slots[at].hash == hash && name->size == s.size &&
            (s.size == 0 || memcmp(name->text, s.text, s.size) == 0)) {
            return name->text;
        }
    }
    StrName *name = arena_alloc(names->arena, sizeof(StrName) + s.size + 1);
    name->size = s.size;
    if (s.size) memcpy(name->text, s.text, s.size);
    names->slots[at] = (InternSlot){.hash = hash, .name = name};
    if (++names->count * 2 > names->slot_count) intern_grow(names);
    return name->text;
}

size_t symbol_size(Symbol s) {
    size_t size = 0;
    memcpy(&size, s - offsetof(StrName, text) + offsetof(StrName, size), sizeof size);
    return size;
}
