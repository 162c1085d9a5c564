// Triton's PTX and code objects for the kernels that tilec is measured against, with right results.
//
// They are not ours to keep: scripts/triton-ptx.sh makes them. They are looked for in the folder
// $TILEC_TRITON_PTX, then in ../shared/triton-baseline/ptx.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/os/os.h"
#include "compile/jit/plugin.h"
#include "tests/support/amd.h"

typedef struct Processor {
    const char *name;
    uint32_t lanes, shared;  // of a warp or wave; the most bytes that its kernels use
} Processor;

static const Processor processors[] = {
    {"75", 32, 65536},      {"80", 32, 98304},     {"89", 32, 98304},     {"90", 32, 98304},
    {"120", 32, 98304},     {"gfx90a", 64, 65536}, {"gfx942", 64, 65536}, {"gfx950", 64, 163840},
    {"gfx1100", 32, 65536}, {"gfx1201", 32, 65536}};
enum { PROCESSORS = sizeof processors / sizeof *processors, SEEDS = 3 };

static GpuDisassemble *disassembler;

static bool is_amd(const Processor *p) { return *p->name == 'g'; }

static bool find_code(Arena *arena, const char *kernel, const Processor *p, Str *code) {
    const char *folder = os_env("TILEC_TRITON_PTX");
    char *path =
        arena_printf(arena, "%s/%s_%s/k.%s", folder ? folder : "../shared/triton-baseline/ptx",
                     kernel, p->name, is_amd(p) ? "hsaco" : "ptx");
    OsError error;
    return os_read_file(arena, path, 1 << 26, code, &error);
}

static float noise(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)((int)(*state >> 16 & 255) - 128) / 64.0f;
}

typedef void Check(Warp *w, const Processor *p);

static bool run_code(Arena *arena, Str code, const char *kernel, const Processor *p, Check *check) {
    const char *text = arena_text(arena, code.text, code.size);
    if (is_amd(p) && !disassembler) {
        print_message("left out: %s, %s: no libtilec_llvm here\n", kernel, p->name);
        return false;
    }
    print_message("%s, %s\n", kernel, p->name);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        Warp w;
        if (is_amd(p))
            amd_open_object(&w, code, disassembler);
        else
            warp_open(&w, text);
        w.seed = seed;
        warp_watch(&w);
        check(&w, p);
        warp_close(&w);
    }
    return true;
}

static void each_processor(const char *kernel, Check *check) {
    int ran = 0;
    for (int i = 0; i < PROCESSORS; i++) {
        Arena *arena = arena_create();
        Str code;
        if (find_code(arena, kernel, &processors[i], &code))
            ran += run_code(arena, code, kernel, &processors[i], check);
        arena_destroy(arena);
    }
    if (ran) return;
    print_message(
        "no code of Triton's for %s: scripts/triton-ptx.sh OUT makes it; set "
        "TILEC_TRITON_PTX=OUT\n",
        kernel);
    skip();
}

static void check_vadd(Warp *w, const Processor *p) {
    enum { N = 3008 };
    static float x[N], y[N], z[N];
    uint32_t s = 1;
    for (int i = 0; i < N; i++) x[i] = noise(&s), y[i] = noise(&s);
    uint64_t args[] = {
        warp_upload(w, x, sizeof x), warp_upload(w, y, sizeof y), warp_alloc(w, sizeof z), N, 0, 0};
    warp_run_ok(w, "vadd", 3, 4 * p->lanes, 0, args, 6);
    warp_download(w, args[2], z, sizeof z);
    for (int i = 0; i < N; i++) assert_true(z[i] == x[i] + y[i]);
}
static void test_vadd(void **state) {
    (void)state;
    each_processor("vadd", check_vadd);
}

