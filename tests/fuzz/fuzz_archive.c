// Fuzzing what reads archives: any bytes with right checksums, and any group in an archive that is
// else well made. All that is in it is read; nothing but a crash is wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/recover.h"
#include "compile/aot/archive.h"
#include "runtime/meta_wire.h"
#include "tests/support/archive_walk.h"

#define TEXT(literal) \
    { literal, sizeof(literal) - 1 }
enum { INPUT_MAX = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(Arena *arena, const void *bytes, size_t size) {
    struct tilec_archive archive = archive_of_bytes(bytes, size);
    StrBuf text = strbuf(arena);
    archive_walk(&archive, &text);
}

static void whole_archive(Arena *arena, const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) return;
    if (size) memcpy(bytes, data, size);
    archive_repair(bytes, size);
    walk(arena, bytes, size);
    free(bytes);
}

static void one_group(Arena *arena, Str content) {
    static const Str target = TEXT("sm_80"), function = TEXT("f"), prototype = TEXT("");
    ArchiveGroupRow row = {.packed = archive_pack_text(arena, content)};
    ArchivePlan plan = {.name = STR("fuzz"),
                        .target_count = 1,
                        .targets = &target,
                        .function_count = 1,
                        .functions = &function,
                        .prototypes = &prototype,
                        .group_count = 1,
                        .groups = &row};
    Str bytes = archive_write(arena, &plan);
    walk(arena, bytes.text, bytes.size);
}

// Metadata that reads back is written as it was read.
static void one_meta(Arena *arena, Str content) {
    WireReader r = {.bytes = content};
    const MetaKernel *meta = meta_read(&r, arena);
    if (!meta) return;
    StrBuf first = strbuf(arena), second = strbuf(arena);
    meta_write(meta, &first);
    WireReader again = {.bytes = strbuf_str(&first)};
    meta = meta_read(&again, arena);
    if (meta) meta_write(meta, &second);
    if (!str_equal(strbuf_str(&first), strbuf_str(&second))) {
        fprintf(stderr, "metadata changes when it is written and read\n");
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size || size > INPUT_MAX) return -1;
    Arena *arena = arena_create();
    Str content = {(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0: whole_archive(arena, data + 1, size - 1); break;
    case 1: one_meta(arena, content); break;
    default: one_group(arena, content); break;
    }
    arena_destroy(arena);
    return 0;
}
