#include "tests/support/archive_walk.h"

#include <string.h>

#include "runtime/meta_wire.h"

struct tilec_archive archive_of_bytes(const void *bytes, size_t size) {
    return (struct tilec_archive){.magic = ARCHIVE_MAGIC,
                                  .abi = ARCHIVE_ABI,
                                  .size = sizeof(struct tilec_archive),
                                  .cpu_abi = CPU_ABI_VERSION,
                                  .bytes = bytes,
                                  .byte_count = size};
}

static void add_group(const ArchiveGroup *g, StrBuf *out) {
    wire_put_text(out, g->kernel);
    wire_put_text(out, g->source);
    for (uint32_t i = 0; i < g->count; i++) {
        const ArchiveAlternative *a = &g->alternatives[i];
        meta_write(a->meta, out);
        for (uint32_t v = 0; v < a->meta->variant_count; v++) {
            wire_put_text(out, a->codes[v].bytes);
            wire_put_text(out, a->codes[v].cubin);
            wire_put_number(out, a->codes[v].entry);
        }
    }
}

static bool walk_groups(const Archive *a, const ArchiveFunction *f, StrBuf *out) {
    bool whole = true;
    for (uint32_t i = 0; i < f->group_count; i++) {
        ArchiveGroup group;
        uint32_t target = 0;
        Arena *arena = arena_create();
        if (archive_group_target(a, f->first_group + i, &target))
            wire_put_number(out, target);
        else
            whole = false;
        if (archive_group(a, f->first_group + i, arena, &group) == ARCHIVE_OK)
            add_group(&group, out);
        else
            whole = false;
        arena_destroy(arena);
    }
    return whole;
}

static bool walk_functions(const Archive *a, StrBuf *out) {
    bool whole = true;
    for (uint32_t i = 0; i < a->function_count; i++) {
        ArchiveFunction f;
        if (!archive_function_whole(a, i, &f)) {
            whole = false;
            continue;
        }
        wire_put_text(out, f.name);
        wire_put_text(out, f.prototype);
        wire_put_number(out, (uint64_t)archive_find(a, f.name));
        whole = walk_groups(a, &f, out) && whole;
    }
    return whole;
}

static bool walk_table(const Archive *a, StrBuf *out) {
    Str table;
    Arena *arena = arena_create();
    bool whole = archive_tuned(a, arena, &table) == ARCHIVE_OK;
    if (whole) wire_put_text(out, table);
    arena_destroy(arena);
    return whole;
}

bool archive_walk(const struct tilec_archive *data, StrBuf *out) {
    Archive a;
    const char *wrong = NULL;
    if (!archive_open(data, &a, &wrong)) return false;
    bool whole = archive_verify(&a, &wrong);
    wire_put_text(out, a.name);
    wire_put_text(out, a.command);
    wire_put_number(out, a.interface_number);
    for (uint32_t i = 0; i < a.target_count; i++) {
        ArchiveTarget t;
        if (archive_target(&a, i, &t))
            wire_put_text(out, t.name);
        else
            whole = false;
    }
    whole = walk_functions(&a, out) && whole;
    return walk_table(&a, out) && whole;
}

// ---- Checksums ----

static uint64_t number_at(const uint8_t *at, int bytes) {
    uint64_t n = 0;
    for (int i = bytes; i-- > 0;) n = n << 8 | at[i];
    return n;
}

static void put_check(uint8_t *to, const uint8_t *bytes, size_t size) {
    HashKey key = hash_of(bytes, size);
    memcpy(to, key.bytes, ARCHIVE_CHECK);
}

static void repair_group(uint8_t *bytes, size_t size, uint8_t *row) {
    uint64_t packed = number_at(row + 4, 4), at = number_at(row + 16, 8);
    if (at <= size && packed <= size - at) put_check(row + 24, bytes + at, packed);
}

// As the reader splits it; what does not hold together stays as it is.
static void repair_rows(uint8_t *bytes, size_t size, uint8_t *index, uint64_t index_size) {
    uint64_t functions = number_at(index + INDEX_FRONT * 4, 4);
    uint64_t function_count = number_at(index + INDEX_FUNCTIONS * 4, 4);
    uint64_t group_count = number_at(index + INDEX_GROUPS * 4, 4);
    uint64_t groups = functions + function_count * INDEX_FUNCTION_WORDS * 4;
    uint64_t texts = groups + group_count * INDEX_GROUP_WORDS * 4;
    if (texts > index_size) return;
    for (uint64_t i = 0; i < group_count; i++)
        repair_group(bytes, size, index + groups + i * INDEX_GROUP_WORDS * 4);
    const struct tilec_archive data = {.bytes = bytes};
    Archive a = {.data = &data,
                 .function_count = (uint32_t)function_count,
                 .group_count = (uint32_t)group_count,
                 .functions = index + functions,
                 .texts = {(char *)index + texts, index_size - texts}};
    for (uint32_t i = 0; i < function_count; i++) {
        ArchiveFunction f;
        uint8_t *row = index + functions + (size_t)i * INDEX_FUNCTION_WORDS * 4;
        if (!archive_function(&a, i, &f)) continue;
        HashKey key = archive_function_check(
            row, f.name, f.prototype,
            index + groups + (size_t)f.first_group * INDEX_GROUP_WORDS * 4, f.group_count);
        memcpy(row + INDEX_FUNCTION_CHECK * 4, key.bytes, 8);
    }
}

static void repair_index(uint8_t *bytes, size_t size, uint8_t *index, uint64_t index_size) {
    if (index_size >= INDEX_WORDS * 4) {
        repair_rows(bytes, size, index, index_size);
        uint64_t front = number_at(index + INDEX_FRONT * 4, 4);
        if (front <= index_size) put_check(bytes + ARCHIVE_AT_FRONT_CHECK, index, front);
    }
    put_check(bytes + ARCHIVE_AT_INDEX_CHECK, index, index_size);
}

void archive_repair(uint8_t *bytes, size_t size) {
    if (size < ARCHIVE_HEAD) return;
    uint64_t at = number_at(bytes + ARCHIVE_AT_INDEX, 8);
    uint64_t index_size = number_at(bytes + ARCHIVE_AT_INDEX_SIZE, 8);
    if (at <= size && index_size <= size - at) repair_index(bytes, size, bytes + at, index_size);
    put_check(bytes + ARCHIVE_AT_CHECK, bytes, ARCHIVE_AT_CHECK);
}
