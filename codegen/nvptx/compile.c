#include "codegen/nvptx/compile.h"

#include <stdio.h>

#include "base/os.h"
#include "codegen/common/lines.h"
#include "codegen/common/module.h"
#include "codegen/lld_shim.h"
#include "codegen/nvptx/check.h"
#include "codegen/nvptx/gen.h"

static const char triple[] = "nvptx64-nvidia-cuda";

static LLVMTargetMachineRef machine_of(GpuTarget target, uint32_t version) {
    LLVMTargetRef found = NULL;
    char *message = NULL, name[GPU_NAME_MAX], features[16];
    if (LLVMGetTargetFromTriple(triple, &found, &message))
        os_defect(__FILE__, __LINE__, "LLVM: %s", message);
    snprintf(features, sizeof features, "+ptx%u", version);
    return LLVMCreateTargetMachine(found, triple, gpu_target_name(target, name), features,
                                   LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
}

static bool build(Module *m, const char *entry, const CodegenGpuOptions *options) {
    GpuGen *made = arena_new(m->scratch, GpuGen, 1);
    made->ops = &nvptx_ops;
    made->g.context = m->context;
    made->g.module = m->module;
    gen_begin(&made->g, m->scratch, &nvptx_gen_target, m->func);
    made->g.remarks = options->remarks;
    made->machine = machine_of_gpu(options->target);
    if (options->lines)
        made->g.lines = lines_create(m->scratch, m->context, m->module, m->func, true);
    nvptx_function(made, entry);
    if (made->g.lines) lines_finish(made->g.lines);
    LLVMDisposeBuilder(made->g.b);
    return module_verify(m);
}

static bool emit(Module *m, const char *entry, const CodegenGpuOptions *options, Str *output) {
    uint64_t clock = os_time_ns();
    bool fine = build(m, entry, options);
    m->times.build = module_lap(&clock);
    if (!fine) return false;
    if (options->output == CODEGEN_LLVM) {
        module_text(m, output);
        return true;
    }
    fine = target_optimise(m->machine, m->module, &m->log);
    m->times.optimise = module_lap(&clock);
    fine = fine && target_emit(m->arena, m->machine, m->module, true, output, &m->log);
    m->times.emit = module_lap(&clock);
    return fine;
}

bool codegen_nvptx_compile(Arena *arena, const IrFunc *func, const CodegenGpuOptions *options,
                           Str *output, Diags *diags) {
    if (!nvptx_check(func, options->target, diags)) return false;
    codegen_start();
    Module m = {.arena = arena, .func = func, .log = {.diags = diags, .span = func->span}};
    const char *entry = arena_text(arena, options->entry.text, options->entry.size);
    uint32_t version = nvptx_version(func, options->target);
    module_begin(&m, entry, machine_of(options->target, version), triple);
    bool fine = emit(&m, entry, options, output);
    if (options->times) *options->times = m.times;
    module_end(&m);
    return fine;
}
