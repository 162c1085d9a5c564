// Writing that ends no process: past a limit on the size of files, or into a pipe that nobody
// reads, the system sends a signal that ends the program; here it is an error like any other.
//
// Invariants: the handlers of the program and the signals of its other threads are left alone; a
// signal that was pending before stays so. Begin and end on the same thread. For os_*.c.
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

// All bytes; false: see the error.
bool os_write_all(int fd, Str bytes, OsError *error);
// As os_error_number; of a file that grew too large it names the limit.
bool os_error_written(OsError *error, int number);

#endif
