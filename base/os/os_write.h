// Writing that cannot end the process. When a file grows past the limit on file sizes, or a pipe
// has no reader, the system sends a signal that ends the program; here it is an error like any
// other.
//
// Invariants: the program's handlers and the signals of its other threads are not touched; a signal
// that was pending before stays pending. Begin and end on the same thread. For os_*.c.
//
//     OsWriting w;
//     os_writing_begin(&w);   fflush(file);   os_writing_end(&w);   // errno is that of the flush
#ifndef TILEC_BASE_OS_OS_WRITE_H
#define TILEC_BASE_OS_OS_WRITE_H

#include "base/os/os.h"

typedef struct OsWriting {
    _Alignas(8) unsigned char mask[128];  // of the signals that were blocked before
    bool pending[2];
} OsWriting;

void os_writing_begin(OsWriting *writing);
void os_writing_end(OsWriting *writing);

// Writes all bytes; false: see `error`.
bool os_write_all(int fd, Str bytes, OsError *error);
// Like os_error_number, but names the limit if a file grew too large.
bool os_error_written(OsError *error, int number);

#endif
