#include "runtime/library/library.h"

#include <stdio.h>
#include <string.h>

#include "base/gpu_abi.h"
#include "base/recover.h"
#include "base/status.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"

_Static_assert(sizeof(tilec_view) == ARCHIVE_VIEW_BYTES, "built functions take views of this size");

// ---- Messages about archives ----

tilec_status library_unreadable(tilec_context *context, const char *wrong) {
    return rt_fail(context, TILEC_IO, "the archive cannot be read: %s", wrong);
}

tilec_status library_open_archive(tilec_context *context, const struct tilec_archive *data,
                                  Archive *archive) {
    const char *wrong;
    if (!data) return rt_fail(context, TILEC_INVALID_ARGUMENT, "the archive is NULL");
    return archive_open(data, archive, &wrong) ? TILEC_OK : library_unreadable(context, wrong);
}

// Finds the place where code is to run: a GPU, or this machine. TILEC_CPU_TARGET may ask for a
// lower CPU level.
static tilec_status target_of(const tilec_device *device, ArchivePlace *place) {
    const char *limit = os_env("TILEC_CPU_TARGET");
    *place = (ArchivePlace){0};
    if (device->api->gpu) {
        place->gpu = device->api->gpu(device);
        return TILEC_OK;
    }
    place->limit = cpu_native();
    if (!limit || !limit[0]) return TILEC_OK;
    if (!cpu_target_parse(str(limit), &place->limit))
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "TILEC_CPU_TARGET is '%s', and there is no such target; there are: %s",
                       limit, CPU_TARGETS_TEXT);
    // A level above this machine's is the same as this machine's.
    if ((place->limit.level == CPU_AARCH64) == (cpu_native().level == CPU_AARCH64)) return TILEC_OK;
    return rt_fail(device->context, TILEC_UNAVAILABLE,
                   "TILEC_CPU_TARGET is '%s', which this machine does not run", limit);
}

const char *library_place_target(const ArchivePlace *place, char *buffer) {
    if (place->gpu.vendor) return gpu_target_name(place->gpu, buffer);
    return cpu_target_name(cpu_runs_here(place->limit) ? place->limit : cpu_native(), buffer);
}

static void add_list(const Archive *archive, const char *separator, StrBuf *out) {
    ArchiveTarget t;
    for (uint32_t i = 0; archive_target(archive, i, &t); i++)
        strbuf_printf(out, "%s%.*s", i ? separator : "", STR_ARG(t.name));
}

static void add_held(const Archive *archive, StrBuf *out) {
    strbuf_printf(out, "; it has code for ");
    add_list(archive, ", ", out);
}

// Adds the command that the archive was built with.
void library_add_command(const Archive *archive, StrBuf *out) {
    strbuf_printf(out, "%.*s --target ", STR_ARG(archive->command));
    add_list(archive, ",", out);
}

void library_add_targets(const Archive *archive, const char *missing, StrBuf *out) {
    add_held(archive, out);
    strbuf_printf(out, ". Build it with that target, too: ");
    library_add_command(archive, out);
    strbuf_printf(out, ",%s", missing);
}

// The devices that were found, and the targets they run.
typedef struct ArchiveFound {
    StrBuf devices, targets;
} ArchiveFound;

static void add_found(ArchiveFound *f, const tilec_device *device, const ArchivePlace *place) {
    char name[CPU_NAME_MAX];
    const char *target = library_place_target(place, name), *limit = os_env("TILEC_CPU_TARGET");
    bool limited = !place->gpu.vendor && limit && limit[0];
    strbuf_printf(&f->devices, "%s%s (%s%s%s)", f->devices.size ? ", " : "", device->name, target,
                  limited ? ", TILEC_CPU_TARGET is " : "", limited ? limit : "");
    Str rest = strbuf_str(&f->targets), known;
    while (rest.size && str_item(&rest, &known))
        if (str_equal(known, str(target))) return;
    strbuf_printf(&f->targets, "%s%s", f->targets.size ? "," : "", target);
}

