#include "compile/device/sim_device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/os/os.h"
#include "base/os/os_fork.h"
#include "base/recover.h"
#include "compile/device/at_once.h"
#include "compile/jit/compiler.h"
#include "runtime/context.h"
#include "runtime/failure.h"
#include "runtime/memory/move.h"
#include "runtime/print.h"
#include "sim/amd/amd.h"
#include "sim/machine/machine.h"
#include "sim/observe/observe.h"
#include "sim/ptx/ptx.h"
#include "target/chip.h"
#include "target/gpu_card.h"

enum { WATCHERS = 5, COUNTERS = 3, STEP_LIMIT_SHIFT = 40, CLUSTERS_FROM = 90, CLUSTER_MAX = 8 };

typedef struct Device {
    AtOnceDevice at_once;
    OsMutex *lock;
    SimMemory *memory;
    GpuTarget target;
    uint64_t seed;
    // Counts launches of one thread; NULL: none. Launches of other threads go on meanwhile.
    _Atomic(SimTally *) tally;
    thrd_t tally_thread;
} Device;

struct RtModule {
    Arena *arena;
    const SimProgram *program;
    uint64_t *variables;
    Str entry;
    uint64_t step_limit;
    const SimObserver *watcher;  // or NULL
};

bool sim_arch_parse(Str name, GpuTarget *target) {
    return gpu_target_parse(name, target) && chip_of(*target)->simulated == CHIP_SIM_DEVICE;
}

static SimMemory *memory_of(GpuTarget target) {
    SimMemory *m =
        sim_memory_create_at(true, target.vendor == GPU_AMD ? SIM_AMD_BASE : SIM_GLOBAL_BASE);
    if (!m) os_out_of_memory();
    return m;
}

static void device_close(void *state) {
    Device *d = state;
    if (!os_mutex_abandoned(d->lock)) sim_memory_destroy(d->memory);
    os_mutex_destroy(d->lock);
    at_once_close(&d->at_once);
    recover_free(d);
}

// Is it a known architecture, though perhaps not a simulated one?
static bool names_gpu(Str arch) {
    static const char *const others[] = {"sm_50", "sm_52", "sm_53", "sm_60",  "sm_61", "sm_62",
                                         "sm_70", "sm_72", "sm_88", "sm_101", "sm_110"};
    GpuTarget target;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_equal(arch, str(others[i]))) return true;
    return gpu_target_parse(arch, &target);
}

static tilec_status fail_unknown(tilec_context *context, Str arch) {
    Arena *arena = arena_create();
    char names[GPU_TARGETS_MAX][GPU_NAME_MAX];
    Str known[GPU_TARGETS_MAX];
    size_t count = 0;
    GpuTarget target;
    for (size_t i = 0; gpu_target_at(i, &target); i++) {
        known[count] = str(gpu_target_name(target, names[count]));
        count += sim_arch_parse(known[count], &target);
    }
    const char *card = gpu_card_target(arch);
    Str nearest = card ? str(card) : str_nearest(str_lower(arena, arch), known, count);
    if (card && !sim_arch_parse(nearest, &target)) nearest = STR("");
    StrBuf text = strbuf(arena);
    strbuf_printf(&text, "there is no simulated '%.*s'", STR_ARG(arch));
    if (nearest.size) strbuf_printf(&text, "; did you mean 'sim:%.*s'?", STR_ARG(nearest));
    strbuf_printf(&text, "%s there are: ", nearest.size ? "" : ";");
    for (size_t i = 0; i < count; i++)
        strbuf_printf(&text, "%s%.*s", i ? ", " : "sim:", STR_ARG(known[i]));
    tilec_status s = rt_fail(context, names_gpu(arch) ? TILEC_UNAVAILABLE : TILEC_INVALID_ARGUMENT,
                             "%s", text.text);
    arena_destroy(arena);
    return s;
}

static bool device_takes(Str instance) {
    GpuTarget target;
    return sim_arch_parse(instance, &target);
}

static uint64_t number_of(const void *address) { return (uint64_t)(uintptr_t)address; }

// False in the child of a fork if a thread of the parent was changing the machine's memory. The
// memory and the device are not touched then.
static bool lock_device(Device *d) {
    os_mutex_lock(d->lock);
    bool whole = !os_mutex_abandoned(d->lock);
    if (!whole) os_mutex_unlock(d->lock);
    return whole;
}

