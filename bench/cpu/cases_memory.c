// Elementwise maps, sums, rows and transposition: limited by memory or by exp.
#include <stdio.h>

#include "bench/cpu/cases.h"

// Maps in their plainest form; examples/ has them with a bias, or does not have them.
static const char *const maps_source =
    "fn gelu_erf(x) { return 0.5 * x * (1 + erf(x * 0.70710678)); }\n"
    "fn gelu_tanh(x) { return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }\n"
    "kernel map_exp(f32 x[N], f32 y[N], const B = 4096) grid(cdiv(N, B))\n"
    "{ let i = program(0) * B; y[i +: B] = exp(x[i +: B]); }\n"
    "kernel map_gelu_erf(f32 x[N], f32 y[N], const B = 4096) grid(cdiv(N, B))\n"
    "{ let i = program(0) * B; y[i +: B] = gelu_erf(x[i +: B]); }\n"
    "kernel map_gelu_tanh(f32 x[N], f32 y[N], const B = 4096) grid(cdiv(N, B))\n"
    "{ let i = program(0) * B; y[i +: B] = gelu_tanh(x[i +: B]); }\n";

void add_hand(Bench *bench, Row *row, const char *name, Role role, const char *loop,
              const HandJob *job, int64_t units, int64_t grain) {
    void *self = NULL;
    Runner *run = peers_hand(bench, loop, job, units, grain, &self);
    row_add(row, name, role, run, self);
}

// PoCL's elementwise kernel: 16 elements for each item, HAND_CHUNK for each group.
static void add_pocl_map(Bench *bench, Row *row, const char *kernel, const HandJob *job,
                         int64_t n) {
    add_pocl(bench, row,
             &(PoclJob){.kernel = kernel,
                        .args = {POCL_MEMORY(job->x, n), POCL_MEMORY(job->z, n)},
                        .items = {n / 16},
                        .group = {HAND_CHUNK / 16}});
}

void case_transpose(Bench *bench) {
    const int64_t n = 4096;
    if (!bench_is_selected(bench, "transpose 4096x4096")) return;
    Row row = {.name = "transpose 4096x4096", .bytes = 8.0 * (double)(n * n)};
    HandJob job = {.x = bench->x, .z = bench->z, .rows = n, .columns = n};
    tilec_arg args[] = {tilec_arg_view(tilec_view2(TILEC_F32, bench->x, n, n)),
                        tilec_arg_view(tilec_view2(TILEC_F32, bench->z, n, n))};
    kernels_add(bench, &row,
                &(KernelJob){.file = "examples/transpose.tile",
                             .kernel = "transposed",
                             .spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)),
                             .args = args,
                             .arg_count = 2});
    row.output = bench->z, row.output_count = (size_t)(n * n);
    add_hand(bench, &row, "C, 16x16 in 64s", ROLE_PEER, "hand_transpose", &job, n / 64, 1);
    add_hand(bench, &row, "C, same, nt", ROLE_PEER, "hand_transpose_nt", &job, n / 64, 1);
    void *self = NULL;
    Runner *run = onednn_transpose(bench, &job, &self);
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    add_pocl(
        bench, &row,
        &(PoclJob){.kernel = "transpose",
                   .args = {POCL_MEMORY(job.x, n * n), POCL_MEMORY(job.z, n * n), POCL_WHOLE(n)},
                   .items = {n / 64, n / 64}});
    row_measure(bench, &row);
}

// ---- Streams ----

static void stream_add(Bench *bench, int64_t n) {
    Row row = {.name = "vector add 64M", .bytes = 12.0 * (double)n};
    HandJob job = {.x = bench->x, .y = bench->y, .z = bench->z};
    tilec_arg args[] = {tilec_arg_view(tilec_view1(TILEC_F32, bench->x, n)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->y, n)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->z, n))};
    kernels_add(bench, &row,
                &(KernelJob){.file = "examples/vector_add.tile",
                             .kernel = "add",
                             .spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)),
                             .args = args,
                             .arg_count = 3});
    row.output = bench->z, row.output_count = (size_t)n;
    add_hand(bench, &row, "C", ROLE_STREAM, "hand_add", &job, n, HAND_CHUNK);
    add_hand(bench, &row, "C, nt stores", ROLE_STREAM, "hand_add_nt", &job, n, HAND_CHUNK);
    void *self = NULL;
    Runner *run = onednn_add(bench, &job, n, &self);
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    add_pocl(
        bench, &row,
        &(PoclJob){.kernel = "add",
                   .args = {POCL_MEMORY(job.x, n), POCL_MEMORY(job.y, n), POCL_MEMORY(job.z, n)},
                   .items = {n / 16},
                   .group = {HAND_CHUNK / 16}});
    row_measure(bench, &row);
}

