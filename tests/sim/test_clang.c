// Kernels that clang compiles from CUDA-like C, read and run: none of their text is ours.
#include "tests/support/warp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"

static const char prelude[] =
    "#define global __attribute__((address_space(1)))\n"
    "#define shared __attribute__((address_space(3)))\n"
    "#define kernel __attribute__((nvptx_kernel))\n"
    "#define tid __nvvm_read_ptx_sreg_tid_x()\n"
    "#define ctaid __nvvm_read_ptx_sreg_ctaid_x()\n"
    "#define ntid __nvvm_read_ptx_sreg_ntid_x()\n"
    "#define barrier __syncthreads()\n";

// 16 KiB pages of PTX at most; NULL when there is no clang for it, and the test says so.
static char *compile(Arena *arena, const char *source) {
    char path[256], command[1024];
    snprintf(path, sizeof path, "%s/clang_kernel_%p.c", TEST_BINARY_DIR, (void *)arena);
    Str text = str(arena_printf(arena, "%s%s", prelude, source));
    OsError error;
    if (!os_write_file(arena, path, text, &error)) return NULL;
    snprintf(command, sizeof command,
             // The version of PTX is named, as clang takes the oldest where there is no toolkit.
             "clang-22 -x c -O2 --target=nvptx64-nvidia-cuda -march=sm_80 --cuda-feature=+ptx70 "
             "-S -g1 -o %s.ptx %s 2>/dev/null",
             path, path);
    if (system(command)) return NULL;
    char *ptx = arena_printf(arena, "%s.ptx", path);
    Str contents;
    return os_read_file(arena, ptx, 1 << 24, &contents, &error)
               ? arena_text(arena, contents.text, contents.size)
               : NULL;
}

static bool open_kernel(Warp *w, Arena *arena, const char *source) {
    char *ptx = compile(arena, source);
    if (!ptx) {
        print_message("skipped: no clang-22 with an NVPTX target: apt-get install clang-22\n");
        arena_destroy(arena);
        skip();
    }
    warp_open(w, ptx);
    warp_watch(w);
    return true;
}

enum { N = 1000 };

static void test_vector_add(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    open_kernel(&w, arena,
                "kernel void add(const float *x, const float *y, float *z, int n) {\n"
                "    int i = ctaid * ntid + tid;\n"
                "    if (i < n) z[i] = x[i] + y[i];\n}\n");
    float x[N], y[N], z[N];
    for (int i = 0; i < N; i++) x[i] = (float)i * 0.5f, y[i] = 3.0f - (float)i;
    uint64_t args[] = {warp_upload(&w, x, sizeof x), warp_upload(&w, y, sizeof y),
                       warp_alloc(&w, sizeof z), N};
    warp_run_ok(&w, "add", 8, 128, 0, args, 4);
    warp_download(&w, args[2], z, sizeof z);
    for (int i = 0; i < N; i++) assert_true(z[i] == x[i] + y[i]);
    warp_close(&w);
    arena_destroy(arena);
}

static void test_reduction(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    open_kernel(&w, arena,
                "static shared float part[256];\n"
                "kernel void sum(const float *x, float *out, int n) {\n"
                "    float s = 0;\n"
                "    for (int i = tid; i < n; i += 256) s += x[i];\n"
                "    part[tid] = s;\n    barrier;\n"
                "    for (int k = 128; k; k >>= 1) {\n"
                "        if (tid < k) part[tid] += part[tid + k];\n        barrier;\n    }\n"
                "    if (tid == 0) *out = part[0];\n}\n");
    float x[N], sum = 0, want = 0;
    for (int i = 0; i < N; i++) x[i] = (float)(i % 17), want += x[i];
    uint64_t args[] = {warp_upload(&w, x, sizeof x), warp_alloc(&w, 4), N};
    for (w.seed = 0; w.seed < 6; w.seed++) {
        warp_run_ok(&w, "sum", 1, 256, 0, args, 3);
        warp_download(&w, args[1], &sum, 4);
        assert_true(sum == want);
    }
    warp_close(&w);
    arena_destroy(arena);
}