// A copy within the device goes through the host, because only the host can write the machine's
// memory.
static bool copy_bytes(SimMemory *m, void *to, const void *from, size_t size) {
    bool device_to = sim_address_is_global(number_of(to));
    bool device_from = sim_address_is_global(number_of(from));
    if (!device_to && !device_from) return memmove(to, from, size), true;
    if (!device_from) return sim_memory_write(m, number_of(to), from, size);
    if (!device_to) return sim_memory_read(m, number_of(from), to, size);
    const SimRegion *r = sim_memory_find(m, number_of(from), size);
    return r && sim_memory_write(m, number_of(to), r->bytes + (number_of(from) - r->base), size);
}

static bool fill_bytes(SimMemory *m, const RtMove *move) {
    enum { PIECE = 4096 };
    char piece[PIECE];
    uint64_t at = number_of(move->to);
    rt_move_run(&(RtMove){.kind = RT_MOVE_FILL,
                          .to = piece,
                          .size = PIECE,
                          .pattern = move->pattern,
                          .unit = move->unit});
    for (size_t done = 0; done < move->size; done += PIECE) {
        size_t left = move->size - done;
        if (!sim_memory_write(m, at + done, piece, left < PIECE ? left : PIECE)) return false;
    }
    return true;
}

// Between two machines: the bytes go through the host.
static bool copy_between(const RtMove *move) {
    Device *to = move->to_device->state, *from = move->from_device->state;
    void *bytes = malloc(move->size);
    if (!bytes || !lock_device(from)) {
        free(bytes);
        return false;
    }
    bool good = copy_bytes(from->memory, bytes, move->from, move->size);
    os_mutex_unlock(from->lock);
    good = good && lock_device(to);
    if (good) {
        good = copy_bytes(to->memory, move->to, bytes, move->size);
        os_mutex_unlock(to->lock);
    }
    free(bytes);
    return good;
}

static bool run_move(tilec_device *device, const RtMove *move) {
    Device *d = device->state;
    if (move->kind == RT_MOVE_BETWEEN) return copy_between(move);
    if (!lock_device(d)) return false;
    bool good = move->kind == RT_MOVE_FILL
                    ? fill_bytes(d->memory, move)
                    : copy_bytes(d->memory, move->to, move->from, move->size);
    os_mutex_unlock(d->lock);
    return good;
}

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    Str rest, arch = str_cut(instance, ':', &rest);
    GpuTarget target;
    uint64_t seed = 0;
    if (!sim_arch_parse(arch, &target)) return fail_unknown(context, arch);
    if (arch.size < instance.size && !str_to_u64(rest, &seed, NULL))
        return rt_fail(context, TILEC_INVALID_ARGUMENT,
                       "device sim:%.*s: expected a number that orders the warps, found '%.*s'",
                       STR_ARG(arch), STR_ARG(rest));
    Device *d = recover_new(sizeof *d);
    at_once_open(&d->at_once, run_move);
    d->lock = os_mutex_create_long();
    d->memory = memory_of(target);
    d->target = target;
    d->seed = seed;
    *state = d;
    return TILEC_OK;
}

static GpuTarget device_gpu(const tilec_device *device) {
    return ((const Device *)device->state)->target;
}

static tilec_status fail_forked(const tilec_device *device) {
    return rt_fail(device->context, TILEC_UNAVAILABLE,
                   "the process forked while another thread was using device %s: it works only "
                   "in the parent; open the device again",
                   device->name);
}

// Our own number, since no product is simulated: few, so that programs that ask for it stay short.
enum { MULTIPROCESSORS = 4 };

static tilec_status info(tilec_device *device, RtDeviceInfo *info) {
    GpuTarget target = device_gpu(device);
    const Chip *chip = chip_of(target);
    gpu_target_name(target, info->target);
    snprintf(info->name, sizeof info->name, "a simulated %s", info->target);
    snprintf(info->driver, sizeof info->driver, "tilec %s", tilec_version());
    info->memory = os_memory_size();
    info->shared_memory = chip->shared_max;
    info->multiprocessors = MULTIPROCESSORS;
    info->warp = chip->warp;
    return TILEC_OK;
}

// One program for each multiprocessor: few, as above.
static tilec_status units(tilec_device *device, const RtLaunch *launch, uint64_t *units) {
    (void)device, (void)launch;
    *units = MULTIPROCESSORS;
    return TILEC_OK;
}

// Rounds sizes up to whole units, because an atomic of one byte changes the whole unit: a pair of
// bytes, on AMD's machines a word. Real drivers allocate more than that.
static bool alloc_units(const Device *d, uint64_t size, uint64_t *at) {
    static const uint8_t zeros[4] = {0};
    uint64_t unit = d->target.vendor == GPU_AMD ? 4 : 2, more = (unit - size % unit) % unit;
    if (!sim_memory_alloc(d->memory, size + more, "a buffer", at)) return false;
    return !more || sim_memory_write(d->memory, *at + size, zeros, more);
}

