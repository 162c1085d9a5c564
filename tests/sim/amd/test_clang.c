// Kernels that clang compiles from C for every processor, decoded by LLVM's disassembler: none of
// their code is ours.
#include "tests/support/amd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "compile/jit/plugin.h"
#include "sim/machine/number/number.h"

enum { N = 1000, BLOCK = 256, BLOCKS = 4 };

static const char *const processors[] = {"gfx90a",  "gfx942",  "gfx950", "gfx1030",
                                         "gfx1100", "gfx1151", "gfx1201"};
enum { PROCESSORS = sizeof processors / sizeof *processors };

static const char source[] =
    "#define global __attribute__((address_space(1)))\n"
    "#define shared __attribute__((address_space(3), loader_uninitialized))\n"
    "#define kernel __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 256))) void\n"
    "#define tid __builtin_amdgcn_workitem_id_x()\n"
    "#define place (int)(__builtin_amdgcn_workgroup_id_x() * 256 + tid)\n"
    "#define barrier() __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), \\\n"
    "    __builtin_amdgcn_s_barrier(), __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\")\n"
    "kernel add(global const float *x, global const float *y, global float *z, int n) {\n"
    "    int i = place;\n"
    "    if (i < n) z[i] = x[i] + y[i];\n"
    "}\n"
    "kernel divide(global const float *x, global const float *y, global float *z, int n) {\n"
    "    int i = place;\n"
    "    if (i < n) z[i] = x[i] / y[i];\n"
    "}\n"
    "kernel ints(global const int *x, global const int *y, global int *z, int n) {\n"
    "    int i = place;\n"
    "    if (i >= n) return;\n"
    "    long p = (long)x[i] * y[i] + 12345678901;\n"
    "    z[i] = x[i] / (y[i] | 1) + (int)(p / 1000) + (int)(p >> 7) + __builtin_popcount(x[i]) +\n"
    "           (x[i] < y[i] ? x[i] % 13 : y[i] << (x[i] & 7));\n"
    "}\n"
    "kernel doubles(global const double *x, global const double *y, global double *z, int n) {\n"
    "    int i = place;\n"
    "    if (i < n / 2) z[i] = __builtin_fma(x[i], y[i], 1.0) / y[i] + __builtin_sqrt(x[i]);\n"
    "}\n"
    "kernel halves(global const _Float16 *x, global const _Float16 *y, global _Float16 *z, int n) "
    "{\n"
    "    int i = place;\n"
    "    if (i < n) z[i] = x[i] * y[i] + x[i];\n"
    "}\n"
    "shared float room[256];\n"
    "kernel sums(global const float *x, global const float *y, global float *z, int n) {\n"
    "    int t = tid, i = place;\n"
    "    room[t] = i < n ? x[i] : 0;\n"
    "    barrier();\n"
    "    for (int k = 128; k; k >>= 1) {\n"
    "        if (t < k) room[t] += room[t + k];\n"
    "        barrier();\n"
    "    }\n"
    "    if (i < n) z[i] = room[0];\n"
    "}\n"
    "kernel count(global const int *x, global const int *y, global int *z, int n) {\n"
    "    int i = place;\n"
    "    if (i < n) __atomic_fetch_add(&z[x[i] & 15], 1, __ATOMIC_RELAXED);\n"
    "}\n";

static const Plugin *opened;
static GpuDisassemble *disassembler;

static bool compile(Arena *arena, const char *processor, Str *object) {
    char path[256], command[1024];
    snprintf(path, sizeof path, "%s/clang_amd_%s.c", TEST_BINARY_DIR, processor);
    OsError error;
    if (!os_write_file(arena, path, str(source), &error)) return false;
    snprintf(command, sizeof command,
             "clang-22 -x c -O2 --target=amdgcn-amd-amdhsa -mcpu=%s -nogpulib -g1 -o %s.o %s "
             "2>/dev/null",
             processor, path, path);
    if (system(command)) return false;
    return os_read_file(arena, arena_printf(arena, "%s.o", path), 1 << 24, object, &error);
}

typedef union Data {
    float f[N];
    int32_t i[N];
    double d[N / 2];
    uint16_t h[2 * N];
} Data;

typedef struct Case {
    const char *kernel;
    void (*fill)(Data *x, Data *y);
    void (*expected)(const Data *x, const Data *y, Data *z);
    uint32_t bytes;  // of the results
} Case;

