// The kernel archive: the code of a built library, packed, as docs/archive.md describes it.
//
// An archive has a header, packed groups and an index. A group is all code of one function for one
// target: its alternatives (sets of values for its consts), each with metadata and the code of
// every variant. Opening an archive reads only its header and the front of its index, however many
// functions it has; a function's rows and groups are compared with their checksums when they are
// needed.
// Invariants: damaged data is refused. The checks are against accidents: an attacker who can forge
// code can forge checksums, too. Reading never goes beyond the bytes.
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
    ARCHIVE_FORMAT = 3,        // the newest one
    ARCHIVE_FORMAT_PLAIN = 1,  // has no variants with maps, and no alternatives of several types
    ARCHIVE_FORMAT_MAPS = 2,
    ARCHIVE_FORMAT_TYPES = 3,
    ARCHIVE_CHECK = 16,  // bytes of a checksum: the first bytes of the hash
    ARCHIVE_NONE = -1
};
#define ARCHIVE_HEAD_MAGIC "tilecarc"

// The header: offsets of its fields.
enum {
    ARCHIVE_AT_FORMAT = 8,
    ARCHIVE_AT_HEAD_SIZE = 12,
    ARCHIVE_AT_SIZE = 16,
    ARCHIVE_AT_INDEX = 24,
    ARCHIVE_AT_INDEX_SIZE = 32,
    ARCHIVE_AT_INTERFACE = 40,
    ARCHIVE_AT_INDEX_CHECK = 48,
    ARCHIVE_AT_FRONT_CHECK = 64,
    ARCHIVE_AT_CHECK = 80,  // checksum of everything before it
    ARCHIVE_HEAD = 96
};
// The index: a front of 4-byte words; rows of targets and their texts; rows of functions and
// groups; their texts. A text is stored as its offset among those texts and its size; a NUL follows
// it.
enum {
    INDEX_NAME = 0,
    INDEX_COMMAND = 2,  // the words of `tilec build` without outputs and targets
    INDEX_TARGETS = 4,
    INDEX_FUNCTIONS,
    INDEX_GROUPS,
    INDEX_TUNED,    // the group that holds the table of `tilec tune`, plus one; 0: no table
    INDEX_GPU_ABI,  // GPU_ABI_VERSION of code for GPUs
    INDEX_FRONT,    // bytes of the front, a multiple of 4
    INDEX_WORDS,
    INDEX_TARGET_WORDS = 2,  // name
    // Name, prototype, first group, number of groups, and a check of 8 bytes over these words, the
    // texts, and the rows of the groups.
    INDEX_FUNCTION_CHECK = 6,
    INDEX_FUNCTION_WORDS = 8,
    // Target, packed size, whole size, number of its first entry, offset (8 bytes), checksum. The
    // groups of a function are consecutive.
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
    bool known;  // no: a newer tilec wrote it; its code is skipped
    CpuTarget cpu;
    GpuTarget gpu;  // none if the target is a CPU
} ArchiveTarget;

typedef struct ArchiveFunction {
    Str name, prototype;
    uint32_t first_group, group_count;
} ArchiveFunction;

// Code of one variant.
typedef struct ArchiveCode {
    Str bytes;       // PTX or a code object; empty for a CPU
    Str cubin;       // machine code of the PTX; empty: none
    uint32_t entry;  // for a CPU: number of its entry in the program's data
} ArchiveCode;

typedef struct ArchiveAlternative {
    MetaKernel *meta;
    const ArchiveCode *codes;  // one for each variant
} ArchiveAlternative;

typedef struct ArchiveGroup {
    Str kernel, source;  // the names used in the tables of `tilec tune`
    uint32_t count;
    ArchiveAlternative *alternatives;
} ArchiveGroup;

// False: `*wrong` says why, to follow "the archive cannot be read: ".
bool archive_open(const struct tilec_archive *data, Archive *archive, const char **wrong);
// Checks the whole index; the time grows with its size.
bool archive_verify(const Archive *archive, const char **wrong);
// False: the row does not exist. A name that this version does not know is a valid row.
bool archive_target(const Archive *archive, uint32_t number, ArchiveTarget *target);
// The row without checks: for lists and look-ups.
bool archive_function(const Archive *archive, uint32_t number, ArchiveFunction *function);
// The same, and checks the row with its texts and the rows of its groups.
bool archive_function_whole(const Archive *archive, uint32_t number, ArchiveFunction *function);
// The row's check is the first 8 bytes of this.
HashKey archive_function_check(const uint8_t *row, Str name, Str prototype, const uint8_t *groups,
                               uint32_t group_count);
int64_t archive_find(const Archive *archive, Str function);  // ARCHIVE_NONE if absent

typedef enum ArchiveResult { ARCHIVE_OK, ARCHIVE_DAMAGED, ARCHIVE_NO_MEMORY } ArchiveResult;
// Gets the target of a group.
bool archive_group_target(const Archive *archive, uint32_t group, uint32_t *target);
ArchiveResult archive_group(const Archive *archive, uint32_t group, Arena *arena,
                            ArchiveGroup *out);
// The table of `tilec tune`; empty when there is none.
ArchiveResult archive_tuned(const Archive *archive, Arena *arena, Str *table);

// Where code is to run: a GPU, or a CPU of at most `limit`.
typedef struct ArchivePlace {
    GpuTarget gpu;  // none for a CPU
    CpuTarget limit;
} ArchivePlace;
// Ranks code for the target on this place: the higher, the better; 0: it does not run there.
uint32_t archive_fit(const ArchiveTarget *target, const ArchivePlace *place);

#endif
