#include "tests/support/jitted.h"

#include "base/os/os.h"
#include "base/status.h"
#include "compile/pipeline/compile.h"
#include "ir/edit.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"
#include "tests/support/arg_block.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/foreign.h"

bool jitted_possible(void) { return os_path_exists(codegen_plugin_path()); }

// ---- code ---------------------------------------------------------------------------------------

static bool lower(IrModule *m, const JittedOptions *o, Diags *diags) {
    Machine machine = machine_of_cpu(o->target);
    PassOptions options = {.machine = &machine, .facts = o->facts};
    if (o->steps) return passes_run(m, o->steps, o->step_count, &options, diags);
    size_t tile_count, cpu_count;
    const PassStep *tile = pipeline_steps(PIPELINE_TILE, &tile_count);
    const PassStep *cpu = pipeline_steps(PIPELINE_CPU, &cpu_count);
    return passes_run(m, tile, tile_count, &options, diags) &&
           passes_run(m, cpu, cpu_count, &options, diags);
}

// ---- planted defects ----------------------------------------------------------------------------

static bool is_float(const IrValue *x) {
    return x->type->kind == IR_TILE && dtype_is(x->type->elem, DTYPE_CLASS_ANYFLOAT);
}

static bool is_place(const IrOp *op, JittedPlant plant) {
    bool floats = op->result_count && is_float(ir_result(op, 0));
    switch (plant) {
    case JITTED_OTHER_SUM:
        return floats && (op->code == IR_ADD || op->code == IR_SUB || op->code == IR_MUL);
    case JITTED_OTHER_ORDER: return floats && (op->code == IR_MIN || op->code == IR_MAX);
    case JITTED_SWAPPED: return floats && op->code == IR_SELECT;
    case JITTED_CONSTANT: return floats && op->code == IR_CONST;
    // Stores of floats only: a pointer or an index that was never written would lead anywhere.
    case JITTED_LOST_STORE:
        return (op->code == IR_STORE || op->code == IR_CPU_STORE) && is_float(ir_operand(op, 1));
    case JITTED_ZERO_SIGN: return floats && op->code == IR_MUL;
    case JITTED_NO_PLANT:
    case JITTED_PLANTS: break;
    }
    return false;
}

typedef VEC(IrOp *) IrOps;

static void collect(const IrBlock *block, JittedPlant plant, Arena *arena, IrOps *places) {
    IR_EACH_OP(op, block) {
        if (is_place(op, plant)) vec_push(arena, places, op);
        for (uint32_t r = 0; r < op->region_count; r++)
            collect(op->regions[r], plant, arena, places);
    }
}

static void spoil(IrOp *op, JittedPlant plant) {
    if (plant == JITTED_LOST_STORE) {
        ir_erase(op);
        return;
    }
    IrBuilder b = ir_builder_before(op);
    IrValue *was = ir_result(op, 0), *wrong;
    IrValue *x = op->operand_count ? ir_operand(op, 0) : NULL;
    if (plant == JITTED_SWAPPED)
        wrong = ir_ternary(&b, IR_SELECT, x, ir_operand(op, 2), ir_operand(op, 1));
    else if (plant == JITTED_CONSTANT)
        wrong = ir_const_bits(&b, was->type,
                              ir_attr(op, IR_ATTR_VALUE)->u.bits ^
                                  UINT64_C(1) << (dtype_float(was->type->elem)->precision - 1));
    else if (plant == JITTED_ZERO_SIGN)
        wrong = ir_binary(&b, IR_ADD, ir_binary(&b, IR_MUL, x, ir_operand(op, 1)),
                          ir_const_bits(&b, was->type, 0));
    else if (plant == JITTED_OTHER_SUM)
        wrong = ir_binary(&b, op->code == IR_ADD ? IR_SUB : IR_ADD, x, ir_operand(op, 1));
    else
        wrong = ir_binary(&b, op->code == IR_MIN ? IR_MAX : IR_MIN, x, ir_operand(op, 1));
    ir_replace_all(was, wrong);
    ir_erase(op);
}

static void plant(IrFunc *kernel, const JittedOptions *o) {
    IrOps places = {0};
    collect(ir_body(kernel), o->plant, kernel->module->arena, &places);
    if (!places.count) return;
    *o->planted = true;
    // One product in ten kernels or so is -0 and reaches a result. A compiler that loses the sign
    // loses it everywhere.
    if (o->plant != JITTED_ZERO_SIGN) {
        spoil(places.data[o->plant_at % places.count], o->plant);
        return;
    }
    for (size_t i = 0; i < places.count; i++) spoil(places.data[i], o->plant);
}

// ---- the run ------------------------------------------------------------------------------------

static void print_line(void *user, const char *line, size_t length) {
    const IrLaunch *launch = user;
    if (launch->print) launch->print(launch->user, (Str){line, length});
}

