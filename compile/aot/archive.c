#include "compile/aot/archive.h"

#include "base/gpu_abi.h"
#include "base/map.h"
#include "base/vec.h"
#include "compile/aot/pack.h"
#include "runtime/meta_wire.h"

// ---- Groups ----

// The texts of one group. Each is stored once.
typedef struct Blobs {
    Arena *arena;
    VEC(Str) list;
} Blobs;

// The number of a text, from 1; 0 for none.
static uint32_t blob_number(Blobs *b, Str text) {
    if (!text.size) return 0;
    for (size_t i = 0; i < b->list.count; i++)
        if (str_equal(b->list.data[i], text)) return (uint32_t)i + 1;
    vec_push(b->arena, &b->list, text);
    return (uint32_t)b->list.count;
}

static void put_alternative(const ArchiveAlternative *a, Blobs *blobs, StrBuf *out) {
    meta_write(a->meta, out);
    for (uint32_t i = 0; i < a->meta->variant_count; i++) {
        wire_put_number(out, blob_number(blobs, a->codes[i].bytes));
        wire_put_number(out, blob_number(blobs, a->codes[i].cubin));
        wire_put_number(out, a->codes[i].entry);
    }
}

ArchivePacked archive_pack_text(Arena *arena, Str text) {
    return (ArchivePacked){pack(arena, text), text.size, ARCHIVE_FORMAT_PLAIN};
}

static bool has_maps(const ArchiveGroupCode *group) {
    for (uint32_t i = 0; i < group->count; i++)
        if (meta_is_newer(group->alternatives[i].meta)) return true;
    return false;
}

// Older runtimes pass all alternatives what the first one takes.
static bool has_types(const ArchiveGroupCode *group) {
    const MetaKernel *first = group->alternatives[0].meta;
    for (uint32_t i = 1; i < group->count; i++)
        for (uint32_t a = 0; a < first->arg_count; a++) {
            const MetaArg *arg = &first->args[a], *other = &group->alternatives[i].meta->args[a];
            if (arg->kind != META_VIEW && arg->dtype != other->dtype) return true;
        }
    return false;
}

ArchivePacked archive_pack_group(Arena *arena, const ArchiveGroupCode *group) {
    Blobs blobs = {.arena = arena};
    StrBuf rows = strbuf(arena), out = strbuf(arena);
    for (uint32_t i = 0; i < group->count; i++)
        put_alternative(&group->alternatives[i], &blobs, &rows);
    wire_put_text(&out, group->kernel);
    wire_put_text(&out, group->source);
    wire_put_number(&out, blobs.list.count);
    for (size_t i = 0; i < blobs.list.count; i++) wire_put_text(&out, blobs.list.data[i]);
    wire_put_number(&out, group->count);
    strbuf_add(&out, strbuf_str(&rows));
    ArchivePacked packed = archive_pack_text(arena, strbuf_str(&out));
    if (has_maps(group)) packed.format = ARCHIVE_FORMAT_MAPS;
    if (has_types(group)) packed.format = ARCHIVE_FORMAT_TYPES;
    return packed;
}

// ---- The whole ----

static void put(StrBuf *out, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++, number >>= 8) strbuf_char(out, (char)(number & 255));
}

static void put_key(StrBuf *out, const HashKey *key) {
    strbuf_add(out, (Str){(const char *)key->bytes, ARCHIVE_CHECK});
}

static void put_check(StrBuf *out, Str bytes) {
    HashKey key = hash_of(bytes.text, bytes.size);
    put_key(out, &key);
}

typedef struct Writer {
    const ArchivePlan *plan;
    StrBuf data, rows, texts;
    VEC(Str) stored;  // packed bytes, and their offsets
    VEC(uint64_t) places;
    Map known;  // a part of their hash → index in `stored`
} Writer;

// Two words: the offset of the text, and its size.
static void put_text(Writer *w, Str text) {
    put(&w->rows, w->texts.size, 4);
    put(&w->rows, text.size, 4);
    strbuf_add(&w->texts, text);
    strbuf_char(&w->texts, 0);
}

static uint64_t store(Writer *w, Str packed, const HashKey *key) {
    Arena *arena = w->data.arena;
    uint64_t part = 0;
    for (int i = 0; i < 8; i++) part = part << 8 | key->bytes[i];
    const uint64_t *found = map_find(&w->known, part);
    if (found && str_equal(w->stored.data[*found], packed)) return w->places.data[*found];
    uint64_t at = ARCHIVE_HEAD + w->data.size;
    strbuf_add(&w->data, packed);
    map_put(arena, &w->known, part, w->stored.count);
    vec_push(arena, &w->stored, packed);
    vec_push(arena, &w->places, at);
    return at;
}