static tilec_status no_target(tilec_context *context, const Archive *archive,
                              const ArchiveFound *found) {
    StrBuf text = strbuf(found->devices.arena);
    library_add_targets(archive, found->targets.text, &text);
    return rt_fail(context, TILEC_UNAVAILABLE, "library %.*s has no code for device %s%s",
                   STR_ARG(archive->name), found->devices.text, text.text);
}

static tilec_status no_target_of(const tilec_device *device, const Archive *archive,
                                 const ArchivePlace *place) {
    Arena *arena = arena_create();
    ArchiveFound found = {strbuf(arena), strbuf(arena)};
    add_found(&found, device, place);
    tilec_status s = no_target(device->context, archive, &found);
    arena_destroy(arena);
    return s;
}

// Refuses the interpreter, which runs no compiled code.
static tilec_status no_code_runs(const tilec_device *device, const Archive *archive) {
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    add_held(archive, &text);
    tilec_status s = rt_fail(device->context, TILEC_UNSUPPORTED,
                             "device %s runs no compiled code: open cpu, cuda or hip for library "
                             "%.*s%s",
                             device->name, STR_ARG(archive->name), text.text);
    arena_destroy(arena);
    return s;
}

// ---- Loading ----

// The limit may belong to another architecture.
uint32_t library_fit(const ArchiveTarget *target, const ArchivePlace *place) {
    if (!place->gpu.vendor && !cpu_runs_here(target->cpu)) return 0;
    return archive_fit(target, place);
}

static bool has_target(const ArchivePlace *place, const Archive *archive) {
    ArchiveTarget t;
    for (uint32_t i = 0; archive_target(archive, i, &t); i++)
        if (library_fit(&t, place)) return true;
    return false;
}

void library_add_functions(const Archive *archive, StrBuf *out) {
    enum { LISTED = 256 };
    ArchiveFunction f;
    uint32_t i = 0;
    for (; i < LISTED && archive_function(archive, i, &f); i++)
        strbuf_printf(out, "%s%.*s", i ? ", " : "", STR_ARG(f.name));
    if (i < archive->function_count)
        strbuf_printf(out, ", and %u more", archive->function_count - i);
}

static tilec_status other_header(tilec_context *c, const Archive *archive,
                                 uint64_t interface_number) {
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    strbuf_printf(&text, "it has: ");
    library_add_functions(archive, &text);
    strbuf_printf(&text, ". Compile the program with the header that is written with it: ");
    library_add_command(archive, &text);
    tilec_status s = rt_fail(c, TILEC_INVALID_ARGUMENT,
                             "the header is not that of library %.*s: their functions differ "
                             "(%016llx and %016llx); %s",
                             STR_ARG(archive->name), (unsigned long long)interface_number,
                             (unsigned long long)archive->interface_number, text.text);
    arena_destroy(arena);
    return s;
}

static tilec_status other_version(tilec_context *c, const Archive *archive, uint32_t found,
                                  uint32_t known) {
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    library_add_command(archive, &text);
    tilec_status s = rt_fail(c, TILEC_UNAVAILABLE,
                             "library %.*s was built for version %u of the kernels' interface; "
                             "this is version %u. Rebuild it: %s",
                             STR_ARG(archive->name), found, known, text.text);
    arena_destroy(arena);
    return s;
}

static tilec_status check_archive(const tilec_device *device, const Archive *archive,
                                  uint64_t interface_number, ArchivePlace *place) {
    tilec_context *c = device->context;
    if (!device->api->gpu && device->api != &cpu_device_api) return no_code_runs(device, archive);
    tilec_status s = target_of(device, place);
    if (s) return s;
    if (interface_number && interface_number != archive->interface_number)
        return other_header(c, archive, interface_number);
    if (!has_target(place, archive)) return no_target_of(device, archive, place);
    bool gpu = device->api->gpu != NULL;
    uint32_t found = gpu ? archive->gpu_abi : archive->data->cpu_abi;
    uint32_t known = gpu ? GPU_ABI_VERSION : CPU_ABI_VERSION, oldest = gpu ? 1 : known;
    return found >= oldest && found <= known ? TILEC_OK : other_version(c, archive, found, known);
}

