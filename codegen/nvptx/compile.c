#include "codegen/nvptx/compile.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "codegen/common/lines.h"
#include "codegen/common/target.h"
#include "codegen/lld_shim.h"
#include "codegen/nvptx/check.h"
#include "codegen/nvptx/gen.h"

typedef struct Compile {
    Arena *arena;    // of the output
    Arena *scratch;  // gone at the end
    const IrFunc *func;
    const CodegenGpuOptions *options;
    CodegenTimes times;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    TargetLog log;
} Compile;

static LLVMTargetMachineRef machine_of(GpuTarget target, uint32_t version) {
    static const char triple[] = "nvptx64-nvidia-cuda";
    LLVMTargetRef found = NULL;
    char *message = NULL, name[GPU_NAME_MAX], features[16];
    if (LLVMGetTargetFromTriple(triple, &found, &message))
        os_defect(__FILE__, __LINE__, "LLVM: %s", message);
    snprintf(features, sizeof features, "+ptx%u", version);
    return LLVMCreateTargetMachine(found, triple, gpu_target_name(target, name), features,
                                   LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
}

static NvptxGen *gen_create(Compile *c) {
    NvptxGen *made = arena_new(c->scratch, NvptxGen, 1);
    made->g.context = c->context;
    made->g.module = c->module;
    gen_begin(&made->g, c->scratch, &nvptx_gen_target, c->func);
    made->machine = machine_of_gpu(c->options->target);
    if (c->options->lines)
        made->g.lines = lines_create(c->scratch, c->context, c->module, c->func, true);
    return made;
}

static void module_create(Compile *c, const char *entry) {
    c->context = LLVMContextCreate();
    target_log(c->context, &c->log);
    c->module = LLVMModuleCreateWithNameInContext(entry, c->context);
    c->machine = machine_of(c->options->target, nvptx_version(c->func, c->options->target));
    LLVMSetTarget(c->module, "nvptx64-nvidia-cuda");
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->machine);
    LLVMSetModuleDataLayout(c->module, layout);
    LLVMDisposeTargetData(layout);
}

static bool build(Compile *c) {
    const char *entry = arena_text(c->scratch, c->options->entry.text, c->options->entry.size);
    module_create(c, entry);
    NvptxGen *made = gen_create(c);
    nvptx_function(made, entry);
    if (made->g.lines) lines_finish(made->g.lines);
    LLVMDisposeBuilder(made->g.b);
    char *message = NULL;
    bool wrong = LLVMVerifyModule(c->module, LLVMReturnStatusAction, &message);
    if (wrong) {
        c->log.errors++;
        diag_error(c->log.diags, c->func->span, DIAG_DEFECT, "LLVM IR is not well formed: %s",
                   message);
    }
    LLVMDisposeMessage(message);
    return !wrong && c->log.errors == 0;
}

// Nanoseconds since *from, which becomes now.
static uint64_t lap(uint64_t *from) {
    uint64_t now = os_time_ns(), passed = now - *from;
    *from = now;
    return passed;
}

static bool text_of_module(Compile *c, Str *output) {
    char *text = LLVMPrintModuleToString(c->module);
    *output = (Str){arena_text(c->arena, text, strlen(text)), strlen(text)};
    LLVMDisposeMessage(text);
    return true;
}

static bool emit(Compile *c, Str *output) {
    const CodegenGpuOptions *options = c->options;
    uint64_t clock = os_time_ns();
    bool fine = build(c);
    c->times.build = lap(&clock);
    if (!fine) return false;
    if (options->output == CODEGEN_LLVM) return text_of_module(c, output);
    fine = target_optimise(c->machine, c->module, &c->log);
    c->times.optimise = lap(&clock);
    if (!fine) return false;
    fine = target_emit(c->arena, c->machine, c->module, true, output, &c->log);
    c->times.emit = lap(&clock);
    return fine;
}

bool codegen_nvptx_compile(Arena *arena, const IrFunc *func, const CodegenGpuOptions *options,
                           Str *output, Diags *diags) {
    if (!nvptx_check(func, options->target, diags)) return false;
    codegen_start();
    Compile c = {.arena = arena, .scratch = arena_create(), .func = func, .options = options};
    c.log = (TargetLog){.diags = diags, .span = func->span};
    bool fine = emit(&c, output);
    LLVMDisposeTargetMachine(c.machine);
    LLVMDisposeModule(c.module);
    LLVMContextDispose(c.context);
    arena_destroy(c.scratch);
    if (options->times) *options->times = c.times;
    return fine;
}
