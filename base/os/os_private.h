// Shared by the files os_*.c only: descriptors and threads that do not disturb the program that we
// are a part of.
//
// Invariants: a descriptor from here has a higher number than the standard streams, also in a
// process that was started without them (a daemon), and is closed on exec. With the number of a
// standard stream it would be replaced in a child, and prints would write to it. Failures leave
// errno.
// Ownership: the caller's.
//
//     int ends[2];
//     if (!os_pipe(ends)) return os_error_number(error, errno);
#ifndef TILEC_BASE_OS_OS_PRIVATE_H
#define TILEC_BASE_OS_OS_PRIVATE_H

#include <stdbool.h>

// Moves a descriptor above the standard streams; a negative one stays as it is.
int os_above_streams(int fd);
bool os_pipe(int ends[2]);
// A file in memory. The name is for people, and is cut to the system's limit.
int os_memory_descriptor(const char *name);

// Between begin and end, new threads block all signals but those that their own instructions raise,
// since they inherit the mask of the thread that makes them. Begin and end on the same thread;
// errno is kept.
typedef struct OsQuiet {
    _Alignas(8) unsigned char mask[128];  // of the signals that were blocked before
} OsQuiet;
void os_quiet_begin(OsQuiet *quiet);
void os_quiet_end(const OsQuiet *quiet);

// For the child of a fork: frees the mutexes that other threads held (base/os/os_mutex.h).
void os_mutexes_after_fork(void);

#endif
