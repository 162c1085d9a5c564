// A kernel as a shared object: element p of the array becomes twice p plus the block's number.
#include "base/cpu_abi.h"

CpuEntry twice, thrice;

typedef struct Block {
    int64_t *array;
    int64_t add;
} Block;

__attribute__((visibility("default"))) void twice(const void *args, int64_t first, int64_t last,
                                                  void *scratch, const CpuServices *services) {
    const Block *b = args;
    (void)scratch, (void)services;
    for (int64_t p = first; p < last; p++) b->array[p] = 2 * p + b->add;
}

__attribute__((visibility("default"))) void thrice(const void *args, int64_t first, int64_t last,
                                                   void *scratch, const CpuServices *services) {
    const Block *b = args;
    (void)scratch, (void)services;
    for (int64_t p = first; p < last; p++) b->array[p] = 3 * p + b->add;
}
