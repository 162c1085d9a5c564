// NVIDIA's library that makes machine code of PTX within the process, opened when it is there.
//
// Invariants: a library that lacks one of the functions is not opened. It is of NVIDIA's toolkit
// from 12.0 on. Ownership: nvjitlink_close; results are in the arena given. Any thread.
//
//     OsError e;
//     NvJitLink *l = nvjitlink_open("libnvJitLink.so.13", &e);
//     if (l && nvjitlink_run(l, arena, "-arch=sm_80", ptx, &cubin, &log)) …
#ifndef TILEC_COMPILE_DEVICE_NVJITLINK_H
#define TILEC_COMPILE_DEVICE_NVJITLINK_H

#include "base/os/os.h"

typedef struct NvJitLink NvJitLink;
// NULL: see the error.
NvJitLink *nvjitlink_open(const char *path, OsError *error);
void nvjitlink_close(const NvJitLink *library);  // takes NULL
void nvjitlink_version(const NvJitLink *library, uint32_t *major, uint32_t *minor);
// False: the log says why.
bool nvjitlink_run(const NvJitLink *library, Arena *arena, const char *arch, Str ptx, Str *cubin,
                   Str *log);

#endif