static void stream_axpy(Bench *bench, int64_t n) {
    Row row = {.name = "axpy 64M", .bytes = 12.0 * (double)n};
    HandJob job = {.x = bench->x, .in_out = bench->z, .alpha = 1e-6f};
    tilec_arg args[] = {tilec_arg_double(1e-6), tilec_arg_view(tilec_view1(TILEC_F32, bench->x, n)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->z, n))};
    kernels_add(bench, &row,
                &(KernelJob){.file = "examples/axpy.tile",
                             .kernel = "axpy",
                             .spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)),
                             .args = args,
                             .arg_count = 3});
    add_hand(bench, &row, "C", ROLE_STREAM, "hand_axpy", &job, n, HAND_CHUNK);
    row.output = bench->z, row.output_count = (size_t)n;
    add_pocl(
        bench, &row,
        &(PoclJob){.kernel = "axpy",
                   .args = {POCL_REAL(job.alpha), POCL_MEMORY(job.x, n), POCL_MEMORY(bench->z, n)},
                   .items = {n / 16},
                   .group = {HAND_CHUNK / 16}});
    row_measure(bench, &row);
}

static void stream_sum(Bench *bench, int64_t n) {
    const int64_t rows = 64;
    Row row = {.name = "sum 64M (64 rows)", .bytes = 4.0 * (double)n};
    HandJob job = {.x = bench->x, .z = bench->z};
    tilec_arg args[] = {tilec_arg_view(tilec_view2(TILEC_F32, bench->x, rows, n / rows)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->z, rows))};
    kernels_add(bench, &row,
                &(KernelJob){.file = "examples/reduce.tile",
                             .kernel = "row_sum",
                             .spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)),
                             .args = args,
                             .arg_count = 2});
    add_hand(bench, &row, "C", ROLE_PEER, "hand_sum", &job, n, HAND_CHUNK);
    add_hand(bench, &row, "C, reads", ROLE_STREAM, "hand_read", &job, n, HAND_CHUNK);
    void *self = NULL;
    Runner *run = onednn_sum(bench, &job, n, &self);
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    // These peers produce one sum or sums of chunks; PoCL produces those of rows, as tilec does.
    for (size_t i = 1; i < row.count; i++) row.contestants[i].unlike = true;
    row.output = bench->z, row.output_count = (size_t)rows;
    add_pocl(
        bench, &row,
        &(PoclJob){.kernel = "row_sum",
                   .args = {POCL_MEMORY(job.x, n), POCL_MEMORY(job.z, rows), POCL_WHOLE(n / rows)},
                   .items = {rows}});
    row_measure(bench, &row);
}

