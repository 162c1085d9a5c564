// Kernel metadata: everything a launch needs to know about a compiled kernel.
//
// Argument layout, the same on every device: one packed block, each argument at its natural
// alignment, in the order of the parameters.
//     scalar    its element type's own bits, at its size (bool: one byte 0 or 1; f16: 2 bytes)
//     pointer   8 bytes: the address of element 0
//     view      8 bytes: the address of element 0; then `rank` extents, 8 bytes each, signed; then,
//     of a
//               strided view, `rank` strides in elements, 8 bytes each, signed
// Invariants: offsets ascend; `size` is the block's size, a multiple of 8; variant 0 is the general
// one and has no guard; guards are tried from the last variant to the first.
// Ownership: the arena of the code that compiled or read it; it never changes afterwards.
//
//     const MetaVariant *v = &meta->variants[plan.variant];   // launch.h
#ifndef TILEC_RUNTIME_META_H
#define TILEC_RUNTIME_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/facts.h"
#include "base/json.h"
#include "runtime/launch_code.h"

enum { META_MAX_RANK = 5, META_MAX_TILE_RANK = 8, META_NO_VALUE = -1 };

typedef enum MetaArgKind { META_SCALAR, META_POINTER, META_VIEW } MetaArgKind;

typedef struct MetaDim {
    int32_t extent;  // index of a named extent, or -1
    int64_t value;   // value of a fixed extent
} MetaDim;

typedef struct MetaArg {
    Str name;
    MetaArgKind kind;
    Dtype dtype;
    uint32_t rank;
    bool strided;
    bool written;  // the kernel may write through it
    bool read;
    bool needed;  // a pointer that every program dereferences, whatever its masks: never NULL
    // By the hints of its stores, known only while the kernel is compiled: none of them, or one of
    // them, should stay in the caches.
    bool leaves, keeps;
    MetaDim dims[META_MAX_RANK];
    uint32_t offset;  // in the argument block
    uint32_t size;
} MetaArg;

typedef struct MetaRequires {
    Str text;        // source text: "K % 64 == 0"
    uint32_t value;  // index of a bool in the launch code
} MetaRequires;

typedef struct MetaBinding {
    Str name;
    bool is_type;
    Dtype type;
    int64_t value;
} MetaBinding;

// An assert or a print in the kernel, by its number in the variant's list.
typedef enum MetaSiteKind { META_SITE_ASSERT, META_SITE_PRINT } MetaSiteKind;
typedef struct MetaValue {
    Dtype dtype;
    bool pointer;  // addresses, 8 bytes each; else elements of the type at their own size
    uint32_t rank;
    uint32_t shape[META_MAX_TILE_RANK];
} MetaValue;
typedef struct MetaSite {
    MetaSiteKind kind;
    Str file;
    uint32_t line, column, end_line, end_column;  // from 1; line 0: the place is unknown
    Str source;                                   // that line's text; empty: unknown
    uint32_t text_count;                          // one for an assert
    const Str *texts;
    uint32_t value_count;  // for a print: each follows the text of its number
    const MetaValue *values;
} MetaSite;
typedef struct MetaOption {
    const char *name;
    int value;
} MetaOption;

// A tensor map that the launcher makes from a view and hands to the kernel (base/gpu_abi.h).
typedef enum MetaFill { META_FILL_ZERO, META_FILL_NAN } MetaFill;
typedef struct MetaMap {
    uint32_t arg;                 // the view
    uint32_t rank;                // the view's
    Dtype dtype;                  // of an element of a box; as wide as the view's
    uint8_t axes[META_MAX_RANK];  // dimensions of the view, innermost first
    uint16_t box[META_MAX_RANK];  // elements along each of them
    uint32_t swizzle, promotion;  // bytes
    MetaFill fill;                // what is read outside of the view
} MetaMap;

typedef struct MetaVariant {
    Str entry;
    LaunchCode code;
    int64_t guard;   // index of a bool in the launch code, or META_NO_VALUE
    unsigned facts;  // FACT_ bits
    uint32_t requires_count;
    const MetaRequires *requires;
    uint32_t grid_rank;
    uint32_t grid[3];  // indices in the launch code: i64
    uint32_t binding_count;
    const MetaBinding *bindings;
    int ctas;               // programs of a cluster; 0: no clusters
    uint32_t option_count;  // options that are given
    const MetaOption *options;
    uint32_t block[3];  // threads, for GPUs
    uint32_t shared_bytes;
    uint32_t scratch_bytes;  // for each thread, for CPUs
    uint32_t chunk;          // programs that a thread should take at a time, for CPUs; 0: any
                             // number
    uint32_t site_count;
    const MetaSite *sites;
    uint32_t map_count;  // of variants with FACT_MAPPED
    const MetaMap *maps;
} MetaVariant;

typedef struct MetaKernel {
    Str name;
    uint32_t arg_count;
    const MetaArg *args;
    uint32_t extent_count;
    const Str *extents;
    uint32_t size;  // size of the argument block
    uint32_t variant_count;
    const MetaVariant *variants;
} MetaKernel;

// Fills offset, size and the block's size by the layout above.
void meta_layout(MetaArg *args, uint32_t count, uint32_t *block_size);
void meta_json(const MetaKernel *meta, StrBuf *out);

#endif
