// The contract between objects that `tilec build` writes and the runtime: the archive as data of a
// program.
//
// NAME_archive of a built library is a tilec_archive. It points to the packed bytes
// (runtime/archive.h reads them) and to the CPU entries, which the linker has filled in. A built
// function takes its arguments by value, as C does, and hands their addresses to
// tilec_archive_call.
// Invariants: the layout is frozen within ARCHIVE_ABI. New members are added at the end; `size`
// says how many members the object knows.
// Ownership: constant data of the program.
//
//     tilec_status softmax(tilec_stream *stream, tilec_view x, tilec_view y) {
//         const void *values[] = {&x, &y};
//         return tilec_archive_call(&kernels_archive, 0, stream, values);
//     }
#ifndef TILEC_BASE_ARCHIVE_ABI_H
#define TILEC_BASE_ARCHIVE_ABI_H

#include <stdint.h>

#include "base/cpu_abi.h"

enum { ARCHIVE_ABI = 1 };
#define ARCHIVE_MAGIC UINT64_C(0x3142494c454c4954)  // "TILELIB1"
#define ARCHIVE_CALL_SYMBOL "tilec_archive_call"

struct tilec_archive {
    uint64_t magic;
    uint32_t abi;      // ARCHIVE_ABI
    uint32_t size;     // of this struct
    uint32_t cpu_abi;  // CPU_ABI_VERSION of the entries
    uint32_t entry_count;
    const uint8_t *bytes;
    uint64_t byte_count;
    CpuEntry *const *entries;
};

// How a built function takes an argument.
typedef enum ArchiveValue {
    ARCHIVE_VIEW,  // a tilec_view, by value
    ARCHIVE_POINTER,
    ARCHIVE_I8,  // and u8, bool: as C passes them
    ARCHIVE_I16,
    ARCHIVE_I32,
    ARCHIVE_I64,
    ARCHIVE_F32,  // and the small floats, which C does not have
    ARCHIVE_F64
} ArchiveValue;
enum { ARCHIVE_VIEW_BYTES = 120 };  // sizeof(tilec_view)

#endif
