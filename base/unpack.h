// Unpacking: LZMA as archives of kernels use it (raw LZMA1 with the settings below, by liblzma).
//
// Invariants: never writes beyond `size`, never reads beyond the input. Memory use does not depend
// on what the input claims (`size`, at most UNPACK_WINDOW, and some KiB). Output that is not
// exactly `size` bytes is refused. compile/aot/pack.h is the other side. Ownership: the caller's
// memory.
//
//     if (!unpack(packed, bytes, size)) …   // damaged, or out of memory: *why says which
#ifndef TILEC_BASE_UNPACK_H
#define TILEC_BASE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { UNPACK_WINDOW = 1 << 22, UNPACK_LC = 3, UNPACK_LP = 0, UNPACK_PB = 2 };

typedef enum UnpackResult { UNPACK_OK, UNPACK_DAMAGED, UNPACK_NO_MEMORY } UnpackResult;
UnpackResult unpack(Str packed, void *bytes, size_t size);

#endif
