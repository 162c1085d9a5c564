// The code that the fake compiler library gives for every kernel. The entries are those of
// `copy(f32 x[N], f32 y[N])`, each variant with a result of its own: tests see which one ran.
#include "base/cpu_abi.h"

typedef struct Block {
    const float *x;
    int64_t x_extent;
    float *y;
    int64_t y_extent;
} Block;

static void write(const void *args, float add) {
    const Block *b = args;
    for (int64_t i = 0; i < b->y_extent; i++) b->y[i] = b->x[i] + add;
}

__attribute__((visibility("default"))) CpuEntry copy_B_64, copy_B_64_v1;

void copy_B_64(const void *args, int64_t first, int64_t last, void *scratch,
               const CpuServices *services) {
    (void)first, (void)last, (void)scratch, (void)services;
    write(args, 1);
}

void copy_B_64_v1(const void *args, int64_t first, int64_t last, void *scratch,
                  const CpuServices *services) {
    (void)first, (void)last, (void)scratch, (void)services;
    write(args, 2);
}
