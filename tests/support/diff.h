// Diff: the difference of two texts, as a unified diff.
//
// Invariants: equal texts give nothing. Texts too long for the quadratic table are shown whole, as
// all removed and all added.
//
//     diff_unified(arena, expected, found, &out);   // "@@ -1,3 +1,4 @@", " same", "-old", "+new"
#ifndef TILEC_TESTS_SUPPORT_DIFF_H
#define TILEC_TESTS_SUPPORT_DIFF_H

#include "base/str.h"

void diff_unified(Arena *arena, Str before, Str after, StrBuf *out);

#endif
