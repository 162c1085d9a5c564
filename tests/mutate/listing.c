#include "tests/mutate/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/vec.h"
#include "codegen/codegen.h"
#include "compile/jit/plugin.h"

struct Listing {
    Plugin *plugin;
    Arena *arena;  // of what was taken
    GpuDisassemble *disassemble;
    Str taken, given;
};

Listing *listing_open(void) {
    Arena *arena = arena_create();
    Listing *l = arena_new(arena, Listing, 1);
    l->arena = arena;
    l->plugin = plugin_create(NULL);
    const CodegenApi *api = plugin_open(l->plugin, diags_create(arena, sources_create(arena)));
    l->disassemble = api ? api->amd_disassemble : NULL;
    if (l->disassemble) return l;
    listing_close(l);
    return NULL;
}

void listing_close(Listing *l) {
    plugin_destroy(l->plugin);
    arena_destroy(l->arena);
}

static bool take(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    Listing *l = user;
    if (!l->disassemble(NULL, arena, job, code)) return false;
    StrBuf b = strbuf(l->arena);
    strbuf_printf(&b, LISTING_BEGIN "%.*s %llu\n", STR_ARG(job->processor),
                  (unsigned long long)job->begin);
    for (uint32_t i = 0; i < code->count; i++)
        strbuf_printf(&b, "%u %u: %.*s\n", code->lines[i].offset, code->lines[i].size,
                      STR_ARG(code->lines[i].text));
    l->taken = strbuf_str(&b);
    return true;
}

GpuDisassembler listing_taker(Listing *l) { return (GpuDisassembler){take, l}; }

Str listing_taken(const Listing *l, Arena *arena) {
    return (Str){arena_text(arena, l->taken.text, l->taken.size), l->taken.size};
}

static GpuCodeLine line_of(Str text) {
    Str rest, numbers = str_cut(text, ':', &rest);
    Str size, offset = str_cut(numbers, ' ', &size);
    uint64_t at = 0, bytes = 0;
    str_to_u64(offset, &at, NULL);
    str_to_u64(size, &bytes, NULL);
    if (rest.size && rest.text[0] == ' ') rest.text++, rest.size--;
    return (GpuCodeLine){(uint32_t)at, (uint32_t)bytes, rest};
}

static bool read_given(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    const Listing *l = user;
    Str rest, first = str_cut(l->given, '\n', &rest);
    VEC(GpuCodeLine) lines = {0};
    uint64_t begin;
    Str place, head = {first.text + strlen(LISTING_BEGIN), first.size - strlen(LISTING_BEGIN)};
    str_cut(head, ' ', &place);
    bool own = str_to_u64(place, &begin, NULL) && begin == job->begin;
    if (!own) return l->disassemble(NULL, arena, job, code);
    while (rest.size) {
        GpuCodeLine line = line_of(str_cut(rest, '\n', &rest));
        vec_push(arena, &lines, line);
    }
    *code = (GpuCode){lines.data, (uint32_t)lines.count};
    return true;
}

GpuDisassembler listing_reader(Listing *l, Str given) {
    l->given = given;
    return (GpuDisassembler){read_given, l};
}
