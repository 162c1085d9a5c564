// Finds host memory that is freed, changed or read while an asynchronous copy still needs it.
//
// The memory is read when the copy is asked for, and again when the copy is made. The source of a
// copy must be the same both times. A target gets HOST_WATCH_MARK first: a program that reads it
// too early sees the mark, and a program that changes the mark uses memory that belongs to the
// copy. Only some bytes of large memory are checked, so that the call stays short. The first and
// the last ones are among them, because a heap changes the first bytes of freed memory. Ownership:
// a plain struct.
//
//     HostWatch w = host_watch_source(from, size);
//     …
//     if (host_watch_state(&w) == HOST_CHANGED) …
#ifndef TILEC_COMPILE_DEVICE_HOST_WATCH_H
#define TILEC_COMPILE_DEVICE_HOST_WATCH_H

#include <stddef.h>
#include <stdint.h>

enum { HOST_WATCH_MARK = 0xa5 };

typedef enum HostState { HOST_OK, HOST_CHANGED, HOST_FREED } HostState;

typedef struct HostWatch {
    const unsigned char *at;  // NULL: nothing is watched
    size_t size;
    uint64_t sum;  // of the checked bytes
} HostWatch;

HostWatch host_watch_source(const void *memory, size_t size);
HostWatch host_watch_target(void *memory, size_t size);
HostState host_watch_state(const HostWatch *watch);

#endif
