#define _POSIX_C_SOURCE 200809L
#include "base/os/os_interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

_Static_assert(sizeof(sigset_t) <= sizeof((OsInterrupt *)0)->mask, "a set of signals has room");

static sigset_t interrupts(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    return set;
}

static void restore(const OsInterrupt *i) {
    sigset_t before;
    memcpy(&before, i->mask, sizeof before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void os_interrupt_begin(OsInterrupt *i) {
    sigset_t before, set = interrupts();
    *i = (OsInterrupt){.received = false};
    pthread_sigmask(SIG_BLOCK, &set, &before);
    memcpy(i->mask, &before, sizeof before);
}

bool os_interrupt_received(OsInterrupt *i) {
    sigset_t set = interrupts();
    const struct timespec now = {0, 0};
    if (i->received || sigtimedwait(&set, NULL, &now) != SIGINT) return i->received;
    i->received = true;
    restore(i);
    return true;
}

void os_interrupt_end(OsInterrupt *i) {
    if (!os_interrupt_received(i)) restore(i);
}
