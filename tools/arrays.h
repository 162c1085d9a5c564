// Arrays: the memory that `tilec run` gives a kernel, from files, the seed or a poison value.
//
// Invariants: every view and pointer parameter has exactly one array; its bytes are kept twice (as
// given, and as the device left them). Poison (outputs nobody read) is 0xFF… for floats (a NaN no
// kernel computes) and 0xA5… else. Ownership: the arena of the command line.
#ifndef TILEC_TOOLS_ARRAYS_H
#define TILEC_TOOLS_ARRAYS_H

#include <tilec/tilec.h>

#include "tools/npy.h"
#include "tools/settings.h"

typedef struct RunArray {
    const FrontParam *param;
    Str in, out;  // paths, or empty
    bool from_file;
    bool random;  // its numbers are the seed's
    NpyArray file;
    Dtype dtype;
    uint32_t rank;  // pointers: 1
    int64_t extent[TILEC_MAX_RANK];
    int64_t stride[TILEC_MAX_RANK];
    uint64_t count;  // elements
    size_t size;     // bytes
    uint8_t *given;  // before the launch
    uint8_t *left;   // after it
    tilec_buffer buffer;
} RunArray;

typedef struct RunArrays {
    RunArray *items;  // in order of the view and pointer parameters
    size_t count;
} RunArrays;

// Reads --in files, binds extents and types from them, notes --out paths.
int arrays_collect(Settings *s, RunArrays *arrays);
// Once types and extents are known: shapes, sizes and contents.
int arrays_fill(const Settings *s, const MetaKernel *meta, uint64_t seed, RunArrays *arrays);
bool arrays_have_random_floats(const RunArrays *arrays);
// Signed zeros, subnormals and the least normal numbers among the random floats, infinities and NaN
// in an eighth of one array: what they poison leaves other results to be compared. Gives the arrays
// as they were, for arrays_restore.
RunArrays arrays_make_special(const Settings *s, RunArrays *arrays, uint64_t seed);
void arrays_restore(RunArrays *arrays, const RunArrays *kept);
RunArray *arrays_find(const RunArrays *arrays, Symbol name);
// Writes all --out files, or none.
int arrays_write(const Settings *s, const RunArrays *arrays);

#endif
