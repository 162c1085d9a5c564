// Matrix products and attention: limited by the peak of the arithmetic.
#include <stdio.h>

#include "bench/cpu/cases.h"

// The kernel of examples/matmul.tile with operands that are stored transposed.
static const char *const transposed_source =
    "kernel matmul(type T, strided T a[M, K], strided T b[K, N], T c[M, N],\n"
    "              const BM = 128, const BN = 128, const BK = 64)\n"
    "    grid(cdiv(M, BM), cdiv(N, BN))\n"
    "{\n"
    "    let i = program(0) * BM;\n"
    "    let j = program(1) * BN;\n"
    "    var acc = zeros(f32, BM, BN);\n"
    "    for k in 0 .. K step BK\n"
    "        acc = dot(a[i +: BM, k +: BK], b[k +: BK, j +: BN], acc);\n"
    "    c[i +: BM, j +: BN] = T(acc);\n"
    "}\n";

void add_peak(Bench *bench, Row *row, const char *loop) {
    void *self = NULL;
    double operations = 0;
    Runner *run = peers_peak(bench, loop, &operations, &self);
    if (!run || row->count == ROW_MAX) return;
    row_add(row, "peak", ROLE_PEAK, run, self);
    row->contestants[row->count - 1].operations = operations;
}

static void one_peak(Bench *bench, const char *name, const char *loop) {
    if (!bench_is_selected(bench, name)) return;
    Row row = {.name = name, .flops = 1};
    add_peak(bench, &row, loop);
    row_measure(bench, &row);
}

void case_peaks(Bench *bench) {
    one_peak(bench, "peak f32", "hand_peak_f32");
    one_peak(bench, "peak bf16 dot", "hand_peak_bf16");
    one_peak(bench, "peak u8 s8 dot", "hand_peak_i8");
}

// ---- Products ----

typedef enum Product { PRODUCT_F32, PRODUCT_BF16, PRODUCT_I8 } Product;

static tilec_view operand(tilec_dtype type, void *data, int64_t rows, int64_t columns,
                          bool transposed) {
    tilec_view v = tilec_view2(type, data, rows, columns);
    if (transposed) v.stride[0] = 1, v.stride[1] = rows;
    return v;
}

static void add_product(Bench *bench, Row *row, Product kind, const MatmulJob *job) {
    tilec_dtype type = kind == PRODUCT_F32    ? TILEC_F32
                       : kind == PRODUCT_BF16 ? TILEC_BF16
                                              : TILEC_I8;
    tilec_view a = operand(type, bench->x, job->m, job->k, job->transpose_a);
    tilec_view b = operand(type, bench->y, job->k, job->n, job->transpose_b);
    tilec_view c = tilec_view2(kind == PRODUCT_I8 ? TILEC_I32 : type, bench->z, job->m, job->n);
    tilec_arg args[] = {tilec_arg_view(a), tilec_arg_view(b), tilec_arg_view(c)};
    bool transposed = job->transpose_a || job->transpose_b;
    KernelJob k = {.file = transposed ? NULL : "examples/matmul.tile",
                   .source = transposed_source,
                   .kernel = kind == PRODUCT_I8 ? "matmul_i8" : "matmul",
                   .args = args,
                   .arg_count = 3};
    const tilec_spec *spec = TILEC_SPEC(TILEC_TYPE("T", type));
    k.spec = kind == PRODUCT_I8 ? NULL : spec;
    kernels_add(bench, row, &k);
    if (kind != PRODUCT_F32) return;
    k.name = "tilec, contract";
    k.spec = TILEC_SPEC(TILEC_TYPE("T", type), TILEC_OPTION("math.contract", 1));
    kernels_add(bench, row, &k);
}

// Only the case that its kernel supports: operands that are not transposed, and 8 rows at a time.
static void add_pocl_product(Bench *bench, Row *row, const MatmulJob *job) {
    int64_t m = job->m, n = job->n, k = job->k;
    if (job->transpose_a || job->transpose_b || m < 8) return;
    add_pocl(bench, row,
             &(PoclJob){
                 .kernel = "matmul",
                 .args = {POCL_MEMORY(job->a, m * k), POCL_MEMORY(job->b, k * n),
                          POCL_MEMORY(job->c, m * n), POCL_WHOLE(m), POCL_WHOLE(n), POCL_WHOLE(k)},
                 .items = {(n + 31) / 32, (m + 127) / 128}});
}