static tilec_status device_alloc(tilec_device *device, size_t size, void **address) {
    Device *d = device->state;
    uint64_t at;
    if (!lock_device(d)) return fail_forked(device);
    bool good = alloc_units(d, size, &at);
    os_mutex_unlock(d->lock);
    if (!good)
        return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory: %zu bytes", size);
    *address = (void *)(uintptr_t)at;
    return TILEC_OK;
}

static void device_free(tilec_device *device, void *address, size_t size) {
    Device *d = device->state;
    (void)size;
    at_once_flush_all(device);
    if (!lock_device(d)) return;
    sim_memory_free(d->memory, number_of(address));
    os_mutex_unlock(d->lock);
}

static tilec_status copy(tilec_device *device, void *stream, void *to, const void *from,
                         size_t size) {
    Device *d = device->state;
    if (!size) return TILEC_OK;
    at_once_flush(device, stream);
    if (!lock_device(d)) return fail_forked(device);
    bool good = copy_bytes(d->memory, to, from, size);
    os_mutex_unlock(d->lock);
    return good ? TILEC_OK
                : rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                          "a copy of %zu bytes is not within a buffer", size);
}

static tilec_status host_alloc(tilec_device *device, size_t size, void **memory) {
    enum { ALIGN = 64 };
    tilec_status s = rt_allocate(device->context, size, ALIGN, memory);
    if (!s) memset(*memory, 0, size);
    return s;
}

static void host_free(tilec_device *device, void *memory, size_t size) {
    at_once_flush_all(device);
    rt_release(device->context, memory, size);
}

// ---- Modules ----

static bool arch_runs(const SimProgram *p, uint32_t arch, Diags *diags) {
    bool same = p->arch_a ? p->arch == arch : p->arch <= arch;
    if (!same)
        diag_error(diags, (Span){0}, DIAG_UNSUPPORTED,
                   "the code is for sm_%u%s; the device is an sm_%u", p->arch, p->arch_a ? "a" : "",
                   arch);
    return same;
}

static const SimProgram *read_program(Arena *arena, Sources *sources, Str path, Str text,
                                      uint32_t arch, Diags *diags) {
    const SourceFile *file = source_add(sources, path, text);
    if (!file) {
        diag_error(diags, (Span){0}, DIAG_TOO_LARGE, "the text is too large");
        return NULL;
    }
    const SimProgram *p = ptx_read(arena, file, diags);
    return p && arch_runs(p, arch, diags) ? p : NULL;
}

static GpuDisassembler disassembler(const tilec_device *device, const RtPtxImage *image,
                                    Diags *diags) {
    if (image->disassemble.run) return image->disassemble;
    const CodegenApi *api = plugin_open(compiler_of(device->context)->services.plugin, diags);
    return (GpuDisassembler){api ? api->amd_disassemble : NULL, NULL};
}

// A missing disassembler has already been reported.
static const SimProgram *read_object(Arena *arena, Str bytes, GpuTarget target,
                                     GpuDisassembler disassemble, Diags *diags) {
    if (!disassemble.run) return NULL;
    OsNoFork whole;
    os_no_fork_begin(&whole);
    const SimProgram *p = amd_read(arena, bytes, disassemble, diags);
    os_no_fork_end(&whole);
    if (!p) return NULL;
    GpuTarget code = {.vendor = GPU_AMD, .number = p->arch, .generic = p->arch_generic};
    if (gpu_target_runs(code, target)) return p;
    char names[2][GPU_NAME_MAX];
    diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "the code is for %s; the device is a %s",
               gpu_target_name(code, names[0]), gpu_target_name(target, names[1]));
    return NULL;
}

// Frees the variables that were allocated: an address is never 0.
static void free_variables(Device *d, const RtModule *m) {
    for (uint32_t i = 0; i < m->program->variable_count; i++)
        if (m->variables[i]) sim_memory_free(d->memory, m->variables[i]);
}

