#include "tests/support/amd_object.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"

enum { CODE = 1024, DESCRIPTOR_AT = 512, NOTE_AT = 576, WORD = 4, ROOM = 64 * 1024 };

// ---- The object ----

typedef struct Writer {
    uint8_t bytes[ROOM];
    size_t size;
} Writer;

static void put(Writer *w, size_t at, uint64_t value, size_t size) {
    memcpy(w->bytes + at, &value, size);
    if (at + size > w->size) w->size = at + size;
}

static uint32_t number_of(const char *processor) {
    return (uint32_t)strtoul(processor + 3, NULL, 16);
}
static uint32_t mach_of(uint32_t processor) {
    switch (processor) {
    case 0x90a: return 0x3f;
    case 0x942: return 0x4c;
    case 0x950: return 0x4f;
    case 0x1030: return 0x36;
    case 0x1100: return 0x41;
    case 0x1151: return 0x4a;
    case 0x1200: return 0x48;
    default: return 0x4e;
    }
}
static uint32_t lanes_of(const AmdSource *s) {
    if (s->lanes) return s->lanes;
    return number_of(s->processor) < 0x1000 ? 64 : 32;
}

// The code begins with its text's number: of the thread that reads, tests have one.
enum { TEXTS = 64 };
static const char *texts[TEXTS];
static uint32_t text_count;

static uint32_t remember(const char *text) {
    texts[text_count % TEXTS] = text;
    return text_count++;
}

static size_t count_lines(const char *text) {
    size_t count = 1;
    for (const char *p = text; *p; p++) count += *p == '\n' && p[1];
    return count;
}

static void put_descriptor(Writer *w, const AmdSource *s) {
    put(w, DESCRIPTOR_AT, s->lds, 4);
    put(w, DESCRIPTOR_AT + 4, s->scratch, 4);
    put(w, DESCRIPTOR_AT + 8, 8 * s->args, 4);
    put(w, DESCRIPTOR_AT + 16, CODE - DESCRIPTOR_AT, 8);
    put(w, DESCRIPTOR_AT + 44, 31, 4);  // 128 registers, and 128 accumulators after them
    // 256 vector and 112 scalar registers; denormals; IEEE and DX10 modes.
    put(w, DESCRIPTOR_AT + 48, 31 | 12 << 6 | 0xfu << 16 | 1u << 21 | 1u << 23, 4);
    put(w, DESCRIPTOR_AT + 52, 2 << 1 | 1 << 7 | 1 << 8 | 1 << 9 | 2 << 11, 4);
    put(w, DESCRIPTOR_AT + 56, 8 | (lanes_of(s) == 32 ? 1 << 10 : 0), 2);
}

static void put_text(Writer *w, const char *text) {
    memcpy(w->bytes + w->size, text, strlen(text));
    w->size += strlen(text);
}
static void put_key(Writer *w, const char *text) {
    w->bytes[w->size++] = (uint8_t)(0xa0 | strlen(text));
    put_text(w, text);
}
static void put_number(Writer *w, uint32_t value) {
    w->bytes[w->size++] = 0xcd;
    w->bytes[w->size++] = (uint8_t)(value >> 8);
    w->bytes[w->size++] = (uint8_t)value;
}

static size_t put_note(Writer *w, const AmdSource *s) {
    size_t begin = NOTE_AT + 20;
    w->size = begin;
    w->bytes[w->size++] = 0x81;
    put_key(w, "amdhsa.kernels");
    w->bytes[w->size++] = 0x91;
    w->bytes[w->size++] = 0x82;
    put_key(w, ".name");
    put_key(w, "k");
    put_key(w, ".args");
    w->bytes[w->size++] = (uint8_t)(0x90 | s->args);
    for (uint32_t i = 0; i < s->args; i++) {
        w->bytes[w->size++] = 0x83;
        put_key(w, ".offset"), put_number(w, 8 * i);
        put_key(w, ".size"), put_number(w, 8);
        put_key(w, ".value_kind"), put_key(w, "by_value");
    }
    size_t size = w->size - begin;
    put(w, NOTE_AT, 7, 4), put(w, NOTE_AT + 4, size, 4), put(w, NOTE_AT + 8, 32, 4);
    memcpy(w->bytes + NOTE_AT + 12, "AMDGPU\0", 8);
    CHECK(w->size < CODE, "the note is too long");
    return 20 + (size + 3) / 4 * 4;
}

