// The kernel archive: the code of a built library, packed, as docs/archive.md describes it.
//
// A head, packed groups, an index. A group is all code of one function for one target: alternatives
// (what its consts are), each with metadata and the code of every variant. Opening an archive looks
// at its head and the front of its index, however many functions it has; a function's rows, and its
// groups, are compared with their checksums when they are asked for. Invariants: nothing damaged is
// believed (checks are against accidents: whoever can forge code can forge those); reading never
// goes beyond the bytes.
// Ownership: the archive is the program's; texts point into it, or into the arena given.
//
//     Archive archive;  const char *wrong;
//     if (!archive_open(data, &archive, &wrong)) …          // "it is cut off"
//     uint32_t number = archive_find(&archive, STR("softmax_f16"));
#ifndef TILEC_RUNTIME_ARCHIVE_H
#define TILEC_RUNTIME_ARCHIVE_H

#include "base/archive_abi.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/wire.h"
#include "runtime/meta.h"
#include "target/cpu.h"
#include "target/gpu.h"

enum {
    ARCHIVE_FORMAT = 1,
    ARCHIVE_CHECK = 16,  // bytes of a checksum: the first ones of its hash
    ARCHIVE_NONE = -1
};
#define ARCHIVE_HEAD_MAGIC "tilecarc"

// The head: where its fields lie.
enum {
    ARCHIVE_AT_FORMAT = 8,
    ARCHIVE_AT_HEAD_SIZE = 12,
    ARCHIVE_AT_SIZE = 16,
    ARCHIVE_AT_INDEX = 24,
    ARCHIVE_AT_INDEX_SIZE = 32,
    ARCHIVE_AT_INTERFACE = 40,
    ARCHIVE_AT_INDEX_CHECK = 48,
    ARCHIVE_AT_FRONT_CHECK = 64,
    ARCHIVE_AT_CHECK = 80,  // of all before it
    ARCHIVE_HEAD = 96
};
// The index: a front of words of 4 bytes, rows of targets and their texts; rows of functions and
// groups; their texts. A text is where it begins among those, and its size; a NUL is behind it.
enum {
    INDEX_NAME = 0,
    INDEX_COMMAND = 2,  // the words of `tilec build` but outputs and targets
    INDEX_TARGETS = 4,
    INDEX_FUNCTIONS,
    INDEX_GROUPS,
    INDEX_TUNED,    // the group of the table of `tilec tune`, plus one; 0: there is none
    INDEX_GPU_ABI,  // GPU_ABI_VERSION of code for GPUs
    INDEX_FRONT,    // bytes of the front, a multiple of 4
    INDEX_WORDS,
    INDEX_TARGET_WORDS = 2,  // name
    // Name, prototype, first group, groups; a check of 8 bytes of these words, the texts, and the
    // rows of the groups.
    INDEX_FUNCTION_CHECK = 6,
    INDEX_FUNCTION_WORDS = 8,
    // Target, packed and whole size, number of its first entry, place (8 bytes), checksum. Groups
    // of a function follow each other.
    INDEX_GROUP_WORDS = 10
};

typedef struct Archive {
    const struct tilec_archive *data;
    const uint8_t *index;
    uint64_t interface_number;
    uint32_t target_count, function_count, group_count, tuned, gpu_abi;
    const uint8_t *targets, *functions, *groups;
    Str front_texts, texts;
    Str name, command;
} Archive;

typedef struct ArchiveTarget {
    Str name;
    bool known;  // no: a newer tilec wrote it. Its code is passed over
    CpuTarget cpu;
    GpuTarget gpu;  // of a CPU none
} ArchiveTarget;

typedef struct ArchiveFunction {
    Str name, prototype;
    uint32_t first_group, group_count;
} ArchiveFunction;

// Code of one variant.
typedef struct ArchiveCode {
    Str bytes;       // PTX or a code object; of a CPU empty
    Str cubin;       // machine code of the PTX; empty: there is none
    uint32_t entry;  // of a CPU: number of its entry in the program's data
} ArchiveCode;

typedef struct ArchiveAlternative {
    MetaKernel *meta;
    const ArchiveCode *codes;  // one for each variant
} ArchiveAlternative;

typedef struct ArchiveGroup {
    Str kernel, source;  // as the tables of `tilec tune` name them
    uint32_t count;
    ArchiveAlternative *alternatives;
} ArchiveGroup;

// False: `*wrong` says why, to follow "the archive cannot be read: ".
bool archive_open(const struct tilec_archive *data, Archive *archive, const char **wrong);
// The whole index, which takes time that grows with it.
bool archive_verify(const Archive *archive, const char **wrong);
// False: there is no such row. A name that this version does not know is a row as any other.
bool archive_target(const Archive *archive, uint32_t number, ArchiveTarget *target);
// The row as it is: for lists and for looking up.
bool archive_function(const Archive *archive, uint32_t number, ArchiveFunction *function);
// And is it whole, with its texts and the rows of its groups?
bool archive_function_whole(const Archive *archive, uint32_t number, ArchiveFunction *function);
// What the row has as check: the first 8 bytes of this.
HashKey archive_function_check(const uint8_t *row, Str name, Str prototype, const uint8_t *groups,
                               uint32_t group_count);
int64_t archive_find(const Archive *archive, Str function);  // ARCHIVE_NONE: there is none

typedef enum ArchiveResult { ARCHIVE_FINE, ARCHIVE_DAMAGED, ARCHIVE_NO_MEMORY } ArchiveResult;
// Which target a group is for.
bool archive_group_target(const Archive *archive, uint32_t group, uint32_t *target);
ArchiveResult archive_group(const Archive *archive, uint32_t group, Arena *arena,
                            ArchiveGroup *out);
// The table of `tilec tune`; empty when there is none.
ArchiveResult archive_tuned(const Archive *archive, Arena *arena, Str *table);

// What code is looked for: for a GPU, or for a processor of the limit.
typedef struct ArchivePlace {
    GpuTarget gpu;  // of a CPU none
    CpuTarget limit;
} ArchivePlace;
// Does code for the target run there, and how much better than others? 0: it does not.
uint32_t archive_fit(const ArchiveTarget *target, const ArchivePlace *place);

#endif