static tilec_status load(tilec_device *device, const RtPtxImage *image, RtModule *m) {
    Device *d = device->state;
    Sources *sources = sources_create(m->arena);
    Diags *diags = diags_create(m->arena, sources);
    Str text = {arena_text(m->arena, image->text.text, image->text.size), image->text.size};
    m->program =
        d->target.vendor == GPU_AMD
            ? read_object(m->arena, text, d->target, disassembler(device, image, diags), diags)
            : read_program(m->arena, sources, STR("kernel.ptx"), text, d->target.number, diags);
    if (!m->program) return rt_fail_diags(device->context, TILEC_UNSUPPORTED, diags);
    m->variables = arena_new(m->arena, uint64_t, m->program->variable_count + 1);
    m->entry = (Str){arena_text(m->arena, image->entry.text, image->entry.size), image->entry.size};
    if (!lock_device(d)) return fail_forked(device);
    bool good = sim_program_load(m->program, d->memory, m->variables);
    if (!good) free_variables(d, m);
    os_mutex_unlock(d->lock);
    m->watcher = image->watcher;
    m->step_limit = image->step_limit ? image->step_limit : UINT64_C(1) << STEP_LIMIT_SHIFT;
    return good ? TILEC_OK : rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
}

static tilec_status module_load(tilec_device *device, const RtImage *image, RtModule **module) {
    bool amd = device_gpu(device).vendor == GPU_AMD;
    if (image->kind != (amd ? RT_IMAGE_HSACO : RT_IMAGE_PTX) || image->size != sizeof(RtPtxImage))
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT, "device %s runs %s only",
                       device->name, amd ? "AMD code objects" : "PTX");
    RtModule *m = recover_new(sizeof *m);
    m->arena = arena_create();
    tilec_status s = load(device, image->data, m);
    if (!s) {
        *module = m;
        return TILEC_OK;
    }
    arena_destroy(m->arena);
    recover_free(m);
    return s;
}

static void module_unload(tilec_device *device, RtModule *module) {
    Device *d = device->state;
    if (lock_device(d)) {
        free_variables(d, module);
        os_mutex_unlock(d->lock);
    }
    arena_destroy(module->arena);
    recover_free(module);
}

// ---- Launches ----

static uint32_t watchers(Arena *arena, SimFindings *f, const SimObserver **list) {
    list[0] = sim_observe_bounds(arena, f);
    list[1] = sim_observe_poison(arena, f);
    list[2] = sim_observe_races(arena, f);
    list[3] = sim_observe_divergence(arena, f);
    list[4] = sim_observe_registers(arena, f);
    return WATCHERS;
}

typedef struct Counters {
    SimCounts *counts;
    SimTrafficTable *global, *shared;
} Counters;

static void count_with(Arena *arena, Counters *c, const SimObserver **list) {
    list[0] = sim_observe_counts(arena, &c->counts);
    list[1] = sim_observe_coalescing(arena, NULL, &c->global);
    list[2] = sim_observe_banks(arena, NULL, &c->shared);
}

static void add_counts(SimTally *t, const Counters *c) {
    const SimTraffic *l = &c->global->load, *s = &c->global->store;
    t->instructions += c->counts->total, t->lane_instructions += c->counts->total_lanes;
    t->matrix += c->counts->matrix, t->barriers += c->counts->barriers;
    t->accesses += l->requests + s->requests, t->bytes += l->bytes + s->bytes;
    t->sectors += l->units + s->units, t->least_sectors += l->ideal + s->ideal;
    l = &c->shared->load, s = &c->shared->store;
    t->wavefronts += l->units + s->units, t->least_wavefronts += l->ideal + s->ideal;
}

void sim_device_tally(tilec_device *device, SimTally *tally) {
    Device *d = device->state;
    if (tally) d->tally_thread = thrd_current();
    atomic_store(&d->tally, tally);
}

static SimTally *own_tally(const Device *d) {
    SimTally *tally = atomic_load(&d->tally);
    return tally && thrd_equal(d->tally_thread, thrd_current()) ? tally : NULL;
}

static DiagCode code_of(SimFindingKind kind) {
    switch (kind) {
    case SIM_FINDING_BOUNDS:
    case SIM_FINDING_ALIGNMENT: return DIAG_BOUNDS;
    case SIM_FINDING_RACE:
    case SIM_FINDING_PROXY:
    case SIM_FINDING_INIT:
    case SIM_FINDING_FLIGHT:
    case SIM_FINDING_FENCE: return DIAG_RACE;
    case SIM_FINDING_POISON:
    case SIM_FINDING_DIVERGED:
    case SIM_FINDING_UNCOALESCED:
    case SIM_FINDING_CONFLICT:
    case SIM_FINDING_KINDS: break;
    }
    return DIAG_LAUNCH;
}

// The lines of diagnostics, in their order.
typedef struct SimPlaces {
    VEC(SimLine) lines;
} SimPlaces;

// The prefix of a diagnostic's text.
static const char *place_text(Arena *arena, const SimLine *line, SimPlaces *places) {
    if (places) vec_push(arena, &places->lines, *line);
    if (places && line->file.size) return "";
    StrBuf b = strbuf(arena);
    sim_line_text(line, &b);
    strbuf_add(&b, STR(": "));
    return b.text;
}

