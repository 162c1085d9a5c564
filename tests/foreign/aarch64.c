// The runner on AArch64, under qemu-aarch64.
#include "tests/foreign/runner.h"

#if defined(__aarch64__)

enum { SYS_READ = 63, SYS_WRITE = 64, SYS_EXIT = 93, SYS_MMAP = 222 };
enum { PROT_ALL = 7, MAP_SHARED_FIXED = 0x11 };

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

static void transfer(int64_t number, uint64_t m) {
    uint64_t at = 0;
    while (at < sizeof(ForeignMessage)) {
        int64_t n = call_system(number, 0, m + at, sizeof(ForeignMessage) - at, 0, 0, 0);
        if (n <= 0) leave(0);
        at += (uint64_t)n;
    }
}

void runner_send(const ForeignMessage *m) { transfer(SYS_WRITE, (uint64_t)m); }
void runner_receive(ForeignMessage *m) { transfer(SYS_READ, (uint64_t)m); }

static void map(uint64_t size) {
    int64_t at =
        call_system(SYS_MMAP, FOREIGN_BASE, size, PROT_ALL, MAP_SHARED_FIXED, FOREIGN_FILE, 0);
    if (at != (int64_t)FOREIGN_BASE) leave(3);
}

// A translator of this process's code does not see that another process wrote it. A new mapping
// makes it translate the code again.
void runner_forget_code(uint64_t size) {
    (void)size;
    map(FOREIGN_CODE);
}

void _start(void);
void _start(void) {
    ForeignMessage m;
    map(FOREIGN_SIZE);
    m.word = FOREIGN_READY;
    runner_send(&m);
    runner_serve();
}

#endif
