// NVIDIA's library that makes machine code from PTX within the process. It is opened if it is
// installed.
//
// Invariants: a library that lacks one of the functions is not opened. It must be from NVIDIA's
// toolkit 12.0 or later. Ownership: nvjitlink_close; results are in the arena given. Any thread.
//
//     OsError e;
//     NvJitLink *l = nvjitlink_open("libnvJitLink.so.13", &e);
//     if (l && nvjitlink_run(l, arena, "-arch=sm_80", ptx, &cubin, &log)) …
#ifndef TILEC_COMPILE_DEVICE_NVJITLINK_H
#define TILEC_COMPILE_DEVICE_NVJITLINK_H

#include "base/os/os.h"

typedef struct NvJitLink NvJitLink;
// NULL after writing `error`.
NvJitLink *nvjitlink_open(const char *path, OsError *error);
void nvjitlink_close(const NvJitLink *library);  // accepts NULL
void nvjitlink_version(const NvJitLink *library, uint32_t *major, uint32_t *minor);
// False: the reason is in the log.
bool nvjitlink_run(const NvJitLink *library, Arena *arena, const char *arch, Str ptx, Str *cubin,
                   Str *log);

#endif
