// Files that are not on disk, for libraries that take paths.
//
// Invariants: a path here names the file only within this process and only while it is open; no
// file is left over, whatever happens. A collector takes any number of bytes from one writer that
// opens its path, writes and closes.
// Ownership: the caller that opens also closes; collected contents are in the arena given.
//
//     OsMemoryFile in;
//     if (!os_memory_file_open(object, &in, &e)) …   use(in.path);   os_memory_file_close(&in);
#ifndef TILEC_BASE_OS_OS_MEMORY_H
#define TILEC_BASE_OS_OS_MEMORY_H

#include "base/os/os.h"

typedef struct OsMemoryFile {
    OwnedFile file;
    char path[40];
} OsMemoryFile;
bool os_memory_file_open(Str contents, OsMemoryFile *file, OsError *error);
void os_memory_file_close(OsMemoryFile *file);

typedef struct OsCollector OsCollector;
OsCollector *os_collector_open(OsError *error);  // NULL: see `error`
const char *os_collector_path(const OsCollector *collector);
// Returns all that was written; false when it could not be read.
bool os_collector_close(OsCollector *collector, Arena *arena, Str *contents);

#endif
