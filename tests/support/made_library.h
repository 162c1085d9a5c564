// Made library: kernels built by build_library() in this process, as an archive that the runtime
// loads without a linker, or with entries from a shared library of the objects.
//
// A function is "SYMBOL=KERNEL NAME=VALUE … | NAME=VALUE …": alternatives between bars, values
// without blanks; they are to be added in the order of their symbols. Invariants: what does not
// build fails the test, but for made_try. Ownership: made_free; `data` and `linked` are dead then.
//
//     MadeLibrary *m = made_library("lib", "sm_80,x86-64-v3");
//     made_source(m, "examples/softmax.tile");
//     made_function(m, "softmax=softmax W=64 | W=128");
//     made_build(m);
//     tilec_library_load(device, &m->data, 0, &library);
#ifndef TILEC_TESTS_SUPPORT_MADE_LIBRARY_H
#define TILEC_TESTS_SUPPORT_MADE_LIBRARY_H

#include "base/archive_abi.h"
#include "base/os/os_dl.h"
#include "compile/aot/build.h"

typedef struct MadeLibrary {
    Arena *arena;
    CodeServices services;
    BuildPlan plan;
    Built built;
    struct tilec_archive data;           // without entries: for GPUs
    const struct tilec_archive *linked;  // after made_link
    OsLibrary *runtime, *library;
    VEC(const char *) paths;
    VEC(Unit *) units;
    VEC(BuildFunction) functions;
} MadeLibrary;

MadeLibrary *made_library(const char *name, const char *targets);
void made_free(MadeLibrary *m);
void made_source(MadeLibrary *m, const char *path);
void made_function(MadeLibrary *m, const char *text);
void made_cache(MadeLibrary *m, const char *folder);  // none without it
// The table of `tilec tune`; "$" stands for the hash of the first source, as rows name it.
void made_tuned(MadeLibrary *m, const char *text);
void made_build(MadeLibrary *m);
bool made_try(MadeLibrary *m);
Str made_diagnostics(MadeLibrary *m);  // the diagnostics of all sources
// Links a shared library and opens it. Its targets must be this machine's.
void made_link(MadeLibrary *m);
// The hash of a source, as tables of `tilec tune` name it.
Str made_source_hash(const MadeLibrary *m, uint32_t source);

#endif
