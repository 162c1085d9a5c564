// The fake's streams, events, modules and launches.
#include <stdio.h>
#include <string.h>

#include "sim/ptx/ptx.h"
#include "tests/fakes/cuda/state.h"

// ---- Streams ----

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    CUresult r = fake_begin(CUDA_CALL_stream_create, true);
    if (!r && flags > 1) r = CUDA_ERROR_INVALID_VALUE;
    if (!r) *stream = (CUstream)fake_make(THING_STREAM);
    return fake_end(r);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    CUresult r = fake_begin(CUDA_CALL_stream_destroy, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (s) s->dead = true;
    return fake_end(r ? r : s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuStreamSynchronize(CUstream stream) {
    CUresult r = fake_begin(CUDA_CALL_stream_synchronize, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    return fake_end(r ? r : s ? fake_run(s) : CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    CUresult r = fake_begin(CUDA_CALL_stream_context, true);
    const Thing *s = r ? NULL : fake_find(stream, THING_STREAM);
    if (!s) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    *context = (CUcontext)fake_state.devices[s->device].context;
    return fake_end(CUDA_SUCCESS);
}

// ---- Events ----

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    CUresult r = fake_begin(CUDA_CALL_event_create, true);
    if (!r && flags) r = CUDA_ERROR_INVALID_VALUE;
    if (!r) *event = (CUevent)fake_make(THING_EVENT);
    return fake_end(r);
}

CUresult cuEventDestroy_v2(CUevent event) {
    CUresult r = fake_begin(CUDA_CALL_event_destroy, true);
    Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    if (e) e->dead = true;
    return fake_end(r ? r : e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    CUresult r = fake_begin(CUDA_CALL_event_record, true);
    Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    Thing *s = e ? fake_check(stream, THING_STREAM) : NULL;
    if (!s) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    e->last = arena_new(fake_state.arena, Record, 1);
    e->last->stream = s;
    e->asked = 0;
    fake_push(s, (Work){.kind = WORK_RECORD, .record = e->last});
    return fake_end(CUDA_SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    CUresult r = fake_begin(CUDA_CALL_stream_wait_event, true);
    Thing *e = r || flags ? NULL : fake_check(event, THING_EVENT);
    Thing *s = e ? fake_check(stream, THING_STREAM) : NULL;
    if (!s) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    if (e->last) fake_push(s, (Work){.kind = WORK_WAIT, .record = e->last});
    return fake_end(CUDA_SUCCESS);
}

CUresult cuEventSynchronize(CUevent event) {
    CUresult r = fake_begin(CUDA_CALL_event_synchronize, true);
    const Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    if (!e) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    return fake_end(e->last ? fake_run_to(e->last->stream, e->last) : CUDA_SUCCESS);
}

// The device gets there while it is asked again and again.
CUresult cuEventQuery(CUevent event) {
    enum { PATIENCE = 3 };
    CUresult r = fake_begin(CUDA_CALL_event_query, true);
    Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    if (!e) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    if (e->last && !e->last->done && ++e->asked == PATIENCE)
        r = fake_run_to(e->last->stream, e->last);
    if (!r && e->last && !e->last->done) r = CUDA_ERROR_NOT_READY;
    return fake_end(r);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
    CUresult r = fake_begin(CUDA_CALL_event_elapsed, true);
    const Thing *b = r ? NULL : fake_check(begin, THING_EVENT);
    const Thing *e = b ? fake_check(end, THING_EVENT) : NULL;
    if (!e || !b->last || !e->last) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    if (!b->last->done || !e->last->done) return fake_end(CUDA_ERROR_NOT_READY);
    *milliseconds = (float)((double)e->last->time - (double)b->last->time) / 1e6f;
    return fake_end(CUDA_SUCCESS);
}

// ---- Modules ----

static CUresult read_ptx(const char *text, char *log, size_t log_size, const SimProgram **program) {
    Fake *f = &fake_state;
    Sources *sources = sources_create(f->arena);
    Diags *diags = diags_create(f->arena, sources);
    Str copy = {arena_text(f->arena, text, strlen(text)), strlen(text)};
    *program = ptx_read(f->arena, source_add(sources, STR("ptx"), copy), diags);
    if (!*program) {
        const Diag *d = diags_get(diags, 0);
        snprintf(log, log_size,
                 "ptxas application ptx input, line %u; error   : %.*s\n"
                 "ptxas fatal   : Ptx assembly aborted due to errors",
                 source_line(sources, d->span.begin).line, STR_ARG(d->text));
        return CUDA_ERROR_INVALID_PTX;
    }
    if ((*program)->version > f->ptx) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    bool runs = (*program)->arch_a ? (*program)->arch == (unsigned)f->arch
                                   : (*program)->arch <= (unsigned)f->arch;
    return runs ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
    CUresult r = fake_begin(CUDA_CALL_module_load, true);
    if (r) return fake_end(r);
    char *log = NULL, none[1];
    size_t log_size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) log_size = (size_t)values[i];
    }
    size_t head = strlen(FAKE_CUBIN);
    if (strncmp(image, FAKE_CUBIN, head) == 0)
        image = (const char *)image + head, fake_state.cubins++;
    else if (memcmp(image, "\177ELF", 4) == 0)
        return fake_end(CUDA_ERROR_NO_BINARY_FOR_GPU);
    const SimProgram *program;
    r = read_ptx(image, log ? log : none, log ? log_size : 1, &program);
    if (r) return fake_end(r);
    Thing *m = fake_make(THING_MODULE);
    m->program = program;
    m->variables = arena_new(fake_state.arena, uint64_t, program->variable_count + 1);
    if (!sim_program_load(program, fake_device()->memory, m->variables))
        return fake_end(CUDA_ERROR_OUT_OF_MEMORY);
    *module = (CUmodule)m;
    return fake_end(CUDA_SUCCESS);
}

CUresult cuModuleUnload(CUmodule module) {
    CUresult r = fake_begin(CUDA_CALL_module_unload, true);
    Thing *m = r ? NULL : fake_check(module, THING_MODULE);
    if (m) m->dead = true;
    return fake_end(r ? r : m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CUresult r = fake_begin(CUDA_CALL_module_function, true);
    Thing *m = r ? NULL : fake_check(module, THING_MODULE);
    if (!m) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    const SimKernel *k = sim_kernel_find(m->program, str(name));
    if (!k) return fake_end(CUDA_ERROR_NOT_FOUND);
    Thing *t = fake_make(THING_FUNCTION);
    t->module = m;
    t->kernel = k;
    t->shared_max = 48 * 1024;
    *function = (CUfunction)t;
    return fake_end(CUDA_SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    CUresult r = fake_begin(CUDA_CALL_function_set, true);
    Thing *t = r ? NULL : fake_check(function, THING_FUNCTION);
    if (!t) return fake_end(r ? r : CUDA_ERROR_INVALID_HANDLE);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > 163 * 1024)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    t->shared_max = (uint32_t)value;
    return fake_end(CUDA_SUCCESS);
}

// ---- Launches ----

// Bytes from the buffer of `extra`; NULL: it is not as it should be.
static uint8_t *take_params(const SimKernel *k, void **extra) {
    const void *buffer = NULL;
    size_t size = 0;
    for (size_t i = 0; extra && (uintptr_t)extra[i] != CU_LAUNCH_PARAM_END_AS_INT; i += 2) {
        if ((uintptr_t)extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT) buffer = extra[i + 1];
        if ((uintptr_t)extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
            size = *(size_t *)extra[i + 1];
    }
    if (!buffer || size < k->param_bytes || size >= k->param_bytes + 16) return NULL;
    uint8_t *copy = arena_alloc(fake_state.arena, size);
    memcpy(copy, buffer, size);
    return copy;
}

static bool block_fits(const SimKernel *k, const Work *w) {
    uint64_t threads = (uint64_t)w->block[0] * w->block[1] * w->block[2];
    for (int i = 0; i < 3; i++)
        if (!w->grid[i] || !w->block[i] || (k->reqntid[i] && k->reqntid[i] != w->block[i]))
            return false;
    return threads <= 1024 && w->grid[0] <= INT32_MAX && w->grid[1] <= 65535 && w->grid[2] <= 65535;
}

// The lock is held.
static CUresult push_launch(const CUlaunchConfig *c, CUfunction function, void **params,
                            void **extra) {
    Thing *t = fake_check(function, THING_FUNCTION);
    Thing *s = t ? fake_check(c->hStream, THING_STREAM) : NULL;
    if (!s || params) return CUDA_ERROR_INVALID_HANDLE;
    if (t->module->dead) fake_problem("a function of a dead module");
    Work w = {.kind = WORK_LAUNCH,
              .function = t,
              .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
              .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
              .shared = c->sharedMemBytes,
              .params = take_params(t->kernel, extra)};
    if (!w.params || !block_fits(t->kernel, &w) || w.shared > t->shared_max) {
        fake_problem("a launch that does not fit its kernel");
        return CUDA_ERROR_INVALID_VALUE;
    }
    fake_push(s, w);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **params, void **extra) {
    CUresult r = fake_begin(CUDA_CALL_launch_kernel, true);
    CUlaunchConfig c = {.gridDimX = grid_x,
                        .gridDimY = grid_y,
                        .gridDimZ = grid_z,
                        .blockDimX = block_x,
                        .blockDimY = block_y,
                        .blockDimZ = block_z,
                        .sharedMemBytes = shared,
                        .hStream = stream};
    return fake_end(r ? r : push_launch(&c, function, params, extra));
}

// Clusters are all that is known of attributes; each is a block of its own here.
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra) {
    CUresult r = fake_begin(CUDA_CALL_launch_kernel_ex, true);
    for (unsigned i = 0; !r && i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        const unsigned *c = a->value.cluster;
        bool fits = a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && c[0] && c[0] <= 8 &&
                    c[1] == 1 && c[2] == 1 && config->gridDimX % c[0] == 0;
        if (!fits || fake_state.arch < 90) {
            fake_problem("attributes that no launch can have");
            r = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return fake_end(r ? r : push_launch(config, function, params, extra));
}
