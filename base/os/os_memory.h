// Files without a place on disk, for libraries that want paths.
//
// Invariants: a path here names the file within this process only, while it is open; nothing is
// left behind, whatever happens. A collector takes any number of bytes, from one writer that opens
// its path, writes and closes. Ownership: whoever opens closes; contents collected are in the arena
// given.
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
OsCollector *os_collector_open(OsError *error);  // NULL: see the error
const char *os_collector_path(const OsCollector *collector);
// All that was written; false when it could not be read.
bool os_collector_close(OsCollector *collector, Arena *arena, Str *contents);

#endif
