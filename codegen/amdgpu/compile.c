#include "codegen/amdgpu/compile.h"

#include "base/os/os.h"
#include "codegen/amdgpu/gen.h"
#include "codegen/common/link.h"
#include "codegen/common/module.h"
#include "codegen/gpu/check.h"

static const char triple[] = "amdgcn-amd-amdhsa";

// For gfx11, LLVM 22 treats the halves of registers as registers of their own, and joins two of
// them by two moves where one permutation of bytes is enough.
static const char *features_of(GpuTarget target) {
    return chip_of(target)->generation == 11 ? "-real-true16" : "";
}

static LLVMTargetMachineRef machine_of(const Module *m) {
    LLVMTargetRef found = NULL;
    GpuTarget target = m->options->target.gpu;
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

enum { GENERIC_SINCE = 6 };

static uint32_t object_version(const CodegenOptions *options) {
    if (options->object_version) return options->object_version;
    return options->target.gpu.generic ? GENERIC_SINCE : CODEGEN_OBJECT_VERSION;
}

static bool version_fits(const CodegenOptions *options, Diags *diags) {
    GpuTarget target = options->target.gpu;
    uint32_t version = object_version(options);
    char name[GPU_NAME_MAX];
    if (!target.generic || version >= GENERIC_SINCE) return true;
    diag_error(diags, (Span){0}, DIAG_UNSUPPORTED,
               "there are code objects for '%s' from version %d on, not of version %u",
               gpu_target_name(target, name), GENERIC_SINCE, version);
    diag_help(diags, "leave the version out, or name one processor, as gfx%x", target.number);
    return false;
}

static Gen *gen_create(Module *m) {
    uint32_t version = object_version(m->options);
    GpuGen *made = arena_new(m->scratch, GpuGen, 1);
    made->ops = &amdgpu_ops;
    made->machine = machine_of_gpu(m->options->target.gpu);
    made->schedule = m->options->schedule;
    made->g.pairs = made->machine.packed_f32;
    set_version(m, version);
    return &made->g;
}

static bool finish(Module *m, Str *code) {
    static const char *const args[] = {"-m", "elf64_amdgpu", "-shared", "--no-undefined"};
    return m->options->output != CODEGEN_SHARED ||
           link_in_memory(m->arena, sizeof args / sizeof *args, args, 1, code, code, &m->log);
}

// Address spaces are inferred first. The attributor casts only the addresses of accesses, and
// leaves the base pointers without a space; their offsets would not be folded into the accesses.
static const char passes[] = "function(infer-address-spaces,early-cse),amdgpu-attributor";

// There are no variables whose places a debugger could show.
static const char *const without[] = {"livedebugvalues", NULL};

// Long code is also compiled without these passes. codegenprepare would split and join blocks.
static const char *const without_long[] = {
    "codegenprepare", "slsr", "nary-reassociate", "machine-sink", "livedebugvalues", NULL};

// If a thread has 64 elements, each step is 64 instructions in a row, and the values of all
// elements are live at once. If there are more of them than registers, LLVM's allocator looks at
// all live values and their alternatives for each value: 17 seconds for code just below the limit
// of long code. From this length on, the elements are computed one after the other; no kernel of
// the examples is as long.
enum { ORDERED = 11000 };

// LLVM 22's time grows with the square of the number of blocks (on RDNA, of instructions), no
// matter which passes are left out. From these sizes on, code is not optimised (codegen_hurry).
enum { HURRIED_BLOCKS = 1536, HURRIED_RDNA = 16384 };

static void before_selection(Module *m) {
    amdgpu_keep_signed_zeros(m);
    amdgpu_divide(m);
    amdgpu_keep_rows_narrow(m);
}

static bool is_rdna(GpuTarget target) { return chip_of(target)->generation >= 10; }

bool codegen_amdgpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                            Str *output, Diags *diags) {
    const ModuleTarget target = {.machine = machine_of,
                                 .gen = gen_create,
                                 .ops = &amdgpu_gen_target,
                                 .function = amdgpu_function,
                                 .passes = passes,
                                 .before_selection = before_selection,
                                 .skipped_passes = without,
                                 .skipped_passes_long = without_long,
                                 .ordered_from = ORDERED,
                                 .chains = true,
                                 .hurried_from = is_rdna(options->target.gpu) ? HURRIED_RDNA : 0,
                                 .hurried_blocks = HURRIED_BLOCKS,
                                 .facts = amdgpu_facts,
                                 .finish = finish};
    return version_fits(options, diags) && gpu_check(func, options->target.gpu, diags) &&
           module_compile(arena, func, options, &target, output, diags);
}
