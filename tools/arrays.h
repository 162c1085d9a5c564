// Arrays: the memory that `tilec run` gives a kernel, from files, the seed or a poison value.
//
// Invariants: every view and pointer parameter has exactly one array; its bytes are kept twice (as
// given, and as the device left them). Arrays that the kernel only writes are filled with poison:
// 0xFF… for floats (a NaN that no kernel computes) and 0xA5… for others. Ownership: the arena of
// the command line.
#ifndef TILEC_TOOLS_ARRAYS_H
#define TILEC_TOOLS_ARRAYS_H

#include <tilec/tilec.h>

#include "tools/npy.h"
#include "tools/settings.h"

typedef struct RunArray {
    const FrontParam *param;
    Str in, out;  // paths, or empty
    bool from_file;
    bool random;  // its numbers come from the seed
    NpyArray file;
    Dtype dtype;
    uint32_t rank;  // for pointers 1
    int64_t extent[TILEC_MAX_RANK];
    int64_t stride[TILEC_MAX_RANK];
    uint64_t count;  // number of elements
    size_t size;     // number of bytes
    uint8_t *given;  // contents before the launch
    uint8_t *left;   // contents after it
    tilec_buffer buffer;
} RunArray;

typedef struct RunArrays {
    RunArray *items;  // in the order of the view and pointer parameters
    size_t count;
} RunArrays;

// Reads --in files, binds extents and types from them, notes --out paths.
int arrays_collect(Settings *s, RunArrays *arrays);
// Computes shapes, sizes and contents, once types and extents are known.
int arrays_fill(const Settings *s, const MetaKernel *meta, uint64_t seed, RunArrays *arrays);
bool arrays_have_random_floats(const RunArrays *arrays);
// Puts signed zeros, subnormals and the least normal numbers among the random floats, and
// infinities and NaN into an eighth of one array, so that other results can still be compared.
// Returns the arrays as they were, for arrays_restore.
RunArrays arrays_make_special(const Settings *s, RunArrays *arrays, uint64_t seed);
void arrays_restore(RunArrays *arrays, const RunArrays *kept);
RunArray *arrays_find(const RunArrays *arrays, Symbol name);
// Writes all --out files, or none.
int arrays_write(const Settings *s, const RunArrays *arrays);

#endif
