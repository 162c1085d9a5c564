// The fakes' state, handles and what tests do with them.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "tests/fakes/gpu/state.h"

Fake fake_state;
static once_flag once = ONCE_FLAG_INIT;
static mtx_t lock;

static void make_lock(void) { mtx_init(&lock, mtx_plain); }

static int number_in(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text ? (int)strtol(text, NULL, 0) : otherwise;
}

static void make_ready(void) {
    Fake *f = &fake_state;
    if (f->arena) return;
    f->arena = arena_create();
    f->device_count = 2;
    // As cuda or hip number it (90, 0x942); the driver's version; the newest PTX or code object.
    int arch = number_in("FAKE_GPU_ARCH", fake_facts.arch);
    for (int i = 0; i < FAKE_DEVICES; i++) f->archs[i] = arch;
    f->version = number_in("FAKE_GPU_VERSION", fake_facts.version);
    f->newest = (unsigned)number_in("FAKE_GPU_NEWEST", (int)fake_facts.newest);
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

GpuResult fake_begin(GpuCall call, bool inside) {
    Fake *f = &fake_state;
    call_once(&once, make_lock);
    mtx_lock(&lock);
    make_ready();
    f->calls[call]++;
    if (f->fail_call == (int)call && f->fail_skip-- == 0) {
        f->fail_call = -1;
        return f->fail_code;
    }
    if (!inside) return 0;
    if (!f->ready) return FAKE_NOT_INITIALIZED;
    GpuResult r = fake_inside(call);
    return r ? r : fake_device()->broken;
}

GpuResult fake_end(GpuResult result) {
    if (result) fake_note_failure(result);
    mtx_unlock(&lock);
    return result;
}

const char *fake_symbol(GpuCall call) { return gpu_call_symbol(fake_facts.vendor, call); }

FakeDevice *fake_device(void) { return &fake_state.devices[fake_current()]; }

SimMemory *fake_memory(FakeDevice *d) {
    if (!d->memory)
        d->memory = sim_memory_create_at(
            true, fake_facts.vendor == GPU_AMD ? SIM_AMD_BASE : SIM_GLOBAL_BASE);
    return d->memory;
}

Thing *fake_make(ThingKind kind) {
    Thing *t = arena_new(fake_state.arena, Thing, 1);
    t->kind = kind;
    t->device = fake_current();
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

// ---- What tests do ----

static void reset(void) {
    Fake *f = &fake_state;
    if (f->arena) arena_destroy(f->arena);
    for (int i = 0; i < FAKE_DEVICES; i++)
        if (f->devices[i].memory) sim_memory_destroy(f->devices[i].memory);
    memset(f, 0, sizeof *f);
    fake_forget_place();
    make_ready();
}

static void configure(int devices, int arch, int version, unsigned newest) {
    Fake *f = &fake_state;
    make_ready();
    for (int i = 0; i < FAKE_DEVICES; i++) f->archs[i] = arch;
    f->device_count = devices, f->version = version, f->newest = newest;
}

static int call_of(const char *symbol) {
    for (int i = 0; symbol && i < GPU_CALLS; i++)
        if (fake_symbol((GpuCall)i) && strcmp(fake_symbol((GpuCall)i), symbol) == 0) return i;
    return -1;
}

static void fail(const char *symbol, GpuResult code, unsigned skip) {
    make_ready();
    fake_state.fail_call = call_of(symbol);
    fake_state.fail_code = code;
    fake_state.fail_skip = skip;
}

static unsigned calls(const char *symbol) {
    unsigned sum = 0;
    for (int i = 0; i < GPU_CALLS; i++)
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

static void configure_one(int device, int arch) { fake_state.archs[device] = arch; }

static void capture(bool on) {
    make_ready();
    fake_state.captured = on;
}

static void disassemble(GpuDisassemble *function) {
    make_ready();
    fake_state.disassemble = function;
}

FAKE_EXPORT const FakeGpu *fake_gpu(void);
const FakeGpu *fake_gpu(void) {
    static const FakeGpu table = {reset,  configure, configure_one, fail,       capture,    calls,
                                  cubins, live,      problems,      fake_place, disassemble};
    return &table;
}
