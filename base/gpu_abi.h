// What compiled GPU kernels and the runtime agree on: the report.
//
// A kernel's parameters are the packed argument block (runtime/meta.h) and behind it a GpuTail.
//
// Asserts: of the launches that share a report the first with a failed assert takes it (`launch`),
// and leaves its grid's extents. A program ends with its first failed assert, so that each has one
// failure to tell: its piece i of GPU_PIECE_BITS goes into least[i], below the program's number, by
// an atomic minimum of its own. The least program wins in every word, whatever the order, and
// nothing has to be written together. A program's number is row-major with dimension 0 innermost;
// 48 bits hold every one: launches have less than 2^32 in dimensions 0 and 1, 65535 in 2.
//
// A print is a record: a head, then its values, row-major at their elements' own size, each from a
// multiple of 8 bytes on. Records follow the report, in the order in which they were claimed by
// adding to `used`; those that do not fit are not written. Invariants: the layout is part of every
// cache key (a stamp of the sources); records of one program are in its order. Ownership: the
// runtime's.
//
//     uint64_t at = atomic_add(&report->used, size);
//     if (at <= report->room && report->room - at >= size) … write the record
#ifndef TILEC_BASE_GPU_ABI_H
#define TILEC_BASE_GPU_ABI_H

#include <stdint.h>

enum {
    GPU_ABI_VERSION = 1,  // of all this and of the argument block; archives say theirs
    GPU_PIECES = 3,
    GPU_PIECE_BITS = 16,
    GPU_LANE_BITS = 20  // a failure is lane | site << GPU_LANE_BITS
};

typedef struct GpuReport {
    uint64_t launch;             // whose failure this is; 0: none failed
    int64_t rows, columns;       // of that launch's programs: its grid in dimensions 0 and 1
    uint64_t least[GPU_PIECES];  // program << GPU_PIECE_BITS | piece; all ones: none
    uint64_t used;               // bytes of all records, also of those that did not fit
    uint64_t room;               // bytes for records, behind this
} GpuReport;

typedef struct GpuTail {
    uint64_t report;  // its address; 0: the kernel has neither asserts nor prints
    uint64_t launch;  // not 0; another for each launch that shares a report
} GpuTail;

typedef struct GpuRecord {
    uint32_t site;
    uint32_t bytes;  // with this head: a multiple of 8
    int64_t place[3];
} GpuRecord;

#endif
