// The fake's state, its handles and what tests do with it.
#include <stdarg.h>
#include <string.h>
#include <threads.h>

#include "tests/fakes/cuda/state.h"

Fake fake_state;
static once_flag once = ONCE_FLAG_INIT;
static mtx_t lock;
static _Thread_local Thing *stack[FAKE_STACK];
static _Thread_local unsigned depth;

static void make_lock(void) { mtx_init(&lock, mtx_plain); }

static void make_ready(void) {
    Fake *f = &fake_state;
    if (f->arena) return;
    f->arena = arena_create();
    f->device_count = 2, f->arch = 80, f->version = 12020, f->ptx = 83;
    f->fail_call = -1;
    f->problems = strbuf(f->arena);
}

void fake_problem(const char *format, ...) {
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&fake_state.problems, format, args);
    va_end(args);
    strbuf_char(&fake_state.problems, '\n');
}

CUresult fake_begin(CudaCall call, bool inside) {
    Fake *f = &fake_state;
    call_once(&once, make_lock);
    mtx_lock(&lock);
    make_ready();
    f->calls[call]++;
    if (f->fail_call == (int)call && f->fail_skip-- == 0) {
        f->fail_call = -1;
        return f->fail_code;
    }
    if (!inside) return CUDA_SUCCESS;
    if (!f->ready) return CUDA_ERROR_NOT_INITIALIZED;
    if (!depth || stack[depth - 1]->dead) {
        fake_problem("%s without a context", cuda_call_symbol(call));
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return fake_device()->broken;
}

CUresult fake_end(CUresult result) {
    mtx_unlock(&lock);
    return result;
}

int fake_current(void) { return stack[depth - 1]->device; }
FakeDevice *fake_device(void) { return &fake_state.devices[fake_current()]; }

Thing *fake_make(ThingKind kind) {
    Thing *t = arena_new(fake_state.arena, Thing, 1);
    t->kind = kind;
    t->device = depth ? fake_current() : 0;
    t->next = fake_state.things;
    fake_state.things = t;
    return t;
}

// NULL is the default stream of the current context.
static Thing *default_stream(void) {
    FakeDevice *d = fake_device();
    if (!d->stream) d->stream = fake_make(THING_STREAM);
    return d->stream;
}

Thing *fake_find(const void *handle, ThingKind kind) {
    if (!handle && kind == THING_STREAM) return default_stream();
    Thing *t = fake_state.things;
    while (t && t != handle) t = t->next;
    return t && t->kind == kind && !t->dead ? t : NULL;
}

Thing *fake_check(const void *handle, ThingKind kind) {
    static const char *const kinds[] = {"context", "stream", "event", "module", "function"};
    if (!handle && kind == THING_STREAM) return default_stream();
    Thing *t = fake_state.things;
    while (t && t != handle) t = t->next;
    if (!t || t->kind != kind)
        fake_problem("no %s", kinds[kind]);
    else if (t->dead)
        fake_problem("a dead %s", kinds[kind]);
    else if (kind != THING_CONTEXT && t->device != fake_current())
        fake_problem("a %s of another device", kinds[kind]);
    else
        return t;
    return NULL;
}

// ---- Contexts ----

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CUresult r = fake_begin(CUDA_CALL_primary_retain, false);
    if (!r && !fake_state.ready) r = CUDA_ERROR_NOT_INITIALIZED;
    if (!r && (device < 0 || device >= fake_state.device_count)) r = CUDA_ERROR_INVALID_DEVICE;
    if (r) return fake_end(r);
    FakeDevice *d = &fake_state.devices[device];
    if (!d->retained++) {
        d->context = fake_make(THING_CONTEXT);
        d->context->device = device;
        if (!d->memory) d->memory = sim_memory_create(true);
    }
    *context = (CUcontext)d->context;
    return fake_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult r = fake_begin(CUDA_CALL_primary_release, false);
    if (r) return fake_end(r);
    FakeDevice *d = &fake_state.devices[device];
    if (!d->retained) fake_problem("a context released too often");
    if (d->retained && !--d->retained) d->context->dead = true;
    return fake_end(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    CUresult r = fake_begin(CUDA_CALL_push_current, false);
    if (r) return fake_end(r);
    Thing *t = fake_check(context, THING_CONTEXT);
    if (!t || depth == FAKE_STACK) return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    stack[depth++] = t;
    return fake_end(CUDA_SUCCESS);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    CUresult r = fake_begin(CUDA_CALL_pop_current, false);
    if (!depth) return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    *context = (CUcontext)stack[--depth];
    return fake_end(r);
}

// ---- What tests do ----

static void reset(void) {
    Fake *f = &fake_state;
    if (f->arena) arena_destroy(f->arena);
    for (int i = 0; i < FAKE_DEVICES; i++)
        if (f->devices[i].memory) sim_memory_destroy(f->devices[i].memory);
    memset(f, 0, sizeof *f);
    depth = 0;
    make_ready();
}

static void configure(int devices, int arch, int version, unsigned ptx) {
    Fake *f = &fake_state;
    make_ready();
    f->device_count = devices, f->arch = arch, f->version = version, f->ptx = ptx;
}

static int call_of(const char *symbol) {
    for (int i = 0; symbol && i < CUDA_CALLS; i++)
        if (strcmp(cuda_call_symbol((CudaCall)i), symbol) == 0) return i;
    return -1;
}

static void fail(const char *symbol, CUresult code, unsigned skip) {
    make_ready();
    fake_state.fail_call = call_of(symbol);
    fake_state.fail_code = code;
    fake_state.fail_skip = skip;
}

static unsigned calls(const char *symbol) {
    unsigned sum = 0;
    for (int i = 0; i < CUDA_CALLS; i++)
        if (!symbol || i == call_of(symbol)) sum += fake_state.calls[i];
    return sum;
}

static unsigned cubins(void) { return fake_state.cubins; }

static unsigned live(void) {
    unsigned count = 0;
    for (const Thing *t = fake_state.things; t; t = t->next)
        count += !t->dead && t->kind != THING_FUNCTION;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        const FakeDevice *d = &fake_state.devices[i];
        count += d->allocations - (d->stream != NULL);
        for (size_t j = 0; j < d->host.count; j++) count += !d->host.data[j].dead;
    }
    return count;
}

static const char *problems(void) {
    make_ready();
    return fake_state.problems.text ? fake_state.problems.text : "";
}

static unsigned current_depth(void) { return depth; }

FAKE_EXPORT const FakeCuda *fake_cuda(void);
const FakeCuda *fake_cuda(void) {
    static const FakeCuda table = {reset,  configure, fail,     calls,
                                   cubins, live,      problems, current_depth};
    return &table;
}