// Loops of different lengths, early returns, a switch, calls of functions that are not inlined.
static void test_control(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    open_kernel(
        &w, arena,
        "static __attribute__((noinline)) int steps(unsigned n) {\n"
        "    int k = 0;\n"
        "    while (n > 1) { n = n & 1 ? 3 * n + 1 : n / 2; k++; if (k > 500) return -1; }\n"
        "    return k;\n}\n"
        "kernel void collatz(int *out, int n) {\n"
        "    int i = ctaid * ntid + tid;\n    if (i >= n) return;\n"
        "    int v = 0;\n"
        "    switch (i % 7) {\n    case 0: v = steps(i); break;\n"
        "    case 1: v = steps(i) * 2; break;\n    case 2: v = -1; break;\n"
        "    case 3: v = i; /* falls */\n    case 4: v += 5; break;\n"
        "    case 5: for (int k = 0; k < i; k++) { if (k == 40) break; v ^= k * i; } break;\n"
        "    default: v = i / 3 % 5 - i % -4;\n    }\n    out[i] = v;\n}\n");
    int out[N];
    uint64_t args[] = {warp_alloc(&w, sizeof out), N};
    warp_run_ok(&w, "collatz", 8, 128, 0, args, 2);
    warp_download(&w, args[0], out, sizeof out);
    for (int i = 0; i < N; i++) {
        int k = 0, v = 0;
        for (unsigned n = (unsigned)i; n > 1; k++) n = n & 1 ? 3 * n + 1 : n / 2;
        switch (i % 7) {
        case 0: v = k; break;
        case 1: v = k * 2; break;
        case 2: v = -1; break;
        case 3: v = i + 5; break;
        case 4: v = 5; break;
        case 5:
            for (int m = 0; m < i && m < 40; m++) v ^= m * i;
            break;
        default: v = i / 3 % 5 - i % -4;
        }
        assert_int_equal(out[i], v);
    }
    warp_close(&w);
    arena_destroy(arena);
}

static void test_transpose(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    open_kernel(&w, arena,
                "static shared double tile[32][33];\n"
                "kernel void transpose(const double *x, double *y) {\n"
                "    int bx = ctaid * 32, by = __nvvm_read_ptx_sreg_ctaid_y() * 32;\n"
                "    for (int r = __nvvm_read_ptx_sreg_tid_y(); r < 32; r += 8)\n"
                "        tile[r][tid] = x[(by + r) * 96 + bx + tid];\n"
                "    barrier;\n"
                "    for (int r = __nvvm_read_ptx_sreg_tid_y(); r < 32; r += 8)\n"
                "        y[(bx + r) * 64 + by + tid] = tile[tid][r];\n}\n");
    static double x[64 * 96], y[96 * 64];
    for (int i = 0; i < 64 * 96; i++) x[i] = i * 0.25;
    uint64_t args[] = {warp_upload(&w, x, sizeof x), warp_alloc(&w, sizeof y)};
    w.grid[0] = 3, w.grid[1] = 2, w.grid[2] = 1;
    w.block[0] = 32, w.block[1] = 8, w.block[2] = 1;
    warp_run_ok(&w, "transpose", 0, 0, 0, args, 2);
    warp_download(&w, args[1], y, sizeof y);
    for (int r = 0; r < 64; r++)
        for (int c = 0; c < 96; c++) assert_true(y[c * 64 + r] == x[r * 96 + c]);
    warp_close(&w);
    arena_destroy(arena);
}

static void test_histogram(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Warp w;
    open_kernel(&w, arena,
                "static shared unsigned bins[64];\n"
                "kernel void histogram(const unsigned char *x, unsigned *out, int n) {\n"
                "    if (tid < 64) bins[tid] = 0;\n    barrier;\n"
                "    for (int i = ctaid * ntid + tid; i < n; i += 512)\n"
                "        __nvvm_atom_add_gen_i((int *)(unsigned *)&bins[x[i] & 63], 1);\n"
                "    barrier;\n"
                "    if (tid < 64) __nvvm_atom_add_gen_i((int *)&out[tid], bins[tid]);\n}\n");
    unsigned char x[N];
    unsigned out[64] = {0}, want[64] = {0};
    for (int i = 0; i < N; i++) x[i] = (unsigned char)(i * i / 3), want[x[i] & 63]++;
    uint64_t args[] = {warp_upload(&w, x, sizeof x), warp_upload(&w, out, sizeof out), N};
    warp_run_ok(&w, "histogram", 4, 128, 0, args, 3);
    warp_download(&w, args[1], out, sizeof out);
    assert_memory_equal(out, want, sizeof out);
    warp_close(&w);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_add), cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_control), cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_histogram)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