static void put_group(Writer *w, uint32_t target, const ArchivePacked *packed, uint32_t first) {
    HashKey key = hash_of(packed->bytes.text, packed->bytes.size);
    put(&w->rows, target, 4);
    put(&w->rows, packed->bytes.size, 4);
    put(&w->rows, packed->whole, 4);
    put(&w->rows, first, 4);
    put(&w->rows, store(w, packed->bytes, &key), 8);
    put_key(&w->rows, &key);
}

// The row's words, then its check.
static void put_function(Writer *w, uint32_t number, uint32_t first, uint32_t count, Str groups) {
    const ArchivePlan *p = w->plan;
    size_t begin = w->rows.size, row = (size_t)INDEX_GROUP_WORDS * 4;
    put_text(w, p->functions[number]);
    put_text(w, p->prototypes[number]);
    put(&w->rows, first, 4);
    put(&w->rows, count, 4);
    HashKey key = archive_function_check((const uint8_t *)w->rows.text + begin,
                                         p->functions[number], p->prototypes[number],
                                         (const uint8_t *)groups.text + first * row, count);
    strbuf_add(&w->rows, (Str){(const char *)key.bytes, 8});
}

static void put_functions(Writer *w, Str groups) {
    const ArchivePlan *p = w->plan;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->function_count; i++) {
        uint32_t first = at;
        while (at < p->group_count && p->groups[at].function == i) at++;
        put_function(w, i, first, at - first, groups);
    }
}

// The oldest format that has all that is in the groups: older runtimes read it.
static uint32_t format_of(const ArchivePlan *p) {
    uint32_t format = ARCHIVE_FORMAT_PLAIN;
    for (uint32_t i = 0; i < p->group_count; i++)
        if (p->groups[i].packed.format > format) format = p->groups[i].packed.format;
    return format;
}

// The rows of a front come before its texts. The front's size is known only at the end.
static Str make_front(Writer *w) {
    const ArchivePlan *p = w->plan;
    bool tuned = p->tuned.bytes.size > 0;
    put_text(w, p->name);
    put_text(w, p->command);
    put(&w->rows, p->target_count, 4);
    put(&w->rows, p->function_count, 4);
    put(&w->rows, p->group_count + tuned, 4);
    put(&w->rows, tuned ? p->group_count + 1 : 0, 4);
    put(&w->rows, format_of(p) > ARCHIVE_FORMAT_PLAIN ? GPU_ABI_VERSION : GPU_ABI_PLAIN, 4);
    size_t own = w->rows.size;
    put(&w->rows, 0, 4);
    for (uint32_t i = 0; i < p->target_count; i++) put_text(w, p->targets[i]);
    strbuf_add(&w->rows, strbuf_str(&w->texts));
    while (w->rows.size % 4) strbuf_char(&w->rows, 0);
    for (int i = 0; i < 4; i++) w->rows.text[own + (size_t)i] = (char)(w->rows.size >> 8 * i);
    return strbuf_str(&w->rows);
}

static Str make_groups(Writer *w) {
    const ArchivePlan *p = w->plan;
    for (uint32_t i = 0; i < p->group_count; i++)
        put_group(w, p->groups[i].target, &p->groups[i].packed, p->groups[i].first_entry);
    if (p->tuned.bytes.size) put_group(w, p->target_count, &p->tuned, 0);
    return strbuf_str(&w->rows);
}

// The rows that follow are separate, and so are their texts.
static void begin_rows(Writer *w) {
    w->rows = strbuf(w->data.arena);
    w->texts = strbuf(w->data.arena);
}

Str archive_write(Arena *arena, const ArchivePlan *plan) {
    Writer w = {.plan = plan, .data = strbuf(arena)};
    begin_rows(&w);
    Str front = make_front(&w);
    begin_rows(&w);
    Str groups = make_groups(&w);
    begin_rows(&w);
    put_functions(&w, groups);
    StrBuf index = strbuf(arena), out = strbuf(arena);
    strbuf_add(&index, front);
    strbuf_add(&index, strbuf_str(&w.rows));
    strbuf_add(&index, groups);
    strbuf_add(&index, strbuf_str(&w.texts));
    strbuf_add(&out, STR(ARCHIVE_HEAD_MAGIC));
    put(&out, format_of(plan), 4);
    put(&out, ARCHIVE_HEAD, 4);
    put(&out, ARCHIVE_HEAD + w.data.size + index.size, 8);
    put(&out, ARCHIVE_HEAD + w.data.size, 8);
    put(&out, index.size, 8);
    put(&out, plan->interface_number, 8);
    put_check(&out, strbuf_str(&index));
    put_check(&out, front);
    put_check(&out, strbuf_str(&out));
    strbuf_add(&out, strbuf_str(&w.data));
    strbuf_add(&out, strbuf_str(&index));
    return strbuf_str(&out);
}
