// What the files os_*.c share and nobody else sees: descriptors and threads that keep out of the
// way of the program that we are part of.
//
// Invariants: a descriptor from here is above those of the standard streams, in a process that
// began without them, too (a daemon), and closed on exec; else what has its number would be
// replaced in a child, and written to by whoever prints. Failures leave errno. Ownership: the
// caller's.
//
//     int ends[2];
//     if (!os_pipe(ends)) return os_error_number(error, errno);
#ifndef TILEC_BASE_OS_OS_PRIVATE_H
#define TILEC_BASE_OS_OS_PRIVATE_H

#include <stdbool.h>

// Takes any descriptor; negative stays so.
int os_above_streams(int fd);
bool os_pipe(int ends[2]);
// A file in memory; the name is for people, and cut to what the system takes.
int os_memory_descriptor(const char *name);

// Threads that are made between the two block all signals but those that their own instructions
// raise; they inherit the mask of their maker. On one thread; errno stays.
typedef struct OsQuiet {
    _Alignas(8) unsigned char mask[128];  // of the signals that were blocked before
} OsQuiet;
void os_quiet_begin(OsQuiet *quiet);
void os_quiet_end(const OsQuiet *quiet);

// In the child of a fork: mutexes that other threads held are free there (base/os/os_mutex.h).
void os_mutexes_after_fork(void);

#endif
