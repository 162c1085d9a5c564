// Buffers from the host's own allocator, here one with a budget; and a log callback.
//
//     ./custom_allocator [DEVICE]      of those that use the host's memory
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

// Counts blocks in use. A device may allocate from several threads at once, so the counts are
// atomic.
typedef struct Budget {
    size_t limit;
    atomic_size_t used, blocks;
} Budget;

static void *take(void *user, size_t size, size_t alignment) {
    Budget *b = user;
    if (size > b->limit) return NULL;
    void *memory = NULL;
    if (atomic_fetch_add(&b->used, size) + size <= b->limit)
        memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory)
        atomic_fetch_add(&b->blocks, 1);
    else
        atomic_fetch_sub(&b->used, size);
    return memory;
}

static void give_back(void *user, void *memory, size_t size) {
    Budget *b = user;
    atomic_fetch_sub(&b->used, size);
    atomic_fetch_sub(&b->blocks, 1);
    free(memory);
}

static void show(void *user, tilec_severity severity, const char *text) {
    (void)user;
    fprintf(stderr, "tilec says (%s): %s\n", severity == TILEC_WARNING ? "warning" : "note", text);
}

static int run(tilec_context *ctx, const char *device, const Budget *budget) {
    static const char source[] =
        "kernel square(f32 x[N]) grid(cdiv(N, 64)) {\n"
        "    let i = program(0) * 64;\n    x[i +: 64] = x[i +: 64] * x[i +: 64];\n}\n";
    tilec_device *dev = NULL;
    tilec_kernel *k = NULL;
    tilec_buffer buffer = {0}, none = {0};
    float x[1000];
    for (int i = 0; i < 1000; i++) x[i] = (float)i;
    if (tilec_device_open(ctx, device, &dev) ||
        tilec_kernel_from_source(ctx, dev, "square.tile", source, strlen(source), NULL, NULL, &k))
        return 1;
    size_t before = atomic_load(&budget->used);
    if (tilec_buffer_create(dev, sizeof x, &buffer)) return 1;
    printf("a buffer of %zu bytes took %zu\n", sizeof x, atomic_load(&budget->used) - before);
    if (tilec_buffer_create(dev, (size_t)1 << 40, &none) != TILEC_OUT_OF_MEMORY) return 1;
    printf("refused: %s\n", tilec_last_error(ctx));
    if (tilec_buffer_write(dev, NULL, buffer, 0, x, sizeof x) ||
        tilec_launch(k, NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_F32, buffer, 1000))) ||
        tilec_buffer_read(dev, NULL, buffer, 0, x, sizeof x) || tilec_device_synchronize(dev))
        return 1;
    printf("999 squared is %g\n", (double)x[999]);
    return tilec_buffer_destroy(dev, buffer) != TILEC_OK;
}

int main(int argc, char **argv) {
    Budget budget = {.limit = (size_t)1 << 30};
    tilec_context_options options = {
        .size = sizeof options,  // members that are not named are zero: the defaults
        .log = show,
        .allocator = {take, give_back, &budget},
    };
    tilec_context *ctx = NULL;
    if (tilec_context_create(&options, &ctx)) {
        fputs("custom_allocator: no context\n", stderr);
        return 1;
    }
    int failed = run(ctx, argc > 1 ? argv[1] : "auto", &budget);
    if (failed) fprintf(stderr, "custom_allocator: %s\n", tilec_last_error(ctx));
    tilec_context_destroy(ctx);
    printf("at the end %zu blocks are out\n", atomic_load(&budget.blocks));
    return failed;
}