// Sets the places of the report's diagnostics, as data and in the text.
static void name_places(const SimPlaces *places, RtReport *r) {
    StrBuf text = strbuf(r->arena);
    for (size_t i = 0; i < r->diagnostics.count; i++) {
        tilec_diagnostic *d = &r->diagnostics.data[i];
        SimLine line = i < places->lines.count ? places->lines.data[i] : (SimLine){0};
        if (line.file.size) {
            Str path = line.file;  // LLVM puts "./" before a relative one
            if (str_starts(path, STR("./"))) path = (Str){path.text + 2, path.size - 2};
            d->file = arena_text(r->arena, path.text, path.size);
            d->line = line.line, d->column = line.column;
            strbuf_printf(&text, "%s:%u:%u: ", d->file, d->line, d->column);
        }
        strbuf_printf(&text, "error: %s [%s]\n", d->message, d->code);
    }
    r->text = strbuf_str(&text);
}

// Reports all errors, each with the line that it comes from; returns true if there are none.
// `places` gets the line of each diagnostic; known lines are then left out of the text. NULL: each
// text begins with its line.
static bool report(Arena *arena, const SimResult *r, const SimFindings *f, Diags *diags,
                   SimPlaces *places) {
    bool reported = false;
    for (size_t i = 0; i < f->list.count; i++) {
        const SimFinding *one = &f->list.data[i];
        if (!sim_finding_is_error(one->kind)) continue;
        reported |= one->kind == SIM_FINDING_BOUNDS || one->kind == SIM_FINDING_ALIGNMENT;
        diag_error(diags, (Span){0}, code_of(one->kind), "%s%s: %.*s%s",
                   place_text(arena, &one->line, places), sim_finding_slug(one->kind),
                   STR_ARG(one->text), one->count > 1 ? ", and more of this kind" : "");
    }
    if (r->outcome == SIM_REFUSED) diag_error(diags, (Span){0}, DIAG_LAUNCH, "%s", r->text);
    if (r->outcome == SIM_FAILED && !reported)
        diag_error(diags, (Span){0}, r->fault == SIM_FAULT_ASSERT ? DIAG_ASSERT : DIAG_LAUNCH,
                   "%s%s", place_text(arena, &r->line, places), r->text);
    return !diags_errors(diags);
}

static void print_text(void *user, Str text) {
    const tilec_context *c = user;
    while (text.size && c->options.print) {
        Str rest, line = str_cut(text, '\n', &rest);
        c->options.print(c->options.user, line.text, line.size);
        text = rest;
    }
    if (text.size) printf("%.*s", STR_ARG(text));
}

static bool has_maps(const tilec_device *device) {
    enum { MAPS_FROM = 90 };
    GpuTarget gpu = device_gpu(device);
    return gpu.vendor == GPU_NVIDIA && gpu.number >= MAPS_FROM;
}

static tilec_status encode_map(tilec_device *device, const GpuMapFacts *facts, void *map) {
    const char *wrong = gpu_map_encode(facts, map);
    if (!wrong) return TILEC_OK;
    return rt_fail(device->context, TILEC_INTERNAL, "a tensor map that cannot be: %s", wrong);
}

static uint32_t map_count(const RtLaunch *l) { return l->meta->variants[l->variant].map_count; }

static uint32_t params_size(const RtLaunch *l) {
    return gpu_params_size(l->meta->size, map_count(l));
}

// The block of arguments, followed by the address of this launch's report and the maps.
static uint8_t *make_block(Arena *arena, const RtLaunch *l, uint64_t report) {
    GpuTail tail = {.report = report, .launch = 1};
    uint8_t *block = arena_alloc(arena, params_size(l));
    memcpy(block, l->block, l->meta->size);
    memcpy(block + l->meta->size, &tail, sizeof tail);
    if (map_count(l))
        memcpy(block + gpu_maps_offset(l->meta->size), l->maps,
               (size_t)map_count(l) * GPU_MAP_BYTES);
    return block;
}

// The shared memory that the launch adds to the code's own.
static uint32_t more_shared(const SimKernel *k, const MetaVariant *v) {
    return v->shared_bytes > k->shared_bytes ? v->shared_bytes - k->shared_bytes : 0;
}

// The option `ctas` is a hint, as on the device `cuda`.
static uint32_t programs_of_cluster(const Device *d, const RtLaunch *l) {
    int ctas = l->meta->variants[l->variant].ctas;
    bool possible = ctas > 1 && ctas <= CLUSTER_MAX && d->target.vendor == GPU_NVIDIA &&
                    d->target.number >= CLUSTERS_FROM && l->grid[0] % ctas == 0;
    return possible ? (uint32_t)ctas : 0;
}