static tilec_status run_on(tilec_device *device, RtModule *module, const MetaKernel *meta,
                           const IrLaunch *launch, const unsigned char *block) {
    RtLaunch l = {.module = module,
                  .meta = meta,
                  .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                  .block = block};
    const RtDeviceApi *api = device->api;
    void *stream = device->first->state;
    rt_begin(device->context);
    tilec_status s = api->prepare ? api->prepare(device, stream, &l) : TILEC_OK;
    if (!s) s = api->launch(device, stream, &l);
    if (!s) s = api->stream_synchronize(device, stream);
    return s;
}

// Any status but the two that a run ends with is a defect, and reported as one.
static bool ended(tilec_context *context, tilec_status s, IrOutcome *outcome, Diags *diags) {
    *outcome = s ? IR_RUN_ASSERT : IR_RUN_DONE;
    if (!s || s == TILEC_KERNEL_FAILED) return true;
    diag_error(diags, (Span){0}, DIAG_DEFECT, "the device says: %s", tilec_last_error(context));
    return false;
}

static bool fail_with(Diags *diags, const char *problem) {
    diag_error(diags, (Span){0}, DIAG_DEFECT, "%s", problem);
    return false;
}

// The arguments as the code will see them.
static bool prepare(const IrFunc *func, const CodeNotes *notes, CpuTarget target, Str code,
                    const IrLaunch *launch, IrArg *args, Diags *diags) {
    const char *problem;
    if (!foreign_load(target, code, notes->entry, &problem)) return fail_with(diags, problem);
    return foreign_arguments(func, launch->args, launch->arg_count, args) ||
           fail_with(diags, "there is no room for the arguments");
}

static RtImage image_of(const CodeNotes *notes, CpuTarget target, Str code, RtCpuImage *image,
                        RtCpuFunction *function) {
    *image = (RtCpuImage){.abi = CPU_ABI_VERSION,
                          .target = target,
                          .entry = notes->entry.text,
                          .name = notes->entry.text,
                          .bytes = code};
    *function = (RtCpuFunction){CPU_ABI_VERSION, cpu_native(), foreign_entry};
    if (foreign_is(target)) return (RtImage){RT_IMAGE_CPU_ENTRY, function, sizeof *function};
    return (RtImage){RT_IMAGE_CPU, image, sizeof *image};
}

static bool run_code(const IrFunc *func, const CodeNotes *notes, CpuTarget target, Str code,
                     const IrLaunch *launch, IrOutcome *outcome, Diags *diags) {
    static const RtDeviceApi *const apis[] = {&cpu_device_api};
    Arena *arena = func->module->arena;
    IrLaunch kept = *launch;
    IrArg *args = arena_new(arena, IrArg, launch->arg_count + 1);
    for (uint32_t i = 0; i < launch->arg_count; i++) args[i] = launch->args[i];
    if (foreign_is(target) && !prepare(func, notes, target, code, launch, args, diags))
        return false;
    tilec_context_options options = {.size = sizeof options, .print = print_line, .user = &kept};
    tilec_context *context;
    tilec_device *device;
    CHECK(!rt_context_create(&options, apis, 1, &context), "no context");
    CHECK(!tilec_device_open(context, "cpu:1", &device), "no device cpu");
    MetaVariant variant = {.entry = notes->entry, .guard = META_NO_VALUE};
    code_note_variant(notes, &variant);
    MetaKernel meta = {.name = STR("k"), .variant_count = 1, .variants = &variant};
    const unsigned char *block = arg_block(arena, func, args, launch->arg_count, &meta.size);
    if (foreign_is(target)) CHECK(foreign_reserve(meta.size, variant.scratch_bytes), "no room");
    RtCpuImage image;
    RtCpuFunction function;
    RtImage wrapped = image_of(notes, target, code, &image, &function);
    RtModule *module = NULL;
    tilec_status s = device->api->module_load(device, &wrapped, &module);
    if (!s) s = run_on(device, module, &meta, launch, block);
    bool fine = ended(context, s, outcome, diags);
    if (module) device->api->module_unload(device, module);
    tilec_context_destroy(context);
    if (!foreign_is(target)) return fine;
    foreign_results();
    return foreign_failure() ? fail_with(diags, foreign_failure()) : fine;
}

bool jitted_run(IrModule *m, IrFunc *kernel, const JittedOptions *options, const IrLaunch *launch,
                IrOutcome *outcome, Diags *diags) {
    const CodegenApi *api = codegen_plugin();
    if (!api || !lower(m, options, diags)) return false;
    if (options->plant) plant(kernel, options);
    CodeNotes notes = code_notes_of(m->arena, kernel, false);
    notes.entry = STR("kernel_entry");
    CodegenOptions o = {.target.cpu = options->target,
                        .output = CODEGEN_SHARED,
                        .entry = notes.entry,
                        .quick = options->quick};
    Str code;
    return api->compile(m->arena, kernel, &o, &code, diags) &&
           run_code(kernel, &notes, options->target, code, launch, outcome, diags);
}
