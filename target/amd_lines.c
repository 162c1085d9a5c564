// Line tables: DWARF 5, section 6.2.
#include <string.h>

#include "base/vec.h"
#include "target/amd_object.h"

enum {
    FORM_STRING = 0x08,
    FORM_DATA1 = 0x0b,
    FORM_DATA2 = 0x05,
    FORM_UDATA = 0x0f,
    FORM_STRP = 0x0e,
    FORM_LINE_STRP = 0x1f,
    FORM_DATA16 = 0x1e,
    CONTENT_PATH = 1,
    CONTENT_FOLDER = 2,
    FORMATS_MAX = 16,
    FILES_MAX = 1 << 16,
    OPCODES_MAX = 64
};

typedef struct File {
    Str path;
    uint64_t folder;
} File;

typedef struct LineUnit {
    Arena *arena;
    AmdBytes bytes;
    Str line_strings, strings;
    File *folders, *files;
    uint64_t folder_count, file_count;
    uint32_t least, range, first_special;
    int32_t base;
    uint8_t operands[OPCODES_MAX];
} LineUnit;

typedef VEC(AmdLine) AmdLines;

static uint64_t take_leb(AmdBytes *b) {
    uint64_t value = 0;
    for (uint32_t shift = 0; !b->bad; shift += 7) {
        uint64_t byte = amd_take(b, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        if (!(byte & 128)) break;
    }
    return value;
}
static int64_t take_signed(AmdBytes *b) {
    uint64_t value = 0;
    for (uint32_t shift = 0; !b->bad; shift += 7) {
        uint64_t byte = amd_take(b, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        if (byte & 128) continue;
        if (byte & 64 && shift < 57) value |= ~UINT64_C(0) << (shift + 7);
        break;
    }
    return (int64_t)value;
}

static Str text_from(Str bytes, uint64_t at) {
    if (at >= bytes.size) return (Str){"", 0};
    const char *end = memchr(bytes.text + at, 0, bytes.size - (size_t)at);
    return end ? (Str){bytes.text + at, (size_t)(end - bytes.text) - (size_t)at} : (Str){"", 0};
}

// Reads one field of an entry.
static void take_field(LineUnit *u, uint64_t content, uint64_t form, File *f) {
    AmdBytes *b = &u->bytes;
    Str text = {"", 0};
    uint64_t number = 0;
    switch (form) {
    case FORM_STRING:
        text = text_from(b->bytes, b->at);
        (void)amd_take_bytes(b, text.size + 1);
        break;
    case FORM_LINE_STRP: text = text_from(u->line_strings, amd_take(b, 4)); break;
    case FORM_STRP: text = text_from(u->strings, amd_take(b, 4)); break;
    case FORM_DATA1: number = amd_take(b, 1); break;
    case FORM_DATA2: number = amd_take(b, 2); break;
    case FORM_UDATA: number = take_leb(b); break;
    case FORM_DATA16: (void)amd_take_bytes(b, 16); break;
    default: b->bad = true; break;
    }
    if (content == CONTENT_PATH) f->path = text;
    if (content == CONTENT_FOLDER) f->folder = number;
}

// Reads a table of folders or files.
static File *take_table(LineUnit *u, uint64_t *count) {
    uint64_t contents[FORMATS_MAX], forms[FORMATS_MAX];
    uint64_t formats = amd_take(&u->bytes, 1);
    for (uint64_t i = 0; i < formats && i < FORMATS_MAX; i++)
        contents[i] = take_leb(&u->bytes), forms[i] = take_leb(&u->bytes);
    *count = take_leb(&u->bytes);
    if (formats > FORMATS_MAX || *count > FILES_MAX || *count > u->bytes.bytes.size)
        u->bytes.bad = true;
    if (u->bytes.bad) *count = 0;
    File *list = arena_new(u->arena, File, *count + 1);
    for (uint64_t n = 0; n < *count && !u->bytes.bad; n++)
        for (uint64_t i = 0; i < formats; i++) take_field(u, contents[i], forms[i], &list[n]);
    return list;
}

static Str path_of(const LineUnit *u, uint64_t file) {
    if (file >= u->file_count) return (Str){"", 0};
    const File *f = &u->files[file];
    bool whole = !f->path.size || f->path.text[0] == '/';
    if (whole || !f->folder || f->folder >= u->folder_count) return f->path;
    Str folder = u->folders[f->folder].path;
    const char *text = arena_printf(u->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(f->path));
    return str(text);
}

typedef struct LineState {
    uint64_t address, file;
    uint32_t line, column;
} LineState;

static const LineState fresh = {.file = 1, .line = 1};

static void add_row(LineUnit *u, AmdLines *lines, const LineState *s, bool end) {
    AmdLine row = {.address = s->address};
    if (!end) {
        const AmdLine *last = lines->count ? &vec_last(lines) : NULL;
        row.file = path_of(u, s->file);
        row.line = s->line;
        row.column = s->column;
        if (last && last->line == s->line && last->column == s->column &&
            str_equal(last->file, row.file))
            return;
    }
    vec_push(u->arena, lines, row);
}

static void extended(LineUnit *u, AmdLines *lines, LineState *s) {
    uint64_t size = take_leb(&u->bytes);
    Str rest = amd_take_bytes(&u->bytes, size);
    AmdBytes b = {.bytes = rest};
    uint64_t opcode = amd_take(&b, 1);
    if (opcode == 1) {
        add_row(u, lines, s, true);
        *s = fresh;
    }
    if (opcode == 2) s->address = amd_take(&b, 8);
}

static void standard(LineUnit *u, AmdLines *lines, LineState *s, uint32_t opcode) {
    AmdBytes *b = &u->bytes;
    switch (opcode) {
    case 0: extended(u, lines, s); break;
    case 1: add_row(u, lines, s, false); break;
    case 2: s->address += take_leb(b) * u->least; break;
    case 3: s->line += (uint32_t)take_signed(b); break;
    case 4: s->file = take_leb(b); break;
    case 5: s->column = (uint32_t)take_leb(b); break;
    case 8: s->address += (uint64_t)((255 - u->first_special) / u->range) * u->least; break;
    case 9: s->address += amd_take(b, 2); break;
    default:
        for (uint32_t n = 0; opcode < OPCODES_MAX && n < u->operands[opcode]; n++)
            (void)take_leb(b);
        break;
    }
}

static void run_program(LineUnit *u, AmdLines *lines) {
    LineState s = fresh;
    while (!u->bytes.bad && u->bytes.at < u->bytes.bytes.size) {
        uint32_t opcode = (uint32_t)amd_take(&u->bytes, 1);
        if (opcode < u->first_special) {
            standard(u, lines, &s, opcode);
            continue;
        }
        uint32_t special = opcode - u->first_special;
        s.address += (uint64_t)(special / u->range) * u->least;
        s.line += (uint32_t)(u->base + (int32_t)(special % u->range));
        add_row(u, lines, &s, false);
    }
}

static void read_unit(LineUnit *u, AmdLines *lines) {
    AmdBytes *b = &u->bytes;
    if (amd_take(b, 2) != 5) return;
    (void)amd_take(b, 2);  // sizes of addresses and selectors
    uint64_t header = amd_take(b, 4), begin = b->at + header;
    u->least = (uint32_t)amd_take(b, 1);
    (void)amd_take(b, 2);
    u->base = (int8_t)amd_take(b, 1);
    u->range = (uint32_t)amd_take(b, 1);
    u->first_special = (uint32_t)amd_take(b, 1);
    for (uint32_t n = 1; n < u->first_special; n++) {
        uint8_t operands = (uint8_t)amd_take(b, 1);
        if (n < OPCODES_MAX) u->operands[n] = operands;
    }
    u->folders = take_table(u, &u->folder_count);
    u->files = take_table(u, &u->file_count);
    if (b->bad || !u->range || !u->first_special || begin > b->bytes.size) return;
    b->at = (size_t)begin;
    run_program(u, lines);
}

// Sequences of one unit ascend, but those of several functions may not.
static void sort(Arena *arena, AmdLines *lines) {
    AmdLine *other = arena_new(arena, AmdLine, lines->count + 1), *from = lines->data;
    for (size_t width = 1; width < lines->count; width *= 2) {
        for (size_t low = 0; low < lines->count; low += 2 * width) {
            size_t middle = low + width < lines->count ? low + width : lines->count;
            size_t high = middle + width < lines->count ? middle + width : lines->count;
            for (size_t i = low, j = middle, n = low; n < high; n++) {
                bool left = j == high || (i < middle && from[i].address <= from[j].address);
                other[n] = left ? from[i++] : from[j++];
            }
        }
        AmdLine *swap = from;
        from = other, other = swap;
    }
    lines->data = from;
}

void amd_lines_read(Arena *arena, Str section, Str line_strings, Str strings, AmdObject *object) {
    AmdBytes all = {.bytes = section};
    AmdLines lines = {0};
    while (all.at < all.bytes.size && !all.bad) {
        uint64_t size = amd_take(&all, 4);
        if (size >= 0xfffffff0) break;  // 64-bit DWARF, which no compiler writes for GPUs
        LineUnit u = {.arena = arena, .line_strings = line_strings, .strings = strings};
        u.bytes = (AmdBytes){.bytes = amd_take_bytes(&all, size)};
        read_unit(&u, &lines);
    }
    sort(arena, &lines);
    object->lines = lines.data, object->line_count = (uint32_t)lines.count;
}