static void read_targets(tilec_library *l) {
    uint32_t count = l->archive.target_count;
    l->targets = arena_new(l->arena, ArchiveTarget, count + 1);
    for (uint32_t i = 0; i < count; i++) archive_target(&l->archive, i, &l->targets[i]);
}

// Fills a library that has no archive. It must not fail: reporting an error needs the context's
// mutex, which is held.
static void fill(tilec_library *l, const Archive *archive, const ArchivePlace *place) {
    l->place = *place;
    l->archive = *archive;
    l->arena = arena_create();
    l->name = arena_text(l->arena, archive->name.text, archive->name.size);
    l->functions = arena_array(l->arena, sizeof(LibrarySlot), archive->function_count);
    for (uint32_t i = 0; i < archive->function_count; i++) atomic_init(&l->functions[i], NULL);
    read_targets(l);
    arena_keep(l->arena);
    l->users = 1;
}

static tilec_library *new_library(tilec_device *device) {
    tilec_library *l = recover_new(sizeof *l);
    l->device = device;
    l->lock = os_mutex_create_long();
    return l;
}

// The context's mutex must be held.
static tilec_library *find_or_fill(tilec_device *device, const Archive *archive,
                                   const ArchivePlace *place) {
    tilec_library *l = library_find(device, archive->data);
    if (l) {
        l->users++;
        return l;
    }
    l = library_find(device, NULL);
    bool fresh = !l;
    if (fresh) l = new_library(device);
    fill(l, archive, place);
    recover_keep_all();
    atomic_store_explicit(&l->data, archive->data, memory_order_release);
    if (fresh) {
        l->next = atomic_load(&device->libraries);
        atomic_store_explicit(&device->libraries, l, memory_order_release);
    }
    return l;
}

static tilec_status load(tilec_device *device, const struct tilec_archive *data,
                         uint64_t interface_number, tilec_library **library) {
    tilec_context *c = device->context;
    Archive archive;
    ArchivePlace place;
    tilec_status s = library_open_archive(c, data, &archive);
    if (!s) s = check_archive(device, &archive, interface_number, &place);
    if (s) return s;
    os_mutex_lock(c->lock);
    *library = find_or_fill(device, &archive, &place);
    os_mutex_unlock(c->lock);
    return TILEC_OK;
}

tilec_status tilec_library_load(tilec_device *device, const tilec_archive *data,
                                uint64_t interface_number, tilec_library **library) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = device->context;
    rt_begin(c);
    if (!library) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer for the library is NULL");
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(c);
    tilec_status s = load(device, data, interface_number, library);
    recover_end(&r);
    return s;
}

// ---- Locking ----

static tilec_status fail_forked(const tilec_library *l) {
    return rt_fail(l->device->context, TILEC_UNAVAILABLE,
                   "the process forked while another thread loaded a function of library %s: that "
                   "goes on in the parent only; load the library in a new context",
                   l->name);
}

static void renew_scratch(const tilec_library *l) {
    for (uint32_t i = 0; l->functions && i < l->archive.function_count; i++) {
        LibraryFunction *f = atomic_load(&l->functions[i]);
        if (!f) continue;
        f->scratch = arena_create();
        arena_keep(f->scratch);
    }
}

tilec_status library_lock(tilec_library *library, bool making) {
    os_mutex_lock(library->lock);
    if (os_mutex_abandoned(library->lock)) {
        if (library->making) {
            os_mutex_unlock(library->lock);
            return fail_forked(library);
        }
        renew_scratch(library);
        os_mutex_mark_consistent(library->lock);
    }
    library->making = making;
    return TILEC_OK;
}

