// The contract between compiled GPU kernels and the runtime: parameters, the report.
//
// A kernel's parameters are the packed argument block (runtime/meta.h), followed by a GpuTail. If
// the kernel uses tensor maps, they come next, each GPU_MAP_BYTES long, from the next multiple of
// GPU_MAP_ALIGN on; the parameter is aligned to GPU_MAP_ALIGN then. On NVIDIA's devices a map has
// the driver's bytes, on simulated ones it is a GpuSimMap.
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
//     if (at <= report->capacity && report->capacity - at >= size) … write the record
#ifndef TILEC_BASE_GPU_ABI_H
#define TILEC_BASE_GPU_ABI_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GPU_ABI_VERSION = 2,  // version of this layout and of the argument block; archives name theirs
    GPU_ABI_PLAIN = 1,    // version of code without maps, which older runtimes run, too
    GPU_PIECES = 3,
    GPU_PIECE_BITS = 16,
    GPU_LANE_BITS = 20  // a failure is lane | site << GPU_LANE_BITS
};

typedef struct GpuReport {
    uint64_t launch;              // the launch that failed; 0: none failed
    int64_t rows, columns;        // its grid in dimensions 0 and 1
    uint64_t lowest[GPU_PIECES];  // program << GPU_PIECE_BITS | piece; all ones: none
    uint64_t used;                // bytes of all records, those that did not fit included
    uint64_t capacity;            // bytes for records, after this struct
} GpuReport;

typedef struct GpuTail {
    uint64_t report;  // its address; 0: the kernel has neither asserts nor prints
    uint64_t launch;  // not 0; different for each launch that shares a report
} GpuTail;

enum {
    GPU_MAPS = 8,  // the most of one kernel
    GPU_MAP_BYTES = 128,
    GPU_MAP_ALIGN = 64,
    GPU_MAP_RANK = 5,
    GPU_MAP_BOX = 256,  // the most elements of a box along one dimension
    GPU_MAP_UNIT = 16,  // bytes: addresses, strides and rows of boxes are multiples of it
    GPU_PARAMS = 4096   // the most bytes of a kernel's parameters on NVIDIA's devices
};
#define GPU_MAP_EXTENT (INT64_C(1) << 32)  // the most elements of a view along one dimension
#define GPU_MAP_STRIDE (INT64_C(1) << 40)  // strides are less than this many bytes

static inline bool gpu_map_swizzle(uint32_t bytes) {
    return bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128;
}
static inline bool gpu_map_promotion(uint32_t bytes) {
    return bytes == 0 || bytes == 64 || bytes == 128 || bytes == 256;
}
// Where the maps begin, after an argument block of this size.
static inline uint32_t gpu_maps_offset(uint32_t block) {
    uint32_t end = block + (uint32_t)sizeof(GpuTail);
    return (end + GPU_MAP_ALIGN - 1) / GPU_MAP_ALIGN * GPU_MAP_ALIGN;
}
// The size of a kernel's parameters.
static inline uint32_t gpu_params_size(uint32_t block, uint32_t maps) {
    return maps ? gpu_maps_offset(block) + maps * GPU_MAP_BYTES : block + (uint32_t)sizeof(GpuTail);
}

typedef struct GpuRecord {
    uint32_t site;
    uint32_t bytes;  // size with this header: a multiple of 8
    int64_t place[3];
} GpuRecord;

#endif