static void stream_map(Bench *bench, const char *name, const char *kernel, const char *loop,
                       DnnlMap map) {
    const int64_t n = 1 << 24;
    if (!bench_is_selected(bench, name)) return;
    Row row = {.name = name, .bytes = 8.0 * (double)n};
    HandJob job = {.x = bench->x, .z = bench->z};
    tilec_arg args[] = {tilec_arg_view(tilec_view1(TILEC_F32, bench->x, n)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->z, n))};
    kernels_add(
        bench, &row,
        &(KernelJob){.source = maps_source, .kernel = kernel, .args = args, .arg_count = 2});
    kernels_add(bench, &row,
                &(KernelJob){.name = "tilec, contract approx",
                             .source = maps_source,
                             .kernel = kernel,
                             .spec = TILEC_SPEC(TILEC_OPTION("math.contract", 1),
                                                TILEC_OPTION("math.approx", 1)),
                             .args = args,
                             .arg_count = 2});
    row.output = bench->z, row.output_count = (size_t)n;
    add_hand(bench, &row, "C", ROLE_PEER, loop, &job, n, HAND_CHUNK);
    const char *nt = arena_printf(bench->arena, "%s_nt", loop);
    add_hand(bench, &row, "C, nt stores", ROLE_PEER, nt, &job, n, HAND_CHUNK);
    add_hand(bench, &row, "copy", ROLE_STREAM, "hand_copy", &job, n, HAND_CHUNK);
    add_hand(bench, &row, "copy, nt stores", ROLE_STREAM, "hand_copy_nt", &job, n, HAND_CHUNK);
    void *self = NULL;
    Runner *run = onednn_map(bench, map, &job, n, &self);
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    add_pocl_map(bench, &row, kernel, &job, n);
    row_measure(bench, &row);
}

void case_streams(Bench *bench) {
    if (bench_is_selected(bench, "vector add 64M")) stream_add(bench, BENCH_ELEMENTS);
    if (bench_is_selected(bench, "axpy 64M")) stream_axpy(bench, BENCH_ELEMENTS);
    if (bench_is_selected(bench, "sum 64M")) stream_sum(bench, BENCH_ELEMENTS);
    stream_map(bench, "exp 16M", "map_exp", "hand_exp", DNNL_EXP);
    stream_map(bench, "gelu tanh 16M", "map_gelu_tanh", "hand_gelu_tanh", DNNL_GELU_TANH);
    stream_map(bench, "gelu erf 16M", "map_gelu_erf", "hand_gelu_erf", DNNL_GELU_ERF);
}

// ---- Rows ----

static int64_t power_of_two(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

// The number of rows in a group of PoCL.
static int64_t pocl_rows(int64_t rows) { return rows % 16 ? 1 : 16; }

static void softmax(Bench *bench, int64_t rows, int64_t columns) {
    const char *name =
        arena_printf(bench->arena, "softmax %lldx%lld", (long long)rows, (long long)columns);
    if (!bench_is_selected(bench, name)) return;
    Row row = {.name = name, .bytes = 8.0 * (double)(rows * columns)};
    HandJob job = {.x = bench->x, .z = bench->z, .rows = rows, .columns = columns};
    tilec_arg args[] = {tilec_arg_view(tilec_view2(TILEC_F32, bench->x, rows, columns)),
                        tilec_arg_view(tilec_view2(TILEC_F32, bench->z, rows, columns))};
    KernelJob kernel = {.file = "examples/softmax.tile",
                        .kernel = "softmax",
                        .spec = TILEC_SPEC(TILEC_CONST("W", power_of_two(columns))),
                        .args = args,
                        .arg_count = 2};
    kernels_add(bench, &row, &kernel);
    kernel.name = "tilec, contract approx";
    kernel.spec = TILEC_SPEC(TILEC_CONST("W", power_of_two(columns)),
                             TILEC_OPTION("math.contract", 1), TILEC_OPTION("math.approx", 1));
    kernels_add(bench, &row, &kernel);
    row.output = bench->z, row.output_count = (size_t)(rows * columns);
    add_hand(bench, &row, "C, times 1 / sum", ROLE_PEER, "hand_softmax", &job, rows, 1);
    add_hand(bench, &row, "C, divided by sum", ROLE_PEER, "hand_softmax_divided", &job, rows, 1);
    add_hand(bench, &row, "copy", ROLE_STREAM, "hand_copy", &job, rows * columns, HAND_CHUNK);
    void *self = NULL;
    Runner *run = onednn_softmax(bench, &job, &self);
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    add_pocl(bench, &row,
             &(PoclJob){.kernel = "softmax",
                        .args = {POCL_MEMORY(job.x, rows * columns),
                                 POCL_MEMORY(job.z, rows * columns), POCL_WHOLE(columns)},
                        .items = {rows},
                        .group = {pocl_rows(rows)}});
    row_measure(bench, &row);
}

static void layernorm(Bench *bench, int64_t rows, int64_t columns) {
    const char *name =
        arena_printf(bench->arena, "layernorm %lldx%lld", (long long)rows, (long long)columns);
    if (!bench_is_selected(bench, name)) return;
    Row row = {.name = name, .bytes = 8.0 * (double)(rows * columns)};
    HandJob job = {.x = bench->x,
                   .z = bench->z,
                   .weight = bench->y,
                   .bias = bench->y + 65536,
                   .rows = rows,
                   .columns = columns,
                   .eps = 1e-5f};
    tilec_arg args[] = {tilec_arg_view(tilec_view2(TILEC_F32, bench->x, rows, columns)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->y, columns)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->y + 65536, columns)),
                        tilec_arg_view(tilec_view2(TILEC_F32, bench->z, rows, columns)),
                        tilec_arg_double(1e-5f)};
    KernelJob kernel = {
        .file = "examples/layernorm.tile", .kernel = "layernorm", .args = args, .arg_count = 5};
    int64_t width = power_of_two(columns) < 1024 ? power_of_two(columns) : 1024;
    kernel.spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("W", width));
    kernels_add(bench, &row, &kernel);
    row.output = bench->z, row.output_count = (size_t)(rows * columns);
    add_hand(bench, &row, "C", ROLE_PEER, "hand_layernorm", &job, rows, 1);
    add_hand(bench, &row, "copy", ROLE_STREAM, "hand_copy", &job, rows * columns, HAND_CHUNK);
    void *self = NULL;
    Runner *run = onednn_layernorm(bench, &job, &self);
    row_add(&row, "oneDNN", ROLE_PEER, run, self);
    add_pocl(
        bench, &row,
        &(PoclJob){.kernel = "layernorm",
                   .args = {POCL_MEMORY(job.x, rows * columns), POCL_MEMORY(job.weight, columns),
                            POCL_MEMORY(job.bias, columns), POCL_MEMORY(job.z, rows * columns),
                            POCL_WHOLE(columns), POCL_REAL(job.eps)},
                   .items = {rows},
                   .group = {pocl_rows(rows)}});
    row_measure(bench, &row);
}

