// Shared libraries: opened from a file or from bytes in memory, and their symbols.
//
// Invariants: libraries are opened with all symbols bound at once and none visible to other
// libraries. The file must be whole and trusted: the system's loader checks little
// (os_library_check does that for files of ours).
// Ownership: os_library_close unloads the library; its symbols are invalid then.
//
//     OsLibrary *l = os_library_open("libk.so", &e);
//     void *entry = l ? os_library_symbol(l, "k") : NULL;   // NULL: there is none
#ifndef TILEC_BASE_OS_OS_DL_H
#define TILEC_BASE_OS_OS_DL_H

#include <stdbool.h>

#include "base/os/os.h"

typedef struct OsLibrary OsLibrary;
// Is this a whole shared library for this machine? Checks that its headers, segments and tables are
// within the bytes.
bool os_library_check(Str bytes, OsError *error);
OsLibrary *os_library_open(const char *path, OsError *error);
// Reports out of memory here, where it can be handled, if the file and `heap` more bytes do not fit
// into memory. Without it, C++ constructors in the library would end the process when their
// allocation fails.
void os_library_require(const char *path, size_t heap);
// Opens it as a file without a name in the file system; debuggers and profilers show `name`.
OsLibrary *os_library_open_bytes(const char *name, Str bytes, OsError *error);
void *os_library_symbol(const OsLibrary *library, const char *name);
void os_library_close(OsLibrary *library);
// Frees the handle only: the library stays loaded until the process ends.
void os_library_keep(OsLibrary *library);

#endif