static uint32_t bits(uint32_t n) { return n * 2654435761u ^ n >> 3; }
static void fill_floats(Data *x, Data *y) {
    for (uint32_t n = 0; n < N; n++)
        x->f[n] = (float)(int32_t)bits(n) * 0x1p-20f, y->f[n] = (float)(bits(n + N) % 977 + 1) / 8;
}
static void fill_ints(Data *x, Data *y) {
    for (uint32_t n = 0; n < N; n++) x->i[n] = (int32_t)bits(n), y->i[n] = (int32_t)bits(n + N);
}
static void fill_doubles(Data *x, Data *y) {
    for (uint32_t n = 0; n < N / 2; n++) x->d[n] = bits(n) / 7.0, y->d[n] = bits(n + N) / 3.0 + 1;
}
static void fill_halves(Data *x, Data *y) {
    for (uint32_t n = 0; n < 2 * N; n++)
        x->h[n] = (uint16_t)(0x3000 + n % 2000), y->h[n] = (uint16_t)(0xb400 + n % 1500);
}
static void fill_whole(Data *x, Data *y) {
    for (uint32_t n = 0; n < N; n++) x->f[n] = (float)(n % 50), y->f[n] = 0;
}
static void want_add(const Data *x, const Data *y, Data *z) {
    for (uint32_t n = 0; n < N; n++) z->f[n] = x->f[n] + y->f[n];
}
static void want_divide(const Data *x, const Data *y, Data *z) {
    for (uint32_t n = 0; n < N; n++) z->f[n] = x->f[n] / y->f[n];
}
static void want_ints(const Data *x, const Data *y, Data *z) {
    for (uint32_t n = 0; n < N; n++) {
        int32_t a = x->i[n], b = y->i[n];
        int64_t p = (int64_t)a * b + 12345678901;
        uint32_t shifted = (uint32_t)b << (a & 7);
        uint32_t v = (uint32_t)(a / (b | 1)) + (uint32_t)(p / 1000) + (uint32_t)(p >> 7);
        v += (uint32_t)__builtin_popcount((uint32_t)a);
        v += a < b ? (uint32_t)(a % 13) : shifted;
        z->i[n] = (int32_t)v;
    }
}
static void want_doubles(const Data *x, const Data *y, Data *z) {
    for (uint32_t n = 0; n < N / 2; n++)
        z->d[n] = fma(x->d[n], y->d[n], 1.0) / y->d[n] + sqrt(x->d[n]);
}
// clang contracts the product and the sum.
static void want_halves(const Data *x, const Data *y, Data *z) {
    for (uint32_t n = 0; n < N; n++) {
        double a = sim_number_value(&sim_f16, x->h[n]), b = sim_number_value(&sim_f16, y->h[n]);
        z->h[n] = (uint16_t)sim_number_round(&sim_f16, a * b + a, SIM_RN, false);
    }
}
static void want_sums(const Data *x, const Data *y, Data *z) {
    (void)y;
    for (uint32_t n = 0; n < N; n++) {
        z->f[n] = 0;
        for (uint32_t t = n / BLOCK * BLOCK; t < (n / BLOCK + 1) * BLOCK && t < N; t++)
            z->f[n] += x->f[t];
    }
}
static void want_count(const Data *x, const Data *y, Data *z) {
    (void)y;
    memset(z, 0, sizeof *z);
    for (uint32_t n = 0; n < N; n++) z->i[x->i[n] & 15]++;
}

static const Case cases[] = {
    {"add", fill_floats, want_add, 4 * N},       {"divide", fill_floats, want_divide, 4 * N},
    {"ints", fill_ints, want_ints, 4 * N},       {"doubles", fill_doubles, want_doubles, 4 * N},
    {"halves", fill_halves, want_halves, 2 * N}, {"sums", fill_whole, want_sums, 4 * N},
    {"count", fill_ints, want_count, 4 * 16},
};

static void run_case(const char *processor, Str object, const Case *c, uint64_t seed) {
    Warp w;
    Data x, y, z, expected;
    memset(&x, 0, sizeof x), memset(&y, 0, sizeof y), memset(&z, 0, sizeof z);
    c->fill(&x, &y);
    amd_open_object(&w, object, disassembler);
    warp_watch(&w);
    w.seed = seed;
    uint64_t args[] = {warp_upload(&w, &x, sizeof x), warp_upload(&w, &y, sizeof y),
                       warp_upload(&w, &z, c->bytes), N};
    SimResult r = warp_run(&w, c->kernel, BLOCKS, BLOCK, 0, args, 4);
    if (r.outcome != SIM_DONE) fail_msg("%s %s: %s", processor, c->kernel, r.text);
    for (size_t i = 0; i < w.findings->list.count; i++)
        fail_msg("%s %s: %.*s", processor, c->kernel, STR_ARG(w.findings->list.data[i].text));
    warp_download(&w, args[2], &z, c->bytes);
    c->expected(&x, &y, &expected);
    const uint8_t *found = (const uint8_t *)&z, *wanted = (const uint8_t *)&expected;
    for (uint32_t n = 0; n < c->bytes; n++)
        if (found[n] != wanted[n]) fail_msg("%s %s: byte %u differs", processor, c->kernel, n);
    warp_close(&w);
}

static void test_kernels(void **state) {
    (void)state;
    for (size_t p = 0; p < PROCESSORS; p++) {
        Arena *arena = arena_create();
        Str object;
        if (!opened || !compile(arena, processors[p], &object)) {
            print_message("no clang-22 with an AMDGPU target, or no libtilec_llvm here\n");
            skip();
        }
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (uint64_t seed = 0; seed < 3; seed++)
                run_case(processors[p], object, &cases[i], seed);
        arena_destroy(arena);
    }
}

// A buffer that is too short: the line of the store is named.
static void test_line(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    Str object = {0};
    Data x = {0};
    if (!opened || !compile(arena, "gfx942", &object)) skip();
    amd_open_object(&w, object, disassembler);
    warp_watch(&w);
    uint64_t at = warp_upload(&w, &x, sizeof x), small = warp_upload(&w, &x, 400);
    SimResult r = warp_run(&w, "add", 1, BLOCK, 0, (uint64_t[]){at, at, small, N}, 4);
    assert_int_equal(r.outcome, SIM_FAILED);
    assert_int_equal(r.line.line, 10);
    assert_true(str_ends(r.line.file, STR("clang_amd_gfx942.c")));
    assert_true(warp_found(&w, SIM_FINDING_BOUNDS));
    warp_close(&w);
    arena_destroy(arena);
}

int main(void) {
    Plugin *plugin = plugin_create(NULL);
#ifdef TEST_CODEGEN
    Arena *arena = arena_create();
    const CodegenApi *api = plugin_open(plugin, diags_create(arena, sources_create(arena)));
    if (api) opened = plugin, disassembler = api->amd_disassemble;
    arena_destroy(arena);
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_line)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    plugin_destroy(plugin);
    return failed;
}