static SimResult run_kernel(Arena *arena, tilec_device *device, const RtLaunch *l, uint64_t report,
                            SimFindings *findings) {
    const Device *d = device->state;
    const RtModule *m = l->module;
    const MetaVariant *v = &l->meta->variants[l->variant];
    const SimObserver *list[WATCHERS + COUNTERS + 1];
    const SimKernel *k = sim_kernel_find(m->program, m->entry);
    Counters counters;
    SimResult r = {.outcome = SIM_REFUSED};
    snprintf(r.text, sizeof r.text, "the code has no kernel '%.*s'", STR_ARG(m->entry));
    if (!k) return r;
    snprintf(r.text, sizeof r.text, "kernel '%.*s' has %u bytes of parameters, the launch %u",
             STR_ARG(m->entry), k->param_bytes, params_size(l));
    if (k->param_bytes > params_size(l) || (map_count(l) && !l->maps)) return r;
    uint32_t count = watchers(arena, findings, list);
    if (m->watcher) list[count++] = m->watcher;
    SimTally *tally = own_tally(d);
    if (tally) count_with(arena, &counters, list + count);
    r = sim_run(
        &(SimLaunch){.kernel = k,
                     .memory = d->memory,
                     .variables = m->variables,
                     .grid = {(uint32_t)l->grid[0], (uint32_t)l->grid[1], (uint32_t)l->grid[2]},
                     .block = {v->block[0], v->block[1], v->block[2]},
                     .cluster = {programs_of_cluster(d, l), 1, 1},
                     .device = d->target,
                     .shared = more_shared(k, v),
                     .params = make_block(arena, l, report),
                     .seed = d->seed,
                     .step_limit = m->step_limit,
                     .observers = list,
                     .observer_count = count + (tally ? COUNTERS : 0),
                     .print = print_text,
                     .user = device->context});
    if (tally) add_counts(tally, &counters);
    return r;
}

// The other programs run on after one has failed; only the failed one ends.
static bool assert_failed(const GpuReport *left, const RtLaunch *l, RtReport *failure) {
    RtFailure f;
    if (!rt_failure_read(left, &f)) return false;
    bool more = l->grid[0] * l->grid[1] * l->grid[2] > 1;
    if (more) f.note = "others may have failed, too: device interp counts them";
    *failure = rt_report_assert(&l->meta->variants[l->variant], &f);
    return true;
}

// `at` is the address of the report on the device. Prints of the kernel are delivered when the
// launch has ended.
static tilec_status run_watched(tilec_device *device, const RtLaunch *l, uint64_t at, uint64_t size,
                                RtPrints *prints, RtReport *failure) {
    const Device *d = device->state;
    const MetaVariant *v = &l->meta->variants[l->variant];
    Arena *arena = arena_create();
    GpuReport *left = arena_alloc(arena, size);
    rt_gpu_report_clear(left, size);
    sim_memory_write(d->memory, at, left, sizeof *left);
    Diags *diags = diags_create(arena, sources_create(arena));
    SimFindings *findings = sim_findings_create(arena);
    SimResult r = run_kernel(arena, device, l, at, findings);
    sim_memory_read(d->memory, at, left, size);
    SimPlaces places = {0};
    bool good = report(arena, &r, findings, diags, &places);
    if (!good) {
        *failure = rt_report_of(diags);
        if (failure->arena) name_places(&places, failure);
    } else if (assert_failed(left, l, failure)) {
        good = false;
    }
    rt_prints_take(left, v, true, prints);
    arena_destroy(arena);
    return good ? TILEC_OK : TILEC_KERNEL_FAILED;
}

static tilec_status run_recovered(tilec_device *device, const RtLaunch *l, uint64_t at,
                                  uint64_t size, RtPrints *prints, RtReport *failure) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        *failure = rt_report_no_memory();
        return TILEC_OUT_OF_MEMORY;
    }
    tilec_status s = run_watched(device, l, at, size, prints, failure);
    recover_end(&r);
    return s;
}

static tilec_status run(tilec_device *device, const RtLaunch *l, RtPrints *prints,
                        RtReport *failure) {
    const Device *d = device->state;
    uint64_t at, size = rt_gpu_report_size(&l->meta->variants[l->variant]);
    if (!sim_memory_alloc(d->memory, size, "the report", &at)) {
        *failure = rt_report_no_memory();
        return TILEC_OUT_OF_MEMORY;
    }
    tilec_status s = run_recovered(device, l, at, size, prints, failure);
    sim_memory_free(d->memory, at);
    return s;
}

