#include "tests/mutate/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gpu_abi.h"
#include "base/vec.h"
#include "compile/device/sim_device.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "sim/machine/observer.h"
#include "tests/mutate/listing.h"
#include "tests/mutate/statements.h"

enum { FIRST_LIMIT = 1 << 12, LAST_LIMIT = 1 << 26, SLACK = 4 };  // of steps
enum { APART = 16 };                                              // bytes, of arrays that overlap
enum { SHIFT = 8 };  // bytes, by which arrays miss the alignment of wide accesses

typedef struct Buffer {
    void *address;
    const void *host;
    size_t size;
} Buffer;
// The traffic of a launch: lanes' bytes, warps' instructions.
typedef struct Traffic {
    uint64_t global, shared, steps;
} Traffic;
// Arguments whose written array overlaps one that is read, a little further on.
typedef struct Overlap {
    void *block;
    uint8_t *address;
    const Array *read, *written;
} Overlap;
// Two more programs along a dimension: a host may ask for more than the kernel does, and an array
// may have one element more than there are programs.
typedef struct Grid {
    int64_t extent[3];
} Grid;
// Another thread's change of a place at the first compare-and-swap, taken back at the second: code
// that does not try again fails.
typedef struct Other {
    uint8_t *place;
    bool back;
} Other;
typedef struct Watch {
    Traffic *moved;
    Other *other;  // NULL: none
} Watch;
typedef struct Loaded {
    RtModule *module;
    Str text, entry;
    Str object;  // AMD's; the text is its listing
} Loaded;

struct Subject {
    RtDeviceApi api;  // first: a device's table is found to be a subject
    Arena *arena;
    tilec_device *device;
    Listing *listing;
    Run run;
    size_t shift;
    VEC(Buffer) buffers;
    VEC(Loaded) modules;
    VEC(Buffer) freed;
    bool launched, unread;
    bool swaps;  // it compares and swaps, and tries again
    Str text, entry, object;
    MetaKernel meta;
    MetaVariant variant;
    RtLaunch launch;
    Facts facts;
    uint64_t limit;
    Traffic most;
    VEC(Overlap) overlaps;
    VEC(Grid) grids;
    char said[512];
};

static void interfere(Other *o, const SimAccess *a) {
    bool swap = a->kind == SIM_ACCESS_ATOMIC && a->space == SIM_SPACE_GLOBAL && a->mask;
    if (!swap || !a->there || o->back || !statement_has(str(a->at.instr->name), "cas")) return;
    o->back = o->place != NULL;
    if (!o->place) o->place = a->there[__builtin_ctzll(a->mask)];
    if (o->place) *o->place ^= 1;
}

static void count_access(void *state, const SimAccess *a) {
    const Watch *w = state;
    Traffic *t = w->moved;
    if (w->other) interfere(w->other, a);
    uint64_t bytes = (uint64_t)__builtin_popcountll(a->mask) * a->bytes;
    if (a->space == SIM_SPACE_GLOBAL) t->global += bytes;
    if (a->space == SIM_SPACE_SHARED) t->shared += bytes;
}

static void count_step(void *state, const SimPlace *at, uint64_t mask) {
    (void)at, (void)mask;
    ((const Watch *)state)->moved->steps++;
}

static Subject *subject_of(const tilec_device *device) { return (Subject *)(uintptr_t)device->api; }

// ---- What the device sees ----

static Str kept(Arena *arena, Str s) { return (Str){arena_text(arena, s.text, s.size), s.size}; }

static tilec_status spy_load(tilec_device *device, const RtImage *image, RtModule **module) {
    Subject *s = subject_of(device);
    const RtPtxImage *data = image->data;
    RtPtxImage listed = *data;
    bool amd = image->kind == RT_IMAGE_HSACO;
    if (amd) listed.disassemble = listing_taker(s->listing);
    RtImage wrapped = {image->kind, &listed, sizeof listed};
    tilec_status status = sim_device_api.module_load(device, &wrapped, module);
    if (status) return status;
    Str text = kept(s->arena, data->text);
    Loaded loaded = {*module, amd ? listing_taken(s->listing, s->arena) : text,
                     kept(s->arena, data->entry), amd ? text : (Str){0}};
    vec_push(s->arena, &s->modules, loaded);
    return TILEC_OK;
}

static void keep_launch(Subject *s, const RtLaunch *l) {
    for (size_t i = 0; i < s->modules.count; i++)
        if (s->modules.data[i].module == l->module)
            s->text = s->modules.data[i].text, s->entry = s->modules.data[i].entry,
            s->object = s->modules.data[i].object;
    s->launched = true;
    const MetaVariant *v = &l->meta->variants[l->variant];
    s->facts = facts_of(s->arena, l->meta, l->variant);
    s->variant = (MetaVariant){
        .guard = META_NO_VALUE, .shared_bytes = v->shared_bytes, .map_count = v->map_count};
    memcpy(s->variant.block, v->block, sizeof v->block);
    s->meta = (MetaKernel){
        .name = STR("k"), .size = l->meta->size, .variant_count = 1, .variants = &s->variant};
    void *block = arena_alloc(s->arena, l->meta->size + 8);
    memcpy(block, l->block, l->meta->size);
    s->launch = (RtLaunch){.meta = &s->meta, .block = block};
    if (v->map_count)
        s->launch.maps = arena_copy(s->arena, l->maps, (size_t)v->map_count * GPU_MAP_BYTES);
    memcpy(s->launch.grid, l->grid, sizeof l->grid);
}