// ---- Unloading ----

// A library that is being emptied points to this archive, so that no caller finds it or reuses it.
static const struct tilec_archive leaving;

bool library_is_loaded(const tilec_library *l) {
    const struct tilec_archive *data = atomic_load(&l->data);
    return data && data != &leaving;
}

static void empty(tilec_library *l) {
    if (os_mutex_abandoned(l->lock)) return;  // a thread of the fork's parent was changing it
    for (uint32_t i = 0; i < l->archive.function_count; i++)
        library_function_destroy(atomic_load(&l->functions[i]));
    arena_destroy(l->tune_arena);
    arena_destroy(l->arena);
    l->tune_arena = l->arena = NULL;
    l->tuned = NULL;
    l->functions = NULL;
    atomic_store_explicit(&l->data, NULL, memory_order_release);
}

void tilec_library_unload(tilec_library *library) {
    if (!library) return;
    tilec_context *c = library->device->context;
    os_mutex_lock(c->lock);
    bool last = library->users && --library->users == 0;
    if (last) atomic_store_explicit(&library->data, &leaving, memory_order_release);
    os_mutex_unlock(c->lock);
    if (last) empty(library);
}

void library_close_all(tilec_device *device) {
    tilec_library *next;
    for (tilec_library *l = atomic_load(&device->libraries); l; l = next) {
        next = l->next;
        if (atomic_load(&l->data)) empty(l);
        os_mutex_destroy(l->lock);
        recover_free(l);
    }
    atomic_store(&device->libraries, NULL);
}

// ---- Which device ----

enum { GPUS_MAX = 64 };

// Opens the first GPU of the kind that the archive has code for. A missing device is not an error
// here.
static tilec_device *open_gpu(tilec_context *context, const char *kind, const Archive *archive,
                              ArchiveFound *found) {
    for (int i = 0; i < GPUS_MAX; i++) {
        char name[32];
        tilec_device *device = NULL;
        snprintf(name, sizeof name, "%s:%d", kind, i);
        if (tilec_device_open(context, name, &device)) {
            rt_log(context, TILEC_NOTE, "%s: %s", name, tilec_last_error(context));
            return NULL;
        }
        ArchivePlace place;
        if (!target_of(device, &place) && has_target(&place, archive)) return device;
        add_found(found, device, &place);
        rt_log(context, TILEC_NOTE, "%s: library %.*s has no code for it", name,
               STR_ARG(archive->name));
        tilec_device_close(device);
    }
    return NULL;
}

static bool has_vendor(const Archive *archive, GpuVendor vendor) {
    ArchiveTarget t;
    for (uint32_t i = 0; archive_target(archive, i, &t); i++)
        if (t.gpu.vendor == vendor) return true;
    return false;
}

static tilec_status open_cpu(tilec_context *context, const Archive *archive, ArchiveFound *found,
                             tilec_device **device) {
    tilec_device *cpu = NULL;
    ArchivePlace place;
    tilec_status s = tilec_device_open(context, "cpu", &cpu);
    if (s) return s;
    s = target_of(cpu, &place);
    if (!s && has_target(&place, archive)) {
        *device = cpu;
        return TILEC_OK;
    }
    if (!s) {
        add_found(found, cpu, &place);
        s = no_target(context, archive, found);
    }
    tilec_device_close(cpu);
    return s;
}

static tilec_status open_for(tilec_context *context, const Archive *archive, ArchiveFound *found,
                             tilec_device **device) {
    tilec_device *gpu = NULL;
    if (has_vendor(archive, GPU_NVIDIA)) gpu = open_gpu(context, "cuda", archive, found);
    if (!gpu && has_vendor(archive, GPU_AMD)) gpu = open_gpu(context, "hip", archive, found);
    rt_begin(context);
    if (!gpu) return open_cpu(context, archive, found, device);
    *device = gpu;
    return TILEC_OK;
}

