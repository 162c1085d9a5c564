// Code of processors that this machine is not: AArch64 under qemu-aarch64, x86-64-v4 on Bochs.
//
// One runner for each (tests/foreign/runner.c) is started at the first use and serves the whole
// test program. The device `cpu` is given foreign_entry, which stands for the code loaded last: it
// hands each piece of a launch over and answers what the code asks for. Arguments are copied into
// memory that both see, and back. Invariants: one kernel at a time, on one thread. Ownership: the
// test program's.
//
//     const char *why = foreign_missing(target);   if (why) print_message("skipped: %s\n", why);
//     if (foreign_load(target, image, entry, &problem) &&
//         foreign_arguments(f, args, 2, moved)) {
//         …launch foreign_entry with a block of `moved`…
//         foreign_results();
//     }
#ifndef TILEC_TESTS_SUPPORT_FOREIGN_H
#define TILEC_TESTS_SUPPORT_FOREIGN_H

#include "base/cpu_abi.h"
#include "ir/interp/interp.h"
#include "target/cpu.h"

// Why code of this target cannot be run here; NULL when this machine or a runner does.
const char *foreign_missing(CpuTarget target);
// Is code of this target run by the runner on this machine?
bool foreign_is(CpuTarget target);
// A shared object; false with what is wrong with it.
bool foreign_load(CpuTarget target, Str image, Str entry, const char **problem);
// The arguments with their memory moved; false when there is no room for some.
bool foreign_arguments(const IrFunc *func, const IrArg *args, uint32_t count, IrArg *moved);
// Places for the argument block and the scratch memory; false when there is no room.
bool foreign_reserve(size_t block, size_t scratch);
// After the run: what the code wrote, where the arguments were.
void foreign_results(void);
extern CpuEntry foreign_entry;
// The reason why a run failed, or NULL: the runner ended, or the code met an exception.
const char *foreign_failure(void);

#endif
