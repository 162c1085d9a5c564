#include "codegen/amdgpu/compile.h"

#include "base/os.h"
#include "codegen/amdgpu/check.h"
#include "codegen/amdgpu/gen.h"
#include "codegen/common/lines.h"
#include "codegen/common/link.h"
#include "codegen/common/module.h"
#include "codegen/lld_shim.h"

static const char triple[] = "amdgcn-amd-amdhsa";

// Of gfx11 LLVM 22 takes halves of registers for registers of their own, and joins them by a move
// each: two where one permutation of bytes would do.
static const char *features_of(GpuTarget target) {
    return target.number >> 8 == 0x11 ? "-real-true16" : "";
}

static LLVMTargetMachineRef machine_of(GpuTarget target) {
    LLVMTargetRef found = NULL;
    char *message = NULL, name[GPU_NAME_MAX];
    if (LLVMGetTargetFromTriple(triple, &found, &message))
        os_defect(__FILE__, __LINE__, "LLVM: %s", message);
    return LLVMCreateTargetMachine(found, triple, gpu_target_name(target, name),
                                   features_of(target), LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
}

static void set_version(Module *m, uint32_t version) {
    static const char name[] = "amdhsa_code_object_version";
    LLVMTypeRef word = LLVMInt32TypeInContext(m->context);
    LLVMMetadataRef value = LLVMValueAsMetadata(LLVMConstInt(word, 100 * version, false));
    LLVMAddModuleFlag(m->module, LLVMModuleFlagBehaviorError, name, sizeof name - 1, value);
}

static bool build(Module *m, const char *entry, const CodegenGpuOptions *options) {
    GpuGen *made = arena_new(m->scratch, GpuGen, 1);
    made->ops = &amdgpu_ops;
    made->g.context = m->context;
    made->g.module = m->module;
    gen_begin(&made->g, m->scratch, &amdgpu_gen_target, m->func);
    made->g.remarks = options->remarks;
    made->machine = machine_of_gpu(options->target);
    made->g.pairs = made->machine.cdna2;
    if (options->lines)
        made->g.lines = lines_create(m->scratch, m->context, m->module, m->func, false);
    amdgpu_function(made, entry);
    if (made->g.lines) lines_finish(made->g.lines);
    LLVMDisposeBuilder(made->g.b);
    return module_verify(m);
}

static bool link_object(Module *m, Str object, Str *output) {
    static const char *const args[] = {"-m", "elf64_amdgpu", "-shared", "--no-undefined"};
    return link_in_memory(m->arena, sizeof args / sizeof *args, args, object, output, &m->log);
}

// Spaces of memory first: the attributor casts the addresses of accesses only, and leaves what they
// are computed from without a space, where no offset becomes one of an access.
static const char passes[] = "function(infer-address-spaces,early-cse),amdgpu-attributor";

static bool emit(Module *m, const char *entry, const CodegenGpuOptions *options, Str *output) {
    uint64_t clock = os_time_ns();
    set_version(m, options->object_version ? options->object_version : CODEGEN_OBJECT_VERSION);
    bool fine = build(m, entry, options);
    m->times.build = module_lap(&clock);
    if (!fine) return false;
    if (options->output == CODEGEN_LLVM) {
        module_text(m, output);
        return true;
    }
    fine = target_optimise(m->machine, m->module, &m->log) &&
           target_passes(m->machine, m->module, passes, &m->log);
    m->times.optimise = module_lap(&clock);
    bool assembly = options->output == CODEGEN_ASM, shared = options->output == CODEGEN_SHARED;
    Str code;
    fine = fine && target_emit(shared ? m->scratch : m->arena, m->machine, m->module, assembly,
                               &code, &m->log);
    m->times.emit = module_lap(&clock);
    if (!fine) return false;
    *output = code;
    if (!shared) return true;
    fine = link_object(m, code, output);
    m->times.link = module_lap(&clock);
    return fine;
}

bool codegen_amdgpu_compile(Arena *arena, const IrFunc *func, const CodegenGpuOptions *options,
                            Str *output, Diags *diags) {
    if (!amdgpu_check(func, options->target, diags)) return false;
    codegen_start();
    Module m = {.arena = arena, .func = func, .log = {.diags = diags, .span = func->span}};
    const char *entry = arena_text(arena, options->entry.text, options->entry.size);
    module_begin(&m, entry, machine_of(options->target), triple);
    bool fine = emit(&m, entry, options, output);
    if (options->times) *options->times = m.times;
    module_end(&m);
    return fine;
}