static void put_symbol(Writer *w, size_t at, uint32_t name, uint32_t type, uint64_t value,
                       uint64_t size) {
    put(w, at, name, 4), put(w, at + 4, 16 | type, 1), put(w, at + 6, 1, 2);
    put(w, at + 8, value, 8), put(w, at + 16, size, 8);
}

Str amd_object_bytes(Arena *arena, const AmdSource *s) {
    Writer *w = arena_new(arena, Writer, 1);
    size_t code = WORD * count_lines(s->text), note = put_note(w, s);
    put(w, CODE, remember(s->text), WORD);
    put_descriptor(w, s);
    size_t image = CODE + code, symbols = image + 8, table = symbols + 48 + 64;
    static const char names[] = "\0.text\0.note\0.symtab\0k\0k.kd";
    memcpy(w->bytes + symbols + 48, names, sizeof names);
    put_symbol(w, symbols, 21, 2, CODE, code);
    put_symbol(w, symbols + 24, 23, 1, DESCRIPTOR_AT, 64);
    const struct {
        uint32_t name, type;
        uint64_t address, offset, size;
        uint32_t link;
    } sections[] = {{0, 0, 0, 0, 0, 0},
                    {1, 1, CODE, CODE, code, 0},
                    {7, 7, NOTE_AT, NOTE_AT, note, 0},
                    {13, 2, 0, symbols, 48, 4},
                    {1, 3, 0, symbols + 48, sizeof names, 0}};
    for (size_t n = 0; n < 5; n++) {
        size_t at = table + 64 * n;
        put(w, at, sections[n].name, 4), put(w, at + 4, sections[n].type, 4);
        put(w, at + 16, sections[n].address, 8), put(w, at + 24, sections[n].offset, 8);
        put(w, at + 32, sections[n].size, 8), put(w, at + 40, sections[n].link, 4);
        put(w, at + 56, 0, 8);
    }
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 64, 3};
    memcpy(w->bytes, magic, sizeof magic);
    put(w, 16, 3, 2), put(w, 18, 224, 2), put(w, 20, 1, 4);
    put(w, 32, 64, 8), put(w, 40, table, 8), put(w, 48, mach_of(number_of(s->processor)), 4);
    put(w, 54, 56, 2), put(w, 56, 1, 2), put(w, 58, 64, 2), put(w, 60, 5, 2), put(w, 62, 4, 2);
    put(w, 64, 1, 4), put(w, 64 + 32, image, 8), put(w, 64 + 40, image, 8);
    return (Str){(const char *)w->bytes, w->size};
}

// ---- The disassembler that knows the text ----

bool amd_object_disassemble(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    (void)user;
    uint32_t number = 0;
    if (job->bytes.size < WORD) return false;
    memcpy(&number, job->bytes.text, WORD);
    const char *text = texts[number % TEXTS];
    if (!text) return false;
    size_t count = count_lines(text);
    GpuCodeLine *lines = arena_new(arena, GpuCodeLine, count);
    Str rest = str(text);
    for (size_t n = 0; n < count; n++) {
        Str line = str_cut(rest, '\n', &rest);
        lines[n] = (GpuCodeLine){(uint32_t)(WORD * n), WORD, {NULL, 0}};
        lines[n].text = (Str){arena_text(arena, line.text, line.size), line.size};
    }
    if (job->bytes.size != WORD * count) return false;
    *code = (GpuCode){lines, (uint32_t)count};
    return true;
}
