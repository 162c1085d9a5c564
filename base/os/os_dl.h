// Shared libraries: opened from a file or from bytes in memory, and their symbols.
//
// Invariants: libraries are opened with all symbols bound at once and none shown to others. What is
// opened must be a whole, trusted file: the system's loader checks little (os_library_check does
// that for files of ours). Ownership: os_library_close unloads what was opened; its symbols are
// dead then.
//
//     OsLibrary *l = os_library_open("libk.so", &e);
//     void *entry = l ? os_library_symbol(l, "k") : NULL;   // NULL: there is none
#ifndef TILEC_BASE_OS_OS_DL_H
#define TILEC_BASE_OS_OS_DL_H

#include <stdbool.h>

#include "base/os/os.h"

typedef struct OsLibrary OsLibrary;
// Is this a whole shared library for this machine? Its headers, segments and tables lie within it.
bool os_library_check(Str bytes, OsError *error);
OsLibrary *os_library_open(const char *path, OsError *error);
// Memory runs out here, where that can be told, if there is no room for the file beside so many
// bytes: constructors of a library of C++ end the process when theirs is refused.
void os_library_require(const char *path, size_t heap);
// As a file without a name; `name` is what debuggers and profilers show.
OsLibrary *os_library_open_bytes(const char *name, Str bytes, OsError *error);
void *os_library_symbol(const OsLibrary *library, const char *name);
void os_library_close(OsLibrary *library);
// Frees the handle only: what it opened stays until the process ends.
void os_library_keep(OsLibrary *library);

#endif
