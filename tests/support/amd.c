#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/amd/amd.h"

enum { IMAGE = 4096, CODE = 1024, DESCRIPTOR_AT = 512, NOTE_AT = 640, WORD = 4 };

// ---- The object ----

typedef struct Writer {
    uint8_t bytes[64 * 1024];
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
    put(w, DESCRIPTOR_AT + 44, 31, 4);  // 128 registers, and behind them 128 accumulators
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
    assert_true(w->size < CODE);
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

static const char *current;  // of the thread that reads: tests have one

static bool give_text(Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    size_t count = count_lines(current);
    GpuCodeLine *lines = arena_new(arena, GpuCodeLine, count);
    Str rest = str(current);
    for (size_t n = 0; n < count; n++) {
        Str line = str_cut(rest, '\n', &rest);
        lines[n] = (GpuCodeLine){(uint32_t)(WORD * n), WORD, {NULL, 0}};
        lines[n].text = (Str){arena_text(arena, line.text, line.size), line.size};
    }
    assert_int_equal(job->bytes.size, WORD * count);
    *code = (GpuCode){lines, (uint32_t)count};
    return true;
}

static const SimProgram *read_source(Arena *arena, const AmdSource *s, Diags *diags) {
    current = s->text;
    return amd_read(arena, amd_object_bytes(arena, s), give_text, diags);
}

void amd_open_object(Warp *w, Str bytes, GpuDisassemble *disassemble) {
    *w = (Warp){.arena = arena_create()};
    w->sources = sources_create(w->arena);
    w->diags = diags_create(w->arena, w->sources);
    w->printed = strbuf(w->arena);
    Str own = {arena_text(w->arena, bytes.text, bytes.size), bytes.size};
    w->program = amd_read(w->arena, own, disassemble, w->diags);
    if (!w->program) {
        StrBuf b = strbuf(w->arena);
        diags_text(w->diags, (DiagStyle){0}, &b);
        fail_msg("%s", b.text);
    }
    w->memory = sim_memory_create_at(true, SIM_AMD_BASE);
    w->variables = arena_new(w->arena, uint64_t, w->program->variable_count + 1);
    assert_true(sim_program_load(w->program, w->memory, w->variables));
    w->findings = sim_findings_create(w->arena);
    w->step_limit = 50000000;
}

void amd_open(Warp *w, const AmdSource *source) {
    Arena *arena = arena_create();
    current = source->text;
    amd_open_object(w, amd_object_bytes(arena, source), give_text);
    arena_destroy(arena);
}

Str amd_refused(Arena *arena, const AmdSource *source) {
    Diags *diags = diags_create(arena, sources_create(arena));
    assert_null(read_source(arena, source, diags));
    assert_true(diags_errors(diags) > 0);
    StrBuf b = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &b);
    return strbuf_str(&b);
}

// ---- Kernels around a body ----

const char *amd_kernel(Arena *arena, const char *processor, const char *body) {
    uint32_t number = number_of(processor);
    bool twelve = number >= 0x1200, eleven = number >= 0x1100, ten = number >= 0x1000;
    const char *load =
        eleven ? "s_load_b128 s[20:23], s[0:1], 0x0" : "s_load_dwordx4 s[20:23], s[0:1], 0x0";
    const char *wait = twelve ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)";
    const char *add = ten ? "v_add_co_u32 v10, vcc_lo, s20, v10\n"
                            "v_add_co_ci_u32_e64 v11, null, s21, 0, vcc_lo\n"
                          : "v_mov_b32_e32 v11, s21\nv_add_co_u32_e32 v10, vcc, s20, v10\n"
                            "v_addc_co_u32_e32 v11, vcc, 0, v11, vcc\n";
    const char *get = eleven ? "global_load_b128 v[12:15], v[10:11], off"
                             : "global_load_dwordx4 v[12:15], v[10:11], off";
    const char *come = twelve ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
    const char *store = eleven ? "global_store_b128 v[10:11], v[16:19], off"
                               : "global_store_dwordx4 v[10:11], v[16:19], off";
    return arena_printf(arena,
                        "v_and_b32_e32 v0, 0x3ff, v0\nv_lshlrev_b32_e32 v10, 4, v0\n%s\n%s\n%s"
                        "%s\n%s\nv_mov_b32_e32 v16, 0\nv_mov_b32_e32 v17, 0\n"
                        "v_mov_b32_e32 v18, 0\nv_mov_b32_e32 v19, 0\n%s\n%s\ns_endpgm",
                        load, wait, add, get, come, body, store);
}
