#include "codegen/nvptx/compile.h"

#include <stdio.h>

#include "base/os/os.h"
#include "codegen/common/module.h"
#include "codegen/gpu/check.h"
#include "codegen/nvptx/gen.h"
#include "codegen/nvptx/version.h"

static const char triple[] = "nvptx64-nvidia-cuda";

static LLVMTargetMachineRef machine_of(const Module *m) {
    LLVMTargetRef found = NULL;
    GpuTarget target = m->options->target.gpu;
    char *message = NULL, name[GPU_NAME_MAX], features[16];
    if (LLVMGetTargetFromTriple(triple, &found, &message))
        os_defect(__FILE__, __LINE__, "LLVM: %s", message);
    snprintf(features, sizeof features, "+ptx%u", nvptx_version(m->func, target));
    return LLVMCreateTargetMachine(found, triple, gpu_target_name(target, name), features,
                                   LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
}

static bool has_op(const IrBlock *block, IrOpcode code) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == code) return true;
        for (uint32_t r = 0; r < op->region_count; r++)
            if (has_op(op->regions[r], code)) return true;
    }
    return false;
}

static Gen *gen_create(Module *m) {
    GpuGen *made = arena_new(m->scratch, GpuGen, 1);
    made->ops = &nvptx_ops;
    made->machine = machine_of_gpu(m->options->target.gpu);
    made->schedule = m->options->schedule;
    return &made->g;
}

static void keep_bits(Module *m) {
    module_protect_selects(m);
    nvptx_keep_signs(m);
}

// There are no variables whose places a debugger could show. early-cse runs three times; what the
// second run would find, the third one finds, and the code is the same.
static const char *const without[] = {"early-cse#2", "livedebugvalues", NULL};
// Our passes already make addresses of fragments as steps from few bases. Strength reduction of
// these takes a seventh of LLVM's time and changes one instruction in hundreds. (For the addresses
// of a sort it saves a fifth of all instructions.)
static const char *const without_of_products[] = {"slsr", "nary-reassociate", "early-cse#2",
                                                  "livedebugvalues", NULL};
// Long code is also compiled without these passes. codegenprepare would split and join blocks.
static const char *const without_long[] = {"codegenprepare", "slsr", "machine-sink",
                                           "livedebugvalues", NULL};

bool codegen_nvptx_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                           Str *output, Diags *diags) {
    const IrBlock *body = ir_body(func);
    bool products = has_op(body, IR_THREAD_MMA) || has_op(body, IR_THREAD_WGMMA);
    const ModuleTarget target = {.machine = machine_of,
                                 .gen = gen_create,
                                 .ops = &nvptx_gen_target,
                                 .function = nvptx_function,
                                 .before_selection = keep_bits,
                                 .skipped_passes = products ? without_of_products : without,
                                 .skipped_passes_long = without_long,
                                 .directives = true};
    return gpu_check(func, options->target.gpu, diags) &&
           module_compile(arena, func, options, &target, output, diags);
}