static void check_softmax(Warp *w, const Processor *p) {
    enum { R = 3, C = 1008, STRIDE = 1024 };
    static float x[R * STRIDE], y[R * STRIDE];
    uint32_t s = 2;
    for (int i = 0; i < R * STRIDE; i++) x[i] = noise(&s);
    uint64_t args[] = {
        warp_upload(w, x, sizeof x), warp_upload(w, y, sizeof y), STRIDE, STRIDE, R, C, 0, 0};
    warp_run_ok(w, "softmax", R, 4 * p->lanes, 16, args, 8);
    warp_download(w, args[1], y, sizeof y);
    for (int r = 0; r < R; r++) {
        double most = -1e9, sum = 0;
        for (int c = 0; c < C; c++) most = fmax(most, (double)x[r * STRIDE + c]);
        for (int c = 0; c < C; c++) sum += exp((double)x[r * STRIDE + c] - most);
        for (int c = 0; c < C; c++) {
            double want = exp((double)x[r * STRIDE + c] - most) / sum;
            assert_true(fabs((double)y[r * STRIDE + c] - want) <= 2e-6 * want);
        }
    }
}
static void test_softmax(void **state) {
    (void)state;
    each_processor("softmax", check_softmax);
}

static void put(Dtype t, void *to, int i, float v) {
    dtype_store(t, to, (uint64_t)i, dtype_from_double(t, (double)v, false));
}
static double get(Dtype t, const void *from, int i) {
    return dtype_to_double(t, dtype_load(t, from, (uint64_t)i));
}

static void check_layernorm(Warp *w, const Processor *p) {
    enum { R = 2, C = 1504 };
    static uint16_t x[R * C], y[R * C], weight[C], bias[C];
    uint32_t s = 3;
    for (int i = 0; i < R * C; i++) put(DTYPE_F16, x, i, noise(&s));
    for (int i = 0; i < C; i++)
        put(DTYPE_F16, weight, i, noise(&s)), put(DTYPE_F16, bias, i, noise(&s));
    float eps = 1e-5f;
    uint32_t eps_bits;
    memcpy(&eps_bits, &eps, 4);
    uint64_t args[] = {warp_upload(w, x, sizeof x),
                       warp_upload(w, y, sizeof y),
                       warp_upload(w, weight, sizeof weight),
                       warp_upload(w, bias, sizeof bias),
                       C,
                       C,
                       eps_bits,
                       0,
                       0};
    warp_run_ok(w, "layernorm", R, 4 * p->lanes, 16, args, 9);
    warp_download(w, args[1], y, sizeof y);
    for (int r = 0; r < R; r++) {
        double mean = 0, var = 0;
        for (int c = 0; c < C; c++) mean += get(DTYPE_F16, x, r * C + c) / (double)C;
        for (int c = 0; c < C; c++) var += pow(get(DTYPE_F16, x, r * C + c) - mean, 2) / (double)C;
        for (int c = 0; c < C; c++) {
            double v = (get(DTYPE_F16, x, r * C + c) - mean) / sqrt(var + 1e-5);
            double want = v * get(DTYPE_F16, weight, c) + get(DTYPE_F16, bias, c);
            assert_true(fabs(get(DTYPE_F16, y, r * C + c) - want) <= 2e-3 * fabs(want) + 1e-3);
        }
    }
}
static void test_layernorm(void **state) {
    (void)state;
    each_processor("layernorm", check_layernorm);
}

