// Writing archives (runtime/archive.h reads them; docs/archive.md is the format).
//
// Invariants: the same rows give the same bytes; functions are given in the order of their names;
// groups of equal bytes are stored once. Ownership: the arena given.
//
//     ArchiveGroupCode g = {.kernel = STR("softmax"), …};
//     Str packed = archive_pack_group(arena, &g, &whole);
//     Str bytes = archive_write(arena, &plan);
#ifndef TILEC_COMPILE_AOT_ARCHIVE_H
#define TILEC_COMPILE_AOT_ARCHIVE_H

#include "runtime/archive.h"

// A group before it is packed. For CPUs the entries of its codes are numbered from the group's
// first.
typedef struct ArchiveGroupCode {
    Str kernel, source;
    uint32_t count;
    const ArchiveAlternative *alternatives;
} ArchiveGroupCode;

typedef struct ArchivePacked {
    Str bytes;
    size_t whole;
    uint32_t format;  // that it needs at least
} ArchivePacked;
ArchivePacked archive_pack_group(Arena *arena, const ArchiveGroupCode *group);
ArchivePacked archive_pack_text(Arena *arena, Str text);

typedef struct ArchiveGroupRow {
    uint32_t function, target;
    uint32_t first_entry;
    ArchivePacked packed;
} ArchiveGroupRow;

typedef struct ArchivePlan {
    Str name, command;
    uint64_t interface_number;
    uint32_t target_count;
    const Str *targets;
    uint32_t function_count;
    const Str *functions, *prototypes;
    uint32_t group_count;
    const ArchiveGroupRow *groups;  // in the order of functions
    ArchivePacked tuned;            // a tune table as text; empty: there is none
} ArchivePlan;

Str archive_write(Arena *arena, const ArchivePlan *plan);

#endif