static void product(Bench *bench, const char *name, Product kind, const MatmulJob *shape) {
    if (!bench_is_selected(bench, name)) return;
    MatmulJob job = *shape;
    job.a = bench->x, job.b = bench->y, job.c = bench->z;
    Row row = {.name = name, .flops = 2.0 * (double)job.m * (double)job.n * (double)job.k};
    add_product(bench, &row, kind, &job);
    void *self = NULL;
    Runner *run = NULL;
    switch (kind) {
    case PRODUCT_F32:
        row.output = bench->z, row.output_count = (size_t)(job.m * job.n);
        run = peers_sgemm(bench, &job, &self);
        row_add(&row, "OpenBLAS", ROLE_PEER, run, self);
        run = onednn_matmul(bench, &job, DNNL_F32, DNNL_F32, &self);
        break;
    case PRODUCT_BF16:
        run = peers_sbgemm(bench, &job, &self);
        row_add(&row, "OpenBLAS", ROLE_PEER, run, self);
        run = onednn_matmul(bench, &job, DNNL_BF16, DNNL_BF16, &self);
        break;
    case PRODUCT_I8: run = onednn_matmul(bench, &job, DNNL_S8, DNNL_S32, &self); break;
    }
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    if (kind == PRODUCT_F32) add_pocl_product(bench, &row, &job);
    add_peak(bench, &row,
             kind == PRODUCT_F32    ? "hand_peak_f32"
             : kind == PRODUCT_BF16 ? "hand_peak_bf16"
                                    : "hand_peak_i8");
    row_measure(bench, &row);
}

static MatmulJob cube(int64_t n) { return (MatmulJob){.m = n, .n = n, .k = n}; }

// Stores bf16 numbers near 1, or small bytes, in place of the floats; fill_floats restores those.
static void fill_bytes(Bench *bench, bool bf16) {
    for (int64_t i = 0; i < 1 << 22; i++) {
        uint32_t value = bf16 ? 0x3f803f80u ^ (uint32_t)(i * 2654435761u & 0x003f003fu)
                              : (uint32_t)(i * 2654435761u) & 0x3f3f3f3fu;
        ((uint32_t *)(void *)bench->x)[i] = value;
        ((uint32_t *)(void *)bench->y)[i] = value;
    }
}
static void fill_floats(Bench *bench) {
    for (int64_t i = 0; i < 1 << 22; i++)
        bench->x[i] = bench->y[i] = (float)(i * 2654435761 % 2048) / 1024.0f - 1.0f;
}

void case_matmul(Bench *bench) {
    static const int64_t sizes[] = {512, 1024, 2048, 1000, 1023, 1537};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MatmulJob job = cube(sizes[i]);
        product(bench, arena_printf(bench->arena, "matmul f32 %lld", (long long)sizes[i]),
                PRODUCT_F32, &job);
    }
    MatmulJob ta = cube(1024), tb = cube(1024), both = cube(1024);
    ta.transpose_a = true, tb.transpose_b = true;
    both.transpose_a = both.transpose_b = true;
    product(bench, "matmul f32 1024 a transposed", PRODUCT_F32, &ta);
    product(bench, "matmul f32 1024 b transposed", PRODUCT_F32, &tb);
    product(bench, "matmul f32 1024 both transposed", PRODUCT_F32, &both);
    product(bench, "matmul f32 16x4096x4096", PRODUCT_F32,
            &(MatmulJob){.m = 16, .n = 4096, .k = 4096});
    product(bench, "matmul f32 1x4096x4096", PRODUCT_F32,
            &(MatmulJob){.m = 1, .n = 4096, .k = 4096});
    for (int64_t n = 512; n <= 2048; n *= 2) {
        MatmulJob job = cube(n);
        fill_bytes(bench, true);
        product(bench, arena_printf(bench->arena, "matmul bf16 %lld", (long long)n), PRODUCT_BF16,
                &job);
        fill_bytes(bench, false);
        product(bench, arena_printf(bench->arena, "matmul i8 %lld", (long long)n), PRODUCT_I8,
                &job);
    }
    fill_floats(bench);
}

// ---- Attention: 8 heads, 2048 queries and keys, d 64 ----

static void attention(Bench *bench, const char *name, int causal) {
    const int64_t heads = 8, length = 2048, depth = 64;
    if (!bench_is_selected(bench, name)) return;
    double products = 4.0 * (double)(heads * length * length * depth);
    Row row = {.name = name, .flops = causal ? products / 2 : products};
    int64_t extent[] = {1, heads, length, depth}, one = heads * length * depth;
    tilec_arg args[] = {tilec_arg_view(tilec_view_of(TILEC_F32, bench->x, 4, extent)),
                        tilec_arg_view(tilec_view_of(TILEC_F32, bench->x + one, 4, extent)),
                        tilec_arg_view(tilec_view_of(TILEC_F32, bench->x + 2 * one, 4, extent)),
                        tilec_arg_view(tilec_view_of(TILEC_F32, bench->z, 4, extent)),
                        tilec_arg_double(0.125)};
    KernelJob k = {
        .file = "examples/attention.tile", .kernel = "attention", .args = args, .arg_count = 5};
    k.spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("CAUSAL", causal));
    kernels_add(bench, &row, &k);
    k.name = "tilec, contract approx";
    k.spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("CAUSAL", causal),
                        TILEC_OPTION("math.contract", 1), TILEC_OPTION("math.approx", 1));
    kernels_add(bench, &row, &k);
    add_peak(bench, &row, "hand_peak_f32");
    row_measure(bench, &row);
}

void case_attention(Bench *bench) {
    attention(bench, "attention 8x2048x64", 0);
    attention(bench, "attention 8x2048x64 causal", 1);
}
