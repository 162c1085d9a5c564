// The part of the runner that differs between machines: aarch64.c under qemu, x86_64.c on Bochs.
//
// Invariants: none of it needs a C library, so that clang alone builds it. A runner ends when the
// tests do.
//
//     runner_serve();   // after FOREIGN_READY
#ifndef TILEC_TESTS_FOREIGN_RUNNER_H
#define TILEC_TESTS_FOREIGN_RUNNER_H

#include "tests/foreign/call.h"

// Runs what the tests send, for ever.
_Noreturn void runner_serve(void);

void runner_send(const ForeignMessage *m);
void runner_receive(ForeignMessage *m);
// Another process has written these many bytes of code: forgets what was there.
void runner_forget_code(uint64_t size);

#endif
