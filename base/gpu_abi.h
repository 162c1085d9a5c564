// The contract between compiled GPU kernels and the runtime: the report.
//
// A kernel's parameters are the packed argument block (runtime/meta.h), followed by a GpuTail.
//
// Asserts: several launches may share a report. The first launch with a failed assert claims it
// (`launch`) and stores the extents of its grid. A program ends with its first failed assert, so
// each program has one failure to report. Piece i of that failure, GPU_PIECE_BITS wide, is put
// below the program's number, and an atomic minimum writes the word to least[i]. So the
// lowest-numbered program wins in every word, in any order of execution, and no words have to be
// written together. A program's number is row-major with dimension 0 innermost. It fits in 48 bits:
// launches have less than 2^32 programs in dimensions 0 and 1 together, and at most 65535 in
// dimension 2.
//
// A print writes a record: a header, then its values, row-major at their elements' own size, each
// value at a multiple of 8 bytes. Records follow the report. Programs claim room for them by adding
// to `used`; records that do not fit are not written.
// Invariants: the layout is part of every cache key (a stamp of the sources); the records of one
// program are in program order.
// Ownership: the runtime's.
//
//     uint64_t at = atomic_add(&report->used, size);
//     if (at <= report->room && report->room - at >= size) … write the record
#ifndef TILEC_BASE_GPU_ABI_H
#define TILEC_BASE_GPU_ABI_H

#include <stdint.h>

enum {
    GPU_ABI_VERSION = 1,  // version of this layout and of the argument block; archives name theirs
    GPU_PIECES = 3,
    GPU_PIECE_BITS = 16,
    GPU_LANE_BITS = 20  // a failure is lane | site << GPU_LANE_BITS
};

typedef struct GpuReport {
    uint64_t launch;             // the launch that failed; 0: none failed
    int64_t rows, columns;       // its grid in dimensions 0 and 1
    uint64_t least[GPU_PIECES];  // program << GPU_PIECE_BITS | piece; all ones: none
    uint64_t used;               // bytes of all records, those that did not fit included
    uint64_t room;               // bytes for records, after this struct
} GpuReport;

typedef struct GpuTail {
    uint64_t report;  // its address; 0: the kernel has neither asserts nor prints
    uint64_t launch;  // not 0; different for each launch that shares a report
} GpuTail;

typedef struct GpuRecord {
    uint32_t site;
    uint32_t bytes;  // size with this header: a multiple of 8
    int64_t place[3];
} GpuRecord;

#endif
