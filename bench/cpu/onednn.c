// oneDNN through its C API. The few functions that the bench calls are declared here.
#include <string.h>

#include "bench/cpu/peers.h"

typedef struct DnnlThing *Dnnl;  // any handle of the library
typedef struct DnnlArg {
    int which;
    Dnnl memory;
} DnnlArg;

enum { CPU = 1, INFERENCE = 96, BINARY_ADD = 0x1fff0, REDUCTION_SUM = 0x2fff4, SOFTMAX = 0x30000 };
enum { SRC = 1, SRC_1 = 2, DST = 17, WEIGHTS = 33, SCALE = 51, SHIFT = 52 };
enum { IN_ORDER = 1, USE_SCALE = 2, USE_SHIFT = 4, DIMS = 12, ARGS = 5 };

typedef struct OneDnn {
    int (*dnnl_engine_create)(Dnnl *engine, int kind, size_t index);
    int (*dnnl_stream_create)(Dnnl *stream, Dnnl engine, unsigned flags);
    int (*dnnl_stream_wait)(Dnnl stream);
    int (*dnnl_memory_desc_create_with_strides)(Dnnl *desc, int rank, const int64_t *dims, int type,
                                                const int64_t *strides);
    int (*dnnl_memory_create)(Dnnl *memory, Dnnl desc, Dnnl engine, void *data);
    int (*dnnl_primitive_create)(Dnnl *primitive, Dnnl description);
    int (*dnnl_primitive_execute)(Dnnl primitive, Dnnl stream, int count, const DnnlArg *args);
    int (*dnnl_matmul_primitive_desc_create)(Dnnl *, Dnnl engine, Dnnl a, Dnnl b, Dnnl bias, Dnnl c,
                                             Dnnl attr);
    int (*dnnl_eltwise_forward_primitive_desc_create)(Dnnl *, Dnnl engine, int prop, int kind,
                                                      Dnnl from, Dnnl to, float alpha, float beta,
                                                      Dnnl attr);
    int (*dnnl_binary_primitive_desc_create)(Dnnl *, Dnnl engine, int kind, Dnnl x, Dnnl y, Dnnl to,
                                             Dnnl attr);
    int (*dnnl_reduction_primitive_desc_create)(Dnnl *, Dnnl engine, int kind, Dnnl from, Dnnl to,
                                                float p, float eps, Dnnl attr);
    int (*dnnl_softmax_forward_primitive_desc_create)(Dnnl *, Dnnl engine, int prop, int kind,
                                                      Dnnl from, Dnnl to, int axis, Dnnl attr);
    int (*dnnl_layer_normalization_forward_primitive_desc_create)(Dnnl *, Dnnl engine, int prop,
                                                                  Dnnl from, Dnnl to, Dnnl stat,
                                                                  float eps, unsigned flags,
                                                                  Dnnl attr);
    int (*dnnl_reorder_primitive_desc_create)(Dnnl *, Dnnl from, Dnnl from_engine, Dnnl to,
                                              Dnnl to_engine, Dnnl attr);
    Dnnl engine, stream;
} OneDnn;

typedef struct DnnlRun {
    const OneDnn *dnnl;
    Dnnl primitive;
    int count;
    DnnlArg args[ARGS];
} DnnlRun;