static tilec_status spy_launch(tilec_device *device, void *stream, const RtLaunch *l) {
    keep_launch(subject_of(device), l);
    return sim_device_api.launch(device, stream, l);
}

static tilec_status spy_copy(tilec_device *device, void *stream, void *to, const void *from,
                             size_t size) {
    Subject *s = subject_of(device);
    Buffer buffer = {to, from, size};
    if (!s->launched) vec_push(s->arena, &s->buffers, buffer);
    return sim_device_api.copy(device, stream, to, from, size);
}

static tilec_status spy_alloc(tilec_device *device, size_t size, void **address) {
    size_t shift = subject_of(device)->shift;
    tilec_status status = sim_device_api.alloc(device, size + shift, address);
    if (!status) *address = (uint8_t *)*address + shift;
    return status;
}

static void spy_free(tilec_device *device, void *address, size_t size) {
    Subject *s = subject_of(device);
    Buffer buffer = {.address = (uint8_t *)address - s->shift, .size = size + s->shift};
    vec_push(s->arena, &s->freed, buffer);
}

// ---- Again ----

static Array *array_at(Run *run, const void *data) {
    for (int i = 0; i < run->array_count; i++)
        if (run->arrays[i].data == data) return &run->arrays[i];
    return NULL;
}

static size_t bytes_of(const Array *a) { return dtype_storage(a->type, (uint64_t)a->count); }

// Each array's bytes, to the device or from it.
static bool move(Subject *s, bool back) {
    void *stream = s->device->first->state;
    for (size_t i = 0; i < s->buffers.count; i++) {
        const Buffer *b = &s->buffers.data[i];
        Array *a = array_at(&s->run, b->host);
        if (!a) return false;
        tilec_status status =
            back ? sim_device_api.copy(s->device, stream, a->data, b->address, b->size)
                 : sim_device_api.copy(s->device, stream, b->address, a->before, b->size);
        if (status) return false;
    }
    return true;
}

static const char *failure(Subject *s) {
    snprintf(s->said, sizeof s->said, "%s", tilec_last_error(s->device->context));
    return s->said;
}

// One launch with these arguments.
static const char *launch(Subject *s, Str text, uint64_t limit, const void *block,
                          const int64_t *grid, Watch watch) {
    void *stream = s->device->first->state;
    SimObserver watcher = {.state = &watch, .access = count_access, .step = count_step};
    RtPtxImage image = {.text = text, .entry = s->entry, .step_limit = limit, .watcher = &watcher};
    bool amd = s->object.size != 0;
    if (amd) image.text = s->object, image.disassemble = listing_reader(s->listing, text);
    RtImage wrapped = {amd ? RT_IMAGE_HSACO : RT_IMAGE_PTX, &image, sizeof image};
    RtModule *module = NULL;
    *watch.moved = (Traffic){0};
    rt_begin(s->device->context);
    s->unread = sim_device_api.module_load(s->device, &wrapped, &module) != TILEC_OK;
    if (s->unread) return failure(s);
    RtLaunch l = s->launch;
    l.module = module, l.block = block;
    memcpy(l.grid, grid, sizeof l.grid);
    tilec_status status = sim_device_api.launch(s->device, stream, &l);
    if (!status) status = sim_device_api.stream_synchronize(s->device, stream);
    const char *wrong = status ? failure(s) : NULL;
    sim_device_api.module_unload(s->device, module);
    return wrong;
}

static const char *run_plainly(Subject *s, Str text, uint64_t limit, const int64_t *grid,
                               Watch watch) {
    if (!move(s, false)) return "the buffers are gone";
    const char *wrong = launch(s, text, limit, s->launch.block, grid, watch);
    if (wrong) return wrong;
    if (!move(s, true)) return "the buffers are gone";
    return run_compare(&s->run, s->said, sizeof s->said);
}

// Only what observers say counts; one program, for others may meet it there.
static const char *run_overlapped(Subject *s, Str text, const Overlap *o) {
    void *stream = s->device->first->state;
    Traffic moved;
    size_t size = bytes_of(o->read), more = bytes_of(o->written);
    sim_device_api.copy(s->device, stream, o->address + size, o->written->before, more);
    sim_device_api.copy(s->device, stream, o->address, o->read->before, size);
    return launch(s, text, s->limit, o->block, (const int64_t[]){1, 1, 1}, (Watch){&moved, NULL});
}

static const char *run_disturbed(Subject *s, Str text) {
    Traffic moved;
    Other other = {0};
    return run_plainly(s, text, s->limit, s->launch.grid, (Watch){&moved, &other});
}

