// Runs code of another processor for the tests: see call.h.
#include "tests/foreign/runner.h"

#include "base/cpu_abi.h"

static uint64_t ask(const CpuServices *services, ForeignMessage *m) {
    runner_send(m);
    runner_receive(m);
    *(int32_t *)services->user = (int32_t)m->a[1];
    return m->a[0];
}

// ---- services -----------------------------------------------------------------------------------

static void on_assert(const CpuServices *services, int64_t program, int64_t lane, uint32_t site) {
    ForeignMessage m;
    m.word = FOREIGN_ASSERT;
    m.a[0] = (uint64_t)program, m.a[1] = (uint64_t)lane, m.a[2] = site;
    ask(services, &m);
}

enum { PRINTED_MAX = 64 };

// The list is on this stack, which the tests do not see. Only they know how long it is; the stack
// has room for PRINTED_MAX words in any case.
static const void *volatile *const printed =
    (const void *volatile *)(FOREIGN_BASE + FOREIGN_SIZE - 8 * PRINTED_MAX);

static void on_print(const CpuServices *services, int64_t program, uint32_t site,
                     const void *const *values) {
    ForeignMessage m;
    for (int i = 0; i < PRINTED_MAX; i++) printed[i] = values[i];
    m.word = FOREIGN_PRINT;
    m.a[0] = (uint64_t)program, m.a[1] = site, m.a[2] = (uint64_t)printed;
    ask(services, &m);
}

static const CpuServices *services_now;

static double on_fmod(double a, double b) {
    union {
        double value;
        uint64_t bits;
    } x = {a}, y = {b}, r;
    ForeignMessage m;
    m.word = FOREIGN_FMOD;
    m.a[0] = x.bits, m.a[1] = y.bits;
    r.bits = ask(services_now, &m);
    return r.value;
}

static float on_fmodf(float a, float b) {
    union {
        float value;
        uint32_t bits;
    } x = {a}, y = {b}, r;
    ForeignMessage m;
    m.word = FOREIGN_FMODF;
    m.a[0] = x.bits, m.a[1] = y.bits;
    r.bits = (uint32_t)ask(services_now, &m);
    return r.value;
}

// ---- runs ---------------------------------------------------------------------------------------

static void run(ForeignMessage *m) {
    int32_t cancel = 0;
    CpuServices services;
    runner_forget_code(m->a[8]);
    for (int i = 0; i < 3; i++) services.grid[i] = (int64_t)m->a[5 + i];
    services.assert_failed = on_assert;
    services.print = on_print;
    services.fmod = on_fmod;
    services.fmodf = on_fmodf;
    services.user = &cancel;
    services.cancel = &cancel;
    services_now = &services;
    CpuEntry *entry = (CpuEntry *)m->a[0];
    entry((const void *)m->a[1], (int64_t)m->a[2], (int64_t)m->a[3], (void *)m->a[4], &services);
    m->word = FOREIGN_DONE;
    runner_send(m);
}

_Noreturn void runner_serve(void) {
    volatile uint64_t below[PRINTED_MAX];
    below[0] = 0;
    (void)below[0];
    ForeignMessage m;
    for (;;) {
        runner_receive(&m);
        if (m.word == FOREIGN_RUN) run(&m);
    }
}
