#include "runtime/memory/move.h"

#include <string.h>

// Doubles what is filled until it is all: memcpy is the fastest loop that there is.
static void fill(char *to, size_t size, const void *pattern, size_t unit) {
    if (unit == 1) {
        memset(to, *(const unsigned char *)pattern, size);
        return;
    }
    memcpy(to, pattern, unit);
    for (size_t done = unit; done < size; done *= 2)
        memcpy(to + done, to, done < size - done ? done : size - done);
}

void rt_move_run(const RtMove *move) {
    if (move->kind == RT_MOVE_FILL)
        fill(move->to, move->size, &move->pattern, move->unit);  // little endian
    else
        memmove(move->to, move->from, move->size);
}
