#include "tests/support/simulated.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "compile/device/sim_device.h"
#include "compile/pipeline/compile.h"
#include "runtime/context.h"
#include "runtime/cuda/device.h"
#include "runtime/hip/device.h"
#include "runtime/launch_maps.h"
#include "tests/support/arg_block.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/lowered.h"

enum { ALIGN = 256, PIECES = 64, FARTHEST = 1 << 30 };

// ---- memory -------------------------------------------------------------------------------------

typedef struct Piece {
    unsigned char *from;  // the host's
    size_t size;
    unsigned char *to;  // the machine's, no pointer to be followed
    void *room;
} Piece;

typedef struct Run {
    tilec_context *context;
    tilec_device *device;
    Diags *diags;
    Piece pieces[PIECES];
    uint32_t count;
} Run;

static bool fail_with(Diags *diags, const char *problem) {
    diag_error(diags, (Span){0}, DIAG_DEFECT, "%s", problem);
    return false;
}

// The bytes that an argument may reach; none where that is not known.
static void reach(const IrParam *p, const IrArg *arg, Piece *piece) {
    const IrType *t = p->value->type;
    int64_t low = 0, high = 0, bits = dtype_bits(t->elem);
    *piece = (Piece){.from = arg->data};
    if (t->kind == IR_TILE || !arg->data) return;
    if (arg->size) {
        *piece = (Piece){.from = (unsigned char *)(uintptr_t)arg->base, .size = arg->size};
        return;
    }
    if (t->kind == IR_PTR) return;  // to nowhere: its address is all that counts
    for (uint32_t d = 0; d < t->rank; d++) {
        if (arg->extent[d] == 0) return;
        int64_t far;
        bool wild = __builtin_mul_overflow(arg->extent[d] - 1, arg->stride[d], &far);
        if (wild || far > FARTHEST || far < -FARTHEST) return;  // no memory of that size
        *(far < 0 ? &low : &high) += far;
    }
    piece->from += low * bits / 8;
    piece->size = (size_t)((high - low + 1) * bits + 7) / 8;
}

// Pieces that overlap become one.
static void add_piece(Run *run, Piece piece) {
    for (uint32_t i = 0; i < run->count; i++) {
        Piece *p = &run->pieces[i];
        unsigned char *end = piece.from + piece.size, *other = p->from + p->size;
        if (piece.from >= other || p->from >= end) continue;
        if (p->from < piece.from) piece.from = p->from;
        piece.size = (size_t)((end > other ? end : other) - piece.from);
        *p = run->pieces[--run->count];
        i = UINT32_MAX;  // again, with the larger one
    }
    run->pieces[run->count++] = piece;
}

// Rooms are of whole words, as GPUs' memory is: atomics of bytes change the word around them.
static bool copy_in(Run *run, Piece *p) {
    const RtDeviceApi *api = run->device->api;
    size_t skew = (uintptr_t)p->from % ALIGN, room = (p->size + skew + 3) / 4 * 4;
    if (api->alloc(run->device, room, &p->room)) return false;
    p->to = (unsigned char *)p->room + skew;
    void *stream = run->device->first->state;
    const uint32_t zero = 0;
    return !api->copy(run->device, stream, (unsigned char *)p->room + room - 4, &zero, 4) &&
           !api->copy(run->device, stream, p->to, p->from, p->size);
}

static bool move(Run *run, const IrFunc *func, const IrLaunch *launch, IrArg *moved) {
    Piece piece;
    if (launch->arg_count > PIECES) return fail_with(run->diags, "too many arguments");
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        reach(&func->params.data[i], &launch->args[i], &piece);
        if (piece.size) add_piece(run, piece);
    }
    for (uint32_t i = 0; i < run->count; i++)
        if (!copy_in(run, &run->pieces[i]))
            return fail_with(run->diags, "no memory on the machine");
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        moved[i] = launch->args[i];
        reach(&func->params.data[i], &launch->args[i], &piece);
        for (uint32_t k = 0; piece.size && k < run->count; k++) {
            const Piece *p = &run->pieces[k];
            if (piece.from < p->from || piece.from >= p->from + p->size) continue;
            uintptr_t offset = (uintptr_t)launch->args[i].data - (uintptr_t)p->from;
            moved[i].data = (void *)((uintptr_t)p->to + offset);
        }
    }
    return true;
}

