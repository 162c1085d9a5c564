// An archive holds the index, the table of long names, then the members. A header line of text
// precedes each of them, and each begins at an even offset:
//
//     !<arch>\n
//     /           u32 count; u32 place of the member's head for each symbol; the symbols' names
//     //          "a_long_name.o/\n" for each
//     softmax.o/  its bytes
//     /0          the bytes of the member whose name begins at 0 of the table
#include "base/ar.h"

#include <stdio.h>
#include <string.h>

#define MAGIC "!<arch>\n"
enum { MAGIC_SIZE = 8, HEAD_SIZE = 60, NAME_MAX_SHORT = 15 };
#define SIZE_LIMIT (UINT64_C(1) << 32)

static uint64_t even(uint64_t size) { return size + (size & 1); }

static bool is_long(Str name) { return name.size > NAME_MAX_SHORT; }

// ---- sizes --------------------------------------------------------------------------------------

typedef struct Sizes {
    uint64_t symbols, index, names, all;  // `all` stays below 2 * SIZE_LIMIT
} Sizes;

// The sum of sizes of things in memory cannot reach 2^64.
static Sizes sizes_of(const ArMember *members, uint32_t count) {
    Sizes s = {0};
    for (uint32_t i = 0; i < count; i++) {
        const ArMember *m = &members[i];
        s.symbols += m->symbol_count;
        for (uint32_t k = 0; k < m->symbol_count; k++) s.index += m->symbols[k].size + 1;
        if (is_long(m->name)) s.names += m->name.size + 2;
        s.all += HEAD_SIZE + even(m->bytes.size);
    }
    s.index = even(s.index + 4 * (s.symbols + 1));
    s.all += MAGIC_SIZE + HEAD_SIZE + s.index;
    if (s.names) s.all += HEAD_SIZE + even(s.names);
    return s;
}

// ---- parts --------------------------------------------------------------------------------------

static char *put(char *to, Str bytes) {
    if (bytes.size) memcpy(to, bytes.text, bytes.size);
    return to + bytes.size;
}

static char *put_u32(char *to, uint64_t value) {
    for (int i = 0; i < 4; i++) to[i] = (char)(value >> (24 - 8 * i) & 0xff);
    return to + 4;
}

// Text and numbers are aligned left and padded with blanks.
static char *put_head(char *to, const char *name, uint64_t size) {
    char head[HEAD_SIZE + 12];  // compilers do not know that ten digits are enough
    snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8s%-10llu`\n", name, 0, 0, 0, "100644",
             (unsigned long long)size);
    return put(to, (Str){head, HEAD_SIZE});
}

static char *put_padding(char *to, uint64_t size) {
    if (size & 1) *to++ = '\n';
    return to;
}

static char *put_index(char *to, const ArMember *members, uint32_t count, const Sizes *s) {
    char *end = put_head(to, "/", s->index) + s->index;
    uint64_t place = MAGIC_SIZE + HEAD_SIZE + s->index;
    if (s->names) place += HEAD_SIZE + even(s->names);
    to = put_u32(end - s->index, s->symbols);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < members[i].symbol_count; k++) to = put_u32(to, place);
        place += HEAD_SIZE + even(members[i].bytes.size);
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < members[i].symbol_count; k++)
            to = put(to, members[i].symbols[k]) + 1;  // the memory is 0
    return end;
}

static char *put_names(char *to, const ArMember *members, uint32_t count, uint64_t size) {
    if (!size) return to;
    to = put_head(to, "//", size);
    for (uint32_t i = 0; i < count; i++)
        if (is_long(members[i].name)) to = put(put(to, members[i].name), STR("/\n"));
    return put_padding(to, size);
}

bool ar_write(Arena *arena, const ArMember *members, uint32_t count, Str *out) {
    Sizes s = sizes_of(members, count);
    if (s.all >= SIZE_LIMIT) return false;
    char *bytes = arena_alloc(arena, s.all), *to = put(bytes, STR(MAGIC));
    uint64_t long_name = 0;
    to = put_index(to, members, count, &s);
    to = put_names(to, members, count, s.names);
    for (uint32_t i = 0; i < count; i++) {
        const ArMember *m = &members[i];
        char name[NAME_MAX_SHORT + 2];
        if (is_long(m->name)) {
            snprintf(name, sizeof name, "/%llu", (unsigned long long)long_name);
            long_name += m->name.size + 2;
        } else {
            snprintf(name, sizeof name, "%.*s/", STR_ARG(m->name));
        }
        to = put_padding(put(put_head(to, name, m->bytes.size), m->bytes), m->bytes.size);
    }
    *out = (Str){bytes, s.all};
    return true;
}
