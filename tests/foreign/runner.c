// Runs code of AArch64 for the tests, under qemu-aarch64: see call.h. Needs no C library, so that
// clang alone builds it.
#include "base/cpu_abi.h"
#include "tests/foreign/call.h"

#if defined(__aarch64__)

enum { SYS_READ = 63, SYS_WRITE = 64, SYS_EXIT = 93, SYS_MMAP = 222 };
enum { PROT_ALL = 7, MAP_SHARED_FIXED = 0x11, PRINTED_MAX = 64 };

static int64_t call_system(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                           uint64_t e, uint64_t f) {
    register int64_t x8 __asm__("x8") = number;
    register uint64_t x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register uint64_t x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return (int64_t)x0;
}

static void leave(int status) {
    for (;;) call_system(SYS_EXIT, (uint64_t)status, 0, 0, 0, 0, 0);
}

// ---- messages -----------------------------------------------------------------------------------

static void transfer(int64_t number, ForeignMessage *m) {
    uint64_t at = 0;
    while (at < sizeof *m) {
        int64_t n = call_system(number, 0, (uint64_t)m + at, sizeof *m - at, 0, 0, 0);
        if (n <= 0) leave(0);
        at += (uint64_t)n;
    }
}

static uint64_t ask(const CpuServices *services, ForeignMessage *m) {
    transfer(SYS_WRITE, m);
    transfer(SYS_READ, m);
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

// The list is on this stack, which the tests do not see. Only they know how long it is; the stack
// has room for PRINTED_MAX words in any case.
static const void **printed = (const void **)(FOREIGN_BASE + FOREIGN_SIZE - 8 * PRINTED_MAX);

static void on_print(const CpuServices *services, int64_t program, uint32_t site,
                     const void *const *values) {
    ForeignMessage m;
    for (int i = 0; i < PRINTED_MAX; i++) ((const void *volatile *)printed)[i] = values[i];
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

static void map(uint64_t size) {
    int64_t at =
        call_system(SYS_MMAP, FOREIGN_BASE, size, PROT_ALL, MAP_SHARED_FIXED, FOREIGN_FILE, 0);
    if (at != (int64_t)FOREIGN_BASE) leave(3);
}

// A translator of this process's code does not see that another process wrote it. A new mapping
// makes it translate the code again.
static void run(ForeignMessage *m) {
    int32_t cancel = 0;
    CpuServices services;
    map(FOREIGN_CODE);
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
    transfer(SYS_WRITE, m);
}

void _start(void);
void _start(void) {
    volatile uint64_t below[PRINTED_MAX];
    below[0] = 0;
    ForeignMessage m;
    map(FOREIGN_SIZE);
    m.word = FOREIGN_READY;
    transfer(SYS_WRITE, &m);
    for (;;) {
        transfer(SYS_READ, &m);
        if (m.word != FOREIGN_RUN) leave(2);
        run(&m);
    }
}

#endif
