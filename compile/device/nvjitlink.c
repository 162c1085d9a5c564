#include "compile/device/nvjitlink.h"

#include "compile/device/cubin.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os_dl.h"
#include "base/recover.h"

// The library's own interface: its enumerations are int in the ABI.
typedef void *Handle;
enum { INPUT_PTX = 2 };
#define FUNCTIONS(F)                                                                      \
    F(version, "nvJitLinkVersion", (unsigned *major, unsigned *minor))                    \
    F(create, "nvJitLinkCreate", (Handle * handle, uint32_t count, const char **options)) \
    F(destroy, "nvJitLinkDestroy", (Handle * handle))                                     \
    F(add_data, "nvJitLinkAddData",                                                       \
      (Handle handle, int type, const void *data, size_t size, const char *name))         \
    F(complete, "nvJitLinkComplete", (Handle handle))                                     \
    F(cubin_size, "nvJitLinkGetLinkedCubinSize", (Handle handle, size_t * size))          \
    F(cubin, "nvJitLinkGetLinkedCubin", (Handle handle, void *cubin))                     \
    F(error_size, "nvJitLinkGetErrorLogSize", (Handle handle, size_t * size))             \
    F(error_log, "nvJitLinkGetErrorLog", (Handle handle, char *log))                      \
    F(info_size, "nvJitLinkGetInfoLogSize", (Handle handle, size_t * size))               \
    F(info_log, "nvJitLinkGetInfoLog", (Handle handle, char *log))

struct NvJitLink {
    OsLibrary *library;
#define MEMBER(name, symbol, params) int(*name) params;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

// A library exports the name itself, or the name with a version: __nvJitLinkCreate_12_0 (the first
// minor version, which later ones keep).
static bool find(const OsLibrary *library, const char *symbol, void *function) {
    static const int majors[] = {13, 12};
    char versioned[64];
    void *found = os_library_symbol(library, symbol);
    for (size_t i = 0; !found && i < sizeof majors / sizeof *majors; i++) {
        snprintf(versioned, sizeof versioned, "__%s_%d_0", symbol, majors[i]);
        found = os_library_symbol(library, versioned);
    }
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

NvJitLink *nvjitlink_open(const char *path, OsError *error) {
    NvJitLink *l = recover_new(sizeof *l);
    recover_keep_block(l);
    l->library = os_library_open(path, error);
    if (!l->library) {
        recover_free(l);
        return NULL;
    }
#define FIND(name, symbol, params)                                                  \
    if (!find(l->library, symbol, &l->name)) {                                      \
        snprintf(error->text, sizeof error->text, "it has no function %s", symbol); \
        nvjitlink_close(l);                                                         \
        return NULL;                                                                \
    }
    FUNCTIONS(FIND)
#undef FIND
    return l;
}

void nvjitlink_close(const NvJitLink *library) {
    if (!library) return;
    os_library_keep(library->library);  // it frees some of its memory only when the process ends
    void *all;
    memcpy(&all, &library, sizeof all);
    recover_free(all);
}

void nvjitlink_version(const NvJitLink *library, uint32_t *major, uint32_t *minor) {
    unsigned found[2] = {0};
    library->version(&found[0], &found[1]);
    *major = found[0];
    *minor = found[1];
}

// The size includes a zero at the end.
static Str read_text(Arena *arena, Handle handle, int (*size_of)(Handle, size_t *),
                     int (*read)(Handle, char *)) {
    size_t size = 0;
    if (size_of(handle, &size) || size < 2) return STR("");
    char *text = arena_alloc(arena, size);
    if (read(handle, text)) return STR("");
    text[size - 1] = 0;
    return str(text);
}

static bool read_cubin(const NvJitLink *l, Arena *arena, Handle handle, Str *cubin) {
    size_t size = 0;
    if (l->cubin_size(handle, &size) || !size) return false;
    char *bytes = arena_alloc(arena, size);
    if (l->cubin(handle, bytes)) return false;
    *cubin = (Str){bytes, size};
    return true;
}

bool nvjitlink_run(const NvJitLink *library, Arena *arena, const char *arch, Str ptx, Str *cubin,
                   Str *log) {
    const char *options[] = {arch, "-verbose", "-lineinfo"};
    Handle handle = NULL;
    uint32_t count = cubin_has_lines(ptx) ? 3 : 2;
    if (library->create(&handle, count, options)) {
        *log = STR("error: libnvJitLink does not take its options");
        return false;
    }
    // it must end in a zero, which is part of the size
    char *text = arena_text(arena, ptx.text, ptx.size);
    bool fine = !library->add_data(handle, INPUT_PTX, text, ptx.size + 1, "kernel.ptx") &&
                !library->complete(handle) && read_cubin(library, arena, handle, cubin);
    *log = fine ? read_text(arena, handle, library->info_size, library->info_log)
                : read_text(arena, handle, library->error_size, library->error_log);
    library->destroy(&handle);
    return fine;
}
