// POSIX and the system's loader: finds the file that holds this code.
#define _GNU_SOURCE  // dladdr
#include "base/os/os_self.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

Str os_self_program(Arena *arena) {
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    if (size <= 0 || (size_t)size >= sizeof path) return STR("");
    return (Str){arena_text(arena, path, (size_t)size), (size_t)size};
}

Str os_self_library(Arena *arena) {
    Dl_info info;
    // An object of this file, since in C a function's address is not an object pointer.
    static const char here = 0;
    if (!dladdr(&here, &info) || !info.dli_fname || !strchr(info.dli_fname, '/')) return STR("");
    return os_path_real(arena, str(info.dli_fname));
}