static bool load(const OsLibrary *library, const char *name, void *pointer) {
    void *address = os_library_symbol(library, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

bool onednn_start(Bench *bench, Peers *peers) {
    OneDnn *d = arena_new(bench->arena, OneDnn, 1);
    bool good = true;
#define LOAD(name) good = load(peers->onednn, #name, &d->name) && good
    LOAD(dnnl_engine_create);
    LOAD(dnnl_stream_create);
    LOAD(dnnl_stream_wait);
    LOAD(dnnl_memory_desc_create_with_strides);
    LOAD(dnnl_memory_create);
    LOAD(dnnl_primitive_create);
    LOAD(dnnl_primitive_execute);
    LOAD(dnnl_matmul_primitive_desc_create);
    LOAD(dnnl_eltwise_forward_primitive_desc_create);
    LOAD(dnnl_binary_primitive_desc_create);
    LOAD(dnnl_reduction_primitive_desc_create);
    LOAD(dnnl_softmax_forward_primitive_desc_create);
    LOAD(dnnl_layer_normalization_forward_primitive_desc_create);
    LOAD(dnnl_reorder_primitive_desc_create);
#undef LOAD
    peers->dnnl = d;
    return good && d->dnnl_engine_create(&d->engine, CPU, 0) == 0 &&
           d->dnnl_stream_create(&d->stream, d->engine, IN_ORDER) == 0;
}

static void run_onednn(void *self) {
    DnnlRun *r = self;
    r->dnnl->dnnl_primitive_execute(r->primitive, r->dnnl->stream, r->count, r->args);
    r->dnnl->dnnl_stream_wait(r->dnnl->stream);
}

static Dnnl describe(const OneDnn *d, DnnlType type, int64_t rows, int64_t columns,
                     int64_t row_stride, int64_t column_stride) {
    int64_t dims[DIMS] = {rows, columns}, strides[DIMS] = {row_stride, column_stride};
    Dnnl desc = NULL;
    d->dnnl_memory_desc_create_with_strides(&desc, 2, dims, (int)type, strides);
    return desc;
}
static Dnnl describe_row(const OneDnn *d, int64_t count) {
    int64_t dims[DIMS] = {count}, strides[DIMS] = {1};
    Dnnl desc = NULL;
    d->dnnl_memory_desc_create_with_strides(&desc, 1, dims, DNNL_F32, strides);
    return desc;
}

static const OneDnn *onednn_of(const Bench *bench) {
    return bench->peers->onednn ? bench->peers->dnnl : NULL;
}

static DnnlRun *new_run(const Bench *bench, const OneDnn *d) {
    DnnlRun *r = arena_new(bench->arena, DnnlRun, 1);
    r->dnnl = d;
    return r;
}

// The library requires writable memory, even if it only reads.
static void add_arg(DnnlRun *r, int which, Dnnl desc, const void *data) {
    void *writable;
    memcpy(&writable, &data, sizeof writable);
    DnnlArg *a = &r->args[r->count++];
    a->which = which;
    r->dnnl->dnnl_memory_create(&a->memory, desc, r->dnnl->engine, writable);
}

static Runner *finish(DnnlRun *r, int status, Dnnl description, void **self) {
    *self = r;
    if (status || r->dnnl->dnnl_primitive_create(&r->primitive, description)) return NULL;
    return run_onednn;
}

Runner *onednn_matmul(Bench *bench, const MatmulJob *job, DnnlType in, DnnlType out, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl a = describe(d, in, job->m, job->k, job->transpose_a ? 1 : job->k,
                      job->transpose_a ? job->m : 1);
    Dnnl b = describe(d, in, job->k, job->n, job->transpose_b ? 1 : job->n,
                      job->transpose_b ? job->k : 1);
    Dnnl c = describe(d, out, job->m, job->n, job->n, 1), description = NULL;
    int status = d->dnnl_matmul_primitive_desc_create(&description, d->engine, a, b, NULL, c, NULL);
    add_arg(r, SRC, a, job->a);
    add_arg(r, WEIGHTS, b, job->b);
    add_arg(r, DST, c, job->c);
    return finish(r, status, description, self);
}

Runner *onednn_map(Bench *bench, DnnlMap map, const HandJob *job, int64_t count, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl desc = describe_row(d, count), description = NULL;
    int status = d->dnnl_eltwise_forward_primitive_desc_create(&description, d->engine, INFERENCE,
                                                               (int)map, desc, desc, 0, 0, NULL);
    add_arg(r, SRC, desc, job->x);
    add_arg(r, DST, desc, job->z);
    return finish(r, status, description, self);
}

Runner *onednn_add(Bench *bench, const HandJob *job, int64_t count, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl desc = describe_row(d, count), description = NULL;
    int status = d->dnnl_binary_primitive_desc_create(&description, d->engine, BINARY_ADD, desc,
                                                      desc, desc, NULL);
    add_arg(r, SRC, desc, job->x);
    add_arg(r, SRC_1, desc, job->y);
    add_arg(r, DST, desc, job->z);
    return finish(r, status, description, self);
}

Runner *onednn_sum(Bench *bench, const HandJob *job, int64_t count, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl from = describe_row(d, count), to = describe_row(d, 1), description = NULL;
    int status = d->dnnl_reduction_primitive_desc_create(&description, d->engine, REDUCTION_SUM,
                                                         from, to, 0, 0, NULL);
    add_arg(r, SRC, from, job->x);
    add_arg(r, DST, to, job->z);
    return finish(r, status, description, self);
}

Runner *onednn_softmax(Bench *bench, const HandJob *job, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl desc = describe(d, DNNL_F32, job->rows, job->columns, job->columns, 1), description = NULL;
    int status = d->dnnl_softmax_forward_primitive_desc_create(&description, d->engine, INFERENCE,
                                                               SOFTMAX, desc, desc, 1, NULL);
    add_arg(r, SRC, desc, job->x);
    add_arg(r, DST, desc, job->z);
    return finish(r, status, description, self);
}

Runner *onednn_layernorm(Bench *bench, const HandJob *job, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl desc = describe(d, DNNL_F32, job->rows, job->columns, job->columns, 1), description = NULL;
    Dnnl row = describe_row(d, job->columns);
    int status = d->dnnl_layer_normalization_forward_primitive_desc_create(
        &description, d->engine, INFERENCE, desc, desc, NULL, job->eps, USE_SCALE | USE_SHIFT,
        NULL);
    add_arg(r, SRC, desc, job->x);
    add_arg(r, SCALE, row, job->weight);
    add_arg(r, SHIFT, row, job->bias);
    add_arg(r, DST, desc, job->z);
    return finish(r, status, description, self);
}

Runner *onednn_transpose(Bench *bench, const HandJob *job, void **self) {
    const OneDnn *d = onednn_of(bench);
    if (!d) return NULL;
    DnnlRun *r = new_run(bench, d);
    Dnnl from = describe(d, DNNL_F32, job->rows, job->columns, job->columns, 1);
    Dnnl to = describe(d, DNNL_F32, job->rows, job->columns, 1, job->rows), description = NULL;
    int status =
        d->dnnl_reorder_primitive_desc_create(&description, from, d->engine, to, d->engine, NULL);
    add_arg(r, SRC, from, job->x);
    add_arg(r, DST, to, job->z);
    return finish(r, status, description, self);
}