tilec_status tilec_device_open_for(tilec_context *context, const tilec_archive *data,
                                   tilec_device **device) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!device)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the pointer for the device is NULL");
    Archive archive;
    tilec_status s = library_open_archive(context, data, &archive);
    if (s) return s;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(context);
    Arena *arena = arena_create();
    ArchiveFound found = {strbuf(arena), strbuf(arena)};
    s = open_for(context, &archive, &found, device);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

// ---- Tables ----

// The choices of earlier launches may differ with the new table.
static void change_choices(tilec_library *library) {
    for (uint32_t i = 0; library->functions && i < library->archive.function_count; i++) {
        LibraryFunction *f = atomic_load(&library->functions[i]);
        if (f) atomic_fetch_add(&f->kernel.choices, 1);
    }
}

static tilec_status take_table(tilec_library *library, Str table) {
    Arena *arena = arena_create();
    Str text = {arena_text(arena, table.text, table.size), table.size};
    const TuneTable *tuned = tune_parse(arena, text);
    if (tuned->problems.count) {
        const TuneProblem *p = &tuned->problems.data[0];
        tilec_status s = rt_fail(library->device->context, TILEC_INVALID_ARGUMENT,
                                 "the table, line %u: %s", p->line, p->text);
        arena_destroy(arena);
        return s;
    }
    arena_keep(arena);
    tilec_status s = library_lock(library, true);
    if (s) {
        arena_destroy(arena);
        return s;
    }
    arena_destroy(library->tune_arena);
    library->tune_arena = arena;
    library->tuned = tuned;
    change_choices(library);
    os_mutex_unlock(library->lock);
    return TILEC_OK;
}

tilec_status tilec_library_tune(tilec_library *library, const char *table, size_t size) {
    if (!library) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = library->device->context;
    rt_begin(c);
    if (!table && size) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the table is NULL");
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(c);
    tilec_status s = take_table(library, (Str){size ? table : "", size});
    recover_end(&r);
    return s;
}

// ---- Queries about an archive ----

tilec_status tilec_archive_describe(tilec_context *context, const tilec_archive *data,
                                    tilec_archive_info *info) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!info)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the pointer for the answer is NULL");
    Archive archive;
    const char *wrong;
    tilec_status s = library_open_archive(context, data, &archive);
    if (s) return s;
    if (!archive_verify(&archive, &wrong)) return library_unreadable(context, wrong);
    *info = (tilec_archive_info){.name = archive.name.text,
                                 .function_count = archive.function_count,
                                 .target_count = archive.target_count,
                                 .interface_number = archive.interface_number,
                                 .bytes = data->byte_count};
    return TILEC_OK;
}

tilec_status tilec_archive_function(tilec_context *context, const tilec_archive *data,
                                    uint32_t index, tilec_function_info *info) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!info)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the pointer for the answer is NULL");
    Archive archive;
    ArchiveFunction f;
    const char *wrong;
    if (!data) return rt_fail(context, TILEC_INVALID_ARGUMENT, "the archive is NULL");
    if (!archive_open(data, &archive, &wrong)) return library_unreadable(context, wrong);
    if (index < archive.function_count && !archive_function_whole(&archive, index, &f))
        return library_unreadable(context, "its index is damaged; rebuild it");
    if (index >= archive.function_count)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "library %s has no function with number %u",
                       archive.name.text, index);
    *info = (tilec_function_info){f.name.text, f.prototype.text};
    return TILEC_OK;
}

const char *tilec_archive_target(const tilec_archive *data, uint32_t index) {
    Archive archive;
    ArchiveTarget target;
    const char *wrong;
    if (!archive_open(data, &archive, &wrong) || !archive_target(&archive, index, &target))
        return NULL;
    return target.name.text;
}
