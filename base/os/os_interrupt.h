// Ctrl-C, for work whose results are worth keeping.
//
// Invariants: between begin and end, on the same thread, the first Ctrl-C is noted instead of
// ending the process; a second one ends it. All other threads must be os_thread's, which take no
// signals. Ownership: the caller's, a plain struct.
//
//     OsInterrupt i;
//     os_interrupt_begin(&i);
//     while (more && !os_interrupt_received(&i)) …
//     os_interrupt_end(&i);
#ifndef TILEC_BASE_OS_OS_INTERRUPT_H
#define TILEC_BASE_OS_OS_INTERRUPT_H

#include <stdbool.h>

typedef struct OsInterrupt {
    _Alignas(8) unsigned char mask[128];  // of the signals that were blocked before
    bool received;
} OsInterrupt;
void os_interrupt_begin(OsInterrupt *interrupt);
bool os_interrupt_received(OsInterrupt *interrupt);
void os_interrupt_end(OsInterrupt *interrupt);

#endif