static tilec_status launch(tilec_device *device, void *stream, const RtLaunch *l) {
    enum { ACROSS_MAX = 65535 };  // programs along the second and third dimension, on all GPUs
    Device *d = device->state;
    AtOnceStream *s = stream;
    for (int i = 1; i < 3; i++)
        if (l->grid[i] > ACROSS_MAX)
            return rt_fail(device->context, TILEC_LAUNCH_REFUSED,
                           "%.*s: the grid's dimension %d has %lld programs, GPUs have at most %d "
                           "there: make the first dimension the long one",
                           STR_ARG(l->meta->name), i, (long long)l->grid[i], ACROSS_MAX);
    at_once_stream_lock(device, s);
    bool whole = lock_device(d);  // in the machine's memory
    // After a failure the stream does nothing until it is synchronised.
    RtPrints prints = {0};
    if (whole && s->status == TILEC_OK) s->status = run(device, l, &prints, &s->failure);
    if (whole) os_mutex_unlock(d->lock);
    os_mutex_unlock(s->lock);
    if (!whole) return fail_forked(device);
    rt_prints_flush(device->context, &prints);
    return TILEC_OK;
}

const RtDeviceApi sim_device_api = {
    .kind = "sim",
    .open = device_open,
    .info = info,
    .units = units,
    .close = device_close,
    .gpu = device_gpu,
    .simulated = true,
    .takes = device_takes,
    .alloc = device_alloc,
    .free = device_free,
    .fresh = true,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .stream_create = at_once_stream_create,
    .stream_destroy = at_once_stream_destroy,
    .stream_synchronize = at_once_stream_synchronize,
    .stream_wait = at_once_stream_wait,
    .event_create = at_once_event_create,
    .event_destroy = at_once_event_destroy,
    .event_record = at_once_event_record,
    .event_synchronize = at_once_event_synchronize,
    .event_query = at_once_event_query,
    .event_elapsed = at_once_event_elapsed,
    .copy = copy,
    .move = at_once_move,
    .module_load = module_load,
    .module_unload = module_unload,
    .launch = launch,
    .has_maps = has_maps,
    .encode_map = encode_map,
};

// ---- Code from anywhere ----

static const SimKernel *choose(const SimProgram *p, Str name, Diags *diags) {
    const SimKernel *k = name.size              ? sim_kernel_find(p, name)
                         : p->kernel_count == 1 ? &p->kernels[0]
                                                : NULL;
    if (k) return k;
    if (name.size)
        diag_error(diags, (Span){0}, DIAG_UNKNOWN_NAME, "the text has no kernel '%.*s'",
                   STR_ARG(name));
    else
        diag_error(diags, (Span){0}, DIAG_KERNEL, "the text has %u kernels: name one",
                   p->kernel_count);
    if (p->kernel_count) diag_help(diags, "one is '%.*s'", STR_ARG(p->kernels[0].name));
    return NULL;
}

// Gives the buffers memory.
static bool place_buffers(const SimForeign *f, SimMemory *memory, uint64_t *addresses,
                          Diags *diags) {
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const SimForeignArg *a = &f->args[i];
        char name[32];
        snprintf(name, sizeof name, "argument %u", i + 1);
        if (!a->is_buffer) continue;
        if (!sim_memory_alloc(memory, a->size, name, &addresses[i])) {
            diag_error(diags, (Span){0}, DIAG_TOO_LARGE, "out of memory for argument %u", i + 1);
            return false;
        }
        if (!a->undefined) sim_memory_write(memory, addresses[i], a->data, a->size);
    }
    return true;
}

static bool put_map(const SimForeignArg *a, uint32_t number, const SimParam *p, uint64_t address,
                    uint8_t *to, Diags *diags) {
    GpuMap map;
    a->map->address = address;
    const char *wrong = p->size < sizeof map ? "the parameter is smaller than 128 bytes"
                                             : gpu_map_encode(a->map, &map);
    if (wrong)
        diag_error(diags, (Span){0}, DIAG_ARGUMENTS, "argument %u, a tensor map: %s", number,
                   wrong);
    else
        memcpy(to, &map, sizeof map);
    return !wrong;
}

