// Modules: images are checked, opened, and closed when nothing of them runs any more.
#include <stdlib.h>
#include <string.h>

#include "base/os/os_dl.h"
#include "base/recover.h"
#include "runtime/cpu/pool.h"

enum { IMAGE_BYTES_MAX = 1 << 30 };

// Can code of this kind run here at all?
static tilec_status check_target(tilec_context *c, uint32_t abi, CpuTarget target) {
    if (abi != CPU_ABI_VERSION)
        return rt_fail(c, TILEC_UNAVAILABLE,
                       "the image was compiled for version %u of the kernels' interface; this is "
                       "version %d: recompile it",
                       abi, CPU_ABI_VERSION);
    if (cpu_runs_here(target)) return TILEC_OK;
    char wanted[CPU_NAME_MAX], here[CPU_NAME_MAX];
    return rt_fail(c, TILEC_UNAVAILABLE, "the image was compiled for %s; this machine is %s",
                   cpu_target_name(target, wanted), cpu_target_name(cpu_native(), here));
}

static const char *name_of(const RtCpuImage *image) {
    return image->path ? image->path : image->name ? image->name : "kernel";
}

// The loader trusts its input. So the whole file is checked first, and compared with the bytes that
// the caller checked.
static bool open_library(RtModule *m, const RtCpuImage *image, OsError *error) {
    Arena *arena = arena_create();
    Str bytes = image->bytes;
    bool good = !image->path || os_read_file(arena, image->path, IMAGE_BYTES_MAX, &bytes, error);
    good = good && os_library_check(bytes, error);
    if (good && image->path && !str_starts(bytes, image->bytes)) {
        *error = (OsError){.text = "is not the file that was read before"};
        good = false;
    }
    arena_destroy(arena);
    if (!good) return false;
    m->library = image->path ? os_library_open(image->path, error)
                             : os_library_open_bytes(name_of(image), image->bytes, error);
    return m->library != NULL;
}

static tilec_status load_library(tilec_context *c, RtModule *m, const RtCpuImage *image) {
    tilec_status s = check_target(c, image->abi, image->target);
    if (s) return s;
    OsError error;
    if (!open_library(m, image, &error))
        return rt_fail(c, TILEC_IO, "%s: %s", name_of(image), error.text);
    void *symbol = os_library_symbol(m->library, image->entry);
    if (!symbol) return rt_fail(c, TILEC_IO, "%s: has no entry '%s'", name_of(image), image->entry);
    // ISO C does not convert a data pointer to a function pointer.
    memcpy(&m->entry, &symbol, sizeof symbol);
    return TILEC_OK;
}

static tilec_status load_function(tilec_context *c, RtModule *m, const RtCpuFunction *image) {
    m->entry = image->entry;
    return check_target(c, image->abi, image->target);
}

static tilec_status load(tilec_context *c, RtModule *m, const RtImage *image) {
    m->kind = image->kind;
    switch (image->kind) {
    case RT_IMAGE_CPU:
        if (image->size == sizeof(RtCpuImage)) return load_library(c, m, image->data);
        break;
    case RT_IMAGE_CPU_ENTRY:
        if (image->size == sizeof(RtCpuFunction)) return load_function(c, m, image->data);
        break;
    case RT_IMAGE_HOST:
        if (image->size != sizeof(RtHostImage)) break;
        memcpy(&m->host, image->data, sizeof m->host);
        return TILEC_OK;
    case RT_IMAGE_IR:
    case RT_IMAGE_PTX:
    case RT_IMAGE_CUBIN:
    case RT_IMAGE_HSACO: break;
    }
    return rt_fail(c, TILEC_INVALID_ARGUMENT, "device cpu runs images for CPUs only");
}

static void free_module(RtModule *m) {
    os_library_close(m->library);
    recover_free(m);
}

tilec_status module_load(tilec_device *device, const RtImage *image, RtModule **module) {
    pool_enter(device->state);
    RtModule *m = recover_new(sizeof *m);
    tilec_status s = load(device->context, m, image);
    if (s)
        free_module(m);
    else
        *module = m;
    return s;
}

void module_wait(tilec_device *device, RtModule *module) {
    Pool *pool = device->state;
    pool_enter(pool);
    pool_lock(pool);
    module_finish(pool, module);
    pool_unlock(pool);
}

void module_unload(tilec_device *device, RtModule *module) {
    module_wait(device, module);
    free_module(module);
}