// The residual is a third array, read and written: 16 bytes an element.
static void rmsnorm(Bench *bench, int64_t rows, int64_t columns) {
    const char *name =
        arena_printf(bench->arena, "add_rmsnorm %lldx%lld", (long long)rows, (long long)columns);
    if (!bench_is_selected(bench, name)) return;
    float *residual = bench->y + (1 << 25);
    Row row = {.name = name, .bytes = 16.0 * (double)(rows * columns)};
    HandJob job = {.x = bench->x,
                   .in_out = residual,
                   .z = bench->z,
                   .weight = bench->y,
                   .rows = rows,
                   .columns = columns,
                   .eps = 1e-6f};
    tilec_arg args[] = {tilec_arg_view(tilec_view2(TILEC_F32, bench->x, rows, columns)),
                        tilec_arg_view(tilec_view2(TILEC_F32, residual, rows, columns)),
                        tilec_arg_view(tilec_view1(TILEC_F32, bench->y, columns)),
                        tilec_arg_view(tilec_view2(TILEC_F32, bench->z, rows, columns)),
                        tilec_arg_double(1e-6f)};
    int64_t width = power_of_two(columns) < 1024 ? power_of_two(columns) : 1024;
    kernels_add(
        bench, &row,
        &(KernelJob){.file = "examples/rmsnorm.tile",
                     .kernel = "add_rmsnorm",
                     .spec = TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("W", width)),
                     .args = args,
                     .arg_count = 5});
    add_hand(bench, &row, "C", ROLE_PEER, "hand_add_rmsnorm", &job, rows, 1);
    row_measure(bench, &row);
}

void case_rows(Bench *bench) {
    static const int64_t shapes[][2] = {{4096, 1024}, {1024, 4096}, {100, 30000}, {65536, 64}};
    static void (*const kinds[])(Bench *, int64_t, int64_t) = {softmax, layernorm, rmsnorm};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 4; i++) kinds[k](bench, shapes[i][0], shapes[i][1]);
}