// One block's worth and an edge: the values sum exactly in every order. Extents are multiples of
// 16, as the kernels take for granted.
static void check_matmul(Warp *w, const Processor *on, Dtype t, int k_total) {
    enum { M = 80, NN = 48 };
    const int m = M, n = NN, k = k_total;
    size_t size = dtype_size(t);
    uint8_t *a = calloc((size_t)(m * k), size), *b = calloc((size_t)(k * n), size),
            *c = calloc((size_t)(m * n), size);
    uint32_t s = 4;
    for (int i = 0; i < m * k; i++) put(t, a, i, (float)(int)(noise(&s) * 2));
    for (int i = 0; i < k * n; i++) put(t, b, i, (float)(int)(noise(&s) * 2));
    uint64_t args[] = {warp_upload(w, a, (size_t)(m * k) * size),
                       warp_upload(w, b, (size_t)(k * n) * size),
                       warp_alloc(w, (size_t)(m * n) * size),
                       (uint64_t)m,
                       (uint64_t)n,
                       (uint64_t)k,
                       (uint64_t)k,
                       (uint64_t)n,
                       (uint64_t)n,
                       0,
                       0};
    warp_run_ok(w, "matmul", 1, 8 * on->lanes, on->shared, args, 11);
    warp_download(w, args[2], c, (size_t)(m * n) * size);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double want = 0;
            for (int x = 0; x < k; x++) want += get(t, a, i * k + x) * get(t, b, x * n + j);
            want = dtype_to_double(t, dtype_from_double(t, want, false));
            assert_true(get(t, c, i * n + j) == want);
        }
    free(a), free(b), free(c);
}
static void check_matmul_f16(Warp *w, const Processor *p) { check_matmul(w, p, DTYPE_F16, 144); }
static void check_matmul_bf16(Warp *w, const Processor *p) { check_matmul(w, p, DTYPE_BF16, 144); }
static void check_matmul_f32(Warp *w, const Processor *p) { check_matmul(w, p, DTYPE_F32, 80); }
static void test_matmul(void **state) {
    (void)state;
    each_processor("matmul_fp16", check_matmul_f16);
    each_processor("matmul_bf16", check_matmul_bf16);
    each_processor("matmul_fp32", check_matmul_f32);
}

static void check_attention(Warp *w, const Processor *on, bool causal) {
    enum { N = 80, D = 64 };
    static uint16_t q[N * D], k[N * D], v[N * D], o[N * D];
    uint32_t s = 5;
    for (int i = 0; i < N * D; i++)
        put(DTYPE_F16, q, i, noise(&s)), put(DTYPE_F16, k, i, noise(&s)),
            put(DTYPE_F16, v, i, noise(&s));
    float scale = 0.125f;
    uint32_t bits;
    memcpy(&bits, &scale, 4);
    uint64_t args[] = {warp_upload(w, q, sizeof q),
                       warp_upload(w, k, sizeof k),
                       warp_upload(w, v, sizeof v),
                       warp_alloc(w, sizeof o),
                       N * D,
                       N * D,
                       D,
                       bits,
                       1,
                       N,
                       0,
                       0};
    warp_run_ok(w, "attn", 1, 4 * on->lanes, on->shared, args, 12);
    warp_download(w, args[3], o, sizeof o);
    for (int i = 0; i < N; i++) {
        double p[N], sum = 0, most = -1e30;
        int end = causal ? i + 1 : N;
        for (int j = 0; j < end; j++) {
            p[j] = 0;
            for (int d = 0; d < D; d++)
                p[j] += get(DTYPE_F16, q, i * D + d) * get(DTYPE_F16, k, j * D + d);
            p[j] *= (double)scale;
            most = fmax(most, p[j]);
        }
        for (int j = 0; j < end; j++) sum += p[j] = exp2(p[j] - most);
        for (int d = 0; d < D; d++) {
            double want = 0, size = 0;
            for (int j = 0; j < end; j++) {
                want += p[j] / sum * get(DTYPE_F16, v, j * D + d);
                size += p[j] / sum * fabs(get(DTYPE_F16, v, j * D + d));
            }
            assert_true(fabs(get(DTYPE_F16, o, i * D + d) - want) <= 2e-3 * size + 1e-4);
        }
    }
}
static void check_full(Warp *w, const Processor *p) { check_attention(w, p, false); }
static void check_causal(Warp *w, const Processor *p) { check_attention(w, p, true); }
static void test_attention(void **state) {
    (void)state;
    each_processor("attn_fp16", check_full);
    each_processor("attn_fp16_causal", check_causal);
}

int main(void) {
    Plugin *plugin = plugin_create(NULL);
#ifdef TEST_CODEGEN
    Arena *arena = arena_create();
    const CodegenApi *api = plugin_open(plugin, diags_create(arena, sources_create(arena)));
    if (api) disassembler = api->amd_disassemble;
    arena_destroy(arena);
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vadd), cmocka_unit_test(test_softmax),
                                       cmocka_unit_test(test_layernorm),
                                       cmocka_unit_test(test_matmul),
                                       cmocka_unit_test(test_attention)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    plugin_destroy(plugin);
    return failed;
}