static void copy_back(Run *run) {
    for (uint32_t i = 0; i < run->count; i++) {
        const Piece *p = &run->pieces[i];
        run->device->api->copy(run->device, run->device->first->state, p->from, p->to, p->size);
    }
}

// ---- the run ------------------------------------------------------------------------------------

// `user` is the context's place for the launch that runs.
static void print_line(void *user, const char *line, size_t length) {
    const IrLaunch *launch = *(const IrLaunch **)user;
    if (launch->print) launch->print(launch->user, (Str){line, length});
}

static tilec_status run_on(Run *run, RtModule *module, const MetaKernel *meta,
                           const IrLaunch *launch, const unsigned char *block) {
    RtLaunch l = {.module = module,
                  .meta = meta,
                  .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                  .block = block};
    const RtDeviceApi *api = run->device->api;
    void *stream = run->device->first->state;
    _Alignas(GPU_MAP_ALIGN) uint8_t maps[GPU_MAPS * GPU_MAP_BYTES];
    tilec_status s = TILEC_OK;
    rt_begin(run->context);
    if (meta->variants[0].map_count) s = launch_maps_make(run->device, &l, maps);
    if (!s) s = api->launch(run->device, stream, &l);
    return s ? s : api->stream_synchronize(run->device, stream);
}

// A failed assert is an outcome; all else that fails is a defect.
static bool ended(const Run *run, tilec_status s, IrOutcome *outcome) {
    const char *text = s ? tilec_last_error(run->context) : "";
    *outcome = s ? IR_RUN_ASSERT : IR_RUN_DONE;
    if (!s || (s == TILEC_KERNEL_FAILED && strstr(text, "[assert]"))) return true;
    diag_error(run->diags, (Span){0}, DIAG_DEFECT, "the machine says: %s", text);
    return false;
}

static bool launch_code(Run *run, const IrFunc *func, const CodeNotes *notes, Str text,
                        const IrLaunch *launch, IrOutcome *outcome) {
    Arena *arena = func->module->arena;
    IrArg *args = arena_new(arena, IrArg, launch->arg_count + 1);
    if (!move(run, func, launch, args)) return false;
    MetaVariant variant = {.entry = notes->entry, .guard = META_NO_VALUE, .block = {1, 1, 1}};
    code_note_variant(notes, &variant);
    MetaKernel meta = {.name = STR("k"), .variant_count = 1, .variants = &variant};
    meta.arg_count = launch->arg_count;
    meta.args = arg_metas(arena, func, meta.arg_count, &meta.size);
    const unsigned char *block = arg_block(arena, func, args, launch->arg_count, &meta.size);
    RtPtxImage image = {.text = text,
                        .entry = notes->entry,
                        .disassemble = {codegen_plugin()->amd_disassemble, NULL}};
    bool amd = run->device->api->gpu(run->device).vendor == GPU_AMD;
    RtImage wrapped = {amd ? RT_IMAGE_HSACO : RT_IMAGE_PTX, &image, sizeof image};
    RtModule *module = NULL;
    tilec_status s = run->device->api->module_load(run->device, &wrapped, &module);
    if (!s) s = run_on(run, module, &meta, launch, block);
    bool fine = ended(run, s, outcome);
    copy_back(run);
    if (module) run->device->api->module_unload(run->device, module);
    return fine;
}

static const IrLaunch *hardware_launch;