// The bytes of the parameters. Parameters without an argument (Triton's scratch pointers) are 0.
static uint8_t *make_params(Arena *arena, const SimKernel *k, const SimForeign *f,
                            const uint64_t *addresses, Diags *diags) {
    uint8_t *params = arena_alloc(arena, k->param_bytes + 8);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const SimForeignArg *a = &f->args[i];
        if (i >= k->param_count && !a->is_buffer) {
            diag_error(diags, (Span){0}, DIAG_ARGUMENTS,
                       "%u arguments for the %u parameters of '%.*s'", f->arg_count, k->param_count,
                       STR_ARG(k->name));
            return NULL;
        }
        if (i >= k->param_count) continue;
        const SimParam *p = &k->params[i];
        uint8_t *to = params + p->offset;
        uint64_t bits = a->is_buffer ? addresses[i] : a->bits;
        if (!a->map)
            memcpy(to, &bits, p->size < 8 ? p->size : 8);
        else if (!put_map(a, i + 1, p, addresses[a->array], to, diags))
            return NULL;
    }
    return params;
}

static bool run_in(Arena *arena, SimForeign *f, const SimProgram *p, GpuTarget target,
                   SimMemory *memory, Diags *diags, bool *failed) {
    uint64_t *variables = arena_new(arena, uint64_t, p->variable_count + 1);
    uint64_t *addresses = arena_new(arena, uint64_t, f->arg_count + 1);
    const SimKernel *k = choose(p, f->kernel, diags);
    if (!k) return false;
    if (!sim_program_load(p, memory, variables)) {
        diag_error(diags, (Span){0}, DIAG_TOO_LARGE, "out of memory for the text's variables");
        return false;
    }
    if (!place_buffers(f, memory, addresses, diags)) return false;
    uint8_t *params = make_params(arena, k, f, addresses, diags);
    if (!params) return false;
    SimFindings *findings = sim_findings_create(arena);
    Counters counters;
    const SimObserver *list[WATCHERS + COUNTERS];
    count_with(arena, &counters, list);
    uint32_t count = COUNTERS + (f->watch ? watchers(arena, findings, list + COUNTERS) : 0);
    SimLaunch l = {.kernel = k,
                   .memory = memory,
                   .variables = variables,
                   .device = target,
                   .shared = f->shared,
                   .params = params,
                   .seed = f->seed,
                   .step_limit = f->step_limit,
                   .observers = list,
                   .observer_count = count,
                   .print = f->print,
                   .user = f->user};
    memcpy(l.grid, f->grid, sizeof l.grid);
    memcpy(l.block, f->block, sizeof l.block);
    SimResult r = sim_run(&l);
    add_counts(&f->tally, &counters);
    for (uint32_t i = 0; i < f->arg_count; i++)
        if (f->args[i].is_buffer)
            sim_memory_read(memory, addresses[i], f->args[i].data, f->args[i].size);
    *failed = !report(arena, &r, findings, diags, NULL) && r.outcome != SIM_REFUSED;
    if (*failed && k->takes_shared && !f->shared)
        diag_help(diags,
                  "'%.*s' uses `.extern .shared`, and the launch gives it no bytes: --shared N",
                  STR_ARG(k->name));
    return !diags_errors(diags);
}

static bool is_object(Str bytes) { return str_starts(bytes, (Str){"\177ELF", 4}); }

static const SimProgram *read_foreign(Arena *arena, const SimForeign *f, GpuTarget target,
                                      Sources *sources, Diags *diags) {
    bool amd = target.vendor == GPU_AMD;
    if (is_object(f->text) != amd) {
        diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "device sim:%.*s runs %s, and '%.*s' is not",
                   STR_ARG(f->arch), amd ? "AMD code objects" : "PTX", STR_ARG(f->path));
        return NULL;
    }
    if (!amd) return read_program(arena, sources, f->path, f->text, target.number, diags);
    Plugin *plugin = plugin_create(NULL);
    const CodegenApi *api = plugin_open(plugin, diags);
    GpuDisassembler disassemble = {api ? api->amd_disassemble : NULL, NULL};
    const SimProgram *p = read_object(arena, f->text, target, disassemble, diags);
    plugin_destroy(plugin);
    return p;
}

bool sim_run_foreign(Arena *arena, SimForeign *f, Sources *sources, Diags *diags, bool *failed) {
    GpuTarget target;
    *failed = false;
    if (!sim_arch_parse(f->arch, &target)) {
        diag_error(diags, (Span){0}, DIAG_UNAVAILABLE, "there is no simulated '%.*s'",
                   STR_ARG(f->arch));
        return false;
    }
    const SimProgram *p = read_foreign(arena, f, target, sources, diags);
    if (!p) return false;
    SimMemory *memory = memory_of(target);
    bool good = run_in(arena, f, p, target, memory, diags, failed);
    sim_memory_destroy(memory);
    return good;
}
