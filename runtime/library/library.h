// Built libraries on devices: an archive, its functions as kernels, and their code, loaded on
// demand.
//
// A function is a tilec_kernel whose alternatives (sets of consts) come from the archive's group
// for the target that fits the device best. A launch takes the alternative that the table of `tilec
// tune` gives for these extents, else the first one that the arguments fit.
// Invariants: a library stays in its device's list until the device is closed (calls search the
// list without a lock). An unloaded library has no data and may be reused for the same or another
// archive. Functions are made once, under the library's mutex.
// Ownership: the device owns the libraries; each library owns its functions and everything they
// loaded.
//
//     const tilec_library *l = library_find(stream->device, &kernels_archive);
#ifndef TILEC_RUNTIME_LIBRARY_LIBRARY_H
#define TILEC_RUNTIME_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include <tilec/library.h>

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "runtime/archive.h"
#include "runtime/kernel.h"
#include "runtime/tune.h"

typedef struct LibraryAlternative {
    RtLoaded loaded;
    RtModuleSlot *modules;
    const ArchiveCode *codes;
} LibraryAlternative;

typedef struct LibraryFunction {
    tilec_kernel kernel;  // first member: a kernel of a library can be cast to this
    tilec_library *library;
    Arena *arena;      // for all data of the function
    Arena *scratch;    // for one choice among alternatives
    uint32_t target;   // target's number in the archive
    TuneRow tune_key;  // a key without a shape
    uint32_t count;
    LibraryAlternative *alternatives;
} LibraryFunction;

typedef _Atomic(LibraryFunction *) LibrarySlot;

struct tilec_library {
    struct tilec_library *next;
    tilec_device *device;
    _Atomic(const struct tilec_archive *) data;  // NULL: unloaded
    OsMutex *lock;
    bool making;  // the holder of the lock changes more than scratch memory
    uint32_t users;
    // The rest belongs to one archive.
    Archive archive;
    Arena *arena;  // for the names below, slots and targets
    const char *name;
    ArchiveTarget *targets;
    ArchivePlace place;
    LibrarySlot *functions;
    Arena *tune_arena;  // for the table given by the host; NULL: the archive's table is used
    const TuneTable *tuned;
};

// A program may contain a copy of a shared library's struct, so the archive's bytes identify it.
static inline bool library_has(const tilec_library *l, const struct tilec_archive *data) {
    const struct tilec_archive *own = atomic_load_explicit(&l->data, memory_order_acquire);
    return own == data || (own && data && data->bytes && own->bytes == data->bytes);
}

// NULL: it is not loaded there.
static inline tilec_library *library_find(tilec_device *device, const struct tilec_archive *data) {
    tilec_library *l = atomic_load_explicit(&device->libraries, memory_order_acquire);
    while (l && !library_has(l, data)) l = l->next;
    return l;
}

// Takes the library's mutex, to choose an alternative (which changes scratch memory only) or to
// make something. Refused in the child of a fork that interrupted another thread's making.
tilec_status library_lock(tilec_library *library, bool making);

// Closes all libraries of a device, when the device closes.
void library_close_all(tilec_device *device);

// The function with that number; it is made if it does not exist yet.
tilec_status library_function(tilec_library *library, uint32_t number, LibraryFunction **function);
// The rest of making it, in a region of recovery: the group for the device, its alternatives.
tilec_status library_function_make(tilec_library *library, uint32_t number,
                                   LibraryFunction **function);
void library_function_destroy(LibraryFunction *function);
// False when it is unloaded or is being unloaded.
bool library_is_loaded(const tilec_library *library);

tilec_status library_unreadable(tilec_context *context, const char *wrong);
// Reads the archive's header. The error for NULL or damaged data is reported.
tilec_status library_open_archive(tilec_context *context, const struct tilec_archive *data,
                                  Archive *archive);
// Adds "add, matmul_f16"; shortened if the library has very many functions.
void library_add_functions(const Archive *archive, StrBuf *out);

// Adds the command that builds it: "tilec build … --target sm_80".
void library_add_command(const Archive *archive, StrBuf *out);
// Adds the targets that a library has code for, and how to build it for more: "; it has code for
// sm_80; …".
void library_add_targets(const Archive *archive, const char *missing, StrBuf *out);
// The result of archive_fit, if this machine runs the code.
uint32_t library_fit(const ArchiveTarget *target, const ArchivePlace *place);
// The target to build for this place: "sm_90".
const char *library_place_target(const ArchivePlace *place, char *buffer);

#endif