// The device that TILEC_TEST_GPU names, opened for the process; NULL: it is the warp machine.
static tilec_device *hardware(void) {
    static const RtDeviceApi *const apis[] = {&cuda_device_api, &hip_device_api};
    static tilec_context *context;
    static tilec_device *device;
    const char *name = os_env("TILEC_TEST_GPU");
    if (!name || !name[0] || device) return device;
    tilec_context_options options = {
        .size = sizeof options, .print = print_line, .user = &hardware_launch};
    CHECK(!rt_context_create(&options, apis, 2, &context), "no context");
    tilec_status s = tilec_device_open(context, name, &device);
    CHECK(!s, "%s", tilec_last_error(context));
    return device;
}

static bool fits(const tilec_device *device, uint64_t choice) {
    GpuTarget own = device->api->gpu(device), t = lowered_gpu(choice).gpu;
    bool exact = t.own || t.vendor == GPU_AMD;
    return t.vendor == own.vendor && (exact ? t.number == own.number : t.number <= own.number);
}

bool simulated_fits(uint64_t choice) {
    const tilec_device *device = hardware();
    return !device || fits(device, choice);
}

// The next choice whose code the device runs.
static uint64_t fitting_choice(const tilec_device *device, uint64_t choice) {
    for (int i = 0; i < 64; i++, choice++)
        if (fits(device, choice)) return choice;
    char name[GPU_NAME_MAX];
    CHECK(false, "none of the GPUs that are tested runs on a %s",
          gpu_target_name(device->api->gpu(device), name));
}

static bool run_on_hardware(const IrFunc *func, const CodeNotes *notes, Str text,
                            const IrLaunch *launch, IrOutcome *outcome, Diags *diags) {
    tilec_device *device = hardware();
    Run run = {.context = device->context, .device = device, .diags = diags};
    hardware_launch = launch;
    bool fine = launch_code(&run, func, notes, text, launch, outcome);
    for (uint32_t i = 0; i < run.count; i++)
        if (run.pieces[i].room) device->api->free(device, run.pieces[i].room, 0);
    return fine;
}

static bool run_code(const IrFunc *func, const CodeNotes *notes, const char *name, Str text,
                     const IrLaunch *launch, IrOutcome *outcome, Diags *diags) {
    static const RtDeviceApi *const apis[] = {&sim_device_api};
    tilec_context_options options = {.size = sizeof options, .print = print_line, .user = &launch};
    Run run = {.diags = diags};
    CHECK(!rt_context_create(&options, apis, 1, &run.context), "no context");
    CHECK(!tilec_device_open(run.context, name, &run.device), "no device %s", name);
    bool fine = launch_code(&run, func, notes, text, launch, outcome);
    tilec_context_destroy(run.context);
    return fine;
}

bool simulated_run(IrModule *m, IrFunc *kernel, const SimulatedOptions *options,
                   const IrLaunch *launch, IrOutcome *outcome, Diags *diags) {
    const CodegenApi *api = codegen_plugin();
    tilec_device *device = hardware();
    uint64_t choice = device ? fitting_choice(device, options->choice) : options->choice;
    GpuTarget target = lowered_gpu(choice).gpu;
    if (!device && options->gpu.number) target = options->gpu;
    if (!api || !lowered_to_threads_of(m, target, choice, options->facts, diags)) return false;
    CodeNotes notes = code_notes_of(m->arena, kernel, false);
    notes.entry = STR("kernel_entry");
    CodegenOptions o = {.target.gpu = target,
                        .output = code_output((CodeTarget){.gpu = target}),
                        .entry = notes.entry,
                        .lines = true};
    Str text;
    if (!api->compile(m->arena, kernel, &o, &text, diags)) return false;
    if (os_env("TILEC_TEST_PTX")) fprintf(stderr, "%.*s\n", STR_ARG(text));
    if (device) return run_on_hardware(kernel, &notes, text, launch, outcome, diags);
    char gpu[GPU_NAME_MAX];
    char *name = arena_printf(m->arena, "sim:%s:%u", gpu_target_name(target, gpu),
                              lowered_order(options->choice));
    if (os_env("TILEC_TEST_TRACE")) fprintf(stderr, "%s, %d warps\n", name, kernel->warps);
    return run_code(kernel, &notes, name, text, launch, outcome, diags);
}