bool subject_runs(Subject *s, Str text, const char **why) {
    Traffic moved;
    Watch watch = {&moved, NULL};
    *why = run_plainly(s, text, s->limit, s->launch.grid, watch);
    bool more = !*why && (moved.global > s->most.global || moved.shared > s->most.shared);
    if (more) *why = "it moves more bytes";
    if (!*why && moved.steps > s->most.steps) *why = "it runs more instructions";
    for (size_t i = 0; i < s->grids.count && !*why; i++)
        *why = run_plainly(s, text, s->limit, s->grids.data[i].extent, watch);
    for (size_t i = 0; i < s->overlaps.count && !*why; i++)
        *why = run_overlapped(s, text, &s->overlaps.data[i]);
    if (!*why && s->swaps) *why = run_disturbed(s, text);
    return !*why;
}

Str subject_text(const Subject *s) { return s->text; }
const Facts *subject_facts(const Subject *s) { return &s->facts; }
uint64_t subject_steps(const Subject *s) { return s->most.steps; }
bool subject_could_not_read(const Subject *s) { return s->unread; }

// ---- Opening ----

static const char *find_limit(Subject *s) {
    const char *why = NULL;
    for (uint64_t limit = FIRST_LIMIT; limit <= LAST_LIMIT; limit *= 2) {
        why = run_plainly(s, s->text, limit, s->launch.grid, (Watch){&s->most, NULL});
        if (why) continue;
        s->limit = SLACK * limit;
        return NULL;
    }
    return why;
}

static void *device_address(const Subject *s, const Array *a) {
    for (size_t i = 0; i < s->buffers.count; i++)
        if (s->buffers.data[i].host == a->data) return s->buffers.data[i].address;
    return NULL;
}

static void replace_address(uint8_t *block, size_t size, const void *from, const void *to) {
    for (size_t at = 0; at + sizeof from <= size; at += sizeof from)
        if (!memcmp(block + at, &from, sizeof from)) memcpy(block + at, &to, sizeof to);
}

static void add_overlap(Subject *s, const Array *read, const Array *written) {
    const void *from = device_address(s, read), *to = device_address(s, written);
    size_t size = bytes_of(read) + bytes_of(written) + APART;
    Overlap o = {.read = read, .written = written};
    void *address;
    if (!from || !to || sim_device_api.alloc(s->device, size, &address)) return;
    Buffer freed = {.address = address, .size = size};
    vec_push(s->arena, &s->freed, freed);
    o.address = address;
    o.block = arena_alloc(s->arena, s->meta.size + 8);
    memcpy(o.block, s->launch.block, s->meta.size);
    replace_address(o.block, s->meta.size, from, o.address);
    replace_address(o.block, s->meta.size, to, o.address + APART);
    if (!run_overlapped(s, s->text, &o)) vec_push(s->arena, &s->overlaps, o);
}

// Those that observers find nothing in.
static void add_overlaps(Subject *s) {
    for (int w = 0; w < s->run.array_count; w++)
        for (int r = 0; r < s->run.array_count && s->run.arrays[w].wanted; r++)
            if (r != w) add_overlap(s, &s->run.arrays[r], &s->run.arrays[w]);
}

// Launches with too many programs, where the extra ones do nothing.
static void add_grids(Subject *s) {
    Traffic moved;
    for (int d = 0; d < 3; d++) {
        Grid grid;
        memcpy(grid.extent, s->launch.grid, sizeof grid.extent);
        grid.extent[d] += 2;
        if (!run_plainly(s, s->text, s->limit, grid.extent, (Watch){&moved, NULL}))
            vec_push(s->arena, &s->grids, grid);
    }
}

Subject *subject_open(Arena *arena, Launcher *launcher, Listing *listing, const Example *example,
                      const Shape *shape, SubjectInputs inputs, const char **why) {
    Subject *s = arena_new(arena, Subject, 1);
    s->arena = arena, s->device = launcher->device, s->listing = listing;
    s->api = sim_device_api;
    s->api.module_load = spy_load, s->api.launch = spy_launch;
    s->api.copy = spy_copy, s->api.free = spy_free, s->api.alloc = spy_alloc;
    s->shift = inputs == SUBJECT_SHIFTED ? SHIFT : 0;
    s->run.seed = 1, s->run.wild = inputs == SUBJECT_WILD;
    example->make(&s->run, shape);
    s->device->api = &s->api;
    *why = launcher_run(launcher, example, &s->run);
    s->device->api = &sim_device_api;
    if (*why && launcher->unsupported)
        *why = NULL;
    else if (!*why)
        *why = run_compare(&s->run, s->said, sizeof s->said);
    if (!*why && s->launched) *why = find_limit(s);
    if (!*why && s->limit) {
        add_overlaps(s);
        add_grids(s);
        s->swaps = statement_has(s->text, "cas") && !run_disturbed(s, s->text);
        return s;
    }
    subject_close(s);
    return NULL;
}

void subject_close(Subject *s) {
    for (size_t i = 0; i < s->freed.count; i++)
        sim_device_api.free(s->device, s->freed.data[i].address, s->freed.data[i].size);
    run_free(&s->run);
}
