// Tensor maps of launches and what is kept of them, on a device that writes down what it is asked.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os_thread.h"
#include "runtime/launch_maps.h"

enum { THREADS = 4, TURNS = 20000, SETS = 7, MAPS = 3 };

static _Atomic(int) encoded;
static _Atomic(int) fails_after = -1;

static bool has_maps(const tilec_device *device) { return device->api != NULL; }

// The first word of a map is the address of its view, the others are the facts.
static tilec_status encode(tilec_device *device, const GpuMapFacts *facts, void *map) {
    (void)device;
    assert_int_equal((uintptr_t)map % GPU_MAP_ALIGN, 0);
    if (atomic_load(&fails_after) == 0) return TILEC_UNSUPPORTED;
    if (atomic_load(&fails_after) > 0) atomic_fetch_sub(&fails_after, 1);
    encoded++;
    memset(map, (int)(facts->address / 16 % 251), GPU_MAP_BYTES);
    memcpy(map, &facts->address, 8);
    memcpy((uint8_t *)map + 8, &facts->dims[0], 8);
    return TILEC_OK;
}

static const RtDeviceApi api = {.kind = "maps", .has_maps = has_maps, .encode_map = encode};

// Three views of f16: contiguous, strided, and the first again.
typedef struct Kernel {
    tilec_device device;
    tilec_kernel kernel;
    MetaArg args[2];
    MetaMap maps[MAPS];
    MetaVariant variant;
    MetaKernel meta;
} Kernel;

static void make(Kernel *k) {
    *k = (Kernel){.device = {.api = &api}};
    k->kernel.device = &k->device;
    for (uint32_t i = 0; i < 2; i++)
        k->args[i] = (MetaArg){
            .name = STR("x"), .kind = META_VIEW, .dtype = DTYPE_F16, .rank = 2, .strided = i == 1};
    meta_layout(k->args, 2, &k->meta.size);
    for (uint32_t i = 0; i < MAPS; i++)
        k->maps[i] =
            (MetaMap){.arg = i % 2, .rank = 2, .dtype = DTYPE_F16, .axes = {1, 0}, .box = {64, 64}};
    k->variant = (MetaVariant){.facts = FACT_MAPPED, .map_count = MAPS, .maps = k->maps};
    k->meta.arg_count = 2, k->meta.args = k->args;
    k->meta.variant_count = 1, k->meta.variants = &k->variant;
}

typedef struct Block {
    int64_t x, x_extent[2], y, y_extent[2], y_stride[2];
} Block;

static Block block_of(int64_t set) {
    return (Block){4096 * (set + 1), {8, 64 + 8 * set}, 1 << 20, {8, 64}, {64, 1}};
}

static tilec_status launch(Kernel *k, const Block *b) {
    LaunchMaps maps;
    RtLaunch l = {.meta = &k->meta, .block = b};
    tilec_status s = launch_maps_begin(&k->kernel, &l, &maps);
    if (s) return s;
    for (int i = 0; i < MAPS; i++) {
        const uint8_t *map = l.maps + (size_t)i * GPU_MAP_BYTES;
        int64_t words[2], address = i % 2 ? b->y : b->x;
        memcpy(words, map, sizeof words);
        assert_true(words[0] == address);
        assert_true(words[1] == (i % 2 ? b->y_extent[1] : b->x_extent[1]));
        for (int n = sizeof words; n < GPU_MAP_BYTES; n++)
            assert_int_equal(map[n], address / 16 % 251);
    }
    launch_maps_end(&maps);
    return TILEC_OK;
}

static int encodings(Kernel *k, const Block *b) {
    int before = atomic_load(&encoded);
    assert_int_equal(launch(k, b), TILEC_OK);
    return atomic_load(&encoded) - before;
}

// Each word of a view counts, and nothing else does.
static void views_are_the_key(void **state) {
    static Kernel k;
    (void)state;
    make(&k);
    Block b = block_of(0);
    assert_int_equal(encodings(&k, &b), MAPS);
    assert_int_equal(encodings(&k, &b), 0);
    for (size_t i = 0; i < sizeof b / 8; i++) {
        Block other = b;
        int64_t word;
        memcpy(&word, (uint8_t *)&other + 8 * i, 8);
        word += 4096;
        memcpy((uint8_t *)&other + 8 * i, &word, 8);
        assert_int_equal(encodings(&k, &other), MAPS);
        assert_int_equal(encodings(&k, &other), 0);
        assert_int_equal(launch(&k, &b), TILEC_OK);
    }
    launch_maps_free(&k.kernel);
    assert_int_equal(encodings(&k, &b), MAPS);
    launch_maps_free(&k.kernel);
}

// After a failure nothing is kept, and the maps of before are still there.
static void failures_keep_nothing(void **state) {
    static Kernel k;
    (void)state;
    make(&k);
    Block b = block_of(0), other = block_of(0);
    other.y_extent[0]++;
    assert_int_equal(launch(&k, &b), TILEC_OK);
    for (int i = 0; i < MAPS; i++) {
        atomic_store(&fails_after, i);
        assert_int_equal(launch(&k, &other), TILEC_UNSUPPORTED);
        assert_int_equal(encodings(&k, &b), 0);
    }
    atomic_store(&fails_after, -1);
    assert_int_equal(encodings(&k, &other), MAPS);
    launch_maps_free(&k.kernel);
}

// Threads launch with arrays that take turns: each gets its own maps.
static void run(void *kernel) {
    for (int64_t i = 0; i < TURNS; i++) {
        Block b = block_of(i / 3 % SETS);
        assert_int_equal(launch(kernel, &b), TILEC_OK);
    }
}

static void threads_share_them(void **state) {
    static Kernel k;
    OsThread *threads[THREADS];
    (void)state;
    make(&k);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = os_thread_start("launch", run, &k);
        assert_non_null(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) os_thread_join(threads[i]);
    launch_maps_free(&k.kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_the_key),
        cmocka_unit_test(failures_keep_nothing),
        cmocka_unit_test(threads_share_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
