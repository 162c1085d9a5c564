// What compiled GPU kernels and the runtime agree on: the report.
//
// A kernel's parameters are the packed argument block (runtime/meta.h) and behind it the address of
// a GpuReport, to which the first failed assert and all prints go. A print is a record: a head,
// then its values, row-major at their elements' own size, each from a multiple of 8 bytes on.
// Records follow the report, in the order in which they were claimed by adding to `used`; those
// that do not fit are not written. Invariants: the layout is part of every cache key (a stamp of
// the sources); records of one program are in its order. Ownership: the runtime's.
//
//     uint64_t at = atomic_add(&report->used, size);
//     if (at <= report->room && report->room - at >= size) … write the record
#ifndef TILEC_BASE_GPU_ABI_H
#define TILEC_BASE_GPU_ABI_H

#include <stdint.h>

typedef struct GpuReport {
    uint32_t site;  // 0: none; else 1 + the number of the assert that failed first
    uint32_t unused;
    int64_t place[3];  // of the program, in the grid
    int64_t lane;
    uint64_t used;  // bytes of all records, also of those that did not fit
    uint64_t room;  // bytes for records, behind this
} GpuReport;

typedef struct GpuRecord {
    uint32_t site;
    uint32_t bytes;  // with this head: a multiple of 8
    int64_t place[3];
} GpuRecord;

#endif
